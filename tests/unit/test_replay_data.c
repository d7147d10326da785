/* The public profiles rebuilt from their own durations. */
#include "check.h"

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
        /* GTX 1060: see docs/accuracy.md */
        if (fabs(replay.error) > 2)
            fail_msg("%s: with its threads the makespan is %.2f %% off", paths[i], replay.error);
        haul_workload_free(workload);
    }
}

int main(void)
{
    path_count = find_profiles(paths);
    if (!path_count)
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(makespans_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
