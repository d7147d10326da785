/* The strategies: which formula, with which of a machine's parameters. */
#include <math.h>

#include "haul/overlap.h"
#include "overlap/formulas.h"

/* Which G holds: alone, while copies run the other way, or while mapped memory moves so. */
typedef enum contention { ALONE, COPIES, MAPPED_MEMORY } contention;

/* G times the bytes that cross, which are more than the leg's where mapped memory is read again. */
static hl_overlap_leg_times times_of(const haul_overlap_leg *leg, double bytes, contention with)
{
    const double of[] = {leg->per_byte_s, leg->busy_per_byte_s, leg->mapped_per_byte_s};
    return (hl_overlap_leg_times){leg->latency_s, bytes * of[with], leg->gap_s};
}

static bool both_ways(const haul_overlap_case *self)
{
    return self->in.bytes > 0 && self->out.bytes > 0;
}

/* Two directions slow each other only where there are two. */
static hl_overlap_formula formula_of(const haul_overlap_case *self, contention with)
{
    const contention actual = both_ways(self) ? with : ALONE;
    return (hl_overlap_formula){
        .h = times_of(&self->in, self->in.bytes, actual),
        .d = times_of(&self->out, self->out.bytes, actual),
        .kernel_s = self->kernel_s,
    };
}

/* One stream: nothing overlaps, and the number of streams is of no account. */
static double explicit_time(const haul_overlap_case *self, double s)
{
    (void)s;
    const hl_overlap_formula f = formula_of(self, ALONE);
    return hl_overlap_formula_explicit(&f);
}

/* Each formula of a pair leaves out what the dominant part hides: the scenario that holds is the
 * one that takes longer. */
static double streams_time(const haul_overlap_case *self, double s)
{
    const bool at_once = self->device == HAUL_TWO_ENGINES && s > 1;
    const hl_overlap_formula f = formula_of(self, at_once ? COPIES : ALONE);
    switch (self->device) {
    case HAUL_IMPLICIT_SYNC:
        return fmax(hl_overlap_formula_sync_kernel(&f, s), hl_overlap_formula_sync_transfer(&f, s));
    case HAUL_ONE_ENGINE:
        return fmax(hl_overlap_formula_one_kernel(&f, s), hl_overlap_formula_one_transfer(&f, s));
    default:
        return hl_overlap_formula_two(&f, s);
    }
}

static hl_overlap_formula mapped_formula(const haul_overlap_case *self)
{
    return (hl_overlap_formula){
        .h = times_of(&self->in, self->in.bytes * self->in.times, ALONE),
        .d = times_of(&self->out, self->out.bytes * self->out.times, ALONE),
        .kernel_s = self->kernel_s,
    };
}

/* (6) with the G of a direction alone, as the paper's own estimates have it; each byte crosses as
 * often as the kernel asks for it. */
static double mapped_time(const haul_overlap_case *self, double s)
{
    (void)s;
    const hl_overlap_formula f = mapped_formula(self);
    return hl_overlap_formula_mapped(&f);
}

/* The share of its rate alone that a direction keeps while the other one moves. */
static double speed_both_ways(const haul_overlap_leg *leg)
{
    return leg->busy_per_byte_s > 0 ? leg->per_byte_s / leg->busy_per_byte_s : 1;
}

/* Until the shorter direction is done both move at their busy rates; what the longer has left then
 * moves at its rate alone. */
double hl_overlap_mapped_both_ways(const haul_overlap_case *self)
{
    hl_overlap_formula f = mapped_formula(self);
    if (both_ways(self)) {
        const double in_speed = speed_both_ways(&self->in);
        const double out_speed = speed_both_ways(&self->out);
        const double together_s = fmin(f.h.data_s / in_speed, f.d.data_s / out_speed);
        f.h.data_s += together_s * (1 - in_speed);
        f.d.data_s += together_s * (1 - out_speed);
    }
    return hl_overlap_formula_mapped(&f);
}

/* (5) on every device, with the G's of copies that meet mapped memory (Table II). */
static double hybrid_time(const haul_overlap_case *self, double s)
{
    hl_overlap_formula f = formula_of(self, MAPPED_MEMORY);
    f.d.data_s *= self->out.times;
    return hl_overlap_formula_two(&f, s);
}

static const struct {
    double (*time)(const haul_overlap_case *self, double s);
    bool has_streams;
} strategies[] = {
    [HAUL_STRATEGY_EXPLICIT] = {explicit_time, false},
    [HAUL_STRATEGY_STREAMS] = {streams_time, true},
    [HAUL_STRATEGY_MAPPED] = {mapped_time, false},
    [HAUL_STRATEGY_HYBRID] = {hybrid_time, true},
};

const char *haul_strategy_word(haul_strategy strategy)
{
    static const char *const words[] = {HAUL_STRATEGY_LIST(HAUL_ROW_TEXT)};
    return (unsigned)strategy < HAUL_STRATEGIES ? words[strategy] : "unknown";
}

bool haul_strategy_has_streams(haul_strategy strategy)
{
    return (unsigned)strategy < HAUL_STRATEGIES && strategies[strategy].has_streams;
}

/* No streams mean one. */
double haul_overlap_time(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams)
{
    return strategies[strategy].time(self, streams ? streams : 1);
}

/* The time at the fast (0) or the slow (1) end of what is known of the machine. Mapped memory's
 * slow end has both directions at once, which (6) leaves out. */
static double end_time(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams,
                       int end)
{
    haul_overlap_case there = *self;
    there.device = haul_overlap_device_end(self, end);
    there.in = self->in_ends[end];
    there.out = self->out_ends[end];
    if (strategy == HAUL_STRATEGY_MAPPED && end) {
        there.in.busy_per_byte_s = fmax(there.in.busy_per_byte_s, there.in.mapped_per_byte_s);
        there.out.busy_per_byte_s = fmax(there.out.busy_per_byte_s, there.out.mapped_per_byte_s);
        return hl_overlap_mapped_both_ways(&there);
    }
    return haul_overlap_time(&there, strategy, streams);
}

/* Includes the time itself: the ends of the parameters need not bracket it. */
void haul_overlap_interval(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams,
                           double *low_s, double *high_s)
{
    *low_s = *high_s = haul_overlap_time(self, strategy, streams);
    if (!self->has_ends)
        return;
    *low_s = fmin(*low_s, end_time(self, strategy, streams, 0));
    *high_s = fmax(*high_s, end_time(self, strategy, streams, 1));
}

/* A formula is the greatest of terms a + b/s + c s, so it falls, then rises; it may be level only
 * at its least. Thus the first s whose successor is no better is the best. One stream, whose copies
 * are alone, is compared by itself. */
uint32_t haul_overlap_best_streams(const haul_overlap_case *self, haul_strategy strategy)
{
    if (!strategies[strategy].has_streams)
        return 1;
    uint32_t low = 2;
    uint32_t high = HAUL_OVERLAP_STREAMS_MOST;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (haul_overlap_time(self, strategy, middle + 1) <
            haul_overlap_time(self, strategy, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return haul_overlap_time(self, strategy, low) < haul_overlap_time(self, strategy, 1) ? low : 1;
}

/* The fewest streams within `share` of the best, by bisection: below the best the time only falls.
 * One stream is tried by itself, as its copies are alone. */
uint32_t haul_overlap_enough_streams(const haul_overlap_case *self, haul_strategy strategy,
                                     double share)
{
    uint32_t high = haul_overlap_best_streams(self, strategy);
    const double limit = haul_overlap_time(self, strategy, high) * (1 + share);
    if (haul_overlap_time(self, strategy, 1) <= limit)
        return 1;
    uint32_t low = 2;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (haul_overlap_time(self, strategy, middle) <= limit)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* Busy times of a strategy's resources; `with` is the contention of its copies. */
typedef struct busy {
    double in_s;
    double out_s;
    bool in_turn; /* one direction's copies after the other's */
} busy;

void hl_overlap_find_bound(const haul_overlap_case *self, haul_overlap_row *row)
{
    /* Copies keep their resources busy as long as the strategy's formula has them. */
    contention with = ALONE;
    if (row->strategy == HAUL_STRATEGY_HYBRID)
        with = MAPPED_MEMORY;
    else if (row->strategy == HAUL_STRATEGY_STREAMS && self->device == HAUL_TWO_ENGINES &&
             row->streams > 1)
        with = COPIES;
    hl_overlap_formula f = formula_of(self, with);
    if (row->strategy == HAUL_STRATEGY_MAPPED)
        f.h.data_s *= self->in.times;
    if (row->strategy == HAUL_STRATEGY_MAPPED || row->strategy == HAUL_STRATEGY_HYBRID)
        f.d.data_s *= self->out.times;
    const busy copies = (busy){
        .in_s = f.h.latency_s + f.h.data_s + f.h.gap_s * (row->streams - 1),
        .out_s = f.d.latency_s + f.d.data_s + f.d.gap_s * (row->streams - 1),
        .in_turn = row->strategy == HAUL_STRATEGY_EXPLICIT ||
                   (row->strategy == HAUL_STRATEGY_STREAMS &&
                    (self->device != HAUL_TWO_ENGINES || row->streams == 1)),
    };
    const bool both = copies.in_turn && copies.in_s > 0 && copies.out_s > 0;
    const double of[] = {
        [HAUL_OVERLAP_BOUND_KERNEL] = self->kernel_s,
        [HAUL_OVERLAP_BOUND_IN] = copies.in_s,
        [HAUL_OVERLAP_BOUND_OUT] = copies.out_s,
        [HAUL_OVERLAP_BOUND_COPIES] = both ? copies.in_s + copies.out_s : 0,
    };
    row->bound = HAUL_OVERLAP_BOUND_KERNEL;
    for (int i = HAUL_OVERLAP_BOUND_IN; i <= HAUL_OVERLAP_BOUND_COPIES; i++)
        if (of[i] > of[row->bound])
            row->bound = (haul_overlap_bound)i;
    row->bound_s = of[row->bound];
}

const char *haul_overlap_bound_text(haul_overlap_bound bound)
{
    static const char *const texts[] = {
        [HAUL_OVERLAP_BOUND_KERNEL] = "the kernel",
        [HAUL_OVERLAP_BOUND_IN] = "copies to the device",
        [HAUL_OVERLAP_BOUND_OUT] = "copies from the device",
        [HAUL_OVERLAP_BOUND_COPIES] = "copies both ways, in turn",
    };
    return (unsigned)bound < sizeof texts / sizeof *texts ? texts[bound] : "unknown";
}

/* Near enough to the best: measurements of one program differ by as much. */
static const double usual_share = 0.05;

uint32_t hl_overlap_streams_usual(const haul_overlap_row *row)
{
    int best = 0;
    for (int i = 0; i < HAUL_USUAL_STREAMS; i++) {
        if (row->usual_s[i] <= row->least_s * (1 + usual_share))
            return UINT32_C(1) << i;
        if (row->usual_s[i] < row->usual_s[best])
            best = i;
    }
    return UINT32_C(1) << best;
}

/* More than any kernel reads a byte. */
static const double times_beyond = 1e9;

/* The row's time if each byte of a direction crossed so often. */
static double with_times(const haul_overlap_case *self, const haul_overlap_row *row,
                         hl_overlap_strategy_time time, bool out, double times)
{
    haul_overlap_case there = *self;
    (out ? &there.out : &there.in)->times = times;
    return time(&there, row->strategy, row->streams);
}

/* The times that a byte of one direction may cross for `row` to take at most `limit_s`: its time
 * only rises with them. Found to a thousandth. */
static double most_times(const haul_overlap_case *self, const haul_overlap_row *row,
                         hl_overlap_strategy_time time, bool out, double limit_s)
{
    double low = out ? self->out.times : self->in.times;
    double high = 2 * low;
    while (with_times(self, row, time, out, high) <= limit_s) {
        if (high > times_beyond)
            return (double)INFINITY;
        low = high;
        high *= 2;
    }
    while (high - low > low / 1000) {
        const double middle = (low + high) / 2;
        if (with_times(self, row, time, out, middle) <= limit_s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* By how much longer than predicted strategies that map memory may take. Where it is known how
 * mapped memory and copies slow each other: a K20's mapped memory was the best where it is
 * predicted to be 8 % faster than streams, an H100's 4.5 % slower than them where 10 % faster was
 * predicted. Where that is assumed, `mapped` of an H100 was 14 % off. */
static const double known_error = 0.05, assumed_error = 0.15;

static bool is_mapping(haul_strategy strategy)
{
    return strategy == HAUL_STRATEGY_MAPPED || strategy == HAUL_STRATEGY_HYBRID;
}

double hl_overlap_claim(unsigned assumed, haul_strategy strategy, double seconds)
{
    const double error = assumed & HAUL_ASSUMED_MAPPED ? assumed_error : known_error;
    return is_mapping(strategy) ? seconds * (1 + error) : seconds;
}

/* Of copies, in the best number of streams that programs use: the fewest that are nearly as fast
 * may be as far from it as mapped memory's predictions are off. */
static double least_copied(const haul_overlap *of)
{
    const haul_overlap_row *streams = &of->rows[HAUL_STRATEGY_STREAMS];
    double least_s = fmin(of->rows[HAUL_STRATEGY_EXPLICIT].seconds, streams->seconds);
    for (int i = 0; i < HAUL_USUAL_STREAMS && !of->asked; i++)
        least_s = fmin(least_s, streams->usual_s[i]);
    return least_s;
}

/* Mapped memory is as fast as it is read: how much slack the choice has. */
void hl_overlap_choose(const haul_overlap_case *self, hl_overlap_strategy_time time,
                       haul_overlap *of)
{
    const double explicit_s = of->rows[HAUL_STRATEGY_EXPLICIT].seconds;
    const double copied_s = least_copied(of);
    of->best = of->rows[HAUL_STRATEGY_STREAMS].seconds < explicit_s ? HAUL_STRATEGY_STREAMS
                                                                    : HAUL_STRATEGY_EXPLICIT;
    for (int i = 0; i < HAUL_STRATEGIES; i++)
        if (is_mapping((haul_strategy)i) &&
            hl_overlap_claim(self->assumed, (haul_strategy)i, of->rows[i].seconds) <
                fmin(copied_s,
                     hl_overlap_claim(self->assumed, of->best, of->rows[of->best].seconds)))
            of->best = (haul_strategy)i;
    const haul_overlap_row *best = &of->rows[of->best];
    of->gain = best->seconds > 0 ? explicit_s / best->seconds : 1;
    of->reads_most = of->writes_most = (double)NAN;
    const double limit_s = copied_s / hl_overlap_claim(self->assumed, best->strategy, 1);
    if (best->strategy == HAUL_STRATEGY_MAPPED && self->in.bytes > 0)
        of->reads_most = most_times(self, best, time, false, limit_s);
    if (is_mapping(best->strategy) && self->out.bytes > 0)
        of->writes_most = most_times(self, best, time, true, limit_s);
}

void haul_overlap_compare(const haul_overlap_case *self, uint32_t streams, haul_overlap *out)
{
    *out = (haul_overlap){.asked = streams};
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        /* The numbers of the formulas. Those of the timeline are NaN until haul_overlap_play_all
         * has run. */
        const haul_strategy strategy = (haul_strategy)i;
        haul_overlap_row row = {.strategy = strategy, .streams = streams};
        row.engine_s = row.engine_enough_s = (double)NAN;
        row.best_streams = haul_overlap_best_streams(self, strategy);
        row.enough_streams = haul_overlap_enough_streams(self, strategy, 0.01);
        row.least_s = haul_overlap_time(self, strategy, row.best_streams);
        for (int k = 0; k < HAUL_USUAL_STREAMS; k++)
            row.usual_s[k] = haul_overlap_time(self, strategy, UINT32_C(1) << k);
        if (!streams || !strategies[strategy].has_streams)
            row.streams = hl_overlap_streams_usual(&row);
        row.seconds = row.analytical_s = haul_overlap_time(self, strategy, row.streams);
        haul_overlap_interval(self, strategy, row.streams, &row.low_s, &row.high_s);
        hl_overlap_find_bound(self, &row);
        out->rows[i] = row;
    }
    hl_overlap_choose(self, haul_overlap_time, out);
    const double in_s = self->in.bytes * self->in.per_byte_s;
    const double out_s = self->out.bytes * self->out.per_byte_s;
    /* the paper's bounds, without latencies: full overlap, none, and mapped memory */
    out->full_s = fmax(self->kernel_s, fmax(in_s, out_s));
    out->none_s = self->kernel_s + in_s + out_s;
    out->mapped_s = fmax(self->kernel_s, fmax(in_s * self->in.times, out_s * self->out.times));
    out->kernel_dominates = haul_overlap_kernel_dominates(self);
    out->useful = haul_overlap_useful_streams(self, out->kernel_dominates);
}
