/* Strategies of overlap beside each other, as CCGrid 2014 compares them: explicit copies, streams,
 * mapped memory and hybrid, each at its best number of streams, and the bounds that none can beat.
 *
 * Times are the timeline's; the paper's analytical model stands beside them. */
#include <math.h>

#include "base/numerals.h"
#include "cost/usual.h"
#include "report/overlap_answers.h"
#include "report/wording.h"

/* The three kinds of devices of CCGrid 2014. */
static const char *device_text(haul_workload_stream_device device)
{
    static const char *const texts[] = {
        [HAUL_IMPLICIT_SYNC] = "implicit synchronisation of streams",
        [HAUL_ONE_ENGINE] = "one copy engine, no implicit synchronisation",
        [HAUL_TWO_ENGINES] = "two copy engines, no implicit synchronisation",
    };
    return texts[device];
}

/* Against explicit copies, the program as it is written first. */
static double gain_of(const haul_overlap *of, double seconds)
{
    return seconds > 0 ? of->rows[HAUL_EXPLICIT].seconds / seconds : 1;
}

/* What is assumed, by its bit: its name in JSON, and a sentence, or its subject where the rate that
 * other machines keep is taken. */
static const struct {
    unsigned bit;
    const char *key;
    const char *text;
    const haul_usual_share *share;
} assumptions[] = {
    {HAUL_ASSUMED_GAP, "gap", "the gap between copies, which is not known, is taken as a latency",
     NULL},
    {HAUL_ASSUMED_BUSY, "busy_rate", "copies that meet copies", &haul_usual_busy},
    {HAUL_ASSUMED_MAPPED, "mapped_rate", "copies that meet mapped memory", &haul_usual_mapped},
};

enum { ASSUMPTIONS = sizeof assumptions / sizeof *assumptions };
/* The best strategy's time, then the questions of the paper: two of the six are details. */
static void say_answer(haul_report *report, const haul_overlap_report *self)
{
    static const char *const labels[HAUL_OVERLAP_QUESTIONS] = {
        "dominates", "gain", "memory", "uncertainty", "streams", "next PCIe"};
    static const char *const names[HAUL_STRATEGIES] = {[HAUL_EXPLICIT] = "explicit copies",
                                                       [HAUL_STREAMS] = "copies",
                                                       [HAUL_MAPPED] = "mapped memory",
                                                       [HAUL_HYBRID] = "copies and mapped memory"};
    haul_answer answers[HAUL_OVERLAP_QUESTIONS];
    const haul_overlap *of = &self->strategies;
    const haul_overlap_row *best = &of->rows[of->best];
    char streams[80] = "", gain[60] = "";
    if (haul_strategy_has_streams(best->strategy))
        (void)snprintf(streams, sizeof streams, " in %s",
                       haul_say_number_of(best->streams, "stream", NULL).text);
    /* Below half a percent a gain is within what measurements repeat to. */
    if (of->gain >= 1.005)
        (void)snprintf(gain, sizeof gain, ": %.2fx faster than explicit copies", of->gain);
    haul_report_say(report, "%s (%s) on %.100s by %s%s%s", haul_say_seconds(best->seconds).text,
                    haul_say_interval(best->low_s, best->high_s).text, self->machine->name,
                    names[of->best], streams, gain);
    haul_overlap_answer(self, answers);
    for (int i = 0; i < HAUL_OVERLAP_QUESTIONS; i++) {
        /* "gain" repeats the headline, and "next PCIe" is about a machine that is not there. */
        haul_report_detail(report, i == 1 || i == HAUL_OVERLAP_QUESTIONS - 1);
        haul_report_line(report, labels[i], "%s", answers[i].text);
    }
    haul_report_detail(report, false);
    for (int i = 0; i < ASSUMPTIONS; i++) {
        const haul_usual_share *share = assumptions[i].share;
        if (!(self->of->assumed & assumptions[i].bit))
            continue;
        if (share)
            haul_report_line(report, "assumed",
                             "%s go at %.0f %% of their rate, as on other machines",
                             assumptions[i].text, 100 * share->median);
        else
            haul_report_line(report, "assumed", "%s", assumptions[i].text);
    }
}

/* One direction: its parameters in the LogGP model. Mapped memory passes
 * the link as often as the kernel reads it. */
static void say_leg(haul_report *report, const char *label, uint64_t bytes,
                    const haul_overlap_leg *leg)
{
    char mapped[60] = "";
    if (leg->times > 1)
        (void)snprintf(mapped, sizeof mapped, "; mapped %.4g times", leg->times);
    if (bytes)
        haul_report_line(report, label, "%s at %s, latency %s, gap %s%s",
                         /* G of LogGP is a time a byte; people compare rates. */
                         haul_say_bytes(bytes).text, haul_say_rate(1 / leg->per_byte_s).text,
                         haul_say_seconds(leg->latency_s).text, haul_say_seconds(leg->gap_s).text,
                         mapped);
    else
        haul_report_line(report, label, "nothing%s", mapped);
}

/* The strategies, then the bounds: all transfers hidden, the same with mapped memory, and nothing
 * hidden (the roofline of CCGrid 2014). */
static void add_strategies(haul_report *report, const haul_overlap *of, const char *title)
{
    static const haul_column columns[] = {
        {NULL, HAUL_TEXT, .head = "Strategy"},
        {NULL, HAUL_COUNT, .head = "streams"},
        {NULL, HAUL_SECONDS, .head = "time"},
        {NULL, HAUL_INTERVAL, .head = "interval"},
        {NULL, HAUL_SECONDS, .head = "analytical"},
        {NULL, HAUL_FACTOR, .head = "gain"},
        {NULL, HAUL_TEXT, .head = "bound by"},
        {NULL, HAUL_SHARE, .head = "of its time"},
        {0},
    };
    /* From the roofline: the first two cannot be beaten, the last is what overlap starts from. */
    const struct {
        const char *name;
        double seconds;
    } limits[] = {
        {"full overlap", of->full_s}, {"full, mapped", of->mapped_s}, {"no overlap", of->none_s}};
    const double none = (double)NAN;
    haul_table *table = haul_report_table(report, NULL, columns);
    if (title)
        haul_table_head(table, 0, title);
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        const haul_overlap_row *row = &of->rows[i];
        char name[40];
        (void)snprintf(name, sizeof name, "%s%s", haul_strategy_word(row->strategy),
                       row->strategy == of->best ? " (best)" : "");
        haul_table_row(
            table, name,
            /* Explicit copies and mapped memory have no streams. */
            haul_strategy_has_streams(row->strategy) ? (uint64_t)row->streams : HAUL_NO_COUNT,
            row->seconds, row->low_s, row->high_s, row->analytical_s, gain_of(of, row->seconds),
            haul_overlap_bound_text(row->bound), haul_share_of(row->bound_s, row->seconds));
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        haul_table_row(table, limits[i].name, HAUL_NO_COUNT, limits[i].seconds, none, none, none,
                       gain_of(of, limits[i].seconds), "the roofline", none);
}

/* Rows of this link, then of the next generation's, told apart by the first column. */
static void add_csv(haul_table *table, const haul_overlap *of, const char *link)
{
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        const haul_overlap_row *row = &of->rows[i];
        const bool has = haul_strategy_has_streams(row->strategy);
        haul_table_row(table, link, haul_strategy_word(row->strategy),
                       has ? (uint64_t)row->streams : HAUL_NO_COUNT, row->seconds, row->low_s,
                       row->high_s, row->engine_s, gain_of(of, row->seconds),
                       haul_overlap_bound_text(row->bound), row->bound_s,
                       (int)(row->strategy == of->best), row->analytical_s);
    }
}

/* The keys of a comparison, into the object around it, and its strategies. Numbers of streams are
 * those of strategies that have any. */
static void add_overlap(haul_table *parent, const haul_overlap *of)
{
    static const haul_column sums[] = {
        {"best", .unit = HAUL_TEXT},
        {"gain", .unit = HAUL_FACTOR},
        {"kernel_dominates", .unit = HAUL_FLAG},
        {"full_overlap_s", .unit = HAUL_SECONDS},
        {"mapped_overlap_s", .unit = HAUL_SECONDS},
        {"no_overlap_s", .unit = HAUL_SECONDS},
        {"useful_streams", .unit = HAUL_NUMBER},
        {"reads_most", .unit = HAUL_NUMBER},
        {"writes_most", .unit = HAUL_NUMBER},
        {0},
    };
    static const haul_column rows[] = {
        {"strategy", .unit = HAUL_TEXT},
        {"streams", .unit = HAUL_COUNT},
        {"best_streams", .unit = HAUL_COUNT},
        {"enough_streams", .unit = HAUL_COUNT},
        {"time_s", .unit = HAUL_SECONDS},
        {"interval_s", .unit = HAUL_INTERVAL},
        {"timeline_s", .unit = HAUL_SECONDS},
        {"analytical_s", .unit = HAUL_SECONDS},
        {"timeline_streams", .unit = HAUL_COUNT},
        {"timeline_enough_s", .unit = HAUL_SECONDS},
        {"gain", .unit = HAUL_FACTOR},
        {"bound", .unit = HAUL_TEXT},
        {"bound_s", .unit = HAUL_SECONDS},
        {0},
    };
    haul_report_object(parent, NULL, sums, haul_strategy_word(of->best), of->gain,
                       (int)of->kernel_dominates, of->full_s, of->mapped_s, of->none_s, of->useful,
                       of->reads_most, of->writes_most);
    haul_table *table = haul_report_table(parent, "strategies", rows);
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        const haul_overlap_row *row = &of->rows[i];
        const bool has = haul_strategy_has_streams(row->strategy);
        haul_table_row(table, haul_strategy_word(row->strategy),
                       has ? (uint64_t)row->streams : HAUL_NO_COUNT,
                       has ? (uint64_t)row->best_streams : HAUL_NO_COUNT,
                       has ? (uint64_t)row->enough_streams : HAUL_NO_COUNT, row->seconds,
                       row->low_s, row->high_s, row->engine_s, row->analytical_s,
                       has && row->engine_streams ? (uint64_t)row->engine_streams : HAUL_NO_COUNT,
                       row->engine_enough_s, gain_of(of, row->seconds),
                       haul_overlap_bound_text(row->bound), row->bound_s);
    }
}

static void add_leg(haul_table *parent, const char *key, const haul_overlap_leg *leg)
{
    static const haul_column columns[] = {
        {"bytes", .unit = HAUL_BYTES},          {"mapped_times", .unit = HAUL_NUMBER},
        {"latency_s", .unit = HAUL_SECONDS},    {"gap_s", .unit = HAUL_SECONDS},
        {"rate_Bps", .unit = HAUL_RATE},        {"busy_rate_Bps", .unit = HAUL_RATE},
        {"mapped_rate_Bps", .unit = HAUL_RATE}, {0},
    };
    /* Bytes of a model are doubles; they are whole here. */
    haul_report_object(parent, key, columns, (uint64_t)leg->bytes, leg->times, leg->latency_s,
                       leg->gap_s, 1 / leg->per_byte_s, 1 / leg->busy_per_byte_s,
                       1 / leg->mapped_per_byte_s);
}

/* What was compared: people see it among the details, programs as keys. */
static void add_case(haul_report *report, const haul_overlap_report *self)
{
    static const haul_column head[] = {{"machine", .unit = HAUL_TEXT},
                                       {"device", .unit = HAUL_TEXT},
                                       {"kernel_s", .unit = HAUL_SECONDS},
                                       {"provenance", .unit = HAUL_TEXT},
                                       {0}};
    static const haul_column assumed[] = {{"", .unit = HAUL_TEXT}, {0}};
    const haul_overlap_case *of = self->of;
    const char *weakest = haul_provenance_text(of->weakest);
    /* Inputs are what the user gave: details, for a reader who checks them. */
    haul_report_detail(report, true);
    haul_report_line(report, "machine", "%.250s: %.1000s", self->machine->name,
                     self->machine->summary);
    haul_report_line(report, "device", "%s", device_text(of->device));
    say_leg(report, "in", self->work->in_bytes, &of->in);
    say_leg(report, "out", self->work->out_bytes, &of->out);
    haul_report_line(report, "kernel", "%s", haul_say_seconds(of->kernel_s).text);
    haul_report_line(report, "parameters", "the weakest is %s", weakest);
    haul_report_detail(report, false);
    haul_report_object(report, NULL, head, self->machine->name, device_text(of->device),
                       of->kernel_s, weakest);
    add_leg(report, "h2d", &of->in);
    add_leg(report, "d2h", &of->out);
    haul_table *list = haul_report_list(report, "assumed", assumed);
    for (int i = 0; i < ASSUMPTIONS; i++)
        if (of->assumed & assumptions[i].bit)
            haul_table_row(list, assumptions[i].key);
}

haul_report *haul_report_overlap(const haul_overlap_report *self)
{
    static const haul_column generation[] = {{"generation", .unit = HAUL_COUNT}, {0}};
    static const haul_column answer[] = {
        {"question", .unit = HAUL_TEXT}, {"", .unit = HAUL_TEXT}, {0}};
    static const haul_column csv_columns[] = {
        {NULL, HAUL_TEXT, .csv = "link"},
        {NULL, HAUL_TEXT, .csv = "strategy"},
        {NULL, HAUL_COUNT, .csv = "streams"},
        {NULL, HAUL_SECONDS, .csv = "seconds"},
        {NULL, HAUL_INTERVAL, .csv = "interval"},
        {NULL, HAUL_SECONDS, .csv = "timeline_s"},
        {NULL, HAUL_FACTOR, .csv = "gain"},
        {NULL, HAUL_TEXT, .csv = "bound"},
        {NULL, HAUL_SECONDS, .csv = "bound_s"},
        {NULL, HAUL_FLAG, .csv = "best"},
        {NULL, HAUL_SECONDS, .csv = "analytical_s"},
        {0},
    };
    HAUL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("overlap");
    haul_table *csv = haul_report_table(report, NULL, csv_columns);
    haul_table_csv(csv);
    add_csv(csv, &self->strategies, "now");
    say_answer(report, self);

    add_case(report, self);
    add_overlap(report, &self->strategies);
    haul_report_section(report, "strategies", "Strategies of overlap");
    add_strategies(report, &self->strategies, NULL);
    /* The strategies once more on a link of twice the rate: where the balance moves, the best
     * may. */
    if (self->next_generation) {
        char title[40];
        (void)snprintf(title, sizeof title, "On PCIe %d", self->next_generation);
        haul_table *next =
            haul_report_object(report, "next", generation, (uint64_t)self->next_generation);
        add_overlap(next, &self->next);
        add_csv(csv, &self->next, "next");
        haul_report_detail(report, true);
        add_strategies(report, &self->next, title);
        haul_report_detail(report, false);
    } else {
        haul_report_value(report, "next", NULL);
    }
    haul_answer answers[HAUL_OVERLAP_QUESTIONS];
    haul_overlap_answer(self, answers);
    haul_table *map = haul_report_map(report, "answers", answer);
    for (int i = 0; i < HAUL_OVERLAP_QUESTIONS; i++)
        haul_table_row(map, answers[i].key, answers[i].text);
    return report;
}
