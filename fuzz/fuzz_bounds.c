/* Workloads of any bytes on devices of any figures: no schedule, no prediction, no advice and no
 * way of moving data is below what its streams and engines are busy for, nor below its longest
 * chain. The sums are made anew here. */
#include <assert.h>
#include <string.h>

#include "haul/advise.h"
#include "haul/overlap.h"
#include "haul/project.h"
#include "timeline/predicted_run.h"
#include "timeline_fuzz.h"
#include "workload/builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The longest that a stream of `workload` is busy; a copy behind another saves its latency. */
static int64_t busiest_ns(const haul_workload *workload, const haul_timeline *timeline,
                          const int64_t *chained_ns)
{
    enum { MOST_STREAMS = 64 };
    int64_t sums_ns[MOST_STREAMS] = {0}, most_ns = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op) || op->stream >= MOST_STREAMS)
            continue;
        const int64_t saved_ns = haul_op_crosses_link(op) ? chained_ns[op->direction] : 0;
        const int64_t took_ns = timeline->ops[i].end_ns - timeline->ops[i].start_ns;
        assert(took_ns + saved_ns >= 0);
        sums_ns[op->stream] += took_ns;
        most_ns = sums_ns[op->stream] > most_ns ? sums_ns[op->stream] : most_ns;
    }
    return most_ns;
}

static void check_run(const made *self)
{
    hl_timeline_predicted_run run = {.timeline = NULL};
    haul_error error = {0};
    const haul_status status =
        hl_timeline_predicted_run_make(&self->workload, &self->options, NULL, &run, &error);
    assert(status != HAUL_STATUS_INTERNAL);
    if (status)
        return;
    assert(run.low_ns >= run.bound.least_ns);
    assert(run.low_ns >=
           busiest_ns(&self->workload, run.timeline, self->options.device.chained_ns));
    haul_timeline_free(run.timeline);
}

/* The answer after the changes: a stream of the changed run is busy for so long at least. */
static void check_advice(const haul_workload *profile)
{
    static const int64_t none[2] = {0, 0};
    const haul_advise_options options = {.most_ops = 2000};
    haul_advice_list *list = NULL;
    haul_error error = {0};
    const haul_status status = haul_advice_make(profile, &options, &list, &error);
    assert(status != HAUL_STATUS_INTERNAL);
    if (status)
        return;
    const haul_advised_plan *plan =
        list->is_speculative ? &list->with_speculative : &list->together;
    assert(list->baseline_ns >= list->together.saved_ns);
    assert(list->baseline_ns >= list->with_speculative.saved_ns);
    if (list->changed)
        assert(list->baseline_ns - plan->saved_ns >= busiest_ns(list->changed, list->after, none));
    for (size_t i = 0; i < list->count; i++)
        assert(list->items[i].saved_ns <= list->baseline_ns);
    haul_advice_free(list);
}

static haul_machine *machine_of(const char *name)
{
    haul_machine *machine = NULL;
    assert(!haul_machine_load(name, &machine, NULL));
    return machine;
}

/* The run on another machine, with the likely times of its operations. */
static void check_projection(const haul_workload *profile)
{
    static haul_machine *from, *to;
    if (!to) {
        from = machine_of("v100-sxm2");
        to = machine_of("h100-sxm5");
    }
    const haul_projection_options options = {.from = from, .to = to};
    haul_projection *projection = NULL;
    haul_error error = {0};
    const haul_status status = haul_projection_make(profile, &options, &projection, &error);
    assert(status != HAUL_STATUS_INTERNAL);
    if (status)
        return;
    const haul_timeline *timeline = projection->timeline;
    if (timeline && !projection->unsound) {
        const int64_t run_ns = projection->target_run.makespan_ns;
        assert(run_ns >= busiest_ns(profile, timeline, projection->device.chained_ns));
        assert(projection->low_ns <= run_ns && run_ns <= projection->high_ns);
        const haul_critical_path *path = &projection->critical;
        assert(path->host_ns >= 0 && haul_critical_path_host(path) >= 0);
        assert(path->kernels_ns + path->memsets_ns + path->gaps_ns + path->host_ns <= run_ns);
    }
    haul_projection_free(projection);
}

/* No way of moving the data takes less than the kernel, or than the copies of a direction. */
static void check_overlap(bytes *from)
{
    static haul_machine *machines[3];
    if (!machines[0]) {
        machines[0] = machine_of("gtx-680");
        machines[1] = machine_of("gtx-titan");
        machines[2] = machine_of("h100-sxm5");
    }
    const haul_machine *on = machines[take(from) % 3];
    const haul_overlap_work work = {.in_bytes = (uint64_t)take(from) << take(from) % 32,
                                    .out_bytes = (uint64_t)take(from) << take(from) % 32,
                                    .kernel_s = 1e-6 * take(from) * (1 << take(from) % 16)};
    const uint32_t streams = 1 + take(from) % 16;
    haul_overlap_case described;
    haul_error error = {0};
    if (haul_overlap_describe(on, &work, &described, &error))
        return;
    /* a timeline's times are whole nanoseconds, those of each chunk */
    const double rounding_s = 1e-9 * (4 + 4.0 * streams);
    const double in_s = described.in.bytes * described.in.per_byte_s;
    const double out_s = described.out.bytes * described.out.per_byte_s;
    for (int s = 0; s < HAUL_STRATEGIES; s++) {
        const haul_strategy strategy = (haul_strategy)s;
        const bool copies_in = strategy != HAUL_STRATEGY_MAPPED;
        const bool copies_out = copies_in && strategy != HAUL_STRATEGY_HYBRID;
        double seconds = 0;
        const haul_status status =
            haul_overlap_play(&described, strategy, streams, &seconds, &error);
        assert(status != HAUL_STATUS_INTERNAL);
        if (status)
            continue;
        seconds += rounding_s;
        assert(seconds >= described.kernel_s);
        assert(!copies_in || seconds >= in_s);
        assert(!copies_out || seconds >= out_s);
        assert(strategy != HAUL_STRATEGY_EXPLICIT || seconds >= in_s + out_s + described.kernel_s);
    }
}

static int compare_starts(const void *a, const void *b)
{
    const haul_op *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Readers keep times within what a workload promises. */
static int64_t recorded(int64_t ns)
{
    return ns >= 0 && ns < INT64_C(1) << 40 ? ns : 0;
}

static void make_op(haul_op *op, uint32_t shapes)
{
    op->start_ns = recorded(op->start_ns);
    op->dur_ns = recorded(op->dur_ns);
    op->call_ns = recorded(op->call_ns);
    op->call_dur_ns = recorded(op->call_dur_ns);
    if (op->kind >= HAUL_OP_KINDS)
        op->kind = HAUL_OP_COPY;
    if (op->kind == HAUL_OP_COPY)
        op->bytes = (uint64_t)op->dur_ns * 1000;
    if (op->kind == HAUL_OP_KERNEL && op->shape >= shapes)
        op->shape = HAUL_NONE;
    if (op->stream >= STREAMS)
        op->stream = 0;
    if (op->thread >= THREADS)
        op->thread = HAUL_NONE;
}

/* Edges lead to later operations. */
static void make_edges(made *self)
{
    const uint32_t count = (uint32_t)self->workload.op_count;
    size_t kept = 0;
    for (size_t e = 0; count && e < self->workload.edge_count; e++) {
        const uint32_t a = self->edges[e].before % count, b = self->edges[e].after % count;
        if (a != b)
            self->edges[kept++] = (haul_edge){a < b ? a : b, a < b ? b : a};
    }
    self->workload.edge_count = kept;
    qsort(self->edges, kept, sizeof *self->edges, compare_edges);
}

/* A profile has its operations in order of start, on streams and threads that differ, and calls
 * with names. */
static haul_workload *make_profile(made *self)
{
    static const char *const names[] = {"cudaMemcpyToSymbol_v3020", "cudaMemcpyAsync_v3020",
                                        "cudaMemcpy_v3020"};
    hl_workload_builder builder;
    haul_workload *workload = NULL;
    hl_workload_builder_init(&builder);
    for (uint64_t d = 0; d < DEVICES; d++)
        hl_workload_builder_device(&builder, d);
    for (uint32_t s = 0; s < STREAMS; s++)
        hl_workload_builder_stream(
            &builder, &(haul_workload_stream){.device = self->streams[s].device, .id = s});
    for (uint64_t t = 0; t < THREADS; t++)
        hl_workload_builder_thread(&builder, &(haul_workload_thread){.id = t});
    for (int s = 0; s < SHAPES; s++)
        hl_workload_builder_shape(&builder, &self->shapes[s]);
    for (uint32_t i = 0; i < self->workload.op_count; i++)
        make_op(&self->ops[i], (uint32_t)builder.shapes.count);
    qsort(self->ops, self->workload.op_count, sizeof *self->ops, compare_starts);
    make_edges(self);
    for (uint32_t i = 0; i < self->workload.op_count; i++) {
        haul_op op = self->ops[i];
        const char *name = names[(size_t)op.call_dur_ns % 3];
        op.name = hl_workload_builder_string(&builder, name, strlen(name));
        hl_workload_builder_op(&builder, &op);
    }
    for (size_t e = 0; e < self->workload.edge_count; e++)
        hl_workload_builder_edge(&builder, self->edges[e].before, self->edges[e].after);
    assert(!hl_workload_builder_finish(&builder, "fuzz", "fuzz", &workload, NULL));
    return workload;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes from = {data, size}, same = {data, size};
    static made self;
    check_overlap(&same);
    memset(&self, 0, sizeof self);
    make(&from, &self);
    check_run(&self);
    haul_workload *profile = make_profile(&self);
    check_advice(profile);
    check_projection(profile);
    haul_workload_free(profile);
    return 0;
}
