/* What an exchange takes: the messages of the busiest process, under the rate of its node, and the
 * copies before and behind them. */
#include "haul/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "comm/exchange_parts.h"

enum { PROCESSES_MOST = 1 << 16, CHUNKS_MOST = 64 };

/* Measured by predicted time, from the 10th to the 90th percentile over all ways, sizes and numbers
 * of nodes of BenchPress's all-to-alls on Summit (docs/accuracy.md): messages of 6 to 192 GPUs meet
 * in the network, and the vendor's algorithm is not known. */
static const double usual_ends[][2] = {[HAUL_EXCHANGE_MESSAGES] = {1, 1},
                                       [HAUL_EXCHANGE_ALL] = {0.98, 2.56},
                                       [HAUL_EXCHANGE_ALL_V] = {0.56, 1.51}};

haul_load haul_predictor_chunk(const haul_load *whole, double chunks)
{
    haul_load of = *whole;
    if (whole->count >= chunks) {
        of.count = ceil(whole->count / chunks);
    } else if (whole->count > 0) {
        of.bytes = whole->bytes * whole->count / chunks;
        of.count = 1;
    }
    of.near_bytes /= chunks;
    of.far_bytes /= chunks;
    return of;
}

/* The messages of `chunks` such loads, one behind the other. */
static haul_time_span all_messages(const haul_predictor *self, const haul_load *chunk,
                                   double chunks)
{
    haul_load all = *chunk;
    const double factor = chunk->rounds > 1 ? 1 : chunks;
    all.count *= factor;
    all.near_count *= factor;
    all.far_count *= factor;
    all.rounds *= chunks / factor;
    return haul_predictor_messages(self, HAUL_HOST, &all, 1, true);
}

/* Kernels, copies and messages of `chunks` equal chunks, each stage one chunk at a time: the first
 * passes all stages, then the slowest stage decides. */
static haul_time_span chunked(const haul_predictor *self, const haul_gpu_share *share,
                              double chunks)
{
    const haul_load part = haul_predictor_chunk(&share->load, chunks);
    const haul_load of = haul_predictor_dealt(self, HAUL_HOST, &part, 1);
    const double kernel_s = self->exchange->kernel_s / chunks;
    const haul_time_span kernel = {kernel_s, kernel_s, kernel_s};
    const haul_time_span out = haul_predictor_copy(self, HAUL_DTOH, share->out_bytes / chunks);
    const haul_time_span in = haul_predictor_copy(self, HAUL_HTOD, share->in_bytes / chunks);
    const haul_time_span once = haul_predictor_messages(self, HAUL_HOST, &of, 1, true);
    const haul_time_span all = all_messages(self, &of, chunks);
    const haul_time_span slowest = haul_most(kernel, haul_most(out, in));
    self->out->copies_s = chunks * (out.likely + in.likely);
    self->out->messages_s = all.likely;
    return haul_plus(kernel,
                     haul_plus(haul_plus(out, in),
                               haul_most(all, haul_plus(once, haul_times(chunks - 1, slowest)))));
}

static haul_time_span best_chunked(const haul_predictor *self, const haul_gpu_share *share)
{
    haul_time_span best = chunked(self, share, 2);
    self->out->chunks = 2;
    for (uint32_t chunks = 3; chunks <= CHUNKS_MOST; chunks++) {
        const haul_time_span tried = chunked(self, share, chunks);
        if (tried.likely < best.likely) {
            best = tried;
            self->out->chunks = chunks;
        }
    }
    return chunked(self, share, self->out->chunks);
}

/* Processes start their copies one after another, and each sends as soon as its own is through: the
 * last copy and its messages, or the first copy and the node's, and behind either one process's
 * copy to the GPU. */
static haul_time_span duplicated(const haul_predictor *self, const haul_gpu_share *share,
                                 double split)
{
    const haul_copy_curve *curve = haul_predictor_shared(self, HAUL_DTOH);
    const double first_s = haul_predictor_copy(self, HAUL_DTOH, 0).likely;
    const double all_s = curve ? first_s + (split - 1) * curve->shared_latency_s.value +
                                     share->out_bytes / curve->shared_rate_Bps.value
                               : 0;
    const haul_time_span own = haul_predictor_copy(self, HAUL_DTOH, share->out_bytes / split);
    const haul_load of = haul_predictor_dealt(self, HAUL_HOST, &share->load, split);
    const haul_time_span alone = haul_predictor_messages(self, HAUL_HOST, &of, split, false);
    const haul_time_span sent = haul_predictor_messages(self, HAUL_HOST, &of, split, true);
    const haul_time_span back = haul_predictor_copy(self, HAUL_HTOD, share->in_bytes / split);
    self->out->processes = (uint32_t)split;
    self->out->copies_s = all_s + back.likely;
    self->out->messages_s = sent.likely;
    return haul_plus(
        haul_most(haul_plus((haul_time_span){all_s, all_s, all_s}, alone), haul_plus(own, sent)),
        back);
}

static haul_time_span predict_path(const haul_predictor *self, const haul_gpu_share *share)
{
    haul_path_time *out = self->out;
    haul_time_span copied = {0, 0, 0}, spread = {0, 0, 0};
    const double split = fmax(1, self->cores);
    const haul_memory memory = out->path == HAUL_PATH_DIRECT ? HAUL_DEVICE : HAUL_HOST;
    if (out->path == HAUL_PATH_CHUNKED)
        return best_chunked(self, share);
    if (out->path == HAUL_PATH_DUPLICATE_POINTER)
        return duplicated(self, share, split);
    if (out->path != HAUL_PATH_DIRECT)
        copied = haul_plus(haul_predictor_copy(self, HAUL_DTOH, share->out_bytes),
                           haul_predictor_copy(self, HAUL_HTOD, share->in_bytes));
    if (out->path == HAUL_PATH_EXTRA_MESSAGE) {
        /* the parts to the other cores leave one after another, each with its latency */
        spread = haul_times(
            2 * (split - 1),
            haul_predictor_spread(self, fmax(share->out_bytes, share->in_bytes) / split));
        out->processes = (uint32_t)split;
    }
    const haul_load of = haul_predictor_dealt(self, memory, &share->load, out->processes);
    const haul_time_span sent = haul_predictor_messages(self, memory, &of, out->processes, true);
    out->copies_s = copied.likely;
    out->spread_s = spread.likely;
    out->messages_s = sent.likely;
    return haul_plus(copied, haul_plus(spread, sent));
}

static int by_time(const void *a, const void *b)
{
    const haul_path_time *x = a, *y = b;
    if (!*x->missing != !*y->missing)
        return *x->missing ? 1 : -1;
    return *x->missing ? (int)x->path - (int)y->path
                       : (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The messages of the busiest GPU by a matrix of counts: as many as it has, of their mean size. */
static haul_load busiest(const haul_predictor *self, double *total)
{
    const haul_exchange *of = self->exchange;
    const size_t gpus = (size_t)self->gpus, ranks = gpus * of->nodes;
    haul_load found = {0};
    *total = 0;
    for (size_t i = 0; i < ranks; i++) {
        haul_load one = {0};
        double bytes = 0, far = 0, near = 0;
        for (size_t j = 0; j < ranks; j++) {
            const double count = (double)of->counts[i * ranks + j];
            bytes += count;
            if (count == 0 || i == j)
                continue;
            if (i / gpus != j / gpus) {
                one.count++;
                one.bytes += count;
            } else {
                one.far_count++;
                far += count;
            }
        }
        one.near_bytes = near;
        one.bytes = one.count > 0 ? one.bytes / one.count : 0;
        one.far_bytes = one.far_count > 0 ? far / one.far_count : 0;
        if (one.count * one.bytes + far >=
            found.count * found.bytes + found.far_count * found.far_bytes) {
            found = one;
            *total = bytes;
        }
    }
    return found;
}

static haul_status check(const haul_predictor *self, haul_error *error)
{
    const haul_exchange *of = self->exchange;
    const double ranks = self->gpus * of->nodes;
    const double count = of->kind == HAUL_EXCHANGE_MESSAGES ? of->messages : ranks;
    if (!(self->gpus >= 1) || self->gpus > PROCESSES_MOST || self->cores > PROCESSES_MOST)
        return haul_fail(error, HAUL_BAD_INPUT, "expected 1 to %d GPUs and cores of a node",
                         PROCESSES_MOST);
    if (of->kind != HAUL_EXCHANGE_MESSAGES && (!of->nodes || ranks < 2 || ranks > PROCESSES_MOST))
        return haul_fail(error, HAUL_BAD_INPUT, "expected 2 to %d GPUs in an all-to-all",
                         PROCESSES_MOST);
    if (!(of->kernel_s >= 0 && of->kernel_s <= 1e6))
        return haul_fail(error, HAUL_BAD_INPUT, "expected a kernel of 0 to 10^6 s");
    if (!(count >= 1))
        return haul_fail(error, HAUL_BAD_INPUT, "expected at least one message");
    if (!of->counts && (!of->bytes || (double)of->bytes * count > 0x1p53))
        return haul_fail(error, HAUL_BAD_INPUT, "expected messages of 1 byte to 2^53 in all");
    return HAUL_OK;
}

haul_status haul_predictor_init(haul_predictor *self, const haul_machine *machine,
                                const haul_exchange *exchange, haul_path_time *out,
                                haul_gpu_share *share, haul_error *error)
{
    const bool is_all = exchange->kind != HAUL_EXCHANGE_MESSAGES;
    const double sockets = fmax(1, machine->host.sockets.value);
    *self = (haul_predictor){
        .machine = machine, .exchange = exchange, .out = out, .gpus = exchange->gpus};
    if (!exchange->gpus)
        self->gpus = is_all ? fmax(1, machine->gpu.count.value) : 1;
    const double cores = exchange->cores ? exchange->cores : machine->host.cores.value;
    self->cores = floor(cores / fmax(self->gpus, machine->gpu.count.value));
    const double near = fmax(1, floor(self->gpus / sockets));
    self->near = near - 1;
    self->far = self->gpus - near;
    self->others = is_all ? self->gpus * ((double)exchange->nodes - 1) : 0;
    const haul_status status = check(self, error);
    if (status)
        return status;
    const double bytes = (double)exchange->bytes;
    *share = (haul_gpu_share){.load = {.count = exchange->messages, .bytes = bytes}};
    share->in_bytes = share->load.count * bytes;
    if (exchange->counts) {
        share->load = busiest(self, &share->in_bytes);
    } else if (is_all) {
        share->load =
            (haul_load){self->others, bytes, self->near, bytes, self->far, bytes, .rounds = 1};
        share->in_bytes = (self->others + self->gpus) * bytes;
    }
    share->out_bytes = exchange->unique_bytes && !is_all
                           ? fmin(share->in_bytes, (double)exchange->unique_bytes)
                           : share->in_bytes;
    return HAUL_OK;
}

haul_status haul_exchange_predict(const haul_machine *machine, const haul_exchange *exchange,
                                  haul_path_time times_of[HAUL_PATHS], haul_error *error)
{
    haul_predictor self;
    haul_gpu_share share;
    const haul_status status =
        haul_predictor_init(&self, machine, exchange, times_of, &share, error);
    if (status)
        return status;
    for (int p = 0; p < HAUL_PATHS; p++) {
        haul_path_time *out = self.out = &times_of[p];
        *out = (haul_path_time){
            .path = (haul_path)p, .processes = 1, .chunks = 1, .timeline_s = (double)NAN};
        haul_time_span time = predict_path(&self, &share);
        if (p != HAUL_PATH_CHUNKED)
            time = haul_plus(
                time, (haul_time_span){exchange->kernel_s, exchange->kernel_s, exchange->kernel_s});
        const bool is_known = !*out->missing;
        out->seconds = is_known ? time.likely : (double)NAN;
        out->low_s = is_known ? time.low * usual_ends[exchange->kind][0] : (double)NAN;
        out->high_s = is_known ? time.high * usual_ends[exchange->kind][1] : (double)NAN;
    }
    qsort(times_of, HAUL_PATHS, sizeof *times_of, by_time);
    const char *missing = times_of[0].missing;
    if (!*missing)
        return HAUL_OK;
    return haul_fail(error, HAUL_MISSING, "machine '%s' lacks %s%s", machine->name, missing,
                     strncmp(missing, "messages", 8)
                         ? ""
                         : ": 'haul comm fit' makes them from what "
                           "'haul-mpi measure' or a benchmark measured");
}

const char *haul_path_text(haul_path path)
{
    static const char *const texts[] = {HAUL_PATH_LIST(HAUL_ROW_TEXT)};
    return texts[path];
}
