/* Why no device works: each gap between device operations ends where the next one starts, and what
 * the thread that issued it did until then is why it did not start sooner. A gap is divided among
 * these causes without a rest, so that they add up to the idle time. */
#include "workload/idle.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/intervals.h"
#include "base/order.h"
#include "workload/mpi_calls.h"
#include "workload/range_track.h"

/* Calls of one thread that begin after the operation that the later one issued: clocks of host and
 * device differ there, and a few are looked through. */
enum { CALLS_AHEAD = 64 };

typedef struct cause_key {
    uint32_t kind;
    uint32_t name;
} cause_key;

typedef struct idle_sum {
    const haul_workload *workload;
    hl_workload_range_track own; /* of each thread */
    hl_workload_range_track any; /* of all threads as one; empty where one thread has all */
    uint32_t any_thread;         /* that thread, else HAUL_NONE */
    hl_base_index by_key;        /* of the causes, by kind and name */
    haul_idle_cause *causes;
    size_t count, capacity;
    bool failed;
} idle_sum;

/* PyTorch's profiler marks its steps so: they hold the whole program, and name none of its code. */
static bool names_code(const haul_workload *workload, const haul_named_range *range)
{
    static const char step[] = "ProfilerStep#";
    return range->dur_ns > 0 &&
           strncmp(haul_workload_string(workload, range->name), step, sizeof step - 1) != 0;
}

static void fill_tracks(idle_sum *self)
{
    self->failed |= !hl_workload_range_track_fill(&self->own, self->workload, names_code, false);
    const hl_workload_range_change *const changes = self->own.changes;
    const size_t count = self->own.count;
    const bool alone = count && changes[0].thread == changes[count - 1].thread;
    self->any_thread = alone ? changes[0].thread : HAUL_NONE;
    self->failed |=
        !alone && !hl_workload_range_track_fill(&self->any, self->workload, names_code, true);
}

/* --- causes */

static bool is_cause(const void *of, uint32_t number, const void *key)
{
    const haul_idle_cause *const cause = &((const idle_sum *)of)->causes[number];
    const cause_key *const sought = key;
    return (uint32_t)cause->kind == sought->kind && cause->name == sought->name;
}

static void add_cause(idle_sum *self, haul_idle_kind kind, uint32_t name, int64_t time_ns)
{
    if (time_ns <= 0 || self->failed)
        return;
    const cause_key key = {kind, name};
    self->failed |=
        !hl_base_index_reserve(&self->by_key) ||
        !hl_base_grow(&self->causes, &self->capacity, self->count + 1, sizeof *self->causes);
    if (self->failed)
        return;
    const uint32_t hash = hl_base_hash(&key, sizeof key);
    hl_base_index_slot *const slot = hl_base_index_find(&self->by_key, hash, is_cause, self, &key);
    if (!slot->number) {
        self->causes[self->count++] = (haul_idle_cause){.kind = kind, .name = name};
        *slot = (hl_base_index_slot){(uint32_t)self->count, hash};
        self->by_key.count++;
    }
    haul_idle_cause *const cause = &self->causes[slot->number - 1];
    cause->count++;
    cause->time_ns = hl_base_add_ns(cause->time_ns, time_ns);
}

/* The host's own work, by the innermost range of its thread; where it is in none, by that of any
 * thread; else by the operator whose operation comes next. */
static void add_host(idle_sum *self, bool is_own, uint32_t op, int64_t from_ns, int64_t to_ns)
{
    const uint32_t thread = is_own ? self->workload->ops[op].thread : self->any_thread;
    const hl_workload_range_track *const track =
        is_own || self->any_thread != HAUL_NONE ? &self->own : &self->any;
    size_t next = hl_workload_range_track_after(track, thread, from_ns);
    while (from_ns < to_ns) {
        const hl_workload_range_change *const now = next ? &track->changes[next - 1] : NULL;
        const hl_workload_range_change *const then =
            next < track->count ? &track->changes[next] : NULL;
        const bool changes = then && then->thread == thread && then->time_ns < to_ns;
        const int64_t until_ns = changes ? then->time_ns : to_ns;
        if (now && now->thread == thread && now->name != HAUL_NONE)
            add_cause(self, HAUL_IDLE_HOST, now->name, until_ns - from_ns);
        else if (is_own)
            add_host(self, false, op, from_ns, until_ns);
        else
            add_cause(self, HAUL_IDLE_HOST, haul_op_operator(self->workload, op),
                      until_ns - from_ns);
        from_ns = until_ns;
        next++;
    }
}

static void add_call(idle_sum *self, const haul_op *op, int64_t time_ns)
{
    static const haul_idle_kind of[HAUL_OP_KINDS] = {
        [HAUL_OP_COPY] = HAUL_IDLE_COPY,     [HAUL_OP_MEMSET] = HAUL_IDLE_LAUNCH,
        [HAUL_OP_KERNEL] = HAUL_IDLE_LAUNCH, [HAUL_OP_SYNC] = HAUL_IDLE_WAIT,
        [HAUL_OP_CALL] = HAUL_IDLE_CALL,     [HAUL_OP_MESSAGE] = HAUL_IDLE_LAUNCH};
    /* the name of a kernel is not its call's, and copies of one kind go together */
    add_cause(self, of[op->kind], haul_op_on_host(op) ? op->name : HAUL_NONE, time_ns);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Adds the work of operation `number`'s thread in [from, to), which ends where it calls for that
 * operation, or where the operation starts: from its last call backwards. */
static void add_thread(idle_sum *self, uint32_t number, int64_t from_ns, int64_t to_ns)
{
    const haul_op *const ops = self->workload->ops;
    uint32_t at = ops[number].thread_prev;
    for (int ahead = 0; at != HAUL_NONE && from_ns < to_ns; at = ops[at].thread_prev) {
        const haul_op *const op = &ops[at];
        if (!(op->flags & HAUL_OP_HAS_CALL) && haul_op_on_device(op))
            continue;
        const int64_t begin_ns = haul_op_on_host(op) ? op->start_ns : op->call_ns;
        const int64_t dur_ns = haul_op_on_host(op) ? op->dur_ns : op->call_dur_ns;
        if (begin_ns >= to_ns && ++ahead > CALLS_AHEAD)
            break;
        if (begin_ns >= to_ns)
            continue;
        const int64_t end_ns = least(hl_base_end_of(begin_ns, dur_ns), to_ns);
        if (end_ns > from_ns) {
            add_host(self, true, number, end_ns, to_ns);
            add_call(self, op, end_ns - most(begin_ns, from_ns));
            to_ns = most(begin_ns, from_ns);
        }
        if (op->thread != ops[number].thread)
            number = at; /* the thread whose turn it was before */
        if (begin_ns <= from_ns)
            break;
    }
    add_host(self, true, number, from_ns, to_ns);
}

/* Nothing runs from `from_ns` until operation `number` starts. */
static void add_gap(idle_sum *self, uint32_t number, int64_t from_ns)
{
    const haul_op *const op = &self->workload->ops[number];
    const int64_t to_ns = op->start_ns;
    if (!(op->flags & HAUL_OP_HAS_CALL) || op->thread == HAUL_NONE) {
        add_cause(self, HAUL_IDLE_UNKNOWN, HAUL_NONE, to_ns - from_ns);
        return;
    }
    const int64_t called_ns = least(most(op->call_ns, from_ns), to_ns);
    const int64_t returned_ns =
        least(most(hl_base_end_of(op->call_ns, op->call_dur_ns), called_ns), to_ns);
    add_thread(self, number, from_ns, called_ns);
    add_call(self, op, returned_ns - called_ns);
    add_cause(self, HAUL_IDLE_START, HAUL_NONE, to_ns - returned_ns);
}

/* The longest first; equal ones as they were met, since numbers of names are a file's own. */
static void sort_causes(idle_sum *self)
{
    uint32_t *const order = malloc((self->count + 1) * sizeof *order);
    haul_idle_cause *const sorted = malloc((self->count + 1) * sizeof *sorted);
    const hl_base_keys times = {self->count ? &self->causes->time_ns : NULL, sizeof *self->causes,
                                ~HL_KEYS_SIGNED};
    for (uint32_t i = 0; order && i < self->count; i++)
        order[i] = i;
    self->failed |= !order || !sorted || !hl_base_order_sort(order, self->count, &times);
    for (size_t i = 0; !self->failed && i < self->count; i++)
        sorted[i] = self->causes[order[i]];
    free(order);
    free(self->causes);
    self->causes = sorted;
}

haul_status hl_workload_idle_causes(const haul_workload *workload, haul_idle_cause **causes,
                                    size_t *count, haul_error *error)
{
    idle_sum self = {.workload = workload};
    int64_t end_ns = 0;
    bool begun = false;
    fill_tracks(&self);
    for (size_t i = 0; !self.failed && i < workload->op_count; i++) {
        const haul_op *const op = &workload->ops[i];
        if (!haul_op_on_device(op) || hl_workload_is_of_hosts(workload, op))
            continue;
        const int64_t op_end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
        if (begun && op->start_ns > end_ns)
            add_gap(&self, (uint32_t)i, end_ns);
        end_ns = begun ? most(end_ns, op_end_ns) : op_end_ns;
        begun = true;
    }
    /* before causes are sorted, which takes as much memory again */
    hl_base_index_release(&self.by_key);
    free(self.own.changes);
    free(self.any.changes);
    if (!self.failed)
        sort_causes(&self);
    if (self.failed) {
        free(self.causes);
        return hl_base_fail_no_memory(error);
    }
    *causes = self.causes;
    *count = self.count;
    return HAUL_OK;
}

const char *hl_workload_idle_phrase(haul_idle_kind kind)
{
    static const char *const phrases[] = {
#define IDLE_PHRASE(name, text, phrase) phrase,
        HAUL_IDLE_LIST(IDLE_PHRASE)
#undef IDLE_PHRASE
    };
    return (unsigned)kind < HAUL_IDLE_KINDS ? phrases[kind] : "unknown";
}
