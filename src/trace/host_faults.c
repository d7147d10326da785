/* Migrations of unified memory that the host asked for: those without a call that began while no
 * kernel ran. Memory that the host touches between two calls it touches after its last wait, so the
 * migration comes after that, as long after as it did. (Those that a kernel asked for follow the
 * kernel's start, which is the timeline's: haul_timeline_device.migrations.) */
#include <stdlib.h>

#include "trace/trace_builder.h"

typedef struct follower {
    hl_trace_builder *builder;
    hl_base_records processes; /* that waited */
    uint32_t *last_wait;       /* of each */
    int64_t *kernels_end_ns;   /* of each device, and of none */
} follower;

static int64_t end_of(const haul_op *op)
{
    return op->start_ns + op->dur_ns;
}

/* Waits come in order of start, so that the last one noted is the last before what follows. A
 * stream's wait does not hold up the host. */
static void note_wait(follower *self, uint32_t at)
{
    const haul_op *op = &self->builder->built.ops[at];
    const haul_workload_thread *threads = self->builder->built.threads.items;
    if (op->thread == HAUL_NONE || op->detail == HAUL_SYNC_STREAM_WAIT)
        return;
    const uint32_t process = hl_base_records_add(&self->processes, &threads[op->thread].process);
    if (process == UINT32_MAX)
        self->builder->built.failed = true;
    else
        self->last_wait[process] = at;
}

/* When the kernels of the operation's device that have begun so far end; where the device is not
 * known, those of all such. */
static int64_t *kernels_end(const follower *self, const haul_op *op)
{
    const haul_workload_stream *streams = self->builder->built.streams.items;
    const size_t devices = self->builder->built.device_count;
    const uint32_t device = op->stream == HAUL_NONE ? HAUL_NONE : streams[op->stream].device;
    return &self->kernels_end_ns[device < devices ? device : devices];
}

/* Lets the migration come after the last wait of its process, unless a kernel ran when it began. */
static void follow(follower *self, uint32_t at)
{
    const haul_op *op = &self->builder->built.ops[at];
    const haul_workload_stream *streams = self->builder->built.streams.items;
    const uint32_t process = hl_base_records_find(&self->processes, &streams[op->stream].process);
    if (process == UINT32_MAX || *kernels_end(self, op) > op->start_ns)
        return;
    const uint32_t wait = self->last_wait[process];
    if (end_of(&self->builder->built.ops[wait]) <= op->start_ns)
        hl_workload_builder_edge(&self->builder->built, wait, at);
}

void hl_trace_host_faults_follow(hl_trace_builder *builder)
{
    const size_t devices = builder->built.device_count;
    follower self = {.builder = builder,
                     .processes.size = sizeof(uint64_t),
                     .last_wait =
                         malloc((builder->built.threads.count + 1) * sizeof *self.last_wait),
                     .kernels_end_ns = malloc((devices + 1) * sizeof *self.kernels_end_ns)};
    builder->built.failed |= !self.last_wait || !self.kernels_end_ns;
    for (size_t d = 0; !builder->built.failed && d <= devices; d++)
        self.kernels_end_ns[d] = INT64_MIN;
    for (uint32_t i = 0; !builder->built.failed && i < builder->built.op_count; i++) {
        const haul_op *op = &builder->built.ops[i];
        if (op->kind == HAUL_OP_KERNEL && end_of(op) > *kernels_end(&self, op))
            *kernels_end(&self, op) = end_of(op);
        else if (op->kind == HAUL_OP_SYNC)
            note_wait(&self, i);
        else if (haul_op_crosses_link(op) && op->detail == HAUL_MEMORY_MANAGED &&
                 op->stream != HAUL_NONE && !(op->flags & HAUL_OP_HAS_CALL))
            follow(&self, i);
    }
    hl_base_records_release(&self.processes);
    free(self.last_wait);
    free(self.kernels_end_ns);
}
