/* Ways of an exchange beside what is computed by hand. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/counts.h"
#include "haul/message_figures.h"

/* Host messages: 2 us + n / 10 GB/s, gap 0.5 us; the GPU's: 6 us + n / 10 GB/s, gap 5 us; within a
 * socket 0.4 us + n / 20 GB/s; a node sends 10 GB/s from one process and 20 from two and more;
 * copies 10 us + n / 40 GB/s, by several processes 2 us more for each, 25 GB/s together. */
static const char yaml[] =
    "haul: 1\nname: m\nsummary: s\nfrom: measured\nhost: {sockets: 2, cores: 8}\n"
    "gpu: {count: 2, copy_engines: 2}\n"
    "copies:\n"
    "  - {direction: HtoD, memory: pinned, latency: 1 us, call_latency: 9 us, rate: 40 GB/s, "
    "shared_latency: 2 us, shared_rate: 25 GB/s}\n"
    "  - {direction: DtoH, memory: pinned, latency: 1 us, call_latency: 9 us, rate: 40 GB/s, "
    "shared_latency: 2 us, shared_rate: 25 GB/s}\n"
    "messages:\n"
    "  - {memory: host, reach: network, above: 0 B, most: 1 MiB, latency: 2 us, rate: 10 GB/s, "
    "gap: "
    "0.5 us}\n"
    "  - {memory: device, reach: network, above: 0 B, most: 1 MiB, latency: 6 us, rate: 10 GB/s, "
    "gap: 5 us}\n"
    "  - {memory: host, reach: socket, above: 0 B, most: 1 MiB, latency: 0.4 us, rate: 20 GB/s}\n"
    "  - {memory: host, reach: node, above: 0 B, most: 1 MiB, latency: 0.8 us, rate: 10 GB/s}\n"
    "  - {memory: device, reach: node, above: 0 B, most: 1 MiB, latency: 8 us, rate: 20 GB/s}\n"
    "injection:\n"
    "  - {memory: host, processes: 1, rate: 10 GB/s}\n"
    "  - {memory: host, processes: 2, rate: 20 GB/s}\n";

static haul_machine *machine_of(const char *text)
{
    haul_machine *machine = NULL;
    haul_error error = {0};
    if (haul_machine_parse(text, strlen(text), "m", &machine, &error))
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return machine;
}

static haul_way_time predicted(const haul_machine *machine, haul_exchange exchange, haul_way way)
{
    haul_way_time times[HAUL_WAYS_PREDICTED];
    haul_error error = {0};
    if (haul_exchange_predict(machine, &exchange, times, &error))
        fail_msg("%s", error.text);
    for (int i = 0; i < HAUL_WAYS_PREDICTED; i++) {
        assert_true(i == 0 || *times[i].missing || times[i].is_impossible ||
                    times[i].seconds >= times[i - 1].seconds);
        if (times[i].way == way)
            return times[i];
    }
    fail_msg("no such way");
    return times[0];
}

static void one_message(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    const haul_exchange of = {.messages = 1, .bytes = 40000};
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_DIRECT).seconds, 6e-6 + 4e-6, 1e-9);
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).seconds, 2 * 11e-6 + 2e-6 + 4e-6, 1e-9);
    /* four cores: 10 kB to each of three others and back, one message of 10 kB from each at 20 GB/s
     */
    const haul_way_time extra = predicted(machine, of, HAUL_WAY_EXTRA_MESSAGE);
    assert_int_equal(extra.processes, 4);
    CHECK_NEAR(extra.spread_s, 6 * (0.4e-6 + 0.5e-6), 1e-9);
    CHECK_NEAR(extra.messages_s, 2e-6 + 40000 / 20e9, 1e-9);
    /* the last of four copies, then its message; behind it one process's copy */
    const haul_way_time shared = predicted(machine, of, HAUL_WAY_DUPLICATE_POINTER);
    CHECK_NEAR(shared.seconds, 10e-6 + 6e-6 + 1.6e-6 + 2e-6 + 1e-6 + 10e-6 + 0.25e-6, 1e-9);
    haul_machine_free(machine);
}

/* The copy is one, whatever the number of messages, and of data sent to several it is less. */
static void many_messages(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    haul_exchange of = {.messages = 10, .bytes = 4000};
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_DIRECT).seconds, 6e-6 + 9 * 5e-6 + 10 * 0.4e-6,
               1e-9);
    const double sent_s = 2e-6 + 9 * 0.5e-6 + 10 * 0.4e-6;
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).seconds, sent_s + 2 * 11e-6, 1e-9);
    of.unique_bytes = 4000;
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).seconds, sent_s + 10.1e-6 + 11e-6, 1e-9);
    haul_machine_free(machine);
}

/* A chunk's stages are 10 us and more each: a large message gains, a small one does not. */
static void chunks_overlap(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    const haul_exchange large = {.messages = 1, .bytes = 1 << 20};
    const haul_way_time chunked = predicted(machine, large, HAUL_WAY_CHUNKED);
    const double whole = predicted(machine, large, HAUL_WAY_THREE_STEP).seconds;
    assert_true(chunked.chunks > 1 && chunked.seconds < 0.9 * whole);
    const double n = chunked.chunks, chunk = (1 << 20) / n;
    const double copy_s = 10e-6 + chunk / 40e9, sent_s = 2e-6 + chunk / 10e9;
    const double behind_s = 0.5e-6 + chunk / 10e9; /* later chunks pay the gap, no latency */
    CHECK_NEAR(chunked.seconds, 2 * copy_s + sent_s + (n - 1) * fmax(copy_s, behind_s), 1e-3);
    haul_machine_free(machine);
}

static void node_limits_and_matrices(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    /* 2 nodes of 2 GPUs: two messages to the other node, one within; the node sends 4 of 1 MB */
    haul_exchange of = {.kind = HAUL_EXCHANGE_ALL_V, .nodes = 2, .bytes = 1000000};
    const haul_way_time all = predicted(machine, of, HAUL_WAY_THREE_STEP);
    CHECK_NEAR(all.messages_s, 2e-6 + 0.5e-6 + 2 * 1e-4 + 0.8e-6 + 1e-4, 1e-6);
    /* the same as a matrix; then one GPU with all of it */
    uint64_t counts[16];
    haul_error error = {0};
    assert_int_equal(hl_comm_counts_parse("1 2 3 x", "c", 4, counts, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(error.column, 7);
    const char *text = "1MB 1MB 1MB 1MB\n1MB,1MB,1MB,1MB\n\n1MB 1MB 1MB 1MB\n1MB 1MB 1MB 1MB";
    assert_int_equal(hl_comm_counts_parse(text, "c", 4, counts, &error), HAUL_OK);
    of.counts = counts;
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s, all.messages_s, 1e-6);
    error = (haul_error){0};
    assert_int_equal(hl_comm_counts_parse("1 2 3 4\n1 2 3\n", "c", 4, counts, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(error.line, 2);
    haul_machine_free(machine);
}

/* A message of one process takes what its protocol says, and a node's rate between measured numbers
 * of processes is min(R_N, ppn R_b) (eq. 2), not a line between the two. */
static void node_rates_follow_eq_2(void **state)
{
    (void)state;
    static const char rates[] =
        "haul: 1\nname: m\nsummary: s\nfrom: measured\ngpu: {count: 4}\nmessages:\n"
        "  - {memory: device, reach: network, above: 0 B, latency: 8 us, rate: 12 GB/s}\n"
        "injection:\n"
        "  - {memory: device, processes: 2, rate: 16 GB/s}\n"
        "  - {memory: device, processes: 8, rate: 24 GB/s}\n";
    static const double expected[] = {12e9, 16e9, 24e9, 24e9, 24e9, 24e9, 24e9, 24e9, 24e9};
    haul_machine *machine = machine_of(rates);
    for (uint32_t gpus = 1; gpus <= 9; gpus++) {
        const haul_exchange of = {.messages = 1, .bytes = 524288, .gpus = gpus};
        CHECK_NEAR(predicted(machine, of, HAUL_WAY_DIRECT).seconds,
                   8e-6 + gpus * 524288 / expected[gpus - 1], 1e-6);
    }
    haul_machine_free(machine);
}

/* 16 GPUs on 2 sockets: uniform counts as a matrix are the uniform exchange; of counts that differ
 * in their place alone each reach is charged as what it is. */
static void matrices_know_sockets(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    static const uint32_t numbers[] = {2, 4, 5, 8};
    for (size_t i = 0; i < 4; i++) {
        const uint32_t gpus = numbers[i], ranks = 2 * gpus;
        uint64_t counts[256];
        haul_exchange of = {
            .kind = HAUL_EXCHANGE_ALL_V, .nodes = 2, .bytes = 4096, .gpus = gpus, .cores = 8};
        const double uniform_s = predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s;
        for (uint32_t c = 0; c < ranks * ranks; c++)
            counts[c] = 4096;
        of.counts = counts;
        CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s, uniform_s, 1e-9);
    }
    /* four GPUs of one node: the first sends 20 kB to its neighbour, the last as much to the other
     * socket */
    uint64_t one[16] = {[1] = 20000}, other[16] = {[12] = 20000};
    haul_exchange of = {.kind = HAUL_EXCHANGE_ALL_V, .nodes = 1, .gpus = 4, .counts = one};
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s, 0.4e-6 + 1e-6, 1e-9);
    of.counts = other;
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s, 0.8e-6 + 2e-6, 1e-9);
    haul_machine_free(machine);
}

/* Large messages of an all-to-all-v from one process of a GPU to many nodes meet at the receivers:
 * a fifth more for each doubling of the other nodes. Dealt out to four processes they do not; nor
 * do those of few neighbours, nor small ones, which no rate limits. */
static void many_receivers_are_crowded(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    haul_exchange of = {
        .kind = HAUL_EXCHANGE_ALL_V, .nodes = 9, .gpus = 2, .cores = 8, .bytes = 1000000};
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s,
               2e-6 + 1.6 * 2 * 16e6 / 20e9 + 0.8e-6 + 1e6 / 10e9, 1e-9);
    const haul_way_time spread = predicted(machine, of, HAUL_WAY_EXTRA_MESSAGE);
    CHECK_NEAR(spread.messages_s, 2e-6 + 2 * 16e6 / 20e9 + 0.8e-6 + 1e6 / 10e9, 1e-9);
    of.bytes = 8;
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s,
               2e-6 + 15 * 0.5e-6 + 16 * 0.8e-9 + 0.8e-6 + 8 / 10e9, 1e-9);
    uint64_t counts[18 * 18] = {0};
    for (size_t i = 0; i < 18; i++)
        counts[i * 18 + (i + 2) % 18] = 1000000;
    of.counts = counts;
    CHECK_NEAR(predicted(machine, of, HAUL_WAY_THREE_STEP).messages_s, 2e-6 + 2 * 1e6 / 20e9, 1e-9);
    haul_machine_free(machine);
}

/* Parameters that the machine lacks are named; so are sizes beyond the measured ones. */
static void gaps_are_told(void **state)
{
    (void)state;
    static const char bare[] = "haul: 1\nname: m\nsummary: s\nfrom: measured\nmessages:\n"
                               "  - {memory: device, reach: network, above: 0 B, most: 1 KiB, "
                               "latency: 6 us}\n";
    haul_machine *machine = machine_of(bare);
    const haul_exchange of = {.messages = 2, .bytes = 4096};
    const haul_way_time direct = predicted(machine, of, HAUL_WAY_DIRECT);
    CHECK_NEAR(direct.seconds, 12e-6, 1e-9); /* no gap: a latency each (eq. 3) */
    assert_true(direct.largest_bytes == 4096 && direct.measured_bytes == 1024);
    const haul_way_time three = predicted(machine, of, HAUL_WAY_THREE_STEP);
    assert_true(isnan(three.seconds) && *three.missing);
    assert_non_null(strstr(haul_exchange_hint("messages[device network]"), "on two nodes"));
    assert_non_null(strstr(haul_exchange_hint("messages[host socket]"), "on one node"));
    assert_non_null(strstr(haul_exchange_hint("copies[DtoH pinned].shared_rate"), "several"));
    assert_non_null(strstr(haul_exchange_hint("copies[DtoH pinned]"), "haul measure"));
    haul_way_time times[HAUL_WAYS_PREDICTED];
    haul_error error = {0};
    const haul_exchange none = {.messages = 0, .bytes = 1};
    assert_int_equal(haul_exchange_predict(machine, &none, times, &error), HAUL_STATUS_BAD_INPUT);
    haul_workload *workload = NULL;
    assert_int_equal(haul_exchange_workload(machine, &of, &three, &workload, &error),
                     HAUL_STATUS_MISSING);
    assert_non_null(strstr(error.text, "run 'haul measure transfers'"));
    haul_machine_free(machine);
    machine = machine_of("haul: 1\nname: m\nsummary: s\n");
    assert_int_equal(haul_exchange_predict(machine, &of, times, &error), HAUL_STATUS_MISSING);
    haul_machine_free(machine);
}

/* Figures are the models' times: of a message the postal model's, of split data the larger of that
 * and the node's (eq. 2), and GPUDirect's by 3-step's those of the predictions. */
static void figures_are_of_the_models(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    haul_message_figure figures[HAUL_FIGURES];
    haul_error error;
    assert_int_equal(haul_message_figures_make(machine, figures, &error), HAUL_OK);
    const haul_message_figure *pairs = &figures[HAUL_FIGURE_PAIRS];
    const haul_message_figure *split = &figures[HAUL_FIGURE_SPLIT];
    const haul_message_figure *gain = &figures[HAUL_FIGURE_GAIN];
    haul_exchange of = {.bytes = pairs->x[10]};
    for (size_t l = 0; l < gain->lines; l++) {
        of.messages = (uint32_t)strtoul(gain->names[l], NULL, 10);
        CHECK_NEAR(gain->y[l][10],
                   predicted(machine, of, HAUL_WAY_DIRECT).seconds /
                       predicted(machine, of, HAUL_WAY_THREE_STEP).seconds,
                   1e-12);
    }
    assert_string_equal(pairs->names[2], "host network");
    CHECK_NEAR(
        pairs->y[5][10],
        predicted(machine, (haul_exchange){.messages = 1, .bytes = 1024}, HAUL_WAY_DIRECT).seconds,
        1e-12);
    assert_true(split->points == 4 && split->x[3] == 8);
    CHECK_NEAR(split->y[3][0], 2e-6 + (4 << 20) / 10e9, 1e-9);
    CHECK_NEAR(split->y[3][3], 2e-6 + (4 << 20) / 20e9, 1e-9);
    CHECK_NEAR(pairs->y[1][20], 0.8e-6 + (1 << 20) / 10e9, 1e-9);
    assert_true(isnan(pairs->y[3][20])); /* between GPUs of a socket nothing was measured */
    haul_machine_free(machine);
}

/* One list for predictions and for haul/mpi.h: only `direct` has a second name, of GPUs' memory. */
static void ways_have_names_that_are_read_back(void **state)
{
    (void)state;
    haul_error error = {0};
    haul_way way = HAUL_WAY_CHOSEN;
    for (int i = HAUL_WAY_CHOSEN; i < HAUL_WAYS; i++)
        for (int memory = 0; memory < 2; memory++) {
            const char *text =
                haul_way_text((haul_way)i, memory ? HAUL_MEMORY_DEVICE : HAUL_MEMORY_HOST);
            assert_int_equal(haul_way_parse(text, &way, &error), HAUL_OK);
            assert_int_equal(way, i);
        }
    assert_string_equal(haul_way_text(HAUL_WAY_DIRECT, HAUL_MEMORY_DEVICE), "gpudirect");
    assert_string_equal(haul_way_text(HAUL_WAY_DIRECT, HAUL_MEMORY_HOST), "direct");
    assert_int_equal(haul_way_parse("backwards", &way, &error), HAUL_STATUS_USAGE);
    assert_false(haul_way_has_workload(HAUL_WAY_PLAIN) || haul_way_has_workload(HAUL_WAYS));
}

static haul_way_time scheduled(const haul_machine *machine, const haul_exchange *of, haul_way way)
{
    haul_way_time times[HAUL_WAYS_PREDICTED];
    haul_error error = {0};
    if (haul_exchange_predict(machine, of, times, &error))
        fail_msg("%s", error.text);
    haul_exchange_schedule(machine, of, times);
    int at = 0;
    while (times[at].way != way)
        at++;
    assert_true(times[at].timeline_s > 0);
    return times[at];
}

/* The formulas and the engine are two derivations: within 1 % where one phase follows another. */
static void timeline_and_formulas_agree(void **state)
{
    (void)state;
    static const haul_way ways[] = {HAUL_WAY_DIRECT, HAUL_WAY_THREE_STEP, HAUL_WAY_CHUNKED};
    static const uint32_t numbers[] = {1, 3, 16, 256};
    haul_machine *machines[2] = {machine_of(yaml)};
    haul_error error;
    assert_int_equal(haul_machine_load("summit", &machines[1], &error), HAUL_OK);
    for (int m = 0; m < 2; m++) {
        for (int size = 0; size <= 22; size += 2)
            for (int i = 0; i < 12; i++) {
                const haul_exchange of = {.messages = numbers[i / 3], .bytes = UINT64_C(1) << size};
                const haul_way_time time = scheduled(machines[m], &of, ways[i % 3]);
                CHECK_NEAR(time.timeline_s, time.seconds, 0.01);
            }
        haul_machine_free(machines[m]);
    }
}

/* Both GPUs of a node send 1 MB: its interface carries 2 MB at 20 GB/s. A node of both in an
 * all-to-all of rounds. */
static void interface_is_shared(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    haul_exchange of = {.messages = 4, .bytes = 1000000, .gpus = 2};
    haul_way_time time = scheduled(machine, &of, HAUL_WAY_THREE_STEP);
    CHECK_NEAR(time.timeline_s, 10e-6 + 4e-6 / 0.04 + 2e-6 + 3 * 0.5e-6 + 4e-4 + 110e-6, 0.003);
    CHECK_NEAR(time.timeline_s, time.seconds, 0.01);
    of = (haul_exchange){.kind = HAUL_EXCHANGE_ALL, .nodes = 16, .bytes = 8};
    time = scheduled(machine, &of, HAUL_WAY_THREE_STEP);
    CHECK_NEAR(time.messages_s, 5 * (2e-6 + 128 / 10e9), 1e-6); /* log2 32 rounds */
    CHECK_NEAR(time.timeline_s, time.seconds, 0.01);
    haul_machine_free(machine);
}

/* By hand, two chunks of 0.4 MB: kernel 20 us, copy 20, message 2 + 40, copy 20; the second chunk's
 * message is behind the first's by 0.5 + 40. One copy engine serves both directions, and is free in
 * time. */
static void kernels_copies_and_messages_overlap(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml), *single = NULL;
    haul_error error;
    assert_int_equal(haul_machine_set(machine, "gpu.copy_engines=1", &single, &error), HAUL_OK);
    const haul_exchange of = {.messages = 1, .bytes = 800000, .kernel_s = 40e-6};
    haul_way_time way = {.way = HAUL_WAY_CHUNKED, .processes = 1, .chunks = 2};
    for (int m = 0; m < 2; m++) {
        haul_workload *workload = NULL;
        haul_timeline *timeline = NULL;
        assert_int_equal(haul_exchange_workload(machine, &of, &way, &workload, &error), HAUL_OK);
        assert_int_equal(haul_exchange_timeline(m ? single : machine, workload, &timeline, &error),
                         HAUL_OK);
        CHECK_NEAR(1e-9 * (double)timeline->makespan_ns,
                   20e-6 + 20e-6 + 40e-6 + 0.5e-6 + 40e-6 + 2e-6 + 20e-6, 1e-4);
        int64_t carried_ns = 0;
        for (size_t r = 0; r < timeline->resource_count; r++)
            if (timeline->resources[r].kind == HAUL_RESOURCE_NETWORK)
                carried_ns += timeline->resources[r].busy_ns;
        assert_int_equal(carried_ns, 80000);
        haul_timeline_free(timeline);
        haul_workload_free(workload);
    }
    const haul_way_time whole = scheduled(machine, &of, HAUL_WAY_THREE_STEP);
    CHECK_NEAR(whole.seconds, 40e-6 + 30e-6 + 82e-6 + 30e-6, 1e-6);
    CHECK_NEAR(whole.timeline_s, whole.seconds, 1e-4);
    haul_machine_free(machine);
    haul_machine_free(single);
}

/* All to all of four processes a GPU: parts leave as they come, so that the timeline is never above
 * the sum of phases by more than the copies of the processes that share an engine. */
static void all_ways_of_an_all_to_all(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    for (int size = 0; size <= 20; size += 4)
        for (int kind = HAUL_EXCHANGE_ALL; kind <= HAUL_EXCHANGE_ALL_V; kind++)
            for (int way = HAUL_WAY_DIRECT; way < HAUL_WAYS; way++) {
                const haul_exchange of = {
                    .kind = (haul_exchange_kind)kind, .nodes = 8, .bytes = UINT64_C(1) << size};
                if (!haul_way_has_workload((haul_way)way))
                    continue;
                const haul_way_time time = scheduled(machine, &of, (haul_way)way);
                if (time.timeline_s > 1.15 * time.seconds || time.timeline_s < 0.6 * time.seconds)
                    fail_msg("%s of %d: %g by the timeline, %g by the formula",
                             haul_way_text(time.way, HAUL_MEMORY_DEVICE), 1 << size,
                             time.timeline_s, time.seconds);
            }
    haul_machine_free(machine);
}

/* One message between two measured sizes is on the line between them, also across protocols and
 * where more bytes take less time; further messages and other sizes go by latency, rate and gap. */
static void single_messages_go_by_what_was_measured(void **state)
{
    (void)state;
    static const char text[] =
        "haul: 1\nname: m\nsummary: s\nfrom: measured\nmessages:\n"
        "  - {memory: device, reach: network, above: 0 B, latency: 6 us, rate: 1 GB/s, gap: 1 us, "
        "points: [[1000 B, 8 us], [2000 B, 9 us]]}\n"
        "  - {memory: device, reach: network, above: 4000 B, most: 10 kB, latency: 2 us, rate: 2 "
        "GB/s, gap: 1 us, points: [[4000 B, 5 us], [8000 B, 4 us]]}\n";
    static const struct {
        uint64_t bytes;
        double seconds;
    } rows[] = {{500, 6.5e-6}, {1000, 8e-6},   {1500, 8.5e-6},
                {3000, 7e-6},  {6000, 4.5e-6}, {9000, 6.5e-6}};
    haul_machine *machine = machine_of(text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_NEAR(predicted(machine, (haul_exchange){.messages = 1, .bytes = rows[i].bytes},
                             HAUL_WAY_DIRECT)
                       .seconds,
                   rows[i].seconds, 1e-9);
    CHECK_NEAR(
        predicted(machine, (haul_exchange){.messages = 3, .bytes = 1500}, HAUL_WAY_DIRECT).seconds,
        8.5e-6 + 2 * (1e-6 + 1.5e-6), 1e-9);
    /* the interval reaches the protocol's own time, and the timeline has the same message */
    const haul_exchange between = {.messages = 1, .bytes = 3000};
    const haul_way_time time = scheduled(machine, &between, HAUL_WAY_DIRECT);
    CHECK_NEAR(time.high_s, 9e-6, 1e-9);
    CHECK_NEAR(time.low_s, 7e-6, 1e-9);
    CHECK_NEAR(time.timeline_s, 7e-6, 1e-3);
    haul_machine_free(machine);
}

/* A round of one block that is packed and unpacked ten times over at 5 GB/s; and a bundle to the
 * mate, one to the other node, one to the mate, of entries of 16 bytes and the data. */
static void ways_that_are_of_all_to_alls(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    const haul_exchange pair = {.kind = HAUL_EXCHANGE_ALL, .nodes = 2, .gpus = 1, .bytes = 40000};
    const haul_way_time bruck = predicted(machine, pair, HAUL_WAY_BRUCK);
    CHECK_NEAR(bruck.messages_s, 2e-6 + 4e-6 + 10 * 40000 / 5e9, 1e-9);
    CHECK_NEAR(bruck.copies_s, 2 * (10e-6 + 2 * 40000 / 40e9), 1e-9);
    assert_true(predicted(machine, pair, HAUL_WAY_AGGREGATED).is_impossible);
    const haul_exchange four = {.kind = HAUL_EXCHANGE_ALL_V, .nodes = 2, .gpus = 2, .bytes = 1000};
    const haul_way_time bundled = predicted(machine, four, HAUL_WAY_AGGREGATED);
    CHECK_NEAR(bundled.messages_s,
               0.8e-6 + 2032 / 10e9 + 2e-6 + 4064 / 10e9 + 0.8e-6 + 3048 / 10e9 +
                   (4 * 2032 + 2 * 1016) / 5e9,
               1e-9);
    assert_true(predicted(machine, four, HAUL_WAY_BRUCK).is_impossible);
    const haul_exchange one = {.messages = 1, .bytes = 40000};
    assert_true(predicted(machine, one, HAUL_WAY_AGGREGATED).is_impossible);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_have_names_that_are_read_back),
        cmocka_unit_test(one_message),
        cmocka_unit_test(node_rates_follow_eq_2),
        cmocka_unit_test(matrices_know_sockets),
        cmocka_unit_test(many_messages),
        cmocka_unit_test(chunks_overlap),
        cmocka_unit_test(node_limits_and_matrices),
        cmocka_unit_test(many_receivers_are_crowded),
        cmocka_unit_test(gaps_are_told),
        cmocka_unit_test(figures_are_of_the_models),
        cmocka_unit_test(single_messages_go_by_what_was_measured),
        cmocka_unit_test(timeline_and_formulas_agree),
        cmocka_unit_test(interface_is_shared),
        cmocka_unit_test(kernels_copies_and_messages_overlap),
        cmocka_unit_test(all_ways_of_an_all_to_all),
        cmocka_unit_test(ways_that_are_of_all_to_alls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
