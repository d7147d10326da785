/* Kernels on a simulated machine, and what they move over the link. */
#include <stdlib.h>

#include "base/fail.h"
#include "device/sim_device.h"

haul_status haul_sim_kernel_new(haul_device *device, const haul_kernel_source *source,
                                haul_kernel **kernel, haul_error *error)
{
    return haul_host_kernel_new(source, !haul_sim_node_of(device)->without_data, kernel, error);
}

static uint32_t extent(const haul_box *box, int d)
{
    return (uint32_t)box->hi[d] - (uint32_t)box->lo[d];
}

/* Loops are launched as blocks of 256 threads. */
static haul_shape shape_of(const haul_kernel_source *source, const haul_box *box)
{
    haul_shape shape = {.grid = {extent(box, 0), extent(box, 1), extent(box, 2)},
                        .block = {source->group[0], source->group[1], 1},
                        .shared_bytes = source->fused_bytes};
    if (!source->group[0]) {
        shape.grid[0] = (shape.grid[0] - 1) / 256 + 1;
        shape.block[0] = 256;
        shape.block[1] = 1;
    }
    return shape;
}

/* Queues what a kernel moves over the link in a direction, behind all that the kernel waits for. */
static haul_status queue_mapped(haul_sim_stream *on, haul_direction direction, int64_t dur_ns,
                                haul_error *error)
{
    haul_sim_stream **side = &((haul_sim_device *)on->base.device)->mapped[direction];
    haul_stream *made = NULL;
    haul_status status = HAUL_OK;
    if (!*side) {
        status = haul_sim_stream_new(on->base.device, &made, error);
        if (!made)
            return status;
        made->device = on->base.device;
        *side = (haul_sim_stream *)made;
    }
    for (size_t i = 0; i < on->wait_count && !status; i++)
        status = haul_sim_wait_for(*side, on->waits[i], error);
    if (!status && on->last)
        status = haul_sim_wait_for(*side, on->last - 1, error);
    const haul_op op = {.kind = HAUL_OP_COPY,
                        .direction = (uint8_t)direction,
                        .detail = HAUL_MANAGED,
                        .dur_ns = dur_ns};
    const haul_host_task nothing = {.kind = HAUL_TASK_NOTHING};
    return status ? status : haul_sim_queue(&(*side)->base, &op, NULL, &nothing, NULL, error);
}

/* What the clock is told of a launch. */
typedef struct launched {
    haul_op op;
    haul_shape shape;
    int64_t moved_ns[2]; /* of what it moves over the link, by direction */
    int64_t latency_ns;  /* until all of that is there */
} launched;

/* What is queued next on the stream also waits for what the kernel before moved. */
static haul_status wait_for_moved(haul_sim_stream *on, const launched *made, haul_error *error)
{
    const haul_sim_device *device = (const haul_sim_device *)on->base.device;
    haul_status status = HAUL_OK;
    for (int i = 0; i < 2 && !status; i++)
        if (made->moved_ns[i])
            status = haul_sim_wait_for(on, device->mapped[i]->last - 1, error);
    return status;
}

/* A kernel that moves mapped memory, and beside it what it moves. The next such kernel begins
 * behind both; the data is there a latency later (CCGrid 2014, eq. 5 and 6: kernels one behind
 * another pay the gap, and a latency once). */
static haul_status launch_mapped(haul_sim_stream *on, const launched *made,
                                 const haul_host_task *task, haul_event *event, haul_error *error)
{
    haul_sim_device *device = (haul_sim_device *)on->base.device;
    haul_sim_node *node = device->node;
    const haul_host_task nothing = {.kind = HAUL_TASK_NOTHING};
    haul_op there = haul_sim_point;
    there.dur_ns = made->latency_ns;
    haul_status status =
        device->mapped_end ? haul_sim_wait_for(on, device->mapped_end - 1, error) : HAUL_OK;
    for (int i = 0; i < 2 && !status; i++)
        if (made->moved_ns[i])
            status = queue_mapped(on, (haul_direction)i, made->moved_ns[i], error);
    if (!status)
        status = haul_sim_queue(&on->base, &made->op, &made->shape, &nothing, NULL, error);
    const uint32_t kernel = (uint32_t)node->count - 1;
    if (!status)
        status = wait_for_moved(on, made, error);
    if (!status)
        status = haul_sim_queue(&on->base, &haul_sim_point, NULL, &nothing, NULL, error);
    if (!status)
        device->mapped_end = on->last;
    if (!status)
        status = haul_sim_queue(&on->base, &there, NULL, task, event, error);
    if (!status)
        node->works[node->count - 1].begin = kernel;
    return status;
}

/* Mapped memory crosses the link as pinned copies in a row do. */
static haul_status time_mapped(const haul_sim_node *node, const haul_launch *given, launched *made,
                               haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < 2 && !status; i++) {
        int64_t alone_ns = 0;
        status = haul_sim_mapped_ns(node, given, (haul_direction)i, &alone_ns, error);
        const int64_t saved_ns = node->device.chained_ns[i];
        made->latency_ns += alone_ns ? saved_ns : 0;
        made->moved_ns[i] = alone_ns > saved_ns ? alone_ns - saved_ns : 0;
    }
    return status;
}

haul_status haul_sim_launch(haul_stream *stream, const haul_kernel *kernel,
                            const haul_launch *given, haul_event *event, haul_error *error)
{
    const haul_sim_node *node = haul_sim_node_of(stream->device);
    launched made = {.op = {.kind = HAUL_OP_KERNEL}};
    haul_host_task task = {.kind = HAUL_TASK_NOTHING};
    haul_status status = haul_sim_kernel_ns(stream->device, kernel, given, &made.op.dur_ns, error);
    if (!status && !stream->device->options.kernel_seconds)
        status = time_mapped(node, given, &made, error);
    if (!status && !node->without_data)
        status = haul_host_task_kernel(kernel->source, given, haul_sim_data, &task, error);
    if (status)
        return status;
    made.shape = shape_of(kernel->source, &given->box);
    status = made.moved_ns[0] || made.moved_ns[1]
                 ? launch_mapped((haul_sim_stream *)stream, &made, &task, event, error)
                 : haul_sim_queue(stream, &made.op, &made.shape, &task, event, error);
    if (status)
        haul_host_task_release(&task);
    return status;
}
