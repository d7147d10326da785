/* Edits, not operations: a plan of changes costs 32 bytes an operation, and is emptied and filled
 * anew for each try; only rewrite_build.c makes operations of it. */
#include "advise/rewrite.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "workload/op_class.h"

haul_status hl_advise_rewrite_init(hl_advise_rewrite *self, const haul_workload *workload,
                                   const int64_t *durations_ns, const int64_t *call_durations_ns,
                                   haul_error *error)
{
    *self = (hl_advise_rewrite){
        .workload = workload, .durations_ns = durations_ns, .call_durations_ns = call_durations_ns};
    self->host_time = 1;
    self->edits = calloc(workload->op_count + 1, sizeof *self->edits);
    if (!self->edits)
        return hl_base_fail_no_memory(error);
    hl_advise_rewrite_clear(self);
    return HAUL_OK;
}

void hl_advise_rewrite_release(hl_advise_rewrite *self)
{
    free(self->edits);
    free(self->edges);
    free(self->inserts);
    free(self->stream_like);
    *self = (hl_advise_rewrite){0};
}

int64_t hl_advise_rewrite_old_dur(const hl_advise_rewrite *self, uint32_t op)
{
    const haul_op *old = &self->workload->ops[op];
    return self->durations_ns && haul_op_on_device(old) ? self->durations_ns[op] : old->dur_ns;
}

int64_t hl_advise_rewrite_old_call_dur(const hl_advise_rewrite *self, uint32_t op)
{
    return self->call_durations_ns ? self->call_durations_ns[op]
                                   : hl_workload_call_dur_ns(&self->workload->ops[op]);
}

static void clear(hl_advise_rewrite *self, unsigned kept_marks)
{
    for (uint32_t i = 0; i < self->workload->op_count; i++) {
        const unsigned marks = self->edits[i].marks & kept_marks;
        /* An edit that changes nothing. */
        const haul_op *old = &self->workload->ops[i];
        const bool has_bytes = old->kind == HAUL_OP_COPY || old->kind == HAUL_OP_MEMSET;
        self->edits[i] = (hl_advise_edit){
            .dur_ns = hl_advise_rewrite_old_dur(self, i),
            .bytes = has_bytes ? old->bytes : 0,
            .stream = old->stream,
            .into = HAUL_NONE,
            .parts = 1,
        };
        self->edits[i].marks = (uint16_t)marks;
    }
    self->edge_count = self->insert_count = self->stream_count = 0;
    self->extra_parts = 0;
    self->lock_ns = 0;
    self->conflict = false;
}

void hl_advise_rewrite_clear(hl_advise_rewrite *self)
{
    clear(self, 0);
}

/* Two changes of one copy would each be told of a time that the other changed: such plans are
 * refused as a conflict, not scheduled. */
hl_advise_edit *hl_advise_rewrite_claim(hl_advise_rewrite *self, uint32_t op)
{
    hl_advise_edit *edit = &self->edits[op];
    if (edit->marks & HL_ADVISE_EDIT_CLAIMED)
        self->conflict = true;
    edit->marks |= HL_ADVISE_EDIT_CLAIMED;
    if (self->workload->ops[op].kind == HAUL_OP_COPY)
        edit->marks |= HL_ADVISE_EDIT_TOUCHED;
    return edit;
}

/* The numbers of new streams follow those of the workload; what each is like is looked up when the
 * workload is made. */
uint32_t hl_advise_rewrite_streams(hl_advise_rewrite *self, uint32_t like, unsigned count)
{
    if (!hl_base_grow(&self->stream_like, &self->stream_capacity, self->stream_count + count,
                      sizeof *self->stream_like)) {
        self->failed = true;
        return like;
    }
    const size_t first = self->workload->stream_count + self->stream_count;
    for (unsigned s = 0; s < count; s++)
        self->stream_like[self->stream_count++] = like;
    return (uint32_t)first;
}

void hl_advise_rewrite_edge_parts(hl_advise_rewrite *self, hl_advise_rewrite_edge edge)
{
    if (hl_base_grow(&self->edges, &self->edge_capacity, self->edge_count + 1, sizeof *self->edges))
        self->edges[self->edge_count++] = edge;
    else
        self->failed = true;
}

void hl_advise_rewrite_edge_add(hl_advise_rewrite *self, uint32_t before, uint32_t after)
{
    hl_advise_rewrite_edge_parts(
        self, (hl_advise_rewrite_edge){before, after, HL_ADVISE_ALL_PARTS, HL_ADVISE_ALL_PARTS});
}

uint32_t hl_advise_rewrite_insert(hl_advise_rewrite *self, const hl_advise_insert *insert)
{
    if (!hl_base_grow(&self->inserts, &self->insert_capacity, self->insert_count + 1,
                      sizeof *self->inserts)) {
        self->failed = true;
        return HAUL_NONE;
    }
    self->inserts[self->insert_count] = *insert;
    self->edits[insert->anchor].marks |= HL_ADVISE_EDIT_ANCHOR;
    return (uint32_t)(self->workload->op_count + self->insert_count++);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* To promise no time that a change of the copy does not save, such as a driver's that allocates
 * memory in the call, the part of the call's time that the operation does not explain is taken out.
 * It explains the time until its end where the call blocked, else the time beside it, and that to
 * stage its bytes: as long as its class's calls show, or, where the call blocked, as the copy
 * takes. */
int64_t hl_advise_call_unexplained_ns(const hl_advise_rewrite *self, uint32_t i)
{
    const haul_op *op = &self->workload->ops[i];
    const int64_t returned_ns = hl_base_end_of(op->call_ns, op->call_dur_ns);
    const bool is_staged = op->detail == HAUL_MEMORY_PAGEABLE && op->flags & HAUL_OP_BLOCKS;
    const int64_t staged_ns = larger(is_staged ? op->dur_ns : 0, self->edits[i].staged_ns);
    const int64_t until_end_ns = hl_base_end_of(op->start_ns, op->dur_ns) - op->call_ns;
    const int64_t explained_ns = op->flags & HAUL_OP_BLOCKS
                                     ? larger(until_end_ns, 0)
                                     : larger(returned_ns - op->start_ns, op->dur_ns);
    return larger(op->call_dur_ns - hl_base_add_ns(explained_ns, staged_ns), 0);
}

/* Larger copies from pageable memory are staged in their calls, and that is theirs
 * (docs/models.md). */
enum { UNSTAGED_BYTES = 64 * 1024 };

/* Of the call of an operation that is left out, what will be spent all the same, in the next call
 * if not in this: the driver's start, a compiler. It shows as a delay of the operation's start, or
 * as time from call to start, or in the call, of more than the spread about what is usual. */
static int64_t inherited_ns(const hl_advise_rewrite *self, uint32_t i)
{
    const haul_op *op = &self->workload->ops[i];
    /* First its own recorded delay, if it has one. */
    size_t low = 0, high = self->delay_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (self->delays[middle].op < i)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_delayed = low < self->delay_count && self->delays[low].op == i;
    int64_t kept_ns = is_delayed ? larger(self->delays[low].delay_ns, 0) : 0;
    const int64_t issue_ns = larger(op->start_ns - op->call_ns, 0);
    const int64_t usual_ns = self->issue_ns ? self->issue_ns[op->kind] : 0;
    if (usual_ns > self->spread_ns)
        kept_ns = hl_base_add_ns(kept_ns, issue_ns < usual_ns ? issue_ns : usual_ns);
    const int64_t call_ns = hl_advise_call_unexplained_ns(self, i);
    if (call_ns > self->spread_ns && op->kind == HAUL_OP_COPY && op->bytes <= UNSTAGED_BYTES)
        kept_ns = hl_base_add_ns(kept_ns, call_ns);
    return kept_ns;
}

void hl_advise_rewrite_leave_out(hl_advise_rewrite *self, uint32_t op, bool waits)
{
    const haul_op *left = &self->workload->ops[op];
    hl_advise_edit *edit = &self->edits[op];
    edit->marks |= HL_ADVISE_EDIT_GONE;
    edit->dur_ns = 0;
    edit->bytes = 0;
    if (left->thread == HAUL_NONE)
        return;
    const int64_t kept_ns = inherited_ns(self, op);
    const hl_advise_insert kept = {.op = {.kind = HAUL_OP_CALL, .stream = HAUL_NONE},
                                   .dur_ns = kept_ns,
                                   .call_dur_ns = kept_ns,
                                   .anchor = op,
                                   .place = HL_ADVISE_BEFORE_CALL};
    if (kept_ns)
        (void)hl_advise_rewrite_insert(self, &kept);
    /* the time of the call goes, but its place in the thread's order must stay: later calls follow
     * it */
    const bool wait = waits && (left->flags & HAUL_OP_BLOCKS);
    const hl_advise_insert call = {
        .op = {.kind = wait ? HAUL_OP_SYNC : HAUL_OP_CALL,
               .detail = wait ? HAUL_SYNC_STREAM : 0,
               .stream = HAUL_NONE},
        .anchor = op,
        .place = HL_ADVISE_AS_CALL,
    };
    const uint32_t number = hl_advise_rewrite_insert(self, &call);
    if (wait)
        hl_advise_rewrite_edge_add(self, op, number);
}

/* A wait for one operation that others still need stays as it is. Edges are sorted by the operation
 * that waits, so one walk sees all of a wait's together. */
void hl_advise_rewrite_leave_out_waits(hl_advise_rewrite *self)
{
    const haul_workload *workload = self->workload;
    for (size_t e = 0; e < workload->edge_count;) {
        const uint32_t after = workload->edges[e].after;
        bool inner = workload->ops[after].kind == HAUL_OP_SYNC;
        for (; e < workload->edge_count && workload->edges[e].after == after; e++)
            inner &= (self->edits[workload->edges[e].before].marks & HL_ADVISE_EDIT_INNER) != 0;
        if (inner)
            self->edits[after].marks |= HL_ADVISE_EDIT_GONE;
    }
}

/* One step of each of two products, by odd numbers that share no bits in a row (MurmurHash3's and
 * SplitMix64's finishing factors). */
static void mix(hl_advise_rewrite_key *key, uint64_t word)
{
    key->words[0] = (key->words[0] ^ word) * UINT64_C(0xff51afd7ed558ccd);
    key->words[0] ^= key->words[0] >> 32;
    key->words[1] = (key->words[1] + word) * UINT64_C(0xbf58476d1ce4e5b9);
    key->words[1] ^= key->words[1] >> 29;
}

/* Marks that say to whom an edit belongs change no workload. */
hl_advise_rewrite_key hl_advise_rewrite_key_of(const hl_advise_rewrite *self)
{
    enum { OF_CHANGES = HL_ADVISE_EDIT_TOUCHED | HL_ADVISE_EDIT_CLAIMED | HL_ADVISE_EDIT_LOCKED };
    hl_advise_rewrite_key key = {{1, 2}};
    for (size_t i = 0; i < self->workload->op_count; i++) {
        const hl_advise_edit *edit = &self->edits[i];
        const unsigned marks = edit->marks & ~(unsigned)OF_CHANGES;
        mix(&key, (uint64_t)edit->dur_ns);
        mix(&key, edit->bytes);
        mix(&key, (uint64_t)edit->stream << 32 | edit->into);
        mix(&key, (uint64_t)edit->staged_ns << 32 | marks << 8 | edit->parts);
    }
    for (size_t e = 0; e < self->edge_count; e++) {
        const hl_advise_rewrite_edge *edge = &self->edges[e];
        mix(&key, (uint64_t)edge->before << 32 | edge->after);
        mix(&key, (uint64_t)edge->before_part << 8 | edge->after_part);
    }
    for (size_t n = 0; n < self->insert_count; n++) {
        const hl_advise_insert *insert = &self->inserts[n];
        const haul_op *op = &insert->op;
        mix(&key, (uint64_t)insert->dur_ns);
        mix(&key, (uint64_t)insert->call_dur_ns);
        mix(&key, (uint64_t)insert->anchor << 32 | (unsigned)insert->place);
        mix(&key, op->bytes);
        mix(&key, (uint64_t)op->stream << 32 | (uint32_t)op->kind << 24 |
                      (uint32_t)op->direction << 16 | (uint32_t)op->detail << 8 | op->flags);
    }
    for (size_t s = 0; s < self->stream_count; s++)
        mix(&key, self->stream_like[s]);
    return key;
}

void hl_advise_rewrite_keep_pins(hl_advise_rewrite *self)
{
    clear(self, HL_ADVISE_EDIT_PINNED);
}
