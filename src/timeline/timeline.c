/* From the engine's state to the caller's timeline, which takes over the engine's two largest
 * arrays: an operation's progress is its span in the end, its link on the stream the cause of its
 * start. */
#include "haul/timeline.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "timeline/engine.h"
#include "timeline/predicted_run.h"

typedef struct hl_timeline_owned_timeline {
    haul_timeline seen;
    hl_timeline_progress *progress;
    hl_timeline_stream_link *streams;
    haul_resource *resources;
    uint32_t *critical;
    bool copies_met;
} hl_timeline_owned_timeline;

void haul_timeline_free(haul_timeline *timeline)
{
    hl_timeline_owned_timeline *owned = (hl_timeline_owned_timeline *)timeline;
    if (!owned)
        return;
    free(owned->progress);
    free(owned->streams);
    free(owned->resources);
    free(owned->critical);
    free(owned);
}

bool hl_timeline_copies_met(const haul_timeline *timeline)
{
    return ((const hl_timeline_owned_timeline *)timeline)->copies_met;
}

const char *haul_resource_text(haul_resource_kind kind)
{
    static const char *const texts[] = {HAUL_RESOURCE_LIST(HAUL_ROW_TEXT)};
    return (unsigned)kind < HAUL_RESOURCES ? texts[kind] : "none";
}

/* Only those that ran something: most devices have no peer engine, no migrations. */
static haul_status list_resources(const hl_timeline_engine *engine,
                                  hl_timeline_owned_timeline *timeline)
{
    size_t used = 0;
    const size_t count = (size_t)engine->device_count * HAUL_RESOURCES;
    for (size_t s = 0; s < count; s++)
        used += engine->servers[s].ops > 0;
    timeline->resources = malloc((used + 1) * sizeof *timeline->resources);
    if (!timeline->resources)
        return HAUL_STATUS_NO_MEMORY;
    used = 0;
    for (size_t s = 0; s < count; s++) {
        const hl_timeline_server *server = &engine->servers[s];
        const uint32_t device = (uint32_t)(s / HAUL_RESOURCES);
        if (server->ops)
            timeline->resources[used++] = (haul_resource){
                .device = device + 1 < engine->device_count ? device : HAUL_NONE,
                .kind = (haul_resource_kind)(s % HAUL_RESOURCES),
                .ops = server->ops,
                .busy_ns = server->busy_ns,
                .idle_ns = timeline->seen.makespan_ns - server->busy_ns,
            };
    }
    timeline->seen.resource_count = used;
    return HAUL_OK;
}

/* The host's operation that one without a call follows: of its edges from the host that after which
 * the recorded time passed last, as the engine has it. */
static uint32_t host_before(const hl_timeline_engine *engine, uint32_t op)
{
    const haul_workload *workload = engine->workload;
    const uint32_t end = engine->edge_begin ? engine->edge_begin[op + 1] : 0;
    uint32_t last = HAUL_NONE;
    int64_t last_ns = INT64_MIN;
    for (uint32_t e = engine->edge_begin ? engine->edge_begin[op] : 0; e < end; e++) {
        const uint32_t before = workload->edges[e].before;
        const haul_op *wait = &workload->ops[before];
        const int64_t since_ns = workload->ops[op].start_ns - (wait->start_ns + wait->dur_ns);
        const int64_t due_ns =
            hl_base_end_of(engine->progress[before].end_ns, since_ns > 0 ? since_ns : 0);
        if (!haul_op_on_host(wait) || due_ns <= last_ns)
            continue;
        last = before;
        last_ns = due_ns;
    }
    return last;
}

/* The operation that another waited for; where it waited for its call, the one that last delayed
 * its thread: by a place in the launch queue, a wait, or a call that blocks. */
static uint32_t cause_of(const hl_timeline_engine *engine, uint32_t op)
{
    const haul_op *ops = engine->workload->ops;
    if (engine->streams[op].cause != HAUL_NONE)
        return engine->streams[op].cause;
    if (ops[op].thread == HAUL_NONE)
        return host_before(engine, op);
    for (uint32_t call = op;;) {
        if (engine->queue_depth && engine->calls[call].room_for != HAUL_NONE)
            return engine->calls[call].room_for;
        call = ops[call].thread_prev;
        if (call == HAUL_NONE || ops[call].kind == HAUL_OP_SYNC ||
            (ops[call].flags & HAUL_OP_BLOCKS))
            return call;
    }
}

/* Back from the last end. An operation never comes before its cause, and a path has no more steps
 * than there are operations. */
static haul_status follow_critical(const hl_timeline_engine *engine, uint32_t last,
                                   hl_timeline_owned_timeline *timeline)
{
    size_t count = 0;
    for (uint32_t op = last; op != HAUL_NONE && count < engine->workload->op_count; count++)
        op = cause_of(engine, op);
    timeline->critical = malloc((count + 1) * sizeof *timeline->critical);
    if (!timeline->critical)
        return HAUL_STATUS_NO_MEMORY;
    timeline->seen.critical_count = count;
    int64_t until_ns = INT64_MAX, sum_ns = 0;
    uint32_t op = last;
    while (count-- > 0) {
        const hl_timeline_progress span = engine->progress[op];
        const int64_t end_ns = span.end_ns < until_ns ? span.end_ns : until_ns;
        timeline->critical[count] = op;
        if (end_ns > span.start_ns) {
            sum_ns += end_ns - span.start_ns;
            until_ns = span.start_ns;
        }
        op = cause_of(engine, op);
    }
    timeline->seen.critical_ns = sum_ns;
    return HAUL_OK;
}

/* A workload of the host alone has its makespan from the host's operations. */
static haul_status collect(hl_timeline_engine *engine, hl_timeline_owned_timeline *timeline)
{
    /* The makespan is that of the devices' operations, or of all where they have none. */
    const hl_timeline_extent *devices = &engine->extents[HAUL_OP_PLACE_DEVICE],
                             *host = &engine->extents[HAUL_OP_PLACE_HOST];
    const hl_timeline_extent *found = devices->last == HAUL_NONE ? host : devices;
    if (found->last != HAUL_NONE) {
        const int64_t start_ns =
            devices->start_ns < host->start_ns ? devices->start_ns : host->start_ns;
        const int64_t end_ns = devices->end_ns > host->end_ns ? devices->end_ns : host->end_ns;
        timeline->seen.start_ns = found->start_ns;
        timeline->seen.makespan_ns = found->end_ns - found->start_ns;
        timeline->seen.whole_ns = end_ns - start_ns;
    }
    const uint32_t last = found->last;
    haul_status status = list_resources(engine, timeline);
    if (!status)
        status = follow_critical(engine, last, timeline);
    if (status)
        return hl_base_fail_no_memory(engine->error);
    timeline->progress = engine->progress;
    timeline->streams = engine->streams;
    timeline->copies_met = engine->copies_met;
    engine->progress = NULL;
    engine->streams = NULL;
    timeline->seen.ops = &timeline->progress->span;
    timeline->seen.cause = &timeline->streams->cause;
    timeline->seen.op_count = engine->workload->op_count;
    timeline->seen.origin_ns = engine->origin_ns;
    timeline->seen.unissued = engine->unissued;
    timeline->seen.resources = timeline->resources;
    timeline->seen.critical = timeline->critical;
    return HAUL_OK;
}

/* The engine lives on the stack: nothing of it outlives the run but what the timeline took. */
haul_status haul_timeline_run(const haul_workload *workload, const haul_timeline_options *options,
                              haul_timeline **timeline, haul_error *error)
{
    hl_timeline_engine engine = {.workload = workload, .options = options, .error = error};
    hl_timeline_owned_timeline *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    haul_status status = hl_timeline_engine_init(&engine);
    if (!status)
        status = hl_timeline_engine_run(&engine);
    if (!status)
        status = collect(&engine, made);
    hl_timeline_engine_release(&engine);
    if (status) {
        haul_timeline_free(&made->seen);
        return status;
    }
    *timeline = &made->seen;
    return HAUL_OK;
}
