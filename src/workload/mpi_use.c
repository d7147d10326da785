/* The time of calls of MPI: that for late processes, and that of transfer. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/intervals.h"
#include "base/records.h"
#include "haul/analysis.h"
#include "workload/mpi_calls.h"
#include "workload/op_class.h"

typedef struct counter {
    const haul_workload *workload;
    int64_t *ranks;         /* of threads, -1 where not known */
    unsigned char *is_call; /* of strings: 1 those of MPI, 2 others; 0 not looked at */
    hl_base_records keys;   /* a name or a rank, and which */
    haul_mpi_use *uses;
    bool failed;
} counter;

typedef struct use_key {
    int64_t value;
    int64_t is_rank;
} use_key;

static haul_mpi_use *use_of(counter *self, int64_t value, bool is_rank)
{
    const use_key key = {value, is_rank};
    const size_t before = self->keys.count;
    const uint32_t number = hl_base_records_add(&self->keys, &key);
    self->failed |= number == UINT32_MAX;
    if (!self->failed && number == before) {
        haul_mpi_use *const grown = realloc(self->uses, (number + 1) * sizeof *grown);
        self->failed |= !grown;
        self->uses = grown ? grown : self->uses;
        if (grown)
            grown[number] = (haul_mpi_use){.name = is_rank ? HAUL_NONE : (uint32_t)value,
                                           .rank = is_rank ? value : -1};
    }
    return self->failed ? NULL : &self->uses[number];
}

static bool is_of_mpi(counter *self, uint32_t name)
{
    if (name == HAUL_NONE)
        return false;
    if (!self->is_call[name])
        self->is_call[name] =
            strncmp(haul_workload_string(self->workload, name), "MPI_", 4) ? 2 : 1;
    return self->is_call[name] == 1;
}

/* The operation for which a message waited last: the call that sends, or the entry of the last one
 * that had to be there. */
static const haul_op *last_for(const haul_workload *of, uint32_t message)
{
    const haul_op *const op = &of->ops[message];
    const haul_op *last = op->flags & HAUL_OP_HAS_CALL ? op : NULL;
    int64_t last_ns = last ? op->call_ns : INT64_MIN;
    for (size_t e = hl_workload_first_edge(of, message);
         e < of->edge_count && of->edges[e].after == message; e++) {
        const haul_op *const before = &of->ops[of->edges[e].before];
        const int64_t end_ns = hl_base_end_of(before->start_ns, before->dur_ns);
        if (end_ns < last_ns)
            continue;
        last = before;
        last_ns = end_ns;
    }
    return last;
}

/* A wait's messages: from when the last of them could go on, and their bytes. Returns that one, or
 * HAUL_NONE. */
static uint32_t add_wait(const haul_workload *of, uint32_t op, size_t edge, haul_mpi_use *one)
{
    const haul_op *const wait = &of->ops[op];
    uint32_t last = HAUL_NONE;
    for (; edge < of->edge_count && of->edges[edge].after == op; edge++) {
        const uint32_t before = of->edges[edge].before;
        if (of->ops[before].kind != HAUL_OP_MESSAGE)
            continue;
        one->bytes = hl_base_add_bytes(one->bytes, of->ops[before].bytes);
        if (last == HAUL_NONE || of->ops[before].start_ns > of->ops[last].start_ns)
            last = before;
    }
    if (last == HAUL_NONE)
        return last;
    const int64_t late_ns = of->ops[last].start_ns - wait->start_ns;
    one->late_ns = late_ns < 0 ? 0 : late_ns < wait->dur_ns ? late_ns : wait->dur_ns;
    one->transfer_ns = wait->dur_ns - one->late_ns;
    return last;
}

/* False: the operation is no call of MPI. */
static bool measure(counter *self, uint32_t number, size_t edge, haul_mpi_use *one,
                    const haul_op **cause)
{
    uint32_t last = HAUL_NONE;
    const haul_op *const op = &self->workload->ops[number];
    *one = (haul_mpi_use){.calls = 1, .time_ns = op->call_dur_ns};
    if (!(op->flags & HAUL_OP_HAS_CALL) || !is_of_mpi(self, op->name))
        return false;
    *cause = NULL;
    if (op->kind == HAUL_OP_SYNC)
        last = add_wait(self->workload, number, edge, one);
    else if (op->kind == HAUL_OP_MESSAGE && op->flags & HAUL_OP_BLOCKS)
        last = number;
    if (last != HAUL_NONE)
        *cause = last_for(self->workload, last);
    if (op->kind != HAUL_OP_MESSAGE)
        return true;
    one->bytes = op->bytes;
    const int64_t late_ns = op->start_ns - op->call_ns;
    if (op->flags & HAUL_OP_BLOCKS) {
        one->late_ns = late_ns < 0 ? 0 : late_ns < one->time_ns ? late_ns : one->time_ns;
        one->transfer_ns = one->time_ns - one->late_ns;
    }
    return true;
}

static void add_to(haul_mpi_use *sum, const haul_mpi_use *one)
{
    if (!sum)
        return;
    sum->calls += one->calls;
    sum->bytes = hl_base_add_bytes(sum->bytes, one->bytes);
    sum->time_ns = hl_base_add_ns(sum->time_ns, one->time_ns);
    sum->late_ns = hl_base_add_ns(sum->late_ns, one->late_ns);
    sum->transfer_ns = hl_base_add_ns(sum->transfer_ns, one->transfer_ns);
    sum->caused_ns = hl_base_add_ns(sum->caused_ns, one->caused_ns);
}

static void find_ranks(counter *self)
{
    const hl_workload_owned_workload *const of = (const hl_workload_owned_workload *)self->workload;
    for (size_t i = 0; i < self->workload->thread_count; i++)
        self->ranks[i] = -1;
    for (size_t i = 0; i < of->mpi_call_count; i++)
        if (of->mpi_calls[i].post.thread < self->workload->thread_count)
            self->ranks[of->mpi_calls[i].post.thread] = of->mpi_calls[i].rank;
}

/* Times of each rank: from its first call to the end of its last, of any kind. */
static void add_spans(counter *self)
{
    const size_t count = self->keys.count;
    int64_t *const first_ns = malloc((count + 1) * sizeof *first_ns);
    self->failed |= !first_ns;
    for (size_t i = 0; first_ns && i < count; i++)
        first_ns[i] = INT64_MAX;
    for (size_t i = 0; first_ns && i < self->workload->op_count; i++) {
        const haul_op *const op = &self->workload->ops[i];
        const use_key key = {
            op->flags & HAUL_OP_HAS_CALL && op->thread != HAUL_NONE ? self->ranks[op->thread] : -1,
            1};
        const uint32_t number = key.value < 0 ? HAUL_NONE : hl_base_records_find(&self->keys, &key);
        if (number == HAUL_NONE || !self->uses)
            continue;
        first_ns[number] = op->call_ns < first_ns[number] ? op->call_ns : first_ns[number];
        const int64_t span_ns = hl_base_end_of(op->call_ns, op->call_dur_ns) - first_ns[number];
        haul_mpi_use *const use = &self->uses[number];
        use->span_ns = span_ns > use->span_ns ? span_ns : use->span_ns;
    }
    free(first_ns);
}

static int compare_uses(const void *a, const void *b)
{
    const haul_mpi_use *x = a, *y = b;
    if ((x->rank < 0) != (y->rank < 0))
        return x->rank < 0 ? -1 : 1;
    if (x->rank >= 0)
        return hl_base_compare_signed(x->rank, y->rank);
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return hl_base_compare_unsigned(x->name, y->name);
}

static void count_calls(counter *self)
{
    const haul_workload *const of = self->workload;
    size_t edge = 0;
    for (uint32_t i = 0; i < of->op_count && !self->failed; i++) {
        haul_mpi_use one, caused = {.calls = 0};
        const haul_op *cause;
        while (edge < of->edge_count && of->edges[edge].after < i)
            edge++;
        if (!measure(self, i, edge, &one, &cause))
            continue;
        const int64_t rank = of->ops[i].thread == HAUL_NONE ? -1 : self->ranks[of->ops[i].thread];
        add_to(use_of(self, of->ops[i].name, false), &one);
        if (rank >= 0)
            add_to(use_of(self, rank, true), &one);
        const int64_t by = cause && cause->thread != HAUL_NONE ? self->ranks[cause->thread] : -1;
        caused.caused_ns = one.late_ns;
        if (by >= 0 && by != rank)
            add_to(use_of(self, by, true), &caused);
    }
}

haul_status haul_mpi_uses(const haul_workload *workload, haul_mpi_use **uses, size_t *count,
                          haul_error *error)
{
    const hl_workload_owned_workload *const of = (const hl_workload_owned_workload *)workload;
    counter self = {.workload = workload,
                    .ranks = malloc((workload->thread_count + 1) * sizeof *self.ranks),
                    .is_call = calloc(of->strings.count + 1, 1),
                    .keys.size = sizeof(use_key)};
    self.failed = !self.ranks || !self.is_call;
    if (!self.failed) {
        find_ranks(&self);
        count_calls(&self);
    }
    if (!self.failed)
        add_spans(&self);
    const size_t made = self.keys.count;
    free(self.ranks);
    free(self.is_call);
    hl_base_records_release(&self.keys);
    if (self.failed) {
        free(self.uses);
        return hl_base_fail_no_memory(error);
    }
    if (made)
        qsort(self.uses, made, sizeof *self.uses, compare_uses);
    *uses = self.uses;
    *count = made;
    return HAUL_OK;
}
