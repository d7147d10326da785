/* split: copies in, a kernel and copies out, in parts over streams (CCGrid 2014, section IV.B: the
 * streams implementation). The parts of a kernel follow each other, its copies overlap them. */
#include <stdlib.h>
#include <string.h>

#include "advise/change.h"

enum { MOST_COPIES = 8 };

/* One kernel with the copies around it on its stream. */
typedef struct trio {
    uint32_t ins[MOST_COPIES];
    uint32_t in_count;
    uint32_t kernel; /* HAUL_NONE: none yet */
    uint32_t outs[MOST_COPIES];
    uint32_t out_count;
    bool unfit; /* more copies than MOST_COPIES */
} trio;

static const trio no_trio = {.kernel = HAUL_NONE};

typedef struct trio_visitor {
    void (*visit)(hl_advise_study *study, const trio *at, void *state);
    void *state;
} trio_visitor;

static void close_trio(hl_advise_study *study, void *state, void *context)
{
    trio *at = state;
    const trio_visitor *visitor = context;
    if (at->kernel != HAUL_NONE && at->in_count + at->out_count && !at->unfit)
        visitor->visit(study, at, visitor->state);
    *at = no_trio;
}

/* More copies than this around one kernel are no pattern that a programmer splits by hand. */
static void add_copy(trio *at, uint32_t *ops, uint32_t *count, uint32_t op)
{
    if (*count < MOST_COPIES)
        ops[(*count)++] = op;
    else
        at->unfit = true;
}

/* Copies in, a kernel, copies out; anything else, or a second kernel, begins anew. */
static void visit_op(hl_advise_study *study, void *state, uint32_t i, void *context)
{
    const haul_op *op = &study->workload->ops[i];
    trio *at = state;
    const bool crosses = hl_advise_study_crosses(study, i) && op->detail != HAUL_MEMORY_MANAGED;
    if (crosses && op->direction == HAUL_DIRECTION_HTOD) {
        if (at->kernel != HAUL_NONE)
            close_trio(study, at, context);
        add_copy(at, at->ins, &at->in_count, i);
    } else if (crosses) {
        if (at->kernel == HAUL_NONE)
            close_trio(study, at, context);
        else
            add_copy(at, at->outs, &at->out_count, i);
    } else if (op->kind == HAUL_OP_KERNEL) {
        if (at->kernel != HAUL_NONE)
            close_trio(study, at, context);
        at->kernel = i;
    } else {
        close_trio(study, at, context);
    }
}

/* Each trio when it ends. */
static const hl_advise_stream_walk trios = {sizeof(trio), &no_trio, visit_op, close_trio};

/* The part of the run that an operation takes beside its own time. */
static int64_t beside_ns(const hl_advise_study *study, uint32_t op)
{
    const int64_t beside = hl_advise_study_most_ns(study, op) - hl_advise_study_dur(study, op);
    return beside > 0 ? beside : 0;
}

/* *can: whether each can be split, pageable ones as pinned. */
static int64_t sum_copies(hl_advise_study *study, const uint32_t *ops, uint32_t count, bool *can,
                          int64_t *waits_ns)
{
    int64_t sum_ns = 0;
    for (uint32_t k = 0; k < count; k++) {
        const haul_op *copy = &study->workload->ops[ops[k]];
        sum_ns = hl_base_add_ns(sum_ns, hl_advise_study_dur(study, ops[k]));
        *waits_ns = hl_base_add_ns(*waits_ns, beside_ns(study, ops[k]));
        *can = *can && copy->bytes >= HL_ADVISE_MOST_PARTS &&
               (copy->detail != HAUL_MEMORY_PAGEABLE ||
                hl_advise_study_can_pin(study, &hl_advise_change_split,
                                        (haul_direction)copy->direction, copy->bytes, 1));
    }
    return sum_ns;
}

/* The time saved if copies and kernel overlapped fully and no call blocked; 0 where it cannot be.
 */
static int64_t bound_of(hl_advise_study *study, const trio *at)
{
    bool can = true;
    int64_t waits_ns = 0;
    const int64_t in_ns = sum_copies(study, at->ins, at->in_count, &can, &waits_ns);
    const int64_t out_ns = sum_copies(study, at->outs, at->out_count, &can, &waits_ns);
    const int64_t kernel_ns = hl_advise_study_dur(study, at->kernel);
    if (!can)
        return 0;
    if (at->out_count) /* the host waits for the last copy out alone */
        waits_ns = hl_base_add_ns(waits_ns, beside_ns(study, at->kernel));
    const int64_t copies_ns = hl_base_add_ns(in_ns, out_ns);
    const int64_t longest_copies_ns = in_ns > out_ns ? in_ns : out_ns;
    const int64_t hidden_ns = hl_base_add_ns(copies_ns, kernel_ns) -
                              (kernel_ns > longest_copies_ns ? kernel_ns : longest_copies_ns);
    return hl_base_add_ns(hidden_ns, waits_ns);
}

/* The bounds of kernels, by name; the last of those without one. */
typedef struct bounds {
    hl_advise_candidate *of;
    size_t count;
} bounds;

static void add_bound(hl_advise_study *study, const trio *at, void *state)
{
    const bounds *self = state;
    const uint32_t name = study->workload->ops[at->kernel].name;
    const int64_t bound_ns = bound_of(study, at);
    int64_t weight_ns = hl_advise_study_weight(study, at->kernel);
    hl_advise_candidate *candidate = &self->of[name < self->count ? name : self->count - 1];
    for (uint32_t k = 0; k < at->in_count + at->out_count; k++) {
        const uint32_t op = k < at->in_count ? at->ins[k] : at->outs[k - at->in_count];
        weight_ns = hl_base_add_ns(weight_ns, hl_advise_study_weight(study, op));
        candidate->host_ns =
            hl_base_add_ns(candidate->host_ns, hl_advise_study_freed_ns(study, op));
    }
    candidate->bound_ns = hl_base_add_ns(candidate->bound_ns, bound_ns);
    candidate->rank_ns =
        hl_base_add_ns(candidate->rank_ns, bound_ns < weight_ns ? bound_ns : weight_ns);
}

/* A candidate for each kernel by name: a programmer divides one kernel, wherever it is launched. */
static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    const haul_workload *workload = study->workload;
    bounds all = {.count = 1};
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_KERNEL && workload->ops[i].name != HAUL_NONE &&
            workload->ops[i].name + (size_t)2 > all.count)
            all.count = workload->ops[i].name + (size_t)2;
    all.of = calloc(all.count, sizeof *all.of);
    if (!all.of) {
        study->failed = true;
        return;
    }
    trio_visitor bound = {add_bound, &all};
    hl_advise_study_walk(study, &trios, &bound);
    for (size_t n = 0; n < all.count; n++) {
        const hl_advise_candidate candidate = {
            .subject = n + 1 < all.count ? (uint32_t)n : HAUL_NONE,
            .variants = HL_ADVISE_VARIANTS,
            .bound_ns = all.of[n].bound_ns,
            .rank_ns = all.of[n].rank_ns,
            .host_ns = all.of[n].host_ns,
        };
        hl_advise_candidates_add(study, out, &candidate);
    }
    free(all.of);
}

static unsigned parts_of(const hl_advise_candidate *candidate)
{
    return 2U << candidate->variant; /* 2, 4, 8, 16 */
}

typedef struct splitter {
    const hl_advise_candidate *candidate;
    hl_advise_rewrite *plan;
    unsigned parts;
    uint32_t *streams; /* of each stream the first of its new ones, or HAUL_NONE */
    uint32_t *kernels; /* of each stream the last kernel in parts, or HAUL_NONE */
} splitter;

/* The first part stays on its stream, the others go to the new ones. */
static void in_parts(const splitter *self, uint32_t op, hl_advise_edit *edit)
{
    const uint32_t stream = self->plan->workload->ops[op].stream;
    edit->parts = (uint8_t)self->parts;
    edit->stream = self->streams[stream];
    self->plan->extra_parts += self->parts - 1;
}

/* Each part pays the latency again: the times of whole and part are predicted, and the recorded
 * time scaled by their ratio. The host waits only for the last copy out. */
static void split_copy(hl_advise_study *study, const splitter *self, uint32_t op, bool is_last)
{
    hl_advise_study_pin(study, self->plan, op);
    hl_advise_edit *edit = hl_advise_rewrite_claim(self->plan, op);
    const haul_copy whole = hl_advise_study_copy(self->plan, op);
    haul_copy part = whole;
    part.bytes = whole.bytes / self->parts;
    edit->dur_ns = hl_advise_study_scaled(study, edit->dur_ns, &whole, &part);
    in_parts(self, op, edit);
    if (!is_last)
        edit->marks |= HL_ADVISE_EDIT_INNER | HL_ADVISE_EDIT_FREE;
}

/* The device is full with one part, so the parts follow each other. */
static void split_kernel(const splitter *self, uint32_t op, bool is_last)
{
    hl_advise_edit *edit = hl_advise_rewrite_claim(self->plan, op);
    const uint32_t stream = self->plan->workload->ops[op].stream;
    edit->dur_ns = (edit->dur_ns + self->parts - 1) / self->parts;
    in_parts(self, op, edit);
    if (!is_last)
        edit->marks |= HL_ADVISE_EDIT_INNER;
    for (unsigned part = 0; part + 1 < self->parts; part++)
        hl_advise_rewrite_edge_parts(
            self->plan, (hl_advise_rewrite_edge){op, op, (uint8_t)part, (uint8_t)(part + 1)});
    if (self->kernels[stream] != HAUL_NONE)
        hl_advise_rewrite_edge_parts(
            self->plan,
            (hl_advise_rewrite_edge){self->kernels[stream], op, (uint8_t)(self->parts - 1), 0});
    self->kernels[stream] = op;
}

/* The new streams of a stream are made once, and every trio on it uses them. */
static void split_trio(hl_advise_study *study, const trio *at, void *state)
{
    splitter *self = state;
    const haul_op *kernel = &study->workload->ops[at->kernel];
    if (kernel->name != self->candidate->subject || !bound_of(study, at))
        return;
    if (self->streams[kernel->stream] == HAUL_NONE)
        self->streams[kernel->stream] =
            hl_advise_rewrite_streams(self->plan, kernel->stream, self->parts - 1);
    for (uint32_t k = 0; k < at->in_count; k++)
        split_copy(study, self, at->ins[k], false);
    /* several copies in go part by part: the first of the next part after the last of this one */
    for (unsigned part = 1; at->in_count > 1 && part < self->parts; part++)
        hl_advise_rewrite_edge_parts(self->plan,
                                     (hl_advise_rewrite_edge){at->ins[at->in_count - 1], at->ins[0],
                                                              (uint8_t)(part - 1), (uint8_t)part});
    split_kernel(self, at->kernel, !at->out_count);
    for (uint32_t k = 0; k < at->out_count; k++)
        split_copy(study, self, at->outs[k], k + 1 == at->out_count);
}

/* HAUL_NONE in every place: no new streams, no kernel in parts yet. */
static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    const size_t size = (study->workload->stream_count + 1) * sizeof(uint32_t);
    splitter self = {.candidate = candidate,
                     .plan = plan,
                     .parts = parts_of(candidate),
                     .streams = malloc(size),
                     .kernels = malloc(size)};
    if (self.streams && self.kernels) {
        memset(self.streams, 0xff, size);
        memset(self.kernels, 0xff, size);
        trio_visitor split = {split_trio, &self};
        hl_advise_study_walk(study, &trios, &split);
        hl_advise_rewrite_leave_out_waits(plan);
    } else {
        study->failed = true;
    }
    free(self.streams);
    free(self.kernels);
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    const char *kernel = haul_workload_string(study->workload, candidate->subject);
    int shown = 60; /* bytes of a name in a sentence, whole characters */
    const bool is_long = strlen(kernel) > (size_t)shown;
    while (is_long && shown && (kernel[shown] & 0xc0) == 0x80)
        shown--;
    advice->parts = parts_of(candidate);
    advice->what = hl_advise_study_text(
        study, "split over %u streams, with the kernel '%.*s%s': %s", advice->parts, shown,
        *kernel ? kernel : "?", is_long ? ".." : "", effect->calls);
    advice->why =
        hl_advise_study_text(study,
                             "%s of copies run before and after the kernel; in %u parts all "
                             "but the first and the last overlap it",
                             hl_advise_study_time(study, effect->before_ns), advice->parts);
    advice->assumes = "the kernel divides into equal parts, each needs only its part of the bytes, "
                      "and one part fills the device";
    advice->needs = hl_advise_study_pinned_need(study, effect);
}

const hl_advise_change hl_advise_change_split = {
    .word = "split",
    .summary = "copies in, their kernel and copies out are split over streams",
    .certainty = HAUL_CERTAINTY_CONDITIONAL,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
