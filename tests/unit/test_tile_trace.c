/* Traces of tile programs by the runtime itself, read as any profile is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "haul/analysis.h"
#include "haul/device_test.h"
#include "haul/tile.h"
#include "haul/trace.h"
#include "tile_kernels.h"
#include "workload_check.h"

enum { PLANES = 64, SIDE = 16, CELLS = SIDE * SIDE * PLANES, STEPS = 6 };

static char folder[] = "/tmp/haul-tile-trace-XXXXXX";
static haul_error problem;

static const char *path_of(const char *name)
{
    static char path[sizeof folder + 80];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static double share = -1; /* of the host: its loops are no kernels of a device */

/* A stencil back and forth, written before and read after; false where there is no such device. */
static bool run_traced(const char *devices, uint64_t memory_bytes, const char *trace,
                       haul_context_counts *counts)
{
    static unsigned cells[CELLS];
    const unsigned k = 3;
    const haul_context_options options = {
        .memory_bytes = memory_bytes, .trace = trace, .host_share = share};
    haul_array_spec shape = {.size = {SIDE, SIDE, PLANES},
                             .element_bytes = sizeof(unsigned),
                             .ghost = {1, 1, 1},
                             .name = "heights"};
    haul_context *context;
    haul_array *arrays[2];
    const haul_status status = haul_context_open(devices, &options, &context, &problem);
    if (status == HAUL_STATUS_ABSENT)
        return false;
    if (status)
        fail_msg("%s", problem.text);
    for (int i = 0; i < 2; i++, shape.name = NULL)
        assert_int_equal(haul_array_new(context, &shape, &arrays[i], NULL), HAUL_OK);
    assert_int_equal(haul_array_write(arrays[0], cells, NULL), HAUL_OK);
    for (int step = 0; step < STEPS; step++)
        assert_int_equal(
            HAUL_LOOP(context, NULL, &near_3, arrays[step % 2], arrays[1 - step % 2], &k), HAUL_OK);
    assert_int_equal(haul_array_read(arrays[0], cells, NULL), HAUL_OK);
    for (int i = 0; i < 2; i++)
        haul_array_free(arrays[i]);
    *counts = haul_context_count(context);
    haul_context_close(context);
    return true;
}

static haul_workload *load(const char *path)
{
    haul_workload *workload = NULL;
    if (haul_trace_load(path, &workload, &problem))
        fail_msg("%s: %s", path, problem.text);
    workload_check(workload);
    return workload;
}

static uint64_t count_ops(const haul_workload *workload, haul_op_kind kind)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < workload->op_count; i++)
        count += workload->ops[i].kind == kind;
    return count;
}

static uint64_t sum_bytes(const haul_workload *workload, haul_direction direction)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_COPY && workload->ops[i].direction == direction)
            bytes += workload->ops[i].bytes;
    return bytes;
}

static bool has_name(const haul_workload *workload, const char *name)
{
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (strstr(haul_workload_string(workload, workload->ops[i].name), name))
            return true;
    return false;
}

static const char *given; /* a device in place of the simulated one */

/* All that the context counts is in the profile, in core and out of core, in both formats. */
static void traces_have_what_was_done(void **state)
{
    (void)state;
    const struct {
        const char *devices;
        uint64_t memory_bytes;
    } cases[] = {{given ? given : "sim:k40", 0},
                 {given ? given : "sim:k40", 60000},
                 {"sim:k40,sim:k40", 0},
                 {"opencl:0", 60000},
                 {"opencl:0", 0}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        char name[40]; /* each its own: contexts of one process that name a file share it */
        haul_context_counts counts;
        (void)snprintf(name, sizeof name, "run%zu.%s", i, i % 2 ? "sqlite" : "json");
        if (!run_traced(cases[i / 2].devices, cases[i / 2].memory_bytes, path_of(name), &counts))
            continue;
        haul_workload *workload = load(path_of(name));
        assert_int_equal(remove(path_of(name)), 0);
        assert_int_equal(count_ops(workload, HAUL_OP_COPY), counts.copies);
        assert_int_equal(count_ops(workload, HAUL_OP_KERNEL), counts.kernels);
        assert_int_equal(sum_bytes(workload, HAUL_DIRECTION_HTOD), counts.bytes_up);
        assert_int_equal(sum_bytes(workload, HAUL_DIRECTION_DTOH), counts.bytes_down);
        assert_true(has_name(workload, "near_3"));
        haul_analysis *analysis;
        assert_int_equal(haul_analysis_make(workload, &analysis, &problem), HAUL_OK);
        haul_analysis_free(analysis);
        haul_workload_free(workload);
    }
}

static void loops_of_the_host_are_its_kernels(void **state)
{
    (void)state;
    haul_context_counts counts;
    assert_true(run_traced("host", 0, path_of("host.json"), &counts));
    haul_workload *workload = load(path_of("host.json"));
    assert_true(count_ops(workload, HAUL_OP_KERNEL) > 0);
    assert_true(has_name(workload, "near_3"));
    assert_int_equal(count_ops(workload, HAUL_OP_COPY), 0);
    haul_workload_free(workload);
}

/* Loops on the host, beside the device, are ranges of its thread. */
static void loops_beside_a_device_are_ranges(void **state)
{
    (void)state;
    haul_context_counts counts;
    share = 0.5;
    assert_true(run_traced("sim:k40", 60000, path_of("shared.json"), &counts));
    share = -1;
    haul_workload *workload = load(path_of("shared.json"));
    const uint64_t kernels = count_ops(workload, HAUL_OP_KERNEL);
    assert_true(kernels > 0 && kernels < counts.kernels);
    assert_true(workload->range_count > 0);
    haul_workload_free(workload);
}

/* Contexts that name one file are in it together, also of the environment's. */
static void contexts_share_a_file(void **state)
{
    (void)state;
    char path[sizeof folder + 80];
    haul_context_counts counts[2];
    (void)snprintf(path, sizeof path, "%s", path_of("both.json"));
    assert_int_equal(setenv("HAUL_TRACE", path, 1), 0);
    assert_true(run_traced("sim:k40", 0, NULL, &counts[0]));
    assert_true(run_traced("sim:k40", 60000, NULL, &counts[1]));
    assert_int_equal(unsetenv("HAUL_TRACE"), 0);
    haul_workload *workload = load(path);
    assert_int_equal(count_ops(workload, HAUL_OP_KERNEL), counts[0].kernels + counts[1].kernels);
    haul_workload_free(workload);
}

/* A program that ends without closing its context has its trace. */
static void a_program_that_ends_early_has_its_trace(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (!child) {
        const unsigned k = 3;
        const haul_context_options options = {.trace = path_of("early.json")};
        const haul_array_spec shape = {
            .size = {SIDE, SIDE, PLANES}, .element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}};
        haul_context *context;
        haul_array *arrays[2];
        if (haul_context_open("sim:k40", &options, &context, &problem) ||
            haul_array_new(context, &shape, &arrays[0], NULL) ||
            haul_array_new(context, &shape, &arrays[1], NULL) ||
            HAUL_LOOP(context, NULL, &near_3, arrays[0], arrays[1], &k) ||
            haul_context_wait(context, NULL))
            _exit(1);
        exit(0); // NOLINT(concurrency-mt-unsafe): its handlers are what is tested
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    haul_workload *workload = load(path_of("early.json"));
    assert_true(count_ops(workload, HAUL_OP_KERNEL) > 0);
    haul_workload_free(workload);
}

static void a_file_that_cannot_be_written_is_told_at_once(void **state)
{
    (void)state;
    static const char *const names[] = {"/nowhere/at/all.json", "/tmp", "/dev/null"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const haul_context_options options = {.trace = names[i]};
        haul_context *context = NULL;
        assert_int_equal(haul_context_open("sim:k40", &options, &context, &problem),
                         HAUL_STATUS_IO);
        assert_null(context);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"host.json", "shared.json", "both.json", "early.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(path_of(names[i]));
    return rmdir(folder);
}

int main(int argc, char **argv)
{
    given = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        /* first: a child has none of OpenMP's threads that its parent began */
        cmocka_unit_test(a_program_that_ends_early_has_its_trace),
        cmocka_unit_test(traces_have_what_was_done),
        cmocka_unit_test(loops_of_the_host_are_its_kernels),
        cmocka_unit_test(loops_beside_a_device_are_ranges),
        cmocka_unit_test(contexts_share_a_file),
        cmocka_unit_test(a_file_that_cannot_be_written_is_told_at_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
