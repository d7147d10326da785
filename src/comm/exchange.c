/* What an exchange takes: the messages of the busiest process, under the rate of its node, and the
 * copies before and behind them. */
#include "haul/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "comm/message_cost.h"
#include "haul/cost.h"

enum { PROCESSES_MOST = 1 << 16, CHUNKS_MOST = 64 };

/* Errors are distributed as Laplace's: the 90th percentile is ln 10 / ln 2 times the median. */
static const double tail = 3.32;

/* Measured by predicted time, from the 10th to the 90th percentile over all ways, sizes and numbers
 * of nodes of BenchPress's all-to-alls on Summit (docs/accuracy.md): messages of 6 to 192 GPUs meet
 * in the network, and the vendor's algorithm is not known. */
static const double usual_ends[][2] = {[HAUL_EXCHANGE_MESSAGES] = {1, 1},
                                       [HAUL_EXCHANGE_ALL] = {0.98, 2.56},
                                       [HAUL_EXCHANGE_ALL_V] = {0.56, 1.51}};

typedef struct predictor {
    const haul_machine *machine;
    const haul_exchange *exchange;
    double gpus;   /* of a node */
    double cores;  /* of a GPU */
    double near;   /* GPUs of the same socket, without the own */
    double far;    /* GPUs of other sockets of the node */
    double others; /* GPUs of other nodes */
    haul_path_time *out;
} predictor;

/* A sum of times with its interval. */
typedef struct span {
    double likely, low, high;
} span;

static span plus(span a, span b)
{
    return (span){a.likely + b.likely, a.low + b.low, a.high + b.high};
}

static span most(span a, span b)
{
    return (span){fmax(a.likely, b.likely), fmax(a.low, b.low), fmax(a.high, b.high)};
}

static span times(double factor, span a)
{
    return (span){factor * a.likely, factor * a.low, factor * a.high};
}

static void lack(const predictor *self, const char *what, haul_memory memory, haul_reach reach)
{
    static const char *const reaches[] = {"socket", "node", "network"};
    if (!*self->out->missing)
        (void)snprintf(self->out->missing, sizeof self->out->missing, "messages[%s %s]%s",
                       haul_memory_text(memory), reaches[reach], what);
}

static void rest_on(const predictor *self, haul_provenance provenance)
{
    self->out->weakest = haul_provenance_weaker(self->out->weakest, provenance);
}

/* The protocol of a size; NULL, noted as missing, where there is none. */
static const haul_message_protocol *protocol_of(const predictor *self, haul_memory memory,
                                                haul_reach reach, double bytes)
{
    double measured;
    const haul_message_protocol *found =
        haul_message_protocol_of(self->machine, memory, reach, bytes, &measured);
    if (!found) {
        lack(self, "", memory, reach);
        return NULL;
    }
    rest_on(self, found->latency_s.provenance);
    if (bytes - measured > self->out->largest_bytes - self->out->measured_bytes) {
        self->out->largest_bytes = bytes;
        self->out->measured_bytes = measured > 0 ? measured : bytes;
    }
    return found;
}

/* `count` messages of `bytes` from one process, one after another: alpha + beta n of the first, gap
 * + beta n of each that follows. */
static span serial(const predictor *self, haul_memory memory, haul_reach reach, double count,
                   double bytes)
{
    const haul_message_protocol *protocol =
        count > 0 ? protocol_of(self, memory, reach, bytes) : NULL;
    if (!protocol)
        return (span){0, 0, 0};
    const double each = protocol->rate_Bps.value > 0 ? bytes / protocol->rate_Bps.value : 0;
    const double time =
        protocol->latency_s.value + each +
        fmax(count - 1, 0) * (haul_message_gap(self->machine, protocol, bytes) + each);
    const double error = tail * protocol->error.value;
    return (span){time, time * (1 - fmin(error, 0.5)), time * (1 + error)};
}

/* What one GPU's data make its processes send. */
typedef struct load {
    double count, bytes;           /* messages to other nodes, and of one */
    double near_count, near_bytes; /* within the socket */
    double far_count, far_bytes;   /* within the node */
} load;

/* The messages of a process while `processes` of its node send alike; without `is_limited` as if
 * alone. Eq. 2: the node's share is ppn n / R_N behind one latency. */
static span send(const predictor *self, haul_memory memory, const load *of, double processes,
                 bool is_limited)
{
    span out = serial(self, memory, HAUL_BETWEEN_NODES, of->count, of->bytes);
    const double rate = haul_injection_rate(self->machine, memory, processes);
    if (of->count > 0 && is_limited && isfinite(rate)) {
        const haul_message_protocol *protocol =
            protocol_of(self, memory, HAUL_BETWEEN_NODES, of->bytes);
        const double latency_s = protocol ? protocol->latency_s.value : 0;
        const double node_s = latency_s + processes * of->count * of->bytes / rate;
        const double error = protocol ? tail * protocol->error.value : 0;
        out = most(out, (span){node_s, node_s * (1 - fmin(error, 0.5)), node_s * (1 + error)});
    }
    out = plus(out, serial(self, memory, HAUL_ON_SOCKET, of->near_count, of->near_bytes));
    return plus(out, serial(self, memory, HAUL_ON_NODE, of->far_count, of->far_bytes));
}

/* MPI_Alltoall for small messages: log2 P rounds of P/2 blocks (Bruck et al., 1997). In a GPU's
 * memory the blocks are rotated before and behind, by copies that cost a call each. */
static span bruck(const predictor *self, haul_memory memory, double bytes, double processes,
                  bool is_limited)
{
    const double ranks = self->others + self->gpus;
    const double block = bytes * ranks / 2;
    const load round = {.count = 1, .bytes = block};
    span all = times(ceil(log2(ranks)), send(self, memory, &round, processes, is_limited));
    if (memory == HAUL_DEVICE) {
        const haul_copy_curve *call =
            haul_machine_curve(self->machine, HAUL_HTOD, HAUL_PINNED, HAUL_NEAR);
        const haul_copy_curve *inside =
            haul_machine_curve(self->machine, HAUL_DTOD, HAUL_DEVICE, HAUL_NEAR);
        double copy_s = call ? call->call_latency_s.value : 0;
        if (inside && inside->rate_Bps.value > 0)
            copy_s += inside->latency_s.value + 2 * block / inside->rate_Bps.value;
        all = plus(all, (span){2 * copy_s, 2 * copy_s, 2 * copy_s});
    }
    return all;
}

/* The exchange's messages by each of `split` processes of a GPU. Point-to-point messages are dealt
 * out whole where there are enough, else cut; those of MPI_Alltoall are all cut, for each process
 * exchanges its share with all (section VI). */
static span messages(const predictor *self, haul_memory memory, const load *whole, double split,
                     bool is_limited)
{
    const double processes = self->gpus * split;
    load of = *whole;
    if (self->exchange->kind == HAUL_EXCHANGE_ALL) {
        of.bytes /= split;
        of.near_bytes /= split;
        of.far_bytes /= split;
        const span linear = send(self, memory, &of, processes, is_limited);
        const span rounds = bruck(self, memory, of.bytes, processes, is_limited);
        return rounds.likely < linear.likely ? rounds : linear;
    }
    const double dealt = ceil(whole->count / split);
    if (whole->count > 0 && split > 1) {
        of.bytes *= fmin(1, whole->count / split / dealt);
        of.count = dealt;
    }
    of.near_count = ceil(whole->near_count / split);
    of.far_count = ceil(whole->far_count / split);
    return send(self, memory, &of, processes, is_limited);
}

/* A copy of one process as the host sees it. */
static span copy(const predictor *self, haul_direction direction, double bytes)
{
    const haul_copy of = {.direction = direction, .memory = HAUL_PINNED, .bytes = (uint64_t)bytes};
    const haul_copy_curve *curve =
        haul_machine_curve(self->machine, direction, HAUL_PINNED, HAUL_NEAR);
    haul_estimate estimate;
    haul_error error;
    const haul_copy_model *model = haul_copy_model_at(0); /* auto */
    if (!model || model->time(self->machine, &of, &estimate, &error)) {
        if (!*self->out->missing)
            (void)snprintf(self->out->missing, sizeof self->out->missing, "copies[%s pinned]",
                           haul_direction_text(direction));
        return (span){0, 0, 0};
    }
    rest_on(self, estimate.weakest);
    /* without the call's share the device's time alone stands for the host's */
    const double call_s = curve ? curve->call_latency_s.value : 0;
    rest_on(self, curve && call_s > 0 ? curve->call_latency_s.provenance : HAUL_ASSUMED);
    return (span){estimate.seconds + call_s, estimate.low_s + call_s, estimate.high_s + call_s};
}

/* A copy by `processes` of one GPU at once, until the last of them is through. */
static span shared_copy(const predictor *self, haul_direction direction, double bytes,
                        double processes)
{
    const haul_copy_curve *curve =
        haul_machine_curve(self->machine, direction, HAUL_PINNED, HAUL_NEAR);
    if (!curve || !curve->shared_rate_Bps.provenance) {
        if (!*self->out->missing)
            (void)snprintf(self->out->missing, sizeof self->out->missing,
                           "copies[%s pinned].shared_rate", haul_direction_text(direction));
        return (span){0, 0, 0};
    }
    rest_on(self, curve->shared_rate_Bps.provenance);
    const double first_s = copy(self, direction, 0).likely;
    const double time = first_s + (processes - 1) * curve->shared_latency_s.value +
                        bytes / curve->shared_rate_Bps.value;
    return (span){time, time, time};
}

/* Copies and messages of `chunks` equal chunks, each stage one chunk at a time: the first passes
 * all stages, then the slowest stage decides. */
static span chunked(const predictor *self, const load *whole, double out_bytes, double in_bytes,
                    double chunks)
{
    load of = *whole;
    if (whole->count >= chunks) {
        of.count = ceil(whole->count / chunks);
    } else if (whole->count > 0) {
        of.bytes = whole->bytes * whole->count / chunks;
        of.count = 1;
    }
    of.near_bytes /= chunks;
    of.far_bytes /= chunks;
    const span out = copy(self, HAUL_DTOH, out_bytes / chunks);
    const span middle = messages(self, HAUL_HOST, &of, 1, true);
    const span in = copy(self, HAUL_HTOD, in_bytes / chunks);
    self->out->copies_s = chunks * (out.likely + in.likely);
    self->out->messages_s = chunks * middle.likely;
    return plus(plus(out, plus(middle, in)), times(chunks - 1, most(out, most(middle, in))));
}

static span predict_path(const predictor *self, const load *whole, double out_bytes,
                         double in_bytes)
{
    haul_path_time *out = self->out;
    span sent, copied = {0, 0, 0}, spread = {0, 0, 0}, best;
    const double split = fmax(1, self->cores);
    switch (out->path) {
    case HAUL_PATH_DIRECT:
        sent = messages(self, HAUL_DEVICE, whole, 1, true);
        break;
    case HAUL_PATH_CHUNKED:
        best = chunked(self, whole, out_bytes, in_bytes, 2);
        out->chunks = 2;
        for (uint32_t chunks = 3; chunks <= CHUNKS_MOST; chunks++) {
            const span tried = chunked(self, whole, out_bytes, in_bytes, chunks);
            if (tried.likely < best.likely) {
                best = tried;
                out->chunks = chunks;
            }
        }
        return chunked(self, whole, out_bytes, in_bytes, out->chunks);
    case HAUL_PATH_DUPLICATE_POINTER: {
        /* processes start their copies one after another, and each sends as soon as its own is
         * through: the last copy and its messages, or the first copy and the node's, and behind
         * either one process's copy to the GPU */
        const span all = shared_copy(self, HAUL_DTOH, out_bytes, split);
        const span own = copy(self, HAUL_DTOH, out_bytes / split);
        const span alone = messages(self, HAUL_HOST, whole, split, false);
        sent = messages(self, HAUL_HOST, whole, split, true);
        const span back = copy(self, HAUL_HTOD, in_bytes / split);
        out->processes = (uint32_t)split;
        out->copies_s = all.likely + back.likely;
        out->messages_s = sent.likely;
        return plus(most(plus(all, alone), plus(own, sent)), back);
    }
    default:
        copied = plus(copy(self, HAUL_DTOH, out_bytes), copy(self, HAUL_HTOD, in_bytes));
        if (out->path == HAUL_PATH_EXTRA_MESSAGE) {
            /* the parts to the other cores leave one after another, each with its latency */
            const span part =
                serial(self, HAUL_HOST, HAUL_ON_SOCKET, 1, fmax(out_bytes, in_bytes) / split);
            spread = times(2 * (split - 1), part);
            out->processes = (uint32_t)split;
        }
        sent = messages(self, HAUL_HOST, whole, out->processes, true);
    }
    out->copies_s = copied.likely;
    out->spread_s = spread.likely;
    out->messages_s = sent.likely;
    return plus(copied, plus(spread, sent));
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
static load busiest(const predictor *self, double *total)
{
    const haul_exchange *of = self->exchange;
    const size_t gpus = (size_t)self->gpus, ranks = gpus * of->nodes;
    load found = {0};
    *total = 0;
    for (size_t i = 0; i < ranks; i++) {
        load one = {0};
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

static haul_status check(const predictor *self, haul_error *error)
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
    if (!(count >= 1))
        return haul_fail(error, HAUL_BAD_INPUT, "expected at least one message");
    if (!of->counts && (!of->bytes || (double)of->bytes * count > 0x1p53))
        return haul_fail(error, HAUL_BAD_INPUT, "expected messages of 1 byte to 2^53 in all");
    return HAUL_OK;
}

haul_status haul_exchange_predict(const haul_machine *machine, const haul_exchange *exchange,
                                  haul_path_time times_of[HAUL_PATHS], haul_error *error)
{
    const bool is_all = exchange->kind != HAUL_EXCHANGE_MESSAGES;
    const double sockets = fmax(1, machine->host.sockets.value);
    predictor self = {.machine = machine, .exchange = exchange, .gpus = exchange->gpus};
    if (!exchange->gpus)
        self.gpus = is_all ? fmax(1, machine->gpu.count.value) : 1;
    const double cores = exchange->cores ? exchange->cores : machine->host.cores.value;
    self.cores = floor(cores / fmax(self.gpus, machine->gpu.count.value));
    const double near = fmax(1, floor(self.gpus / sockets));
    self.near = near - 1;
    self.far = self.gpus - near;
    self.others = is_all ? self.gpus * ((double)exchange->nodes - 1) : 0;
    const haul_status status = check(&self, error);
    if (status)
        return status;
    const double bytes = (double)exchange->bytes;
    load whole = {.count = exchange->messages, .bytes = bytes};
    double in_bytes = whole.count * bytes;
    if (exchange->counts) {
        whole = busiest(&self, &in_bytes);
    } else if (is_all) {
        whole = (load){self.others, bytes, self.near, bytes, self.far, bytes};
        in_bytes = (self.others + self.gpus) * bytes;
    }
    const double out_bytes = exchange->unique_bytes && !is_all
                                 ? fmin(in_bytes, (double)exchange->unique_bytes)
                                 : in_bytes;
    for (int p = 0; p < HAUL_PATHS; p++) {
        haul_path_time *out = self.out = &times_of[p];
        *out = (haul_path_time){.path = (haul_path)p, .processes = 1, .chunks = 1};
        const span time = predict_path(&self, &whole, out_bytes, in_bytes);
        const bool is_known = !*out->missing;
        out->seconds = is_known ? time.likely : (double)NAN;
        out->low_s = is_known ? time.low * usual_ends[exchange->kind][0] : (double)NAN;
        out->high_s = is_known ? time.high * usual_ends[exchange->kind][1] : (double)NAN;
    }
    qsort(times_of, HAUL_PATHS, sizeof *times_of, by_time);
    return *times_of[0].missing ? haul_fail(error, HAUL_MISSING, "machine '%s' lacks %s",
                                            machine->name, times_of[0].missing)
                                : HAUL_OK;
}

const char *haul_path_text(haul_path path)
{
    static const char *const texts[] = {
#define PATH_TEXT(name, text) text,
        HAUL_PATH_LIST(PATH_TEXT)
#undef PATH_TEXT
    };
    return texts[path];
}
