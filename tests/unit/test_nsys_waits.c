/* Waits and events in profiles of Nsight Systems, and the edges made of them. */
#include "nsys_tables.h"

static haul_sync_kind sync_kind_at(const haul_workload *workload, int64_t start_ns)
{
    return (haul_sync_kind)workload->ops[profile_find(workload, HAUL_OP_SYNC, start_ns)].detail;
}

static void waits_are_told_apart_by_their_ids(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        OLD_SYNC "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                 "(1, 9, 0, 1, " NO ", 1, " PID ", 1, 5),"      /* cudaEventSynchronize */
                 "(2, 9, 0, 1, " NO ", 2, " PID ", 2, 5),"      /* the same in old files */
                 "(3, 9, 0, 1, 7, 3, " PID ", 2, 5),"           /* cudaStreamWaitEvent */
                 "(4, 9, 0, 1, 7, 4, " PID ", 3, " NO "),"      /* cudaStreamSynchronize */
                 "(5, 9, 0, 1, 7, 5, " PID ", 2, " NO "),"      /* the same in a file of 2026 */
                 "(6, 9, 0, 1, " NO ", 6, " PID ", 4, " NO ")," /* cudaDeviceSynchronize */
                 "(7, 9, 0, 1, -1, 7, " PID ", 1, -1),"         /* the same, in one of 2024 */
                 "(8, 9, 0, 1, NULL, 8, " PID ", 0, NULL);");
    assert_int_equal(sync_kind_at(workload, 1), HAUL_SYNC_EVENT);
    assert_int_equal(sync_kind_at(workload, 2), HAUL_SYNC_EVENT);
    assert_int_equal(sync_kind_at(workload, 3), HAUL_SYNC_STREAM_WAIT);
    assert_int_equal(sync_kind_at(workload, 4), HAUL_SYNC_STREAM);
    assert_int_equal(sync_kind_at(workload, 5), HAUL_SYNC_STREAM);
    assert_int_equal(sync_kind_at(workload, 6), HAUL_SYNC_CONTEXT);
    assert_int_equal(sync_kind_at(workload, 7), HAUL_SYNC_CONTEXT);
    assert_int_equal(sync_kind_at(workload, 8), HAUL_SYNC_UNKNOWN);
    assert_int_equal(profile_missing(workload, "the event table is empty"), 3);
    assert_int_equal(workload->edge_count, 0);
    haul_workload_free(workload);
}

/* Two kernels on stream 1, an event recorded between their calls, waited for by stream 2, by the
 * host, and recorded again at the end. */
#define EVENT_STORY                                                                                \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"                                                \
    "(1000, 2000, 0, 1, 1, 1, " PID ", 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0),"                          \
    "(2000, 3000, 0, 1, 1, 3, " PID ", 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0),"                          \
    "(2500, 2600, 0, 1, 2, 5, " PID ", 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0);"                          \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"                                               \
    "(10, 11, 0, " PID ", 1, 1), (20, 21, 0, " PID ", 2, 1), (30, 31, 0, " PID ", 3, 1),"          \
    "(40, 41, 0, " PID ", 4, 1), (50, 51, 0, " PID ", 5, 1), (60, 2100, 0, " PID ", 6, 1),"        \
    "(2200, 2201, 0, " PID ", 7, 1), (2300, 3100, 0, " PID ", 8, 1);"

static void check_event_story(const haul_workload *workload)
{
    const uint32_t first = profile_find(workload, HAUL_OP_KERNEL, 1000);
    const uint32_t second = profile_find(workload, HAUL_OP_KERNEL, 2000);
    const uint32_t third = profile_find(workload, HAUL_OP_KERNEL, 2500);
    const uint32_t host = profile_find(workload, HAUL_OP_SYNC, 60);
    const uint32_t late = profile_find(workload, HAUL_OP_SYNC, 2300);
    assert_int_equal(workload->edge_count, 3);
    const haul_edge expected[] = {{first, host}, {second, late}, {first, third}};
    for (size_t i = 0; i < 3; i++) {
        bool found = false;
        for (size_t k = 0; k < 3; k++)
            found |= !memcmp(&workload->edges[k], &expected[i], sizeof *expected);
        assert_true(found);
    }
    assert_int_equal(workload->ops[third].thread_prev, profile_find(workload, HAUL_OP_SYNC, 40));
}

static void events_make_edges_in_both_schemas(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        STRINGS KERNEL RUNTIME OLD_SYNC OLD_EVENT EVENT_STORY
        "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 1, 1, 2, " PID ", 42),"
        "(0, 1, 1, 7, " PID ", 42);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
        "(40, 41, 0, 1, 2, 4, " PID ", 2, 42), (60, 2100, 0, 1, " NO ", 6, " PID ", 1, 42),"
        "(2300, 3100, 0, 1, " NO ", 8, " PID ", 1, 42);");
    check_event_story(workload);
    haul_workload_free(workload);
    workload = profile_load(STRINGS KERNEL RUNTIME NEW_SYNC NEW_EVENT EVENT_STORY
                            "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 0, 1, 1, 2, " PID
                            ", 42, 100),"
                            "(0, 0, 1, 1, 7, " PID ", 42, 101);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                            "(40, 41, 0, 1, 2, 4, " PID ", 2, 42, 100),"
                            "(60, 2100, 0, 1, " NO ", 6, " PID ", 1, 42, 100),"
                            "(2300, 3100, 0, 1, " NO ", 8, " PID ", 1, 42, 101);");
    check_event_story(workload);
    haul_workload_free(workload);
}

static void waits_without_records_are_counted(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        KERNEL RUNTIME NEW_SYNC NEW_EVENT EVENT_STORY
        "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES"
        "(0, 0, 1, 1, 2, " PID ", 42, 100),"      /* of the event, but not the one waited for */
        "(0, 0, 1, 1, 777, " PID ", 43, 200),"    /* neither call nor time */
        "(2100, 0, 1, 1, 778, " PID ", 44, 300);" /* no call, reached at 2100 on the device */
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
        "(60, 4000, 0, 1, " NO ", 6, " PID ", 1, 42, 99),"
        "(70, 4000, 0, 1, " NO ", 9, " PID ", 1, 43, 200),"
        "(80, 4000, 0, 1, " NO ", 10, " PID ", 1, 44, 300);");
    assert_int_equal(profile_missing(workload, "record is not in the profile"), 1);
    assert_int_equal(profile_missing(workload, "neither call nor time"), 1);
    assert_int_equal(workload->edge_count, 1);
    assert_int_equal(workload->edges[0].before, profile_find(workload, HAUL_OP_KERNEL, 2000));
    assert_int_equal(workload->edges[0].after, profile_find(workload, HAUL_OP_SYNC, 80));
    haul_workload_free(workload);
}

static void context_waits_cover_each_stream_once(void **state)
{
    (void)state;
    haul_workload *workload =
        profile_load(KERNEL RUNTIME NEW_SYNC EVENT_STORY
                     "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                     "(60, 3100, 0, 1, " NO ", 6, " PID ", 4, " NO ", " NO "),"
                     "(2300, 3200, 0, 1, " NO ", 8, " PID ", 4, " NO ", " NO "),"
                     "(2400, 3300, 0, 2, " NO ", 9, " PID ", 4, " NO ", " NO ");");
    /* The second wait of the thread finds nothing new, the third is for another context. */
    assert_int_equal(workload->edge_count, 2);
    const uint32_t wait = profile_find(workload, HAUL_OP_SYNC, 60);
    assert_int_equal(workload->edges[0].after, wait);
    assert_int_equal(workload->edges[1].after, wait);
    haul_workload_free(workload);
}

static void waits_that_times_contradict_are_counted(void **state)
{
    (void)state;
    /* An event that was only asked about: cudaEventQuery is recorded as a wait. */
    haul_workload *workload =
        profile_load(KERNEL RUNTIME OLD_SYNC OLD_EVENT
                     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                     "(1000, 900000, 0, 1, 1, 1, " PID ", 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0);"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10, 11, 0, " PID ", 1, 1),"
                     "(20, 21, 0, " PID ", 2, 1);"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 1, 1, 2, " PID ", 42);"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                     "(60, 70, 0, 1, " NO ", 6, " PID ", 1, 42);");
    assert_int_equal(workload->edge_count, 0);
    assert_int_equal(profile_repaired(workload, "waits that the recorded times contradict"), 1);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_are_told_apart_by_their_ids),
        cmocka_unit_test(events_make_edges_in_both_schemas),
        cmocka_unit_test(waits_without_records_are_counted),
        cmocka_unit_test(context_waits_cover_each_stream_once),
        cmocka_unit_test(waits_that_times_contradict_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
