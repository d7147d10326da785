/* Compares what haul measure writes with simulated machines whose parameters are known: random
 * ones, and all of the catalogue, at sizes that nothing was fitted to. With two arguments, a number
 * and a seed, so many machines of that seed. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/cost.h"
#include "haul/device.h"
#include "haul/measure.h"
#include "measure/copies.h"

static haul_error problem;

#define MUST(status)                                                                               \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", problem.text);                                                          \
    } while (0)

/* xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016 */
static uint64_t random_state;

static double draw(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)((random_state * 0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

/* Between two bounds, evenly by logarithm. */
static double draw_between(double low, double high)
{
    return low * pow(high / low, draw());
}

/* A machine's file with a draw of everything that its copies have. */
static haul_machine *draw_machine(void)
{
    char text[4096];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "haul: 1\nname: drawn\nsummary: drawn at random\nfrom: measured\nsource: a draw\n"
        "gpu: {name: Drawn, count: 1, copy_engines: %d, memory: 16 GiB, memory_bandwidth: 900 "
        "GB/s, "
        "fp32: 10 Tflop/s, launch_latency: 2 us}\ncopies:\n",
        draw() < 0.3 ? 1 : 2);
    for (int i = 0; i < 2; i++) {
        const char *direction = i ? "DtoH" : "HtoD";
        const double rate = draw_between(2e9, 200e9), latency = draw_between(0.3e-6, 40e-6);
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "  - {direction: %s, memory: pinned, latency: %.4g us, rate: %.6g GB/s, gap: %.3g us, "
            "busy_rate: %.6g GB/s}\n",
            direction, 1e6 * latency, 1e-9 * rate, 1e6 * draw_between(0.2e-6, 5e-6),
            1e-9 * rate * (0.5 + 0.5 * draw()));
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {direction: %s, memory: pageable, latency: %.4g us, "
                                 "threshold: %.0f KiB, small_rate: %.6g GB/s",
                                 direction, 1e6 * latency,
                                 draw() < 0.2 ? 0 : floor(draw_between(1, 4096)),
                                 1e-9 * rate * (0.4 + 0.6 * draw()));
        const double host = rate * draw_between(0.05, 3);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 ", host_rate: %.6g GB/s, cache: %.0f KiB, memory_rate: %.6g GB/s",
                                 1e-9 * host, floor(draw_between(512, 40960)),
                                 1e-9 * host * (0.4 + 0.5 * draw()));
        if (draw() < 0.6)
            used += (size_t)snprintf(
                text + used, sizeof text - used, ", chunk: %.0f KiB, gap: %.3g us",
                floor(draw_between(16, 8192)), draw() < 0.3 ? 0 : 0.5 + 4 * draw());
        used += (size_t)snprintf(text + used, sizeof text - used, "}\n");
    }
    haul_machine *machine;
    MUST(haul_machine_parse(text, used, "drawn", &machine, &problem));
    return machine;
}

/* The largest error of copies of 1 B to 1 GiB, in percent, and at which size. */
static double worst_copy(const haul_machine *truth, const haul_machine *found,
                         haul_direction direction, haul_memory memory, uint64_t *at)
{
    double worst = 0;
    for (double bytes = 1; bytes <= 0x1p30; bytes *= 1.0917) {
        const haul_copy copy = {(uint64_t)bytes, direction, memory, HAUL_LOCALITY_NEAR};
        haul_estimate real, estimate;
        if (haul_copy_time(truth, NULL, &copy, &real, NULL) ||
            haul_copy_time(found, NULL, &copy, &estimate, NULL))
            continue;
        const double off = 100 * fabs(estimate.seconds / real.seconds - 1);
        if (off > worst) {
            worst = off;
            *at = copy.bytes;
        }
    }
    return worst;
}

static haul_machine *measure(haul_device *device, haul_measurement *made, unsigned parts,
                             uint64_t largest_bytes)
{
    const haul_measure_options options = {.parts = parts, .largest_bytes = largest_bytes};
    MUST(haul_measurement_make(device, &options, made, &problem));
    return made->machine;
}

static double off_by(const haul_parameter *truth, const haul_parameter *found)
{
    if (truth->value == 0)
        return found->provenance && found->value == 0 ? 0 : 100;
    return found->provenance ? 100 * fabs(found->value / truth->value - 1) : 100;
}

typedef struct staging_errors {
    unsigned asked;  /* parameters that copies show */
    unsigned off;    /* of those, by more than 1 % */
    unsigned silent; /* those that copies do not show, are off, and no note says so */
} staging_errors;

/* Whether a percent more or less of some parameters changes the time of a copy of the sizes from 1
 * B to 64 MiB, which are measured, by more than the clock's rounding. */
static bool changes_copies(haul_machine *truth, haul_direction direction,
                           haul_parameter *const *parameters, size_t count, double factor)
{
    bool changes = false;
    const haul_copy_curve *own =
        haul_machine_curve(truth, direction, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR);
    const double around[] = {own->threshold_bytes.value, own->cache_bytes.value};
    for (double at = 0; at <= 0x1p26 && !changes; at = at < 64 ? at + 1 : at * 1.003) {
        const double bytes = at < 1   ? around[0] * 0.996
                             : at < 2 ? around[0] * 1.004
                             : at < 3 ? around[1] * 0.996
                             : at < 4 ? around[1] * 1.004
                                      : at;
        const haul_copy copy = {(uint64_t)bytes, direction, HAUL_MEMORY_PAGEABLE,
                                HAUL_LOCALITY_NEAR};
        haul_estimate before, after;
        MUST(haul_copy_time(truth, NULL, &copy, &before, &problem));
        for (size_t i = 0; i < count; i++)
            parameters[i]->value *= factor;
        MUST(haul_copy_time(truth, NULL, &copy, &after, &problem));
        for (size_t i = 0; i < count; i++)
            parameters[i]->value /= factor;
        changes = fabs(after.seconds - before.seconds) > 1e-9;
    }
    return changes;
}

/* A parameter that no copy shows is not asked for: a rate of the host above the link's, a threshold
 * between two rates that are alike, a chunk of which only the time that it takes is seen. */
static bool is_shown(haul_machine *truth, haul_direction direction, const haul_parameter *parameter,
                     const haul_copy_curve *own)
{
    haul_parameter *const one[] = {(haul_parameter *)parameter};
    haul_parameter *const together[] = {(haul_parameter *)&own->chunk_bytes,
                                        (haul_parameter *)&own->host_rate_Bps,
                                        (haul_parameter *)&own->memory_rate_Bps};
    if (!parameter->provenance || !changes_copies(truth, direction, one, 1, 1.01) ||
        !changes_copies(truth, direction, one, 1, 0.99))
        return false;
    for (size_t i = 0; i < 3; i++)
        if (one[0] == together[i] && own->chunk_bytes.provenance)
            return changes_copies(truth, direction, together, 3, 1.01) &&
                   changes_copies(truth, direction, together, 3, 0.99);
    return true;
}

/* Whether a note of the measurement says that copies do not tell a parameter. */
static bool is_named(const haul_measurement *made, haul_direction direction, const char *name)
{
    for (size_t i = 0; i < made->note_count; i++)
        if (!strncmp(made->notes[i], haul_direction_text(direction), 4) &&
            strstr(made->notes[i], "no copy tells") && strstr(made->notes[i], name))
            return true;
    return false;
}

static void compare_staging(haul_machine *truth, const haul_measurement *made,
                            haul_direction direction, staging_errors *errors)
{
    const haul_machine *found = made->machine;
    const haul_copy_curve *own =
        haul_machine_curve(truth, direction, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR);
    const haul_copy_curve *curve =
        haul_machine_curve(found, direction, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR);
    const struct {
        const char *name;
        const haul_parameter *truth, *found;
    } each[] = {
        {"threshold", &own->threshold_bytes, &curve->threshold_bytes},
        {"small_rate", &own->small_rate_Bps, &curve->small_rate_Bps},
        {"host_rate", &own->host_rate_Bps, &curve->host_rate_Bps},
        {"memory_rate", &own->memory_rate_Bps, &curve->memory_rate_Bps},
        {"cache", &own->cache_bytes, &curve->cache_bytes},
        {"chunk", &own->chunk_bytes, &curve->chunk_bytes},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const bool is_right = off_by(each[i].truth, each[i].found) <= 1;
        if (!is_right && is_named(made, direction, each[i].name))
            continue;
        if (!is_right && !is_shown(truth, direction, each[i].truth, own)) {
            errors->silent += each[i].found->provenance != HAUL_PROVENANCE_NOT_GIVEN;
            continue;
        }
        errors->asked++;
        if (is_right)
            continue;
        errors->off++;
        printf("  %s %s: %g for %g\n", haul_direction_text(direction), each[i].name,
               each[i].found->provenance ? each[i].found->value : 0, each[i].truth->value);
    }
}

/* Parameters that every device shows: of pinned copies. */
static void compare_pinned(const haul_machine *truth, const haul_machine *found,
                           haul_direction direction, unsigned *off, unsigned *asked)
{
    const haul_copy_curve *own =
        haul_machine_curve(truth, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    const haul_copy_curve *curve =
        haul_machine_curve(found, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    haul_parameter gap = own->gap_s; /* a copy behind another waits no longer than one by itself */
    gap.value = fmin(gap.value, own->latency_s.value);
    const double errors[] = {
        off_by(&own->latency_s, &curve->latency_s), off_by(&own->rate_Bps, &curve->rate_Bps),
        off_by(&gap, &curve->gap_s),
        truth->gpu.copy_engines.value > 1 ? off_by(&own->busy_rate_Bps, &curve->busy_rate_Bps) : 0};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        ++*asked;
        *off += errors[i] > 1;
    }
}

/* Every command reads the files that measure writes; and the true time of a copy lies in its
 * interval. */
static void check_file(const haul_machine *truth, const haul_machine *found)
{
    haul_machine *again;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    MUST(haul_machine_write(found, out, &problem));
    fclose(out);
    MUST(haul_machine_parse(text, size, "measured.yaml", &again, &problem));
    const haul_copy copy = {12345678, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE,
                            HAUL_LOCALITY_NEAR};
    haul_estimate real, estimate;
    MUST(haul_copy_time(truth, NULL, &copy, &real, &problem));
    MUST(haul_copy_time(again, NULL, &copy, &estimate, &problem));
    assert_true(estimate.low_s <= real.seconds && real.seconds <= estimate.high_s);
    haul_machine_free(again);
    free(text);
}

static unsigned compare_copies(int number, const haul_machine *truth, const haul_machine *found)
{
    unsigned wrong = 0;
    for (int d = 0; d < 2; d++)
        for (int m = 0; m < 2; m++) {
            uint64_t at = 0;
            const haul_memory memory = m ? HAUL_MEMORY_PAGEABLE : HAUL_MEMORY_PINNED;
            const double worst = worst_copy(truth, found, (haul_direction)d, memory, &at);
            wrong += worst > 1;
            if (worst > 1)
                printf("%d: %s %s off by %.1f %% at %llu bytes\n", number,
                       haul_direction_text((haul_direction)d), haul_memory_text(memory), worst,
                       (unsigned long long)at);
        }
    return wrong;
}

static int machines = SWEEP(60);
static uint64_t seed = 20260607;

static void random_machines_are_recovered(void **state)
{
    (void)state;
    unsigned wrong = 0, pinned_off = 0, pinned = 0;
    staging_errors staging = {0};
    random_state = seed;
    for (int i = 0; i < machines; i++) {
        haul_machine *truth = draw_machine();
        haul_device *device;
        haul_measurement made;
        const haul_device_options options = {.machine = truth, .without_data = true};
        MUST(haul_device_open("sim:drawn", &options, &device, &problem));
        const haul_machine *found = measure(device, &made, HAUL_MEASURE_TRANSFERS, 0);
        assert_true(found->gpu.copy_engines.value == truth->gpu.copy_engines.value);
        wrong += compare_copies(i, truth, found);
        for (int d = 0; d < 2; d++) {
            compare_staging(truth, &made, (haul_direction)d, &staging);
            compare_pinned(truth, found, (haul_direction)d, &pinned_off, &pinned);
        }
        check_file(truth, found);
        haul_measurement_release(&made);
        haul_device_close(device);
        haul_machine_free(truth);
    }
    printf("%u of %u kinds of copies off by more than 1 %%; %u of %u parameters of staging, %u of "
           "%u of pinned copies; %u off that no copy shows and no note names\n",
           wrong, 4 * (unsigned)machines, staging.off, staging.asked, pinned_off, pinned,
           staging.silent);
    assert_int_equal(wrong, 0);
    assert_in_range(staging.off, 0, staging.asked / 1000);
    assert_int_equal(pinned_off, 0);
    assert_in_range(staging.silent, 0, (unsigned)machines / 100);
}

/* Pageable copies with parameters that no copy tells from others; each is named. */
static void expect_named(const char *pinned, const char *pageable, const char *const names[])
{
    char text[1024];
    haul_machine *truth;
    haul_device *device;
    haul_measurement made;
    const int used =
        snprintf(text, sizeof text,
                 "haul: 1\nname: drawn\nsummary: by hand\nfrom: measured\nsource: a test\n"
                 "gpu: {name: Drawn, count: 1, copy_engines: 2, memory: 16 GiB}\ncopies:\n"
                 "  - {direction: DtoH, memory: pinned, latency: 5 us, %s}\n"
                 "  - {direction: DtoH, memory: pageable, latency: 5 us, %s}\n",
                 pinned, pageable);
    MUST(haul_machine_parse(text, (size_t)used, "drawn", &truth, &problem));
    const haul_device_options options = {.machine = truth, .without_data = true};
    MUST(haul_device_open("sim:drawn", &options, &device, &problem));
    measure(device, &made, HAUL_MEASURE_TRANSFERS, 0);
    for (; *names; names++)
        if (!is_named(&made, HAUL_DIRECTION_DTOH, *names))
            fail_msg("no note says that no copy tells %s", *names);
    haul_measurement_release(&made);
    haul_device_close(device);
    haul_machine_free(truth);
}

static void what_no_copy_tells_is_named(void **state)
{
    (void)state;
    /* all copies go at the link's rate, to which copies of a few us are sure to parts in 100,000;
     * those from memory begin with a chunk that takes longer: as if from a threshold on */
    const char *const end_of_cache[] = {"threshold", "small_rate", "chunk", "memory_rate", NULL};
    expect_named("rate: 72.582 GB/s, gap: 1 us",
                 "threshold: 0 KiB, host_rate: 156.702 GB/s, cache: 1644 KiB, memory_rate: 98.6329 "
                 "GB/s, chunk: 3059 KiB, gap: 0 us",
                 end_of_cache);
    /* a cache below the threshold is not seen, and memory faster than the link shows the time of
     * the first chunk alone */
    const char *const first_chunk[] = {"chunk", "memory_rate", NULL};
    expect_named("rate: 8.28034 GB/s, gap: 1 us",
                 "threshold: 825 KiB, small_rate: 3.35969 GB/s, host_rate: 15.7334 GB/s, cache: "
                 "787 KiB, memory_rate: 14.0336 GB/s, chunk: 1259 KiB, gap: 0 us",
                 first_chunk);
}

/* Noise and faults of a driver, put where the parts of a measurement leave what they found. */
static void nothing_implausible_is_written(void **state)
{
    (void)state;
    haul_device *device;
    const haul_device_options no_data = {.without_data = true};
    MUST(haul_device_open("sim:k20", &no_data, &device, &problem));
    hl_measure_session *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->device = device;
    const haul_parameter negative = {-153e-9, HAUL_PROVENANCE_MEASURED, "noise"};
    const haul_parameter endless = {(double)INFINITY, HAUL_PROVENANCE_MEASURED, "noise"};
    const haul_parameter none = {(double)NAN, HAUL_PROVENANCE_MEASURED, "noise"};
    const haul_parameter fast = {500e9, HAUL_PROVENANCE_MEASURED, "noise"};
    const haul_parameter usual = {6e9, HAUL_PROVENANCE_MEASURED, "noise"};
    self->curve_count = 2;
    self->curves[0] = (haul_copy_curve){.direction = HAUL_DIRECTION_HTOD,
                                        .memory = HAUL_MEMORY_PINNED,
                                        .latency_s = none,
                                        .gap_s = negative,
                                        .rate_Bps = usual,
                                        .busy_rate_Bps = fast,
                                        .points_from = {2, HAUL_PROVENANCE_MEASURED, "noise"},
                                        .points = {{1, 0}, {2, 1e-6}}};
    self->curves[1] = (haul_copy_curve){
        .direction = HAUL_DIRECTION_DTOD, .memory = HAUL_MEMORY_DEVICE, .rate_Bps = fast};
    self->machine.name = "noisy";
    self->machine.summary = "noise";
    self->machine.gpu.memory_bandwidth_Bps = fast;
    self->machine.gpu.fp32_flops = endless;
    self->machine.gpu.kernel_gap_s = negative;
    hl_measure_check_plausible(self);
    assert_true(self->curves[0].gap_s.provenance && self->curves[0].gap_s.value == 0);
    assert_false(self->curves[0].latency_s.provenance);
    assert_false(self->curves[0].points_from.provenance);
    assert_true(self->curves[0].busy_rate_Bps.value == 6e9);
    assert_true(self->curves[1].rate_Bps.value == 104e9); /* half of a K20's 208 GB/s */
    assert_true(self->machine.gpu.memory_bandwidth_Bps.value == 208e9);
    assert_false(self->machine.gpu.fp32_flops.provenance);
    assert_true(self->machine.gpu.kernel_gap_s.value == 0);
    assert_int_equal(self->made.note_count, 8);
    /* and a file of it is read */
    haul_machine *made, *again;
    char *text = NULL;
    size_t size = 0;
    MUST(haul_machine_with_copies(&self->machine, self->curves, 2, &made, &problem));
    FILE *out = open_memstream(&text, &size);
    MUST(haul_machine_write(made, out, &problem));
    fclose(out);
    MUST(haul_machine_parse(text, size, "noisy.yaml", &again, &problem));
    haul_machine_free(again);
    haul_machine_free(made);
    free(text);
    free(self);
    haul_device_close(device);
}

/* Both engines are busy though each direction takes nearly all of the link: 4.62 GB/s alone, 2.54
 * with the other, and 25 against 11. On one engine the second copy has all of its time left. */
static void engines_show_in_what_is_hidden(void **state)
{
    (void)state;
    const double alike[2] = {1, 1};
    assert_true(hl_measure_hidden_share(0.01, alike) > HL_MEASURE_HIDDEN_LEAST);
    assert_true(hl_measure_hidden_share(0.56, alike) > HL_MEASURE_HIDDEN_LEAST);
    assert_true(hl_measure_hidden_share(-0.56, alike) > HL_MEASURE_HIDDEN_LEAST);
    assert_true(hl_measure_hidden_share(1, alike) < HL_MEASURE_HIDDEN_LEAST);
    assert_true(hl_measure_hidden_share(-0.97, alike) < HL_MEASURE_HIDDEN_LEAST);
    /* a short one is hidden in a long one, whichever ends last */
    const double unlike[2] = {10, 1};
    assert_true(hl_measure_hidden_share(-9, unlike) > HL_MEASURE_HIDDEN_LEAST);
    assert_true(hl_measure_hidden_share(-10, unlike) < HL_MEASURE_HIDDEN_LEAST);
    assert_true(hl_measure_hidden_share(1, unlike) < HL_MEASURE_HIDDEN_LEAST);
}

static void the_catalogue_is_predicted(void **state)
{
    (void)state;
    char **names;
    size_t count, wrong = 0;
    MUST(haul_catalogue_list(&names, &count, &problem));
    /* under a sanitizer, whose work grows with the gigabytes of buffers, each fifth of them */
    for (size_t i = 0; i < count; i += 60 / SWEEP(60)) {
        char name[96];
        haul_machine *truth;
        haul_device *device;
        haul_measurement made;
        const haul_device_options no_data = {.without_data = true};
        snprintf(name, sizeof name, "sim:%s", names[i]);
        MUST(haul_machine_load(names[i], &truth, &problem));
        if (!haul_device_open(name, &no_data, &device, NULL)) {
            const haul_measure_options options = {.parts = HAUL_MEASURE_TRANSFERS};
            if (!haul_measurement_make(device, &options, &made, NULL)) {
                double worst = 0;
                uint64_t at = 0;
                for (int d = 0; d < 2; d++)
                    worst = fmax(worst, worst_copy(truth, made.machine, (haul_direction)d,
                                                   HAUL_MEMORY_PAGEABLE, &at));
                wrong += worst > 1;
                if (worst > 1)
                    printf("%s: pageable off by %.1f %% at %llu bytes\n", names[i], worst,
                           (unsigned long long)at);
                haul_measurement_release(&made);
            }
            haul_device_close(device);
        }
        haul_machine_free(truth);
    }
    printf("%zu of %zu machines off by more than 1 %%\n", wrong, count);
    assert_int_equal(wrong, 0);
    haul_names_free(names, count);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        machines = atoi(argv[1]);
        seed = strtoull(argv[2], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_machines_are_recovered),
        cmocka_unit_test(what_no_copy_tells_is_named),
        cmocka_unit_test(the_catalogue_is_predicted),
        cmocka_unit_test(nothing_implausible_is_written),
        cmocka_unit_test(engines_show_in_what_is_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
