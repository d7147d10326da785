/* The machines of the catalogue: found, whole, and true to what they cite. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/cost.h"
#include "haul/exchange.h"
#include "haul/machine.h"
#include "machine_named.h"

enum { MIB = 1 << 20 };

static double seconds(const haul_machine *machine, const char *model, const haul_copy *copy)
{
    haul_model_ref ref;
    haul_estimate estimate = {0};
    haul_error error = {0};
    char text[1200];
    if (haul_model_find(model, &ref, &error) ||
        haul_copy_time(machine, ref.model, copy, &estimate, &error))
        fail_msg("%s, %s: %s", machine->name, model, haul_error_format(&error, text, sizeof text));
    haul_model_release(&ref);
    return estimate.seconds;
}

static bool listed(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static void machines_that_people_ask_for_are_there(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "gtx-680",    "gtx-titan",  "k20",        "k40",        "titan-xk7",
        "summit",     "lassen",     "p100-pcie3", "v100-pcie3", "v100-nvlink2",
        "a100-pcie4", "h100-pcie5", "h200",       "gh200",      "mi250x-frontier",
        "mi300x",     "gb200",      "mi300a",     "mi250",      "mi355x",
        "l4",         "a10g",       "rtx-5090",   "max-1550",   "p4",
    };
    char **names;
    size_t count;
    haul_error error = {0};
    assert_int_equal(haul_catalogue_list(&names, &count, &error), HAUL_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!listed(names, count, wanted[i]))
            fail_msg("no machine '%s'", wanted[i]);
    haul_names_free(names, count);
}

static int must_have_a_source(void *state, const char *path, int dimension,
                              const haul_parameter *figure)
{
    (void)dimension;
    if (figure->provenance != HAUL_PROVENANCE_NOT_GIVEN && !figure->source)
        fail_msg("%s: %s has no source", *(const char *const *)state, path);
    return 0;
}

/* `auto` has a price for each copy over the host's link. */
static void check_copies(const haul_machine *machine)
{
    const char *name = machine->name;
    static const haul_direction directions[] = {HAUL_DIRECTION_HTOD, HAUL_DIRECTION_DTOH,
                                                HAUL_DIRECTION_DTOD};
    static const uint64_t sizes[] = {1, 4096, 65536, MIB, 64 * (uint64_t)MIB, 1024 * (uint64_t)MIB};
    for (size_t i = 0; i < 6; i++) {
        const haul_direction direction = directions[i / 2];
        haul_memory memory = i % 2 ? HAUL_MEMORY_PAGEABLE : HAUL_MEMORY_PINNED;
        if (direction == HAUL_DIRECTION_DTOD)
            memory = HAUL_MEMORY_DEVICE;
        double before = 0;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const haul_copy copy = {.bytes = sizes[k], .direction = direction, .memory = memory};
            const double now = seconds(machine, "auto", &copy);
            if (now < before)
                fail_msg("%s: %llu bytes take less than fewer do", name,
                         (unsigned long long)sizes[k]);
            before = now;
        }
    }
}

/* Every figure says where it was read, and what it is listed for can be priced: kernels on every
 * GPU, copies on all but the boards alone. */
static void check_whole(const char *name)
{
    haul_machine *machine = machine_named(name);
    assert_string_equal(machine->name, name);
    assert_non_null(machine->gpu.name);
    haul_machine_visit(machine, must_have_a_source, &name);
    const bool alone = strstr(machine->summary, "the board alone");
    assert_true(alone == !machine->link.kind);
    assert_true(alone == !machine->host.name);
    if (alone)
        assert_true(machine->gpu.clock_Hz.value > 0 && machine->gpu.memory_bandwidth_Bps.value > 0);
    else
        check_copies(machine);
    if (machine->peer.kind) /* copies between GPUs do not wait for those to the host */
        assert_true(machine->gpu.copy_engines.value > 2);
    haul_machine_free(machine);
}

static void each_machine_is_whole(void **state)
{
    (void)state;
    char **names;
    size_t count;
    haul_error error = {0};
    assert_int_equal(haul_catalogue_list(&names, &count, &error), HAUL_OK);
    for (size_t i = 0; i < count; i++)
        check_whole(names[i]);
    haul_names_free(names, count);
}

/* CCGrid 2014, Table I: T = (L+o) + nG. */
static void gtx_titan_gives_the_papers_times(void **state)
{
    (void)state;
    haul_machine *machine = machine_named("gtx-titan");
    for (uint64_t n = 16 * (uint64_t)MIB; n <= 1024 * (uint64_t)MIB; n *= 2) {
        haul_copy copy = {
            .bytes = n, .direction = HAUL_DIRECTION_HTOD, .memory = HAUL_MEMORY_PINNED};
        CHECK_NEAR(seconds(machine, "loggp", &copy), (0.009420 + 8.318392e-8 * (double)n) / 1e3,
                   1e-12);
        copy.direction = HAUL_DIRECTION_DTOH;
        CHECK_NEAR(seconds(machine, "loggp", &copy), (0.009023 + 7.924734e-8 * (double)n) / 1e3,
                   1e-12);
    }
    haul_machine_free(machine);
}

/* CCGrid 2014, Table II, in ms/byte. */
static void busy_rates_are_the_papers(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        haul_direction direction;
        double busy;
        double mapped;
    } rows[] = {
        {"k20", HAUL_DIRECTION_HTOD, 1.741965e-7, 2.491988e-7},
        {"k20", HAUL_DIRECTION_DTOH, 1.747120e-7, 2.236644e-7},
        {"gtx-titan", HAUL_DIRECTION_HTOD, 0, 1.193386e-7},
        {"gtx-titan", HAUL_DIRECTION_DTOH, 0, 1.480396e-7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_machine *machine = machine_named(rows[i].machine);
        const haul_copy_curve *curve =
            haul_machine_curve(machine, rows[i].direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
        CHECK_NEAR(1e3 / curve->mapped_rate_Bps.value, rows[i].mapped, 1e-12);
        if (rows[i].busy > 0)
            CHECK_NEAR(1e3 / curve->busy_rate_Bps.value, rows[i].busy, 1e-12);
        haul_machine_free(machine);
    }
}

/* HPEC 2021, Table II: what a host sees of a copy is alpha + beta n, for up to 512 KiB; larger ones
 * are faster near the GPU. */
static void summit_and_lassen_are_the_papers(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        haul_direction direction;
        haul_locality locality;
        double alpha;
        double beta;
    } rows[] = {
        {"summit", HAUL_DIRECTION_HTOD, HAUL_LOCALITY_NEAR, 1.09e-5, 2.38e-11},
        {"summit", HAUL_DIRECTION_DTOH, HAUL_LOCALITY_NEAR, 1.09e-5, 2.36e-11},
        {"summit", HAUL_DIRECTION_HTOD, HAUL_LOCALITY_FAR, 1.26e-5, 2.71e-11},
        {"summit", HAUL_DIRECTION_DTOH, HAUL_LOCALITY_FAR, 1.25e-5, 2.72e-11},
        {"lassen", HAUL_DIRECTION_HTOD, HAUL_LOCALITY_NEAR, 1.33e-5, 1.80e-11},
        {"lassen", HAUL_DIRECTION_DTOH, HAUL_LOCALITY_NEAR, 1.35e-5, 1.75e-11},
        {"lassen", HAUL_DIRECTION_HTOD, HAUL_LOCALITY_FAR, 1.42e-5, 2.84e-11},
        {"lassen", HAUL_DIRECTION_DTOH, HAUL_LOCALITY_FAR, 1.40e-5, 2.83e-11},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_machine *machine = machine_named(rows[i].machine);
        const haul_copy_curve *curve =
            haul_machine_curve(machine, rows[i].direction, HAUL_MEMORY_PINNED, rows[i].locality);
        CHECK_NEAR(curve->latency_s.value + curve->call_latency_s.value, rows[i].alpha, 1e-3);
        if (curve->points_from.value == 0) {
            CHECK_NEAR(1 / curve->rate_Bps.value, rows[i].beta, 1e-5);
        } else {
            const double at_s = curve->points[1].seconds - curve->points[0].seconds;
            CHECK_NEAR(at_s / curve->points[1].bytes, rows[i].beta, 1e-3);
            assert_true(curve->rate_Bps.value > 1 / rows[i].beta);
        }
        haul_machine_free(machine);
    }
}

/* Each machine with messages has one MPI's figures only, and what every way needs. */
static void machines_with_messages_have_all_ways(void **state)
{
    (void)state;
    static const char *const names[] = {"summit", "lassen", "lassen-mvapich"};
    for (size_t i = 0; i < 3; i++) {
        haul_machine *machine = machine_named(names[i]);
        haul_way_time times[HAUL_WAYS_PREDICTED];
        haul_error error;
        const haul_exchange of = {.messages = 1, .bytes = 524288, .gpus = 1};
        assert_int_equal(haul_exchange_predict(machine, &of, times, &error), HAUL_OK);
        for (int p = 0; p < HAUL_WAYS_PREDICTED; p++) {
            if (*times[p].missing)
                fail_msg("%s lacks %s", names[i], times[p].missing);
            /* 2 x 100 Gb/s */
            assert_true(times[p].is_impossible || times[p].seconds > 524288 / 25e9);
        }
        haul_machine_free(machine);
    }
}

/* BenchPress's ping-pongs of 512 KiB between nodes, which one message must take, latency once. */
static void one_large_message_takes_its_measured_time(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        double cpu_s, gpu_s;
    } rows[] = {
        {"summit", 50.6e-6, 0}, /* the GPU's 512 KiB alone took 105 us, no line through it */
        {"lassen", 45.1e-6, 45.5e-6},
        {"lassen-mvapich", 30.6e-6, 31.2e-6}};
    for (size_t i = 0; i < 3; i++) {
        haul_machine *machine = machine_named(rows[i].machine);
        haul_way_time times[HAUL_WAYS_PREDICTED];
        haul_error error;
        const haul_exchange of = {.messages = 1, .bytes = 524288, .gpus = 1};
        assert_int_equal(haul_exchange_predict(machine, &of, times, &error), HAUL_OK);
        for (int p = 0; p < HAUL_WAYS_PREDICTED; p++) {
            if (times[p].way == HAUL_WAY_THREE_STEP)
                CHECK_NEAR(times[p].messages_s, rows[i].cpu_s, 0.05);
            if (times[p].way == HAUL_WAY_DIRECT && rows[i].gpu_s > 0)
                CHECK_NEAR(times[p].messages_s, rows[i].gpu_s, 0.05);
        }
        haul_machine_free(machine);
    }
}

/* Packets with one acknowledgement share, against what was measured of three generations of PCIe:
 * gearshifft pull request 82 (P100, as printed), nvbandwidth's README (A100) and example (H100). */
static void packets_are_near_what_was_measured(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        haul_direction direction;
        double rate_Bps;
    } rows[] = {
        {"p100-pcie3", HAUL_DIRECTION_HTOD, 12.15e9},
        {"p100-pcie3", HAUL_DIRECTION_DTOH, 12.89e9},
        {"a100-pcie4", HAUL_DIRECTION_HTOD, 26.0e9},
        {"h100-pcie5", HAUL_DIRECTION_HTOD, 55.6e9},
    };
    double share = -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_machine *machine = machine_named(rows[i].machine);
        const haul_copy copy = {.bytes = 1024 * (uint64_t)MIB,
                                .direction = rows[i].direction,
                                .memory = HAUL_MEMORY_PINNED};
        const double rate = (double)copy.bytes / seconds(machine, "packet", &copy);
        CHECK_NEAR(rate, rows[i].rate_Bps, 0.10);
        assert_true(share < 0 || share == machine->link.ack_share.value);
        share = machine->link.ack_share.value;
        haul_machine_free(machine);
    }
}

/* A copy's time by the best model, with its interval. */
static haul_estimate estimate_on(const char *name, haul_copy copy)
{
    haul_machine *machine = machine_named(name);
    haul_model_ref ref;
    haul_estimate estimate;
    haul_error error;
    assert_int_equal(haul_model_find("auto", &ref, &error), HAUL_OK);
    assert_int_equal(haul_copy_time(machine, ref.model, &copy, &estimate, &error), HAUL_OK);
    haul_model_release(&ref);
    haul_machine_free(machine);
    return estimate;
}

/* Nothing is staged on a coherent machine, and two GH200 moved copies at rates three times apart:
 * the interval of pageable ones holds both the measured time (vortex pull request 7815) and that of
 * the faster one's pinned copies (nvbandwidth issue 23). */
static void pageable_copies_of_a_gh200_are_within_what_was_measured(void **state)
{
    (void)state;
    const haul_estimate estimate =
        estimate_on("gh200", (haul_copy){.direction = HAUL_DIRECTION_HTOD,
                                         .memory = HAUL_MEMORY_PAGEABLE,
                                         .bytes = UINT64_C(1) << 30});
    assert_true(estimate.low_s <= 0x1p30 / 346e9);
    assert_true(estimate.high_s >= 10.754e-3);
}

/* To the device the core that stages reads the program's memory, back it reads and writes it: a
 * host whose rates nobody published is 1 to 2 times as fast to the device. */
static void assumed_hosts_stage_faster_to_the_device(void **state)
{
    (void)state;
    static const char *const names[] = {"gtx-680", "gtx-titan",    "k40",    "titan-xk7",
                                        "lassen",  "v100-nvlink2", "summit", "lassen-mvapich"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        haul_copy copy = {.memory = HAUL_MEMORY_PAGEABLE,
                          .direction = HAUL_DIRECTION_HTOD,
                          .bytes = UINT64_C(1) << 30};
        const double there_s = estimate_on(names[i], copy).seconds;
        copy.direction = HAUL_DIRECTION_DTOH;
        const double back_s = estimate_on(names[i], copy).seconds;
        assert_true(back_s > there_s * 1.3 && back_s < there_s * 2);
    }
}

/* Copies inside a GPU whose data L2 holds may need half of the memory's traffic: the interval says
 * so, the prediction stays that of the memory. */
static void copies_that_l2_holds_may_take_half(void **state)
{
    (void)state;
    haul_copy copy = {
        .memory = HAUL_MEMORY_DEVICE, .direction = HAUL_DIRECTION_DTOD, .bytes = 8 * (uint64_t)MIB};
    const haul_estimate held = estimate_on("h100-sxm5", copy);
    assert_true(held.low_s < held.seconds * 0.65);
    assert_true(held.seconds > 8 * MIB / 1440e9);
    copy.bytes = 256 * (uint64_t)MIB;
    const haul_estimate large = estimate_on("h100-sxm5", copy);
    assert_true(large.low_s > large.seconds * 0.8);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static bool is_listed(const char *name)
{
    char **names = NULL;
    size_t count = 0;
    haul_error error;
    bool found = false;
    assert_int_equal(haul_catalogue_list(&names, &count, &error), HAUL_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(names[i - 1], names[i]) < 0);
        found |= !strcmp(names[i], name);
    }
    haul_names_free(names, count);
    return found;
}

static void the_environment_comes_first(void **state)
{
    (void)state;
    char folder[] = "/tmp/haul-machines-XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_file(folder, "zz-mine.yaml", "haul: 1\nname: zz-mine\nsummary: mine\n");
    write_file(folder, "zz-other.yaml", "haul: 1\nname: zz-mine\nsummary: mine\n");
    write_file(folder, "zz-bad.yaml", "haul: 1\nname: zz-bad\n");
    write_file(folder, "Not a name.yaml", "haul: 1\nname: zz-bad\n");
    char list[128];
    snprintf(list, sizeof list, ":/nowhere:%s::%s:", folder, folder);
    haul_machine *machine = NULL;
    haul_error error;
    assert_false(is_listed("zz-mine"));
    assert_int_equal(haul_machine_load("zz-mine", &machine, &error), HAUL_STATUS_BAD_INPUT);
    setenv("HAUL_MACHINES", list, 1);
    assert_true(is_listed("zz-mine"));
    assert_true(is_listed("zz-bad"));
    assert_false(is_listed("Not a name"));
    assert_int_equal(haul_machine_load("zz-mine", &machine, &error), HAUL_OK);
    assert_string_equal(machine->summary, "mine");
    haul_machine_free(machine);
    machine = NULL;
    assert_int_equal(haul_machine_load("zz-mien", &machine, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(
        strstr(error.text, "no machine 'zz-mien' in the catalogue; did you mean zz-mine?"));
    assert_int_equal(haul_machine_load("ZZ_Mine", &machine, &error), HAUL_OK); /* in any case */
    haul_machine_free(machine);
    machine = NULL;
    assert_int_equal(haul_machine_load("ZZ mine", &machine, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "zz-mine"));
    assert_int_equal(haul_machine_load("zz-other", &machine, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "the file's name, 'zz-other'"));
    assert_int_equal(haul_machine_load("zz-bad", &machine, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.file, "zz-bad.yaml"));
    assert_int_equal(error.line, 1);
    char path[256];
    snprintf(path, sizeof path, "%s/zz-other.yaml", folder);
    assert_int_equal(haul_machine_load(path, &machine, &error), HAUL_OK);
    haul_machine_free(machine);
    assert_int_equal(haul_machine_load("/nowhere/a.yaml", &machine, &error), HAUL_STATUS_IO);
    unsetenv("HAUL_MACHINES");
    remove_file(folder, "zz-mine.yaml");
    remove_file(folder, "zz-other.yaml");
    remove_file(folder, "zz-bad.yaml");
    remove_file(folder, "Not a name.yaml");
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_that_people_ask_for_are_there),
        cmocka_unit_test(each_machine_is_whole),
        cmocka_unit_test(gtx_titan_gives_the_papers_times),
        cmocka_unit_test(busy_rates_are_the_papers),
        cmocka_unit_test(summit_and_lassen_are_the_papers),
        cmocka_unit_test(machines_with_messages_have_all_ways),
        cmocka_unit_test(one_large_message_takes_its_measured_time),
        cmocka_unit_test(packets_are_near_what_was_measured),
        cmocka_unit_test(pageable_copies_of_a_gh200_are_within_what_was_measured),
        cmocka_unit_test(assumed_hosts_stage_faster_to_the_device),
        cmocka_unit_test(copies_that_l2_holds_may_take_half),
        cmocka_unit_test(the_environment_comes_first),
    };
    unsetenv("HAUL_MACHINES");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
