/* The benchmark of copies: van Werkhoven, Maassen, Seinstra and Bal, CCGrid 2014, section V. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/stats.h"
#include "measure/copies.h"

/* TRAIN copies give 31 gaps. COVER copies of the largest size outlast one of a quarter of it. Lines
 * are fitted from LINE_FROM bytes on, and latencies up to SMALL. */
enum {
    SIZES = HAUL_SWEEP_SIZES,
    TRAIN = 32,
    TRAIN_HOLDS = 16,
    COVER = 4,
    WAYS = 6,
    SMALLEST = 256,
    SMALL = 1 << 16,
    LINE_FROM = 1 << 20
};

/* What a line may be off though equal copies take equal times, in percent: the clock's rounding. */
static const double exact_tolerance = 0.02;

/* Two copies that take this part of the sum of their times did not overlap. */
static const double serial_share = 0.9;

/* T = (L+o) + n G, with the other direction idle. A pageable copy is the host's work too, which
 * must not be done while the stream is held. */
haul_status haul_copies_try(haul_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    const haul_copies *one = what;
    haul_event *event = session->events[0];
    HAUL_TRY(haul_session_compute(session, one->bytes, error));
    if (one->way.memory != HAUL_PAGEABLE)
        HAUL_TRY(haul_session_hold(session, 0, error));
    HAUL_TRY(haul_session_copy(session, one->way, one->bytes, 0, event, error));
    HAUL_TRY(haul_event_wait(event, error));
    return haul_event_seconds(event, event, seconds, error);
}

/* Copies of one byte, one after another in two streams in turns, which are held until all are
 * queued. */
static haul_status try_train(haul_session *session, const void *what, double *seconds,
                             haul_error *error)
{
    const haul_copies *one = what;
    haul_event *const *events = session->events;
    haul_status status = HAUL_OK;
    for (int i = 0; i < TRAIN_HOLDS && !status; i++)
        status = haul_session_hold(session, i % HAUL_SESSION_STREAMS, error);
    for (int i = 0; i < TRAIN && !status; i++)
        status = haul_session_copy(session, one->way, one->bytes, i % HAUL_SESSION_STREAMS,
                                   i == 0 || i == TRAIN - 1 ? events[i] : NULL, error);
    if (!status)
        status = haul_session_wait(session, error);
    return status ? status : haul_event_seconds(events[0], events[TRAIN - 1], seconds, error);
}

/* A copy while others keep the other direction busy, from before it begins until after it ends. */
static haul_status try_busy(haul_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    const haul_copies *one = what;
    haul_event *event = session->events[0];
    haul_status status = HAUL_OK;
    for (int i = 0; i < COVER && !status; i++)
        status = haul_session_copy(session, haul_way_back(one->way), session->options.largest_bytes,
                                   1, session->events[1], error);
    if (!status)
        status = haul_session_copy(session, one->way, one->bytes, 0, event, error);
    if (!status)
        status = haul_session_wait(session, error);
    return status ? status : haul_event_seconds(event, event, seconds, error);
}

/* A copy each way, from the beginning of the first to the end of the last. */
static haul_status try_both(haul_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    const haul_copies *one = what;
    HAUL_TRY(haul_session_copy(session, one->way, one->bytes, 0, session->events[0], error));
    HAUL_TRY(haul_session_copy(session, haul_way_back(one->way), one->bytes, 1, session->events[1],
                               error));
    return haul_session_pair_seconds(session, seconds, error);
}

/* The name is the journal's key: it holds all that the point depends on. */
static void name_point(char *name, size_t size, const char *what, const haul_copies *one)
{
    snprintf(name, size, "%s%s%s %s, %llu bytes", what, *what ? " " : "",
             haul_direction_text(one->way.direction), haul_memory_text(one->way.memory),
             (unsigned long long)one->bytes);
}

void haul_copies_name(haul_trial *trial, const char *what, const haul_copies *one)
{
    name_point(trial->name, sizeof trial->name, what, one);
    trial->attempt = haul_copies_try;
    trial->what = one;
}

haul_status haul_copies_measure(haul_session *session, const char *what, haul_attempt attempt,
                                haul_copies one, haul_point_measured *point, haul_error *error)
{
    char name[96];
    name_point(name, sizeof name, what, &one);
    return haul_session_point(session, name, attempt, &one, point, error);
}

/* --- one curve */

/* The least copy that shows the rate: within a GPU it is not that of its L2. */
static uint64_t line_from(const haul_session *self, haul_way way)
{
    const uint64_t l2 = haul_device_describe(self->device)->l2_bytes;
    return way.direction == HAUL_DTOD && l2 > LINE_FROM ? l2 : LINE_FROM;
}

/* L+o is the time of one byte, G the median slope from there to the larger copies. */
static double slope_of(const haul_sample *samples, size_t count, uint64_t from)
{
    double slopes[SIZES];
    size_t found = 0;
    for (size_t i = 1; i < count; i++)
        if (samples[i].copy.bytes >= from || (!found && i + 1 == count))
            slopes[found++] = (samples[i].seconds - samples[0].seconds) /
                              (double)(samples[i].copy.bytes - samples[0].copy.bytes);
    return found ? haul_median(slopes, found) : 0;
}

/* The line's value for no bytes, by least squares over the smaller copies, where a copy of one byte
 * agrees to within 1 %: that time alone has the clock's rounding, and a packet's header. */
static double latency_of(const haul_sample *samples, size_t count, double slope)
{
    const double alone = samples[0].seconds - fmax(slope, 0);
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 1; i < count && samples[i].copy.bytes <= SMALL; i++) {
        const double bytes = (double)samples[i].copy.bytes;
        n++;
        x += bytes;
        y += samples[i].seconds;
        xx += bytes * bytes;
        xy += bytes * samples[i].seconds;
    }
    const double spread = n * xx - x * x;
    const double intercept = spread > 0 ? (y * xx - x * xy) / spread : alone;
    return fabs(intercept - alone) <= 0.01 * alone ? intercept : alone;
}

/* The largest deviation of nine in ten copies, in percent. */
static double line_error(const haul_sample *samples, size_t count, double latency, double slope)
{
    double errors[SIZES];
    for (size_t i = 0; i < count; i++) {
        const double line = latency + slope * (double)samples[i].copy.bytes;
        errors[i] = 100 * fabs(line - samples[i].seconds) / samples[i].seconds;
    }
    haul_sort_doubles(errors, count);
    return haul_quantile_sorted(errors, count, 0.9);
}

/* How far point `at` lies from the straight piece between its neighbours, in percent. */
static double bend(const haul_point *points, size_t at)
{
    const haul_point *before = &points[at - 1], *here = &points[at], *after = &points[at + 1];
    const double part = (here->bytes - before->bytes) / (after->bytes - before->bytes);
    const double straight = before->seconds + part * (after->seconds - before->seconds);
    return 100 * fabs(straight - here->seconds) / here->seconds;
}

/* The sizes that were measured, without those that a straight piece gives back. */
static void set_points(const haul_sample *samples, size_t count, double tolerance,
                       haul_copy_curve *curve)
{
    haul_point points[SIZES] = {{0, 0}};
    for (size_t i = 0; i < count; i++) /* a larger copy takes no less time: what does is noise */
        points[i] = (haul_point){(double)samples[i].copy.bytes,
                                 fmax(samples[i].seconds, i ? points[i - 1].seconds : 0)};
    while (count > 2) {
        size_t least = 1;
        for (size_t i = 2; i + 1 < count; i++)
            if (bend(points, i) < bend(points, least))
                least = i;
        if (count <= HAUL_CURVE_POINTS && bend(points, least) > tolerance)
            break;
        memmove(&points[least], &points[least + 1], (count - least - 1) * sizeof *points);
        count--;
    }
    memcpy(curve->points, points, count * sizeof *points);
    curve->points_from = (haul_parameter){
        (double)count, HAUL_MEASURED, "haul measure, medians of the sizes where the slope changes"};
}

/* The sizes of a sweep, doubled from SMALLEST; or those between them, three times one another. Not
 * of odd bytes, which no program copies: within an H100 they take up to 1.7 times as long. */
static size_t list_sizes(const haul_session *self, bool are_fresh, uint64_t sizes[SIZES])
{
    size_t count = 0;
    uint64_t bytes = are_fresh ? SMALLEST * 3 / 2 : SMALLEST;
    if (!are_fresh)
        sizes[count++] = 1;
    for (; bytes <= self->options.largest_bytes && count < SIZES; bytes *= are_fresh ? 3 : 2)
        sizes[count++] = bytes;
    return count;
}

/* A kind of copies at all sizes: `first` is the point of one byte, L+o, with the sweep's usual
 * spread. */
typedef struct sweep {
    size_t count;
    haul_sample samples[SIZES];
    double tolerance; /* by how much a median may be off, in percent */
    haul_point_measured first;
} sweep;

/* The tolerance is what the medians themselves may be off: a line is not asked to be better. */
static void take_sweep(const haul_trial *trials, const haul_copies *each, size_t count, sweep *out)
{
    double spreads[SIZES], errors[SIZES];
    out->count = count;
    out->first = trials[0].point;
    for (size_t i = 0; i < count; i++) {
        out->samples[i] = (haul_sample){
            .copy = {each[i].bytes, each[i].way.direction, each[i].way.memory, HAUL_NEAR},
            .seconds = trials[i].point.seconds};
        spreads[i] = trials[i].point.spread;
        errors[i] = haul_median_error(&trials[i].point);
    }
    out->first.spread = haul_median(spreads, count);
    out->tolerance = fmax(exact_tolerance, haul_median(errors, count));
}

/* Sizes between the sweep's, for a check that no fit has seen. */
static void take_fresh(const haul_trial *trials, const haul_copies *each, size_t count,
                       haul_fresh *out)
{
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        out->bytes[i] = each[i].bytes;
        out->seconds[i] = trials[i].point.seconds;
        out->spreads[i] = trials[i].point.spread;
    }
}

/* Kept for a plot; they are predicted when there is a machine. */
static haul_status keep_sizes(haul_session *self, const haul_trial *trials, const haul_copies *each,
                              size_t count, size_t swept, haul_error *error)
{
    haul_measurement *made = &self->made;
    if (!haul_grow(&made->sizes, &self->size_capacity, made->size_count + count,
                   sizeof *made->sizes))
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < count; i++)
        made->sizes[made->size_count++] = (haul_measured_copy){
            .direction = each[i].way.direction,
            .memory = each[i].way.memory,
            .bytes = each[i].bytes,
            .seconds = trials[i].point.seconds,
            .spread = trials[i].point.spread,
            .is_fresh = i >= swept,
        };
    return HAUL_OK;
}

/* Swept and fresh sizes in one set of turns: the machine is in the same state for both. */
static haul_status run_sweep(haul_session *self, haul_way way, sweep *out, haul_error *error)
{
    uint64_t sizes[2 * SIZES];
    haul_copies each[2 * SIZES] = {{.bytes = 0}};
    haul_trial *trials = calloc(HAUL_TRIALS, sizeof *trials);
    if (!trials)
        return haul_fail_no_memory(error);
    const size_t swept = list_sizes(self, false, sizes);
    const size_t fresh = self->options.verify ? list_sizes(self, true, sizes + swept) : 0;
    for (size_t i = 0; i < swept + fresh; i++) {
        each[i] = (haul_copies){way, sizes[i]};
        haul_copies_name(&trials[i], i < swept ? "" : "fresh", &each[i]);
    }
    haul_status status = haul_session_trials(self, trials, swept + fresh, error);
    if (!status)
        status = keep_sizes(self, trials, each, swept + fresh, swept, error);
    if (!status) {
        take_sweep(trials, each, swept, out);
        take_fresh(trials + swept, each + swept, fresh, &self->fresh[self->curve_count]);
    }
    free(trials);
    return status;
}

/* A line where it is as good as the noise allows, else points as well. g is the time that one more
 * copy of a byte adds to a train of them: T = (L+o) + n G + g (s - 1). */
static haul_status add_curve(haul_session *self, haul_way way, haul_error *error)
{
    sweep all = {.count = 0};
    const bool is_pinned = way.memory == HAUL_PINNED;
    haul_point_measured train = {0};
    HAUL_TRY(run_sweep(self, way, &all, error));
    if (is_pinned)
        HAUL_TRY(
            haul_copies_measure(self, "in a row", try_train, (haul_copies){way, 1}, &train, error));
    haul_copy_curve *curve = &self->curves[self->curve_count];
    self->curve_count++;
    const double slope = slope_of(all.samples, all.count, line_from(self, way));
    const double latency = latency_of(all.samples, all.count, slope);
    *curve = (haul_copy_curve){.direction = way.direction, .memory = way.memory};
    if (!(slope > 0) || line_error(all.samples, all.count, latency, slope) > 2 * all.tolerance)
        set_points(all.samples, all.count, all.tolerance, curve);
    curve->latency_s = haul_session_found(self, latency, &all.first);
    if (slope > 0)
        curve->rate_Bps = (haul_parameter){1 / slope, HAUL_MEASURED, "haul measure, median slope"};
    if (is_pinned)
        curve->gap_s = haul_session_found(
            self, (train.seconds - all.samples[0].seconds) / (TRAIN - 1), &train);
    return way.memory == HAUL_PAGEABLE
               ? haul_find_staging(self, way, all.samples, all.count, curve, error)
               : HAUL_OK;
}

/* --- both directions */

haul_copy_curve *haul_copies_curve(haul_session *session, haul_way way)
{
    for (size_t i = 0; i < session->curve_count; i++)
        if (session->curves[i].direction == way.direction &&
            session->curves[i].memory == way.memory)
            return &session->curves[i];
    return NULL;
}

/* More than two engines cannot be told from two by copies in two directions. */
static haul_status find_engines(haul_session *self, bool *overlap, haul_error *error)
{
    const haul_copies there = {{HAUL_HTOD, HAUL_PINNED, NULL}, self->options.largest_bytes};
    const haul_copies back = {haul_way_back(there.way), there.bytes};
    haul_point_measured one, other, both;
    HAUL_TRY(haul_copies_measure(self, "", haul_copies_try, there, &one, error));
    HAUL_TRY(haul_copies_measure(self, "", haul_copies_try, back, &other, error));
    HAUL_TRY(haul_copies_measure(self, "both ways", try_both, there, &both, error));
    *overlap = both.seconds < serial_share * (one.seconds + other.seconds);
    self->machine.gpu.copy_engines =
        (haul_parameter){*overlap ? 2 : 1, HAUL_MEASURED,
                         *overlap ? "haul measure: copies both ways overlap; two engines at least"
                                  : "haul measure: copies both ways do not overlap"};
    return HAUL_OK;
}

double haul_copies_keeps(const haul_copy_curve *curve, double alone_s, double beside_s)
{
    const double latency_s = curve->latency_s.value < alone_s ? curve->latency_s.value : 0;
    return fmin(1, (alone_s - latency_s) / (beside_s - latency_s));
}

static haul_status add_busy(haul_session *self, haul_direction direction, haul_error *error)
{
    const haul_copies one = {{direction, HAUL_PINNED, NULL}, self->options.largest_bytes / 4};
    haul_copy_curve *curve = haul_copies_curve(self, one.way);
    haul_point_measured alone, busy;
    haul_status status = haul_copies_measure(self, "", haul_copies_try, one, &alone, error);
    if (!status)
        status = haul_copies_measure(self, "against", try_busy, one, &busy, error);
    if (!status && curve && curve->rate_Bps.provenance)
        curve->busy_rate_Bps = haul_session_found(
            self, curve->rate_Bps.value * haul_copies_keeps(curve, alone.seconds, busy.seconds),
            &busy);
    return status;
}

/* Only where directions overlap can they slow each other. */
static haul_status measure_both(haul_session *self, haul_error *error)
{
    bool overlap = false;
    HAUL_TRY(find_engines(self, &overlap, error));
    if (overlap)
        HAUL_TRY(add_busy(self, HAUL_HTOD, error));
    if (overlap)
        HAUL_TRY(add_busy(self, HAUL_DTOH, error));
    return HAUL_OK;
}

/* --- the check */

/* By the model that users get by default (NULL: auto), on the machine as it will be written. */
static haul_status verify(const haul_machine *machine, haul_way way, const haul_fresh *fresh,
                          haul_verified *out, haul_error *error)
{
    double errors[SIZES], spreads[SIZES], sum = 0, off = 0;
    for (size_t i = 0; i < fresh->count; i++) {
        const haul_copy copy = {fresh->bytes[i], way.direction, way.memory, HAUL_NEAR};
        haul_estimate estimate;
        HAUL_TRY(haul_copy_time(machine, NULL, &copy, &estimate, error));
        sum += fresh->seconds[i];
        off += fabs(estimate.seconds - fresh->seconds[i]);
        errors[i] = 100 * fabs(estimate.seconds - fresh->seconds[i]) / fresh->seconds[i];
        spreads[i] = fresh->spreads[i];
    }
    haul_sort_doubles(errors, fresh->count);
    *out = (haul_verified){
        .direction = way.direction,
        .memory = way.memory,
        .error = {fresh->count, sum > 0 ? 100 * off / sum : 0,
                  haul_quantile_sorted(errors, fresh->count, 0.5),
                  haul_quantile_sorted(errors, fresh->count, 0.9)},
        .spread = haul_median(spreads, fresh->count),
    };
    return HAUL_OK;
}

/* By kind of copy, because a mean over all would hide the worst. */
haul_status haul_verify_copies(haul_session *session, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < session->curve_count && !status; i++) {
        const haul_way way = {session->curves[i].direction, session->curves[i].memory, NULL};
        status = verify(session->made.machine, way, &session->fresh[i], &session->made.verified[i],
                        error);
        if (!status)
            session->made.verified_count++;
    }
    return status;
}

/* Kinds of copies that the device has not are left out, as long as it has others. */
static haul_status add_curves(haul_session *self, haul_error *error)
{
    static const haul_way ways[HAUL_WAYS] = {
        {HAUL_HTOD, HAUL_PINNED, NULL},   {HAUL_DTOH, HAUL_PINNED, NULL},
        {HAUL_HTOD, HAUL_PAGEABLE, NULL}, {HAUL_DTOH, HAUL_PAGEABLE, NULL},
        {HAUL_DTOD, HAUL_DEVICE, NULL},   {HAUL_PTOP, HAUL_DEVICE, NULL}};
    /* peer copies are the last row: they need a second device */
    const int count = self->options.peer_count ? HAUL_WAYS : HAUL_WAYS - 1;
    haul_status lacking = HAUL_OK;
    for (int i = 0; i < count; i++) {
        const haul_status status = add_curve(self, ways[i], error);
        if (status && status != HAUL_ABSENT && status != HAUL_MISSING)
            return status;
        lacking = status ? status : lacking;
    }
    return self->curve_count ? HAUL_OK : lacking;
}

/* Both directions at once are measured with pinned memory alone: pageable copies block the host.
 * Kinds that the device has not are no failure: it has curves. */
haul_status haul_measure_copies(haul_session *session, haul_error *error)
{
    static haul_status (*const beside[])(haul_session * session, haul_error * error) = {
        measure_both, haul_measure_mapped, haul_measure_peers, haul_measure_kinds,
        haul_measure_numa};
    const haul_way there = {HAUL_HTOD, HAUL_PINNED, NULL};
    haul_status status = add_curves(session, error);
    if (status || !haul_copies_curve(session, there) ||
        !haul_copies_curve(session, haul_way_back(there)))
        return status;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        status = beside[i](session, error);
        if (status && !haul_is_lacking(status))
            return status;
    }
    return HAUL_OK;
}
