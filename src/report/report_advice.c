/* Changes to a recorded program, and the time they save: each change scheduled anew, ranked by the
 * time it saves, and all that go together scheduled together, for savings do not add up. */
#include <math.h>
#include <string.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/shared_parts.h"
#include "report/wording.h"

/* The change that saves most is told in full, the others with --verbose: a report on a real profile
 * fits a terminal. */
enum { TOLD = 1, CALLS_SHOWN = 12, CHANGES_SHOWN = 3, GUESSES_SHOWN = 1 };

typedef struct advised {
    haul_report *report;
    const haul_workload *workload;
    const haul_advice_list *list;
} advised;

static double seconds(int64_t ns)
{
    return 1e-9 * (double)ns;
}

/* "2.1 ms (1.8 to 2.3 ms)": the ends differ only where a machine of the catalogue lent parameters.
 * Ends within 2 % are left out: they tell how uncertain its rates are, not how far the replay is
 * off, and beside the whole saving would read as certainty. */
static hl_report_words say_saving(const haul_advised_plan *plan)
{
    if ((double)(plan->high_ns - plan->low_ns) < 0.02 * (double)plan->saved_ns)
        return hl_report_say_time(plan->saved_ns);
    return hl_report_say_estimate(seconds(plan->saved_ns), seconds(plan->low_ns),
                                  seconds(plan->high_ns));
}

/* Whether a change is among those of some row: "pin" of "pin, stream". */
static bool is_untried(const haul_advice_list *list, const char *change)
{
    for (size_t i = 0; i < list->not_tried_count; i++)
        if (strstr(list->not_tried[i].changes, change))
            return true;
    return false;
}

/* The safe saving, the addition by other changes and the parts not looked at: in one line, for each
 * without the others would mislead. */
static void say_headline(const advised *self)
{
    const haul_advice_list *list = self->list;
    const haul_advised_plan *safe = &list->safe, *all = &list->together;
    char found[200] = "", more[200] = "", untried[240] = "", below[80] = "time";
    /* a run that was projected has the projection's interval */
    const hl_report_words run =
        hl_report_say_estimate(seconds(list->baseline_ns), seconds(list->baseline_low_ns),
                               seconds(list->baseline_high_ns));
    if (list->threshold_ns > 0)
        (void)snprintf(below, sizeof below, "more than %s",
                       hl_report_say_time(list->threshold_ns).text);
    /* "; not tried: pin, stream": rows of both directions mostly name the same changes. */
    const size_t size = sizeof untried;
    size_t used = 0;
    for (size_t c = 0; c < haul_change_count() && used < size; c++)
        if (is_untried(list, haul_change_word(c)))
            used += (size_t)snprintf(untried + used, size - used, "%s%s",
                                     used ? ", " : "; not tried: ", haul_change_word(c));
    if (!all->changes) {
        haul_report_say(self->report, "%s on %.100s: no safe or conditional change saves %s%s",
                        run.text, list->machine, below, untried);
        return;
    }
    if (safe->changes)
        (void)snprintf(found, sizeof found, "%s less, %s", say_saving(safe).text,
                       hl_report_say_share(safe->share).text);
    else
        (void)snprintf(found, sizeof found, "no change saves %s", below);
    if (all->saved_ns > safe->saved_ns)
        (void)snprintf(more, sizeof more, "; up to %s less, %s, if what it assumes holds",
                       say_saving(all).text, hl_report_say_share(all->share).text);
    haul_report_say(self->report, "%s on %.100s; safe: %s%s%s", run.text, list->machine, found,
                    more, untried);
}

/* Lists the changes to make. */
static void say_changes(const advised *self)
{
    const haul_advice_list *list = self->list;
    const haul_advice *safe = NULL; /* the one that saves most, which the list has first */
    for (size_t i = 0; list->safe.changes && i < list->count && !safe; i++)
        safe = list->items[i].certainty == HAUL_CERTAINTY_SAFE ? &list->items[i] : NULL;
    const haul_advice *best = list->together.changes ? haul_advice_first(list) : NULL;
    if (safe && safe != best)
        haul_report_line(self->report, "safe", "%.300s", safe->what);
    if (!best)
        return;
    const size_t others = list->together.changes - 1;
    haul_report_line(self->report, safe == best ? "safe" : "up to", "%.300s%s%s", best->what,
                     others ? "; and together with it " : "",
                     others ? hl_report_say_number_of(others, "other", NULL).text : "");
}

static void say_answer(const advised *self)
{
    const haul_advice_list *list = self->list;
    if (list->unsound) {
        haul_report_say(self->report, "No advice on %.100s: %s", list->machine, list->unsound);
        hl_report_caution(self->report, self->workload);
        return;
    }
    say_headline(self);
    say_changes(self);
    hl_report_host(self->report, &list->host);
    for (size_t i = 0; i < list->not_tried_count; i++)
        haul_report_line(self->report, "not tried", "%s of %s %s copies, because %.300s",
                         list->not_tried[i].changes,
                         hl_report_say_count(list->not_tried[i].copies).text,
                         haul_direction_text(list->not_tried[i].direction), list->not_tried[i].why);
    haul_report_line(self->report, "self-check", "replaying the profile's %s gives %s (%+.2f %%)",
                     hl_report_say_time(list->replay.recorded_ns).text,
                     hl_report_say_time(list->replay.replayed_ns).text, list->replay.error);
    /* How many changes were tried, and how many of them are hidden: what saves less than the replay
     * is off, or, where the replay is exact, nothing. */
    char hidden[80] = "no time";
    if (list->threshold_ns > 0)
        (void)snprintf(hidden, sizeof hidden, "less than %s",
                       hl_report_say_time(list->threshold_ns).text);
    haul_report_line(self->report, "tried", "%s, of which %s %s and %s hidden",
                     hl_report_say_number_of(list->tried, "change", NULL).text,
                     hl_report_say_number_of(list->below, "saves", "save").text, hidden,
                     list->below == 1 ? "is" : "are");
    /* One caution fits the answer; the others are details. */
    if (list->note_count)
        haul_report_line(self->report, "caution", "%.700s", list->notes[0]);
}

/* A row for each change, with those that rest on a guess apart. */
static void add_ranking(const advised *self, bool is_speculative)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_ID, .head = "#"},
                                          {NULL, HAUL_UNIT_TIME, .head = "saves"},
                                          {NULL, HAUL_UNIT_SHARE, .head = "of the run"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "change"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "certainty"},
                                          {NULL, HAUL_UNIT_TEXT, .head = "what to do"},
                                          {0}};
    /* Both tables number changes by their place in the whole list, so that a number names one
     * change. */
    haul_table *table = haul_report_table(self->report, NULL, columns);
    haul_table_limit(table, is_speculative ? GUESSES_SHOWN : CHANGES_SHOWN);
    for (size_t i = 0; i < self->list->count; i++) {
        const haul_advice *advice = &self->list->items[i];
        char what[1200];
        (void)snprintf(what, sizeof what, "%.900s%s%.250s%s", advice->what,
                       advice->apart ? " (apart: " : "", advice->apart ? advice->apart : "",
                       advice->apart ? ")" : "");
        if ((advice->certainty == HAUL_CERTAINTY_SPECULATIVE) == is_speculative)
            haul_table_row(table, HAUL_CELLS(haul_cell_count((uint64_t)i + 1),
                                             haul_cell_time(advice->saved_ns),
                                             haul_cell_number(advice->share),
                                             haul_cell_text(advice->change),
                                             haul_cell_text(haul_certainty_text(advice->certainty)),
                                             haul_cell_text(what)));
    }
}

/* The API calls to edit, with where in time to look for them. */
static void add_calls(haul_table *parent, const haul_advice *advice)
{
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_TEXT, .head = "API call"},
        {"direction", HAUL_UNIT_TEXT, .head = "direction"},
        {"memory", HAUL_UNIT_TEXT, .head = "memory"},
        {"count", HAUL_UNIT_COUNT, .head = "count"},
        {"bytes", HAUL_UNIT_BYTES, .head = "bytes"},
        {"least_bytes", HAUL_UNIT_BYTES, .head = "smallest"},
        {"most_bytes", HAUL_UNIT_BYTES, .head = "largest"},
        {"first_s", HAUL_UNIT_SECONDS, .head = "first"},
        {"time_s", HAUL_UNIT_TIME, .head = "took"},
        {"operator", HAUL_UNIT_NAME, .head = "operator", .optional = true},
        {"range", HAUL_UNIT_NAME, .head = "range", .optional = true},
        {"line", HAUL_UNIT_NAME, .head = "line", .optional = true},
        {"stack", HAUL_UNIT_TEXT, .optional = true},
        {0},
    };
    haul_table *table = haul_report_table(parent, "calls", columns);
    haul_table_limit(table, CALLS_SHOWN);
    for (size_t c = 0; c < advice->call_count; c++) {
        const haul_advised_calls *calls = &advice->calls[c];
        /* An empty name is one that the profile lacks: null in JSON. */
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(*calls->name ? calls->name : NULL),
                       haul_cell_text(haul_direction_text(calls->direction)),
                       haul_cell_text(haul_memory_text(calls->memory)),
                       haul_cell_count(calls->count), haul_cell_count(calls->bytes),
                       haul_cell_count(calls->least_bytes), haul_cell_count(calls->most_bytes),
                       haul_cell_number(seconds(calls->first_ns)), haul_cell_time(calls->time_ns),
                       haul_cell_text(calls->place.operator_name),
                       haul_cell_text(calls->place.range), haul_cell_text(calls->place.line),
                       haul_cell_text(calls->place.stack)));
    }
}

/* Each piece of advice in full: the first few, then the others as details. */
static void add_advice(const advised *self)
{
    static const haul_column columns[] = {
        {"change", .unit = HAUL_UNIT_TEXT},       {"certainty", .unit = HAUL_UNIT_TEXT},
        {"saved_s", .unit = HAUL_UNIT_SECONDS},   {"saved_interval_s", .unit = HAUL_UNIT_INTERVAL},
        {"share", .unit = HAUL_UNIT_SHARE},       {"parts", .unit = HAUL_UNIT_COUNT},
        {NULL, HAUL_UNIT_COUNT, .csv = "copies"}, {NULL, HAUL_UNIT_BYTES, .csv = "bytes"},
        {"what", .unit = HAUL_UNIT_TEXT},         {"why", HAUL_UNIT_TEXT, .csv = ""},
        {"assumes", HAUL_UNIT_TEXT, .csv = ""},   {"needs", HAUL_UNIT_TEXT, .csv = ""},
        {"apart", HAUL_UNIT_TEXT, .csv = ""},     {0},
    };
    haul_report *report = self->report;
    haul_table *table = haul_report_table(report, "advice", columns);
    haul_table_csv(table);
    for (size_t i = 0; i < self->list->count; i++) {
        const haul_advice *advice = &self->list->items[i];
        uint64_t count = 0, bytes = 0;
        /* CSV has a row for each piece of advice, so the calls are summed. */
        for (size_t c = 0; c < advice->call_count; c++) {
            count += advice->calls[c].count;
            bytes += advice->calls[c].bytes;
        }
        haul_report_detail(report, i >= TOLD);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(advice->change),
                       haul_cell_text(haul_certainty_text(advice->certainty)),
                       haul_cell_number(seconds(advice->saved_ns)),
                       haul_cell_interval(seconds(advice->low_ns), seconds(advice->high_ns)),
                       haul_cell_number(advice->share),
                       haul_cell_count(advice->parts ? (uint64_t)advice->parts : HAUL_NO_COUNT),
                       haul_cell_count(count), haul_cell_count(bytes), haul_cell_text(advice->what),
                       haul_cell_text(advice->why), haul_cell_text(advice->assumes),
                       haul_cell_text(advice->needs), haul_cell_text(advice->apart)));
        /* the table above says what to do */
        haul_report_say(report, "%zu. %s", i + 1, advice->change);
        haul_report_line(report, "why", "%s", advice->why);
        if (advice->assumes)
            haul_report_line(report, "if", "%s", advice->assumes);
        if (advice->needs)
            haul_report_line(report, "needs", "%s", advice->needs);
        char place[HL_REPORT_PLACE_BYTES];
        if (advice->call_count && hl_report_say_place(&advice->calls[0].place, place))
            haul_report_line(report, "where", "%s", place);
        if (advice->call_count)
            haul_report_line(report, "first", "%s after the GPU's first operation",
                             hl_report_say_time(advice->calls[0].first_ns).text);
        haul_report_detail(report, true);
        add_calls(table, advice);
    }
}

static void add_untried(const advised *self)
{
    static const haul_column columns[] = {
        {"changes", .unit = HAUL_UNIT_TEXT},   {"copies", .unit = HAUL_UNIT_COUNT},
        {"direction", .unit = HAUL_UNIT_TEXT}, {"memory", .unit = HAUL_UNIT_TEXT},
        {"why", .unit = HAUL_UNIT_TEXT},       {0}};
    haul_table *table = haul_report_table(self->report, "not_tried", columns);
    for (size_t i = 0; i < self->list->not_tried_count; i++) {
        const haul_advice_untried *row = &self->list->not_tried[i];
        haul_table_row(table, HAUL_CELLS(haul_cell_text(row->changes), haul_cell_count(row->copies),
                                         haul_cell_text(haul_direction_text(row->direction)),
                                         haul_cell_text(haul_memory_text(row->memory)),
                                         haul_cell_text(row->why)));
    }
}

static const haul_column advice_inputs[] = {{"source", HAUL_UNIT_TEXT, .head = "profile"},
                                            {"format", HAUL_UNIT_TEXT, .head = "format"},
                                            {"machine", .unit = HAUL_UNIT_TEXT},
                                            {"gpu", HAUL_UNIT_TEXT, .head = "GPU"},
                                            {0}};

static const haul_column advice_replay[] = {{"recorded_s", .unit = HAUL_UNIT_TIME},
                                            {"makespan_s", .unit = HAUL_UNIT_TIME},
                                            {"error", .unit = HAUL_UNIT_PERCENT},
                                            {0}};

static const haul_column advice_unsound[] = {{"unsound", .unit = HAUL_UNIT_TEXT},
                                             {"run_s", .unit = HAUL_UNIT_SECONDS},
                                             {"threshold_s", .unit = HAUL_UNIT_SECONDS},
                                             {0}};

static const haul_column advice_plan[] = {{"changes", .unit = HAUL_UNIT_COUNT},
                                          {"saved_s", .unit = HAUL_UNIT_SECONDS},
                                          {"saved_interval_s", .unit = HAUL_UNIT_INTERVAL},
                                          {"share", .unit = HAUL_UNIT_SHARE},
                                          {0}};

static const haul_column advice_interval[] = {{"run_interval_s", .unit = HAUL_UNIT_INTERVAL}, {0}};

static void add_run(const advised *self)
{
    static const haul_column run[] = {
        {"run_s", .unit = HAUL_UNIT_TIME}, {"threshold_s", .unit = HAUL_UNIT_TIME}, {0}};
    const haul_advice_list *list = self->list;
    haul_report_object(self->report, "replay", advice_replay,
                       HAUL_CELLS(haul_cell_time(list->replay.recorded_ns),
                                  haul_cell_time(list->replay.replayed_ns),
                                  haul_cell_number(list->replay.error)));
    if (list->unsound)
        haul_report_object(self->report, NULL, advice_unsound,
                           HAUL_CELLS(haul_cell_text(list->unsound), haul_cell_number((double)NAN),
                                      haul_cell_number((double)NAN)));
    else
        haul_report_object(
            self->report, NULL, run,
            HAUL_CELLS(haul_cell_time(list->baseline_ns), haul_cell_time(list->threshold_ns)));
    if (list->baseline_low_ns < list->baseline_high_ns)
        haul_report_object(self->report, NULL, advice_interval,
                           HAUL_CELLS(haul_cell_interval(seconds(list->baseline_low_ns),
                                                         seconds(list->baseline_high_ns))));
}

static void add_plans(const advised *self)
{
    static const char *const keys[] = {"safe", "together", "with_speculative"};
    const haul_advised_plan *plans[] = {&self->list->safe, &self->list->together,
                                        &self->list->with_speculative};
    for (int i = 0; i < 3; i++)
        haul_report_object(
            self->report, keys[i], advice_plan,
            HAUL_CELLS(haul_cell_count((uint64_t)plans[i]->changes),
                       haul_cell_number(seconds(plans[i]->saved_ns)),
                       haul_cell_interval(seconds(plans[i]->low_ns), seconds(plans[i]->high_ns)),
                       haul_cell_number(plans[i]->share)));
}

haul_report *haul_report_advice(const haul_workload *workload, const haul_advice_list *list)
{
    static const haul_column counts[] = {{"tried", .unit = HAUL_UNIT_COUNT},
                                         {"below", .unit = HAUL_UNIT_COUNT},
                                         {"untried", .unit = HAUL_UNIT_COUNT},
                                         {0}};
    static const haul_column notes[] = {{"", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column other_notes[] = {{NULL, HAUL_UNIT_TEXT, .head = "Notes"}, {0}};
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("advice");
    const advised self = {report, workload, list};
    say_answer(&self);
    /* Before the advice: a profile that lost operations makes all savings doubtful. */
    hl_report_losses(report, workload);
    haul_report_detail(report, true);
    haul_report_object(report, NULL, advice_inputs,
                       HAUL_CELLS(haul_cell_text(workload->source),
                                  haul_cell_text(workload->format), haul_cell_text(list->machine),
                                  haul_cell_text(list->gpu)));
    haul_report_detail(report, false);
    add_run(&self);
    haul_report_section(report, "advice", "Advice");
    add_ranking(&self, false);
    add_ranking(&self, true);
    add_advice(&self);
    add_plans(&self);
    add_untried(&self);
    haul_report_object(report, NULL, counts,
                       HAUL_CELLS(haul_cell_count(list->tried), haul_cell_count(list->below),
                                  haul_cell_count(list->untried)));
    hl_report_sentences(report, "notes", notes, list->notes, list->note_count);
    /* the first is the answer's caution */
    if (list->note_count)
        hl_report_sentences(report, NULL, other_notes, list->notes + 1, list->note_count - 1);
    hl_report_loss_list(report, workload);
    return report;
}
