/* An exchange between GPUs: the best way, why, and from which size or number of messages on another
 * one is. */
#include <math.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/wording.h"

enum { SIZES = 23 }; /* 1 B to 4 MiB */

static const char *name_of(haul_way way)
{
    return haul_way_text(way, HAUL_MEMORY_DEVICE);
}

static bool predict(const haul_exchange_report *self, const haul_exchange *of,
                    haul_way_time times[HAUL_WAYS_PREDICTED])
{
    /* A way that lacks parameters is in `times` with what it lacks: no error is of interest
     * here. */
    return !haul_exchange_predict(self->machine, of, times, NULL);
}

/* The part in which the best way saves most against the next whose parts follow each other. */
static void say_cause(const haul_way_time times[HAUL_WAYS_PREDICTED], char *text, size_t size)
{
    const haul_way_time *best = &times[0], *next = &times[1];
    /* Its parts overlap, so that no single part explains a difference. */
    if (next->way == HAUL_WAY_CHUNKED)
        next++;
    /* Spreading the data over the node's processes counts as sending: it is done for the
     * messages. */
    const double sent_s = best->messages_s + best->spread_s;
    const double next_sent_s = next->messages_s + next->spread_s;
    if (*next->missing)
        (void)snprintf(text, size, "no other way has all its parameters");
    else if (best->way == HAUL_WAY_CHUNKED)
        (void)snprintf(text, size, "copies and messages of its %u chunks overlap", best->chunks);
    else if (next_sent_s - sent_s > next->copies_s - best->copies_s)
        (void)snprintf(text, size, "its messages take %s, those of %s %s",
                       hl_report_say_seconds(sent_s).text, name_of(next->way),
                       hl_report_say_seconds(next_sent_s).text);
    else if (best->copies_s > 0)
        (void)snprintf(text, size, "its copies take %s, those of %s %s",
                       hl_report_say_seconds(best->copies_s).text, name_of(next->way),
                       hl_report_say_seconds(next->copies_s).text);
    else
        (void)snprintf(text, size, "it needs no copies, which take %s in %s",
                       hl_report_say_seconds(next->copies_s).text, name_of(next->way));
}

static void say_answer(haul_report *report, const haul_exchange_report *self,
                       const haul_way_time times[HAUL_WAYS_PREDICTED])
{
    const haul_way_time *best = &times[0], *next = &times[1];
    /* Beyond the largest measured size the last protocol's line goes on; MPI may change it
     * there. */
    const char *beyond = best->largest_bytes > best->measured_bytes ? " (extrapolated)" : "";
    char cause[160];
    say_cause(times, cause, sizeof cause);
    /* Counts are a matrix, of which no one size can be named. */
    hl_report_words words = {"an all-to-all-v by its counts"};
    const hl_report_words bytes = hl_report_say_bytes(self->exchange->bytes);
    if (self->exchange->kind == HAUL_EXCHANGE_MESSAGES)
        (void)snprintf(words.text, sizeof words.text, "%.30s of %.20s",
                       hl_report_say_number_of(self->exchange->messages, "message", NULL).text,
                       bytes.text);
    else if (!self->exchange->counts)
        (void)snprintf(words.text, sizeof words.text, "an all-to-all%s of %.20s to each GPU",
                       self->exchange->kind == HAUL_EXCHANGE_ALL_V ? "-v" : "", bytes.text);
    haul_report_say(report, "%s: %s (%s)%s for %s on %.64s, because %s", name_of(best->way),
                    hl_report_say_seconds(best->seconds).text,
                    hl_report_say_interval(best->low_s, best->high_s).text, beyond, words.text,
                    self->machine->name, cause);
    if (!*next->missing)
        haul_report_line(report, "next", "%s: %s, %.2fx%s", name_of(next->way),
                         hl_report_say_seconds(next->seconds).text, next->seconds / best->seconds,
                         /* The intervals overlap, so that the order of the two may be the other way
                          * round. */
                         next->low_s < best->high_s ? "; within the interval: measure both" : "");
    for (int i = 1; i < HAUL_WAYS_PREDICTED; i++)
        if (*times[i].missing && !times[i].is_impossible) {
            haul_report_line(report, "lacks", "%s: %s", times[i].missing,
                             haul_exchange_hint(times[i].missing));
            break;
        }
    if (*beyond)
        haul_report_line(report, "caution", "messages of %s, measured up to %s",
                         hl_report_say_bytes((uint64_t)best->largest_bytes).text,
                         hl_report_say_bytes((uint64_t)best->measured_bytes).text);
}

/* The least value of *of's `what` between `below`, where the best way is another, and `above`. */
static uint64_t bisect(const haul_exchange_report *self, haul_exchange of, bool is_size,
                       uint64_t below, uint64_t above, haul_way way)
{
    /* Between neighbours of the doubling sequence there is taken to be one change. */
    while (above - below > 1) {
        haul_way_time times[HAUL_WAYS_PREDICTED];
        const uint64_t middle = below + (above - below) / 2;
        if (is_size)
            of.bytes = middle;
        else
            of.messages = (uint32_t)middle;
        if (predict(self, &of, times) && times[0].way == way)
            above = middle;
        else
            below = middle;
    }
    return above;
}

/* "3-step from 7 messages on": where the best way changes while one number grows. */
static void say_crossovers(haul_report *report, const haul_exchange_report *self, bool is_size,
                           haul_table *table)
{
    haul_exchange of = *self->exchange;
    uint64_t before = 0;
    haul_way way = HAUL_WAY_CHOSEN;
    /* 23 sizes to 4 MiB, but only 10 numbers of messages, to 512. */
    for (uint64_t value = 1, i = 0; i < SIZES - (is_size ? 0 : 13); value *= 2, i++) {
        haul_way_time times[HAUL_WAYS_PREDICTED];
        if (is_size)
            of.bytes = value;
        else
            of.messages = (uint32_t)value;
        if (!predict(self, &of, times))
            continue;
        if (way != HAUL_WAY_CHOSEN && times[0].way != way) {
            const uint64_t from = bisect(self, of, is_size, before, value, times[0].way);
            haul_table_row(table, HAUL_CELLS(haul_cell_text(name_of(times[0].way)),
                                             haul_cell_text(name_of(way)),
                                             haul_cell_count(is_size ? from : HAUL_NO_COUNT),
                                             haul_cell_count(is_size ? HAUL_NO_COUNT : from)));
            if (is_size)
                haul_report_line(report, "by size", "%s from %s on", name_of(times[0].way),
                                 hl_report_say_bytes(from).text);
            else
                haul_report_line(report, "by number", "%s from %s on", name_of(times[0].way),
                                 hl_report_say_number_of(from, "message", NULL).text);
        }
        way = times[0].way;
        before = value;
    }
}

/* Times of all ways over sizes. */
static void add_curve(haul_report *report, const haul_exchange_report *self)
{
    static const haul_column columns[] = {
        {"bytes", HAUL_UNIT_BYTES, .head = "size"},
        {"gpudirect_s", HAUL_UNIT_SECONDS, .head = "gpudirect"},
        {"three_step_s", HAUL_UNIT_SECONDS, .head = "3-step"},
        {"extra_message_s", HAUL_UNIT_SECONDS, .head = "extra-message"},
        {"duplicate_pointer_s", HAUL_UNIT_SECONDS, .head = "duplicate-pointer"},
        {"chunked_s", HAUL_UNIT_SECONDS, .head = "chunked-3-step"},
        {"aggregated_s", HAUL_UNIT_SECONDS, .head = "aggregated", .optional = true},
        {"bruck_s", HAUL_UNIT_SECONDS, .head = "bruck", .optional = true},
        {"best", HAUL_UNIT_TEXT, .head = "best"},
        {0}};
    haul_table *table = haul_report_table(report, "curve", columns);
    haul_exchange of = *self->exchange;
    for (int i = 0; i < SIZES; i++) {
        haul_way_time times[HAUL_WAYS_PREDICTED];
        double seconds[HAUL_WAYS];
        of.bytes = UINT64_C(1) << i;
        if (!predict(self, &of, times))
            continue;
        for (int p = 0; p < HAUL_WAYS_PREDICTED; p++)
            seconds[times[p].way] = times[p].seconds;
        haul_table_row(table, HAUL_CELLS(haul_cell_count(of.bytes),
                                         haul_cell_number(seconds[HAUL_WAY_DIRECT]),
                                         haul_cell_number(seconds[HAUL_WAY_THREE_STEP]),
                                         haul_cell_number(seconds[HAUL_WAY_EXTRA_MESSAGE]),
                                         haul_cell_number(seconds[HAUL_WAY_DUPLICATE_POINTER]),
                                         haul_cell_number(seconds[HAUL_WAY_CHUNKED]),
                                         haul_cell_number(seconds[HAUL_WAY_AGGREGATED]),
                                         haul_cell_number(seconds[HAUL_WAY_BRUCK]),
                                         haul_cell_text(name_of(times[0].way))));
    }
    haul_table_csv(table);
}

static const haul_column way_columns[] = {
    {"path", HAUL_UNIT_TEXT, .head = "Way"},
    {"time_s", HAUL_UNIT_SECONDS, .head = "time"},
    {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
    {"timeline_s", HAUL_UNIT_SECONDS, .head = "timeline"},
    {"copies_s", HAUL_UNIT_SECONDS, .head = "copies"},
    {"spread_s", HAUL_UNIT_SECONDS, .head = "spread"},
    {"messages_s", HAUL_UNIT_SECONDS, .head = "messages"},
    {"processes", HAUL_UNIT_COUNT, .head = "processes"},
    {"chunks", HAUL_UNIT_COUNT, .head = "chunks"},
    {NULL, HAUL_UNIT_TEXT, .head = "extrapolated to", .optional = true},
    {"largest_bytes", .unit = HAUL_UNIT_NUMBER},
    {"measured_bytes", .unit = HAUL_UNIT_NUMBER},
    {"provenance", HAUL_UNIT_TEXT, .head = "from"},
    {"missing", HAUL_UNIT_TEXT, .head = "lacks", .optional = true},
    {0},
};

haul_report *haul_report_exchange(const haul_exchange_report *self,
                                  const haul_way_time times[HAUL_WAYS_PREDICTED])
{
    static const haul_column head[] = {{"machine", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column crossover[] = {{"path", .unit = HAUL_UNIT_TEXT},
                                            {"instead_of", .unit = HAUL_UNIT_TEXT},
                                            {"from_bytes", HAUL_UNIT_BYTES, .optional = true},
                                            {"from_messages", HAUL_UNIT_COUNT, .optional = true},
                                            {0}};
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("exchange");
    haul_report_object(report, NULL, head, HAUL_CELLS(haul_cell_text(self->machine->name)));
    say_answer(report, self, times);
    haul_report_section(report, "ways", "Ways over the size of a message");
    haul_table *table = haul_report_table(report, "paths", way_columns);
    for (int i = 0; i < HAUL_WAYS_PREDICTED; i++) {
        const haul_way_time *of = &times[i];
        if (of->is_impossible)
            continue;
        /* Added, so that it makes the parts of a way that lacks parameters "not known" (NaN). */
        const double unknown = *of->missing ? (double)NAN : 0;
        const bool is_beyond = of->largest_bytes > of->measured_bytes;
        const hl_report_words largest = hl_report_say_bytes((uint64_t)of->largest_bytes);
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(name_of(of->way)), haul_cell_number(of->seconds),
                haul_cell_interval(of->low_s, of->high_s), haul_cell_number(of->timeline_s),
                haul_cell_number(of->copies_s + unknown), haul_cell_number(of->spread_s + unknown),
                haul_cell_number(of->messages_s + unknown),
                haul_cell_count((uint64_t)of->processes), haul_cell_count((uint64_t)of->chunks),
                haul_cell_text(is_beyond ? largest.text : NULL),
                haul_cell_number(of->largest_bytes), haul_cell_number(of->measured_bytes),
                haul_cell_text(of->weakest ? haul_provenance_text(of->weakest) : NULL),
                haul_cell_text(*of->missing ? of->missing : NULL)));
    }
    if (!self->with_curve)
        haul_table_csv(table);
    /* With a matrix of counts there is no one size to vary. */
    if (!self->exchange->counts) {
        haul_table *crossovers = haul_report_table(report, "crossovers", crossover);
        say_crossovers(report, self, true, crossovers);
        if (self->exchange->kind == HAUL_EXCHANGE_MESSAGES)
            say_crossovers(report, self, false, crossovers);
    }
    if (self->with_curve && !self->exchange->counts)
        add_curve(report, self);
    return report;
}
