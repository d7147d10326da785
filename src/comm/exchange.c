/* The time of an exchange: the messages of the busiest process, under the rate of its node, and the
 * copies before and behind them. */
#include "haul/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "comm/exchange_parts.h"
#include "comm/host_exchange.h"
#include "comm/message_cost.h"

enum { PROCESSES_MOST = 1 << 16, CHUNKS_MOST = 64 };

/* Measured by predicted time of all-to-alls: the 5th and 95th percentile over sizes and numbers of
 * nodes of BenchPress's on Summit (docs/accuracy/messages.md), and half as much again on either
 * side, for another machine's network and MPI. GPUDirect is the MPI's own algorithm, which is not
 * known. Ways that were not measured take those of 3-step, whose messages are like theirs. */
static const double usual_ends[2][HAUL_WAYS][2] = {
    {[HAUL_WAY_DIRECT] = {0.65 / 1.5, 2.49 * 1.5},
     [HAUL_WAY_THREE_STEP] = {1.1 / 1.5, 2.76 * 1.5},
     [HAUL_WAY_EXTRA_MESSAGE] = {1.31 / 1.5, 3.05 * 1.5},
     [HAUL_WAY_DUPLICATE_POINTER] = {1.48 / 1.5, 2.56 * 1.5}},
    {[HAUL_WAY_DIRECT] = {0.26 / 1.5, 1.18 * 1.5},
     [HAUL_WAY_THREE_STEP] = {0.88 / 1.5, 1.53 * 1.5},
     [HAUL_WAY_EXTRA_MESSAGE] = {0.81 / 1.5, 1.41 * 1.5},
     [HAUL_WAY_DUPLICATE_POINTER] = {0.81 / 1.5, 1.31 * 1.5}},
};

static double usual_end(haul_exchange_kind kind, haul_way way, int which)
{
    if (kind == HAUL_EXCHANGE_MESSAGES)
        return 1;
    const double(*ends)[2] = usual_ends[kind == HAUL_EXCHANGE_ALL_V];
    return ends[way][1] > 0 ? ends[way][which] : ends[HAUL_WAY_THREE_STEP][which];
}

hl_comm_load hl_comm_predictor_chunk(const hl_comm_load *whole, double chunks)
{
    hl_comm_load of = *whole;
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
static hl_comm_time_span all_messages(const hl_comm_predictor *self, const hl_comm_load *chunk,
                                      double chunks)
{
    hl_comm_load all = *chunk;
    const double factor = chunk->rounds > 1 ? 1 : chunks;
    all.count *= factor;
    all.near_count *= factor;
    all.far_count *= factor;
    all.rounds *= chunks / factor;
    return hl_comm_predictor_messages(self, HAUL_MEMORY_HOST, &all, 1, true);
}

/* Kernels, copies and messages of `chunks` equal chunks, each stage one chunk at a time: the first
 * passes all stages, then the slowest stage decides. */
static hl_comm_time_span chunked(const hl_comm_predictor *self, const hl_comm_gpu_share *share,
                                 double chunks)
{
    const hl_comm_load part = hl_comm_predictor_chunk(&share->load, chunks);
    const hl_comm_load of = hl_comm_predictor_dealt(self, HAUL_MEMORY_HOST, &part, 1);
    const double kernel_s = self->exchange->kernel_s / chunks;
    const hl_comm_time_span kernel = {kernel_s, kernel_s, kernel_s};
    const hl_comm_time_span out =
        hl_comm_predictor_copy(self, HAUL_DIRECTION_DTOH, share->out_bytes / chunks);
    const hl_comm_time_span in =
        hl_comm_predictor_copy(self, HAUL_DIRECTION_HTOD, share->in_bytes / chunks);
    const hl_comm_time_span once = hl_comm_predictor_messages(self, HAUL_MEMORY_HOST, &of, 1, true);
    const hl_comm_time_span all = all_messages(self, &of, chunks);
    const hl_comm_time_span slowest = hl_comm_most(kernel, hl_comm_most(out, in));
    self->out->copies_s = chunks * (out.likely + in.likely);
    self->out->messages_s = all.likely;
    return hl_comm_plus(
        kernel,
        hl_comm_plus(hl_comm_plus(out, in),
                     hl_comm_most(all, hl_comm_plus(once, hl_comm_times(chunks - 1, slowest)))));
}

static hl_comm_time_span best_chunked(const hl_comm_predictor *self, const hl_comm_gpu_share *share)
{
    hl_comm_time_span best = chunked(self, share, 2);
    self->out->chunks = 2;
    for (uint32_t chunks = 3; chunks <= CHUNKS_MOST; chunks++) {
        const hl_comm_time_span tried = chunked(self, share, chunks);
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
static hl_comm_time_span duplicated(const hl_comm_predictor *self, const hl_comm_gpu_share *share,
                                    double split)
{
    const haul_copy_curve *curve = hl_comm_predictor_shared(self, HAUL_DIRECTION_DTOH);
    const double first_s = hl_comm_predictor_copy(self, HAUL_DIRECTION_DTOH, 0).likely;
    const double all_s = curve ? first_s + (split - 1) * curve->shared_latency_s.value +
                                     share->out_bytes / curve->shared_rate_Bps.value
                               : 0;
    const hl_comm_time_span own =
        hl_comm_predictor_copy(self, HAUL_DIRECTION_DTOH, share->out_bytes / split);
    const hl_comm_load of = hl_comm_predictor_dealt(self, HAUL_MEMORY_HOST, &share->load, split);
    const hl_comm_time_span alone =
        hl_comm_predictor_messages(self, HAUL_MEMORY_HOST, &of, split, false);
    const hl_comm_time_span sent =
        hl_comm_predictor_messages(self, HAUL_MEMORY_HOST, &of, split, true);
    const hl_comm_time_span back =
        hl_comm_predictor_copy(self, HAUL_DIRECTION_HTOD, share->in_bytes / split);
    self->out->processes = (uint32_t)split;
    self->out->copies_s = all_s + back.likely;
    self->out->messages_s = sent.likely;
    return hl_comm_plus(hl_comm_most(hl_comm_plus((hl_comm_time_span){all_s, all_s, all_s}, alone),
                                     hl_comm_plus(own, sent)),
                        back);
}

/* The host's messages of a way that the MPI library has of its own. */
static hl_comm_time_span host_messages(const hl_comm_predictor *self, const hl_comm_load *load)
{
    const double within = load->near_count + load->far_count;
    const double bytes = load->count * load->bytes + load->near_count * load->near_bytes +
                         load->far_count * load->far_bytes;
    hl_comm_host_exchange host = {.machine = self->machine,
                                  .owners = (int)(self->gpus * self->exchange->nodes),
                                  .most = (int)self->gpus,
                                  .nodes = (int)self->exchange->nodes,
                                  .far_count = load->count,
                                  .near_count = within,
                                  .bytes = bytes > 0 ? bytes / (load->count + within) : 0};
    if (!hl_comm_predictor_protocol(self, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES, host.bytes))
        return (hl_comm_time_span){0, 0, 0};
    const double time = self->out->way == HAUL_WAY_BRUCK ? hl_comm_host_bruck(&host)
                                                         : hl_comm_host_aggregated(&host);
    const double tail = HL_COMM_MESSAGE_TAIL * host.error;
    return (hl_comm_time_span){time, time * (1 - fmin(tail, 0.5)), time * (1 + tail)};
}

static bool is_possible(const hl_comm_predictor *self, haul_way way)
{
    const haul_exchange *of = self->exchange;
    if (way == HAUL_WAY_BRUCK)
        return of->kind == HAUL_EXCHANGE_ALL;
    if (way == HAUL_WAY_AGGREGATED)
        return of->kind != HAUL_EXCHANGE_MESSAGES && of->nodes > 1 && self->gpus > 1;
    return true;
}

static hl_comm_time_span predict_way(const hl_comm_predictor *self, const hl_comm_gpu_share *share)
{
    haul_way_time *out = self->out;
    hl_comm_time_span copied = {0, 0, 0}, spread = {0, 0, 0};
    const double split = fmax(1, self->cores);
    const haul_memory memory = out->way == HAUL_WAY_DIRECT ? HAUL_MEMORY_DEVICE : HAUL_MEMORY_HOST;
    if (out->way == HAUL_WAY_CHUNKED)
        return best_chunked(self, share);
    if (out->way == HAUL_WAY_DUPLICATE_POINTER)
        return duplicated(self, share, split);
    if (out->way != HAUL_WAY_DIRECT)
        copied = hl_comm_plus(hl_comm_predictor_copy(self, HAUL_DIRECTION_DTOH, share->out_bytes),
                              hl_comm_predictor_copy(self, HAUL_DIRECTION_HTOD, share->in_bytes));
    if (out->way == HAUL_WAY_AGGREGATED || out->way == HAUL_WAY_BRUCK) {
        const hl_comm_time_span sent = host_messages(self, &share->load);
        out->copies_s = copied.likely;
        out->messages_s = sent.likely;
        return hl_comm_plus(copied, sent);
    }
    if (out->way == HAUL_WAY_EXTRA_MESSAGE) {
        /* the parts to the other cores leave one after another, each with its latency */
        spread = hl_comm_times(
            2 * (split - 1),
            hl_comm_predictor_spread(self, fmax(share->out_bytes, share->in_bytes) / split));
        out->processes = (uint32_t)split;
    }
    const hl_comm_load of = hl_comm_predictor_dealt(self, memory, &share->load, out->processes);
    const hl_comm_time_span sent =
        hl_comm_predictor_messages(self, memory, &of, out->processes, true);
    out->copies_s = copied.likely;
    out->spread_s = spread.likely;
    out->messages_s = sent.likely;
    return hl_comm_plus(copied, hl_comm_plus(spread, sent));
}

static int by_time(const void *a, const void *b)
{
    const haul_way_time *x = a, *y = b;
    if (x->is_impossible != y->is_impossible)
        return x->is_impossible ? 1 : -1;
    if (!*x->missing != !*y->missing)
        return *x->missing ? 1 : -1;
    return *x->missing ? (int)x->way - (int)y->way : hl_base_compare_reals(x->seconds, y->seconds);
}

/* Adds a message of one size among others of one place. */
static void add_message(double bytes, double *count, double *total)
{
    *count += 1;
    *total += bytes;
}

/* GPUs are spread evenly over the sockets; the last one has those that are left over. */
static double socket_of(const hl_comm_predictor *self, size_t gpu)
{
    const double sockets = fmax(1, self->machine->host.sockets.value);
    return fmin(floor((double)gpu / (self->near + 1)), sockets - 1);
}

/* The messages of one GPU by a matrix of counts: as many as it has, of their mean size. */
static hl_comm_load load_of_row(const hl_comm_predictor *self, size_t from, double *total)
{
    const haul_exchange *of = self->exchange;
    const size_t gpus = (size_t)self->gpus, ranks = gpus * of->nodes;
    double outside = 0, near = 0, far = 0;
    hl_comm_load one = {.rounds = 1};
    *total = 0;
    for (size_t to = 0; to < ranks; to++) {
        const double bytes = (double)of->counts[from * ranks + to];
        *total += bytes;
        if (bytes == 0 || from == to)
            continue;
        if (from / gpus != to / gpus)
            add_message(bytes, &one.count, &outside);
        else if (socket_of(self, from % gpus) == socket_of(self, to % gpus))
            add_message(bytes, &one.near_count, &near);
        else
            add_message(bytes, &one.far_count, &far);
    }
    one.bytes = one.count > 0 ? outside / one.count : 0;
    one.near_bytes = one.near_count > 0 ? near / one.near_count : 0;
    one.far_bytes = one.far_count > 0 ? far / one.far_count : 0;
    return one;
}

/* The GPU that sends most to others. */
static hl_comm_load busiest(const hl_comm_predictor *self, double *total)
{
    const size_t ranks = (size_t)self->gpus * self->exchange->nodes;
    hl_comm_load found = {0};
    double most = -1;
    *total = 0;
    for (size_t from = 0; from < ranks; from++) {
        double bytes;
        const hl_comm_load one = load_of_row(self, from, &bytes);
        const double sent =
            one.count * one.bytes + one.near_count * one.near_bytes + one.far_count * one.far_bytes;
        if (sent > most) {
            found = one;
            most = sent;
            *total = bytes;
        }
    }
    return found;
}

static haul_status check_exchange(const hl_comm_predictor *self, haul_error *error)
{
    const haul_exchange *of = self->exchange;
    const double ranks = self->gpus * of->nodes;
    const double count = of->kind == HAUL_EXCHANGE_MESSAGES ? of->messages : ranks;
    if (!(self->gpus >= 1) || self->gpus > PROCESSES_MOST || self->cores > PROCESSES_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected 1 to %d GPUs and cores of a node", PROCESSES_MOST);
    if (of->kind != HAUL_EXCHANGE_MESSAGES && (!of->nodes || ranks < 2 || ranks > PROCESSES_MOST))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected 2 to %d GPUs in an all-to-all", PROCESSES_MOST);
    if (!(of->kernel_s >= 0 && of->kernel_s <= 1e6))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected a kernel of 0 to 10^6 s");
    if (!(count >= 1))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected at least one message");
    if (!of->counts && (!of->bytes || (double)of->bytes * count > 0x1p53))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected messages of 1 byte to 2^53 in all");
    return HAUL_OK;
}

haul_status hl_comm_predictor_init(hl_comm_predictor *self, const haul_machine *machine,
                                   const haul_exchange *exchange, haul_way_time *out,
                                   hl_comm_gpu_share *share, haul_error *error)
{
    const bool is_all = exchange->kind != HAUL_EXCHANGE_MESSAGES;
    const double sockets = fmax(1, machine->host.sockets.value);
    *self = (hl_comm_predictor){
        .machine = machine, .exchange = exchange, .out = out, .gpus = exchange->gpus};
    if (!exchange->gpus)
        self->gpus = is_all ? fmax(1, machine->gpu.count.value) : 1;
    const double cores = exchange->cores ? exchange->cores : machine->host.cores.value;
    self->cores = floor(cores / fmax(self->gpus, machine->gpu.count.value));
    const double near = fmax(1, floor(self->gpus / sockets));
    self->near = near - 1;
    self->far = self->gpus - near;
    self->others = is_all ? self->gpus * ((double)exchange->nodes - 1) : 0;
    HAUL_TRY(check_exchange(self, error));
    const double bytes = (double)exchange->bytes;
    *share = (hl_comm_gpu_share){.load = {.count = exchange->messages, .bytes = bytes}};
    share->in_bytes = share->load.count * bytes;
    if (exchange->counts) {
        share->load = busiest(self, &share->in_bytes);
    } else if (is_all) {
        share->load =
            (hl_comm_load){self->others, bytes, self->near, bytes, self->far, bytes, .rounds = 1};
        share->in_bytes = (self->others + self->gpus) * bytes;
    }
    if (exchange->kind == HAUL_EXCHANGE_ALL_V)
        self->reached = share->load.count / self->gpus;
    share->out_bytes = exchange->unique_bytes && !is_all
                           ? fmin(share->in_bytes, (double)exchange->unique_bytes)
                           : share->in_bytes;
    return HAUL_OK;
}

haul_status haul_exchange_predict(const haul_machine *machine, const haul_exchange *exchange,
                                  haul_way_time times_of[HAUL_WAYS_PREDICTED], haul_error *error)
{
    hl_comm_predictor self;
    hl_comm_gpu_share share;
    HAUL_TRY(hl_comm_predictor_init(&self, machine, exchange, times_of, &share, error));
    for (int way = HAUL_WAY_DIRECT; way < HAUL_WAYS; way++) {
        haul_way_time *out = self.out = &times_of[way - HAUL_WAY_DIRECT];
        *out = (haul_way_time){
            .way = (haul_way)way, .processes = 1, .chunks = 1, .timeline_s = (double)NAN};
        out->is_impossible = !is_possible(&self, out->way);
        hl_comm_time_span time = {0, 0, 0};
        if (!out->is_impossible)
            time = predict_way(&self, &share);
        if (way != HAUL_WAY_CHUNKED)
            time = hl_comm_plus(time, (hl_comm_time_span){exchange->kernel_s, exchange->kernel_s,
                                                          exchange->kernel_s});
        const bool is_known = !*out->missing && !out->is_impossible;
        out->seconds = is_known ? time.likely : (double)NAN;
        out->low_s = is_known ? time.low * usual_end(exchange->kind, out->way, 0) : (double)NAN;
        out->high_s = is_known ? time.high * usual_end(exchange->kind, out->way, 1) : (double)NAN;
    }
    qsort(times_of, HAUL_WAYS_PREDICTED, sizeof *times_of, by_time);
    const char *missing = times_of[0].missing;
    if (!*missing)
        return HAUL_OK;
    return hl_comm_lacks(machine, missing, error);
}

haul_status hl_comm_lacks(const haul_machine *machine, const char *missing, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_MISSING, "machine '%.100s' lacks %s: %s",
                          machine->name, missing, haul_exchange_hint(missing));
}

const char *haul_exchange_hint(const char *missing)
{
    static const struct {
        const char *begins, *hint;
    } rows[] = {
        {"messages[host network",
         "run 'mpirun -n 2 haul-mpi measure' on two nodes, a process each, "
         "then 'haul comm fit'"},
        {"messages[host", "run 'mpirun haul-mpi measure' on one node, a process on each core, then "
                          "'haul comm fit'"},
        {"messages[device network", "run 'mpirun -n 2 haul-mpi measure --device NAME "
                                    "--device-aware' on two nodes, then 'haul comm fit'"},
        {"messages[device", "run 'mpirun haul-mpi measure --device NAME --device-aware' on one "
                            "node, a process for each GPU, or nccl-tests, then 'haul comm fit'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(missing, rows[i].begins, strlen(rows[i].begins)))
            return rows[i].hint;
    return strstr(missing, "shared") ? "run 'mpirun haul-mpi measure --device NAME' on one node, "
                                       "several processes for the GPU, then 'haul comm fit'"
                                     : "run 'haul measure transfers' on the machine";
}

bool haul_way_has_workload(haul_way way)
{
    return way >= HAUL_WAY_DIRECT && way < HAUL_WAY_AGGREGATED;
}

const char *haul_way_text(haul_way way, haul_memory memory)
{
    static const char *const texts[] = {HAUL_WAY_LIST(HAUL_ROW_TEXT)};
    if (way == HAUL_WAY_DIRECT && memory == HAUL_MEMORY_DEVICE)
        return "gpudirect";
    return (unsigned)way < HAUL_WAYS ? texts[way] : "unknown";
}

haul_status haul_way_parse(const char *text, haul_way *way, haul_error *error)
{
    for (int i = 0; i < HAUL_WAYS; i++)
        if (!strcmp(text, haul_way_text((haul_way)i, HAUL_MEMORY_HOST)) ||
            !strcmp(text, haul_way_text((haul_way)i, HAUL_MEMORY_DEVICE))) {
            *way = (haul_way)i;
            return HAUL_OK;
        }
    return haul_error_set(error, HAUL_STATUS_USAGE, "no way of exchange is called '%.60s'", text);
}
