/* The benchmark of copies: van Werkhoven, Maassen, Seinstra and Bal, CCGrid 2014, section V. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/stats.h"
#include "measure/copies.h"
#include "measure/staging_search.h"
#include "measure/sweep.h"

/* TRAIN copies give 31 gaps. COVER copies of the largest size outlast one of a quarter of it, where
 * both directions are about as fast. Lines
 * are fitted from LINE_FROM bytes on, and latencies up to SMALL. */
enum {
    SIZES = HL_MEASURE_SWEEP_SIZES,
    TRAIN = 32,
    TRAIN_HOLDS = 16,
    COVER = 4,
    COVER_MOST = 1024,
    SMALL = 1 << 16,
    LINE_FROM = 1 << 20
};

/* The longest time from the start of one of the two streams' first copies to the end of one of
 * their last: a device that runs both streams at once may end the last copy that was queued before
 * it begins the first. */
static haul_status train_seconds(hl_measure_session *session, double *seconds, haul_error *error)
{
    haul_event *const *events = session->events;
    *seconds = 0;
    for (int first = 0; first < HL_MEASURE_SESSION_STREAMS; first++)
        for (int last = TRAIN - HL_MEASURE_SESSION_STREAMS; last < TRAIN; last++) {
            double between_s = 0;
            HAUL_TRY(haul_event_seconds(events[first], events[last], &between_s, error));
            *seconds = fmax(*seconds, between_s);
        }
    return HAUL_OK;
}

/* Copies of one byte, one after another in two streams in turns, which are held until all are
 * queued. */
static haul_status try_train(hl_measure_session *session, const void *what, double *seconds,
                             haul_error *error)
{
    const hl_measure_copy_set *one = what;
    haul_event *const *events = session->events;
    for (int i = 0; i < TRAIN_HOLDS; i++)
        HAUL_TRY(hl_measure_session_hold(session, i % HL_MEASURE_SESSION_STREAMS, error));
    for (int i = 0; i < TRAIN; i++) {
        const bool is_end =
            i < HL_MEASURE_SESSION_STREAMS || i >= TRAIN - HL_MEASURE_SESSION_STREAMS;
        HAUL_TRY(hl_measure_session_copy(session, one->way, one->bytes,
                                         i % HL_MEASURE_SESSION_STREAMS, is_end ? events[i] : NULL,
                                         error));
    }
    HAUL_TRY(hl_measure_session_wait(session, error));
    return train_seconds(session, seconds, error);
}

/* A copy, and how many of the largest size outlast it in the other direction. */
typedef struct busy_copy {
    hl_measure_copy_set one;
    int covers;
} busy_copy;

/* A copy while others keep the other direction busy, from before it begins until after it ends. */
static haul_status try_busy(hl_measure_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    const busy_copy *self = what;
    const hl_measure_copy_set *one = &self->one;
    haul_event *event = session->events[0];
    for (int i = 0; i < self->covers; i++)
        HAUL_TRY(hl_measure_session_copy(session, hl_measure_way_back(one->way),
                                         session->options.largest_bytes, 1, session->events[1],
                                         error));
    HAUL_TRY(hl_measure_session_copy(session, one->way, one->bytes, 0, event, error));
    HAUL_TRY(hl_measure_session_wait(session, error));
    return haul_event_seconds(event, event, seconds, error);
}

/* Copies each way at once: both engines are busy for a while where the copy that ends last has,
 * when the other ends, less left than its whole time alone. */
typedef struct both_ways {
    hl_measure_copy_set there;
    double alone_s[2]; /* there and back */
} both_ways;

/* Of the shorter copy's time alone, the part that was hidden. Ends of events tell it: a driver may
 * take an event's beginning while the copy behind it still waits for its engine. */
static haul_status try_both(hl_measure_session *session, const void *what, double *hidden,
                            haul_error *error)
{
    const both_ways *self = what;
    const hl_measure_copy_set *there = &self->there;
    haul_event *const *events = session->events;
    double first_s, last_s;
    HAUL_TRY(hl_measure_session_copy(session, there->way, there->bytes, 0, events[0], error));
    HAUL_TRY(hl_measure_session_copy(session, hl_measure_way_back(there->way), there->bytes, 1,
                                     events[1], error));
    HAUL_TRY(hl_measure_session_wait(session, error));
    HAUL_TRY(haul_event_seconds(events[0], events[0], &first_s, error));
    HAUL_TRY(haul_event_seconds(events[0], events[1], &last_s, error));
    *hidden = hl_measure_hidden_share(last_s - first_s, self->alone_s);
    return HAUL_OK;
}

/* --- one curve */

/* The least copy that shows the rate: within a GPU it is not that of its L2, and of a CPU, both of
 * whose ends are the host's memory, not that of its caches. */
static uint64_t line_from(const hl_measure_session *self, hl_measure_way way)
{
    const haul_device_properties *device = haul_device_describe(self->device);
    const uint64_t cache = device->is_host                        ? hl_measure_caches_of(device)
                           : way.direction == HAUL_DIRECTION_DTOD ? device->l2_bytes
                                                                  : 0;
    return cache > LINE_FROM ? cache : LINE_FROM;
}

/* The line through the copies of up to `largest` bytes, without the one of one byte: its value for
 * no bytes, and in *off by how much it misses them at worst. NaN where there are too few. */
static double intercept_of(const haul_sample *samples, size_t count, uint64_t largest, double *off)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 1; i < count && samples[i].copy.bytes <= largest; i++) {
        const double bytes = (double)samples[i].copy.bytes;
        n++;
        x += bytes;
        y += samples[i].seconds;
        xx += bytes * bytes;
        xy += bytes * samples[i].seconds;
    }
    const double spread = n * xx - x * x;
    if (n < 3 || !(spread > 0))
        return (double)NAN;
    const double intercept = (y * xx - x * xy) / spread, slope = (n * xy - x * y) / spread;
    *off = 0;
    for (size_t i = 1; i < count && samples[i].copy.bytes <= largest; i++)
        *off = fmax(*off,
                    fabs(intercept + slope * (double)samples[i].copy.bytes - samples[i].seconds));
    return intercept;
}

/* The line's value for no bytes, by least squares over the smaller copies, where they lie on one
 * line and a copy of one byte agrees to within 1 %: that time alone has the clock's rounding, and a
 * packet's header. Copies that a driver stages may leave the line at any size. */
static double latency_of(const haul_sample *samples, size_t count, double slope, double tolerance)
{
    const double least = count > 1 ? (samples[1].seconds - samples[0].seconds) /
                                         (double)(samples[1].copy.bytes - samples[0].copy.bytes)
                                   : slope;
    const double alone = samples[0].seconds - fmax(fmin(slope, least), 0);
    for (uint64_t largest = SMALL; largest > SMALL / 128; largest /= 2) {
        double off = 0;
        const double intercept = intercept_of(samples, count, largest, &off);
        if (fabs(intercept - alone) <= 0.01 * alone &&
            off <= fmax(HL_MEASURE_ROUNDING_S, 2 * tolerance / 100 * alone))
            return intercept;
    }
    return alone;
}

/* The largest deviation of nine in ten copies, in percent. */
static double line_error(const haul_sample *samples, size_t count, double latency, double slope)
{
    double errors[SIZES];
    for (size_t i = 0; i < count; i++) {
        const double line = latency + slope * (double)samples[i].copy.bytes;
        errors[i] = 100 * fabs(line - samples[i].seconds) / samples[i].seconds;
    }
    hl_base_sort_doubles(errors, count);
    return hl_base_quantile_sorted(errors, count, 0.9);
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
        if (count <= HAUL_MACHINE_CURVE_POINTS && bend(points, least) > tolerance)
            break;
        memmove(&points[least], &points[least + 1], (count - least - 1) * sizeof *points);
        count--;
    }
    memcpy(curve->points, points, count * sizeof *points);
    curve->points_from =
        (haul_parameter){(double)count, HAUL_PROVENANCE_MEASURED,
                         "haul measure, medians of the sizes where the slope changes"};
}

/* A line where it is as good as the noise allows, else points as well. g is the time that one more
 * copy of a byte adds to a train of them: T = (L+o) + n G + g (s - 1). */
static haul_status add_curve(hl_measure_session *self, hl_measure_way way,
                             const hl_measure_sweep *all, haul_error *error)
{
    const bool is_pinned = way.memory == HAUL_MEMORY_PINNED;
    hl_measure_point_measured train = {0};
    if (is_pinned)
        HAUL_TRY(hl_measure_copies_measure(self, "in a row", try_train,
                                           (hl_measure_copy_set){way, 1}, &train, error));
    haul_copy_curve *curve = &self->curves[self->curve_count];
    self->fresh[self->curve_count++] = all->fresh;
    /* L+o is the time of one byte, G the median slope from there to the larger copies. */
    const uint64_t from = line_from(self, way);
    double slopes[SIZES];
    size_t found = 0;
    for (size_t i = 1; i < all->count; i++)
        if (all->samples[i].copy.bytes >= from || (!found && i + 1 == all->count))
            slopes[found++] = (all->samples[i].seconds - all->samples[0].seconds) /
                              (double)(all->samples[i].copy.bytes - all->samples[0].copy.bytes);
    const double slope = found ? hl_base_median(slopes, found) : 0;
    const double latency = latency_of(all->samples, all->count, slope, all->tolerance);
    *curve = (haul_copy_curve){.direction = way.direction, .memory = way.memory};
    if (!(slope > 0) || line_error(all->samples, all->count, latency, slope) > 2 * all->tolerance)
        set_points(all->samples, all->count, all->tolerance, curve);
    curve->latency_s = hl_measure_session_found(self, latency, &all->first);
    if (slope > 0)
        curve->rate_Bps =
            (haul_parameter){1 / slope, HAUL_PROVENANCE_MEASURED, "haul measure, median slope"};
    if (is_pinned)
        curve->gap_s = hl_measure_session_found(
            self, (train.seconds - all->samples[0].seconds) / (TRAIN - 1), &train);
    const hl_measure_swept swept = {all->samples, all->count, all->tolerance};
    return way.memory == HAUL_MEMORY_PAGEABLE
               ? hl_measure_find_staging(self, way, &swept, curve, error)
               : HAUL_OK;
}

/* --- both directions */

static haul_status measure_busy(hl_measure_session *self, const hl_measure_copy_set *one,
                                double alone_s, hl_measure_point_measured *point, haul_error *error)
{
    char name[96];
    /* Eight times as long as the copy takes alone: slowed to a fifth of its rate it ends before. */
    const haul_copy_curve *back = hl_measure_copies_curve(self, hl_measure_way_back(one->way));
    const double each_s = back && back->rate_Bps.value > 0
                              ? (double)self->options.largest_bytes / back->rate_Bps.value
                              : alone_s;
    const busy_copy busy = {*one, (int)fmin(fmax(COVER, ceil(8 * alone_s / each_s)), COVER_MOST)};
    hl_measure_copies_name_point(name, sizeof name, "against", one);
    return hl_measure_session_point(self, name, try_busy, &busy, point, error);
}

static haul_status add_busy(hl_measure_session *self, haul_direction direction, haul_error *error)
{
    const hl_measure_copy_set one = {{direction, HAUL_MEMORY_PINNED, NULL},
                                     self->options.largest_bytes / 4};
    haul_copy_curve *curve = hl_measure_copies_curve(self, one.way);
    hl_measure_point_measured alone, busy;
    haul_status status =
        hl_measure_copies_measure(self, "", hl_measure_copies_try, one, &alone, error);
    if (!status)
        status = measure_busy(self, &one, alone.seconds, &busy, error);
    if (!status && curve && curve->rate_Bps.provenance)
        curve->busy_rate_Bps = hl_measure_session_found(
            self,
            curve->rate_Bps.value * hl_measure_copies_keeps(curve, alone.seconds, busy.seconds),
            &busy);
    return status;
}

/* Only where directions overlap can they slow each other. */
static haul_status measure_both(hl_measure_session *self, haul_error *error)
{
    bool overlap = false;
    /* More than two engines cannot be told from two by copies in two directions: where the driver
     * has a larger number, it is right. */
    both_ways both = {
        .there = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, NULL}, self->options.largest_bytes}};
    const hl_measure_copy_set back = {hl_measure_way_back(both.there.way), both.there.bytes};
    const unsigned told = haul_device_describe(self->device)->copy_engines;
    hl_measure_point_measured one, other, hidden;
    char name[96];
    HAUL_TRY(hl_measure_copies_measure(self, "", hl_measure_copies_try, both.there, &one, error));
    HAUL_TRY(hl_measure_copies_measure(self, "", hl_measure_copies_try, back, &other, error));
    both.alone_s[0] = one.seconds;
    both.alone_s[1] = other.seconds;
    hl_measure_copies_name_point(name, sizeof name, "hidden share of both ways", &both.there);
    HAUL_TRY(hl_measure_session_point(self, name, try_both, &both, &hidden, error));
    overlap = hidden.seconds > HL_MEASURE_HIDDEN_LEAST;
    self->machine.gpu.copy_engines =
        overlap && told > 2
            ? (haul_parameter){told, HAUL_PROVENANCE_MEASURED,
                               "what the driver says; haul measure: copies both ways overlap"}
            : (haul_parameter){overlap ? 2 : 1, HAUL_PROVENANCE_MEASURED,
                               overlap
                                   ? "haul measure: copies both ways overlap; two engines at least"
                                   : "haul measure: copies both ways do not overlap"};
    if (overlap)
        HAUL_TRY(add_busy(self, HAUL_DIRECTION_HTOD, error));
    if (overlap)
        HAUL_TRY(add_busy(self, HAUL_DIRECTION_DTOH, error));
    return HAUL_OK;
}

/* --- the check */

/* By the model that users get by default (NULL: auto), on the machine as it will be written. */
static haul_status verify(const haul_machine *machine, hl_measure_way way,
                          const hl_measure_fresh *fresh, haul_verified *out, haul_error *error)
{
    double errors[SIZES], spreads[SIZES], sum = 0, off = 0;
    for (size_t i = 0; i < fresh->count; i++) {
        const haul_copy copy = {fresh->bytes[i], way.direction, way.memory, HAUL_LOCALITY_NEAR};
        haul_estimate estimate;
        HAUL_TRY(haul_copy_time(machine, NULL, &copy, &estimate, error));
        sum += fresh->seconds[i];
        off += fabs(estimate.seconds - fresh->seconds[i]);
        errors[i] = 100 * fabs(estimate.seconds - fresh->seconds[i]) / fresh->seconds[i];
        spreads[i] = fresh->spreads[i];
    }
    hl_base_sort_doubles(errors, fresh->count);
    *out = (haul_verified){
        .direction = way.direction,
        .memory = way.memory,
        .error = {fresh->count, sum > 0 ? 100 * off / sum : 0,
                  hl_base_quantile_sorted(errors, fresh->count, 0.5),
                  hl_base_quantile_sorted(errors, fresh->count, 0.9)},
        .spread = hl_base_median(spreads, fresh->count),
    };
    return HAUL_OK;
}

/* By kind of copy, because a mean over all would hide the worst. */
haul_status hl_measure_verify_copies(hl_measure_session *session, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < session->curve_count && !status; i++) {
        const hl_measure_way way = {session->curves[i].direction, session->curves[i].memory, NULL};
        status = verify(session->made.machine, way, &session->fresh[i], &session->made.verified[i],
                        error);
        if (!status)
            session->made.verified_count++;
    }
    return status;
}

/* Kinds of copies that the device has not are left out, as long as it has others. */
static haul_status add_curves(hl_measure_session *self, haul_error *error)
{
    static const hl_measure_way ways[HL_MEASURE_WAYS] = {
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, NULL},
        {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, NULL},
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, NULL},
        {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, NULL},
        {HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, NULL},
        {HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE, NULL}};
    /* peer copies are the last row: they need a second device */
    const size_t count = self->options.peer_count ? HL_MEASURE_WAYS : HL_MEASURE_WAYS - 1;
    hl_measure_sweep *sweeps = calloc(HL_MEASURE_WAYS, sizeof *sweeps);
    if (!sweeps)
        return hl_base_fail_no_memory(error);
    haul_status lacking = HAUL_OK;
    haul_status status = hl_measure_sweeps(self, ways, count, sweeps, error);
    for (size_t i = 0; i < count && !status; i++) {
        const haul_status one =
            sweeps[i].status ? sweeps[i].status : add_curve(self, ways[i], &sweeps[i], error);
        if (one && one != HAUL_STATUS_ABSENT && one != HAUL_STATUS_MISSING)
            status = one;
        lacking = one ? one : lacking;
    }
    free(sweeps);
    return status || self->curve_count ? status : lacking;
}

/* Both directions at once are measured with pinned memory alone: pageable copies block the host.
 * Kinds that the device has not are no failure: it has curves. */
haul_status hl_measure_copies(hl_measure_session *session, haul_error *error)
{
    static haul_status (*const beside[])(hl_measure_session * session, haul_error * error) = {
        measure_both, hl_measure_mapped, hl_measure_peers, hl_measure_kinds, hl_measure_numa};
    const hl_measure_way there = {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, NULL};
    haul_status status = add_curves(session, error);
    if (status || !hl_measure_copies_curve(session, there) ||
        !hl_measure_copies_curve(session, hl_measure_way_back(there)))
        return status;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        status = beside[i](session, error);
        if (status && !hl_measure_is_lacking(status))
            return status;
    }
    return HAUL_OK;
}
