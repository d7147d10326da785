/* Pieces of latency + bytes/rate for each kind of message. MPIs change their protocol at sizes that
 * they do not tell, so the places of the changes are found, by the same rule for every kind.
 *
 * Errors are relative, and absolute values, not squares: a time at the edge of a protocol that is
 * twice the others' moves a least-squares line by more than all others together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/stats.h"
#include "comm/injection_fit.h"

enum { LEAST_SIZES = 3, SIZES_MOST = 256, KINDS_MOST = 64, ROUNDS = 30, SHARED_MOST = 4096 };

/* Timers repeat to about a thousandth: fits that are closer are not told apart. */
static const double noise = 1e-3;

typedef struct point {
    double bytes;
    double seconds;
} point;

typedef struct line {
    double latency_s;
    double per_byte_s;
    double error; /* sum of |t - fit| / t */
} line;

/* Weighted least squares of seconds = a + b bytes over the points, a and b at least 0: where one
 * would be negative it is 0 and the other fitted alone. Bytes that add less than a millionth, which
 * is less than a fit's six digits, add nothing: that is what rounding makes of equal times. */
static line solve(const point *points, const double *weights, size_t count)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, points[i].bytes);
        w += weights[i];
        x += weights[i] * points[i].bytes;
        y += weights[i] * points[i].seconds;
        xx += weights[i] * points[i].bytes * points[i].bytes;
        xy += weights[i] * points[i].bytes * points[i].seconds;
    }
    const double determinant = w * xx - x * x;
    line made = {y / w, 0, 0};
    if (determinant > 1e-12 * w * xx)
        made = (line){(xx * y - x * xy) / determinant, (w * xy - x * y) / determinant, 0};
    if (made.latency_s < 0)
        made = (line){0, xy / xx, 0};
    if (made.per_byte_s * most < 1e-6 * made.latency_s)
        made = (line){y / w, 0, 0};
    for (size_t i = 0; i < count; i++)
        made.error += fabs(made.latency_s + made.per_byte_s * points[i].bytes - points[i].seconds) /
                      points[i].seconds;
    return made;
}

/* The line of least |t - fit| / t, by least squares whose weights are made again from the errors;
 * or of least squares of t - fit. */
static line fit_line(const point *points, size_t count, bool is_absolute)
{
    double weights[SIZES_MOST];
    line best = {.error = (double)INFINITY};
    for (size_t i = 0; i < count; i++)
        weights[i] = is_absolute ? 1 : 1 / (points[i].seconds * points[i].seconds);
    for (int round = 0; round < (is_absolute ? 1 : ROUNDS); round++) {
        const line made = solve(points, weights, count);
        if (made.error < best.error)
            best = made;
        for (size_t i = 0; i < count; i++) {
            const double t = points[i].seconds;
            const double error = fabs(made.latency_s + made.per_byte_s * points[i].bytes - t) / t;
            weights[i] = 1 / (t * t * fmax(error, noise / 10));
        }
    }
    return best;
}

/* Of all ways to cut `count` points into pieces, those with the least error for each number of
 * pieces, by dynamic programming: best[k][j] is that of the first j points in k + 1 pieces. */
typedef struct pieces {
    double error[HAUL_MESSAGE_PIECES][SIZES_MOST + 1];
    size_t start[HAUL_MESSAGE_PIECES][SIZES_MOST + 1]; /* of the last piece */
} pieces;

static void cut(const point *points, size_t count, size_t most, pieces *found)
{
    for (size_t k = 0; k < most; k++)
        for (size_t j = 0; j <= count; j++)
            found->error[k][j] = (double)INFINITY;
    for (size_t i = 0; i + LEAST_SIZES <= count; i++)
        for (size_t j = i + LEAST_SIZES; j <= count; j++) {
            const double error = fit_line(points + i, j - i, false).error;
            for (size_t k = 0; k < most; k++) {
                const double before = k ? found->error[k - 1][i] : i ? (double)INFINITY : 0;
                if (before + error < found->error[k][j]) {
                    found->error[k][j] = before + error;
                    found->start[k][j] = i;
                }
            }
        }
}

/* BIC for errors distributed as Laplace's: 2 n log(mean |e|) + p log n, with two parameters a piece
 * and one for each break. */
static size_t choose_pieces(const pieces *found, size_t count, size_t most)
{
    const double n = (double)count;
    double least = (double)INFINITY;
    size_t chosen = 1;
    for (size_t k = 0; k < most; k++) {
        const double criterion =
            2 * n * log(found->error[k][count] / n + noise) + (double)(3 * k + 2) * log(n);
        if (criterion < least) {
            least = criterion;
            chosen = k + 1;
        }
    }
    return chosen;
}

static void put_piece(haul_message_curve *curve, size_t at, double from_bytes, const point *points,
                      size_t count, bool is_absolute)
{
    const line made = fit_line(points, count, is_absolute);
    curve->pieces[at] =
        (haul_message_piece){from_bytes, made.latency_s, made.per_byte_s, (double)NAN};
}

static void put_residuals(haul_message_curve *curve, const point *points, size_t count)
{
    double errors[SIZES_MOST];
    for (size_t i = 0; i < count; i++)
        errors[i] =
            100 * fabs(haul_message_curve_time(curve, points[i].bytes) / points[i].seconds - 1);
    hl_base_sort_doubles(errors, count);
    curve->median = hl_base_quantile_sorted(errors, count, 0.5);
    curve->p90 = hl_base_quantile_sorted(errors, count, 0.9);
    curve->worst = errors[count - 1];
    curve->samples = count;
    curve->least_bytes = points[0].bytes;
    curve->most_bytes = points[count - 1].bytes;
    curve->point_count = count < HAUL_MESSAGE_POINTS ? count : HAUL_MESSAGE_POINTS;
    for (size_t i = 0; i < curve->point_count; i++)
        curve->points[i] = (haul_point){points[i].bytes, points[i].seconds};
}

/* Given switches cut the points where they stand; a part without two sizes joins the one before. */
static void cut_at(haul_message_curve *curve, const haul_message_fit_options *options,
                   const point *points, size_t count)
{
    size_t first = 0;
    for (size_t s = 0; s <= options->switch_count && curve->count < HAUL_MESSAGE_PIECES; s++) {
        const bool is_last = s == options->switch_count;
        size_t end = first;
        while (end < count && (is_last || points[end].bytes < options->switches[s]))
            end++;
        if (end - first < 2)
            continue;
        put_piece(curve, curve->count, curve->count ? points[first].bytes : 0, points + first,
                  end - first, options->is_absolute);
        curve->count++;
        first = end;
    }
}

static haul_status fit_curve(haul_message_curve *curve, const haul_message_fit_options *options,
                             const point *points, size_t count, haul_error *error)
{
    if (options->switches || count < LEAST_SIZES) {
        cut_at(curve, options->switches ? options : &(haul_message_fit_options){0}, points, count);
        if (!curve->count)
            put_piece(curve, curve->count++, 0, points, count, options->is_absolute);
        put_residuals(curve, points, count);
        return HAUL_OK;
    }
    pieces *found = malloc(sizeof *found);
    if (!found)
        return hl_base_fail_no_memory(error);
    const size_t most =
        options->breaks < HAUL_MESSAGE_PIECES ? options->breaks + 1 : HAUL_MESSAGE_PIECES;
    cut(points, count, most, found);
    curve->count = choose_pieces(found, count, most);
    size_t end = count;
    for (size_t k = curve->count; k-- > 0;) {
        const size_t first = found->start[k][end];
        put_piece(curve, k, first ? points[first].bytes : 0, points + first, end - first,
                  options->is_absolute);
        end = first;
    }
    free(found);
    put_residuals(curve, points, count);
    return HAUL_OK;
}

double haul_message_curve_time(const haul_message_curve *curve, double bytes)
{
    size_t at = 0;
    while (at + 1 < curve->count && curve->pieces[at + 1].from_bytes <= bytes)
        at++;
    return curve->pieces[at].latency_s + curve->pieces[at].per_byte_s * bytes;
}

static bool is_of(const haul_message_curve *curve, const haul_message_sample *sample)
{
    if (curve->is_copy)
        return sample->op == HAUL_MESSAGE_COPY && sample->processes == 1 &&
               sample->direction == curve->direction && sample->locality == curve->locality;
    return sample->op == HAUL_MESSAGE_PAIR && sample->memory == curve->memory &&
           sample->reach == curve->reach;
}

/* The fastest time of each size, ascending: what disturbs a message only delays it. */
static size_t fastest_times(const haul_message_samples *samples, const haul_message_curve *curve,
                            point points[SIZES_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const haul_message_sample *sample = &samples->items[i];
        const double bytes = (double)sample->bytes;
        if (!is_of(curve, sample))
            continue;
        size_t at = 0;
        while (at < count && points[at].bytes < bytes)
            at++;
        if (at < count && points[at].bytes == bytes) {
            points[at].seconds = fmin(points[at].seconds, sample->seconds);
            continue;
        }
        if (count == SIZES_MOST)
            continue;
        memmove(points + at + 1, points + at, (count - at) * sizeof *points);
        points[at] = (point){bytes, sample->seconds};
        count++;
    }
    return count;
}

/* Fits the time that a further message adds beside its bytes: of each size the line over the number
 * of messages, of each piece the median over its sizes. */
static void put_gaps(haul_message_curve *curve, const haul_message_samples *samples)
{
    for (size_t k = 0; k < curve->count; k++) {
        haul_message_piece *piece = &curve->pieces[k];
        const double end = k + 1 < curve->count ? piece[1].from_bytes : (double)INFINITY;
        double gaps[SIZES_MOST];
        size_t count = 0;
        for (size_t i = 0; i < samples->count && count < SIZES_MOST; i++) {
            const haul_message_sample *one = &samples->items[i];
            point points[SIZES_MOST];
            size_t times = 0;
            if (one->op != HAUL_MESSAGE_MANY || one->messages != 1 ||
                one->memory != curve->memory || (double)one->bytes < piece->from_bytes ||
                (double)one->bytes >= end)
                continue;
            for (size_t m = 0; m < samples->count && times < SIZES_MOST; m++) {
                const haul_message_sample *many = &samples->items[m];
                if (many->op == HAUL_MESSAGE_MANY && many->memory == one->memory &&
                    many->bytes == one->bytes)
                    points[times++] = (point){(double)many->messages - 1, many->seconds};
            }
            if (times >= 2)
                gaps[count++] = fit_line(points, times, false).per_byte_s -
                                piece->per_byte_s * (double)one->bytes;
        }
        if (count)
            piece->gap_s = fmax(0, hl_base_median(gaps, count));
    }
}

/* How well two parameters give back the copies of several processes: some drivers take turns in
 * hundreds of microseconds at some sizes, which no latency and rate fits. */
static void put_shared_residuals(haul_message_curve *curve, const haul_message_samples *samples)
{
    double errors[SHARED_MOST];
    size_t count = 0;
    for (size_t i = 0; i < samples->count && count < SHARED_MOST; i++) {
        const haul_message_sample *one = &samples->items[i];
        if (one->op != HAUL_MESSAGE_COPY || one->processes <= 1 ||
            one->direction != curve->direction || one->locality != curve->locality)
            continue;
        const double fitted_s = curve->pieces[0].latency_s +
                                (one->processes - 1) * curve->shared_latency_s +
                                one->processes * (double)one->bytes / curve->shared_rate_Bps;
        const double error = 100 * fabs(fitted_s / one->seconds - 1);
        const double factor = fmax(fitted_s / one->seconds, one->seconds / fitted_s);
        const double worst = count ? fmax(curve->shared_fitted_s / curve->shared_measured_s,
                                          curve->shared_measured_s / curve->shared_fitted_s)
                                   : 0;
        if (factor > worst) {
            curve->shared_processes = one->processes;
            curve->shared_bytes = (double)one->bytes;
            curve->shared_measured_s = one->seconds;
            curve->shared_fitted_s = fitted_s;
        }
        errors[count++] = error;
    }
    hl_base_sort_doubles(errors, count);
    curve->shared_median = hl_base_quantile_sorted(errors, count, 0.5);
    curve->shared_p90 = hl_base_quantile_sorted(errors, count, 0.9);
    curve->shared_worst = errors[count - 1];
}

/* Processes that copy from one GPU at once wait for each other's start, and share one rate. */
static void put_shared(haul_message_curve *curve, const haul_message_samples *samples)
{
    double latencies[SIZES_MOST], rates[SIZES_MOST];
    size_t count = 0;
    curve->shared_latency_s = curve->shared_rate_Bps = (double)NAN;
    curve->shared_median = curve->shared_p90 = curve->shared_worst = (double)NAN;
    for (uint32_t processes = 2; processes < SIZES_MOST; processes++) {
        point points[SIZES_MOST];
        size_t times = 0;
        for (size_t i = 0; i < samples->count && times < SIZES_MOST; i++) {
            const haul_message_sample *one = &samples->items[i];
            if (one->op == HAUL_MESSAGE_COPY && one->processes == processes &&
                one->direction == curve->direction && one->locality == curve->locality)
                points[times++] =
                    (point){(double)one->processes * (double)one->bytes, one->seconds};
        }
        const line made = times >= LEAST_SIZES ? fit_line(points, times, false) : (line){0};
        if (made.per_byte_s > 0) {
            latencies[count] = (made.latency_s - curve->pieces[0].latency_s) / (processes - 1);
            rates[count++] = 1 / made.per_byte_s;
        }
    }
    if (!count)
        return;
    curve->shared_latency_s = fmax(0, hl_base_median(latencies, count));
    curve->shared_rate_Bps = hl_base_median(rates, count);
    put_shared_residuals(curve, samples);
}

haul_status haul_message_fit_make(const haul_message_samples *samples,
                                  const haul_message_fit_options *options, haul_message_fit *fit,
                                  haul_error *error)
{
    haul_message_fit made = {.curves = calloc(KINDS_MOST, sizeof *made.curves)};
    haul_status status = HAUL_OK;
    if (!made.curves)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; !status && i < samples->count; i++) {
        const haul_message_sample *sample = &samples->items[i];
        haul_message_curve *curve = &made.curves[made.count];
        size_t at = 0;
        while (at < made.count && !is_of(&made.curves[at], sample))
            at++;
        *curve = (haul_message_curve){.is_copy = sample->op == HAUL_MESSAGE_COPY,
                                      .memory = sample->memory,
                                      .reach = sample->reach,
                                      .direction = sample->direction,
                                      .locality = sample->locality};
        if (at < made.count || !is_of(curve, sample) || made.count + 1 == KINDS_MOST)
            continue;
        point points[SIZES_MOST];
        const size_t count = fastest_times(samples, curve, points);
        status = fit_curve(curve, options, points, count, error);
        if (!status && !curve->is_copy && curve->reach == HAUL_REACH_BETWEEN_NODES)
            put_gaps(curve, samples);
        if (!status && curve->is_copy)
            put_shared(curve, samples);
        made.count++;
    }
    if (!status)
        status = hl_comm_injection_fit(&made, samples, error);
    if (!status && !made.count && !made.injection_count)
        status = haul_error_set(error, HAUL_STATUS_MISSING,
                                "no ping-pong, rate or copy among the measurements");
    if (status)
        haul_message_fit_free(&made);
    else
        *fit = made;
    return status;
}

void haul_message_fit_free(haul_message_fit *fit)
{
    if (!fit)
        return;
    free(fit->curves);
    free(fit->injection);
    *fit = (haul_message_fit){0};
}
