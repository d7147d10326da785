/* The Kineto traces of ../shared/data against the figures of an independent script,
 * tests/tools/kineto_figures.py. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/trace.h"
#include "workload_check.h"

static const struct figures {
    const char *trace;
    const char *group;
    int64_t count, bytes, time_ns;
} expected[] = {
    {"alexnet-a100", "HtoD pageable", 16, 244403360, 55503000},
    {"alexnet-a100", "calls", 361, 0, 42297605000},
    {"alexnet-a100", "kernels", 79, 0, 10692000},
    {"alexnet-a100", "memsets", 3, 21760, 8000},
    {"alexnet-a100", "ranges", 8, 0, 81938894000},
    {"event-sync-multi-stream-a100", "calls", 39, 0, 865000},
    {"event-sync-multi-stream-a100", "kernels", 3, 0, 369000},
    {"event-sync-multi-stream-a100", "memsets", 3, 1536, 3000},
    {"minitoy-mi250", "HtoD host", 2, 5120, 38161},
    {"minitoy-mi250", "calls", 21, 0, 6804576},
    {"minitoy-mi250", "kernels", 14, 0, 110881},
    {"minitoy-mi250", "ranges", 3, 0, 9603579},
    {"nccl-arguments", "DtoD device", 960, 307323096, 2262781},
    {"nccl-arguments", "calls", 8740, 0, 44633816},
    {"nccl-arguments", "kernels", 2700, 0, 162532340},
    {"nccl-arguments", "memsets", 114, 409141005, 390717},
    {"nccl-arguments", "ranges", 42, 0, 1688260778},
    {"owlv2-h100", "DtoD device", 5, 250, 6688},
    {"owlv2-h100", "DtoH pageable", 55, 146418600, 12903459},
    {"owlv2-h100", "HtoD pageable", 25, 30897080, 1660111},
    {"owlv2-h100", "calls", 9292, 0, 404408791},
    {"owlv2-h100", "kernels", 4330, 0, 551451628},
    {"owlv2-h100", "memsets", 750, 97344400, 737591},
    {"owlv2-h100", "ranges", 7, 0, 1830227258},
    {"owlv2-mi300x", "DtoD device", 5, 250, 23850},
    {"owlv2-mi300x", "DtoH host", 55, 146418600, 3336123},
    {"owlv2-mi300x", "HtoD host", 25, 30897080, 1039381},
    {"owlv2-mi300x", "calls", 8867, 0, 201461538},
    {"owlv2-mi300x", "kernels", 4255, 0, 327419870},
    {"owlv2-mi300x", "ranges", 7, 0, 1800081535},
    {"recsys-a100", "DtoD device", 18, 1821299360, 2735000},
    {"recsys-a100", "DtoH pageable", 60, 100896, 107000},
    {"recsys-a100", "HtoD pinned", 150, 423923260, 50656000},
    {"recsys-a100", "calls", 24692, 0, 144417000},
    {"recsys-a100", "kernels", 8568, 0, 446813000},
    {"recsys-a100", "memsets", 654, 76353248, 1256000},
    {"recsys-a100", "ranges", 288, 0, 1191498000},
    {"recsys-v100", "DtoD device", 4645, 27916597296, 92932000},
    {"recsys-v100", "DtoH pageable", 60, 117936, 124000},
    {"recsys-v100", "HtoD pinned", 151, 423923264, 66643000},
    {"recsys-v100", "calls", 21167, 0, 433309000},
    {"recsys-v100", "kernels", 9876, 0, 801858000},
    {"recsys-v100", "memsets", 900, 119398012, 2205000},
    {"recsys-v100", "ranges", 288, 0, 2021994000},
};

static void trace_path(const char *name, char *path, size_t size)
{
    const char *data = getenv("HAUL_DATA");
    data = data && *data ? data : "../shared/data";
    snprintf(path, size, "%s/traces/kineto/%s.json.gz", data, name);
}

static void add(struct figures *sum, uint64_t bytes, int64_t time_ns)
{
    sum->count++;
    sum->bytes += (int64_t)bytes;
    sum->time_ns += time_ns;
}

/* The group of an operation as the script calls it. */
static void group_of(const haul_op *op, char *group, size_t size)
{
    group[0] = '\0';
    if (op->kind == HAUL_OP_COPY)
        snprintf(group, size, "%s %s", haul_direction_text(op->direction),
                 haul_memory_text(op->detail));
    else if (op->kind == HAUL_OP_KERNEL)
        snprintf(group, size, "kernels");
    else if (op->kind == HAUL_OP_MEMSET)
        snprintf(group, size, "memsets");
}

static struct figures sum_of(const haul_workload *workload, const char *group)
{
    struct figures sum = {.group = group};
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        char own[64];
        group_of(op, own, sizeof own);
        if (!strcmp(own, group))
            add(&sum, haul_op_has_bytes(op) ? op->bytes : 0, op->dur_ns);
    }
    for (size_t i = 0; !strcmp(group, "ranges") && i < workload->range_count; i++)
        add(&sum, 0, workload->ranges[i].dur_ns);
    return sum;
}

static void figures_are_those_of_the_script(void **state)
{
    (void)state;
    haul_workload *workload = NULL;
    const char *loaded = "";
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct figures *want = &expected[i];
        if (strcmp(want->trace, loaded) != 0) {
            char path[1024], text[1024];
            haul_error error = {0};
            haul_workload_free(workload);
            workload = NULL;
            trace_path(want->trace, path, sizeof path);
            if (haul_trace_load(path, &workload, &error))
                fail_msg("%s", haul_error_format(&error, text, sizeof text));
            workload_check(workload);
            loaded = want->trace;
        }
        if (!strcmp(want->group, "calls")) {
            assert_int_equal(workload->counts.calls, want->count);
            continue;
        }
        const struct figures got = sum_of(workload, want->group);
        if (got.count != want->count || got.bytes != want->bytes || got.time_ns != want->time_ns)
            fail_msg("%s: %s: %lld, %lld bytes, %lld ns", want->trace, want->group,
                     (long long)got.count, (long long)got.bytes, (long long)got.time_ns);
    }
    haul_workload_free(workload);
}

static void collectives_are_kept(void **state)
{
    (void)state;
    char path[1024];
    haul_workload *workload = NULL;
    trace_path("nccl-arguments", path, sizeof path);
    assert_int_equal(haul_trace_load(path, &workload, NULL), HAUL_OK);
    size_t kernels = 0;
    uint64_t elements = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const uint32_t number =
            op->kind == HAUL_OP_KERNEL ? workload->shapes[op->shape].collective : 0;
        if (!number)
            continue;
        const haul_collective *collective = &workload->collectives[number - 1];
        kernels++;
        elements += collective->elements_in;
        assert_int_equal(collective->group_size, 2);
        assert_non_null(strstr("allreduce broadcast allgather _allgather_base barrier",
                               haul_workload_string(workload, collective->name)));
    }
    assert_int_equal(kernels, 21);
    assert_true(elements > 6637568);
    assert_int_equal(workload->rank, 0);
    assert_int_equal(workload->epoch_ns, INT64_C(1711964646000000000));
    haul_workload_free(workload);
}

int main(void)
{
    char path[1024];
    trace_path(expected[0].trace, path, sizeof path);
    if (access(path, R_OK)) {
        printf("skipped: no '%s'; HAUL_DATA names the folder\n", path);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_script),
        cmocka_unit_test(collectives_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
