/* The size from which a driver stages copies otherwise: there time jumps up, changes its slope, or
 * stays as it is until the slope above has caught up. */
#include <math.h>

#include "base/fail.h"
#include "measure/staging_search.h"

/* Up to BEYOND of itself above the threshold a copy shows whether time goes on. */
static const double beyond = 1.0 / 16;

/* Sizes below and above the threshold, by which the lines' meeting is found. */
enum { BELOW = 12, ABOVE = 8, PASSES = 3 };

/* The largest size that takes no longer than `level_s`. */
static haul_status find_flat_end(hl_measure_staged *self, double from, double level_s,
                                 haul_error *error)
{
    const bool is_exact = haul_device_describe(self->session->device)->is_simulated;
    const uint64_t largest = self->samples[self->count - 1].copy.bytes;
    uint64_t low = (uint64_t)from, high = low;
    double seconds = 0;
    while (high < largest && seconds <= level_s) {
        low = high;
        high = high * 2 < largest ? high * 2 : largest;
        HAUL_TRY(hl_measure_staged_time(self, high, &seconds, error));
    }
    while (high - low > (is_exact ? 1 : 1 + low / 64)) {
        const uint64_t middle = low + (high - low) / 2;
        HAUL_TRY(hl_measure_staged_time(self, middle, &seconds, error));
        *(seconds <= level_s ? &low : &high) = middle;
    }
    self->flat = (double)low;
    return HAUL_OK;
}

haul_status hl_measure_staged_find_flat(hl_measure_staged *self, haul_error *error)
{
    const hl_measure_line *line = &self->lines[0];
    const double from = ceil(self->threshold), to = ceil(from * (1 + beyond));
    double from_s, to_s;
    if (from < 256 || to >= (double)self->samples[self->count - 1].copy.bytes)
        return HAUL_OK;
    HAUL_TRY(hl_measure_staged_time(self, (uint64_t)from + 1, &from_s, error));
    HAUL_TRY(hl_measure_staged_time(self, (uint64_t)to, &to_s, error));
    const double noise_s = self->tolerance * from_s + HL_MEASURE_ROUNDING_S;
    const double usual_s = line->per_byte_s * (to - from);
    if (noise_s > usual_s / 8 || fabs(to_s - from_s) > noise_s ||
        fabs(from_s - hl_measure_line_at(*line, from)) > 4 * noise_s)
        return HAUL_OK;
    self->threshold = (from_s - line->at_s) / line->per_byte_s;
    return find_flat_end(self, to, from_s + noise_s, error);
}

/* Lines through samples that are surely below and above a size. */
static bool fit_around(const hl_measure_staged *self, double about, hl_measure_line lines[2])
{
    size_t below = 1, above;
    while (below < self->count && (double)self->samples[below].copy.bytes <= about * 0.99)
        below++;
    above = below;
    while (above < self->second && (double)self->samples[above].copy.bytes < about * 1.01)
        above++;
    if (below < 3 || above + 3 > self->second)
        return false;
    lines[0] = hl_measure_staged_fit(self, 1, below, &self->lines[0].at_s);
    lines[1] = hl_measure_staged_fit(self, above, self->second, NULL);
    return true;
}

static double meeting_of(const hl_measure_line lines[2])
{
    return (lines[1].at_s - lines[0].at_s) / (lines[0].per_byte_s - lines[1].per_byte_s);
}

/* Sizes evenly on both sides, none beyond the cache. `second` stays the sample that it was. */
static haul_status add_sizes_around(hl_measure_staged *self, double about, haul_error *error)
{
    const uint64_t end = self->second < self->count ? (uint64_t)self->cache + 1
                                                    : self->samples[self->count - 1].copy.bytes;
    for (int i = 1; i < BELOW + ABOVE; i++) {
        const double part = i < BELOW ? (double)i / BELOW : 1 + (double)(i + 1 - BELOW) / ABOVE;
        const uint64_t bytes = (uint64_t)(about * part);
        if (bytes < 2 || bytes >= end)
            continue;
        const size_t before = self->count;
        HAUL_TRY(hl_measure_staged_add(self, bytes, error));
        self->second += self->count - before;
    }
    return HAUL_OK;
}

/* Time may jump up onto a line that crosses the first one a little above the threshold: just below
 * the crossing copies lie on the second line then. */
static haul_status find_jump(hl_measure_staged *self, const hl_measure_line lines[2], double meet,
                             haul_error *error)
{
    hl_measure_between between = {1, (uint64_t)(meet * (1 - beyond / 4))};
    const double bytes = (double)between.high;
    double seconds;
    HAUL_TRY(hl_measure_staged_time(self, between.high, &seconds, error));
    if (fabs(seconds - hl_measure_line_at(lines[0], bytes)) <=
        fabs(seconds - hl_measure_line_at(lines[1], bytes)) + HL_MEASURE_ROUNDING_S)
        return HAUL_OK;
    for (size_t i = 0; i < self->count && self->samples[i].copy.bytes < between.high; i++)
        if (fabs(self->samples[i].seconds -
                 hl_measure_line_at(lines[0], (double)self->samples[i].copy.bytes)) <=
            self->tolerance * self->samples[i].seconds + HL_MEASURE_ROUNDING_S)
            between.low = self->samples[i].copy.bytes;
    return hl_measure_staged_find_end(self, between, &lines[0], &lines[1], &self->threshold, error);
}

haul_status hl_measure_staged_meet(hl_measure_staged *self, haul_error *error)
{
    hl_measure_line lines[2] = {self->lines[0], self->lines[1]};
    double meet = meeting_of(lines);
    const double at_s = hl_measure_line_at(lines[0], self->threshold);
    const double jump_s =
        hl_measure_line_at(lines[1], self->threshold) +
        (self->chunk > 0 ? self->gap_s * ceil(self->threshold / self->chunk) : 0) - at_s;
    const double noise_s = self->tolerance * at_s + HL_MEASURE_ROUNDING_S;
    if (self->flat > 0 || !(meet >= 256) || fabs(meet / self->threshold - 1) > 0.5)
        return HAUL_OK;
    if (fabs(jump_s) > 2 * noise_s)
        return find_jump(self, lines, meet, error);
    HAUL_TRY(add_sizes_around(self, meet, error));
    for (int i = 0; i < PASSES && fit_around(self, meet, lines); i++) {
        const double better = meeting_of(lines);
        if (!(fabs(better / meet - 1) <= 0.2))
            break;
        meet = better;
    }
    self->threshold = meet;
    return find_jump(self, lines, meet, error);
}
