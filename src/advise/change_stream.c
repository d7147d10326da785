/* stream: copies move to streams of their own and overlap the kernels of the rounds beside them:
 * the classic double buffering, where the program has a loop already. */
#include <stdlib.h>

#include "advise/change.h"
#include "haul/units.h"

/* A stream works in rounds: copies in, kernels, copies out, as far as a round has them. With two
 * sets of buffers a round's copies may overlap the kernels of the rounds next to it, but not of the
 * round two before, whose buffers they reuse. */
typedef struct round {
    uint32_t last_in;     /* moved; HAUL_NONE where there is none */
    uint32_t last_out;    /* likewise */
    uint32_t last_kernel; /* or what else stays on the stream */
    uint32_t first;       /* operation */
    bool frees;           /* a call that blocked does not any more */
} round;

typedef enum phase { PHASE_IN, PHASE_KERNEL, PHASE_OUT } phase;

/* Which copies move, by variant. */
static const struct {
    bool in;
    bool out;
} moves[] = {{true, true}, {true, false}, {false, true}};

enum { MOVES = sizeof moves / sizeof *moves };

static const round no_round = {HAUL_NONE, HAUL_NONE, HAUL_NONE, HAUL_NONE, false};

typedef struct mover {
    hl_advise_study *study;
    hl_advise_rewrite *plan;
    uint32_t stream;
    bool in;
    bool out;
    uint32_t in_stream;
    uint32_t out_stream;
    phase phase;
    round rounds[3]; /* this one, the one before, and the one before that */
    uint32_t last_moved;
    uint32_t last_stays;
    uint32_t pending_in; /* the last moved copy in that nothing on the stream has waited for */
} mover;

/* Unified memory and copies within the device count as kernels: they stay. */
static phase phase_of(const hl_advise_study *study, uint32_t i)
{
    const haul_op *op = &study->workload->ops[i];
    if (!hl_advise_study_crosses(study, i) || op->detail == HAUL_MEMORY_MANAGED)
        return PHASE_KERNEL;
    return op->direction == HAUL_DIRECTION_HTOD ? PHASE_IN : PHASE_OUT;
}

/* In a round whose copies moved, the host waits for these and for nothing that stayed. */
static void end_round(mover *self)
{
    const round *now = &self->rounds[0];
    if (now->last_in == HAUL_NONE && now->last_out == HAUL_NONE)
        return;
    uint32_t op = now->last_kernel;
    while (op != HAUL_NONE && op >= now->first) {
        self->plan->edits[op].marks |= HL_ADVISE_EDIT_INNER;
        op = self->study->workload->ops[op].stream_prev;
    }
}

/* A wait of the host beside a call, for edges; HAUL_NONE where nobody makes the call. */
static uint32_t insert_wait(mover *self, uint32_t anchor, hl_advise_insert_place place)
{
    if (self->study->workload->ops[anchor].thread == HAUL_NONE)
        return HAUL_NONE;
    const hl_advise_insert insert = {
        .op = {.kind = HAUL_OP_SYNC, .detail = HAUL_SYNC_EVENT, .stream = HAUL_NONE},
        .anchor = anchor,
        .place = place,
    };
    return hl_advise_rewrite_insert(self->plan, &insert);
}

static void add_edge(mover *self, uint32_t before, uint32_t after)
{
    if (before != HAUL_NONE && after != HAUL_NONE)
        hl_advise_rewrite_edge_add(self->plan, before, after);
}

/* `again` is the copy whose buffer on the host the call needs, or HAUL_NONE. */
static void move_copy(mover *self, uint32_t op, uint32_t stream, uint32_t again)
{
    hl_advise_rewrite *plan = self->plan;
    hl_advise_study_pin(self->study, plan, op);
    hl_advise_edit *edit = hl_advise_rewrite_claim(plan, op);
    edit->stream = stream;
    if (plan->workload->ops[op].flags & HAUL_OP_BLOCKS || edit->marks & HL_ADVISE_EDIT_PINNED)
        self->rounds[0].frees = true;
    edit->marks |= HL_ADVISE_EDIT_MOVED | HL_ADVISE_EDIT_INNER | HL_ADVISE_EDIT_FREE;
    if (again != HAUL_NONE && self->rounds[2].frees)
        add_edge(self, again, insert_wait(self, op, HL_ADVISE_BEFORE_CALL));
    self->last_moved = op;
}

/* A copy in waits for the kernels of the round whose buffer it reuses; a copy out for the kernels
 * of its own, and for copies in that nothing has waited for. An operation that stays waits for the
 * copies in, and for the copies out whose buffers it reuses. */
static void move_op(mover *self, uint32_t op)
{
    const phase next = phase_of(self->study, op);
    const round *reused = &self->rounds[2];
    round *now = &self->rounds[0];
    if (next < self->phase) {
        end_round(self);
        self->rounds[2] = self->rounds[1];
        self->rounds[1] = self->rounds[0];
        self->rounds[0] = no_round;
    }
    self->phase = next;
    now->first = now->first == HAUL_NONE ? op : now->first;
    if (next == PHASE_IN && self->in) {
        move_copy(self, op, self->in_stream,
                  now->last_in == HAUL_NONE ? reused->last_in : HAUL_NONE);
        add_edge(self, reused->last_kernel, op);
        now->last_in = self->pending_in = op;
    } else if (next == PHASE_OUT && self->out) {
        move_copy(self, op, self->out_stream,
                  now->last_out == HAUL_NONE ? reused->last_out : HAUL_NONE);
        add_edge(self, self->last_stays, op);
        add_edge(self, self->pending_in, op);
        now->last_out = op;
    } else {
        add_edge(self, self->pending_in, op);
        if (now->last_kernel == HAUL_NONE)
            add_edge(self, reused->last_out, op);
        self->pending_in = HAUL_NONE;
        now->last_kernel = self->last_stays = op;
    }
}

/* Operations of other streams are not looked at: edges hold them as they were. */
static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    const haul_workload *workload = study->workload;
    mover self = {.study = study,
                  .plan = plan,
                  .stream = candidate->subject,
                  .in = moves[candidate->variant].in,
                  .out = moves[candidate->variant].out,
                  .phase = PHASE_IN,
                  .rounds = {no_round, no_round, no_round},
                  .last_moved = HAUL_NONE,
                  .last_stays = HAUL_NONE,
                  .pending_in = HAUL_NONE};
    self.in_stream = hl_advise_rewrite_streams(plan, self.stream, 2);
    self.out_stream = self.in_stream + 1;
    uint32_t last = HAUL_NONE;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        if (!haul_op_on_device(&workload->ops[i]) || workload->ops[i].stream != self.stream)
            continue;
        move_op(&self, i);
        last = i;
    }
    end_round(&self);
    if (self.last_moved == HAUL_NONE)
        return;
    /* at the end the host waits for the copies whose calls no longer block */
    const uint32_t wait = insert_wait(&self, self.last_moved, HL_ADVISE_AFTER_CALL);
    for (int r = 0; r < 3; r++)
        if (self.rounds[r].frees) {
            add_edge(&self, self.rounds[r].last_in, wait);
            add_edge(&self, self.rounds[r].last_out, wait);
        }
    plan->edits[last].marks &= (uint8_t)~HL_ADVISE_EDIT_INNER;
    hl_advise_rewrite_leave_out_waits(plan);
}

/* The operations of a stream. */
typedef struct content {
    int64_t copy_ns; /* durations and calls, and waits */
    int64_t rank_ns; /* the part of these on the critical path */
    int64_t host_ns; /* of calls that do not wait, that may go */
    uint64_t pageable[2];
    uint64_t largest[2]; /* bytes, of these */
    bool kernels;
} content;

static void add_content(const hl_advise_study *study, uint32_t i, content *at)
{
    const haul_op *op = &study->workload->ops[i];
    at->kernels |= op->kind == HAUL_OP_KERNEL;
    if (phase_of(study, i) == PHASE_KERNEL)
        return;
    at->copy_ns = hl_base_add_ns(at->copy_ns, hl_advise_study_most_ns(study, i));
    at->rank_ns = hl_base_add_ns(at->rank_ns, hl_advise_study_weight(study, i));
    at->host_ns = hl_base_add_ns(at->host_ns, hl_advise_study_freed_ns(study, i));
    if (op->detail == HAUL_MEMORY_PAGEABLE) {
        uint64_t *largest = &at->largest[op->direction];
        *largest = op->bytes > *largest ? op->bytes : *largest;
        at->pageable[op->direction]++;
    }
}

/* A stream qualifies that has kernels and copies, whose pageable copies can be predicted as pinned.
 */
static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    const haul_workload *workload = study->workload;
    content *of = calloc(workload->stream_count + 1, sizeof *of);
    study->failed |= !of;
    for (uint32_t i = 0; of && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (haul_op_on_device(op) && op->stream != HAUL_NONE)
            add_content(study, i, &of[op->stream]);
    }
    for (uint32_t s = 0; of && s < workload->stream_count; s++) {
        bool can = of[s].kernels && of[s].copy_ns > 0;
        for (int d = 0; can && d < 2; d++)
            can = !of[s].pageable[d] ||
                  hl_advise_study_can_pin(study, &hl_advise_change_stream, (haul_direction)d,
                                          of[s].largest[d], of[s].pageable[d]);
        of[s].kernels = can;
    }
    /* the host's waits go when copies no longer block */
    for (size_t e = 0; of && e < workload->edge_count; e++) {
        const haul_op *wait = &workload->ops[workload->edges[e].after];
        const uint32_t stream = workload->ops[workload->edges[e].before].stream;
        if (wait->kind != HAUL_OP_SYNC || stream == HAUL_NONE)
            continue;
        const int64_t held_ns = study->held_ns[workload->edges[e].after];
        const int64_t alone_ns = (int64_t)(study->host_share * (double)held_ns);
        of[stream].copy_ns = hl_base_add_ns(of[stream].copy_ns, held_ns);
        of[stream].rank_ns = hl_base_add_ns(of[stream].rank_ns, alone_ns);
    }
    for (uint32_t s = 0; of && s < workload->stream_count; s++) {
        const hl_advise_candidate candidate = {.subject = s,
                                               .variants = MOVES,
                                               .bound_ns = of[s].copy_ns,
                                               .rank_ns = of[s].rank_ns,
                                               .host_ns = of[s].host_ns};
        if (of[s].kernels)
            hl_advise_candidates_add(study, out, &candidate);
    }
    free(of);
}

/* How many copies to the device on a stream may bring back what one of its copies fetched: the
 * change "round trip" takes them for that, which this one rules out. */
static uint64_t count_round_trips(const hl_advise_study *study, uint32_t stream)
{
    const haul_workload *workload = study->workload;
    uint64_t count = 0;
    for (size_t i = 0; study->fetched && i < workload->op_count; i++)
        count += study->fetched[i] != HAUL_NONE && workload->ops[i].stream == stream &&
                 workload->ops[study->fetched[i]].stream == stream;
    return count;
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    const haul_workload_stream *stream = &study->workload->streams[candidate->subject];
    const char *from = stream->is_default ? "the default stream"
                                          : hl_advise_study_text(study, "stream %llu",
                                                                 (unsigned long long)stream->id);
    advice->parts = moves[candidate->variant].in && moves[candidate->variant].out ? 2 : 1;
    advice->what = hl_advise_study_text(
        study, "move off %s, asynchronous, to %s: %s", from,
        advice->parts == 2 ? "one stream in and one out" : "a stream of their own", effect->calls);
    advice->why = hl_advise_study_text(
        study,
        "the stream's copies (%s) and kernels wait for each other, and the host waits %s for both",
        hl_advise_study_time(study, effect->after_ns),
        hl_advise_study_time(study, hl_base_add_ns(effect->calls_ns, effect->waits_ns)));
    static const char rounds[] =
        "a round of copies in, kernels and copies out depends on the round before only through its "
        "kernels, which stay in order, and the host reads a result, or refills a buffer, two "
        "rounds later";
    char number[96];
    const uint64_t back = count_round_trips(study, candidate->subject);
    advice->assumes = !back ? rounds
                            : hl_advise_study_text(study,
                                                   "%s; and %s not bring back what had just come "
                                                   "to the host ('round trip' assumes it)",
                                                   rounds,
                                                   haul_number_of(back, "copy to the device does",
                                                                  "copies to the device do", number,
                                                                  sizeof number));
    const char *pinned = hl_advise_study_pinned_need(study, effect);
    advice->needs = pinned ? hl_advise_study_text(study, "two sets of buffers; %s", pinned)
                           : "two sets of buffers";
}

const hl_advise_change hl_advise_change_stream = {
    .word = "stream",
    .summary = "copies move from the kernels' stream to streams of their own",
    .certainty = HAUL_CERTAINTY_CONDITIONAL,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
