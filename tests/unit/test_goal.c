/* Schedules for LogGOPSim: the grammar of its txt2bin, labels before their use, a receive for each
 * send, and an end. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goal_rules.h"
#include "haul/collective_time.h"
#include "haul/goal.h"
#include "haul/simulate.h"
#include "workload/builder.h"

/* Of any schedule that is written. */
static goal *parse(char *text)
{
    goal *self = goal_read(text, 0, 0);
    if (*self->error)
        fail_msg("%s", self->error);
    return self;
}

static const char yaml[] =
    "haul: 1\nname: m\nsummary: s\nfrom: measured\nhost: {cores: 8}\ngpu: {count: 2}\n"
    "peer: {kind: nvlink, links: 4, link_rate: 25 GB/s}\n"
    "copies:\n"
    "  - {direction: HtoD, memory: pinned, latency: 10 us, rate: 10 GB/s, shared_latency: 1 us, "
    "shared_rate: 10 GB/s}\n"
    "  - {direction: DtoH, memory: pinned, latency: 10 us, rate: 10 GB/s, shared_latency: 1 us, "
    "shared_rate: 10 GB/s}\n"
    "messages:\n"
    "  - {memory: host, reach: network, above: 0 B, latency: 2 us, rate: 10 GB/s}\n"
    "  - {memory: host, reach: network, above: 1 MiB, latency: 0 s, rate: 5 GB/s}\n"
    "  - {memory: host, reach: socket, above: 0 B, latency: 1 us, rate: 10 GB/s}\n"
    "  - {memory: host, reach: node, above: 0 B, latency: 1 us, rate: 10 GB/s}\n"
    "  - {memory: device, reach: network, above: 0 B, latency: 2 us, rate: 10 GB/s}\n"
    "  - {memory: device, reach: node, above: 0 B, latency: 2 us, rate: 80 GB/s}\n";

static haul_machine *machine_of(void)
{
    haul_machine *machine = NULL;
    haul_error error = {0};
    if (haul_machine_parse(yaml, strlen(yaml), "m", &machine, &error))
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return machine;
}

/* Each way of each exchange sends all of its bytes, once; odd counts too. */
static void exchanges(void **state)
{
    (void)state;
    haul_machine *machine = machine_of();
    uint64_t counts[36];
    for (uint64_t i = 0; i < 36; i++)
        counts[i] = 7 * i % 5;
    for (int kind = 0; kind <= HAUL_EXCHANGE_ALL_V; kind++)
        for (int way = HAUL_WAY_DIRECT; way < HAUL_WAYS; way++) {
            const bool is_all = kind != HAUL_EXCHANGE_MESSAGES;
            const haul_exchange of = {.kind = (haul_exchange_kind)kind,
                                      .nodes = 3,
                                      .messages = 5,
                                      .bytes = 1000,
                                      .counts = kind == HAUL_EXCHANGE_ALL_V ? counts : NULL};
            const bool is_split =
                way == HAUL_WAY_EXTRA_MESSAGE || way == HAUL_WAY_DUPLICATE_POINTER;
            const haul_way_time time = {.way = (haul_way)way,
                                        .processes = is_split ? 4 : 1,
                                        .chunks = way == HAUL_WAY_CHUNKED ? 3 : 1};
            char *text = NULL;
            size_t size = 0;
            haul_error error = {0};
            FILE *out = open_memstream(&text, &size);
            assert_non_null(out);
            if (haul_goal_write_exchange(machine, &of, &time, out, &error))
                fail_msg("%s", error.text);
            assert_int_equal(fclose(out), 0);
            goal *read = parse(text);
            assert_int_equal(read->ranks, (is_all ? 6 : 2) * (int)time.processes);
            if (kind != HAUL_EXCHANGE_ALL_V)
                assert_int_equal(read->bytes, is_all ? 30 * 1000 : 2 * 5000);
            assert_true((read->calc_ns > 0) == (way != HAUL_WAY_DIRECT));
            goal_free(read);
            free(text);
        }
    haul_machine_free(machine);
}

/* With the parameters of its head a schedule ends by both simulators' rules when haul says. */
static void ends_as_predicted(const haul_machine *machine, const haul_exchange *of,
                              const haul_way_time *time)
{
    char *text = NULL;
    size_t size = 0;
    double said_ns = 0;
    goal_parameters with = {0};
    haul_error error = {0};
    FILE *out = open_memstream(&text, &size);
    if (haul_goal_write_exchange(machine, of, time, out, &error))
        fail_msg("%s: %s", haul_way_text(time->way, HAUL_MEMORY_DEVICE), error.text);
    assert_int_equal(fclose(out), 0);
    const char *G = strstr(text, " G=");
    assert_int_equal(
        sscanf(text, "// haul: %lf ns with L=%lf o=%lf g=%lf", &said_ns, &with.L, &with.o, &with.g),
        4);
    assert_non_null(G);
    with.G = strtod(G + 3, NULL);
    CHECK_NEAR(said_ns, 1e9 * time->seconds, 1e-3);
    goal *read = parse(text);
    for (int rules = GOAL_CLASSIC; rules <= GOAL_ATLAHS; rules++) {
        const double end_ns = goal_simulate(read, (goal_rules)rules, with);
        if (!(fabs(end_ns - said_ns) <= 0.05 * said_ns))
            fail_msg("%s, %llu B, %u nodes, %u chunks: %.0f ns by rules %d, haul %.0f",
                     haul_way_text(time->way, HAUL_MEMORY_DEVICE), (unsigned long long)of->bytes,
                     of->nodes, time->chunks, end_ns, rules, said_ns);
    }
    goal_free(read);
    free(text);
}

static void two_simulators_agree(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 8, 1000, 100000, 3000000};
    haul_machine *machine = machine_of();
    for (int kind = 0; kind <= HAUL_EXCHANGE_ALL_V; kind++)
        for (size_t s = 0; s < 5; s++)
            for (uint32_t nodes = 1; nodes <= 3; nodes++)
                for (int kernel = 0; kernel < 2; kernel++) {
                    const haul_exchange of = {.kind = (haul_exchange_kind)kind,
                                              .nodes = nodes,
                                              .messages = 5,
                                              .bytes = sizes[s],
                                              .kernel_s = kernel * 100e-6};
                    haul_way_time times[HAUL_WAYS_PREDICTED];
                    haul_error error = {0};
                    if (haul_exchange_predict(machine, &of, times, &error))
                        fail_msg("%s", error.text);
                    for (int w = 0; w < HAUL_WAYS_PREDICTED; w++)
                        /* chunks of a few bytes differ by as much as they have */
                        if (haul_way_has_workload(times[w].way) && !*times[w].missing &&
                            (times[w].way != HAUL_WAY_CHUNKED || sizes[s] >= 1000))
                            ends_as_predicted(machine, &of, &times[w]);
                }
    haul_machine_free(machine);
}

/* Three ranks do what one recorded: a kernel, an all-reduce beside it, a broadcast. */
static void recorded_collectives(void **state)
{
    (void)state;
    hl_workload_builder built;
    hl_workload_builder_init(&built);
    const uint32_t device = hl_workload_builder_device(&built, 0);
    const uint32_t name = hl_workload_builder_string(&built, "ncclDevKernel_AllReduce", 23);
    const uint32_t word[] = {hl_workload_builder_string(&built, "allreduce", 9),
                             hl_workload_builder_string(&built, "broadcast", 9)};
    const uint32_t type = hl_workload_builder_string(&built, "Float", 5);
    const uint32_t streams[] = {
        hl_workload_builder_stream(&built, &(haul_workload_stream){.device = device, .id = 1}),
        hl_workload_builder_stream(&built, &(haul_workload_stream){.device = device, .id = 2})};
    const haul_op kernel = {.kind = HAUL_OP_KERNEL,
                            .dur_ns = 1000,
                            .shape = HAUL_NONE,
                            .name = HAUL_NONE,
                            .thread = HAUL_NONE,
                            .stream = streams[0]};
    const uint32_t before = hl_workload_builder_op(&built, &kernel);
    for (int i = 0; i < 2; i++) {
        const haul_collective collective = {.name = word[i],
                                            .data_type = type,
                                            .group = HAUL_NONE,
                                            .group_size = 3,
                                            .elements_in = 300,
                                            .elements_out = 300};
        const haul_shape shape = {.collective =
                                      hl_workload_builder_collective(&built, &collective)};
        haul_op op = kernel;
        op.start_ns = 1500 + 1000 * i;
        op.shape = hl_workload_builder_shape(&built, &shape);
        op.name = name;
        op.stream = streams[1];
        const uint32_t number = hl_workload_builder_op(&built, &op);
        if (!i)
            hl_workload_builder_edge(&built, before, number);
    }
    haul_workload *workload = NULL;
    haul_error error = {0};
    uint64_t kept = 9;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(hl_workload_builder_finish(&built, "s", "f", &workload, &error), HAUL_OK);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(haul_goal_write_workload(workload, out, &kept, &error), HAUL_OK);
    assert_int_equal(fclose(out), 0);
    goal *read = parse(text);
    assert_int_equal(read->ranks, 3);
    assert_int_equal(kept, 0);
    assert_int_equal(read->messages, 3 * 4 + 2);       /* two rounds of the ring, a chain */
    assert_int_equal(read->calc_ns, 3 * (1000 + 500)); /* the kernel, and the pause behind it */
    goal_free(read);
    free(text);
    haul_workload_free(workload);
}

/* By hand: two GPUs at the fitted 80 GB/s; four ranks are of two nodes. */
static void collectives_take_their_links(void **state)
{
    (void)state;
    haul_machine *machine = machine_of();
    haul_communication of = {.kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = 2, .bytes = 800000000};
    haul_estimate estimate;
    haul_error error = {0};
    assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_OK);
    CHECK_NEAR(estimate.seconds, 8.4e-6 + 2 * 3.4e-6 + 0.01, 1e-9); /* sends 2/2 of its bytes */
    assert_string_equal(estimate.model, "ring");
    of = (haul_communication){.kind = HAUL_COLLECTIVE_ALL_TO_ALL, .ranks = 2, .bytes = 8};
    assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_OK);
    CHECK_NEAR(estimate.seconds, 6.6e-6 + 0.6e-6 + 4 / 40e9, 1e-6); /* low latency, half the rate */
    assert_string_equal(estimate.model, "direct");
    of.ranks = 4;
    assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_OK);
    CHECK_NEAR(estimate.seconds, 6.6e-6 + 1.8 * 0.6e-6 + 2 * 2.7e-6, 0.01);
    of = (haul_communication){.kind = HAUL_COLLECTIVE_ALL_TO_ALL};
    assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_STATUS_MISSING);
    haul_machine_free(machine);
    /* a small all-reduce of many ranks takes trees */
    assert_int_equal(haul_machine_load("summit", &machine, &error), HAUL_OK);
    of = (haul_communication){.kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = 192, .bytes = 64};
    assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_OK);
    assert_string_equal(estimate.model, "tree");
    haul_machine_free(machine);
}

/* Each size by its own piece of the fit, not by the last one's rate. */
static void collectives_follow_their_fit(void **state)
{
    (void)state;
    static const char fitted[] =
        "haul: 1\nname: m\nsummary: s\nfrom: fitted\ngpu: {count: 8}\nmessages:\n"
        "  - {memory: device, reach: node, above: 0 B, latency: 87 us}\n"
        "  - {memory: device, reach: node, above: 4 MB, most: 1 GB, latency: 60 us, rate: 230 "
        "GB/s}\n";
    haul_machine *machine = NULL;
    haul_error error = {0};
    haul_estimate estimate;
    assert_int_equal(haul_machine_parse(fitted, strlen(fitted), "m", &machine, &error), HAUL_OK);
    for (uint64_t bytes = 64; bytes <= 1 << 30; bytes *= 4) {
        const haul_communication of = {
            .kind = HAUL_COLLECTIVE_ALL_TO_ALL, .ranks = 8, .bytes = bytes};
        const double moved = haul_communication_moved(&of);
        assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_OK);
        CHECK_NEAR(estimate.seconds, moved < 4e6 ? 87e-6 : 60e-6 + moved / 230e9, 1e-6);
    }
    haul_machine_free(machine);
}

/* A V100 of a DGX-1 has six links, of which a pair has two; of an AC922 three of six are the
 * host's. */
static void collectives_use_all_links(void **state)
{
    (void)state;
    static const struct {
        const char *peer, *link;
        double rate_Bps;
    } rows[] = {{"links: 2", "pcie, generation: 3, lanes: 16", 6 * 20e9},
                {"links: 3", "nvlink, links: 3, link_rate: 25 GB/s", 3 * 20e9}};
    for (size_t i = 0; i < 2; i++) {
        char text[600];
        haul_machine *machine = NULL;
        haul_error error = {0};
        haul_estimate estimate;
        (void)snprintf(text, sizeof text,
                       "haul: 1\nname: m\nsummary: s\nfrom: datasheet\n"
                       "gpu: {architecture: volta, cores: 64, count: 4}\nlink: {kind: %s}\n"
                       "peer: {kind: nvlink, %s, link_rate: 25 GB/s}\n",
                       rows[i].link, rows[i].peer);
        assert_int_equal(haul_machine_parse(text, strlen(text), "m", &machine, &error), HAUL_OK);
        const haul_communication of = {
            .kind = HAUL_COLLECTIVE_ALL_REDUCE, .ranks = 4, .bytes = 32 << 20};
        assert_int_equal(haul_collective_time(machine, &of, &estimate, &error), HAUL_OK);
        CHECK_NEAR(estimate.seconds,
                   8.4e-6 + 6 * 3.4e-6 + haul_communication_moved(&of) / rows[i].rate_Bps, 1e-6);
        haul_machine_free(machine);
    }
}

static void platforms(void **state)
{
    (void)state;
    haul_machine *machine = machine_of();
    char *text = NULL;
    size_t size = 0;
    haul_error error = {0};
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(haul_simgrid_write(machine, 3, out, &error), HAUL_OK);
    assert_int_equal(haul_simgrid_write(machine, 0, out, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "radical=\"0-2\""));
    assert_non_null(strstr(text, "bw=\"10000000000Bps\" lat=\"0.000001000s\""));
    assert_non_null(strstr(text, "lat-factor\" value=\"0:1;1048576:0\""));
    free(text);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exchanges),
                                       cmocka_unit_test(two_simulators_agree),
                                       cmocka_unit_test(recorded_collectives),
                                       cmocka_unit_test(collectives_take_their_links),
                                       cmocka_unit_test(collectives_follow_their_fit),
                                       cmocka_unit_test(collectives_use_all_links),
                                       cmocka_unit_test(platforms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
