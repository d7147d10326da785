/* Edits, not operations: a plan of changes costs 32 bytes an operation, and is emptied and filled
 * anew for each try; only rewrite_build.c makes operations of it. */
#include "advise/rewrite.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"

haul_status haul_rewrite_init(haul_rewrite *self, const haul_workload *workload,
                              const int64_t *durations_ns, const int64_t *call_durations_ns,
                              haul_error *error)
{
    *self = (haul_rewrite){
        .workload = workload, .durations_ns = durations_ns, .call_durations_ns = call_durations_ns};
    self->edits = calloc(workload->op_count + 1, sizeof *self->edits);
    if (!self->edits)
        return haul_fail_no_memory(error);
    haul_rewrite_clear(self);
    return HAUL_OK;
}

void haul_rewrite_release(haul_rewrite *self)
{
    free(self->edits);
    free(self->edges);
    free(self->inserts);
    free(self->stream_like);
    *self = (haul_rewrite){0};
}

int64_t haul_rewrite_old_dur(const haul_rewrite *self, uint32_t op)
{
    const haul_op *old = &self->workload->ops[op];
    return self->durations_ns && haul_op_on_device(old) ? self->durations_ns[op] : old->dur_ns;
}

int64_t haul_rewrite_old_call_dur(const haul_rewrite *self, uint32_t op)
{
    return self->call_durations_ns ? self->call_durations_ns[op]
                                   : self->workload->ops[op].call_dur_ns;
}

/* An edit that changes nothing. */
static haul_edit untouched(const haul_rewrite *self, uint32_t op)
{
    const haul_op *old = &self->workload->ops[op];
    const bool has_bytes = old->kind == HAUL_OP_COPY || old->kind == HAUL_OP_MEMSET;
    return (haul_edit){
        .dur_ns = haul_rewrite_old_dur(self, op),
        .bytes = has_bytes ? old->bytes : 0,
        .stream = old->stream,
        .into = HAUL_NONE,
        .parts = 1,
    };
}

static void clear(haul_rewrite *self, unsigned kept_marks)
{
    for (uint32_t i = 0; i < self->workload->op_count; i++) {
        const unsigned marks = self->edits[i].marks & kept_marks;
        self->edits[i] = untouched(self, i);
        self->edits[i].marks = (uint16_t)marks;
    }
    self->edge_count = self->insert_count = self->stream_count = 0;
    self->extra_parts = 0;
    self->conflict = false;
}

void haul_rewrite_clear(haul_rewrite *self)
{
    clear(self, 0);
}

/* Two changes of one copy would each be told of a time that the other changed: such plans are
 * refused as a conflict, not scheduled. */
haul_edit *haul_rewrite_claim(haul_rewrite *self, uint32_t op)
{
    haul_edit *edit = &self->edits[op];
    if (edit->marks & HAUL_EDIT_CLAIMED)
        self->conflict = true;
    edit->marks |= HAUL_EDIT_CLAIMED;
    if (self->workload->ops[op].kind == HAUL_OP_COPY)
        edit->marks |= HAUL_EDIT_TOUCHED;
    return edit;
}

/* The numbers of new streams follow those of the workload; what each is like is looked up when the
 * workload is made. */
uint32_t haul_rewrite_streams(haul_rewrite *self, uint32_t like, unsigned count)
{
    if (!haul_grow(&self->stream_like, &self->stream_capacity, self->stream_count + count,
                   sizeof *self->stream_like)) {
        self->failed = true;
        return like;
    }
    const size_t first = self->workload->stream_count + self->stream_count;
    for (unsigned s = 0; s < count; s++)
        self->stream_like[self->stream_count++] = like;
    return (uint32_t)first;
}

void haul_rewrite_edge_parts(haul_rewrite *self, haul_rewrite_edge edge)
{
    if (haul_grow(&self->edges, &self->edge_capacity, self->edge_count + 1, sizeof *self->edges))
        self->edges[self->edge_count++] = edge;
    else
        self->failed = true;
}

void haul_rewrite_edge_add(haul_rewrite *self, uint32_t before, uint32_t after)
{
    haul_rewrite_edge_parts(self,
                            (haul_rewrite_edge){before, after, HAUL_ALL_PARTS, HAUL_ALL_PARTS});
}

uint32_t haul_rewrite_insert(haul_rewrite *self, const haul_insert *insert)
{
    if (!haul_grow(&self->inserts, &self->insert_capacity, self->insert_count + 1,
                   sizeof *self->inserts)) {
        self->failed = true;
        return HAUL_NONE;
    }
    self->inserts[self->insert_count] = *insert;
    self->edits[insert->anchor].marks |= HAUL_EDIT_ANCHOR;
    return (uint32_t)(self->workload->op_count + self->insert_count++);
}

void haul_rewrite_leave_out(haul_rewrite *self, uint32_t op, bool waits)
{
    const haul_op *left = &self->workload->ops[op];
    haul_edit *edit = &self->edits[op];
    edit->marks |= HAUL_EDIT_GONE;
    edit->dur_ns = 0;
    edit->bytes = 0;
    if (left->thread == HAUL_NONE)
        return;
    /* the time of the call goes, but its place in the thread's order must stay: later calls follow
     * it */
    const bool wait = waits && (left->flags & HAUL_OP_BLOCKS);
    const haul_insert call = {
        .op = {.kind = wait ? HAUL_OP_SYNC : HAUL_OP_CALL,
               .detail = wait ? HAUL_SYNC_STREAM : 0,
               .stream = HAUL_NONE},
        .anchor = op,
        .place = HAUL_AS_CALL,
    };
    const uint32_t number = haul_rewrite_insert(self, &call);
    if (wait)
        haul_rewrite_edge_add(self, op, number);
}

/* A wait for one operation that others still need stays as it is. Edges are sorted by the operation
 * that waits, so one walk sees all of a wait's together. */
void haul_rewrite_leave_out_waits(haul_rewrite *self)
{
    const haul_workload *workload = self->workload;
    for (size_t e = 0; e < workload->edge_count;) {
        const uint32_t after = workload->edges[e].after;
        bool inner = workload->ops[after].kind == HAUL_OP_SYNC;
        for (; e < workload->edge_count && workload->edges[e].after == after; e++)
            inner &= (self->edits[workload->edges[e].before].marks & HAUL_EDIT_INNER) != 0;
        if (inner)
            self->edits[after].marks |= HAUL_EDIT_GONE;
    }
}

void haul_rewrite_keep_pins(haul_rewrite *self)
{
    clear(self, HAUL_EDIT_PINNED);
}
