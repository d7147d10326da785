/* The public profiles rebuilt from their own durations. */
#include "check.h"

#include <string.h>

#include "haul/timeline.h"
#include "haul/trace.h"
#include "profile_files.h"

static char paths[MOST_PROFILES][LONGEST_PATH];
static int path_count;

static void makespans_come_back(void **state)
{
    (void)state;
    for (int i = 0; i < path_count; i++) {
        haul_error error = {0};
        haul_workload *workload = NULL;
        haul_replay replay;
        if (haul_trace_load(paths[i], &workload, &error))
            fail_msg("%s: %s", paths[i], error.text);
        if (haul_timeline_replay(workload, HAUL_RELEASE_RECORDED, &replay, &error))
            fail_msg("%s: %s", paths[i], error.text);
        if (fabs(replay.error) > 1)
            fail_msg("%s: the makespan is %.2f %% off", paths[i], replay.error);
        assert_int_equal(replay.ops, workload->counts.device_ops);
        if (haul_timeline_replay(workload, HAUL_RELEASE_HOST, &replay, &error))
            fail_msg("%s: %s", paths[i], error.text);
        /* GTX 1060: see docs/accuracy/runs.md */
        if (fabs(replay.error) > 2)
            fail_msg("%s: with its threads the makespan is %.2f %% off", paths[i], replay.error);
        haul_workload_free(workload);
    }
}

static bool is_concurrent(const haul_workload *workload, const haul_op *op)
{
    const char *name = haul_workload_string(workload, op->name);
    return op->kind == HAUL_OP_KERNEL && !strncmp(name, "test", 4) && name[4] >= '0' &&
           name[4] <= '9';
}

/* Kernels of 5 to 400 ms, one of 18 blocks and six of one, on 20 places; 0.4 ms from call to start
 * spread by 0.2. */
static void check_concurrent(const haul_workload *workload)
{
    haul_error error = {0};
    haul_replay replay;
    haul_timeline *timeline = NULL;
    if (haul_timeline_replay(workload, HAUL_RELEASE_RECORDED, &replay, &error))
        fail_msg("%s", error.text);
    const haul_timeline_options options = {.device = replay.device,
                                           .release = HAUL_RELEASE_RECORDED};
    if (haul_timeline_run(workload, &options, &timeline, &error))
        fail_msg("%s", error.text);
    int kernels = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        if (!is_concurrent(workload, &workload->ops[i]))
            continue;
        const int64_t start_ns = timeline->ops[i].start_ns + timeline->origin_ns;
        assert_in_range(start_ns - workload->ops[i].start_ns + 250000, 0, 500000);
        kernels++;
    }
    assert_int_equal(kernels, 7);
    haul_timeline_free(timeline);
}

static void kernels_wait_for_room_as_recorded(void **state)
{
    (void)state;
    for (int i = 0; i < path_count; i++) {
        if (!strstr(paths[i], "gtx1060-concurrent"))
            continue;
        haul_error error = {0};
        haul_workload *workload = NULL;
        if (haul_trace_load(paths[i], &workload, &error))
            fail_msg("%s: %s", paths[i], error.text);
        check_concurrent(workload);
        haul_workload_free(workload);
    }
}

int main(void)
{
    path_count = find_profiles(paths);
    if (!path_count)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makespans_come_back),
        cmocka_unit_test(kernels_wait_for_room_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
