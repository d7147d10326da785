/* The paper's strategies on devices: published classifications on simulated GPUs, and results. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "haul/overlap_run.h"

#include "overlap/cores.h"
#include "overlap/paper_kernels.h"

static haul_error problem;
static const haul_kernel_source *const state_kernel = &state;

#define MUST(status)                                                                               \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", problem.text);                                                          \
    } while (0)

static haul_run run_on(const char *name, const char *kernel, uint32_t side)
{
    char device_name[64];
    const bool is_simulated = strcmp(name, "host") != 0;
    const haul_device_options only_times = {.without_data = side > 32};
    const haul_run_options options = {.kernel = kernel, .side = side, .times = 1};
    haul_machine *machine = NULL;
    haul_device *device;
    haul_run run;
    (void)snprintf(device_name, sizeof device_name, "%s%s", is_simulated ? "sim:" : "", name);
    MUST(haul_machine_load(is_simulated ? name : "k40", &machine, &problem));
    MUST(haul_device_open(device_name, &only_times, &device, &problem));
    MUST(haul_overlap_run(device, machine, &options, &run, &problem));
    haul_device_close(device);
    haul_machine_free(machine);
    return run;
}

/* Every row is predicted within 3 %, and what is predicted to be the best is within a factor of 1.1
 * of the best. */
static void check_predictions(const haul_run *run, const char *machine)
{
    assert_true(run->loss <= 0.1);
    for (size_t r = 0; r < run->row_count; r++) {
        const haul_run_row *row = &run->rows[r];
        if (!(fabs(row->predicted_s / row->measured_s - 1) <= 0.03))
            fail_msg("'%s' on %s by %s in %u streams: %g s, predicted %g s", run->kernel, machine,
                     haul_strategy_word(row->strategy), row->streams, row->measured_s,
                     row->predicted_s);
    }
}

/* The table of CCGrid 2014, section VII, at its size; 42 levels, up to 42 streams. */
static void classifications_are_the_published(void **unused)
{
    (void)unused;
    static const struct {
        const char *machine, *kernel;
        haul_strategy best;
    } cases[] = {
        {"gtx-680", "state", HAUL_STRATEGY_MAPPED},
        {"gtx-titan", "state", HAUL_STRATEGY_MAPPED},
        {"k20", "state", HAUL_STRATEGY_MAPPED},
        {"gtx-680", "buoydiff", HAUL_STRATEGY_HYBRID},
        {"gtx-titan", "buoydiff", HAUL_STRATEGY_HYBRID},
        {"k20", "buoydiff", HAUL_STRATEGY_STREAMS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const haul_run run = run_on(cases[i].machine, cases[i].kernel, 1024);
        assert_int_equal(run.rows[run.best].strategy, cases[i].best);
        assert_int_equal(run.rows[run.predicted_best].strategy, cases[i].best);
        check_predictions(&run, cases[i].machine);
    }
}

/* Parts of a few microseconds, of which latencies and gaps are half. */
static void short_parts_are_predicted(void **unused)
{
    (void)unused;
    static const char *const machines[] = {"gtx-680", "gtx-titan", "k20"};
    static const char *const kernels[] = {"product", "convolution", "sparse"};
    for (size_t i = 0; i < 9; i++) {
        const haul_run run = run_on(machines[i / 3], kernels[i % 3], 256);
        check_predictions(&run, machines[i / 3]);
    }
}

static void results_are_a_plain_loops(void **unused)
{
    (void)unused;
    static const char *const on_host[] = {"buoydiff", "convolution"};
#define RUN_SIMULATED(name, text) assert_true(run_on("k20", #name, 32).difference < 1e-5);
    HAUL_RUN_KERNEL_LIST(RUN_SIMULATED)
#undef RUN_SIMULATED
    for (size_t i = 0; i < 2; i++)
        assert_true(run_on("host", on_host[i], 32).difference < 1e-5);
}

/* On a CPU each operation that the host queues costs a gap; so long a one hides all else: a mark
 * beside the copies in, the kernel and the copies back of each part. */
static void queued_operations_cost_a_gap(void **unused)
{
    (void)unused;
    static const double operations[HAUL_STRATEGIES] = {[HAUL_STRATEGY_EXPLICIT] = 4,
                                                       [HAUL_STRATEGY_STREAMS] = 4,
                                                       [HAUL_STRATEGY_HYBRID] = 3,
                                                       [HAUL_STRATEGY_MAPPED] = 1};
    const haul_run_options options = {.kernel = "buoydiff", .side = 32, .times = 1};
    haul_machine *machine, *slow;
    haul_device *device;
    haul_run run;
    MUST(haul_machine_load("k40", &machine, &problem));
    MUST(haul_machine_set(machine, "gpu.queue_gap=100 s", &slow, &problem));
    MUST(haul_device_open("host", NULL, &device, &problem));
    MUST(haul_overlap_run(device, slow, &options, &run, &problem));
    for (size_t r = 0; r < run.row_count; r++) {
        const haul_run_row *row = &run.rows[r];
        const double parts = row->strategy == HAUL_STRATEGY_MAPPED ? 1 : row->streams;
        CHECK_NEAR(row->predicted_s, 100 * parts * operations[row->strategy], 0.05);
    }
    haul_device_close(device);
    haul_machine_free(slow);
    haul_machine_free(machine);
}

/* By hand, on two cores: both make a copy in, then both are at the first kernel; the copy back
 * takes one of them from the second kernel until 3 s, and the last copy has the other core idle. */
static void cores_share_kernels(void **unused)
{
    (void)unused;
    cores_op chain[] = {{.after = HAUL_NONE, .seconds = 1},
                        {.after = 0, .is_kernel = true, .seconds = 0},
                        {.after = 1, .seconds = 2}};
    cores_op parts[] = {{.after = HAUL_NONE, .seconds = 1},
                        {.after = HAUL_NONE, .seconds = 1},
                        {.after = 0, .is_kernel = true, .seconds = 1},
                        {.after = 1, .is_kernel = true, .seconds = 1},
                        {.after = 2, .seconds = 1},
                        {.after = 3, .seconds = 1}};
    CHECK_NEAR(hl_overlap_cores_time(chain, 3, 2), 3, 1e-12);
    CHECK_NEAR(hl_overlap_cores_time(parts, 6, 2), 4.5, 1e-12);
    CHECK_NEAR(hl_overlap_cores_time(parts, 6, 1), 6, 1e-12);
    assert_true(hl_overlap_cores_time(parts, 0, 2) == 0);
}

/* Values that McDougall et al. (2003) give to check a program by. */
static void density_is_the_published(void **unused)
{
    (void)unused;
    assert_true(fabs(DENSITY(25.0, 35.0, 2000.0) - 1031.654229) < 1e-6);
    assert_true(fabs(DENSITY(20.0, 20.0, 1000.0) - 1017.726743) < 1e-6);
    assert_true(fabs(DENSITY(12.0, 40.0, 8000.0) - 1062.928258) < 1e-6);
}

/* The kernel's derivatives beside differences. */
static void derivatives_fit(void **unused)
{
    (void)unused;
    double t = 11, s = 34, step = 500, rho, by_t, by_s;
    int one = 1;
    void *arguments[] = {&t, &s, &rho, &by_t, &by_s, &one, &one, &step};
    const haul_box box = {.hi = {1, 1, 1}};
    state_kernel->host(&box, &box, arguments);
    const double e = 1e-4;
    CHECK_NEAR(rho, DENSITY(t, s, step), 1e-14);
    CHECK_NEAR(by_t, (DENSITY(t + e, s, step) - DENSITY(t - e, s, step)) / (2 * e), 1e-6);
    CHECK_NEAR(by_s, (DENSITY(t, s + e, step) - DENSITY(t, s - e, step)) / (2 * e), 1e-6);
}

static void bad_requests(void **unused)
{
    (void)unused;
    haul_device *device;
    haul_run run;
    const haul_run_options unknown = {.kernel = "nothing"}, odd = {.kernel = "state", .side = 33};
    MUST(haul_device_open("sim:k20", NULL, &device, &problem));
    assert_int_equal(haul_overlap_run(device, NULL, &unknown, &run, &problem), HAUL_STATUS_USAGE);
    assert_non_null(strstr(problem.text, "buoydiff"));
    assert_int_equal(haul_overlap_run(device, NULL, &odd, &run, &problem), HAUL_STATUS_USAGE);
    haul_device_close(device);
}

/* All five on a device of another kind: compiled there, and run in parts. */
static void run_on_device(void **given)
{
    const char *name = *given;
    haul_machine *machine;
    haul_device *device;
    haul_run run;
    MUST(haul_machine_load("k40", &machine, &problem));
    MUST(haul_device_open(name, NULL, &device, &problem));
#define RUN_THERE(name, text)                                                                      \
    MUST(haul_overlap_run(device, machine,                                                         \
                          &(haul_run_options){.kernel = #name, .side = 32, .times = 1}, &run,      \
                          &problem));                                                              \
    assert_true(run.is_checked &&run.difference < 1e-5);
    HAUL_RUN_KERNEL_LIST(RUN_THERE)
#undef RUN_THERE
    haul_device_close(device);
    haul_machine_free(machine);
}

/* usage: test_overlap_run [DEVICE] */
int main(int argc, char **argv)
{
    if (argc > 1) {
        const struct CMUnitTest there[] = {cmocka_unit_test_prestate(run_on_device, argv[1])};
        return cmocka_run_group_tests(there, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classifications_are_the_published),
        cmocka_unit_test(short_parts_are_predicted),
        cmocka_unit_test(results_are_a_plain_loops),
        cmocka_unit_test(queued_operations_cost_a_gap),
        cmocka_unit_test(cores_share_kernels),
        cmocka_unit_test(density_is_the_published),
        cmocka_unit_test(derivatives_fit),
        cmocka_unit_test(bad_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
