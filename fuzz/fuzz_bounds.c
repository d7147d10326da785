/* Workloads of any bytes on devices of any figures: no schedule, no prediction and no advice is
 * below what its streams and engines are busy for, nor below its longest chain. The sums are made
 * anew here. */
#include <assert.h>
#include <string.h>

#include "haul/advise.h"
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
    bytes from = {data, size};
    static made self;
    memset(&self, 0, sizeof self);
    make(&from, &self);
    check_run(&self);
    haul_workload *profile = make_profile(&self);
    check_advice(profile);
    haul_workload_free(profile);
    return 0;
}
