/* An exchange between GPUs: the best way, why, and from which size or number of messages on another
 * one is. */
#include <math.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/wording.h"

enum { SIZES = 23 }; /* 1 B to 4 MiB */

static bool predict(const haul_exchange_report *self, const haul_exchange *of,
                    haul_path_time times[HAUL_PATHS])
{
    /* A way that lacks parameters is in `times` with what it lacks: no error is of interest
     * here. */
    return !haul_exchange_predict(self->machine, of, times, NULL);
}

/* The part in which the best way saves most against the next whose parts follow each other. */
static void say_cause(const haul_path_time times[HAUL_PATHS], char *text, size_t size)
{
    const haul_path_time *best = &times[0], *next = &times[1];
    /* Its parts overlap, so that no single part explains a difference. */
    if (next->path == HAUL_PATH_CHUNKED)
        next++;
    /* Spreading the data over the node's processes counts as sending: it is done for the
     * messages. */
    const double sent_s = best->messages_s + best->spread_s;
    const double next_sent_s = next->messages_s + next->spread_s;
    if (*next->missing)
        (void)snprintf(text, size, "no other way has all its parameters");
    else if (best->path == HAUL_PATH_CHUNKED)
        (void)snprintf(text, size, "copies and messages of its %u chunks overlap", best->chunks);
    else if (next_sent_s - sent_s > next->copies_s - best->copies_s)
        (void)snprintf(text, size, "its messages take %s, those of %s %s",
                       haul_say_seconds(sent_s).text, haul_path_text(next->path),
                       haul_say_seconds(next_sent_s).text);
    else if (best->copies_s > 0)
        (void)snprintf(text, size, "its copies take %s, those of %s %s",
                       haul_say_seconds(best->copies_s).text, haul_path_text(next->path),
                       haul_say_seconds(next->copies_s).text);
    else
        (void)snprintf(text, size, "it needs no copies, which take %s in %s",
                       haul_say_seconds(next->copies_s).text, haul_path_text(next->path));
}

static haul_words say_exchange(const haul_exchange *of)
{
    /* Counts are a matrix, of which no one size can be named. */
    haul_words words = {"an all-to-all-v by its counts"};
    const haul_words bytes = haul_say_bytes(of->bytes);
    if (of->kind == HAUL_EXCHANGE_MESSAGES)
        (void)snprintf(words.text, sizeof words.text, "%.30s of %.20s",
                       haul_say_number_of(of->messages, "message", NULL).text, bytes.text);
    else if (!of->counts)
        (void)snprintf(words.text, sizeof words.text, "an all-to-all%s of %.20s to each GPU",
                       of->kind == HAUL_EXCHANGE_ALL_V ? "-v" : "", bytes.text);
    return words;
}

static void say_answer(haul_report *report, const haul_exchange_report *self,
                       const haul_path_time times[HAUL_PATHS])
{
    const haul_path_time *best = &times[0], *next = &times[1];
    /* Beyond the largest measured size the last protocol's line goes on; MPI may change it
     * there. */
    const char *beyond = best->largest_bytes > best->measured_bytes ? " (extrapolated)" : "";
    char cause[160];
    say_cause(times, cause, sizeof cause);
    haul_report_say(report, "%s: %s (%s)%s for %s on %.64s, because %s", haul_path_text(best->path),
                    haul_say_seconds(best->seconds).text,
                    haul_say_interval(best->low_s, best->high_s).text, beyond,
                    say_exchange(self->exchange).text, self->machine->name, cause);
    if (!*next->missing)
        haul_report_line(report, "next", "%s: %s, %.2fx%s", haul_path_text(next->path),
                         haul_say_seconds(next->seconds).text, next->seconds / best->seconds,
                         /* The intervals overlap, so that the order of the two may be the other way
                          * round. */
                         next->low_s < best->high_s ? "; within the interval: measure both" : "");
    if (*beyond)
        haul_report_line(report, "caution", "messages of %s, measured up to %s",
                         haul_say_bytes((uint64_t)best->largest_bytes).text,
                         haul_say_bytes((uint64_t)best->measured_bytes).text);
}

/* The least value of *of's `what` between `below`, where the best way is another, and `above`. */
static uint64_t bisect(const haul_exchange_report *self, haul_exchange of, bool is_size,
                       uint64_t below, uint64_t above, haul_path path)
{
    /* Between neighbours of the doubling sequence there is taken to be one change. */
    while (above - below > 1) {
        haul_path_time times[HAUL_PATHS];
        const uint64_t middle = below + (above - below) / 2;
        if (is_size)
            of.bytes = middle;
        else
            of.messages = (uint32_t)middle;
        if (predict(self, &of, times) && times[0].path == path)
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
    haul_path path = HAUL_PATHS;
    /* 23 sizes to 4 MiB, but only 10 numbers of messages, to 512. */
    for (uint64_t value = 1, i = 0; i < SIZES - (is_size ? 0 : 13); value *= 2, i++) {
        haul_path_time times[HAUL_PATHS];
        if (is_size)
            of.bytes = value;
        else
            of.messages = (uint32_t)value;
        if (!predict(self, &of, times))
            continue;
        if (path != HAUL_PATHS && times[0].path != path) {
            const uint64_t from = bisect(self, of, is_size, before, value, times[0].path);
            haul_table_row(table, haul_path_text(times[0].path), haul_path_text(path),
                           is_size ? from : HAUL_NO_COUNT, is_size ? HAUL_NO_COUNT : from);
            if (is_size)
                haul_report_line(report, "by size", "%s from %s on", haul_path_text(times[0].path),
                                 haul_say_bytes(from).text);
            else
                haul_report_line(report, "by number", "%s from %s on",
                                 haul_path_text(times[0].path),
                                 haul_say_number_of(from, "message", NULL).text);
        }
        path = times[0].path;
        before = value;
    }
}

/* Times of all ways over sizes, in the order of the list of ways. */
static void add_curve(haul_report *report, const haul_exchange_report *self)
{
    static const haul_column columns[] = {
        {"bytes", HAUL_BYTES, .head = "size"},
        {"gpudirect_s", HAUL_SECONDS, .head = "gpudirect"},
        {"three_step_s", HAUL_SECONDS, .head = "3-step"},
        {"extra_message_s", HAUL_SECONDS, .head = "extra-message"},
        {"duplicate_pointer_s", HAUL_SECONDS, .head = "duplicate-pointer"},
        {"chunked_s", HAUL_SECONDS, .head = "chunked-3-step"},
        {"best", HAUL_TEXT, .head = "best"},
        {0}};
    haul_table *table = haul_report_table(report, "curve", columns);
    haul_exchange of = *self->exchange;
    for (int i = 0; i < SIZES; i++) {
        haul_path_time times[HAUL_PATHS];
        double seconds[HAUL_PATHS];
        of.bytes = UINT64_C(1) << i;
        if (!predict(self, &of, times))
            continue;
        for (int p = 0; p < HAUL_PATHS; p++)
            /* `times` is sorted by time; the columns are in the order of the list of ways. */
            seconds[times[p].path] = times[p].seconds;
        /* In the order of haul_path. */
        haul_table_row(table, of.bytes, seconds[0], seconds[1], seconds[2], seconds[3], seconds[4],
                       haul_path_text(times[0].path));
    }
    haul_table_csv(table);
}

haul_report *haul_report_exchange(const haul_exchange_report *self,
                                  const haul_path_time times[HAUL_PATHS])
{
    static const haul_column head[] = {{"machine", .unit = HAUL_TEXT}, {0}};
    static const haul_column columns[] = {
        {"path", HAUL_TEXT, .head = "Way"},
        {"time_s", HAUL_SECONDS, .head = "time"},
        {"interval_s", HAUL_INTERVAL, .head = "interval"},
        {"timeline_s", HAUL_SECONDS, .head = "timeline"},
        {"copies_s", HAUL_SECONDS, .head = "copies"},
        {"spread_s", HAUL_SECONDS, .head = "spread"},
        {"messages_s", HAUL_SECONDS, .head = "messages"},
        {"processes", HAUL_COUNT, .head = "processes"},
        {"chunks", HAUL_COUNT, .head = "chunks"},
        {NULL, HAUL_TEXT, .head = "extrapolated to", .optional = true},
        {"largest_bytes", .unit = HAUL_NUMBER},
        {"measured_bytes", .unit = HAUL_NUMBER},
        {"provenance", HAUL_TEXT, .head = "from"},
        {"missing", HAUL_TEXT, .head = "lacks", .optional = true},
        {0},
    };
    static const haul_column crossover[] = {{"path", .unit = HAUL_TEXT},
                                            {"instead_of", .unit = HAUL_TEXT},
                                            {"from_bytes", HAUL_BYTES, .optional = true},
                                            {"from_messages", HAUL_COUNT, .optional = true},
                                            {0}};
    HAUL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("exchange");
    haul_report_object(report, NULL, head, self->machine->name);
    say_answer(report, self, times);
    haul_report_section(report, "ways", "Ways over the size of a message");
    haul_table *table = haul_report_table(report, "paths", columns);
    for (int i = 0; i < HAUL_PATHS; i++) {
        const haul_path_time *of = &times[i];
        /* Added, so that it makes the parts of a way that lacks parameters "not known" (NaN). */
        const double unknown = *of->missing ? (double)NAN : 0;
        const bool is_beyond = of->largest_bytes > of->measured_bytes;
        const haul_words largest = haul_say_bytes((uint64_t)of->largest_bytes);
        haul_table_row(table, haul_path_text(of->path), of->seconds, of->low_s, of->high_s,
                       of->timeline_s, of->copies_s + unknown, of->spread_s + unknown,
                       of->messages_s + unknown, (uint64_t)of->processes, (uint64_t)of->chunks,
                       is_beyond ? largest.text : NULL, of->largest_bytes, of->measured_bytes,
                       of->weakest ? haul_provenance_text(of->weakest) : NULL,
                       *of->missing ? of->missing : NULL);
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
