/* Why no device works: each gap between device operations ends where the next one starts, and what
 * the thread that issued it did until then is why it did not start sooner. A gap is divided among
 * these causes without a rest, so that they add up to the idle time. */
#include "workload/idle.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "base/records.h"
#include "workload/range_track.h"

/* Calls of one thread that begin after the operation that the later one issued: clocks of host and
 * device differ there, and a few are looked through. */
enum { CALLS_AHEAD = 64 };

/* Without padding: compared byte for byte. */
typedef struct cause_key {
    uint32_t kind;
    uint32_t name;
} cause_key;

typedef struct idle_sum {
    const haul_workload *workload;
    hl_workload_range_track own; /* of each thread */
    hl_workload_range_track any; /* of all threads as one */
    hl_base_records keys;
    haul_idle_cause *causes; /* by key */
    size_t capacity;
    bool failed;
} idle_sum;

static void fill_tracks(idle_sum *self)
{
    const haul_workload *const workload = self->workload;
    haul_named_range *ranges = malloc((workload->range_count + 1) * sizeof *ranges);
    size_t count = 0;
    for (size_t i = 0; ranges && i < workload->range_count; i++) {
        /* PyTorch's profiler marks its steps so: they hold the whole program, and name none of its
         * code. */
        static const char step[] = "ProfilerStep#";
        if (workload->ranges[i].dur_ns > 0 &&
            strncmp(haul_workload_string(self->workload, workload->ranges[i].name), step,
                    sizeof step - 1) != 0)
            ranges[count++] = workload->ranges[i];
    }
    self->failed |= !ranges || !hl_workload_range_track_fill(&self->any, ranges, count, true) ||
                    !hl_workload_range_track_fill(&self->own, ranges, count, false);
    free(ranges);
}

/* --- causes */

static void add_cause(idle_sum *self, haul_idle_kind kind, uint32_t name, int64_t time_ns)
{
    if (time_ns <= 0 || self->failed)
        return;
    const cause_key key = {kind, name};
    self->keys.size = sizeof key;
    const size_t before = self->keys.count;
    const uint32_t number = hl_base_records_add(&self->keys, &key);
    self->failed |= number == UINT32_MAX || !hl_base_grow(&self->causes, &self->capacity,
                                                          self->keys.count, sizeof *self->causes);
    if (self->failed)
        return;
    haul_idle_cause *const cause = &self->causes[number];
    if (number == before)
        *cause = (haul_idle_cause){.kind = kind, .name = name};
    cause->count++;
    cause->time_ns = hl_base_add_ns(cause->time_ns, time_ns);
}

/* The host's own work, by the innermost range of its thread; where it is in none, by that of any
 * thread; else by the operator whose operation comes next. */
static void add_host(idle_sum *self, const hl_workload_range_track *track, uint32_t op,
                     int64_t from_ns, int64_t to_ns)
{
    const bool is_own = track == &self->own;
    const uint32_t thread = is_own ? self->workload->ops[op].thread : HAUL_NONE;
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
            add_host(self, &self->any, op, from_ns, until_ns);
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
            add_host(self, &self->own, number, end_ns, to_ns);
            add_call(self, op, end_ns - most(begin_ns, from_ns));
            to_ns = most(begin_ns, from_ns);
        }
        if (op->thread != ops[number].thread)
            number = at; /* the thread whose turn it was before */
        if (begin_ns <= from_ns)
            break;
    }
    add_host(self, &self->own, number, from_ns, to_ns);
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

static int compare_causes(const void *a, const void *b)
{
    const haul_idle_cause *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
                              : (x->name > y->name) - (x->name < y->name);
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
        if (!haul_op_on_device(op))
            continue;
        const int64_t op_end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
        if (begun && op->start_ns > end_ns)
            add_gap(&self, (uint32_t)i, end_ns);
        end_ns = begun ? most(end_ns, op_end_ns) : op_end_ns;
        begun = true;
    }
    if (!self.failed && self.keys.count)
        qsort(self.causes, self.keys.count, sizeof *self.causes, compare_causes);
    const size_t made = self.keys.count;
    hl_base_records_release(&self.keys);
    free(self.own.changes);
    free(self.any.changes);
    if (self.failed) {
        free(self.causes);
        return hl_base_fail_no_memory(error);
    }
    *causes = self.causes;
    *count = made;
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
