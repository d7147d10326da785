#include "timeline/replay.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "base/stats.h"
#include "timeline/limits.h"

/* A recorded duration already holds what kernels that ran together cost each other: as many as a
 * device of compute capability 7 and later holds may run. */
enum { KERNELS_AT_ONCE = 128, ENGINES_UNKNOWN = 2 };

static unsigned copy_engines(const haul_workload *workload)
{
    unsigned most = 0;
    for (size_t d = 0; d < workload->device_count; d++)
        if (workload->devices[d].copy_engines > most)
            most = workload->devices[d].copy_engines;
    return most ? most : ENGINES_UNKNOWN;
}

static bool are_alike(const haul_workload_device *a, const haul_workload_device *b)
{
    return a->multiprocessors == b->multiprocessors && a->compute_major == b->compute_major &&
           a->compute_minor == b->compute_minor;
}

/* The room and the launch queue of the recorded devices where they are known and those of all. */
static void find_limits(const haul_workload *workload, haul_timeline_device *device)
{
    const haul_workload_device *first = workload->devices;
    for (size_t d = 1; d < workload->device_count; d++)
        if (!are_alike(first, &workload->devices[d]))
            return;
    const haul_sm_limits *limits =
        workload->device_count ? haul_limits_of(first->compute_major, first->compute_minor) : NULL;
    if (!limits)
        return;
    device->kernels = limits->kernels;
    device->occupancy = limits->room;
    device->occupancy.multiprocessors = first->multiprocessors;
    device->queue_depth = HAUL_CUDA_QUEUE;
}

/* A queue that was deeper than is known, is: copies and graphs seem to take less of it. One that
 * held calls up is known by that. */
static void find_queue(const haul_in_flight *found, haul_timeline_device *device)
{
    if ((device->queue_depth || found->call_durations_ns) && found->most > device->queue_depth)
        device->queue_depth = found->most;
}

/* More at once are drawn as so many. */
enum { MIGRATIONS_MOST = 16 };

/* As many migrations of unified memory at once as in the recording, over all devices; 0 where there
 * are none. */
static unsigned migrations(const haul_workload *workload)
{
    int64_t ends_ns[MIGRATIONS_MOST];
    unsigned most = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_COPY || op->detail != HAUL_MANAGED || op->direction > HAUL_DTOH)
            continue;
        unsigned at = 0;
        while (at < most && ends_ns[at] > op->start_ns)
            at++;
        if (at == MIGRATIONS_MOST)
            continue;
        most = at == most ? most + 1 : most;
        ends_ns[at] = haul_end_of(op->start_ns, op->dur_ns);
    }
    return most;
}

/* Who holds what an operation needs on its device: copies of its direction, or all the rest. */
static size_t class_of(const haul_workload *workload, const haul_op *op)
{
    const uint32_t stream_device =
        op->stream < workload->stream_count ? workload->streams[op->stream].device : HAUL_NONE;
    const size_t device =
        stream_device < workload->device_count ? stream_device : workload->device_count;
    const bool is_copy = op->kind == HAUL_OP_COPY && op->direction < HAUL_DIRECTIONS;
    return device * (HAUL_DIRECTIONS + 1) + (is_copy ? op->direction : HAUL_DIRECTIONS);
}

/* Called when all that started before it on its stream and of its class had ended: only its issue
 * kept it. */
static bool was_only_issued(const haul_workload *workload, const haul_op *op, int64_t class_end_ns)
{
    if (!(op->flags & HAUL_OP_HAS_CALL) || op->start_ns < op->call_ns || class_end_ns > op->call_ns)
        return false;
    if (op->stream_prev == HAUL_NONE)
        return true;
    const haul_op *before = &workload->ops[op->stream_prev];
    return haul_end_of(before->start_ns, before->dur_ns) <= op->call_ns;
}

/* From its call, or the call's return where that counts, to an operation's start. */
static int64_t lag_of(const haul_op *op, bool on_return)
{
    const bool returns = on_return && !(op->flags & HAUL_OP_BLOCKS);
    return op->start_ns - op->call_ns - (returns ? op->call_dur_ns : 0);
}

/* The times from call to start of those operations of a kind; how many. `ends_ns` holds a time for
 * each class. */
static size_t gather_lags(const haul_workload *workload, haul_op_kind kind, bool on_return,
                          int64_t *ends_ns, double *lags)
{
    size_t count = 0;
    for (size_t c = 0; c < (workload->device_count + 1) * (HAUL_DIRECTIONS + 1); c++)
        ends_ns[c] = INT64_MIN;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        int64_t *end_ns = &ends_ns[class_of(workload, op)];
        if (op->kind == kind && was_only_issued(workload, op, *end_ns))
            lags[count++] = (double)lag_of(op, on_return);
        const int64_t op_end_ns = haul_end_of(op->start_ns, op->dur_ns);
        if (op_end_ns > *end_ns)
            *end_ns = op_end_ns;
    }
    return count;
}

/* Their median, and in *spread the median distance from it. */
static double median_lag(double *lags, size_t count, double *spread)
{
    const double median = haul_median_of_many(lags, count);
    for (size_t i = 0; i < count; i++)
        lags[i] = fabs(lags[i] - median);
    *spread = haul_median_of_many(lags, count);
    return median;
}

static void find_issue(const haul_workload *workload, haul_op_kind kind, int64_t *ends_ns,
                       double *scratch, haul_timeline_device *device)
{
    double least = (double)INFINITY;
    for (int on_return = 0; on_return < 2; on_return++) {
        const size_t count = gather_lags(workload, kind, on_return, ends_ns, scratch);
        double spread = (double)INFINITY;
        const double median = count ? median_lag(scratch, count, &spread) : -1;
        if (median < 0 || spread >= least)
            continue;
        least = spread;
        device->issue_ns[kind] = (int64_t)median;
        device->issue_on_return[kind] = on_return;
    }
}

static int64_t recorded_makespan(const haul_workload *workload)
{
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        start_ns = op->start_ns < start_ns ? op->start_ns : start_ns;
        end_ns = op->start_ns + op->dur_ns > end_ns ? op->start_ns + op->dur_ns : end_ns;
    }
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* |start - recorded start| of the device's operations; how many. */
static size_t gather_errors(const haul_workload *workload, const haul_timeline *timeline,
                            double *errors)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        const int64_t off_ns = timeline->ops[i].start_ns + timeline->origin_ns - op->start_ns;
        errors[count++] = (double)(off_ns < 0 ? -off_ns : off_ns);
    }
    return count;
}

static haul_replay describe(const haul_workload *workload, const haul_timeline *timeline,
                            const haul_timeline_device *device, double *scratch)
{
    haul_replay replay = {
        .device = *device,
        .recorded_ns = recorded_makespan(workload),
        .replayed_ns = timeline->makespan_ns,
        .ops = gather_errors(workload, timeline, scratch),
        .unissued = timeline->unissued,
    };
    if (replay.recorded_ns > 0)
        replay.error =
            100 * (double)(replay.replayed_ns - replay.recorded_ns) / (double)replay.recorded_ns;
    if (replay.ops) {
        replay.start_median_ns = haul_median_of_many(scratch, replay.ops);
        replay.start_p90_ns = haul_quantile_of_many(scratch, replay.ops, 0.9);
        replay.start_worst_ns = haul_quantile_of_many(scratch, replay.ops, 1);
    }
    return replay;
}

/* Room for a number an operation, and for a time of each class. */
typedef struct scratch {
    double *of_ops;
    int64_t *of_classes_ns;
} scratch;

static haul_status replay_in(const haul_workload *workload, haul_release release,
                             const haul_in_flight *found, const scratch *room, haul_replay *replay,
                             haul_error *error)
{
    haul_timeline_options options = {
        .device = {.copy_engines = copy_engines(workload),
                   .kernels = KERNELS_AT_ONCE,
                   .busy_speed = {1, 1},
                   .migrations = migrations(workload)},
        .release = release,
        .call_durations_ns = release == HAUL_RELEASE_HOST ? found->call_durations_ns : NULL,
    };
    find_limits(workload, &options.device);
    find_queue(found, &options.device);
    for (int kind = 0; kind < HAUL_OP_KINDS; kind++)
        if (haul_op_kind_place((haul_op_kind)kind) == HAUL_PLACE_DEVICE)
            find_issue(workload, (haul_op_kind)kind, room->of_classes_ns, room->of_ops,
                       &options.device);
    haul_timeline *timeline = NULL;
    const haul_status status = haul_timeline_run(workload, &options, &timeline, error);
    if (!status)
        *replay = describe(workload, timeline, &options.device, room->of_ops);
    haul_timeline_free(timeline);
    return status;
}

haul_status haul_timeline_replay_with(const haul_workload *workload, haul_release release,
                                      const haul_in_flight *found, haul_replay *replay,
                                      haul_error *error)
{
    const scratch room = {
        .of_ops = malloc((workload->op_count + 1) * sizeof *room.of_ops),
        .of_classes_ns = calloc((workload->device_count + 1) * (HAUL_DIRECTIONS + 1),
                                sizeof *room.of_classes_ns),
    };
    const haul_status status = room.of_ops && room.of_classes_ns
                                   ? replay_in(workload, release, found, &room, replay, error)
                                   : haul_fail_no_memory(error);
    free(room.of_ops);
    free(room.of_classes_ns);
    return status;
}

haul_status haul_timeline_replay(const haul_workload *workload, haul_release release,
                                 haul_replay *replay, haul_error *error)
{
    haul_in_flight found;
    haul_status status = haul_in_flight_find(workload, &found, error);
    if (status)
        return status;
    status = haul_timeline_replay_with(workload, release, &found, replay, error);
    free(found.call_durations_ns);
    return status;
}
