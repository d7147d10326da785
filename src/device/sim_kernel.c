/* Kernels on a simulated machine, and what they move over the link. */
#include <stdlib.h>

#include "base/fail.h"
#include "device/sim_device.h"

haul_status hl_device_sim_kernel_new(haul_device *device, const haul_kernel_source *source,
                                     haul_kernel **kernel, haul_error *error)
{
    return hl_device_host_kernel_new(source, !hl_device_sim_node_of(device)->without_data, kernel,
                                     error);
}

static uint32_t extent(const haul_box *box, int d)
{
    return (uint32_t)box->hi[d] - (uint32_t)box->lo[d];
}

/* Queues what a kernel moves over the link in a direction, behind all that the kernel waits for. */
static haul_status queue_mapped(hl_device_sim_stream *on, haul_direction direction, int64_t dur_ns,
                                haul_error *error)
{
    hl_device_sim_stream **side = &((hl_device_sim_device *)on->base.device)->mapped[direction];
    haul_stream *made = NULL;
    if (!*side) {
        HAUL_TRY(hl_device_sim_stream_new(on->base.device, &made, error));
        made->device = on->base.device;
        *side = (hl_device_sim_stream *)made;
    }
    for (size_t i = 0; i < on->wait_count; i++)
        HAUL_TRY(hl_device_sim_wait_for(*side, on->waits[i], error));
    if (on->last)
        HAUL_TRY(hl_device_sim_wait_for(*side, on->last - 1, error));
    const haul_op op = {.kind = HAUL_OP_COPY,
                        .direction = (uint8_t)direction,
                        .detail = HAUL_MEMORY_MANAGED,
                        .dur_ns = dur_ns};
    const hl_device_host_task nothing = {.kind = HL_DEVICE_TASK_NOTHING};
    return hl_device_sim_queue(&(*side)->base, &op, NULL, &nothing, NULL, error);
}

/* A launch as the clock has it. */
typedef struct launched {
    haul_op op;
    haul_shape shape;
    int64_t moved_ns[2]; /* of what it moves over the link, by direction */
    int64_t latency_ns;  /* until all of that is there */
} launched;

/* The next operation of the stream also waits for the transfers of the kernel before. */
static haul_status wait_for_moved(hl_device_sim_stream *on, const launched *made, haul_error *error)
{
    const hl_device_sim_device *device = (const hl_device_sim_device *)on->base.device;
    haul_status status = HAUL_OK;
    for (int i = 0; i < 2 && !status; i++)
        if (made->moved_ns[i])
            status = hl_device_sim_wait_for(on, device->mapped[i]->last - 1, error);
    return status;
}

/* A kernel that moves mapped memory, and beside it what it moves. The next such kernel begins
 * behind both; the data is there a latency later (CCGrid 2014, eq. 5 and 6: kernels one behind
 * another pay the gap, and a latency once). */
static haul_status launch_mapped(hl_device_sim_stream *on, const launched *made,
                                 const hl_device_host_task *task, haul_event *event,
                                 haul_error *error)
{
    hl_device_sim_device *device = (hl_device_sim_device *)on->base.device;
    hl_device_sim_node *node = device->node;
    const hl_device_host_task nothing = {.kind = HL_DEVICE_TASK_NOTHING};
    haul_op there = hl_device_sim_point;
    there.dur_ns = made->latency_ns;
    haul_status status =
        device->mapped_end ? hl_device_sim_wait_for(on, device->mapped_end - 1, error) : HAUL_OK;
    for (int i = 0; i < 2 && !status; i++)
        if (made->moved_ns[i])
            status = queue_mapped(on, (haul_direction)i, made->moved_ns[i], error);
    if (!status)
        status = hl_device_sim_queue(&on->base, &made->op, &made->shape, &nothing, NULL, error);
    const uint32_t kernel = (uint32_t)node->count - 1;
    if (!status)
        status = wait_for_moved(on, made, error);
    if (!status)
        status = hl_device_sim_queue(&on->base, &hl_device_sim_point, NULL, &nothing, NULL, error);
    if (!status)
        device->mapped_end = on->last;
    if (!status)
        status = hl_device_sim_queue(&on->base, &there, NULL, task, event, error);
    if (!status)
        node->works[node->count - 1].begin = kernel;
    return status;
}

/* Mapped memory crosses the link as pinned copies in a row do. */
static haul_status time_mapped(const hl_device_sim_node *node, const haul_launch *given,
                               launched *made, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < 2 && !status; i++) {
        int64_t alone_ns = 0;
        status = hl_device_sim_mapped_ns(node, given, (haul_direction)i, &alone_ns, error);
        const int64_t saved_ns = node->device.chained_ns[i];
        made->latency_ns += alone_ns ? saved_ns : 0;
        made->moved_ns[i] = alone_ns > saved_ns ? alone_ns - saved_ns : 0;
    }
    return status;
}

haul_status hl_device_sim_launch(haul_stream *stream, const haul_kernel *kernel,
                                 const haul_launch *given, haul_event *event, haul_error *error)
{
    const hl_device_sim_node *node = hl_device_sim_node_of(stream->device);
    launched made = {.op = {.kind = HAUL_OP_KERNEL}};
    hl_device_host_task task = {.kind = HL_DEVICE_TASK_NOTHING};
    HAUL_TRY(hl_device_sim_kernel_ns(stream->device, kernel, given, &made.op.dur_ns, error));
    if (!stream->device->options.kernel_seconds)
        HAUL_TRY(time_mapped(node, given, &made, error));
    if (!node->without_data)
        HAUL_TRY(
            hl_device_host_task_kernel(kernel->source, given, hl_device_sim_data, &task, error));
    /* Loops are launched as blocks of 256 threads. */
    haul_shape shape = {
        .grid = {extent(&given->box, 0), extent(&given->box, 1), extent(&given->box, 2)},
        .block = {kernel->source->group[0], kernel->source->group[1], 1},
        .shared_bytes = kernel->source->fused_bytes};
    if (!kernel->source->group[0]) {
        shape.grid[0] = (shape.grid[0] - 1) / 256 + 1;
        shape.block[0] = 256;
        shape.block[1] = 1;
    }
    made.shape = shape;
    haul_status status =
        made.moved_ns[0] || made.moved_ns[1]
            ? launch_mapped((hl_device_sim_stream *)stream, &made, &task, event, error)
            : hl_device_sim_queue(stream, &made.op, &made.shape, &task, event, error);
    if (status)
        hl_device_host_task_release(&task);
    return status;
}
