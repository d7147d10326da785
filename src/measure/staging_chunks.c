/* Chunks of staged copies: each one more is a step up in time. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"
#include "measure/staging_search.h"

/* Steps are looked for in rows of equally spaced sizes: a row of SIZES shows chunks from 2 to
 * SIZES/3 spacings. From 4 KiB on, four times as wide each. */
enum { SIZES = 64, SPACING_LEAST = 2 << 10, SPACING_FACTOR = 8, COARSE = 64 };

typedef struct row {
    uint64_t sizes[SIZES];
    double seconds[SIZES];
    double noise_s;   /* by which a rise may be off */
    double rise_s;    /* without a step */
    double gap_s;     /* of a step */
    int steps[SIZES]; /* the size behind each */
    int count;
} row;

static haul_status measure_row(hl_measure_staged *self, uint64_t from, uint64_t spacing, row *out,
                               haul_error *error)
{
    hl_measure_copy_set each[SIZES];
    hl_measure_trial *trials = calloc(SIZES, sizeof *trials);
    if (!trials)
        return hl_base_fail_no_memory(error);
    for (int k = 0; k < SIZES; k++) {
        out->sizes[k] = from + (uint64_t)k * spacing;
        each[k] = (hl_measure_copy_set){self->way, out->sizes[k]};
        hl_measure_copies_name(&trials[k], "", &each[k]);
    }
    const haul_status status = hl_measure_session_trials(self->session, trials, SIZES, error);
    out->noise_s = 3 * HL_MEASURE_ROUNDING_S; /* of a difference of differences */
    for (int k = 0; k < SIZES && !status; k++) {
        out->seconds[k] = trials[k].point.seconds;
        out->noise_s = fmax(out->noise_s, 0.02 * hl_measure_median_error(&trials[k].point) *
                                              trials[k].point.seconds);
    }
    free(trials);
    return status;
}

/* Rises are the usual one, or that and a gap. One that is neither, as at the cache's end, ends the
 * row where it has shown steps; before that it begins anew. */
static void find_steps(row *self, int begin, int end)
{
    double sorted[SIZES - 1];
    const int rises = end - begin - 1;
    for (int k = 0; k < rises; k++)
        sorted[k] = self->seconds[begin + k + 1] - self->seconds[begin + k];
    hl_base_sort_doubles(sorted, (size_t)rises);
    self->rise_s = hl_base_quantile_sorted(sorted, (size_t)rises, 0.25);
    self->count = 0;
    for (int k = begin + 1; k < end; k++) {
        const double more_s = self->seconds[k] - self->seconds[k - 1] - self->rise_s;
        if (fabs(more_s) <= self->noise_s)
            continue;
        if (!self->count)
            self->gap_s = more_s;
        const bool is_step = more_s > 0 && fabs(more_s - self->gap_s) <= 2 * self->noise_s;
        if (!is_step && self->count > 2)
            return;
        if (!is_step)
            self->count = 0;
        else
            self->steps[self->count++] = k;
    }
}

/* As many sizes between any two steps, but for one. */
static bool is_regular(const row *self)
{
    const double each = (double)(self->steps[self->count - 1] - self->steps[0]) / (self->count - 1);
    for (int i = 1; i < self->count; i++)
        if (fabs((self->steps[i] - self->steps[0]) - i * each) > 1)
            return false;
    return each >= 2;
}

/* The largest size before a step: a multiple of the chunk. */
static haul_status find_multiple(hl_measure_staged *self, const row *in, int step, double *bytes,
                                 haul_error *error)
{
    const bool is_exact = haul_device_describe(self->session->device)->is_simulated;
    const uint64_t spacing = in->sizes[1] - in->sizes[0];
    uint64_t low = in->sizes[step - 1], high = in->sizes[step];
    while (high - low > (is_exact ? 1 : 1 + spacing / COARSE)) {
        const uint64_t middle = low + (high - low) / 2;
        double seconds;
        HAUL_TRY(hl_measure_staged_time(self, middle, &seconds, error));
        const double without_s =
            in->seconds[step - 1] +
            in->rise_s * (double)(middle - in->sizes[step - 1]) / (double)spacing;
        *(seconds - without_s > in->gap_s / 2 ? &high : &low) = middle;
    }
    *bytes = (double)low;
    return HAUL_OK;
}

/* The last step is so many chunks as the first two say. */
static haul_status take_chunk(hl_measure_staged *self, const row *in, haul_error *error)
{
    double from, to;
    HAUL_TRY(find_multiple(self, in, in->steps[0], &from, error));
    HAUL_TRY(find_multiple(self, in, in->steps[in->count - 1], &to, error));
    const double about = (to - from) / (in->count - 1);
    const double chunk = to / round(to / about);
    if (fabs(from / chunk - round(from / chunk)) > 0.02)
        return HAUL_OK;
    self->chunk = chunk;
    self->gap_s = in->gap_s;
    return HAUL_OK;
}

haul_status hl_measure_staged_find_chunk(hl_measure_staged *self, haul_error *error)
{
    const uint64_t largest = self->session->options.largest_bytes;
    /* the threshold is known to one part in some thousands: the row begins surely behind it */
    const uint64_t from = (uint64_t)(fmax(self->threshold, self->flat) * 1.001) + 2;
    row *in = calloc(1, sizeof *in);
    haul_status status = HAUL_OK;
    if (!in)
        return hl_base_fail_no_memory(error);
    self->chunk = self->gap_s = 0;
    for (uint64_t spacing = SPACING_LEAST;
         !status && self->chunk <= 0 && from + SIZES * spacing <= largest;
         spacing *= SPACING_FACTOR) {
        status = measure_row(self, from, spacing, in, error);
        if (status)
            break;
        /* where the cache ends within the row, one of its halves may have steps of one kind */
        static const int parts[][2] = {{0, SIZES}, {SIZES / 2, SIZES}, {0, SIZES / 2}};
        for (size_t i = 0; i < 3 && !status && self->chunk <= 0; i++) {
            find_steps(in, parts[i][0], parts[i][1]);
            if (in->count >= 2 && is_regular(in))
                status = take_chunk(self, in, error);
        }
    }
    free(in);
    return status;
}
