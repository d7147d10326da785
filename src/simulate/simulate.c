/* A schedule on a machine: the time of each operation, then the timeline. The engine knows nothing
 * of files, so an error of either is given the operation's name and place here. */
#include "haul/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "comm/message_cost.h"
#include "cost/time_cache.h"
#include "cost/usual.h"
#include "simulate/fitted_kernels.h"
#include "simulate/plan.h"
#include "timeline/predicted_run.h"
#include "workload/op_class.h"

typedef struct simulator {
    const hl_simulate_owned_schedule *schedule;
    const haul_machine *machine;
    haul_simulation *made;
    int64_t *durations_ns;
    int64_t *low_ns;
    int64_t *high_ns;
    hl_cost_time_cache copies;
    hl_simulate_fitted_kernels kernels;
    size_t next_kernel; /* of the schedule's */
    haul_error *error;
} simulator;

void haul_simulation_free(haul_simulation *simulation)
{
    if (!simulation)
        return;
    haul_timeline_free(simulation->timeline);
    free((void *)simulation->durations_ns);
    free(simulation);
}

/* Puts the operation's name before an error, and its place. */
static haul_status blame(const simulator *self, uint32_t op)
{
    char text[400], name[80];
    haul_error_format(self->error, text, sizeof text); /* a kernel file's has a place of its own */
    const haul_status status = self->error->status;
    haul_error_set(self->error, status, "operation %s: %s",
                   hl_simulate_schedule_quote(&self->schedule->seen, op, name, sizeof name), text);
    hl_base_error_at(self->error, hl_simulate_schedule_place(self->schedule, op));
    return status;
}

/* --- times */

/* Bounded here, so that the sum can be checked without overflow. */
static int64_t ns_of(double seconds)
{
    return llround(fmin(seconds * 1e9, 0x1p60));
}

static void take_time(simulator *self, uint32_t i, const haul_estimate *estimate)
{
    haul_simulation *made = self->made;
    self->durations_ns[i] = ns_of(estimate->seconds);
    self->low_ns[i] = ns_of(estimate->low_s);
    self->high_ns[i] = ns_of(estimate->high_s);
    made->weakest = made->weakest ? haul_provenance_weaker(made->weakest, estimate->weakest)
                                  : estimate->weakest;
}

/* The send that a receive is after; HAUL_NONE: none. */
static uint32_t send_of(const haul_workload *workload, uint32_t receive)
{
    const haul_edge *edges = workload->edges;
    for (size_t e = hl_workload_first_edge(workload, receive);
         e < workload->edge_count && edges[e].after == receive; e++) {
        const haul_op *op = &workload->ops[edges[e].before];
        if (op->kind == HAUL_OP_MESSAGE && op->direction == HAUL_MESSAGE_SENT)
            return edges[e].before;
    }
    return HAUL_NONE;
}

/* T(m, n) of docs/comm.md between nodes: a send hands its bytes over, behind a gap where it waits
 * for nothing but the send before it, and the receive takes the latency. */
static haul_status time_message(simulator *self, uint32_t i)
{
    const haul_workload *workload = self->schedule->workload;
    const haul_op *op = &workload->ops[i];
    const bool is_send = op->direction == HAUL_MESSAGE_SENT;
    const double bytes = (double)workload->ops[is_send ? i : send_of(workload, i)].bytes;
    double measured;
    const haul_message_protocol *protocol = hl_comm_message_protocol_of(
        self->machine, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES, bytes, &measured);
    if (!protocol) {
        haul_error_set(
            self->error, HAUL_STATUS_MISSING,
            "machine '%.100s' lacks messages of hosts between nodes: 'haul comm fit' makes "
            "them of measurements",
            self->machine->name);
        return blame(self, i);
    }
    double seconds = protocol->latency_s.value;
    if (is_send) {
        const size_t edge = hl_workload_first_edge(workload, i);
        const bool is_free = edge == workload->edge_count || workload->edges[edge].after != i;
        seconds = protocol->rate_Bps.value > 0 ? bytes / protocol->rate_Bps.value : 0;
        if (is_free && op->stream_prev != HAUL_NONE)
            seconds += hl_comm_message_gap(self->machine, protocol, bytes);
    }
    const double error = HL_COMM_MESSAGE_TAIL * protocol->error.value;
    take_time(self, i,
              &(haul_estimate){.seconds = seconds,
                               .low_s = seconds * (1 - fmin(error, 0.5)),
                               .high_s = seconds * (1 + error),
                               .weakest = protocol->latency_s.provenance});
    self->made->predicted_messages += is_send;
    return HAUL_OK;
}

/* A duration in the file is kept. Else a copy's is the model's, and a kernel's that of its kernel
 * file: schedule->kernels has those in order of operations. */
static haul_status time_op(simulator *self, uint32_t i)
{
    const hl_simulate_owned_schedule *schedule = self->schedule;
    const haul_op *op = &schedule->workload->ops[i];
    const bool is_fitted =
        self->next_kernel < schedule->kernel_count && schedule->kernels[self->next_kernel].op == i;
    haul_simulation *made = self->made;
    haul_estimate estimate;
    self->durations_ns[i] = self->low_ns[i] = self->high_ns[i] = op->dur_ns;
    if (op->kind == HAUL_OP_KERNEL && is_fitted) {
        const hl_simulate_kernel_use *use = &schedule->kernels[self->next_kernel++];
        if (hl_simulate_fitted_kernels_time(&self->kernels, use->name,
                                            haul_workload_string(schedule->workload, use->name),
                                            use->size, &estimate, self->error))
            return blame(self, i);
        take_time(self, i, &estimate);
        made->predicted_kernels++;
    } else if (op->kind == HAUL_OP_MESSAGE && !op->dur_ns) {
        return time_message(self, i);
    } else if (op->kind == HAUL_OP_COPY && !op->dur_ns) {
        const haul_copy copy = {op->bytes, (haul_direction)op->direction, (haul_memory)op->detail,
                                HAUL_LOCALITY_NEAR};
        if (hl_cost_time_cache_get(&self->copies, &copy, &estimate, self->error))
            return blame(self, i);
        take_time(self, i, &estimate);
        if (!made->predicted_copies++)
            made->model = estimate.model;
        else if (made->model && strcmp(made->model, estimate.model) != 0)
            made->model = NULL;
    }
    return HAUL_OK;
}

/* --- what the machine must have */

/* "Maximum number of threads per block", of every compute capability from 2.0 on: CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability". */
enum { CUDA_BLOCK_THREADS = 1024 };

/* Ranks have a machine each. The room of a multiprocessor is known of CUDA's devices alone, and
 * holds such a block on each. */
static haul_status check_device(const simulator *self, uint32_t i)
{
    const haul_workload *workload = self->schedule->workload;
    const haul_op *op = &workload->ops[i];
    const haul_parameter *count = &self->machine->gpu.count;
    const haul_timeline_device *device = &self->made->device;
    const haul_workload_device *on = &workload->devices[workload->streams[op->stream].device];
    double threads = 0;
    if (op->kind == HAUL_OP_KERNEL && op->shape != HAUL_NONE && device->occupancy.threads) {
        const uint32_t *block = workload->shapes[op->shape].block;
        threads = (double)block[0] * block[1] * block[2];
    }
    if (on->rank < 0 && count->provenance && (double)on->id >= count->value)
        haul_error_set(self->error, HAUL_STATUS_ABSENT,
                       "no device %" PRIu64 ": machine '%.100s' has %g, from 0 on", on->id,
                       self->machine->name, count->value);
    else if (haul_op_crosses_link(op) && !device->copy_engines)
        haul_error_set(self->error, HAUL_STATUS_ABSENT, "machine '%.100s' has no copy engine",
                       self->machine->name);
    else if (threads > CUDA_BLOCK_THREADS)
        haul_error_set(self->error, HAUL_STATUS_ABSENT,
                       "a block of %.0f threads: the GPU of machine '%.100s' launches %d at most",
                       threads, self->machine->name, CUDA_BLOCK_THREADS);
    else
        return HAUL_OK;
    return blame(self, i);
}

/* --- the timeline */

/* Assumes the parameters that the machine lacks, as fast as they may be. */
static void assume(const simulator *self, double speed, haul_timeline_device *device)
{
    for (int i = 0; i < 2; i++)
        if (self->made->assumed_busy[i])
            device->busy_speed[i] = speed;
}

/* Copies that meet copies of the other direction lose what they do on other machines, where this
 * one does not say. */
static void assume_contention(simulator *self)
{
    const haul_workload *workload = self->schedule->workload;
    haul_simulation *made = self->made;
    bool is_copied[HAUL_DIRECTIONS] = {false};
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_COPY)
            is_copied[workload->ops[i].direction] = true;
    if (!is_copied[HAUL_DIRECTION_HTOD] || !is_copied[HAUL_DIRECTION_DTOH] ||
        made->device.copy_engines < 2)
        return;
    for (int i = 0; i < 2; i++) {
        const haul_copy_curve *curve = haul_machine_curve(self->machine, (haul_direction)i,
                                                          HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
        made->assumed_busy[i] = !curve || !curve->busy_rate_Bps.provenance;
        if (made->assumed_busy[i])
            made->weakest = haul_provenance_weaker(made->weakest, HAUL_PROVENANCE_ASSUMED);
    }
    assume(self, hl_cost_usual_busy.median, &made->device);
}

/* Names operations in the timeline's errors, and keeps the first: that is where the error is. */
typedef struct naming {
    const haul_schedule *schedule;
    uint32_t first;
} naming;

/* Called by the timeline for each operation that an error names, the culprit first. */
static void name_operation(void *state, uint32_t op, char *buffer, size_t size)
{
    naming *self = state;
    if (self->first == HAUL_NONE)
        self->first = op;
    hl_simulate_schedule_quote(self->schedule, op, buffer, size);
}

/* Assumed contention belongs to the interval as well: none at the low end, the most at the high. */
static void set_bound(void *state, hl_timeline_bound bound, haul_timeline_options *options)
{
    const simulator *self = state;
    if (bound == HL_TIMELINE_LIKELY)
        return;
    options->durations_ns = bound == HL_TIMELINE_LOW ? self->low_ns : self->high_ns;
    assume(self, hl_cost_usual_busy.ends[bound == HL_TIMELINE_HIGH], &options->device);
}

/* Calls are recorded of nothing here: each operation is issued when its call returns. */
static haul_status run_schedule(simulator *self)
{
    haul_simulation *made = self->made;
    naming names = {&self->schedule->seen, HAUL_NONE};
    haul_timeline_options options = {
        .device = made->device,
        .release = HAUL_RELEASE_HOST,
        .durations_ns = self->durations_ns,
        .name = name_operation,
        .name_state = &names,
    };
    for (int i = 0; i < HAUL_OP_KINDS; i++)
        options.device.issue_on_return[i] = true; /* a launch's cost lies before its operation */
    const hl_timeline_run_bounds bounds = {set_bound, self};
    hl_timeline_predicted_run run;
    const haul_status status = hl_timeline_predicted_run_make(
        self->schedule->workload, &options, made->weakest ? &bounds : NULL, &run, self->error);
    /* a cycle that the timeline finds is of the machine's making, for the file has none */
    const size_t length = strlen(self->error->text);
    if (status == HAUL_STATUS_BAD_INPUT)
        snprintf(self->error->text + length, sizeof self->error->text - length,
                 " with this machine's launch queue or implicit synchronisation");
    if (status && names.first != HAUL_NONE)
        hl_base_error_at(self->error, hl_simulate_schedule_place(self->schedule, names.first));
    if (status)
        return status;
    made->timeline = run.timeline;
    made->low_ns = run.low_whole_ns;
    made->high_ns = run.high_whole_ns;
    return HAUL_OK;
}

/* The caller frees the arrays, whether there is an error or not. */
static haul_status simulate(simulator *self)
{
    if (!self->durations_ns || !self->low_ns || !self->high_ns)
        return hl_base_fail_no_memory(self->error);
    HAUL_TRY(haul_timeline_device_of(self->machine, &self->made->device, self->error));
    /* The sum of the high ends is what the timeline could reach at worst. */
    const haul_workload *workload = self->schedule->workload;
    double sum_ns = 0;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        if (haul_op_on_device(&workload->ops[i]))
            HAUL_TRY(check_device(self, i));
        HAUL_TRY(time_op(self, i));
        sum_ns += (double)self->high_ns[i];
        if (sum_ns > 0x1p60) {
            haul_error_set(self->error, HAUL_STATUS_BAD_INPUT,
                           "the sum of all durations is beyond 2^60 ns");
            return blame(self, i);
        }
    }
    assume_contention(self);
    return run_schedule(self);
}

haul_status haul_simulation_make(const haul_schedule *schedule, const haul_machine *machine,
                                 const haul_copy_model *model, haul_simulation **simulation,
                                 haul_error *error)
{
    HL_PLAIN_NUMERALS;
    haul_error unseen; /* errors are put together from those of parts */
    error = error ? error : &unseen;
    haul_simulation *made = calloc(1, sizeof *made);
    simulator *self = calloc(1, sizeof *self);
    if (!made || !self) {
        free(made);
        free(self);
        return hl_base_fail_no_memory(error);
    }
    *made = (haul_simulation){.schedule = schedule, .machine = machine};
    self->schedule = (const hl_simulate_owned_schedule *)schedule;
    self->machine = machine;
    self->made = made;
    self->error = error;
    self->copies.machine = machine;
    self->copies.model = model;
    self->kernels = (hl_simulate_fitted_kernels){machine, self->schedule->file, NULL};
    const size_t count = self->schedule->workload->op_count;
    self->durations_ns = calloc(count, sizeof *self->durations_ns);
    made->durations_ns = self->durations_ns;
    self->low_ns = calloc(count, sizeof *self->low_ns);
    self->high_ns = calloc(count, sizeof *self->high_ns);
    const haul_status status = simulate(self);
    hl_simulate_fitted_kernels_release(&self->kernels);
    free(self->low_ns);
    free(self->high_ns);
    free(self);
    if (status)
        haul_simulation_free(made);
    else
        *simulation = made;
    return status;
}

/* --- why */

static bool is_after(const haul_workload *workload, uint32_t op, uint32_t before)
{
    const haul_edge *edges = workload->edges;
    for (size_t e = hl_workload_first_edge(workload, op);
         e < workload->edge_count && edges[e].after == op; e++)
        if (edges[e].before == before)
            return true;
    return false;
}

/* The timeline tells who delayed an operation; which of its rules that was follows from the
 * workload. */
haul_waited haul_simulation_waited(const haul_simulation *simulation, uint32_t op, uint32_t *cause)
{
    const haul_workload *workload = simulation->schedule->workload;
    const haul_op *ops = workload->ops;
    *cause = simulation->timeline->cause[op];
    if (*cause != HAUL_NONE && *cause == ops[op].stream_prev)
        return HAUL_SIMULATION_WAITED_STREAM;
    if (*cause != HAUL_NONE)
        return is_after(workload, op, *cause) ? HAUL_SIMULATION_WAITED_AFTER
                                              : HAUL_SIMULATION_WAITED_RESOURCE;
    uint32_t before = ops[op].thread_prev;
    while (before != HAUL_NONE && !hl_workload_op_holds_thread(&ops[before]))
        before = ops[before].thread_prev;
    *cause = before;
    return before == HAUL_NONE ? HAUL_SIMULATION_WAITED_NOTHING : HAUL_SIMULATION_WAITED_CALL;
}
