/* An exchange as a workload: what the processes, the GPUs and the network interface of one node do;
 * all other nodes do the same at the same time.
 *
 * A message is three operations. Its process hands it over (n/rate, then the gap), the interface
 * carries it (n / R_N, one message at a time), and it arrives a latency behind the later of the
 * two. With one phase after another that is eq. 2; where copies, kernels and messages overlap, the
 * engine says what the formulas cannot. */
#include "comm/exchange_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "comm/message_cost.h"
#include "timeline/predicted_run.h"
#include "workload/builder.h"

enum { MESSAGES_MOST = 1 << 16, DEPENDENCIES = 2 };

/* An operation that others wait for; HAUL_NONE: nothing. */
typedef uint32_t op_number;

typedef struct process {
    uint32_t sends, wire;                   /* streams */
    op_number last;                         /* that it sent */
    bool is_near[HAUL_REACH_BETWEEN_NODES]; /* by haul_reach: it has sent within the node */
} process;

typedef struct planner {
    hl_comm_predictor model;
    haul_way_time time;
    hl_comm_gpu_share share;
    hl_workload_builder built;
    uint32_t node;    /* the device that is the network interface */
    uint32_t streams; /* made so far */
    haul_memory memory;
    uint32_t processes; /* of a GPU */
    uint32_t chunks;
} planner;

static uint32_t add_stream(planner *self, uint32_t device, const char *name)
{
    const haul_workload_stream stream = {.device = device, .id = self->streams++, .name = name};
    return hl_workload_builder_stream(&self->built, &stream);
}

/* Behind `after`, each of which may be HAUL_NONE. */
static op_number add_op(planner *self, const haul_op *like, double seconds,
                        const op_number after[DEPENDENCIES])
{
    haul_op op = *like;
    op.name = op.thread = HAUL_NONE;
    op.dur_ns = llround(1e9 * fmin(fmax(seconds, 0), 1e8));
    const op_number made = hl_workload_builder_op(&self->built, &op);
    for (int i = 0; i < DEPENDENCIES; i++)
        if (after[i] != HAUL_NONE)
            hl_workload_builder_edge(&self->built, after[i], made);
    return made;
}

static op_number add_message(planner *self, haul_message_part part, uint32_t stream, double bytes,
                             double seconds, const op_number after[DEPENDENCIES])
{
    const haul_op like = {.kind = HAUL_OP_MESSAGE,
                          .direction = (uint8_t)part,
                          .detail = (uint8_t)self->memory,
                          .bytes = (uint64_t)bytes,
                          .stream = stream};
    return add_op(self, &like, seconds, after);
}

/* A copy as the host sees it: the engine has it for its bytes, the rest is latency and call. */
static op_number add_copy(planner *self, uint32_t stream, haul_direction direction, double bytes,
                          const op_number after[DEPENDENCIES])
{
    const double whole_s = hl_comm_predictor_copy(&self->model, direction, bytes).likely;
    const double first_s = fmin(whole_s, hl_comm_predictor_copy(&self->model, direction, 0).likely);
    haul_op like = {.kind = HAUL_OP_COPY,
                    .direction = HAUL_DIRECTION_UNKNOWN,
                    .detail = HAUL_MEMORY_PINNED,
                    .stream = stream};
    const op_number called = add_op(self, &like, first_s, after);
    like.direction = (uint8_t)direction;
    like.bytes = (uint64_t)bytes;
    return add_op(self, &like, whole_s - first_s, (op_number[]){called, HAUL_NONE});
}

/* A copy of a process while others copy from or to the same GPU: the engine has it for its share of
 * the rate and what each process adds, the rest of the latency passes beside other copies. */
static op_number add_shared_copy(planner *self, uint32_t stream, haul_direction direction,
                                 double bytes, const op_number after[DEPENDENCIES])
{
    const haul_copy_curve *curve = hl_comm_predictor_shared(&self->model, direction);
    if (!curve)
        return HAUL_NONE;
    const double first_s = hl_comm_predictor_copy(&self->model, direction, 0).likely;
    const double held_s = curve->shared_latency_s.value + bytes / curve->shared_rate_Bps.value;
    haul_op like = {.kind = HAUL_OP_COPY,
                    .direction = (uint8_t)direction,
                    .detail = HAUL_MEMORY_PINNED,
                    .bytes = (uint64_t)bytes,
                    .stream = stream};
    const op_number held = add_op(self, &like, held_s, after);
    like.direction = HAUL_DIRECTION_UNKNOWN;
    like.bytes = 0;
    return add_op(self, &like, first_s - curve->shared_latency_s.value,
                  (op_number[]){held, HAUL_NONE});
}

/* Messages to other nodes. The interface has each from when the process begins to hand it over. So
 * many messages that their number alone would be a burden are handed over several at a time. */
static op_number add_network(planner *self, process *by, const hl_comm_load *of, op_number after)
{
    const haul_message_protocol *protocol =
        hl_comm_predictor_protocol(&self->model, self->memory, HAUL_REACH_BETWEEN_NODES, of->bytes);
    if (!protocol)
        return HAUL_NONE;
    const double processes = self->model.gpus * self->processes;
    const double together = ceil(of->count * of->rounds * processes / MESSAGES_MOST);
    const double each_s = protocol->rate_Bps.value > 0 ? of->bytes / protocol->rate_Bps.value : 0;
    const double gap_s = hl_comm_message_gap(self->model.machine, protocol, of->bytes);
    const double node_rate =
        hl_comm_predictor_node_rate(&self->model, self->memory, self->processes);
    /* The messages of a round leave at once and share the interface until the last is through. */
    const bool shares = of->rounds > 1;
    const haul_message_part part = shares ? HAUL_MESSAGE_SENT : HAUL_MESSAGE_CARRIED;
    const double carry_rate = shares ? node_rate / processes : node_rate;
    op_number carried = HAUL_NONE;
    for (uint64_t i = 0; (double)i * together < of->count; i++) {
        const double count = fmin(together, of->count - (double)i * together),
                     bytes = count * of->bytes;
        const op_number behind[] = {after, by->last};
        if (isfinite(carry_rate))
            carried = add_message(self, part, by->wire, bytes, bytes / carry_rate, behind);
        if (by->last != HAUL_NONE)
            add_message(self, HAUL_MESSAGE_SENT, by->sends, 0, gap_s,
                        (op_number[]){HAUL_NONE, HAUL_NONE});
        by->last =
            add_message(self, HAUL_MESSAGE_SENT, by->sends, bytes,
                        count * each_s + (count - 1) * gap_s, (op_number[]){after, HAUL_NONE});
    }
    const double latency_s = hl_comm_serial_s(self->model.machine, protocol, 1, of->bytes) - each_s;
    return add_message(self, HAUL_MESSAGE_ARRIVES, add_stream(self, self->node, "latency"), 0,
                       latency_s, (op_number[]){by->last, carried});
}

/* Messages within the node keep their process busy, the first of all with its latency too. */
static void add_near(planner *self, process *by, const hl_comm_load *of, haul_reach reach,
                     op_number after)
{
    const bool on_socket = reach == HAUL_REACH_ON_SOCKET, is_first = !by->is_near[reach];
    const double count = on_socket ? of->near_count : of->far_count;
    const double bytes = on_socket ? of->near_bytes : of->far_bytes;
    if (!(count > 0))
        return;
    const hl_comm_predictor *model = &self->model;
    const double first_s =
        hl_comm_predictor_serial(model, self->memory, reach, count, bytes).likely;
    const double twice_s =
        hl_comm_predictor_serial(model, self->memory, reach, 2 * count, bytes).likely;
    by->is_near[reach] = true;
    by->last = add_message(self, HAUL_MESSAGE_SENT, by->sends, count * bytes,
                           is_first ? first_s : twice_s - first_s, (op_number[]){after, HAUL_NONE});
}

/* All rounds of a process; what arrives and what it sent last is in `done`. */
static void add_messages(planner *self, process *by, const hl_comm_load *of, op_number after,
                         op_number done[DEPENDENCIES])
{
    done[0] = after;
    for (int round = 0; round < (int)of->rounds; round++) {
        const op_number before = done[0];
        if (of->count > 0)
            done[0] = add_network(self, by, of, before);
        add_near(self, by, of, HAUL_REACH_ON_SOCKET, before);
        add_near(self, by, of, HAUL_REACH_ON_NODE, before);
    }
    done[1] = by->last;
}

static process add_process(planner *self)
{
    return (process){.sends = add_stream(self, self->node, "process"),
                     .wire = add_stream(self, self->node, "interface"),
                     .last = HAUL_NONE};
}

/* The kernel that makes a chunk of the data. */
static op_number add_kernel(planner *self, uint32_t stream)
{
    const double seconds = self->model.exchange->kernel_s / self->chunks;
    const haul_op like = {.kind = HAUL_OP_KERNEL, .shape = HAUL_NONE, .stream = stream};
    return seconds > 0 ? add_op(self, &like, seconds, (op_number[]){HAUL_NONE, HAUL_NONE})
                       : HAUL_NONE;
}

/* GPUDirect: rotations, where the algorithm has them, before and behind the messages. */
static void plan_direct(planner *self, uint32_t gpu)
{
    process by = add_process(self);
    const uint32_t stream = add_stream(self, gpu, "GPU");
    const hl_comm_load of =
        hl_comm_predictor_dealt(&self->model, self->memory, &self->share.load, 1);
    const haul_op rotation = {.kind = HAUL_OP_COPY,
                              .direction = HAUL_DIRECTION_DTOD,
                              .detail = HAUL_MEMORY_DEVICE,
                              .stream = stream};
    op_number before = add_kernel(self, stream), done[DEPENDENCIES];
    if (of.rotation_s > 0)
        before = add_op(self, &rotation, of.rotation_s, (op_number[]){before, HAUL_NONE});
    add_messages(self, &by, &of, before, done);
    if (of.rotation_s > 0)
        add_op(self, &rotation, of.rotation_s, done);
}

/* Three steps, in one chunk or several: a chunk is copied out, sent, and the one that arrives in
 * its place copied in, while others are on their way. */
static void plan_chunks(planner *self, uint32_t gpu)
{
    process by = add_process(self);
    const uint32_t kernels = add_stream(self, gpu, "kernels");
    const uint32_t out = add_stream(self, gpu, "copies out");
    const uint32_t in = add_stream(self, gpu, "copies in");
    for (uint32_t c = 0; c < self->chunks; c++) {
        op_number done[DEPENDENCIES];
        const hl_comm_load part = hl_comm_predictor_chunk(&self->share.load, self->chunks);
        const hl_comm_load of = hl_comm_predictor_dealt(&self->model, self->memory, &part, 1);
        const op_number copied =
            add_copy(self, out, HAUL_DIRECTION_DTOH, self->share.out_bytes / self->chunks,
                     (op_number[]){add_kernel(self, kernels), HAUL_NONE});
        add_messages(self, &by, &of, copied, done);
        add_copy(self, in, HAUL_DIRECTION_HTOD, self->share.in_bytes / self->chunks, done);
    }
}

/* Extra message: the GPU's first process deals its data out to the others, and gathers what has
 * arrived when all of it has. */
static void plan_spread(planner *self, uint32_t gpu)
{
    const uint32_t stream = add_stream(self, gpu, "GPU");
    const hl_comm_gpu_share *share = &self->share;
    const double part = fmax(share->out_bytes, share->in_bytes) / self->processes;
    const double part_s = hl_comm_predictor_spread(&self->model, part).likely;
    process owner = add_process(self);
    op_number dealt = add_copy(self, stream, HAUL_DIRECTION_DTOH, share->out_bytes,
                               (op_number[]){add_kernel(self, stream), HAUL_NONE});
    const op_number first = (op_number)self->built.op_count;
    for (uint32_t p = 1; p < self->processes; p++)
        dealt = add_message(self, HAUL_MESSAGE_SENT, owner.sends, part, part_s,
                            (op_number[]){dealt, HAUL_NONE});
    const hl_comm_load of =
        hl_comm_predictor_dealt(&self->model, self->memory, &share->load, self->processes);
    const uint32_t gather = add_stream(self, self->node, "gather");
    for (uint32_t p = 0; p < self->processes; p++) {
        process other = p > 0 ? add_process(self) : owner;
        op_number done[DEPENDENCIES];
        add_messages(self, &other, &of, p > 0 ? first + p - 1 : dealt, done);
        add_message(self, HAUL_MESSAGE_ARRIVES, gather, 0, 0, done);
    }
    op_number gathered = HAUL_NONE;
    for (uint32_t p = 1; p < self->processes; p++)
        gathered = add_message(self, HAUL_MESSAGE_SENT, gather, part, part_s,
                               (op_number[]){HAUL_NONE, HAUL_NONE});
    add_copy(self, stream, HAUL_DIRECTION_HTOD, share->in_bytes,
             (op_number[]){gathered, HAUL_NONE});
}

/* Duplicate pointer: every process copies its share out, sends it, and copies what arrived in. */
static void plan_duplicated(planner *self, uint32_t gpu)
{
    const hl_comm_gpu_share *share = &self->share;
    const hl_comm_load of =
        hl_comm_predictor_dealt(&self->model, self->memory, &share->load, self->processes);
    const op_number made = add_kernel(self, add_stream(self, gpu, "kernels"));
    for (uint32_t p = 0; p < self->processes; p++) {
        process by = add_process(self);
        const uint32_t copies = add_stream(self, gpu, "copies");
        op_number done[DEPENDENCIES];
        const op_number copied =
            add_shared_copy(self, copies, HAUL_DIRECTION_DTOH, share->out_bytes / self->processes,
                            (op_number[]){made, HAUL_NONE});
        add_messages(self, &by, &of, copied, done);
        add_shared_copy(self, copies, HAUL_DIRECTION_HTOD, share->in_bytes / self->processes, done);
    }
}

haul_status haul_exchange_workload(const haul_machine *machine, const haul_exchange *exchange,
                                   const haul_way_time *time, haul_workload **workload,
                                   haul_error *error)
{
    planner self = {.time = {.way = time->way},
                    .memory = time->way == HAUL_WAY_DIRECT ? HAUL_MEMORY_DEVICE : HAUL_MEMORY_HOST,
                    .processes = time->processes ? time->processes : 1,
                    .chunks = time->chunks ? time->chunks : 1};
    HAUL_TRY(
        hl_comm_predictor_init(&self.model, machine, exchange, &self.time, &self.share, error));
    hl_workload_builder_init(&self.built);
    for (uint32_t gpu = 0; gpu < (uint32_t)self.model.gpus; gpu++)
        hl_workload_builder_device(&self.built, gpu);
    self.node = hl_workload_builder_device(&self.built, (uint64_t)self.model.gpus);
    for (uint32_t gpu = 0; gpu < (uint32_t)self.model.gpus && !*self.time.missing; gpu++)
        switch (self.time.way) {
        case HAUL_WAY_DIRECT:
            plan_direct(&self, gpu);
            break;
        case HAUL_WAY_EXTRA_MESSAGE:
            plan_spread(&self, gpu);
            break;
        case HAUL_WAY_DUPLICATE_POINTER:
            plan_duplicated(&self, gpu);
            break;
        default:
            plan_chunks(&self, gpu);
        }
    if (*self.time.missing) {
        hl_workload_builder_release(&self.built);
        return hl_comm_lacks(machine, self.time.missing, error);
    }
    return hl_workload_builder_finish(&self.built, haul_way_text(time->way, HAUL_MEMORY_DEVICE),
                                      "exchange", workload, error);
}

/* Durations hold latencies, so that copies in a row save nothing more. */
haul_status haul_exchange_timeline(const haul_machine *machine, const haul_workload *workload,
                                   haul_timeline **timeline, haul_error *error)
{
    haul_timeline_options options = {.release = HAUL_RELEASE_HOST};
    haul_timeline_device *device = &options.device;
    haul_error ignored;
    if (haul_timeline_device_of(machine, device, &ignored))
        *device = (haul_timeline_device){.copy_engines = 2, .busy_speed = {1, 1}};
    device->kernels = device->kernels ? device->kernels : 1;
    device->chained_ns[0] = device->chained_ns[1] = 0;
    hl_timeline_predicted_run run;
    HAUL_TRY(hl_timeline_predicted_run_make(workload, &options, NULL, &run, error));
    *timeline = run.timeline;
    return HAUL_OK;
}

void haul_exchange_schedule(const haul_machine *machine, const haul_exchange *exchange,
                            haul_way_time times[HAUL_WAYS_PREDICTED])
{
    for (int i = 0; i < HAUL_WAYS_PREDICTED; i++) {
        haul_workload *workload = NULL;
        haul_timeline *timeline = NULL;
        haul_error error;
        if (!haul_way_has_workload(times[i].way) ||
            haul_exchange_workload(machine, exchange, &times[i], &workload, &error))
            continue;
        if (!haul_exchange_timeline(machine, workload, &timeline, &error))
            times[i].timeline_s = 1e-9 * (double)timeline->makespan_ns;
        haul_timeline_free(timeline);
        haul_workload_free(workload);
    }
}
