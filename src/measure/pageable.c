/* How a driver stages pageable copies (docs/models.md, `staged`): at one rate up to a threshold, at
 * another while the source fits the host's cache, at a third from memory, in chunks. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "haul/cost.h"
#include "measure/staging_search.h"

/* Readings of the fitted lines; see take_staged, try_curve, take_one_buffer and
 * take_without_threshold. */
typedef enum reading {
    PLAIN,
    CHUNKED,
    FIRST_IS_CACHED,
    ONE_BUFFER,
    READINGS,
    WITHOUT_THRESHOLD
} reading;

/* The clock of a simulated device is off by its rounding alone. */
#define EXACT 1e-6

/* Two rates that differ by less than the lines may be off are one. */
static bool differ(const hl_measure_staged *self, double a, double b)
{
    return fabs(a / b - 1) > 2 * self->tolerance;
}

static haul_parameter found(double value, const char *source)
{
    return (haul_parameter){value, HAUL_PROVENANCE_MEASURED, source};
}

/* The rate of one core into the buffer: seen where it is below the link's, which sets the pace
 * else; then what the first chunk takes alone tells it, where the chunk's size is known. */
static haul_parameter host_rate(const hl_measure_staged *self, const hl_measure_line *line,
                                double latency_s, double link_rate)
{
    const double rate = 1 / line->per_byte_s;
    const double alone_s = line->at_s - latency_s;
    if (!(link_rate > 0) || (rate < link_rate && differ(self, rate, link_rate)))
        return found(rate, "haul measure, slope of the sweep");
    if (self->chunk > 0 && alone_s > 0 && self->chunk / alone_s > link_rate)
        return found(self->chunk / alone_s, "haul measure: what the first chunk takes alone");
    return found(link_rate, "haul measure: the link's or more, which no copy tells apart");
}

/* A copy above the threshold begins with a chunk that nothing overlaps, at the faster of both
 * rates: the link's where memory is slower. Where it is not, only what that chunk takes is seen,
 * not its size: the least that takes as long gives back the same times. */
static double chunk_of_start(const hl_measure_staged *self, double latency_s, double link_rate)
{
    const hl_measure_line *line = &self->lines[self->second < self->count ? 2 : 1];
    return fmax(line->at_s - latency_s, 0) * link_rate;
}

/* Without a chunk the first `threshold` bytes of every larger copy go as small copies do: the third
 * line tells how many those are, too, and better where the second goes on at nearly the first one's
 * rate. Each line is off by the times of the copies that it begins with. */
static bool third_tells_more(const hl_measure_staged *self)
{
    const hl_measure_line *lines = self->lines;
    if (!differ(self, lines[0].per_byte_s, lines[1].per_byte_s))
        return true;
    if (self->flat > 0 || self->second == self->count)
        return false;
    const double second_s = self->tolerance * hl_measure_line_at(lines[1], self->threshold);
    const double third_s = self->tolerance * hl_measure_line_at(lines[2], self->cache);
    return (third_s + HL_MEASURE_ROUNDING_S) / fabs(lines[0].per_byte_s - lines[2].per_byte_s) <
           (second_s + HL_MEASURE_ROUNDING_S) / fabs(lines[0].per_byte_s - lines[1].per_byte_s);
}

static double threshold_by_third(const hl_measure_staged *self)
{
    const hl_measure_line *lines = self->lines;
    if (self->second == self->count)
        return 0;
    return fmax((lines[2].at_s - lines[0].at_s) / (lines[0].per_byte_s - lines[2].per_byte_s), 0);
}

static void take_chunk(const hl_measure_staged *self, bool has_steps, haul_copy_curve *curve)
{
    if (self->chunk <= 0)
        return;
    curve->chunk_bytes =
        found(self->chunk, has_steps ? "haul measure: where one more is a step up in time"
                                     : "haul measure: what the first chunk takes alone");
    curve->gap_s = found(fmax(self->gap_s, 0), "haul measure: of a chunk");
}

static void take_rates(const hl_measure_staged *self, double latency_s, double link_rate,
                       haul_copy_curve *curve)
{
    const bool has_cache = self->cache > 0;
    if (has_cache) {
        curve->host_rate_Bps = host_rate(self, &self->lines[1], latency_s, link_rate);
        curve->cache_bytes =
            found(self->cache, "haul measure: up to it copies go at the rate from cache");
    }
    curve->memory_rate_Bps = host_rate(self, &self->lines[has_cache ? 2 : 1], latency_s, link_rate);
}

/* `is_chunked`: what larger copies take at first is a chunk's, else the bytes up to the threshold.
 */
static void take_staged(hl_measure_staged *self, double link_rate, bool is_chunked,
                        haul_copy_curve *curve)
{
    const double latency_s = self->lines[0].at_s;
    const bool has_small = self->first > 1;
    if (has_small && !is_chunked && third_tells_more(self))
        self->threshold = threshold_by_third(self);
    const bool has_steps = self->chunk > 0;
    if (is_chunked && !has_steps)
        self->chunk = chunk_of_start(self, latency_s, link_rate);
    curve->threshold_bytes = found(has_small ? self->threshold : 0,
                                   "haul measure: where the times of larger copies begin");
    if (has_small)
        curve->small_rate_Bps =
            found(1 / self->lines[0].per_byte_s, "haul measure, slope of the sweep");
    take_chunk(self, has_steps, curve);
    take_rates(self, latency_s, link_rate, curve);
}

/* Copies of all sizes are staged: one of a byte takes a chunk alone, too. That is a chunk at the
 * link's rate where the host's is lower, as from memory it is; a host that is faster from cache
 * shows there by so much less. Where no steps tell the chunk that is taken to be half of it. */
static double chunk_from_cache(const hl_measure_staged *self, double link_rate)
{
    const hl_measure_line *lines = self->lines;
    const double less_s = self->cache > 0 ? lines[2].at_s - lines[1].at_s : 0;
    const double noise_s = self->tolerance * lines[2].at_s + HL_MEASURE_ROUNDING_S;
    return less_s > 2 * noise_s ? fmin(2 * less_s, lines[2].at_s) * link_rate : 0;
}

/* A host that is faster than the link even from memory leaves the latency open: it is taken to be
 * that of pinned copies, where the first chunk's time has room for it. */
static double latency_without_chunk(const hl_measure_staged *self, const haul_copy_curve *pinned)
{
    const hl_measure_line *last = &self->lines[self->cache > 0 ? 2 : 1];
    const double link_rate = pinned->rate_Bps.value, alone_s = self->chunk / link_rate;
    const bool is_slow =
        1 / last->per_byte_s < link_rate && differ(self, 1 / last->per_byte_s, link_rate);
    const double latency_s = pinned->latency_s.value;
    if (!is_slow && latency_s < last->at_s && latency_s + alone_s >= last->at_s)
        return latency_s;
    return fmax(last->at_s - alone_s, 0);
}

static void take_without_threshold(hl_measure_staged *self, const haul_copy_curve *pinned,
                                   haul_copy_curve *curve)
{
    const double link_rate = pinned->rate_Bps.value;
    const bool has_steps = self->chunk > 0;
    if (!has_steps)
        self->chunk = chunk_from_cache(self, link_rate);
    const double latency_s = latency_without_chunk(self, pinned);
    curve->latency_s = found(latency_s, "haul measure, without the first chunk");
    curve->threshold_bytes = found(0, "haul measure: copies of all sizes are staged");
    take_chunk(self, has_steps, curve);
    take_rates(self, latency_s, link_rate, curve);
}

/* AMD's runtime: smaller copies go into a buffer and out of it one after the other. */
static void take_one_buffer(const hl_measure_staged *self, double link_rate, haul_copy_curve *curve)
{
    const double in_s = self->lines[0].per_byte_s - (link_rate > 0 ? 1 / link_rate : 0);
    if (in_s > 0)
        curve->memory_rate_Bps =
            found(1 / in_s, "haul measure, slope of the sweep without the link's");
}

/* The worst relative error of a model on the samples, with a machine of this curve. */
static haul_status judge_curve(const hl_measure_staged *self, const haul_copy_curve *curve,
                               double *worst, haul_error *error)
{
    haul_machine *machine;
    HAUL_TRY(hl_measure_staged_machine(self, curve, &machine, error));
    *worst = 0;
    for (size_t i = 0; i < self->count; i++) {
        haul_estimate estimate;
        if (haul_copy_time(machine, NULL, &self->samples[i].copy, &estimate, NULL))
            estimate.seconds = (double)INFINITY;
        const double seconds = self->samples[i].seconds;
        const double off_s = fabs(estimate.seconds - seconds) - HL_MEASURE_ROUNDING_S;
        *worst = fmax(*worst, off_s / seconds);
    }
    haul_machine_free(machine);
    return HAUL_OK;
}

/* A threshold below all sizes is none, and where a larger copy begins with no time of a chunk it is
 * the cache that ends: both without a threshold. */
static bool is_likely(const hl_measure_staged *self, reading as, const haul_copy_curve *curve,
                      double link_rate)
{
    const double noise_s = self->tolerance * hl_measure_line_at(self->lines[1], self->threshold) +
                           HL_MEASURE_ROUNDING_S;
    if ((as == PLAIN || as == FIRST_IS_CACHED) && self->first > 1)
        return curve->threshold_bytes.value >= (double)self->samples[1].copy.bytes;
    return as != CHUNKED || curve->chunk_bytes.value > 2 * noise_s * link_rate;
}

/* Whether copies up to the threshold go at the link's rate, as far as the clock's rounding and the
 * lines tell. */
static bool is_small_at_link(const hl_measure_staged *of, double link_rate)
{
    const double small_s = of->threshold * of->lines[0].per_byte_s;
    return fabs(small_s - of->threshold / link_rate) <=
           2 * (of->tolerance * small_s + HL_MEASURE_ROUNDING_S);
}

/* Other stagings that take as long for every size: a jump is the end of the cache or the threshold
 * where copies up to there go at the link's rate; what a first chunk takes of every copy is its
 * latency's, too. */
static void note_others(const hl_measure_staged *of, const haul_copy_curve *curve, reading as,
                        double link_rate)
{
    const char *names = NULL;
    if (as == CHUNKED && of->second == of->count && is_small_at_link(of, link_rate))
        names = "threshold and small_rate from cache and host_rate, nor chunk and memory_rate";
    else if (as == WITHOUT_THRESHOLD && of->chunk <= 0)
        names = curve->chunk_bytes.provenance ? "chunk and host_rate from latency"
                                              : "chunk from latency";
    if (names)
        hl_measure_note(of->session, "%s %s: no copy tells %s to within 1 %%",
                        haul_direction_text(of->way.direction), haul_memory_text(of->way.memory),
                        names);
}

/* Takes the staging as a curve where it gives back every copy that was measured. */
static haul_status try_curve(const hl_measure_staged *of, const haul_copy_curve *pinned, reading as,
                             haul_copy_curve *curve, bool *is_found, haul_error *error)
{
    hl_measure_staged self = *of;
    const double link_rate = pinned->rate_Bps.value;
    if (as == FIRST_IS_CACHED) {
        /* Where copies from cache go on at the rate of those below the threshold, the first line
         * reaches to the cache's end and the second is from memory. */
        self.lines[2] = self.lines[1];
        self.lines[1] = self.lines[0];
        self.cache = self.threshold;
        self.second = 0;
    }
    const haul_copy_curve before = *curve;
    double worst;
    curve->points_from = (haul_parameter){.provenance = HAUL_PROVENANCE_NOT_GIVEN};
    if (as == WITHOUT_THRESHOLD)
        take_without_threshold(&self, pinned, curve);
    else if (as == ONE_BUFFER)
        take_one_buffer(&self, link_rate, curve);
    else
        take_staged(&self, link_rate, as == CHUNKED, curve);
    const haul_status status = judge_curve(&self, curve, &worst, error);
    *is_found = !status && worst <= self.judged && is_likely(&self, as, curve, link_rate);
    if (*is_found) {
        note_others(of, curve, as, link_rate);
        return hl_measure_staged_note_hidden(&self, curve, error);
    }
    *curve = before;
    return status;
}

/* One attempt at a staging: by lines that copies may be so far off. */
static haul_status try_staging(hl_measure_staged *self, const haul_copy_curve *pinned,
                               haul_copy_curve *curve, bool *is_found, haul_error *error)
{
    *is_found = false;
    HAUL_TRY(hl_measure_staged_search(self, curve->latency_s.value, error));
    for (reading as = self->chunk > 0 ? CHUNKED : PLAIN; as < READINGS && self->first && !*is_found;
         as++)
        if (as != FIRST_IS_CACHED || (self->second == self->count && self->chunk <= 0))
            HAUL_TRY(try_curve(self, pinned, as, curve, is_found, error));
    if (*is_found || !(pinned->rate_Bps.value > 0))
        return HAUL_OK;
    HAUL_TRY(hl_measure_staged_search_whole(self, error));
    return self->second ? try_curve(self, pinned, WITHOUT_THRESHOLD, curve, is_found, error)
                        : HAUL_OK;
}

/* A CPU's copies go through no buffer, and those that a line describes are not staged. First by
 * lines as good as the medians are sure, then by lines that are 5 % off at most: a driver's copies
 * are no lines to the last percent. */
haul_status hl_measure_find_staging(hl_measure_session *session, hl_measure_way way,
                                    const hl_measure_swept *swept, haul_copy_curve *curve,
                                    haul_error *error)
{
    const double noise = fmax(5e-4, 3 * swept->tolerance / 100);
    const double tolerances[] = {EXACT, noise, 0.05};
    const bool is_exact = haul_device_describe(session->device)->is_simulated;
    static const haul_copy_curve none;
    const haul_copy_curve *own =
        hl_measure_copies_curve(session, (hl_measure_way){way.direction, HAUL_MEMORY_PINNED, NULL});
    bool is_found = false;
    haul_status status = HAUL_OK;
    if (haul_device_describe(session->device)->is_host || swept->count < 8 ||
        !curve->points_from.provenance)
        return HAUL_OK;
    hl_measure_staged *self = malloc(sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    for (size_t i = is_exact ? 0 : 1; i < 3 && !status && !is_found; i++) {
        *self = (hl_measure_staged){.session = session,
                                    .way = way,
                                    .count = swept->count,
                                    .tolerance = tolerances[i],
                                    .judged = 2 * fmax(tolerances[i], noise)};
        for (size_t k = 0; k < swept->count; k++)
            self->samples[k] = swept->samples[k];
        status = try_staging(self, own ? own : &none, curve, &is_found, error);
    }
    free(self);
    return status;
}
