/* Ways of an exchange beside what is computed by hand. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "comm/counts.h"

/* Host messages: 2 us + n / 10 GB/s, gap 0.5 us; the GPU's: 6 us + n / 10 GB/s, gap 5 us; within a
 * socket 0.4 us + n / 20 GB/s; a node sends 10 GB/s from one process and 20 from two and more;
 * copies 10 us + n / 40 GB/s, by several processes 2 us more for each, 25 GB/s together. */
static const char yaml[] =
    "haul: 1\nname: m\nsummary: s\nfrom: measured\nhost: {sockets: 2, cores: 8}\n"
    "gpu: {count: 2}\n"
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

static haul_path_time predicted(const haul_machine *machine, haul_exchange exchange, haul_path path)
{
    haul_path_time times[HAUL_PATHS];
    haul_error error = {0};
    if (haul_exchange_predict(machine, &exchange, times, &error))
        fail_msg("%s", error.text);
    for (int i = 0; i < HAUL_PATHS; i++) {
        assert_true(i == 0 || *times[i].missing || times[i].seconds >= times[i - 1].seconds);
        if (times[i].path == path)
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
    CHECK_NEAR(predicted(machine, of, HAUL_PATH_DIRECT).seconds, 6e-6 + 4e-6, 1e-9);
    CHECK_NEAR(predicted(machine, of, HAUL_PATH_THREE_STEP).seconds, 2 * 11e-6 + 2e-6 + 4e-6, 1e-9);
    /* four cores: 10 kB to each of three others and back, one message of 10 kB from each at 20 GB/s
     */
    const haul_path_time extra = predicted(machine, of, HAUL_PATH_EXTRA_MESSAGE);
    assert_int_equal(extra.processes, 4);
    CHECK_NEAR(extra.spread_s, 6 * (0.4e-6 + 0.5e-6), 1e-9);
    CHECK_NEAR(extra.messages_s, 2e-6 + 40000 / 20e9, 1e-9);
    /* the last of four copies, then its message; behind it one process's copy */
    const haul_path_time shared = predicted(machine, of, HAUL_PATH_DUPLICATE_POINTER);
    CHECK_NEAR(shared.seconds, 10e-6 + 6e-6 + 1.6e-6 + 2e-6 + 1e-6 + 10e-6 + 0.25e-6, 1e-9);
    haul_machine_free(machine);
}

/* The copy is one, whatever the number of messages, and of data sent to several it is less. */
static void many_messages(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    haul_exchange of = {.messages = 10, .bytes = 4000};
    CHECK_NEAR(predicted(machine, of, HAUL_PATH_DIRECT).seconds, 6e-6 + 9 * 5e-6 + 10 * 0.4e-6,
               1e-9);
    const double sent_s = 2e-6 + 9 * 0.5e-6 + 10 * 0.4e-6;
    CHECK_NEAR(predicted(machine, of, HAUL_PATH_THREE_STEP).seconds, sent_s + 2 * 11e-6, 1e-9);
    of.unique_bytes = 4000;
    CHECK_NEAR(predicted(machine, of, HAUL_PATH_THREE_STEP).seconds, sent_s + 10.1e-6 + 11e-6,
               1e-9);
    haul_machine_free(machine);
}

/* A chunk's stages are 10 us and more each: a large message gains, a small one does not. */
static void chunks_overlap(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    const haul_exchange large = {.messages = 1, .bytes = 1 << 20};
    const haul_path_time chunked = predicted(machine, large, HAUL_PATH_CHUNKED);
    const double whole = predicted(machine, large, HAUL_PATH_THREE_STEP).seconds;
    assert_true(chunked.chunks > 1 && chunked.seconds < 0.9 * whole);
    const double n = chunked.chunks, chunk = (1 << 20) / n;
    const double copy_s = 10e-6 + chunk / 40e9, sent_s = 2e-6 + chunk / 10e9;
    CHECK_NEAR(chunked.seconds, 2 * copy_s + sent_s + (n - 1) * fmax(copy_s, sent_s), 1e-3);
    haul_machine_free(machine);
}

static void node_limits_and_matrices(void **state)
{
    (void)state;
    haul_machine *machine = machine_of(yaml);
    /* 2 nodes of 2 GPUs: two messages to the other node, one within; the node sends 4 of 1 MB */
    haul_exchange of = {.kind = HAUL_EXCHANGE_ALL_V, .nodes = 2, .bytes = 1000000};
    const haul_path_time all = predicted(machine, of, HAUL_PATH_THREE_STEP);
    CHECK_NEAR(all.messages_s, 2e-6 + 0.5e-6 + 2 * 1e-4 + 0.8e-6 + 1e-4, 1e-6);
    /* the same as a matrix; then one GPU with all of it */
    uint64_t counts[16];
    haul_error error = {0};
    assert_int_equal(haul_counts_parse("1 2 3 x", "c", 4, counts, &error), HAUL_BAD_INPUT);
    assert_int_equal(error.column, 7);
    const char *text = "1MB 1MB 1MB 1MB\n1MB,1MB,1MB,1MB\n\n1MB 1MB 1MB 1MB\n1MB 1MB 1MB 1MB";
    assert_int_equal(haul_counts_parse(text, "c", 4, counts, &error), HAUL_OK);
    of.counts = counts;
    CHECK_NEAR(predicted(machine, of, HAUL_PATH_THREE_STEP).messages_s, all.messages_s, 1e-6);
    error = (haul_error){0};
    assert_int_equal(haul_counts_parse("1 2 3 4\n1 2 3\n", "c", 4, counts, &error), HAUL_BAD_INPUT);
    assert_int_equal(error.line, 2);
    haul_machine_free(machine);
}

/* What the machine lacks is named; sizes beyond the measured ones are told. */
static void gaps_are_told(void **state)
{
    (void)state;
    static const char bare[] = "haul: 1\nname: m\nsummary: s\nfrom: measured\nmessages:\n"
                               "  - {memory: device, reach: network, above: 0 B, most: 1 KiB, "
                               "latency: 6 us}\n";
    haul_machine *machine = machine_of(bare);
    const haul_exchange of = {.messages = 2, .bytes = 4096};
    const haul_path_time direct = predicted(machine, of, HAUL_PATH_DIRECT);
    CHECK_NEAR(direct.seconds, 12e-6, 1e-9); /* no gap: a latency each (eq. 3) */
    assert_true(direct.largest_bytes == 4096 && direct.measured_bytes == 1024);
    const haul_path_time three = predicted(machine, of, HAUL_PATH_THREE_STEP);
    assert_true(isnan(three.seconds) && *three.missing);
    haul_path_time times[HAUL_PATHS];
    haul_error error = {0};
    const haul_exchange none = {.messages = 0, .bytes = 1};
    assert_int_equal(haul_exchange_predict(machine, &none, times, &error), HAUL_BAD_INPUT);
    haul_machine_free(machine);
    machine = machine_of("haul: 1\nname: m\nsummary: s\n");
    assert_int_equal(haul_exchange_predict(machine, &of, times, &error), HAUL_MISSING);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_message),    cmocka_unit_test(many_messages),
        cmocka_unit_test(chunks_overlap), cmocka_unit_test(node_limits_and_matrices),
        cmocka_unit_test(gaps_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
