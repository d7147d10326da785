/* GPUs whose clocks differ from the host's by a constant. */
#include "check.h"

#include "trace/trace_builder.h"

enum { OPS = 20, DEVICES = 2 };

static const int64_t second_ns = INT64_C(1000000000);

/* On each device OPS kernels of 20 us whose calls, of 5 us, are 1 ms apart, the device's clock
 * ahead by so much; the first kernel starts `late_ns` after it could. The last has no call. */
static haul_workload *load(const int64_t ahead_ns[DEVICES], int64_t late_ns)
{
    hl_trace_builder builder;
    haul_workload *workload = NULL;
    hl_trace_init(&builder);
    for (unsigned d = 0; d < DEVICES; d++) {
        const haul_workload_stream stream = {.device = hl_trace_device(&builder, d, d), .id = d};
        const uint32_t number = hl_workload_builder_stream(&builder.built, &stream);
        for (int i = 0; i < OPS; i++) {
            const int64_t called_ns = second_ns + 1000000 * (int64_t)i;
            const haul_op op = {.start_ns = called_ns + 7000 + (i ? 0 : late_ns) + ahead_ns[d],
                                .dur_ns = 20000,
                                .kind = HAUL_OP_KERNEL,
                                .shape = HAUL_NONE,
                                .name = HAUL_NONE,
                                .stream = number,
                                .thread = HAUL_NONE};
            hl_trace_op(&builder, &op, i < OPS - 1 ? 1 + d * OPS + (unsigned)i : 0);
        }
    }
    const haul_workload_thread thread = {.id = 1};
    const uint32_t number = hl_workload_builder_thread(&builder.built, &thread);
    for (unsigned k = 0; k < DEVICES * OPS; k++) {
        const hl_trace_host_call call = {.start_ns = second_ns + 1000000 * (int64_t)(k % OPS),
                                         .dur_ns = 5000,
                                         .key = 1 + k,
                                         .name = HAUL_NONE,
                                         .thread = number};
        hl_trace_call(&builder, &call);
    }
    assert_int_equal(hl_trace_finish(&builder, "made", "made", &workload, NULL), HAUL_OK);
    return workload;
}

/* The first start of a device, on the workload's clock. */
static int64_t first_start(const haul_workload *workload, uint32_t device)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) &&
            workload->streams[workload->ops[i].stream].device == device)
            return workload->ops[i].start_ns;
    return -1;
}

static void a_constant_is_taken_from_its_device(void **state)
{
    (void)state;
    static const int64_t offsets_ns[] = {INT64_C(86315000000000), -INT64_C(86315000000000),
                                         -2000000000, -40000000};
    for (size_t i = 0; i < sizeof offsets_ns / sizeof *offsets_ns; i++) {
        haul_workload *workload = load((int64_t[]){0, offsets_ns[i]}, 0);
        assert_int_equal(workload->repair_count, 1);
        assert_int_equal(workload->repairs[0].count, OPS); /* the one without a call, too */
        assert_non_null(strstr(workload->repairs[0].text, "clock of device 1 is"));
        assert_int_equal(first_start(workload, 0), second_ns + 7000);
        assert_int_equal(first_start(workload, 1), second_ns); /* at its call */
        haul_workload_free(workload);
    }
}

static void clocks_that_agree_are_left(void **state)
{
    (void)state;
    /* a first launch may take long, and clocks differ by some microseconds */
    haul_workload *workload = load((int64_t[]){0, -15000}, 5 * second_ns);
    assert_int_equal(workload->repair_count, 0);
    haul_workload_free(workload);
    /* lags that differ by more than the run are no constant */
    workload = load((int64_t[]){100 * second_ns, 0}, INT64_C(1000) * second_ns);
    assert_int_equal(workload->repair_count, 0);
    haul_workload_free(workload);
}

/* An operation without a call whose time, moved, would be none that a workload has. */
static void no_time_leaves_the_limits(void **state)
{
    (void)state;
    static const int64_t limit_ns = INT64_C(1) << 61;
    hl_trace_builder builder;
    haul_workload *workload = NULL;
    hl_trace_init(&builder);
    const haul_workload_stream stream = {.device = hl_trace_device(&builder, 0, 0), .id = 1};
    haul_op op = {.start_ns = -limit_ns + 5,
                  .dur_ns = 20,
                  .kind = HAUL_OP_KERNEL,
                  .shape = HAUL_NONE,
                  .name = HAUL_NONE,
                  .stream = hl_workload_builder_stream(&builder.built, &stream),
                  .thread = HAUL_NONE};
    hl_trace_op(&builder, &op, 1);
    op.start_ns = second_ns;
    hl_trace_op(&builder, &op, 0);
    const haul_workload_thread thread = {.id = 1};
    const hl_trace_host_call call = {.start_ns = limit_ns - 100,
                                     .dur_ns = 5,
                                     .key = 1,
                                     .name = HAUL_NONE,
                                     .thread = hl_workload_builder_thread(&builder.built, &thread)};
    hl_trace_call(&builder, &call);
    assert_int_equal(hl_trace_finish(&builder, "made", "made", &workload, NULL), HAUL_OK);
    assert_int_equal(workload->ops[0].start_ns, second_ns);
    assert_int_equal(workload->ops[1].start_ns, limit_ns - 100);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_is_taken_from_its_device),
        cmocka_unit_test(clocks_that_agree_are_left),
        cmocka_unit_test(no_time_leaves_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
