/* Pauses of a GPU between two operations of one stream of which the second was queued. */
#ifndef HAUL_TIMELINE_STREAM_GAP_H
#define HAUL_TIMELINE_STREAM_GAP_H

#include "haul/timeline.h"

typedef enum hl_timeline_gap_kind {
    HL_TIMELINE_GAP_NONE,   /* one of them crosses the link or is the host's */
    HL_TIMELINE_GAP_KERNEL, /* both are kernels */
    HL_TIMELINE_GAP_MEMORY, /* one or both are memsets or copies within the device */
} hl_timeline_gap_kind;

/* Whether an operation is a memset or a copy within its device. */
static inline bool hl_timeline_is_memory_op(const haul_op *op)
{
    return op->kind == HAUL_OP_MEMSET ||
           (op->kind == HAUL_OP_COPY && op->direction == HAUL_DIRECTION_DTOD);
}

static inline hl_timeline_gap_kind hl_timeline_gap_kind_of(const haul_op *before, const haul_op *op)
{
    const bool is_kernel = op->kind == HAUL_OP_KERNEL;
    const bool after_kernel = before->kind == HAUL_OP_KERNEL;
    if (is_kernel && after_kernel)
        return HL_TIMELINE_GAP_KERNEL;
    if ((is_kernel || hl_timeline_is_memory_op(op)) &&
        (after_kernel || hl_timeline_is_memory_op(before)))
        return HL_TIMELINE_GAP_MEMORY;
    return HL_TIMELINE_GAP_NONE;
}

/* The pause between the two on a device. */
static inline int64_t hl_timeline_gap_of(const haul_timeline_device *device, const haul_op *before,
                                         const haul_op *op)
{
    if (!device->kernel_gap_ns && !device->memory_gap_ns)
        return 0;
    switch (hl_timeline_gap_kind_of(before, op)) {
    case HL_TIMELINE_GAP_KERNEL:
        return device->kernel_gap_ns;
    case HL_TIMELINE_GAP_MEMORY:
        return device->memory_gap_ns;
    case HL_TIMELINE_GAP_NONE:
        break;
    }
    return 0;
}

#endif
