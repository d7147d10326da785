/* A timeline of operations that are queued while it runs. An operation that has ended by now keeps
 * its times, whatever is queued later: so each operation is scheduled once. */
#ifndef HAUL_TIMELINE_LIVE_H
#define HAUL_TIMELINE_LIVE_H

#include "timeline/engine.h"

typedef struct hl_timeline_live {
    haul_timeline_options options;
    haul_workload workload;
    hl_timeline_engine engine;
    haul_op *ops;
    haul_edge *edges;
    haul_shape *shapes;
    size_t op_capacity[6]; /* of each array by operation */
    size_t edge_capacity;
    size_t shape_capacity;
    size_t need_capacity;
} hl_timeline_live;

/* Release with hl_timeline_live_release, whatever the outcome. */
haul_status hl_timeline_live_init(hl_timeline_live *self, const haul_timeline_device *device,
                                  size_t device_count, haul_error *error);
void hl_timeline_live_release(hl_timeline_live *self);

/* Makes stream `stream` one of device `device`. Needs: it has no operations that have not ended. */
haul_status hl_timeline_live_stream(hl_timeline_live *self, uint32_t stream, uint32_t device,
                                    haul_error *error);

/* Queues an operation, called at op->start_ns, which is not before now; its stream_prev and the
 * `waits` are operations that were queued before it. `shape` is a kernel's, else NULL. */
haul_status hl_timeline_live_add(hl_timeline_live *self, const haul_op *op, const haul_shape *shape,
                                 const uint32_t *waits, size_t wait_count, haul_error *error);

/* Moves on to a time, or to the end of an operation where that comes first. */
haul_status hl_timeline_live_advance(hl_timeline_live *self, int64_t until_ns, uint32_t until_op,
                                     haul_error *error);

/* Whether an operation has ended, as far as the timeline has come. */
static inline bool hl_timeline_live_ended(const hl_timeline_live *self, uint32_t op)
{
    return hl_timeline_end_is_known(&self->engine.progress[op]);
}

#endif
