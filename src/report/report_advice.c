/* What to change in a recorded program, and what it saves: each change scheduled anew, ranked by
 * the time it saves, and all that go together scheduled together, for savings do not add up. */

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

/* Speculative changes rest on a guess about the program, so the headline is without them. */
static void say_answer(const advised *self)
{
    /* Savings of changes made together come from one schedule, not from a sum. */
    const haul_advice_list *list = self->list;
    const haul_advised_plan *together = &list->together;
    const haul_advice *best = NULL; /* of the changes made: the list is in order of savings */
    for (size_t i = 0; !best && i < list->count; i++)
        if (!list->items[i].apart && list->items[i].certainty != HAUL_SPECULATIVE)
            best = &list->items[i];
    if (together->changes)
        haul_report_say(self->report, "%s -> %s on %.100s: %s less, %s of the run",
                        haul_say_time(list->baseline_ns).text,
                        haul_say_time(list->baseline_ns - together->saved_ns).text, list->machine,
                        haul_say_time(together->saved_ns).text,
                        haul_say_share(together->share).text);
    else
        haul_report_say(self->report,
                        "%s on %.100s: no safe or conditional change saves more than %s",
                        haul_say_time(list->baseline_ns).text, list->machine,
                        haul_say_time(list->threshold_ns).text);
    /* Where speculative changes add nothing, the second line would repeat the first. */
    if (together->changes && best)
        haul_report_line(self->report, together->changes > 1 ? "changes" : "change", "%.300s%s%s",
                         best->what, together->changes > 1 ? "; and together with it " : "",
                         together->changes > 1
                             ? haul_say_number_of(together->changes - 1, "other", NULL).text
                             : "");
    haul_report_line(self->report, "self-check", "replaying the profile's %s gives %s (%+.2f %%)",
                     haul_say_time(list->replay.recorded_ns).text,
                     haul_say_time(list->replay.replayed_ns).text, list->replay.error);
    haul_report_line(self->report, "tried", "%s, of which %s less than %s and %s hidden",
                     haul_say_number_of(list->tried, "change", NULL).text,
                     haul_say_number_of(list->below, "saves", "save").text,
                     haul_say_time(list->threshold_ns).text, list->below == 1 ? "is" : "are");
    /* One caution fits the answer; the others are details. */
    if (list->note_count)
        haul_report_line(self->report, "caution", "%.700s", list->notes[0]);
}

/* A row for each change, with those that rest on a guess apart. */
static void add_ranking(const advised *self, bool is_speculative)
{
    static const haul_column columns[] = {{NULL, HAUL_ID, .head = "#"},
                                          {NULL, HAUL_TIME, .head = "saves"},
                                          {NULL, HAUL_SHARE, .head = "of the run"},
                                          {NULL, HAUL_TEXT, .head = "change"},
                                          {NULL, HAUL_TEXT, .head = "certainty"},
                                          {NULL, HAUL_TEXT, .head = "what to do"},
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
        if ((advice->certainty == HAUL_SPECULATIVE) == is_speculative)
            haul_table_row(table, (uint64_t)i + 1, advice->saved_ns, advice->share, advice->change,
                           haul_certainty_text(advice->certainty), what);
    }
}

/* The API calls to edit, with where in time to look for them. */
static void add_calls(haul_table *parent, const haul_advice *advice)
{
    static const haul_column columns[] = {
        {"name", HAUL_TEXT, .head = "API call"},
        {"direction", HAUL_TEXT, .head = "direction"},
        {"memory", HAUL_TEXT, .head = "memory"},
        {"count", HAUL_COUNT, .head = "count"},
        {"bytes", HAUL_BYTES, .head = "bytes"},
        {"least_bytes", HAUL_BYTES, .head = "smallest"},
        {"most_bytes", HAUL_BYTES, .head = "largest"},
        {"first_s", HAUL_SECONDS, .head = "first"},
        {"time_s", HAUL_TIME, .head = "took"},
        {0},
    };
    haul_table *table = haul_report_table(parent, "calls", columns);
    haul_table_limit(table, CALLS_SHOWN);
    for (size_t c = 0; c < advice->call_count; c++) {
        const haul_advised_calls *calls = &advice->calls[c];
        /* An empty name is one that the profile lacks: null in JSON. */
        haul_table_row(table, *calls->name ? calls->name : NULL,
                       haul_direction_text(calls->direction), haul_memory_text(calls->memory),
                       calls->count, calls->bytes, calls->least_bytes, calls->most_bytes,
                       seconds(calls->first_ns), calls->time_ns);
    }
}

/* Each piece of advice in full: the first few, then the others as details. */
static void add_advice(const advised *self)
{
    static const haul_column columns[] = {
        {"change", .unit = HAUL_TEXT},
        {"certainty", .unit = HAUL_TEXT},
        {"saved_s", .unit = HAUL_SECONDS},
        {"share", .unit = HAUL_SHARE},
        {"parts", .unit = HAUL_COUNT},
        {NULL, HAUL_COUNT, .csv = "copies"},
        {NULL, HAUL_BYTES, .csv = "bytes"},
        {"what", .unit = HAUL_TEXT},
        {"why", HAUL_TEXT, .csv = ""},
        {"assumes", HAUL_TEXT, .csv = ""},
        {"needs", HAUL_TEXT, .csv = ""},
        {"apart", HAUL_TEXT, .csv = ""},
        {0},
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
        haul_table_row(table, advice->change, haul_certainty_text(advice->certainty),
                       seconds(advice->saved_ns), advice->share,
                       advice->parts ? (uint64_t)advice->parts : HAUL_NO_COUNT, count, bytes,
                       advice->what, advice->why, advice->assumes, advice->needs, advice->apart);
        haul_report_say(report, "%zu. %.1500s", i + 1, advice->what);
        haul_report_line(report, "why", "%s", advice->why);
        if (advice->assumes)
            haul_report_line(report, "if", "%s", advice->assumes);
        if (advice->needs)
            haul_report_line(report, "needs", "%s", advice->needs);
        if (advice->call_count)
            haul_report_line(report, "first", "%s after the first call",
                             haul_say_time(advice->calls[0].first_ns).text);
        haul_report_detail(report, true);
        add_calls(table, advice);
    }
}

haul_report *haul_report_advice(const haul_workload *workload, const haul_advice_list *list)
{
    static const haul_column inputs[] = {{"source", HAUL_TEXT, .head = "profile"},
                                         {"format", HAUL_TEXT, .head = "format"},
                                         {"machine", .unit = HAUL_TEXT},
                                         {"gpu", HAUL_TEXT, .head = "GPU"},
                                         {0}};
    static const haul_column replay[] = {{"recorded_s", .unit = HAUL_TIME},
                                         {"makespan_s", .unit = HAUL_TIME},
                                         {"error", .unit = HAUL_PERCENT},
                                         {0}};
    static const haul_column run[] = {
        {"run_s", .unit = HAUL_TIME}, {"threshold_s", .unit = HAUL_TIME}, {0}};
    static const haul_column plan[] = {{"changes", .unit = HAUL_COUNT},
                                       {"saved_s", .unit = HAUL_SECONDS},
                                       {"share", .unit = HAUL_SHARE},
                                       {0}};
    static const haul_column counts[] = {{"tried", .unit = HAUL_COUNT},
                                         {"below", .unit = HAUL_COUNT},
                                         {"untried", .unit = HAUL_COUNT},
                                         {0}};
    static const haul_column notes[] = {{"", .unit = HAUL_TEXT}, {0}};
    static const haul_column other_notes[] = {{NULL, HAUL_TEXT, .head = "Notes"}, {0}};
    HAUL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("advice");
    const advised self = {report, workload, list};
    const haul_advised_plan *sure = &list->together, *all = &list->with_speculative;
    say_answer(&self);
    /* Before the advice: a profile that lost operations makes all savings doubtful. */
    haul_report_losses(report, workload);
    haul_report_detail(report, true);
    haul_report_object(report, NULL, inputs, workload->source, workload->format, list->machine,
                       list->gpu);
    haul_report_detail(report, false);
    haul_report_object(report, "replay", replay, list->replay.recorded_ns, list->replay.replayed_ns,
                       list->replay.error);
    haul_report_object(report, NULL, run, list->baseline_ns, list->threshold_ns);
    haul_report_section(report, "advice", "Advice");
    add_ranking(&self, false);
    add_ranking(&self, true);
    add_advice(&self);
    haul_report_object(report, "together", plan, (uint64_t)sure->changes, seconds(sure->saved_ns),
                       sure->share);
    haul_report_object(report, "with_speculative", plan, (uint64_t)all->changes,
                       seconds(all->saved_ns), all->share);
    haul_report_object(report, NULL, counts, list->tried, list->below, list->untried);
    haul_report_sentences(report, "notes", notes, list->notes, list->note_count);
    /* the first is the answer's caution */
    if (list->note_count)
        haul_report_sentences(report, NULL, other_notes, list->notes + 1, list->note_count - 1);
    haul_report_loss_list(report, workload);
    return report;
}
