/* The parts of a critical path's host time that are not the program's own: calls back from where
 * the host was late. */
#include "timeline/driver_part.h"

#include <stdlib.h>

#include "base/intervals.h"
#include "timeline/driver_call.h"
#include "workload/op_class.h"

const char *haul_driver_work_text(haul_driver_work work)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        HAUL_DRIVER_WORK_LIST(TEXT)
#undef TEXT
    };
    return (unsigned)work < HAUL_DRIVER_WORKS ? texts[work] : "unknown";
}

/* A stretch of the path in which the host worked, walked back through its thread's calls. */
typedef struct host_stretch {
    const haul_workload *workload;
    const haul_timeline *timeline;
    const haul_timeline_options *options;
    const int64_t *idle_from_ns;
    haul_critical_path *path;
    hl_workload_tally *tally;
    int64_t begin_ns;
    int64_t left_ns;
    bool has_no_memory;
} host_stretch;

/* Recorded time of the host's on this timeline. */
static int64_t scaled(const host_stretch *self, int64_t recorded_ns)
{
    const double times = self->options->host_time > 0 ? self->options->host_time : 1;
    return times == 1 ? recorded_ns : (int64_t)((double)recorded_ns * times);
}

static int64_t call_of(const host_stretch *self, uint32_t op)
{
    const int64_t *given_ns = self->options->call_durations_ns;
    return given_ns ? given_ns[op]
                    : scaled(self, hl_workload_call_dur_ns(&self->workload->ops[op]));
}

/* The end of what is left goes to the driver, or with HAUL_DRIVER_WORKS to the program. */
static void spend(host_stretch *self, int64_t took_ns, haul_driver_work work)
{
    const int64_t part_ns = took_ns < self->left_ns ? hl_timeline_later(took_ns, 0) : self->left_ns;
    self->left_ns -= part_ns;
    if (work != HAUL_DRIVER_WORKS)
        self->path->driver_ns[work] += part_ns;
}

/* Whether one call issued an operation and the one before it, as the launch of a graph does. */
static bool shares_call(const haul_workload *workload, uint32_t op)
{
    const haul_op *at = &workload->ops[op];
    const haul_op *before = at->thread_prev == HAUL_NONE ? NULL : &workload->ops[at->thread_prev];
    return before && haul_op_on_device(at) && haul_op_on_device(before) &&
           at->call_ns == before->call_ns;
}

/* The end of what is left is of the copy `at`'s call, which took `took_ns`: the time of it in which
 * the copy ran is the copy's. The call of a pageable copy to the device returns when the last piece
 * is staged, before the copy ends, so that no step of the path waits for the copy itself. */
static int64_t spend_copy(host_stretch *self, uint32_t at, int64_t took_ns)
{
    const haul_op *op = &self->workload->ops[at];
    const haul_span *ran = &self->timeline->ops[at];
    const int64_t returned_ns = self->begin_ns + self->left_ns;
    const int64_t called_ns = hl_timeline_later(returned_ns - took_ns, self->begin_ns);
    const int64_t first_ns = hl_timeline_later(ran->start_ns, called_ns);
    const int64_t last_ns = ran->end_ns < returned_ns ? ran->end_ns : returned_ns;
    if (!haul_op_crosses_link(op) || op->detail != HAUL_MEMORY_PAGEABLE || last_ns <= first_ns)
        return 0;
    haul_op counted = *op;
    counted.dur_ns = last_ns - first_ns;
    counted.bytes = 0; /* copies of all sizes are one row */
    self->left_ns -= counted.dur_ns;
    self->path->host_ns -= counted.dur_ns;
    self->path->copies_ns[op->direction] += counted.dur_ns;
    self->has_no_memory = !hl_workload_tally_add(self->tally, &counted) || self->has_no_memory;
    return counted.dur_ns;
}

/* The call of a device's operation, of which the path has `took_ns`. The launch of a graph takes
 * its time for many operations. While other work ran on the devices an operation that starts within
 * its call may have waited for that; of the rest all is the driver's where it takes far longer than
 * such calls do. */
static void spend_launch(host_stretch *self, uint32_t at, int64_t took_ns)
{
    const haul_op *op = &self->workload->ops[at];
    const bool starts_within = op->start_ns < hl_base_end_of(op->call_ns, op->call_dur_ns);
    const int64_t idle_ns =
        self->idle_from_ns[at] < op->start_ns ? self->idle_from_ns[at] : op->start_ns;
    const int64_t waited_ns =
        starts_within && idle_ns > op->call_ns ? scaled(self, idle_ns - op->call_ns) : 0;
    const bool is_driver =
        !shares_call(self->workload, at) && hl_timeline_is_driver_call(op, took_ns - waited_ns);
    spend(self, took_ns - waited_ns, is_driver ? HAUL_DRIVER_WORK_SLOW : HAUL_DRIVER_WORKS);
    spend(self, waited_ns < took_ns ? waited_ns : took_ns, HAUL_DRIVER_WORKS);
}

static int64_t called_at(const haul_op *op)
{
    return haul_op_on_host(op) ? op->start_ns : op->call_ns;
}

/* Adds the host's work before operation `at`, back to the operation `before` that the path goes on
 * with: its calls, by name, and the time between them. A wait ends the walk, for what it waited for
 * had the time. */
static void look_back(host_stretch *self, uint32_t at, uint32_t before)
{
    const haul_op *ops = self->workload->ops;
    if (ops[at].thread == HAUL_NONE)
        return;
    if (haul_op_on_device(&ops[at])) {
        const int64_t call_ns = call_of(self, at);
        const int64_t until_start_ns = scaled(self, ops[at].start_ns - ops[at].call_ns);
        spend_launch(self, at, call_ns < until_start_ns ? call_ns : until_start_ns);
    }
    for (uint32_t called = ops[at].thread_prev;
         self->left_ns > 0 && called != HAUL_NONE && called != before;
         at = called, called = ops[at].thread_prev) {
        const haul_op *call = &ops[called];
        if (shares_call(self->workload, at))
            continue;
        const int64_t recorded_ns = hl_workload_call_dur_ns(call);
        spend(self, scaled(self, called_at(&ops[at]) - called_at(call) - recorded_ns),
              HAUL_DRIVER_WORKS);
        if (call->kind == HAUL_OP_SYNC || call->flags & HAUL_OP_BLOCKS)
            return;
        if (call->kind == HAUL_OP_CALL)
            spend(self, call_of(self, called),
                  hl_timeline_driver_work_of(haul_workload_string(self->workload, call->name)));
        else {
            const int64_t took_ns = call_of(self, called);
            spend_launch(self, called, took_ns - spend_copy(self, called, took_ns));
        }
    }
}

/* The host's time between two steps of the path: none where the second waited for the first. */
static void add_stretch(host_stretch *self, uint32_t before, uint32_t at, int64_t end_ns)
{
    const bool is_first = before == HAUL_NONE;
    self->begin_ns = is_first ? self->timeline->start_ns : self->timeline->ops[before].end_ns;
    self->left_ns = end_ns - self->begin_ns;
    if (self->left_ns > 0 && (is_first || self->timeline->cause[at] != before))
        look_back(self, at, before);
}

/* Back from the end, as the path's parts are counted: a step that began while a later one ran has
 * no part of its own. One of no duration that the later one waited for, such as an entry into a
 * call of MPI, tells whose thread the time before it is of. */
bool hl_timeline_driver_part_find(const haul_workload *workload, const haul_timeline *timeline,
                                  const haul_timeline_options *options, haul_critical_path *path,
                                  hl_workload_tally *tally)
{
    /* When in the recording the devices had ended all that began before each operation: until then
     * a call may have waited for them. */
    int64_t *idle_from_ns = malloc((workload->op_count + 1) * sizeof *idle_from_ns);
    int64_t latest_ns = INT64_MIN;
    for (size_t i = 0; idle_from_ns && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        idle_from_ns[i] = latest_ns;
        if (haul_op_on_device(op))
            latest_ns = hl_timeline_later(latest_ns, hl_base_end_of(op->start_ns, op->dur_ns));
    }
    host_stretch stretch = {.workload = workload,
                            .timeline = timeline,
                            .options = options,
                            .idle_from_ns = idle_from_ns,
                            .path = path,
                            .tally = tally,
                            .has_no_memory = !idle_from_ns};
    int64_t until_ns = timeline->start_ns + timeline->makespan_ns;
    uint32_t at = HAUL_NONE;
    for (size_t step = timeline->critical_count; idle_from_ns && step-- > 0;) {
        const int64_t begin_ns = hl_timeline_path_begin(workload, timeline, step);
        const bool is_cause = at != HAUL_NONE && timeline->cause[at] == timeline->critical[step];
        if (begin_ns > until_ns || (begin_ns == until_ns && !is_cause))
            continue;
        if (at != HAUL_NONE)
            add_stretch(&stretch, timeline->critical[step], at, until_ns);
        at = timeline->critical[step];
        until_ns = begin_ns;
    }
    if (idle_from_ns && at != HAUL_NONE)
        add_stretch(&stretch, HAUL_NONE, at, until_ns);
    free(idle_from_ns);
    return !stretch.has_no_memory;
}
