#include "measure/staging_search.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

/* A size is known to the byte on a simulated machine, else to one part in COARSE. */
enum { COARSE = 64, SKIPPED = 12 };

/* The time of a sample without the gaps of its chunks. */
static double smooth_seconds(const hl_measure_staged *self, const haul_sample *sample)
{
    const double bytes = (double)sample->copy.bytes;
    const bool is_chunked = self->chunk > 0 && bytes > self->threshold;
    return sample->seconds - (is_chunked ? self->gap_s * ceil(bytes / self->chunk) : 0);
}

/* Least squares of relative errors over samples [begin, end); with `fixed` through that time at no
 * bytes. */
static hl_measure_line fit_line(const hl_measure_staged *self, size_t begin, size_t end,
                                const double *fixed)
{
    double w = 0, wn = 0, wt = 0, wnn = 0, wnt = 0;
    for (size_t i = begin; i < end; i++) {
        const double n = (double)self->samples[i].copy.bytes;
        const double t = smooth_seconds(self, &self->samples[i]);
        const double weight = 1 / (t * t), rest = t - (fixed ? *fixed : 0);
        w += weight;
        wn += weight * n;
        wt += weight * rest;
        wnn += weight * n * n;
        wnt += weight * n * rest;
    }
    if (fixed)
        return (hl_measure_line){*fixed, wnt / wnn};
    const double slope = (w * wnt - wn * wt) / (w * wnn - wn * wn);
    return (hl_measure_line){(wt - slope * wn) / w, slope};
}

static double worst_error(const hl_measure_staged *self, size_t begin, size_t end,
                          hl_measure_line of)
{
    double worst = 0;
    for (size_t i = begin; i < end; i++) {
        const double line_s = hl_measure_line_at(of, (double)self->samples[i].copy.bytes);
        const double seconds = smooth_seconds(self, &self->samples[i]);
        worst = fmax(worst, (fabs(line_s - seconds) - HL_MEASURE_ROUNDING_S) / seconds);
    }
    return worst;
}

/* The samples of the first line: as many as lie on one through the latency. */
static size_t first_line(hl_measure_staged *self, double latency_s)
{
    size_t end = 1;
    self->lines[0] = (hl_measure_line){latency_s, 0};
    while (end < self->count) {
        const hl_measure_line longer = fit_line(self, 1, end + 1, &latency_s);
        if (!(longer.per_byte_s > 0) || worst_error(self, 1, end + 1, longer) > self->tolerance)
            break;
        self->lines[0] = longer;
        end++;
    }
    return end;
}

/* Adds a measured size, in order. */
static haul_status add_size(hl_measure_staged *self, uint64_t bytes, haul_error *error)
{
    size_t at = 0;
    double seconds;
    while (at < self->count && self->samples[at].copy.bytes < bytes)
        at++;
    if (self->count == HL_MEASURE_STAGED_SIZES ||
        (at < self->count && self->samples[at].copy.bytes == bytes))
        return HAUL_OK;
    HAUL_TRY(hl_measure_staged_time(self, bytes, &seconds, error));
    memmove(&self->samples[at + 1], &self->samples[at], (self->count - at) * sizeof *self->samples);
    self->samples[at] =
        (haul_sample){.copy = {bytes, self->way.direction, self->way.memory, HAUL_LOCALITY_NEAR},
                      .seconds = seconds};
    self->count++;
    return HAUL_OK;
}

/* The size up to which copies are nearer to line `a` than to `b`; without `b` as near as the
 * tolerance. It lies between two samples. */
static haul_status find_end(hl_measure_staged *self, size_t before, const hl_measure_line *a,
                            const hl_measure_line *b, double *end, haul_error *error)
{
    const bool is_exact = haul_device_describe(self->session->device)->is_simulated;
    uint64_t low = self->samples[before].copy.bytes, high = self->samples[before + 1].copy.bytes;
    while (high - low > (is_exact ? 1 : 1 + low / COARSE)) {
        haul_sample middle = {.copy = {.bytes = low + (high - low) / 2}};
        const double bytes = (double)middle.copy.bytes;
        HAUL_TRY(hl_measure_staged_time(self, middle.copy.bytes, &middle.seconds, error));
        const double seconds = smooth_seconds(self, &middle);
        const double off = fabs(seconds - hl_measure_line_at(*a, bytes));
        const bool is_before =
            off <= (b ? fabs(seconds - hl_measure_line_at(*b, bytes)) : self->tolerance * seconds);
        *(is_before ? &low : &high) = middle.copy.bytes;
    }
    *end = (double)low;
    return HAUL_OK;
}

/* Where the second line changes into the third: the split with the least error, or none; of samples
 * from `begin` on. */
static double split(hl_measure_staged *self, size_t begin)
{
    self->second = self->count;
    self->lines[1] = self->lines[2] = fit_line(self, begin, self->count, NULL);
    double least = worst_error(self, begin, self->count, self->lines[1]);
    for (size_t at = begin + 2; at + 2 <= self->count && least > self->tolerance; at++) {
        const hl_measure_line one = fit_line(self, begin, at, NULL);
        const hl_measure_line other = fit_line(self, at, self->count, NULL);
        const double worst =
            fmax(worst_error(self, begin, at, one), worst_error(self, at, self->count, other));
        if (worst >= least)
            continue;
        least = worst;
        self->second = at;
        self->lines[1] = one;
        self->lines[2] = other;
    }
    return least;
}

/* Sizes just above the threshold, so that the second line has samples however soon it ends. */
static haul_status add_sizes_above(hl_measure_staged *self, haul_error *error)
{
    static const double above[] = {1.0 / 64, 1.0 / 24, 1.0 / 12};
    const double largest = (double)self->samples[self->count - 1].copy.bytes;
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        const double bytes = ceil(self->threshold * (1 + above[i])) + 1;
        if (self->threshold >= 256 && bytes < largest)
            HAUL_TRY(add_size(self, (uint64_t)bytes, error));
    }
    while (self->first < self->count &&
           (double)self->samples[self->first].copy.bytes <= self->threshold)
        self->first++;
    return HAUL_OK;
}

haul_status hl_measure_staged_search(hl_measure_staged *self, double latency_s, haul_error *error)
{
    self->first = first_line(self, latency_s);
    if (self->first + 3 > self->count) {
        self->first = 0;
        return HAUL_OK;
    }
    self->threshold = 0;
    if (self->first > 1)
        HAUL_TRY(find_end(self, self->first - 1, &self->lines[0], NULL, &self->threshold, error));
    HAUL_TRY(add_sizes_above(self, error));
    HAUL_TRY(hl_measure_staged_find_chunk(self, error));
    /* a larger copy takes no less time: where the second line would begin below the first, copies
     * take as long as one of the threshold until it has caught up */
    double off = split(self, self->first);
    for (size_t skipped = 1;
         skipped <= SKIPPED && off > self->tolerance && self->first + skipped + 3 <= self->count;
         skipped++)
        off = split(self, self->first + skipped);
    if (off > self->tolerance) {
        self->first = 0;
        return HAUL_OK;
    }
    if (self->second < self->count)
        HAUL_TRY(find_end(self, self->second - 1, &self->lines[1], &self->lines[2], &self->cache,
                          error));
    /* without a jump the lines meet there: that is surer than where a copy leaves the first */
    const hl_measure_line *lines = self->lines;
    const double meet =
        (lines[1].at_s - lines[0].at_s) / (lines[0].per_byte_s - lines[1].per_byte_s);
    const double at_s = hl_measure_line_at(lines[0], self->threshold);
    const double jump_s =
        hl_measure_line_at(lines[1], self->threshold) +
        (self->chunk > 0 ? self->gap_s * ceil(self->threshold / self->chunk) : 0) - at_s;
    if (self->first > 1 && fabs(jump_s) <= 2 * self->tolerance * at_s && meet >= 1 &&
        fabs(meet / self->threshold - 1) <= 0.2)
        self->threshold = meet;
    return HAUL_OK;
}
