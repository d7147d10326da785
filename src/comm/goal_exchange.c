/* One way of an exchange as a GOAL schedule. */
#include <inttypes.h>
#include <math.h>

#include "base/fail.h"
#include "comm/exchange_parts.h"
#include "haul/goal.h"

/* Receiving and sending messages does not keep the CPU that copies. */
enum { COPY_CPU = 1, RANKS_MOST = 1 << 16, LINES_MOST = 1 << 26 };

typedef struct writer {
    hl_comm_predictor model;
    haul_way_time time;
    hl_comm_gpu_share share;
    FILE *out;
    uint32_t gpus;  /* of all nodes */
    uint32_t split; /* processes of a GPU */
    uint32_t chunks;
} writer;

/* Bytes that GPU `from` sends to `to` by the process of this number. */
static double bytes_of(const writer *self, uint32_t from, uint32_t to, uint32_t process)
{
    const haul_exchange *of = self->model.exchange;
    if (from == to)
        return 0;
    if (of->kind == HAUL_EXCHANGE_ALL)
        return (double)of->bytes / self->split;
    const uint32_t gpus = self->gpus;
    const uint32_t place = (to + gpus - from - 1) % gpus;
    if (of->kind == HAUL_EXCHANGE_ALL_V && place % self->split != process)
        return 0;
    if (of->kind == HAUL_EXCHANGE_ALL_V)
        return of->counts ? (double)of->counts[(size_t)from * gpus + to] : (double)of->bytes;
    /* the GPU of the same place on the other node */
    return place + 1 == gpus / 2 ? (double)of->bytes * of->messages / self->split : 0;
}

static int64_t ns_of(double seconds)
{
    return llround(1e9 * fmin(fmax(seconds, 0), 1e8));
}

/* The share of a chunk, so that all together are the whole. */
static uint64_t part_of(double bytes, uint32_t chunk, uint32_t chunks)
{
    const double begin = floor(bytes * chunk / chunks), end = floor(bytes * (chunk + 1) / chunks);
    return (uint64_t)(end - begin);
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

/* A chunk: copied, then sent to each, the incoming one received from each, then copied. */
static void put_chunk(writer *self, uint32_t gpu, uint32_t process, uint32_t chunk)
{
    const times copies = copies_of(self, process);
    (void)fprintf(self->out, "o%" PRIu32 ": calc %" PRId64 " cpu %d\n", chunk,
                  ns_of(copies.before_s), COPY_CPU);
    if (chunk)
        (void)fprintf(self->out, "o%" PRIu32 " requires o%" PRIu32 "\n", chunk, chunk - 1);
    (void)fprintf(self->out, "i%" PRIu32 ": calc %" PRId64 " cpu %d\n", chunk,
                  ns_of(copies.after_s), COPY_CPU + 1);
    (void)fprintf(self->out, "i%" PRIu32 " requires o%" PRIu32 "\n", chunk, chunk);
    for (uint32_t step = 1; step < self->gpus; step++) {
        const uint32_t to = (gpu + step) % self->gpus;
        const uint32_t from = (gpu + self->gpus - step) % self->gpus;
        const uint64_t sent = part_of(bytes_of(self, gpu, to, process), chunk, self->chunks);
        const uint64_t got = part_of(bytes_of(self, from, gpu, process), chunk, self->chunks);
        if (sent)
            (void)fprintf(self->out,
                          "s%" PRIu32 "_%" PRIu32 ": send %" PRIu64 "b to %" PRIu32 " tag %" PRIu32
                          "\ns%" PRIu32 "_%" PRIu32 " requires o%" PRIu32 "\n",
                          chunk, step, sent, to * self->split + process, chunk, chunk, step, chunk);
        if (got)
            (void)fprintf(self->out,
                          "r%" PRIu32 "_%" PRIu32 ": recv %" PRIu64 "b from %" PRIu32
                          " tag %" PRIu32 "\ni%" PRIu32 " requires r%" PRIu32 "_%" PRIu32 "\n",
                          chunk, step, got, from * self->split + process, chunk, chunk, chunk,
                          step);
    }
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
        return haul_error_set(error, HAUL_STATUS_MISSING, "machine '%s' lacks %s", machine->name,
                              self.time.missing);
    (void)fprintf(out, "num_ranks %" PRIu32 "\n", self.gpus * self.split);
    for (uint32_t rank = 0; rank < self.gpus * self.split && !ferror(out); rank++) {
        (void)fprintf(out, "\nrank %" PRIu32 " {\n", rank);
        for (uint32_t chunk = 0; chunk < self.chunks; chunk++)
            put_chunk(&self, rank / self.split, rank % self.split, chunk);
        (void)fprintf(out, "}\n");
    }
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the schedule")
                       : HAUL_OK;
}
