/* How a driver stages pageable copies (docs/models.md, `staged`): at one rate up to a threshold, at
 * another while the source fits the host's cache, at a third from memory, in chunks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"
#include "measure/copies.h"

/* Chunks are looked for among multiples of STEP up to half of STEPS of them. A size is known to one
 * part in FINE on a simulated machine, else to one in COARSE. */
enum { STEP = 64 << 10, STEPS = 64, FINE = 4096, COARSE = 64 };

/* Two rates that differ by less are one, and a copy may be so far from the lines. */
static const double rate_tolerance = 0.05;
static const double fit_tolerance = 0.05;

/* Time of a copy: at_s + bytes * per_byte_s. */
typedef struct line {
    double at_s;
    double per_byte_s;
} line;

/* Lines through the samples up to `first`, up to `second`, and beyond. */
typedef struct staged {
    line lines[3];
    size_t first;
    size_t second;
    double worst; /* the largest relative error */
} staged;

/* Least squares of relative errors; with `fixed` through that time at no bytes. */
static line fit_line(const haul_sample *samples, size_t count, const double *fixed)
{
    double w = 0, wn = 0, wt = 0, wnn = 0, wnt = 0;
    for (size_t i = 0; i < count; i++) {
        const double n = (double)samples[i].copy.bytes, t = samples[i].seconds;
        const double weight = 1 / (t * t), rest = t - (fixed ? *fixed : 0);
        w += weight;
        wn += weight * n;
        wt += weight * rest;
        wnn += weight * n * n;
        wnt += weight * n * rest;
    }
    if (fixed)
        return (line){*fixed, wnt / wnn};
    const double slope = (w * wnt - wn * wt) / (w * wnn - wn * wn);
    return (line){(wt - slope * wn) / w, slope};
}

static double worst_error(const haul_sample *samples, size_t count, line of)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        const double line_s = of.at_s + of.per_byte_s * (double)samples[i].copy.bytes;
        worst = fmax(worst, fabs(line_s / samples[i].seconds - 1));
    }
    return worst;
}

/* Where the two lines meet. */
static double meeting(line a, line b)
{
    return (b.at_s - a.at_s) / (a.per_byte_s - b.per_byte_s);
}

static bool differ(line a, line b)
{
    return fabs(a.per_byte_s / b.per_byte_s - 1) > rate_tolerance;
}

static staged fit_at(const haul_sample *samples, size_t count, double latency_s, size_t first,
                     size_t second)
{
    staged self = {.first = first, .second = second};
    self.lines[0] = fit_line(samples + 1, first - 1, &latency_s);
    self.lines[1] = fit_line(samples + first, second - first, NULL);
    self.lines[2] = self.lines[1];
    if (second < count)
        self.lines[2] = fit_line(samples + second, count - second, NULL);
    self.worst = fmax(worst_error(samples + 1, first - 1, self.lines[0]),
                      worst_error(samples + first, second - first, self.lines[1]));
    self.worst = fmax(self.worst, worst_error(samples + second, count - second, self.lines[2]));
    return self;
}

/* The two sizes that divide the sweep best. */
static staged fit_staged(const haul_sample *samples, size_t count, double latency_s)
{
    staged best = {.worst = (double)INFINITY};
    for (size_t first = 4; first + 2 <= count; first++)
        for (size_t second = first + 2; second <= count; second++) {
            if (second + 1 == count) /* a line through one sample says nothing */
                continue;
            const staged found = fit_at(samples, count, latency_s, first, second);
            if (found.worst < best.worst)
                best = found;
        }
    return best;
}

/* Each rate is below the one before, or the same: else it is no staging of this kind. */
static bool slows(const staged *self)
{
    const line *lines = self->lines;
    return lines[0].per_byte_s > 0 &&
           lines[1].per_byte_s >= (1 - rate_tolerance) * lines[0].per_byte_s &&
           lines[2].per_byte_s >= (1 - rate_tolerance) * lines[1].per_byte_s;
}

/* A change without a jump is the threshold, not the cache's end. */
static void tell_apart(const haul_sample *samples, size_t count, staged *self)
{
    if (self->second == count || differ(self->lines[0], self->lines[1]))
        return;
    const double at = meeting(self->lines[0], self->lines[2]);
    if (at < (double)samples[self->second - 1].copy.bytes / 2 ||
        at > 2 * (double)samples[self->second].copy.bytes)
        return;
    self->lines[1] = self->lines[2];
    self->second = count;
}

static haul_parameter found(double value, const char *source)
{
    return (haul_parameter){value, HAUL_MEASURED, source};
}

/* A kind of copies that is staged, and where its parameters go. */
typedef struct staging {
    haul_session *session;
    haul_way way;
    const haul_sample *samples;
    size_t count;
    staged of;
    haul_copy_curve *curve;
} staging;

/* Halves the gap between a copy from cache and one from memory. */
static haul_status find_cache(const staging *self, haul_error *error)
{
    const bool is_exact = haul_device_describe(self->session->device)->is_simulated;
    const uint64_t parts = is_exact ? FINE : COARSE;
    uint64_t low = self->samples[self->of.second - 1].copy.bytes;
    uint64_t high = self->samples[self->of.second].copy.bytes;
    const line cached = self->of.lines[1], beyond = self->of.lines[2];
    while (high - low > low / parts) {
        const haul_copies one = {self->way, low + (high - low) / 2};
        haul_point_measured point;
        const haul_status status =
            haul_copies_measure(self->session, "", haul_copies_try, one, &point, error);
        if (status)
            return status;
        const double cached_s = cached.at_s + cached.per_byte_s * (double)one.bytes;
        const double beyond_s = beyond.at_s + beyond.per_byte_s * (double)one.bytes;
        if (fabs(point.seconds - cached_s) < fabs(point.seconds - beyond_s))
            low = one.bytes;
        else
            high = one.bytes;
    }
    self->curve->cache_bytes =
        found((double)low, "haul measure: up to it copies go at the rate from cache");
    return HAUL_OK;
}

/* Two samples lie on a line whatever they are: that line has to leave that of small copies where
 * the other does. */
static bool has_jump(size_t count, const staged *of)
{
    const line *lines = of->lines;
    if (of->second == count || !differ(lines[1], lines[2]))
        return false;
    if (!differ(lines[0], lines[1]))
        return count - of->second > 2;
    return fabs(meeting(lines[0], lines[2]) / meeting(lines[0], lines[1]) - 1) <= fit_tolerance;
}

/* A rate of staging shows only where it is below the link's. */
static haul_status take_staged(const staging *self, haul_error *error)
{
    static const char slope[] = "haul measure, slope of the sweep";
    const line *lines = self->of.lines;
    haul_copy_curve *curve = self->curve;
    const bool has_kink = differ(lines[0], lines[1]);
    const bool has_knee = has_jump(self->count, &self->of);
    if (!has_kink && !has_knee)
        return HAUL_OK;
    const double threshold = has_kink ? meeting(lines[0], lines[1]) : 0;
    if (threshold >= 1)
        curve->threshold_bytes = found(threshold, "haul measure: where the rate changes");
    curve->small_rate_Bps = found(1 / lines[0].per_byte_s, slope);
    if (!has_knee)
        return HAUL_OK;
    if (has_kink)
        curve->host_rate_Bps = found(1 / lines[1].per_byte_s, slope);
    curve->memory_rate_Bps = found(1 / lines[2].per_byte_s, slope);
    return find_cache(self, error);
}

/* --- chunks */

/* Whether a step up follows each multiple of `each`, and no other. */
static bool are_multiples(const double *rises, double more_than, int each)
{
    for (int k = 1; k < STEPS; k++)
        if ((rises[k] > more_than) != (k % each == 0))
            return false;
    return true;
}

/* A chunk more is a step up in time. None is made out of noise: each one has to be there. */
static void take_chunk(const haul_trial *trials, haul_copy_curve *curve)
{
    double rises[STEPS], sorted[STEPS - 1];
    for (int k = 1; k < STEPS; k++)
        sorted[k - 1] = rises[k] = trials[k].point.seconds - trials[k - 1].point.seconds;
    haul_sort_doubles(sorted, STEPS - 1);
    const double usual = haul_quantile_sorted(sorted, STEPS - 1, 0.5);
    const double more_than = (usual + sorted[STEPS - 2]) / 2;
    if (sorted[STEPS - 2] <= (1 + rate_tolerance) * usual)
        return;
    for (int each = 2; each < STEPS / 2; each++)
        if (are_multiples(rises, more_than, each)) {
            curve->chunk_bytes =
                found((double)each * STEP, "haul measure: where one more is a step up in time");
            curve->gap_s = found(rises[each] - usual, "haul measure: of a chunk");
            return;
        }
}

static haul_status find_chunk(haul_session *self, haul_way way, haul_copy_curve *curve,
                              haul_error *error)
{
    haul_copies each[STEPS];
    if (self->options.largest_bytes < (uint64_t)STEPS * STEP)
        return HAUL_OK;
    haul_trial *trials = calloc(STEPS, sizeof *trials);
    if (!trials)
        return haul_fail_no_memory(error);
    for (int k = 0; k < STEPS; k++) {
        each[k] = (haul_copies){way, (uint64_t)(k + 1) * STEP};
        haul_copies_name(&trials[k], "", &each[k]);
    }
    const haul_status status = haul_session_trials(self, trials, STEPS, error);
    if (!status)
        take_chunk(trials, curve);
    free(trials);
    return status;
}

/* A CPU's copies go through no buffer, and those that a line describes are not staged. */
haul_status haul_find_staging(haul_session *session, haul_way way, const haul_sample *samples,
                              size_t count, haul_copy_curve *curve, haul_error *error)
{
    if (haul_device_describe(session->device)->is_host || count < 8 ||
        !curve->points_from.provenance)
        return HAUL_OK;
    haul_status status = find_chunk(session, way, curve, error);
    if (status || curve->chunk_bytes.provenance)
        return status;
    staging self = {.session = session,
                    .way = way,
                    .samples = samples,
                    .count = count,
                    .of = fit_staged(samples, count, curve->latency_s.value),
                    .curve = curve};
    tell_apart(samples, count, &self.of);
    return self.of.worst <= fit_tolerance && slows(&self.of) ? take_staged(&self, error) : HAUL_OK;
}
