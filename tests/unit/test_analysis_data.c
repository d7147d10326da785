/* Answers of haul analyze to public profiles, against figures that plain SQL over the same tables
 * gave: counts, sums of bytes and of end - start; for busy times the unions of [start, end). */
#include "check.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "haul/analysis.h"
#include "haul/trace.h"

enum { SKIPPED = 77 };

typedef struct expected_group {
    haul_direction direction;
    haul_memory memory;
    haul_totals totals;
} expected_group;

typedef struct expected_profile {
    const char *file;
    expected_group copies[4];
    size_t group_count;
    haul_totals kernels; /* without NCCL's */
    haul_totals communication;
    haul_totals memsets;
    haul_totals syncs;
    int64_t span_ns;
    haul_busy busy; /* copy, kernel, memset, both, either, any, then collectives */
} expected_profile;

static const expected_profile profiles[] = {
    {.file = "nsys/a100-cloverleaf.sqlite",
     .copies = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, {254, 225065752, 9346285}},
                {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, {25, 51200, 44638}}},
     .group_count = 2,
     .kernels = {1312, 0, 294404540},
     .memsets = {0, 0, 0},
     .syncs = {1312, 0, 301136696},
     .span_ns = 342407810,
     .busy = {9390923, 294404540, 0, 0, 303795463, 303795463}},
    {.file = "nsys/gtx1060-concurrent-s16.sqlite",
     .copies = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, {15, 706560000, 77114871}},
                {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, {15, 706560000, 82589222}}},
     .group_count = 2,
     .kernels = {12, 0, 895646803},
     .memsets = {17, 1024640000, 37696},
     .syncs = {16, 0, 538152579},
     .span_ns = 776798508,
     .busy = {120603159, 467903543, 37696, 50612706, 537893996, 537893996}},
    {.file = "nsys/gtx1060-concurrent-s4.sqlite",
     .copies = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, {15, 176640000, 22476795}},
                {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, {15, 176640000, 22528059}}},
     .group_count = 2,
     .kernels = {12, 0, 230271811},
     .memsets = {17, 256160000, 48958},
     .syncs = {16, 0, 139534192},
     .span_ns = 223845118,
     .busy = {30952017, 120149349, 48958, 11879479, 139221887, 139225054}},
    {.file = "nsys/h100-2gpu-training-1s.sqlite",
     .copies = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, {4, 3136, 3360}},
                {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, {446, 50950504448, 1841627438}},
                {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, {4, 18, 7872}},
                {HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, {450, 59368472576, 39203544}}},
     .group_count = 4,
     .kernels = {3442, 0, 44829522},
     .memsets = {22, 17672, 29216},
     .syncs = {244, 0, 857291122},
     .span_ns = 969447605,
     .busy = {947470024, 29315386, 29216, 9147742, 967637668, 967638948}},
    {.file = "nsys/h100-2gpu-training-before.sqlite",
     .copies = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, {34, 272, 26656}},
                {HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, {986, 8046134272, 5665431}}},
     .group_count = 2,
     .kernels = {3944, 0, 509798898},
     .communication = {66, 0, 25401752},
     .memsets = {269, 1076, 213408},
     .syncs = {366, 0, 325145417},
     .span_ns = 299877006,
     .busy = {4816155, 276193861, 213092, 2653354, 278356662, 287341472, 19662090, 10650327}},
    {.file = "nsys/rtx3080-small.sqlite",
     .copies = {{HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, {1, 4, 1632}}},
     .group_count = 1,
     .kernels = {2, 0, 4129},
     .memsets = {0, 0, 0},
     .syncs = {1, 0, 13656},
     .span_ns = 22453059,
     .busy = {1632, 4129, 0, 0, 5761, 5761}},
    {.file = "nvprof/t4-vectoradd-4streams-5e6.nvvp",
     .copies = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, {10000, 80000000, 27935544}},
                {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, {5000, 40000000, 11648205}}},
     .group_count = 2,
     .kernels = {5000, 0, 22282487},
     .memsets = {0, 0, 0},
     .syncs = {4, 0, 29334},
     .span_ns = 150359003,
     .busy = {33094137, 22224440, 0, 6518279, 48800298, 48800298}},
    {.file = "nvprof/t4-vectoradd-pageable-5e6.nvvp",
     .copies = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, {2, 80000000, 16364311}},
                {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, {1, 40000000, 17917821}}},
     .group_count = 2,
     .kernels = {1, 0, 458040},
     .memsets = {0, 0, 0},
     .syncs = {1, 0, 458658},
     .span_ns = 35297891,
     .busy = {34282132, 458040, 0, 0, 34740172, 34740172}},
};

static const char *data_folder(void)
{
    const char *named = getenv("HAUL_DATA");
    return named && *named ? named : "../shared/data";
}

static haul_totals sum_syncs(const haul_analysis *analysis)
{
    haul_totals sum = {0};
    for (int i = 0; i < HAUL_SYNC_KINDS; i++) {
        sum.count += analysis->syncs[i].count;
        sum.time_ns += analysis->syncs[i].time_ns;
    }
    return sum;
}

static void check_profile(const haul_analysis *analysis, const expected_profile *expected)
{
    assert_int_equal(analysis->group_count, expected->group_count);
    for (size_t i = 0; i < expected->group_count; i++) {
        const haul_copy_group *group = &analysis->groups[i];
        assert_int_equal(group->direction, expected->copies[i].direction);
        assert_int_equal(group->memory, expected->copies[i].memory);
        assert_memory_equal(&group->totals, &expected->copies[i].totals, sizeof group->totals);
    }
    const haul_totals syncs = sum_syncs(analysis);
    assert_memory_equal(&analysis->kernels, &expected->kernels, sizeof expected->kernels);
    assert_memory_equal(&analysis->communication, &expected->communication,
                        sizeof expected->communication);
    assert_memory_equal(&analysis->memsets, &expected->memsets, sizeof expected->memsets);
    assert_memory_equal(&syncs, &expected->syncs, sizeof syncs);
    assert_int_equal(analysis->span_ns, expected->span_ns);
    assert_memory_equal(&analysis->busy, &expected->busy, sizeof expected->busy);
    assert_int_equal(analysis->busy.any_ns + analysis->idle_ns, analysis->span_ns);
}

static void public_profiles_give_the_figures_of_sql(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/traces/%s", data_folder(), profiles[i].file);
        print_message("%s\n", profiles[i].file);
        haul_workload *workload = NULL;
        haul_analysis *analysis = NULL;
        haul_error error;
        assert_int_equal(haul_trace_load(path, &workload, &error), HAUL_OK);
        assert_int_equal(haul_analysis_make(workload, &analysis, &error), HAUL_OK);
        check_profile(analysis, &profiles[i]);
        haul_analysis_free(analysis);
        haul_workload_free(workload);
    }
}

/* Why devices idle adds up to how long they do, in every public profile. */
static void causes_of_idle_time_add_up(void **state)
{
    static const char *const patterns[] = {"nsys/*", "nvprof/*", "kineto/*", "rocpd/*.rpd"};
    (void)state;
    size_t profiles_read = 0;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        char path[1024];
        glob_t found;
        snprintf(path, sizeof path, "%s/traces/%s", data_folder(), patterns[k]);
        if (glob(path, 0, NULL, &found))
            continue;
        for (size_t i = 0; i < found.gl_pathc; i++, profiles_read++) {
            haul_workload *workload = NULL;
            haul_analysis *analysis = NULL;
            haul_error error;
            int64_t sum_ns = 0;
            print_message("%s\n", found.gl_pathv[i]);
            assert_int_equal(haul_trace_load(found.gl_pathv[i], &workload, &error), HAUL_OK);
            assert_int_equal(haul_analysis_make(workload, &analysis, &error), HAUL_OK);
            for (size_t c = 0; c < analysis->idle_count; c++)
                sum_ns += analysis->idle[c].time_ns;
            assert_int_equal(sum_ns, analysis->idle_ns);
            haul_analysis_free(analysis);
            haul_workload_free(workload);
        }
        globfree(&found);
    }
    assert_true(profiles_read > 0);
}

int main(void)
{
    struct stat status;
    if (stat(data_folder(), &status)) {
        printf("skipped: no public profiles at %s; HAUL_DATA names the folder\n", data_folder());
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(public_profiles_give_the_figures_of_sql),
                                       cmocka_unit_test(causes_of_idle_time_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
