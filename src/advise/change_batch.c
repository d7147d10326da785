/* batch: small copies in a row become one. A copy of n bytes takes L + n G (CCGrid 2014, equation
 * 1): one copy of all bytes pays the latency L once. */
#include <stdlib.h>

#include "advise/change.h"
#include "base/records.h"
#include "workload/op_class.h"

/* Consecutive copies of one call, direction and memory on a stream. */
typedef struct run {
    uint32_t first; /* HAUL_NONE: none is open */
    uint32_t last;
    uint32_t count;
    uint64_t bytes;
    hl_advise_candidate sums; /* of bounds and ranks */
} run;

/* A copy is small if its latency, the time of one byte, is at least half of its time. */
static bool is_small(hl_advise_study *study, uint32_t i)
{
    const haul_op *op = &study->workload->ops[i];
    double whole_s, byte_s;
    haul_copy copy = {op->bytes, (haul_direction)op->direction, (haul_memory)op->detail,
                      HAUL_LOCALITY_NEAR};
    if (!op->bytes || !hl_advise_study_crosses(study, i) || op->detail == HAUL_MEMORY_MANAGED ||
        !hl_advise_study_copy_time(study, &copy, NULL, 0, &whole_s))
        return false;
    copy.bytes = 1;
    return hl_advise_study_copy_time(study, &copy, NULL, 0, &byte_s) && whole_s <= 2 * byte_s;
}

/* Whether a copy waits for something after the one before it in the run: for an operation of
 * another stream, by an edge, or with the host. The bytes of such copies are not ready together. */
static bool waits_between(const haul_workload *workload, uint32_t last, uint32_t i)
{
    const size_t edge = hl_workload_first_edge(workload, i);
    if (edge < workload->edge_count && workload->edges[edge].after == i)
        return true;
    uint32_t call = workload->ops[i].thread_prev;
    while (call != HAUL_NONE && call != last && workload->ops[call].kind != HAUL_OP_SYNC)
        call = workload->ops[call].thread_prev;
    return call != HAUL_NONE && call != last;
}

static const run no_run = {.first = HAUL_NONE};

typedef struct run_visitor {
    void (*visit)(hl_advise_study *study, const run *run, void *state);
    void *state;
} run_visitor;

/* A run of one copy is nothing to batch. */
static void close_run(hl_advise_study *study, void *state, void *context)
{
    run *at = state;
    const run_visitor *visitor = context;
    if (at->count > 1)
        visitor->visit(study, at, visitor->state);
    *at = no_run;
}

/* A run goes on while its stream has small copies of one call; kernels and large copies end it, and
 * a wait does for copies out. */
static void visit_op(hl_advise_study *study, void *state, uint32_t i, void *context)
{
    const haul_op *op = &study->workload->ops[i];
    run *at = state;
    const bool small = op->kind == HAUL_OP_COPY && is_small(study, i);
    const bool begun = at->first != HAUL_NONE;
    const haul_op *first = &study->workload->ops[begun ? at->first : i];
    const bool continues =
        begun && small && first->name == op->name && first->direction == op->direction &&
        first->detail == op->detail && first->thread == op->thread &&
        (op->direction == HAUL_DIRECTION_HTOD || !waits_between(study->workload, at->last, i));
    if (begun && !continues)
        close_run(study, at, context);
    if (!small)
        return;
    if (at->first == HAUL_NONE)
        at->first = i;
    at->last = i;
    at->count++;
    at->bytes += op->bytes;
    hl_advise_candidate_count(study, &at->sums, i);
}

/* Each run when it ends. */
static const hl_advise_stream_walk runs = {sizeof(run), &no_run, visit_op, close_run};

/* A candidate for each name, direction and memory. */
typedef struct kinds {
    hl_base_records keys;
    hl_advise_candidates found;
} kinds;

/* Direction and memory in one number. */
static uint32_t aspect_of(const haul_op *op)
{
    return op->direction * 256U + op->detail;
}

/* A candidate for each kind of call: a programmer batches the calls of one place in the source. */
static void count_run(hl_advise_study *study, const run *at, void *state)
{
    kinds *self = state;
    const haul_op *op = &study->workload->ops[at->first];
    const uint32_t key[2] = {op->name, aspect_of(op)};
    const size_t known = self->keys.count;
    const uint32_t number = hl_base_records_add(&self->keys, key);
    if (number == UINT32_MAX) {
        study->failed = true;
        return;
    }
    if (number == known) {
        const hl_advise_candidate candidate = {
            .subject = op->name, .aspect = aspect_of(op), .variants = 1, .bound_ns = 1};
        hl_advise_candidates_add(study, &self->found, &candidate);
    }
    if (study->failed)
        return;
    hl_advise_candidate *found = &self->found.items[number];
    found->bound_ns = hl_base_add_ns(found->bound_ns, at->sums.bound_ns);
    found->rank_ns = hl_base_add_ns(found->rank_ns, at->sums.rank_ns);
    found->host_ns = hl_base_add_ns(found->host_ns, at->sums.host_ns);
}

static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    kinds all = {.keys.size = 2 * sizeof(uint32_t)};
    run_visitor counter = {count_run, &all};
    hl_advise_study_walk(study, &runs, &counter);
    for (size_t c = 0; c < all.found.count; c++)
        hl_advise_candidates_add(study, out, &all.found.items[c]);
    hl_base_records_release(&all.keys);
    free(all.found.items);
}

typedef struct batcher {
    const hl_advise_candidate *candidate;
    hl_advise_rewrite *plan;
} batcher;

/* All bytes are ready when the last copy in is called, and when the first copy out is. */
static void batch_run(hl_advise_study *study, const run *at, void *state)
{
    const batcher *self = state;
    const haul_workload *workload = study->workload;
    const haul_op *first = &workload->ops[at->first];
    if (first->name != self->candidate->subject || aspect_of(first) != self->candidate->aspect)
        return;
    const uint32_t kept = first->direction == HAUL_DIRECTION_HTOD ? at->last : at->first;
    hl_advise_edit *whole = hl_advise_rewrite_claim(self->plan, kept);
    const haul_copy one = hl_advise_study_copy(self->plan, kept);
    whole->bytes = at->bytes;
    const haul_copy all = hl_advise_study_copy(self->plan, kept);
    whole->dur_ns = hl_advise_study_scaled(study, whole->dur_ns, &one, &all);
    uint32_t op = at->last;
    for (uint32_t k = 0; k < at->count; k++, op = workload->ops[op].stream_prev) {
        if (op == kept)
            continue;
        hl_advise_rewrite_claim(self->plan, op)->into = kept;
        hl_advise_rewrite_leave_out(self->plan, op, false);
    }
}

/* All runs of the candidate's kind. */
static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    batcher self = {candidate, plan};
    run_visitor batch = {batch_run, &self};
    hl_advise_study_walk(study, &runs, &batch);
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    (void)candidate;
    const uint64_t left = effect->count - effect->left_out;
    advice->what = hl_advise_study_text(study, "batch in %llu cop%s: %s", (unsigned long long)left,
                                        left == 1 ? "y" : "ies", effect->calls);
    advice->why =
        hl_advise_study_text(study,
                             "they follow each other on their stream, and most of their time "
                             "is latency: %s, %s together",
                             hl_advise_study_time(study, effect->before_ns),
                             hl_advise_study_time(study, effect->after_ns));
    advice->assumes = "the batched bytes are contiguous, on the host and on the device";
}

const hl_advise_change hl_advise_change_batch = {
    .word = "batch",
    .summary = "small copies in a row become one",
    .certainty = HAUL_CERTAINTY_CONDITIONAL,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
