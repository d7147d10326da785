/* A profile scheduled with its own durations: what the engine cannot explain of the recording shows
 * here, before any prediction rests on it. The parameters that no machine file gives, such as the
 * time from a call to its operation's start, are found from the same profile. */
#include "timeline/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "base/stats.h"
#include "timeline/device_of.h"
#include "timeline/stream_gap.h"
#include "workload/op_class.h"

/* A recorded duration holds already how much kernels that ran together slowed each other: as many
 * may run as a device of compute capability 7 and later holds. */
enum { KERNELS_AT_ONCE = 128, ENGINES_UNKNOWN = 2 };

/* The most of any device: a profile of several has the same GPU mostly. */
static unsigned copy_engines(const haul_workload *workload)
{
    unsigned most = 0;
    for (size_t d = 0; d < workload->device_count; d++)
        if (workload->devices[d].copy_engines > most)
            most = workload->devices[d].copy_engines;
    return most ? most : ENGINES_UNKNOWN;
}

/* Occupancy and launch queue of the recording GPUs, where they are known and the same for all. A
 * queue that delayed calls is as deep as these show; another at least as deep as it was seen. */
static void find_limits(const haul_workload *workload, const hl_timeline_recorded_waits *found,
                        haul_timeline_device *device)
{
    const haul_workload_device *first = workload->devices;
    bool are_same = workload->device_count > 0;
    for (size_t d = 1; d < workload->device_count; d++) {
        const haul_workload_device *other = &workload->devices[d];
        are_same &= first->multiprocessors == other->multiprocessors &&
                    first->compute_major == other->compute_major &&
                    first->compute_minor == other->compute_minor;
    }
    const hl_machine_architecture *architecture =
        are_same ? hl_machine_architecture_of_capability(first->compute_major, first->compute_minor)
                 : NULL;
    if (architecture)
        hl_timeline_device_hold(device, architecture, first->multiprocessors);
    if (found->depth)
        device->queue_depth = found->depth;
    else if (device->queue_depth && found->most > device->queue_depth)
        device->queue_depth = found->most;
}

/* More than these count as these. */
enum { MIGRATIONS_MOST = 16 };

/* As many migrations of unified memory at once as in the recording, over all devices; 0 where there
 * are none. */
static unsigned migrations(const haul_workload *workload)
{
    int64_t ends_ns[MIGRATIONS_MOST];
    unsigned most = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_crosses_link(op) || op->detail != HAUL_MEMORY_MANAGED)
            continue;
        unsigned at = 0;
        while (at < most && ends_ns[at] > op->start_ns)
            at++;
        if (at == MIGRATIONS_MOST)
            continue;
        most = at == most ? most + 1 : most;
        ends_ns[at] = hl_base_end_of(op->start_ns, op->dur_ns);
    }
    return most;
}

/* The operations that share a resource of a device: copies of one direction, or all the rest. */
static size_t class_of(const haul_workload *workload, const haul_op *op)
{
    const size_t device = hl_workload_device_of(workload, op);
    const bool is_copy = op->kind == HAUL_OP_COPY && op->direction < HAUL_DIRECTIONS;
    return device * (HAUL_DIRECTIONS + 1) + (is_copy ? op->direction : HAUL_DIRECTIONS);
}

/* When the last of the operations that one waits for through its edges ended, from *edge on;
 * INT64_MIN where there is none. */
static int64_t edges_end(const haul_workload *workload, size_t op, size_t *edge)
{
    int64_t end_ns = INT64_MIN;
    while (*edge < workload->edge_count && workload->edges[*edge].after < op)
        ++*edge;
    for (; *edge < workload->edge_count && workload->edges[*edge].after == op; ++*edge) {
        const haul_op *before = &workload->ops[workload->edges[*edge].before];
        const int64_t before_ns = hl_base_end_of(before->start_ns, before->dur_ns);
        end_ns = before_ns > end_ns ? before_ns : end_ns;
    }
    return end_ns;
}

/* Whether all earlier operations of its stream and its resource, and those of its edges, had ended
 * when it was called: only its issue delayed it. */
static bool was_only_issued(const haul_workload *workload, const haul_op *op, int64_t others_end_ns)
{
    if (!(op->flags & HAUL_OP_HAS_CALL) || op->start_ns < op->call_ns ||
        others_end_ns > op->call_ns)
        return false;
    if (op->stream_prev == HAUL_NONE)
        return true;
    const haul_op *before = &workload->ops[op->stream_prev];
    return hl_base_end_of(before->start_ns, before->dur_ns) <= op->call_ns;
}

/* Operations by what made them start when they did, a bit each. */
typedef struct issue_marks {
    uint8_t *issued;
    uint8_t *first; /* of their name */
    unsigned kinds; /* of devices that there are, a bit each */
} issue_marks;

/* Fills a bit for each such operation: of one pass, the lags of every kind are found. */
static void mark_issued(const haul_workload *workload, int64_t *ends_ns, issue_marks *marks)
{
    size_t edge = 0;
    for (size_t c = 0; c < (workload->device_count + 1) * (HAUL_DIRECTIONS + 1); c++)
        ends_ns[c] = INT64_MIN;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        marks->kinds |= 1U << op->kind;
        int64_t *end_ns = &ends_ns[class_of(workload, op)];
        const int64_t edges_ns = edges_end(workload, i, &edge);
        if (was_only_issued(workload, op, edges_ns > *end_ns ? edges_ns : *end_ns))
            marks->issued[i / 8] |= (uint8_t)(1U << i % 8);
        const int64_t op_end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
        if (op_end_ns > *end_ns)
            *end_ns = op_end_ns;
    }
}

/* Fills a bit for the first operation of each name. Without memory none is filled. */
static bool mark_first(const haul_workload *workload, const issue_marks *marks)
{
    uint32_t names = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].name != HAUL_NONE && workload->ops[i].name >= names)
            names = workload->ops[i].name + 1;
    uint8_t *seen = calloc((size_t)names / 8 + 1, 1);
    for (size_t i = 0; seen && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->name == HAUL_NONE || !haul_op_on_device(op) ||
            seen[op->name / 8] & 1U << op->name % 8)
            continue;
        seen[op->name / 8] |= (uint8_t)(1U << op->name % 8);
        marks->first[i / 8] |= (uint8_t)(1U << i % 8);
    }
    free(seen);
    return seen != NULL;
}

/* Which operations' times from call to start count. */
typedef enum lag_set {
    LAGS_REPEATED, /* only issued, and not the first of their names, which loads its code */
    LAGS_ISSUED,   /* only issued */
    LAGS_CALLED,   /* of any kind: issued, and then waiting or not */
} lag_set;

static size_t gather_lags(const haul_workload *workload, haul_op_kind kind, bool on_return,
                          const issue_marks *marks, lag_set set, double *lags)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const bool is_issued = marks->issued[i / 8] & 1U << i % 8;
        const bool is_first = marks->first[i / 8] & 1U << i % 8;
        if (!(op->flags & HAUL_OP_HAS_CALL) || !haul_op_on_device(op) || op->start_ns < op->call_ns)
            continue;
        if (set != LAGS_CALLED && (op->kind != kind || !is_issued))
            continue;
        if (set == LAGS_REPEATED && is_first)
            continue;
        /* From its call to its start, or from the call's return where that counts and the call does
         * not block. */
        const bool returns = on_return && !(op->flags & HAUL_OP_BLOCKS);
        lags[count++] = (double)(op->start_ns - op->call_ns - (returns ? op->call_dur_ns : 0));
    }
    return count;
}

static double least_of(const double *values, size_t count)
{
    double least = values[0];
    for (size_t i = 1; i < count; i++)
        least = fmin(least, values[i]);
    return least;
}

/* The median of fewer tells nothing: one or two that loaded modules decide it. But three that lie
 * within a factor of four of the smallest agree. */
enum { LEAST_LAGS = 8, LEAST_AGREEING = 3, AGREEING = 4 };

/* The usual time from call to start, and its spread; negative where there is none. Other causes
 * only add to it: code that is loaded, a driver that wakes up. So of few it is that of the smallest
 * ones where these agree, else the smallest of any kind, since all kinds go the same way to the
 * device: what they took beyond is a delay of their own. */
static double usual_lag(const haul_workload *workload, haul_op_kind kind, bool on_return,
                        const issue_marks *marks, double *lags, double *spread)
{
    size_t count = gather_lags(workload, kind, on_return, marks, LAGS_REPEATED, lags);
    const lag_set set = count >= LEAST_LAGS ? LAGS_REPEATED : LAGS_ISSUED;
    double usual = -1;
    if (set == LAGS_REPEATED) {
        usual = hl_base_median_of_many(lags, count);
    } else {
        count = gather_lags(workload, kind, on_return, marks, set, lags);
        if (!count)
            return -1;
        /* The median of those that agree with the smallest, which come first then; negative where
         * they are too few. */
        const double least = least_of(lags, count);
        size_t agreeing = 0;
        for (size_t i = 0; i < count; i++)
            if (lags[i] <= AGREEING * least)
                lags[agreeing++] = lags[i];
        usual = agreeing >= LEAST_AGREEING ? hl_base_median_of_many(lags, agreeing) : -1;
    }
    if (set == LAGS_ISSUED && usual < 0) {
        count = gather_lags(workload, kind, on_return, marks, LAGS_CALLED, lags);
        usual = least_of(lags, count);
    }
    if (set == LAGS_ISSUED) /* else they are all there still, in another order */
        count = gather_lags(workload, kind, on_return, marks, set, lags);
    for (size_t i = 0; i < count; i++)
        lags[i] = fabs(lags[i] - usual);
    *spread = hl_base_median_of_many(lags, count);
    return usual;
}

/* The time from call to start of a kind: the usual one, from the call or from its return, whichever
 * spreads less. A negative one tells of clocks that differ, not of an issue. */
static void find_issue(const haul_workload *workload, haul_op_kind kind, const issue_marks *marks,
                       double *lags, haul_timeline_device *device)
{
    double least = (double)INFINITY;
    for (int on_return = 0; on_return < 2; on_return++) {
        double spread = 0;
        const double usual = usual_lag(workload, kind, on_return, marks, lags, &spread);
        if (usual < 0 || spread >= least)
            continue;
        least = spread;
        device->issue_ns[kind] = (int64_t)usual;
        device->issue_on_return[kind] = on_return;
    }
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A call that returned so long before has surely put its kernel in the queue. Some wait for another
 * stream, too, so of a few the median says nothing, and a longer one is no GPU's: those of public
 * profiles are 0 to 2 us. */
enum { QUEUED_NS = 10000, LEAST_GAPS = 20, LONGEST_GAP_NS = 10000 };

/* The median of such gaps; sorts them. */
static int64_t usual_gap(double *gaps, size_t count)
{
    const double median_ns = count >= LEAST_GAPS ? hl_base_median_of_many(gaps, count) : 0;
    return median_ns <= LONGEST_GAP_NS ? (int64_t)median_ns : 0;
}

/* The times from the end of an operation to the start of the next in its stream, which was queued.
 * Of one pass: those of kernels fill `gaps` from the front, those of memory from the back. */
static void find_gaps(const haul_workload *workload, double *gaps, haul_timeline_device *device)
{
    size_t count = 0, rest = workload->op_count;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->stream_prev == HAUL_NONE || !(op->flags & HAUL_OP_HAS_CALL))
            continue;
        const haul_op *before = &workload->ops[op->stream_prev];
        const int64_t end_ns = hl_base_end_of(before->start_ns, before->dur_ns);
        const int64_t returned_ns = hl_base_end_of(op->call_ns, op->call_dur_ns);
        const hl_timeline_gap_kind kind = hl_timeline_gap_kind_of(before, op);
        if (kind == HL_TIMELINE_GAP_NONE || hl_base_end_of(returned_ns, QUEUED_NS) > end_ns)
            continue;
        gaps[kind == HL_TIMELINE_GAP_KERNEL ? count++ : --rest] =
            op->start_ns > end_ns
                ? (double)hl_base_clamp_ns((uint64_t)op->start_ns - (uint64_t)end_ns)
                : 0;
    }
    device->kernel_gap_ns = usual_gap(gaps, count);
    device->memory_gap_ns = usual_gap(gaps + rest, workload->op_count - rest);
}

/* From the first start to the last end of the device's operations, as the timeline counts. */
static int64_t recorded_makespan(const haul_workload *workload)
{
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        start_ns = op->start_ns < start_ns ? op->start_ns : start_ns;
        end_ns = later(end_ns, hl_base_end_of(op->start_ns, op->dur_ns));
    }
    return end_ns > start_ns ? hl_base_clamp_ns((uint64_t)end_ns - (uint64_t)start_ns) : 0;
}

/* When an operation could have started by its call, its stream and its edges, from *edge on. */
static int64_t ready_of(const haul_workload *workload, const haul_timeline_device *device,
                        uint32_t i, size_t *edge)
{
    const haul_op *ops = workload->ops, *op = &ops[i];
    int64_t ready_ns = hl_base_end_of(op->call_ns, device->issue_ns[op->kind]);
    if (device->issue_on_return[op->kind] && !(op->flags & HAUL_OP_BLOCKS))
        ready_ns = hl_base_end_of(ready_ns, op->call_dur_ns);
    if (op->stream_prev != HAUL_NONE) {
        const haul_op *before = &ops[op->stream_prev];
        const int64_t end_ns = hl_base_end_of(before->start_ns, before->dur_ns);
        ready_ns = later(ready_ns, hl_base_end_of(end_ns, hl_timeline_gap_of(device, before, op)));
    }
    return later(ready_ns, edges_end(workload, i, edge));
}

/* The delays that nothing explains: of operations with a call that started more than `least_ns`
 * after all that they waited for, their resource idle. */
static bool find_delays(const haul_workload *workload, const haul_timeline_device *device,
                        int64_t least_ns, int64_t *ends_ns, hl_timeline_recorded_waits *found)
{
    size_t edge = 0, capacity = 0;
    for (size_t c = 0; c < (workload->device_count + 1) * (HAUL_DIRECTIONS + 1); c++)
        ends_ns[c] = INT64_MIN;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        int64_t *end_ns = &ends_ns[class_of(workload, op)];
        const int64_t ready_ns = later(ready_of(workload, device, i, &edge), *end_ns);
        const bool is_late = op->thread != HAUL_NONE && op->start_ns > ready_ns &&
                             op->start_ns - ready_ns > least_ns;
        if (is_late &&
            !hl_base_grow(&found->delays, &capacity, found->delay_count + 1, sizeof *found->delays))
            return false;
        if (is_late)
            found->delays[found->delay_count++] = (haul_start_delay){i, op->start_ns - ready_ns};
        *end_ns = later(*end_ns, hl_base_end_of(op->start_ns, op->dur_ns));
    }
    return true;
}

/* Errors of starts say more than that of the makespan, whose parts may cancel. */
static haul_replay describe(const haul_workload *workload, const haul_timeline *timeline,
                            const haul_timeline_options *options, int64_t recorded_ns,
                            double *errors_ns)
{
    haul_replay replay = {
        .device = options->device,
        .delayed = options->delay_count,
        .recorded_ns = recorded_ns,
        .replayed_ns = timeline->makespan_ns,
        .unissued = timeline->unissued,
    };
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const int64_t start_ns = timeline->ops[i].start_ns + timeline->origin_ns;
        if (!haul_op_on_device(op))
            continue;
        const double error_ns = fabs((double)(start_ns - op->start_ns));
        errors_ns[replay.ops++] = error_ns;
        replay.start_worst_ns = error_ns > replay.start_worst_ns ? error_ns : replay.start_worst_ns;
    }
    for (size_t d = 0; d < options->delay_count; d++)
        replay.delays_ns = hl_base_add_ns(replay.delays_ns, options->delays[d].delay_ns);
    if (replay.recorded_ns > 0)
        replay.error =
            100 * (double)(replay.replayed_ns - replay.recorded_ns) / (double)replay.recorded_ns;
    if (replay.ops) {
        replay.start_median_ns = hl_base_median_of_many(errors_ns, replay.ops);
        replay.start_p90_ns = hl_base_quantile_of_many(errors_ns, replay.ops, 0.9);
    }
    return replay;
}

static bool keep_critical(const haul_timeline *timeline, hl_timeline_recorded_waits *found)
{
    const size_t bytes = timeline->critical_count * sizeof *found->critical;
    uint32_t *critical = malloc(bytes + 1);
    if (!critical)
        return false;
    if (bytes)
        memcpy(critical, timeline->critical, bytes);
    free(found->critical);
    found->critical = critical;
    found->critical_count = timeline->critical_count;
    return true;
}

/* The delays of the profile are found last, since they depend on the issue times found before. */
haul_status hl_timeline_replay_with(const haul_workload *workload, haul_release release,
                                    hl_timeline_recorded_waits *found, haul_replay *replay,
                                    haul_error *error)
{
    const bool by_host = release == HAUL_RELEASE_HOST;
    const size_t classes = (workload->device_count + 1) * (HAUL_DIRECTIONS + 1);
    const int64_t recorded_ns = recorded_makespan(workload);
    const int64_t least_ns = recorded_ns / HL_TIMELINE_DELAYS_OF_RUN;
    double *of_ops = malloc((workload->op_count + 1) * sizeof *of_ops);
    int64_t *ends_ns = calloc(classes, sizeof *ends_ns);
    issue_marks marks = {.issued = calloc(workload->op_count / 8 + 1, 1),
                         .first = calloc(workload->op_count / 8 + 1, 1)};
    const bool ready =
        of_ops && ends_ns && marks.issued && marks.first && mark_first(workload, &marks);
    haul_status status = HAUL_STATUS_NO_MEMORY;
    haul_timeline *timeline = NULL;
    haul_timeline_options options = {
        .device = {.copy_engines = copy_engines(workload),
                   .kernels = KERNELS_AT_ONCE,
                   .busy_speed = {1, 1},
                   .migrations = migrations(workload)},
        .release = release,
        .call_durations_ns = by_host ? found->call_durations_ns : NULL,
    };
    find_limits(workload, found, &options.device);
    if (ready)
        mark_issued(workload, ends_ns, &marks);
    for (int kind = 0; ready && kind < HAUL_OP_KINDS; kind++)
        if (marks.kinds & 1U << kind)
            find_issue(workload, (haul_op_kind)kind, &marks, of_ops, &options.device);
    if (ready)
        find_gaps(workload, of_ops, &options.device);
    free(of_ops); /* 8 bytes an operation, which the run needs for itself */
    of_ops = NULL;
    if (ready && (!by_host || find_delays(workload, &options.device, least_ns, ends_ns, found))) {
        options.delays = found->delays;
        options.delay_count = found->delay_count;
        status = haul_timeline_run(workload, &options, &timeline, error);
    } else {
        hl_base_fail_no_memory(error);
    }
    if (!status)
        of_ops = malloc((workload->op_count + 1) * sizeof *of_ops);
    if (!status && (!of_ops || !keep_critical(timeline, found)))
        status = hl_base_fail_no_memory(error);
    if (!status)
        *replay = describe(workload, timeline, &options, recorded_ns, of_ops);
    if (!status && found->keeps_replay)
        found->replay = timeline;
    else
        haul_timeline_free(timeline);
    free(of_ops);
    free(ends_ns);
    free(marks.issued);
    free(marks.first);
    return status;
}

haul_status haul_timeline_replay(const haul_workload *workload, haul_release release,
                                 haul_replay *replay, haul_error *error)
{
    hl_timeline_recorded_waits found;
    HAUL_TRY(hl_timeline_recorded_waits_find(workload, &found, error));
    haul_status status = hl_timeline_replay_with(workload, release, &found, replay, error);
    hl_timeline_recorded_waits_release(&found);
    return status;
}
