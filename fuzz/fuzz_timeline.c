/* Workloads of any bytes on devices of any figures: what is refused has a reason that names
 * something, and of what is scheduled the laws of the timeline hold, twice alike. */
#include <assert.h>
#include <string.h>

#include "timeline_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_device(const haul_op *op)
{
    return haul_op_on_device(op);
}

static uint32_t device_of(const made *self, const haul_op *op)
{
    return op->stream == HAUL_NONE ? HAUL_NONE : self->streams[op->stream].device;
}

/* Copies that hold the same engine of a device, or its staging buffer. */
static bool exclude(const made *self, const haul_op *a, const haul_op *b)
{
    const haul_timeline_device *device = &self->options.device;
    if (a->kind != HAUL_OP_COPY || b->kind != HAUL_OP_COPY || a->direction > HAUL_DIRECTION_DTOH ||
        b->direction > HAUL_DIRECTION_DTOH || device_of(self, a) != device_of(self, b))
        return false;
    if (device->staging && a->detail == HAUL_MEMORY_PAGEABLE && b->detail == HAUL_MEMORY_PAGEABLE)
        return true;
    if (device->migrations &&
        (a->detail == HAUL_MEMORY_MANAGED || b->detail == HAUL_MEMORY_MANAGED))
        return false;
    return device->copy_engines == 1 || a->direction == b->direction;
}

static void check_pair(const made *self, const haul_timeline *timeline, uint32_t i, uint32_t k)
{
    const haul_op *a = &self->ops[i], *b = &self->ops[k];
    const haul_span *x = &timeline->ops[i], *y = &timeline->ops[k];
    if (a->stream == b->stream)
        assert(x->end_ns <= y->start_ns);
    if (exclude(self, a, b))
        assert(x->end_ns <= y->start_ns || y->end_ns <= x->start_ns);
}

static void check_laws(const made *self, const haul_timeline *timeline)
{
    const uint32_t count = (uint32_t)self->workload.op_count;
    for (uint32_t i = 0; i < count; i++) {
        assert(timeline->ops[i].start_ns >= 0);
        assert(timeline->ops[i].end_ns >= timeline->ops[i].start_ns);
        for (uint32_t k = i + 1; k < count; k++)
            if (on_device(&self->ops[i]) && on_device(&self->ops[k]))
                check_pair(self, timeline, i, k);
    }
    for (size_t e = 0; e < self->workload.edge_count; e++) {
        const haul_span *after = &timeline->ops[self->edges[e].after];
        assert(timeline->ops[self->edges[e].before].end_ns <=
               (on_device(&self->ops[self->edges[e].after]) ? after->start_ns : after->end_ns));
    }
    for (size_t r = 0; r < timeline->resource_count; r++) {
        const haul_resource *resource = &timeline->resources[r];
        assert(resource->busy_ns >= 0 && resource->idle_ns >= 0);
        assert(resource->busy_ns + resource->idle_ns == timeline->makespan_ns);
    }
    assert(timeline->critical_count <= count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes from = {data, size};
    static made self;
    memset(&self, 0, sizeof self);
    make(&from, &self);
    haul_timeline *timeline = NULL, *again = NULL;
    haul_error error = {0};
    const haul_status status = haul_timeline_run(&self.workload, &self.options, &timeline, &error);
    if (status) {
        assert(status == HAUL_STATUS_BAD_INPUT || status == HAUL_STATUS_ABSENT ||
               status == HAUL_STATUS_USAGE);
        assert(!timeline && error.text[0]);
        assert(status != HAUL_STATUS_ABSENT || strstr(error.text, "operation "));
        return 0;
    }
    check_laws(&self, timeline);
    assert(!haul_timeline_run(&self.workload, &self.options, &again, &error));
    assert(!memcmp(timeline->ops, again->ops, timeline->op_count * sizeof *timeline->ops));
    haul_timeline_free(again);
    haul_timeline_free(timeline);
    return 0;
}
