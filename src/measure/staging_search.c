#include "measure/staging_search.h"

#include <math.h>

#include "base/fail.h"

/* Samples above the threshold that no line need pass through. */
enum { SKIPPED = 12 };

static double worst_error(const hl_measure_staged *self, size_t begin, size_t end,
                          hl_measure_line of)
{
    double worst = 0;
    for (size_t i = begin; i < end; i++) {
        const double line_s = hl_measure_line_at(of, (double)self->samples[i].copy.bytes);
        const double seconds = hl_measure_staged_smooth(self, &self->samples[i]);
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
        const hl_measure_line longer = hl_measure_staged_fit(self, 1, end + 1, &latency_s);
        if (!(longer.per_byte_s > 0) || worst_error(self, 1, end + 1, longer) > self->tolerance)
            break;
        self->lines[0] = longer;
        end++;
    }
    return end;
}

/* A sample's size and the next one's. */
static hl_measure_between behind(const hl_measure_staged *self, size_t before)
{
    return (hl_measure_between){self->samples[before].copy.bytes,
                                self->samples[before + 1].copy.bytes};
}

/* Where the second line changes into the third: the split with the least error, or none; of samples
 * from `begin` on. */
static double find_split(hl_measure_staged *self, size_t begin)
{
    self->second = self->count;
    self->lines[1] = self->lines[2] = hl_measure_staged_fit(self, begin, self->count, NULL);
    double least = worst_error(self, begin, self->count, self->lines[1]);
    for (size_t at = begin + 2; at + 2 <= self->count && least > self->tolerance; at++) {
        const hl_measure_line one = hl_measure_staged_fit(self, begin, at, NULL);
        const hl_measure_line other = hl_measure_staged_fit(self, at, self->count, NULL);
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
    static const double above[] = {1.0 / 64, 1.0 / 24, 1.0 / 12, 1.0 / 8, 1.0 / 5, 1.0 / 3};
    const double largest = (double)self->samples[self->count - 1].copy.bytes;
    const double from = fmax(self->threshold, self->flat);
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        const double bytes = ceil(from * (1 + above[i])) + 1;
        if (self->threshold >= 256 && bytes < largest)
            HAUL_TRY(hl_measure_staged_add(self, (uint64_t)bytes, error));
    }
    while (self->first < self->count && (double)self->samples[self->first].copy.bytes <= from)
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
    self->threshold = self->flat = 0;
    if (self->first > 1)
        HAUL_TRY(hl_measure_staged_find_end(self, behind(self, self->first - 1), &self->lines[0],
                                            NULL, &self->threshold, error));
    HAUL_TRY(hl_measure_staged_find_flat(self, error));
    HAUL_TRY(add_sizes_above(self, error));
    HAUL_TRY(hl_measure_staged_find_chunk(self, error));
    /* a larger copy takes no less time: where the second line would begin below the first, copies
     * take as long as one of the threshold until it has caught up */
    double off = find_split(self, self->first);
    for (size_t skipped = 1;
         skipped <= SKIPPED && off > self->tolerance && self->first + skipped + 3 <= self->count;
         skipped++)
        off = find_split(self, self->first + skipped);
    if (off > self->tolerance) {
        self->first = 0;
        return HAUL_OK;
    }
    if (self->second < self->count)
        HAUL_TRY(hl_measure_staged_find_end(self, behind(self, self->second - 1), &self->lines[1],
                                            &self->lines[2], &self->cache, error));
    return self->first > 1 ? hl_measure_staged_meet(self, error) : HAUL_OK;
}

haul_status hl_measure_staged_search_whole(hl_measure_staged *self, haul_error *error)
{
    self->first = 0;
    self->threshold = self->flat = self->cache = 0;
    if (find_split(self, 0) > self->tolerance) {
        self->second = 0;
        return HAUL_OK;
    }
    if (self->second == self->count)
        return HAUL_OK;
    return hl_measure_staged_find_end(self, behind(self, self->second - 1), &self->lines[1],
                                      &self->lines[2], &self->cache, error);
}
