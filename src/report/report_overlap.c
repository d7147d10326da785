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
static const char *device_text(haul_overlap_device_kind device)
{
    static const char *const texts[] = {
        [HAUL_IMPLICIT_SYNC] = "implicit synchronisation of streams",
        [HAUL_ONE_ENGINE] = "one copy engine, no implicit synchronisation",
        [HAUL_TWO_ENGINES] = "two copy engines, no implicit synchronisation",
    };
    return (unsigned)device < sizeof texts / sizeof *texts ? texts[device] : "unknown";
}

/* Against explicit copies, the program as it is written first. */
static double gain_of(const haul_overlap *of, double seconds)
{
    return seconds > 0 ? of->rows[HAUL_STRATEGY_EXPLICIT].seconds / seconds : 1;
}

/* Assumptions by their bits: the name in JSON, and a sentence, or its subject where the rate that
 * other machines keep is taken. */
static const struct {
    unsigned bit;
    const char *key;
    const char *text;
    const hl_cost_usual_share *share;
} assumptions[] = {
    {HAUL_ASSUMED_GAP, "gap", "the gap between copies, which is not known, is taken as a latency",
     NULL},
    {HAUL_ASSUMED_BUSY, "busy_rate", "copies that meet copies", &hl_cost_usual_busy},
    {HAUL_ASSUMED_MAPPED, "mapped_rate", "copies that meet mapped memory", &hl_cost_usual_mapped},
    {HAUL_ASSUMED_SYNC, "implicit_sync",
     "the device does not make one stream wait for another (implicit synchronisation), which the "
     "machine's file leaves open",
     NULL},
    {HAUL_ASSUMED_ENGINES, "copy_engines",
     "the device copies in both directions at once, which the machine's file leaves open", NULL},
};

enum { ASSUMPTIONS = sizeof assumptions / sizeof *assumptions };

static const char *const names[HAUL_STRATEGIES] = {[HAUL_STRATEGY_EXPLICIT] = "explicit copies",
                                                   [HAUL_STRATEGY_STREAMS] = "copies",
                                                   [HAUL_STRATEGY_MAPPED] = "mapped memory",
                                                   [HAUL_STRATEGY_HYBRID] =
                                                       "copies and mapped memory"};

/* "copies in 8 streams"; explicit copies and mapped memory have none. */
static hl_report_words say_best(const haul_overlap *of)
{
    hl_report_words words;
    const haul_overlap_row *best = &of->rows[of->best];
    char streams[40] = "";
    if (haul_strategy_has_streams(best->strategy))
        (void)snprintf(streams, sizeof streams, " in %.30s",
                       hl_report_say_number_of(best->streams, "stream", NULL).text);
    (void)snprintf(words.text, sizeof words.text, "%s%s", names[of->best], streams);
    return words;
}

/* A line for each unknown parameter, with the value assumed for it. */
static void say_assumed(haul_report *report, const haul_overlap_report *self)
{
    for (int i = 0; i < ASSUMPTIONS; i++) {
        const hl_cost_usual_share *share = assumptions[i].share;
        if (!(self->of->assumed & assumptions[i].bit))
            continue;
        if (share)
            haul_report_line(report, "assumed",
                             "%s go at %.0f %% of their rate, as on other machines",
                             assumptions[i].text, 100 * share->median);
        else
            haul_report_line(report, "assumed", "%s", assumptions[i].text);
    }
    if (self->has_otherwise)
        haul_report_line(
            report, "otherwise",
            "%s by %s, the best where the device is of the "
            "slower kind; the interval includes it",
            hl_report_say_seconds(self->otherwise.rows[self->otherwise.best].seconds).text,
            say_best(&self->otherwise).text);
}

/* The best strategy's time, then the questions of the paper: two of the six are details. */
static void say_answer(haul_report *report, const haul_overlap_report *self)
{
    static const char *const labels[HL_REPORT_OVERLAP_QUESTIONS] = {
        "because", "gain", "memory", "choice", "streams", "next PCIe"};
    hl_report_answer answers[HL_REPORT_OVERLAP_QUESTIONS];
    const haul_overlap *of = &self->strategies;
    const haul_overlap_row *best = &of->rows[of->best];
    char gain[60] = "";
    /* Below half a percent a gain is within what measurements repeat to. */
    if (of->gain >= 1.005)
        (void)snprintf(gain, sizeof gain, ": %.2fx faster than explicit copies", of->gain);
    haul_report_say(report, "%s (%s) on %.100s by %s%s", hl_report_say_seconds(best->seconds).text,
                    hl_report_say_interval(best->low_s, best->high_s).text, self->machine->name,
                    say_best(of).text, gain);
    hl_report_overlap_answer(self, answers);
    for (int i = 0; i < HL_REPORT_OVERLAP_QUESTIONS; i++) {
        /* "gain" repeats the headline, and "next PCIe" is about a machine that is not there. */
        haul_report_detail(report, i == 1 || i == HL_REPORT_OVERLAP_QUESTIONS - 1);
        haul_report_line(report, labels[i], "%s", answers[i].text);
    }
    haul_report_detail(report, false);
    say_assumed(report, self);
}

/* The numbers of streams that programs use, so that one sees what each costs or brings. */
static void add_streams(haul_report *report, const haul_overlap *of)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_COUNT, .head = "Streams"},
                                          {NULL, HAUL_UNIT_SECONDS, .head = "streams"},
                                          {NULL, HAUL_UNIT_SECONDS, .head = "hybrid"},
                                          {0}};
    haul_table *table = haul_report_table(report, NULL, columns);
    for (int i = 0; i < HAUL_USUAL_STREAMS; i++)
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_count(UINT64_C(1) << i),
                                  haul_cell_number(of->rows[HAUL_STRATEGY_STREAMS].usual_s[i]),
                                  haul_cell_number(of->rows[HAUL_STRATEGY_HYBRID].usual_s[i])));
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
                         hl_report_say_bytes(bytes).text,
                         hl_report_say_rate(1 / leg->per_byte_s).text,
                         hl_report_say_seconds(leg->latency_s).text,
                         hl_report_say_seconds(leg->gap_s).text, mapped);
    else
        haul_report_line(report, label, "nothing%s", mapped);
}

/* The strategies, then the bounds: all transfers hidden, the same with mapped memory, and nothing
 * hidden (the roofline of CCGrid 2014). */
static void add_strategies(haul_report *report, const haul_overlap *of, const char *title)
{
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "Strategy"},
        {NULL, HAUL_UNIT_COUNT, .head = "streams"},
        {NULL, HAUL_UNIT_SECONDS, .head = "time"},
        {NULL, HAUL_UNIT_INTERVAL, .head = "interval"},
        {NULL, HAUL_UNIT_SECONDS, .head = "analytical"},
        {NULL, HAUL_UNIT_FACTOR, .head = "gain"},
        {NULL, HAUL_UNIT_TEXT, .head = "bound by"},
        {NULL, HAUL_UNIT_SHARE, .head = "of its time"},
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
            table,
            HAUL_CELLS(
                haul_cell_text(name),
                /* Explicit copies and mapped memory have no streams. */
                haul_cell_count(haul_strategy_has_streams(row->strategy) ? (uint64_t)row->streams
                                                                         : HAUL_NO_COUNT),
                haul_cell_number(row->seconds), haul_cell_interval(row->low_s, row->high_s),
                haul_cell_number(row->analytical_s), haul_cell_number(gain_of(of, row->seconds)),
                haul_cell_text(haul_overlap_bound_text(row->bound)),
                haul_cell_number(hl_report_share_of(row->bound_s, row->seconds))));
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        haul_table_row(table,
                       HAUL_CELLS(haul_cell_text(limits[i].name), haul_cell_count(HAUL_NO_COUNT),
                                  haul_cell_number(limits[i].seconds),
                                  haul_cell_interval(none, none), haul_cell_number(none),
                                  haul_cell_number(gain_of(of, limits[i].seconds)),
                                  haul_cell_text("the roofline"), haul_cell_number(none)));
}

/* Rows of this link, then of the next generation's, told apart by the first column. */
static void add_csv(haul_table *table, const haul_overlap *of, const char *link)
{
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        const haul_overlap_row *row = &of->rows[i];
        const bool has = haul_strategy_has_streams(row->strategy);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(link), haul_cell_text(haul_strategy_word(row->strategy)),
                       haul_cell_count(has ? (uint64_t)row->streams : HAUL_NO_COUNT),
                       haul_cell_number(row->seconds), haul_cell_interval(row->low_s, row->high_s),
                       haul_cell_number(row->engine_s), haul_cell_number(gain_of(of, row->seconds)),
                       haul_cell_text(haul_overlap_bound_text(row->bound)),
                       haul_cell_number(row->bound_s), haul_cell_flag((row->strategy == of->best)),
                       haul_cell_number(row->analytical_s)));
    }
}

/* The times in the numbers of streams that programs use, of a strategy that has any. */
static void add_usual(haul_table *parent, const haul_overlap_row *row)
{
    static const haul_column columns[] = {
        {"streams", .unit = HAUL_UNIT_COUNT}, {"time_s", .unit = HAUL_UNIT_SECONDS}, {0}};
    haul_table *table = haul_report_table(parent, "by_streams", columns);
    for (int i = 0; haul_strategy_has_streams(row->strategy) && i < HAUL_USUAL_STREAMS; i++)
        haul_table_row(table, HAUL_CELLS(haul_cell_count(UINT64_C(1) << i),
                                         haul_cell_number(row->usual_s[i])));
}

/* The keys of a comparison, into the object around it, and its strategies. Numbers of streams are
 * those of strategies that have any. */
static void add_overlap(haul_table *parent, const haul_overlap *of)
{
    static const haul_column sums[] = {
        {"best", .unit = HAUL_UNIT_TEXT},
        {"gain", .unit = HAUL_UNIT_FACTOR},
        {"kernel_dominates", .unit = HAUL_UNIT_FLAG},
        {"full_overlap_s", .unit = HAUL_UNIT_SECONDS},
        {"mapped_overlap_s", .unit = HAUL_UNIT_SECONDS},
        {"no_overlap_s", .unit = HAUL_UNIT_SECONDS},
        {"useful_streams", .unit = HAUL_UNIT_NUMBER},
        {"reads_most", .unit = HAUL_UNIT_NUMBER},
        {"writes_most", .unit = HAUL_UNIT_NUMBER},
        {0},
    };
    static const haul_column rows[] = {
        {"strategy", .unit = HAUL_UNIT_TEXT},
        {"streams", .unit = HAUL_UNIT_COUNT},
        {"best_streams", .unit = HAUL_UNIT_COUNT},
        {"enough_streams", .unit = HAUL_UNIT_COUNT},
        {"time_s", .unit = HAUL_UNIT_SECONDS},
        {"interval_s", .unit = HAUL_UNIT_INTERVAL},
        {"timeline_s", .unit = HAUL_UNIT_SECONDS},
        {"analytical_s", .unit = HAUL_UNIT_SECONDS},
        {"timeline_streams", .unit = HAUL_UNIT_COUNT},
        {"timeline_enough_s", .unit = HAUL_UNIT_SECONDS},
        {"least_s", .unit = HAUL_UNIT_SECONDS},
        {"gain", .unit = HAUL_UNIT_FACTOR},
        {"bound", .unit = HAUL_UNIT_TEXT},
        {"bound_s", .unit = HAUL_UNIT_SECONDS},
        {0},
    };
    haul_report_object(parent, NULL, sums,
                       HAUL_CELLS(haul_cell_text(haul_strategy_word(of->best)),
                                  haul_cell_number(of->gain), haul_cell_flag(of->kernel_dominates),
                                  haul_cell_number(of->full_s), haul_cell_number(of->mapped_s),
                                  haul_cell_number(of->none_s), haul_cell_number(of->useful),
                                  haul_cell_number(of->reads_most),
                                  haul_cell_number(of->writes_most)));
    haul_table *table = haul_report_table(parent, "strategies", rows);
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        const haul_overlap_row *row = &of->rows[i];
        const bool has = haul_strategy_has_streams(row->strategy);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(haul_strategy_word(row->strategy)),
                       haul_cell_count(has ? (uint64_t)row->streams : HAUL_NO_COUNT),
                       haul_cell_count(has ? (uint64_t)row->best_streams : HAUL_NO_COUNT),
                       haul_cell_count(has ? (uint64_t)row->enough_streams : HAUL_NO_COUNT),
                       haul_cell_number(row->seconds), haul_cell_interval(row->low_s, row->high_s),
                       haul_cell_number(row->engine_s), haul_cell_number(row->analytical_s),
                       haul_cell_count(has && row->engine_streams ? (uint64_t)row->engine_streams
                                                                  : HAUL_NO_COUNT),
                       haul_cell_number(row->engine_enough_s), haul_cell_number(row->least_s),
                       haul_cell_number(gain_of(of, row->seconds)),
                       haul_cell_text(haul_overlap_bound_text(row->bound)),
                       haul_cell_number(row->bound_s)));
        add_usual(table, row);
    }
}

static void add_leg(haul_table *parent, const char *key, const haul_overlap_leg *leg)
{
    static const haul_column columns[] = {
        {"bytes", .unit = HAUL_UNIT_BYTES},          {"mapped_times", .unit = HAUL_UNIT_NUMBER},
        {"latency_s", .unit = HAUL_UNIT_SECONDS},    {"gap_s", .unit = HAUL_UNIT_SECONDS},
        {"rate_Bps", .unit = HAUL_UNIT_RATE},        {"busy_rate_Bps", .unit = HAUL_UNIT_RATE},
        {"mapped_rate_Bps", .unit = HAUL_UNIT_RATE}, {0},
    };
    /* Bytes of a model are doubles; they are whole here. */
    haul_report_object(parent, key, columns,
                       HAUL_CELLS(haul_cell_count((uint64_t)leg->bytes),
                                  haul_cell_number(leg->times), haul_cell_number(leg->latency_s),
                                  haul_cell_number(leg->gap_s),
                                  haul_cell_number(1 / leg->per_byte_s),
                                  haul_cell_number(1 / leg->busy_per_byte_s),
                                  haul_cell_number(1 / leg->mapped_per_byte_s)));
}

/* The compared case: people see it among the details, programs as keys. */
static void add_case(haul_report *report, const haul_overlap_report *self)
{
    static const haul_column head[] = {{"machine", .unit = HAUL_UNIT_TEXT},
                                       {"device", .unit = HAUL_UNIT_TEXT},
                                       {"kernel_s", .unit = HAUL_UNIT_SECONDS},
                                       {"provenance", .unit = HAUL_UNIT_TEXT},
                                       {0}};
    static const haul_column assumed[] = {{"", .unit = HAUL_UNIT_TEXT}, {0}};
    const haul_overlap_case *of = self->of;
    const char *weakest = haul_provenance_text(of->weakest);
    /* Inputs are what the user gave: details, for a reader who checks them. */
    haul_report_detail(report, true);
    haul_report_line(report, "machine", "%.250s: %.1000s", self->machine->name,
                     self->machine->summary);
    haul_report_line(report, "device", "%s", device_text(of->device));
    say_leg(report, "in", self->work->in_bytes, &of->in);
    say_leg(report, "out", self->work->out_bytes, &of->out);
    haul_report_line(report, "kernel", "%s", hl_report_say_seconds(of->kernel_s).text);
    haul_report_line(report, "parameters", "the weakest is %s", weakest);
    haul_report_detail(report, false);
    haul_report_object(report, NULL, head,
                       HAUL_CELLS(haul_cell_text(self->machine->name),
                                  haul_cell_text(device_text(of->device)),
                                  haul_cell_number(of->kernel_s), haul_cell_text(weakest)));
    add_leg(report, "h2d", &of->in);
    add_leg(report, "d2h", &of->out);
    haul_table *list = haul_report_list(report, "assumed", assumed);
    for (int i = 0; i < ASSUMPTIONS; i++)
        if (of->assumed & assumptions[i].bit)
            haul_table_row(list, HAUL_CELLS(haul_cell_text(assumptions[i].key)));
}

static const haul_column strategy_csv[] = {
    {NULL, HAUL_UNIT_TEXT, .csv = "link"},
    {NULL, HAUL_UNIT_TEXT, .csv = "strategy"},
    {NULL, HAUL_UNIT_COUNT, .csv = "streams"},
    {NULL, HAUL_UNIT_SECONDS, .csv = "seconds"},
    {NULL, HAUL_UNIT_INTERVAL, .csv = "interval"},
    {NULL, HAUL_UNIT_SECONDS, .csv = "timeline_s"},
    {NULL, HAUL_UNIT_FACTOR, .csv = "gain"},
    {NULL, HAUL_UNIT_TEXT, .csv = "bound"},
    {NULL, HAUL_UNIT_SECONDS, .csv = "bound_s"},
    {NULL, HAUL_UNIT_FLAG, .csv = "best"},
    {NULL, HAUL_UNIT_SECONDS, .csv = "analytical_s"},
    {0},
};

haul_report *haul_report_overlap(const haul_overlap_report *self)
{
    static const haul_column generation[] = {{"generation", .unit = HAUL_UNIT_COUNT}, {0}};
    static const haul_column answer[] = {
        {"question", .unit = HAUL_UNIT_TEXT}, {"", .unit = HAUL_UNIT_TEXT}, {0}};
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("overlap");
    haul_table *csv = haul_report_table(report, NULL, strategy_csv);
    haul_table_csv(csv);
    add_csv(csv, &self->strategies, "now");
    say_answer(report, self);

    add_case(report, self);
    add_overlap(report, &self->strategies);
    haul_report_section(report, "strategies", "Strategies of overlap");
    add_strategies(report, &self->strategies, NULL);
    add_streams(report, &self->strategies);
    /* The strategies once more on a link of twice the rate: where the balance moves, the best
     * may. */
    if (self->next_generation) {
        char title[40];
        (void)snprintf(title, sizeof title, "On PCIe %d", self->next_generation);
        haul_table *next =
            haul_report_object(report, "next", generation,
                               HAUL_CELLS(haul_cell_count((uint64_t)self->next_generation)));
        add_overlap(next, &self->next);
        add_csv(csv, &self->next, "next");
        haul_report_detail(report, true);
        add_strategies(report, &self->next, title);
        haul_report_detail(report, false);
    } else {
        haul_report_value(report, "next", NULL);
    }
    if (self->has_otherwise) {
        static const haul_column kind[] = {{"device", .unit = HAUL_UNIT_TEXT}, {0}};
        add_overlap(haul_report_object(report, "otherwise", kind,
                                       HAUL_CELLS(haul_cell_text(
                                           device_text(haul_overlap_device_end(self->of, 1))))),
                    &self->otherwise);
        add_csv(csv, &self->otherwise, "otherwise");
    } else {
        haul_report_value(report, "otherwise", NULL);
    }
    hl_report_answer answers[HL_REPORT_OVERLAP_QUESTIONS];
    hl_report_overlap_answer(self, answers);
    haul_table *map = haul_report_map(report, "answers", answer);
    for (int i = 0; i < HL_REPORT_OVERLAP_QUESTIONS; i++)
        haul_table_row(map,
                       HAUL_CELLS(haul_cell_text(answers[i].key), haul_cell_text(answers[i].text)));
    return report;
}
