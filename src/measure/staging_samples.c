/* The samples of staged copies: measured, fitted by lines, and predicted. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "measure/staging_search.h"

/* A size is known to the byte on a simulated machine, else to one part in COARSE. */
enum { COARSE = 64 };

haul_status hl_measure_staged_time(hl_measure_staged *self, uint64_t bytes, double *seconds,
                                   haul_error *error)
{
    hl_measure_point_measured point;
    HAUL_TRY(hl_measure_copies_measure(self->session, "", hl_measure_copies_try,
                                       (hl_measure_copy_set){self->way, bytes}, &point, error));
    *seconds = point.seconds;
    return HAUL_OK;
}

double hl_measure_staged_smooth(const hl_measure_staged *self, const haul_sample *sample)
{
    const double bytes = (double)sample->copy.bytes;
    const bool is_chunked = self->chunk > 0 && bytes > self->threshold;
    return sample->seconds - (is_chunked ? self->gap_s * ceil(bytes / self->chunk) : 0);
}

hl_measure_line hl_measure_staged_fit(const hl_measure_staged *self, size_t begin, size_t end,
                                      const double *fixed)
{
    double w = 0, wn = 0, wt = 0, wnn = 0, wnt = 0;
    for (size_t i = begin; i < end; i++) {
        const double n = (double)self->samples[i].copy.bytes;
        const double t = hl_measure_staged_smooth(self, &self->samples[i]);
        const double off_s = self->tolerance * t + HL_MEASURE_ROUNDING_S;
        const double weight = 1 / (off_s * off_s), rest = t - (fixed ? *fixed : 0);
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

haul_status hl_measure_staged_add(hl_measure_staged *self, uint64_t bytes, haul_error *error)
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

haul_status hl_measure_staged_find_end(hl_measure_staged *self, hl_measure_between between,
                                       const hl_measure_line *a, const hl_measure_line *b,
                                       double *end, haul_error *error)
{
    const bool is_exact = haul_device_describe(self->session->device)->is_simulated;
    uint64_t low = between.low, high = between.high;
    while (high - low > (is_exact ? 1 : 1 + low / COARSE)) {
        haul_sample middle = {.copy = {.bytes = low + (high - low) / 2}};
        const double bytes = (double)middle.copy.bytes;
        HAUL_TRY(hl_measure_staged_time(self, middle.copy.bytes, &middle.seconds, error));
        const double seconds = hl_measure_staged_smooth(self, &middle);
        const double off_s = fabs(seconds - hl_measure_line_at(*a, bytes));
        const double most_s = b ? fabs(seconds - hl_measure_line_at(*b, bytes))
                                : self->tolerance * seconds + HL_MEASURE_ROUNDING_S;
        *(off_s <= most_s ? &low : &high) = middle.copy.bytes;
    }
    *end = (double)low;
    return HAUL_OK;
}

haul_status hl_measure_staged_machine(const hl_measure_staged *self, const haul_copy_curve *curve,
                                      haul_machine **out, haul_error *error)
{
    haul_copy_curve curves[HL_MEASURE_WAYS];
    const hl_measure_session *session = self->session;
    haul_machine as = session->machine;
    size_t count = 0;
    for (size_t i = 0; i < session->curve_count; i++)
        if (session->curves[i].direction != curve->direction ||
            session->curves[i].memory != curve->memory)
            curves[count++] = session->curves[i];
    curves[count++] = *curve;
    as.name = "measured";
    as.gpu.architecture = haul_device_describe(session->device)->architecture;
    return haul_machine_with_copies(&as, curves, count, out, error);
}
