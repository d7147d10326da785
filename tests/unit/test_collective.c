/* Collectives of profiles: names, sizes, and the arguments that PyTorch wrote in its time. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string.h>

#include "haul/analysis.h"
#include "haul/collective_time.h"
#include "haul/message.h"
#include "haul/project.h"
#include "haul/trace.h"
#include "workload/collective_name.h"

static void names_tell_operations(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        haul_collective_kind kind;
        bool is_kernel;
    } cases[] = {
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         HAUL_COLLECTIVE_ALL_REDUCE, true},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", HAUL_COLLECTIVE_SEND_RECEIVE,
         true},
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", HAUL_COLLECTIVE_REDUCE_SCATTER, true},
        {"ncclKernel_Broadcast_RING_LL_Sum_int8_t", HAUL_COLLECTIVE_BROADCAST, true},
        {"ncclDevKernel_Reduce_Sum_f32_RING_LL", HAUL_COLLECTIVE_REDUCE, true},
        {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage)", HAUL_COLLECTIVE_OTHER, true},
        {"void vllm::cross_device_reduce_1stage<float, 2>", HAUL_COLLECTIVE_ALL_REDUCE, true},
        {"_allgather_base", HAUL_COLLECTIVE_ALL_GATHER, false},
        {"all_to_allv", HAUL_COLLECTIVE_ALL_TO_ALL, false},
        {"ncclAllReduce", HAUL_COLLECTIVE_ALL_REDUCE, true},
        {"void reduce_kernel<512, nccl>(int)", HAUL_COLLECTIVE_REDUCE, false},
        {"", HAUL_COLLECTIVE_OTHER, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(hl_workload_collective_named(cases[i].name), cases[i].kind);
        assert_int_equal(hl_workload_is_collective_name(cases[i].name), cases[i].is_kernel);
    }
    assert_string_equal(haul_collective_text(HAUL_COLLECTIVE_ALL_TO_ALL), "all-to-all");
}

static haul_workload *load(const char *text)
{
    char path[] = "/tmp/haul-test-collective-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    (void)fputs(text, out);
    assert_int_equal(fclose(out), 0);
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (haul_trace_load(path, &workload, &error))
        fail_msg("%s", error.text);
    (void)unlink(path);
    return workload;
}

#define EVENT(category, name, start, dur, args)                                                    \
    "{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\"" name                                      \
    "\",\"pid\":1,\"tid\":2,\"ts\":" start ",\"dur\":" dur ",\"args\":{" args "}}"

/* A range before PyTorch 2.3, a kernel's own arguments, and a kernel with neither; of 4 ranks. The
 * first is half beside a kernel. */
static const char trace[] = "{\"distributedInfo\":{\"rank\":0,\"world_size\":4},\"traceEvents\":["
    /* clang-format off */
    EVENT("user_annotation", "nccl:all_to_all", "10", "20",
          "\"Input Dims\":[[4,1000],[96]],\"Input type\":[\"c10::Half\",\"int\"]") ","
    EVENT("cuda_runtime", "cudaLaunchKernel", "12", "3", "\"correlation\":1") ","
    EVENT("cuda_runtime", "cudaLaunchKernel", "40", "3", "\"correlation\":2") ","
    EVENT("cuda_runtime", "cudaLaunchKernel", "50", "3", "\"correlation\":3") ","
    EVENT("cuda_runtime", "cudaLaunchKernel", "60", "3", "\"correlation\":4") ","
    EVENT("kernel", "ncclKernel_SendRecv_RING", "100", "50",
          "\"device\":0,\"stream\":7,\"correlation\":1") ","
    EVENT("kernel", "gemm", "125", "75", "\"device\":0,\"stream\":8,\"correlation\":2") ","
    EVENT("kernel", "ncclDevKernel_AllGather_RING_LL", "200", "10",
          "\"device\":0,\"stream\":7,\"correlation\":3,\"Collective name\":\"_allgather_base\","
          "\"In msg nelems\":100,\"Out msg nelems\":200,\"Group size\":2,\"dtype\":\"Double\"") ","
    EVENT("kernel", "ncclDevKernel_Generic", "300", "10",
          "\"device\":0,\"stream\":7,\"correlation\":4")
    /* clang-format on */
    "]}";

static void arguments_are_found(void **state)
{
    (void)state;
    haul_workload *workload = load(trace);
    haul_communication_use *uses = NULL;
    size_t count = 0;
    haul_error error;
    assert_int_equal(haul_communication_uses(workload, &uses, &count, &error), HAUL_OK);
    assert_int_equal(count, 3);
    assert_int_equal(uses[0].of.kind, HAUL_COLLECTIVE_ALL_TO_ALL);
    assert_int_equal(uses[0].of.bytes, 2 * 4096); /* of halves */
    assert_int_equal(uses[0].of.ranks, 4);
    CHECK_NEAR(haul_communication_moved(&uses[0].of), 0.75 * 8192, 1e-12);
    for (size_t i = 1; i < count; i++) {
        const bool is_known = uses[i].of.kind == HAUL_COLLECTIVE_ALL_GATHER;
        assert_int_equal(uses[i].of.bytes, is_known ? 1600 : 0);
        assert_int_equal(uses[i].of.ranks, is_known ? 2 : 0);
    }
    free(uses);
    haul_analysis *analysis = NULL;
    assert_int_equal(haul_analysis_make(workload, &analysis, &error), HAUL_OK);
    assert_int_equal(analysis->kernels.count, 1);
    assert_int_equal(analysis->communication.count, 3);
    assert_int_equal(analysis->communication.bytes, 6144 + 800);
    assert_int_equal(analysis->unsized, 1);
    assert_int_equal(analysis->busy.communication_ns, 70000);
    assert_int_equal(analysis->busy.hidden_communication_ns, 25000);
    CHECK_NEAR(analysis->hidden_share, 25.0 / 70, 1e-12);
    haul_analysis_free(analysis);
    haul_workload_free(workload);
}

/* Dimensions that overflow or nest, types that are none: the size is not known, nothing else. */
static void hostile_arguments(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "\"Input Dims\":[[9223372036854775807,9223372036854775807]],\"Input type\":[\"float\"]",
        "\"Input Dims\":[[[[[[[4]]]]]]],\"Input type\":[\"float\"]",
        "\"Input Dims\":{\"a\":1},\"Input type\":\"float\"",
        "\"Input Dims\":[[-4],[\"x\"]],\"Input type\":[\"float\"]",
        "\"Input Dims\":[[4]],\"Input type\":[\"thing\"]",
        "\"Input Dims\":[[4]],\"Input type\":[[1]]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "{\"traceEvents\":[" EVENT(
                           "user_annotation", "nccl:all_reduce", "10", "20",
                           "%s") "," EVENT("cuda_runtime", "cudaLaunchKernel", "12", "3",
                                           "\"correlation\":1") "," EVENT("kernel",
                                                                          "ncclKernel_AllReduce",
                                                                          "100", "50",
                                                                          "\"correlation\":1") "]}",
                       wrong[i]);
        haul_workload *workload = load(text);
        haul_communication_use *uses = NULL;
        size_t count = 0;
        assert_int_equal(haul_communication_uses(workload, &uses, &count, NULL), HAUL_OK);
        assert_int_equal(count, 1);
        assert_int_equal(uses[0].of.kind, HAUL_COLLECTIVE_ALL_REDUCE);
        assert_int_equal(uses[0].of.bytes, 0);
        free(uses);
        haul_workload_free(workload);
    }
}

/* On another machine a collective keeps its recorded time, and a note says so; the interval reaches
 * to the ratio of the links. */
static void another_machine_keeps_collectives(void **state)
{
    (void)state;
    haul_workload *workload = load(trace);
    haul_machine *from = NULL, *to = NULL;
    haul_projection *projection = NULL;
    haul_error error = {0};
    bool is_told = false;
    assert_int_equal(haul_machine_load("a100-sxm4", &from, &error), HAUL_OK);
    assert_int_equal(haul_machine_load("v100-sxm2", &to, &error), HAUL_OK);
    const haul_projection_options options = {.from = from, .to = to};
    if (haul_projection_make(workload, &options, &projection, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < projection->note_count; i++)
        is_told |= strstr(projection->notes[i], "collectives keep their recorded time") != NULL;
    assert_true(is_told);
    size_t found = 0;
    for (size_t i = 0; i < projection->kernel_row_count; i++) {
        const haul_kernel_row *row = &projection->kernel_rows[i];
        if (strncmp(row->name, "nccl", 4) != 0)
            continue;
        found++;
        CHECK_NEAR(row->predicted.seconds, row->recorded_s, 1e-9);
        assert_true(row->predicted.low_s <= row->predicted.seconds &&
                    row->predicted.high_s >= row->predicted.seconds);
    }
    assert_int_equal(found, 3);
    haul_projection_free(projection);
    haul_machine_free(from);
    haul_machine_free(to);
    haul_workload_free(workload);
}

/* A table of nccl-tests, fitted, gives its own times back as predictions: 8 GPUs of one node. */
static void a_fitted_table_is_predicted(void **state)
{
    (void)state;
    const char *data = getenv("HAUL_DATA");
    char path[1000];
    haul_message_samples samples = {0};
    haul_message_fit fit;
    haul_machine *machine = NULL;
    haul_error error = {0};
    const haul_message_source source = {.memory = HAUL_MEMORY_UNKNOWN,
                                        .reach = HAUL_REACH_BETWEEN_NODES};
    const haul_message_fit_options how = {.breaks = 3};
    const haul_machine base = {
        .name = "m", .summary = "s", .gpu.count = {8, HAUL_PROVENANCE_DATASHEET, "s"}};
    (void)snprintf(path, sizeof path, "%s/mpi/nccl-tests-alltoall.log",
                   data && *data ? data : "../shared/data");
    if (access(path, R_OK)) {
        printf("skipped: no '%s'; HAUL_DATA names the folder\n", path);
        skip();
    }
    assert_int_equal(haul_message_samples_load(path, &source, &samples, &error), HAUL_OK);
    assert_int_equal(haul_message_fit_make(&samples, &how, &fit, &error), HAUL_OK);
    assert_int_equal(haul_message_fit_machine(&fit, &base, "t", &machine, &error), HAUL_OK);
    for (size_t i = 0; i < samples.count; i++) {
        const haul_communication of = {.kind = HAUL_COLLECTIVE_ALL_TO_ALL,
                                       .ranks = 8,
                                       .bytes = (samples.items[i].bytes * 8 + 6) / 7};
        haul_estimate estimate;
        assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_OK);
        CHECK_NEAR(estimate.seconds, samples.items[i].seconds, 0.05);
    }
    haul_machine_free(machine);
    haul_message_fit_free(&fit);
    haul_message_samples_free(&samples);
}

static haul_collective_way_time way_of(const haul_machine *machine, haul_communication of,
                                       uint32_t nodes, haul_collective_way way)
{
    haul_collective_way_time times[HAUL_COLLECTIVE_WAYS];
    haul_error error = {0};
    if (haul_collective_predict(machine, &of, nodes, times, &error))
        fail_msg("%s", error.text);
    assert_int_equal(times[way].way, way);
    assert_true(*haul_collective_way_text(way));
    return times[way];
}

static haul_machine *two_nodes(const char *network)
{
    char text[600];
    haul_machine *machine = NULL;
    haul_error error = {0};
    (void)snprintf(text, sizeof text,
                   "haul: 1\nname: m\nsummary: s\nfrom: datasheet\ngpu: {count: 4}\n"
                   "peer: {kind: nvlink, links: 4, link_rate: 25 GB/s}\n%s",
                   network);
    if (haul_machine_parse(text, strlen(text), "m", &machine, &error))
        fail_msg("%s", error.text);
    return machine;
}

/* By hand, four GPUs at 0.8 x 100 GB/s: a ring goes round twice, NCCL's tree is a chain within the
 * node, and of one's own kernels each GPU writes to all others at once, twice. */
static void ways_of_an_all_reduce(void **state)
{
    (void)state;
    haul_machine *machine = two_nodes("");
    haul_communication of = {.kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = 4, .bytes = 8};
    haul_collective_way_time made = way_of(machine, of, 1, HAUL_COLLECTIVE_WAY_RING);
    CHECK_NEAR(made.seconds, 6.6e-6 + 6 * 0.6e-6 + 12 / 20e9, 1e-9);
    assert_string_equal(made.protocol, "LL");
    assert_true(made.is_library && !made.is_fitted && made.high_s > made.seconds + 40e-6);
    made = way_of(machine, of, 1, HAUL_COLLECTIVE_WAY_TREE);
    CHECK_NEAR(made.seconds, 6.8e-6 + 6 * 0.6e-6 + 16 / (0.9 / 3.8 * 80e9), 1e-9);
    made = way_of(machine, of, 1, HAUL_COLLECTIVE_WAY_DIRECT);
    CHECK_NEAR(made.seconds, 6.6e-6 + 2 * 0.6e-6 + 12 / 40e9, 1e-9);
    assert_true(!made.is_library);
    of.bytes = 1 << 20;
    made = way_of(machine, of, 1, HAUL_COLLECTIVE_WAY_RING);
    CHECK_NEAR(made.seconds, 14e-6 + 6 * 1.9e-6 + 1.5 * (1 << 20) / (0.92 * 80e9), 1e-9);
    assert_string_equal(made.protocol, "LL128");
    of.bytes = 800000000;
    made = way_of(machine, of, 1, HAUL_COLLECTIVE_WAY_RING);
    CHECK_NEAR(made.seconds, 8.4e-6 + 6 * 3.4e-6 + 1.2e9 / 80e9, 1e-9);
    CHECK_NEAR(made.latency_s, 8.4e-6 + 6 * 3.4e-6, 1e-9);
    of.kind = HAUL_COLLECTIVE_ALL_GATHER;
    haul_collective_way_time times[HAUL_COLLECTIVE_WAYS];
    assert_int_equal(haul_collective_predict(machine, &of, 1, times, NULL), HAUL_OK);
    assert_true(times[HAUL_COLLECTIVE_WAY_TREE].is_impossible);
    assert_true(isnan(times[HAUL_COLLECTIVE_WAY_TREE].seconds));
    assert_int_equal(haul_collective_predict(machine, &of, 2, times, NULL), HAUL_STATUS_MISSING);
    haul_machine_free(machine);
}

/* Two nodes of four GPUs, 40 GB/s between them: a ring crosses at one GPU and has all of it, of an
 * all-to-all four GPUs send 4/7 of their bytes to the other node. */
static void nodes_share_their_network(void **state)
{
    (void)state;
    haul_machine *machine = two_nodes("injection:\n  - {memory: device, processes: 4, rate: 40 "
                                      "GB/s}\n");
    haul_communication of = {.kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = 8, .bytes = 800000000};
    const double moved = haul_communication_moved(&of);
    CHECK_NEAR(way_of(machine, of, 2, HAUL_COLLECTIVE_WAY_RING).seconds,
               8.4e-6 + 12 * 3.4e-6 + 2 * 14e-6 + moved / 40e9, 1e-9);
    of.kind = HAUL_COLLECTIVE_ALL_TO_ALL;
    CHECK_NEAR(way_of(machine, of, 2, HAUL_COLLECTIVE_WAY_DIRECT).seconds,
               8.4e-6 + 3 * 3.4e-6 + 4 * 14e-6 + 4 * 0.5 * 8e8 / 40e9, 1e-9);
    /* one GPU of each of four nodes: nothing goes over the links within a node */
    of = (haul_communication){.kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = 4, .bytes = 800000000};
    CHECK_NEAR(way_of(machine, of, 4, HAUL_COLLECTIVE_WAY_RING).seconds,
               8.4e-6 + 6 * 14e-6 + 1.2e9 / 40e9, 1e-9);
    /* more nodes than ranks are as many */
    CHECK_NEAR(way_of(machine, of, 9, HAUL_COLLECTIVE_WAY_RING).seconds,
               8.4e-6 + 6 * 14e-6 + 1.2e9 / 40e9, 1e-9);
    haul_machine_free(machine);
}

/* Eight MI300X have seven links each, four that work together three of them. */
static void meshes_use_links_between_their_gpus(void **state)
{
    (void)state;
    static const char text[] = "haul: 1\nname: m\nsummary: s\nfrom: datasheet\n"
                               "gpu: {architecture: cdna3, count: 8}\n"
                               "peer: {kind: fabric, links: 1, link_rate: 64 GB/s}\n";
    haul_machine *machine = NULL;
    haul_error error = {0};
    assert_int_equal(haul_machine_parse(text, strlen(text), "m", &machine, &error), HAUL_OK);
    for (uint32_t gpus = 2; gpus <= 8; gpus *= 2) {
        const haul_communication of = {
            .kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = gpus, .bytes = 800000000};
        const haul_collective_way_time made = way_of(machine, of, 1, HAUL_COLLECTIVE_WAY_RING);
        CHECK_NEAR(made.seconds - made.latency_s,
                   haul_communication_moved(&of) / ((gpus - 1) * 0.8 * 64e9), 1e-9);
    }
    haul_machine_free(machine);
}

/* A table of nccl-tests between nodes: without injection the fit is the library's. */
static void a_fit_between_nodes_counts(void **state)
{
    (void)state;
    haul_machine *machine = two_nodes("messages:\n  - {memory: device, reach: network, above: 0 B, "
                                      "most: 1 GB, latency: 300 us, rate: 20 GB/s, error: 0.01}\n");
    const haul_communication of = {
        .kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = 8, .bytes = 100000000};
    const double fitted_s = 300e-6 + haul_communication_moved(&of) / 20e9;
    const haul_collective_way_time made = way_of(machine, of, 2, HAUL_COLLECTIVE_WAY_RING);
    assert_true(made.is_fitted);
    CHECK_NEAR(made.seconds, fitted_s, 1e-9);
    CHECK_NEAR(made.high_s, 1.15 * fitted_s, 1e-9);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_machine_keeps_collectives),
                                       cmocka_unit_test(ways_of_an_all_reduce),
                                       cmocka_unit_test(nodes_share_their_network),
                                       cmocka_unit_test(a_fit_between_nodes_counts),
                                       cmocka_unit_test(meshes_use_links_between_their_gpus),
                                       cmocka_unit_test(a_fitted_table_is_predicted),
                                       cmocka_unit_test(names_tell_operations),
                                       cmocka_unit_test(arguments_are_found),
                                       cmocka_unit_test(hostile_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
