/* One way of an exchange as a GOAL schedule.
 *
 * The two simulators that read it differ. The first LogGOPSim takes a calculation as done when it
 * starts, and what requires it, or a message, begins when its own CPU is free; ATLAHS's begins it
 * at the end of all that it requires. Both agree where an operation and all that it requires are on
 * one CPU, so that each message has a lane: a CPU on which the copy before it, the message itself
 * and the copy behind it follow each other. A copy that several messages wait for is on the lane of
 * each of them. A lane has the same number on both sides, for LogGOPSim receives a message on the
 * CPU that sent it. */
#include <inttypes.h>
#include <math.h>

#include "base/fail.h"
#include "comm/exchange_parts.h"
#include "haul/goal.h"

enum { CPUS = 255, RANKS_MOST = 1 << 16, LINES_MOST = 1 << 26 };

typedef struct writer {
    hl_comm_predictor model;
    haul_way_time time;
    hl_comm_gpu_share share;
    FILE *out;
    uint32_t gpus;  /* of all nodes */
    uint32_t split; /* processes of a GPU */
    uint32_t chunks;
    uint32_t lanes;    /* of a chunk */
    double messages_s; /* of all chunks */
} writer;

/* The share of a chunk or process, so that all together are the whole. */
static uint64_t part_of(double bytes, uint32_t chunk, uint32_t chunks)
{
    const double begin = floor(bytes * chunk / chunks), end = floor(bytes * (chunk + 1) / chunks);
    return (uint64_t)(end - begin);
}

/* Bytes that GPU `from` sends to `to` by the process of this number. Where there are fewer messages
 * than processes the last ones have them, whose copies are through last. */
static double bytes_of(const writer *self, uint32_t from, uint32_t to, uint32_t process)
{
    const haul_exchange *of = self->model.exchange;
    if (from == to)
        return 0;
    if (of->kind == HAUL_EXCHANGE_ALL)
        return (double)part_of((double)of->bytes, process, self->split);
    const uint32_t gpus = self->gpus;
    const uint32_t place = (to + gpus - from - 1) % gpus;
    if (of->kind == HAUL_EXCHANGE_ALL_V && place % self->split != self->split - 1 - process)
        return 0;
    if (of->kind == HAUL_EXCHANGE_ALL_V)
        return of->counts ? (double)of->counts[(size_t)from * gpus + to] : (double)of->bytes;
    /* the GPU of the same place on the other node */
    return place + 1 == gpus / 2
               ? (double)part_of((double)of->bytes * of->messages, process, self->split)
               : 0;
}

static int64_t ns_of(double seconds)
{
    return llround(1e9 * fmin(fmax(seconds, 0), 1e8));
}

typedef struct times {
    double before_s; /* of each chunk */
    double after_s;
} times;

static times copies_of(const writer *self, uint32_t process)
{
    const hl_comm_predictor *model = &self->model;
    const hl_comm_gpu_share *share = &self->share;
    const double parts = self->chunks;
    const double out_s =
        hl_comm_predictor_copy(model, HAUL_DIRECTION_DTOH, share->out_bytes / parts).likely;
    const double in_s =
        hl_comm_predictor_copy(model, HAUL_DIRECTION_HTOD, share->in_bytes / parts).likely;
    const double spread_s =
        (self->split - 1) *
        hl_comm_predictor_spread(model, fmax(share->out_bytes, share->in_bytes) / self->split)
            .likely;
    const haul_copy_curve *shared;
    switch (self->time.way) {
    case HAUL_WAY_DIRECT:
        return (times){0, 0};
    case HAUL_WAY_EXTRA_MESSAGE:
        return (times){out_s + spread_s, spread_s + in_s};
    case HAUL_WAY_DUPLICATE_POINTER:
        shared = hl_comm_predictor_shared(model, HAUL_DIRECTION_DTOH);
        if (!shared)
            return (times){0, 0};
        return (times){
            hl_comm_predictor_copy(model, HAUL_DIRECTION_DTOH, 0).likely +
                process * shared->shared_latency_s.value +
                (process + 1) * share->out_bytes / self->split / shared->shared_rate_Bps.value,
            hl_comm_predictor_copy(model, HAUL_DIRECTION_HTOD, share->in_bytes / self->split)
                .likely};
    default:
        return (times){out_s, in_s};
    }
}

/* From the start to the end of a chunk's copy to the host: copies follow each other, and the
 * kernel's parts before them. Behind its messages a chunk may have to wait for the copies of those
 * before it, which are as far apart as the slowest stage before them. */
static times chunk_times(const writer *self, uint32_t process, uint32_t chunk)
{
    const times copies = copies_of(self, process);
    const double kernel_s = self->model.exchange->kernel_s / self->chunks;
    const double apart_s = fmax(kernel_s, copies.before_s);
    const double arrivals_s = fmax(apart_s, self->messages_s / self->chunks);
    return (times){kernel_s + copies.before_s + chunk * apart_s,
                   fmax(copies.after_s, (chunk + 1) * copies.after_s - chunk * arrivals_s)};
}

/* One lane of a chunk: every so many-th of the steps, in each of which a rank sends to one other
 * and receives from one. */
static void put_lane(writer *self, uint32_t gpu, uint32_t process, uint32_t chunk, uint32_t lane)
{
    const uint32_t cpu = chunk * self->lanes + lane;
    const times copies = chunk_times(self, process, chunk);
    (void)fprintf(self->out,
                  "o%" PRIu32 ": calc %" PRId64 " cpu %" PRIu32 "\ni%" PRIu32 ": calc %" PRId64
                  " cpu %" PRIu32 "\ni%" PRIu32 " requires o%" PRIu32 "\n",
                  cpu, ns_of(copies.before_s), cpu, cpu, ns_of(copies.after_s), cpu, cpu, cpu);
    for (uint32_t step = lane + 1; step < self->gpus; step += self->lanes) {
        const uint32_t to = (gpu + step) % self->gpus;
        const uint32_t from = (gpu + self->gpus - step) % self->gpus;
        const uint64_t sent = part_of(bytes_of(self, gpu, to, process), chunk, self->chunks);
        const uint64_t got = part_of(bytes_of(self, from, gpu, process), chunk, self->chunks);
        if (sent)
            (void)fprintf(self->out,
                          "s%" PRIu32 "_%" PRIu32 ": send %" PRIu64 "b to %" PRIu32 " tag %" PRIu32
                          " cpu %" PRIu32 "\ns%" PRIu32 "_%" PRIu32 " requires o%" PRIu32 "\n",
                          chunk, step, sent, to * self->split + process, chunk, cpu, chunk, step,
                          cpu);
        if (got)
            (void)fprintf(
                self->out,
                "r%" PRIu32 "_%" PRIu32 ": recv %" PRIu64 "b from %" PRIu32 " tag %" PRIu32
                " cpu %" PRIu32 "\ni%" PRIu32 " requires r%" PRIu32 "_%" PRIu32 "\n",
                chunk, step, got, from * self->split + process, chunk, cpu, cpu, chunk, step);
    }
}

/* The messages of one rank, and their bytes. */
static void count_rank(const writer *self, uint32_t gpu, uint32_t process, double *count,
                       double *bytes)
{
    *count = *bytes = 0;
    for (uint32_t to = 0; to < self->gpus; to++) {
        const double one = bytes_of(self, gpu, to, process);
        for (uint32_t chunk = 0; one > 0 && chunk < self->chunks; chunk++) {
            const uint64_t part = part_of(one, chunk, self->chunks);
            *count += part > 0;
            *bytes += (double)part;
        }
    }
}

/* Those of the rank that sends most. */
static void count_messages(const writer *self, double *count, double *bytes)
{
    *count = *bytes = 0;
    for (uint32_t gpu = 0; gpu < self->gpus; gpu++)
        for (uint32_t process = 0; process < self->split; process++) {
            double messages, sum;
            count_rank(self, gpu, process, &messages, &sum);
            if (sum > *bytes) {
                *bytes = sum;
                *count = messages;
            }
        }
}

/* The parameters with which the simulators come to haul's time: a message takes L + (bytes - 1) G
 * there, and of a rank's messages the bytes follow each other. What haul charges for a message's
 * number, the node's other processes and other reaches is in G; of messages of one byte, which have
 * no G, in g, of which ATLAHS's simulator charges one more than the first LogGOPSim. */
static void put_head(writer *self, double whole_s)
{
    double count, bytes, latency_s = 0;
    count_messages(self, &count, &bytes);
    const haul_memory memory =
        self->time.way == HAUL_WAY_DIRECT ? HAUL_MEMORY_DEVICE : HAUL_MEMORY_HOST;
    const bool is_outside =
        self->model.exchange->kind == HAUL_EXCHANGE_MESSAGES || self->model.others > 0;
    const haul_message_protocol *protocol = hl_comm_predictor_protocol(
        &self->model, memory, is_outside ? HAUL_REACH_BETWEEN_NODES : HAUL_REACH_ON_SOCKET,
        bytes / fmax(count, 1));
    if (protocol)
        latency_s = fmin(protocol->latency_s.value, self->messages_s);
    const double left_s = self->messages_s - latency_s;
    (void)fprintf(
        self->out,
        "// haul: %.0f ns with L=%.0f o=0 g=%.0f O=0 G=%.6g S=2147483647 (ns, ns a byte)\n",
        1e9 * whole_s, 1e9 * latency_s,
        bytes > count || count <= 1 ? 0 : 1e9 * left_s / (count - 0.5),
        bytes > count ? 1e9 * left_s / (bytes - count) : 0);
}

/* The messages' part of the whole: of one chunk what the copies leave. */
static double messages_of(const writer *self, const haul_way_time *time)
{
    const times copies = copies_of(self, self->split - 1);
    return self->chunks > 1 ? time->messages_s
                            : fmax(0, time->seconds - self->model.exchange->kernel_s -
                                          copies.before_s - copies.after_s);
}

haul_status haul_goal_write_exchange(const haul_machine *machine, const haul_exchange *exchange,
                                     const haul_way_time *time, FILE *out, haul_error *error)
{
    writer self = {.time = {.way = time->way},
                   .out = out,
                   .split = time->processes ? time->processes : 1,
                   .chunks = time->chunks ? time->chunks : 1};
    HAUL_TRY(
        hl_comm_predictor_init(&self.model, machine, exchange, &self.time, &self.share, error));
    const bool is_all = exchange->kind != HAUL_EXCHANGE_MESSAGES;
    const double gpus = self.model.gpus * (is_all ? exchange->nodes : 2);
    if (gpus * self.split > RANKS_MOST || gpus * gpus * self.split * self.chunks > LINES_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected at most %d ranks and %d messages", RANKS_MOST, LINES_MOST);
    self.gpus = (uint32_t)gpus;
    (void)copies_of(&self, 0);
    if (*self.time.missing)
        return hl_comm_lacks(machine, self.time.missing, error);
    self.lanes = self.gpus - 1 < CPUS / self.chunks ? self.gpus - 1 : CPUS / self.chunks;
    self.lanes = self.lanes ? self.lanes : 1;
    if (time->seconds > 0) {
        self.messages_s = messages_of(&self, time);
        put_head(&self, time->seconds);
    }
    (void)fprintf(out, "num_ranks %" PRIu32 "\n", self.gpus * self.split);
    for (uint32_t gpu = 0; gpu < self.gpus; gpu++)
        for (uint32_t process = 0; process < self.split && !ferror(out); process++) {
            (void)fprintf(out, "\nrank %" PRIu32 " {\n", gpu * self.split + process);
            for (uint32_t chunk = 0; chunk < self.chunks; chunk++)
                for (uint32_t lane = 0; lane < self.lanes; lane++)
                    put_lane(&self, gpu, process, chunk, lane);
            (void)fprintf(out, "}\n");
        }
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the schedule")
                       : HAUL_OK;
}
