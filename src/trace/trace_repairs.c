/* Operations that a profile has twice, or that overlap on their stream. */
#include <stdlib.h>

#include "trace/trace_builder.h"

/* The last of those that were kept of one start: no more than a few are looked at, whatever the
 * file. Those that were dropped do not count, so that what was kept is kept again when it is
 * written and read once more. */
typedef struct kept_ops {
    uint32_t ops[64];
    size_t count;
} kept_ops;

static bool is_repeat(const hl_trace_builder *self, kept_ops *kept, uint32_t op)
{
    enum { MOST = sizeof kept->ops / sizeof *kept->ops };
    const haul_op *const ops = self->built.ops;
    if (kept->count && ops[kept->ops[0]].start_ns != ops[op].start_ns)
        kept->count = 0;
    for (size_t i = 0; i < kept->count && i < MOST; i++) {
        /* Equal in all that was read, the call's key too. Two kernels of a graph may share a start
         * and a name, but not a stream. */
        const haul_op *const x = &self->built.ops[kept->ops[i]], *const y = &self->built.ops[op];
        const bool same_amount = haul_op_has_bytes(x) ? x->bytes == y->bytes : x->shape == y->shape;
        if (x->start_ns == y->start_ns && x->dur_ns == y->dur_ns && x->kind == y->kind &&
            x->direction == y->direction && x->detail == y->detail && x->stream == y->stream &&
            x->name == y->name && same_amount &&
            hl_trace_key(self, kept->ops[i]) == hl_trace_key(self, op))
            return true;
    }
    kept->ops[kept->count++ % MOST] = op;
    return false;
}

/* Kineto writes an event twice where two of its profilers saw it. */
void hl_trace_drop_repeats(hl_trace_builder *self)
{
    enum { REPEATED = UINT8_MAX };
    haul_op *const ops = self->built.ops;
    const size_t count = self->built.op_count;
    const uint32_t *const order = hl_trace_by_start(self);
    kept_ops of_start = {.count = 0};
    size_t kept = 0;
    if (!order)
        return;
    for (size_t i = 0; i < count; i++)
        if (is_repeat(self, &of_start, order[i]))
            ops[order[i]].kind = REPEATED;
    for (size_t i = 0; i < count; i++)
        if (ops[i].kind != REPEATED)
            ops[kept++] = ops[i];
    self->built.op_count = kept;
    if (kept < count)
        hl_trace_repaired(self, count - kept, "operations written twice, counted once");
}

/* A stream runs its operations one after the other: overlaps come of rounding, of clocks, or of
 * streams that a file does not tell apart. They are kept. */
void hl_trace_note_overlaps(hl_trace_builder *self)
{
    const int64_t rounding_ns = 1000;
    hl_workload_builder *const built = &self->built;
    const uint32_t *const order = hl_trace_by_start(self);
    int64_t *const ends = malloc((built->streams.count + 1) * sizeof *ends);
    uint64_t overlaps = 0;
    built->failed |= !ends;
    for (size_t i = 0; ends && i < built->streams.count; i++)
        ends[i] = INT64_MIN;
    for (size_t i = 0; !built->failed && i < built->op_count; i++) {
        const haul_op *const op = &built->ops[order[i]];
        if (!haul_op_on_device(op) || op->stream == HAUL_NONE)
            continue;
        int64_t *const end = &ends[op->stream];
        overlaps += *end > op->start_ns + rounding_ns;
        *end = *end > op->start_ns + op->dur_ns ? *end : op->start_ns + op->dur_ns;
    }
    if (overlaps)
        hl_trace_repaired(self, overlaps,
                          "operations that overlap the one before them on their stream, kept");
    free(ends);
}
