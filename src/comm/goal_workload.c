/* A recorded or predicted program as a GOAL schedule. Its lines are those that LogGOPSim's txt2bin
 * reads: a label is defined before it is required, messages have at least a byte, and a CPU's
 * number has 8 bits (src/LogGOPSim/txt2bin.re and Goal.hpp of github.com/spcl/LogGOPSim). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/intervals.h"
#include "haul/collective.h"
#include "haul/goal.h"
#include "workload/mpi_calls.h"

enum { CPUS = 256, RANKS_MOST = 1 << 12 };

typedef struct writer {
    const haul_workload *workload;
    FILE *out;
    uint32_t ranks;
    const int64_t *recorded; /* the ranks that the profile has, ascending */
    size_t recorded_count;
    const uint32_t *first_edge; /* of each operation */
    const uint32_t *partner;    /* of each message, the other rank's; HAUL_NONE: a calculation */
    uint8_t *cpus;              /* of each stream of the rank that is written */
    uint64_t kept;
} writer;

static int64_t rank_of(const haul_workload *workload, const haul_op *op)
{
    const uint32_t device =
        op->stream < workload->stream_count ? workload->streams[op->stream].device : HAUL_NONE;
    const int64_t rank =
        device < workload->device_count ? workload->devices[device].rank : workload->rank;
    return rank >= 0 ? rank : workload->rank >= 0 ? workload->rank : 0;
}

/* Whether a collective can be written as messages of all ranks. */
static bool is_expanded(const writer *self, const haul_communication *of)
{
    return of->bytes && of->ranks == self->ranks && self->ranks > 1 &&
           of->kind != HAUL_COLLECTIVE_SEND_RECEIVE && of->kind != HAUL_COLLECTIVE_OTHER;
}

/* The operation before it on its stream, or an edge's: the recorded pause since the latest of their
 * ends is kept, for it is the host's. */
static int64_t pause_of(const writer *self, uint32_t op)
{
    const haul_workload *workload = self->workload;
    const haul_op *ops = workload->ops;
    int64_t latest_ns = INT64_MIN;
    if (ops[op].stream_prev != HAUL_NONE) {
        const haul_op *before = &ops[ops[op].stream_prev];
        latest_ns = hl_base_end_of(before->start_ns, before->dur_ns);
    }
    for (uint32_t e = self->first_edge[op];
         e < workload->edge_count && workload->edges[e].after == op; e++) {
        const haul_op *before = &ops[workload->edges[e].before];
        const int64_t end_ns = hl_base_end_of(before->start_ns, before->dur_ns);
        if (haul_op_on_device(before) && end_ns > latest_ns)
            latest_ns = end_ns;
    }
    if (latest_ns == INT64_MIN)
        latest_ns = ops[0].start_ns;
    return ops[op].start_ns > latest_ns ? ops[op].start_ns - latest_ns : 0;
}

/* "c12 requires c3" for what it waits for on the same rank. */
static void put_requirements(const writer *self, uint32_t op, const char *label, int64_t rank)
{
    const haul_workload *workload = self->workload;
    const haul_op *ops = workload->ops;
    if (ops[op].stream_prev != HAUL_NONE)
        (void)fprintf(self->out, "%s%" PRIu32 " requires c%" PRIu32 "\n", label, op,
                      ops[op].stream_prev);
    for (uint32_t e = self->first_edge[op];
         e < workload->edge_count && workload->edges[e].after == op; e++) {
        const uint32_t before = workload->edges[e].before;
        /* clocks of a profile may differ, and no cycle may come of it */
        const bool is_earlier =
            before < op ||
            hl_base_end_of(ops[before].start_ns, ops[before].dur_ns) <= ops[op].start_ns;
        if (is_earlier && before != ops[op].stream_prev && haul_op_on_device(&ops[before]) &&
            rank_of(workload, &ops[before]) == rank)
            (void)fprintf(self->out, "%s%" PRIu32 " requires c%" PRIu32 "\n", label, op, before);
    }
}

/* One message of a collective: number `step` of operation `op`. */
typedef struct message {
    uint32_t op, step, peer, tag;
    uint64_t bytes;
} message;

/* follows: behind what the step before received */
static void put_send(const writer *self, const message *of, bool follows)
{
    const uint32_t op = of->op, step = of->step;
    (void)fprintf(self->out,
                  "s%" PRIu32 "_%" PRIu32 ": send %" PRIu64 "b to %" PRIu32 " tag %" PRIu32 "\n",
                  op, step, of->bytes, of->peer, of->tag);
    if (follows && step)
        (void)fprintf(self->out, "s%" PRIu32 "_%" PRIu32 " requires r%" PRIu32 "_%" PRIu32 "\n", op,
                      step, op, step - 1);
    else
        (void)fprintf(self->out, "s%" PRIu32 "_%" PRIu32 " requires d%" PRIu32 "\n", op, step, op);
    (void)fprintf(self->out, "c%" PRIu32 " requires s%" PRIu32 "_%" PRIu32 "\n", op, op, step);
}

static void put_receive(const writer *self, const message *of)
{
    const uint32_t op = of->op, step = of->step;
    (void)fprintf(self->out,
                  "r%" PRIu32 "_%" PRIu32 ": recv %" PRIu64 "b from %" PRIu32 " tag %" PRIu32
                  "\nr%" PRIu32 "_%" PRIu32 " requires d%" PRIu32 "\nc%" PRIu32
                  " requires r%" PRIu32 "_%" PRIu32 "\n",
                  op, step, of->bytes, of->peer, of->tag, op, step, op, op, op, step);
}

/* Rings: an all-reduce goes round twice with an n-th of the bytes at each step, a broadcast and a
 * reduction go down a chain. Pairs: an all-to-all sends an n-th to each. */
static void put_messages(const writer *self, uint32_t op, const haul_communication *of,
                         uint32_t rank, uint32_t tag)
{
    const uint32_t n = self->ranks, next = (rank + 1) % n, before = (rank + n - 1) % n;
    const uint64_t part = (of->bytes + n - 1) / n;
    if (of->kind == HAUL_COLLECTIVE_BROADCAST || of->kind == HAUL_COLLECTIVE_REDUCE) {
        if (rank > 0)
            put_receive(self, &(message){op, 0, before, tag, of->bytes});
        if (rank + 1 < n)
            put_send(self, &(message){op, rank > 0, next, tag, of->bytes}, true);
        return;
    }
    const bool is_pairwise = of->kind == HAUL_COLLECTIVE_ALL_TO_ALL;
    const uint32_t steps = of->kind == HAUL_COLLECTIVE_ALL_REDUCE ? 2 * (n - 1) : n - 1;
    for (uint32_t step = 0; step < steps; step++) {
        const uint32_t to = is_pairwise ? (rank + step + 1) % n : next;
        const uint32_t from = is_pairwise ? (rank + n - step - 1) % n : before;
        put_receive(self, &(message){op, step, from, tag, part});
        put_send(self, &(message){op, step, to, tag, part}, !is_pairwise);
    }
}

/* The letter before an operation's number where it begins: the pause before messages is a
 * calculation of its own. */
static const char *label_of(const writer *self, uint32_t i)
{
    const haul_op *op = &self->workload->ops[i];
    if (self->partner[i] != HAUL_NONE)
        return pause_of(self, i) ? "d" : "c";
    if (!haul_op_is_collective(op))
        return "c";
    const haul_communication of = haul_communication_of(self->workload, op);
    return is_expanded(self, &of) ? "d" : "c";
}

static void put_op(writer *self, uint32_t i, uint32_t as, uint32_t *tag)
{
    const haul_op *op = &self->workload->ops[i];
    const unsigned cpu = op->stream == HAUL_NONE ? 0 : self->cpus[op->stream];
    const int64_t pause_ns = pause_of(self, i);
    const bool is_message = self->partner[i] != HAUL_NONE, is_apart = *label_of(self, i) == 'd';
    if (is_apart)
        (void)fprintf(self->out, "d%" PRIu32 ": calc %" PRId64 " cpu %u\n", i, pause_ns, cpu);
    if (is_message) {
        /* A message of the program: the number of its sending is the tag, so that it has one
         * receiver. */
        const haul_workload *workload = self->workload;
        const uint32_t other = self->partner[i];
        const bool is_send = workload->ops[i].direction == HAUL_MESSAGE_SENT;
        const uint32_t sending = is_send ? i : other;
        const int64_t peer = rank_of(workload, &workload->ops[other]);
        size_t number = 0;
        while (self->recorded[number] != peer)
            number++;
        (void)fprintf(self->out, "c%" PRIu32 ": %s %" PRIu64 "b %s %zu tag %" PRIu32 " cpu %u\n", i,
                      is_send ? "send" : "recv", workload->ops[sending].bytes,
                      is_send ? "to" : "from", number, sending, cpu);
        if (is_apart)
            (void)fprintf(self->out, "c%" PRIu32 " requires d%" PRIu32 "\n", i, i);
    } else if (is_apart) {
        const haul_communication of = haul_communication_of(self->workload, op);
        (void)fprintf(self->out, "c%" PRIu32 ": calc 0 cpu %u\n", i, cpu);
        put_messages(self, i, &of, as, (*tag)++);
    } else {
        self->kept += haul_op_is_collective(op);
        (void)fprintf(self->out, "c%" PRIu32 ": calc %" PRId64 " cpu %u\n", i,
                      hl_base_end_of(pause_ns, op->dur_ns), cpu);
    }
}

/* As rank `as` what the profile has of rank `recorded`: labels first, then what requires which. */
static void put_rank(writer *self, uint32_t as, int64_t recorded)
{
    const haul_workload *workload = self->workload;
    uint32_t tag = 0, cpu = 0;
    for (uint32_t s = 0; s < workload->stream_count; s++)
        if (rank_of(workload, &(haul_op){.stream = s}) == recorded)
            self->cpus[s] = (uint8_t)(cpu++ % CPUS);
    (void)fprintf(self->out, "\nrank %" PRIu32 " {\n", as);
    for (int is_second = 0; is_second < 2; is_second++)
        for (uint32_t i = 0; i < workload->op_count && !ferror(self->out); i++) {
            const haul_op *op = &workload->ops[i];
            if (!haul_op_on_device(op) || rank_of(workload, op) != recorded)
                continue;
            if (is_second)
                put_requirements(self, i, label_of(self, i), recorded);
            else
                put_op(self, i, as, &tag);
        }
    (void)fprintf(self->out, "}\n");
}

/* The next collective of a rank from *at on that is written as messages; false: none is left. */
static bool next_of(const writer *self, int64_t rank, size_t *at, haul_communication *of)
{
    for (; *at < self->workload->op_count; ++*at) {
        const haul_op *op = &self->workload->ops[*at];
        if (!haul_op_is_collective(op) || rank_of(self->workload, op) != rank)
            continue;
        *of = haul_communication_of(self->workload, op);
        if (is_expanded(self, of)) {
            ++*at;
            return true;
        }
    }
    return false;
}

/* The ranks of a workload's devices, each once. */
static size_t list_ranks(const haul_workload *workload, int64_t *ranks)
{
    size_t found = 0, kept = 0;
    for (size_t s = 0; s < workload->stream_count; s++)
        ranks[found++] = rank_of(workload, &(haul_op){.stream = (uint32_t)s});
    qsort(ranks, found, sizeof *ranks, hl_base_compare_signed_items);
    for (size_t i = 0; i < found; i++)
        if (!kept || ranks[i] != ranks[kept - 1])
            ranks[kept++] = ranks[i];
    return kept;
}

/* The first edge of each operation, and the messages' partners. */
static void link_operations(const haul_workload *workload, uint32_t *edges, uint32_t *partner)
{
    const haul_op *ops = workload->ops;
    for (uint32_t i = 0, edge = 0; i < workload->op_count; i++) {
        while (edge < workload->edge_count && workload->edges[edge].after < i)
            edge++;
        edges[i] = edge;
        partner[i] = HAUL_NONE;
    }
    for (size_t e = 0; e < workload->edge_count; e++) {
        const uint32_t from = workload->edges[e].before, to = workload->edges[e].after;
        if (ops[from].kind != HAUL_OP_MESSAGE || ops[to].kind != HAUL_OP_MESSAGE ||
            ops[from].direction != HAUL_MESSAGE_SENT || ops[to].direction != HAUL_MESSAGE_ARRIVES ||
            rank_of(workload, &ops[from]) == rank_of(workload, &ops[to]))
            continue;
        partner[from] = to;
        partner[to] = from;
    }
}

static haul_status write_ranks(writer *self, haul_error *error)
{
    if (!self->recorded_count || self->ranks > RANKS_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected 1 to %d ranks, not %" PRIu32,
                              RANKS_MOST, self->ranks);
    /* Messages that no other rank receives would never end. */
    for (size_t r = 1; r < self->recorded_count; r++) {
        size_t first = 0, other = 0;
        for (bool is_left = true; is_left;) {
            haul_communication a, b;
            is_left = next_of(self, self->recorded[0], &first, &a);
            if (next_of(self, self->recorded[r], &other, &b) != is_left ||
                (is_left && (a.kind != b.kind || a.bytes != b.bytes)))
                return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                      "ranks %" PRId64 " and %" PRId64
                                      " differ in their collectives",
                                      self->recorded[0], self->recorded[r]);
        }
    }
    (void)fprintf(self->out, "num_ranks %" PRIu32 "\n", self->ranks);
    for (uint32_t r = 0; r < self->ranks; r++)
        put_rank(self, r, self->recorded[self->recorded_count > 1 ? r : 0]);
    return ferror(self->out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the schedule")
                             : HAUL_OK;
}

/* Recorded calls of MPI are of host threads, which a schedule of GPUs' streams has no place for. */
static bool has_calls_of_mpi(const haul_workload *workload)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (hl_workload_is_of_hosts(workload, &workload->ops[i]))
            return true;
    return false;
}

haul_status haul_goal_write_workload(const haul_workload *workload, FILE *out, uint64_t *kept,
                                     haul_error *error)
{
    if (has_calls_of_mpi(workload))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "a profile with calls of MPI cannot be written as GOAL: its messages "
                              "are of the hosts' threads");
    int64_t *ranks = malloc((workload->stream_count + 1) * sizeof *ranks);
    uint32_t *edges = malloc((workload->op_count + 1) * sizeof *edges);
    uint32_t *partner = malloc((workload->op_count + 1) * sizeof *partner);
    uint8_t *cpus = malloc(workload->stream_count + 1);
    writer self = {.workload = workload,
                   .out = out,
                   .recorded = ranks,
                   .first_edge = edges,
                   .partner = partner,
                   .cpus = cpus};
    haul_status status = HAUL_OK;
    if (ranks && edges && partner && cpus) {
        link_operations(workload, edges, partner);
        self.recorded_count = list_ranks(workload, ranks);
        /* Of one recorded rank the largest group of its collectives. */
        uint32_t most = (uint32_t)self.recorded_count;
        for (size_t i = 0; self.recorded_count == 1 && i < workload->collective_count; i++)
            if (workload->collectives[i].group_size > most)
                most = workload->collectives[i].group_size;
        self.ranks = most;
        status = write_ranks(&self, error);
    } else {
        status = hl_base_fail_no_memory(error);
    }
    free(ranks);
    free(edges);
    free(partner);
    free(cpus);
    if (!status)
        *kept = self.kept;
    return status;
}
