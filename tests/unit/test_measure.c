/* haul measure on machines whose parameters are known, and its journal. */
#include "check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "haul/cost.h"
#include "haul/measure.h"
#include "measure/session.h"

static haul_error problem;

#define MUST(status)                                                                               \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", problem.text);                                                          \
    } while (0)

/* The worst relative deviation, in percent, of what a machine's file gives. */
typedef struct worst {
    unsigned staging; /* parameters of it that were found */
    double percent;
    char what[128];
} worst;

static void compare(worst *self, const char *machine, const char *what, const haul_parameter *truth,
                    const haul_parameter *found)
{
    if (!truth->provenance || !(truth->value > 0))
        return;
    const double off = found->provenance ? 100 * fabs(found->value / truth->value - 1) : 100;
    if (off <= self->percent)
        return;
    self->percent = off;
    snprintf(self->what, sizeof self->what, "%s of %s: %g for %g", what, machine, found->value,
             truth->value);
}

/* Limits that show in times: a rate of the host below the link's, a cache below the largest copy.
 */
static void compare_staging(worst *self, const char *name, const haul_copy_curve *truth,
                            const haul_copy_curve *found, const haul_parameter *link)
{
    /* a host that is faster than the link is found as fast as that */
    haul_parameter host = truth->host_rate_Bps, memory = truth->memory_rate_Bps;
    if (link->provenance) {
        host.value = fmin(host.value, link->value);
        memory.value = fmin(memory.value, link->value);
    }
    const struct {
        const char *what;
        const haul_parameter *truth, *found;
    } each[] = {{"threshold", &truth->threshold_bytes, &found->threshold_bytes},
                {"rate from cache", &host, &found->host_rate_Bps},
                {"cache", &truth->cache_bytes, &found->cache_bytes},
                {"rate from memory", &memory, &found->memory_rate_Bps}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (each[i].found->provenance) {
            compare(self, name, each[i].what, each[i].truth, each[i].found);
            self->staging++;
        }
}

static void compare_curves(worst *self, const char *name, const haul_machine *truth,
                           const haul_machine *found)
{
    for (size_t i = 0; i < found->copy_count; i++) {
        const haul_copy_curve *copy = &found->copies[i];
        const haul_copy_curve *own =
            haul_machine_curve(truth, copy->direction, copy->memory, HAUL_LOCALITY_NEAR);
        if (!own)
            continue;
        if (copy->memory == HAUL_MEMORY_PAGEABLE) {
            const haul_copy_curve *pinned =
                haul_machine_curve(found, copy->direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
            compare_staging(self, name, own, copy, &pinned->rate_Bps);
            continue;
        }
        if (!own->points_from.provenance) {
            compare(self, name, "latency", &own->latency_s, &copy->latency_s);
            compare(self, name, "rate", &own->rate_Bps, &copy->rate_Bps);
        }
        compare(self, name, "gap", &own->gap_s, &copy->gap_s);
        if (found->gpu.copy_engines.value > 1)
            compare(self, name, "busy rate", &own->busy_rate_Bps, &copy->busy_rate_Bps);
        compare(self, name, "rate beside mapped memory", &own->mapped_rate_Bps,
                &copy->mapped_rate_Bps);
    }
}

/* Two engines or more cannot be told apart by copies to and from one GPU. */
static void compare_engines(const haul_machine *truth, const haul_machine *found, size_t peers)
{
    if (found->gpu.implicit_sync.provenance && truth->gpu.implicit_sync.provenance)
        assert_int_equal(found->gpu.implicit_sync.value, truth->gpu.implicit_sync.value);
    if (found->gpu.copy_engines.provenance)
        assert_int_equal(found->gpu.copy_engines.value > 1, truth->gpu.copy_engines.value > 1);
    if (peers)
        assert_int_equal(found->gpu.copy_engines.value, truth->gpu.copy_engines.value);
    if (peers && truth->gpu.per_link.provenance)
        assert_int_equal(found->gpu.per_link.value, truth->gpu.per_link.value);
}

/* Write-combined memory and rows go at the pinned rate on a simulated machine, mapped memory as
 * well. */
static void compare_findings(worst *self, const char *name, const haul_machine *truth,
                             const haul_measurement *made)
{
    static const struct {
        const char *what;
        haul_direction direction;
        haul_memory memory;
    } own[] = {{"HtoD ", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED},
               {"DtoH ", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED},
               {"mapped memory that a kernel reads", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED},
               {"mapped memory that a kernel writes", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED},
               {"sim:", HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE}};
    for (size_t i = 0; i < made->finding_count; i++)
        for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
            const haul_finding *finding = &made->findings[i];
            const haul_copy_curve *curve =
                haul_machine_curve(truth, own[k].direction, own[k].memory, HAUL_LOCALITY_NEAR);
            const haul_parameter found = {finding->value, HAUL_PROVENANCE_MEASURED, NULL};
            if (curve && !curve->points_from.provenance &&
                !strncmp(finding->what, own[k].what, strlen(own[k].what)))
                compare(self, name, finding->what, &curve->rate_Bps, &found);
        }
}

static void compare_kernels(worst *self, const char *name, const haul_machine *truth,
                            const haul_machine *found)
{
    const haul_gpu *own = &truth->gpu, *gpu = &found->gpu;
    compare(self, name, "launch latency", &own->launch_latency_s, &gpu->launch_latency_s);
    compare(self, name, "gap between kernels", &own->kernel_gap_s, &gpu->kernel_gap_s);
    compare(self, name, "bandwidth", &own->memory_bandwidth_Bps, &gpu->memory_bandwidth_Bps);
    compare(self, name, "single peak", &own->fp32_flops, &gpu->fp32_flops);
    compare(self, name, "double peak", &own->fp64_flops, &gpu->fp64_flops);
}

static void measure_simulated(const char *name, worst *parameters, worst *times)
{
    char device_name[96];
    haul_machine *truth;
    haul_device *device, *peers[HAUL_MEASURE_PEERS_MOST] = {NULL};
    size_t peer_count = 0;
    static haul_measurement made;
    snprintf(device_name, sizeof device_name, "sim:%s", name);
    MUST(haul_machine_load(name, &truth, &problem));
    const haul_device_options no_data = {.without_data = true};
    if (haul_device_open(device_name, &no_data, &device, &problem) == HAUL_STATUS_MISSING) {
        printf("%s: %s\n", name, problem.text);
        haul_machine_free(truth);
        return;
    }
    for (size_t i = 0; i < HAUL_MEASURE_PEERS_MOST; i++, peer_count++) {
        snprintf(device_name, sizeof device_name, "sim:%s:%zu", name, i + 1);
        if (haul_device_open(device_name, &(haul_device_options){.beside = device}, &peers[i],
                             NULL))
            break;
    }
    const haul_measure_options options = {
        .verify = true, .peers = peers, .peer_count = peer_count, .largest_bytes = 256 << 20};
    const haul_status status = haul_measurement_make(device, &options, &made, &problem);
    if (status == HAUL_STATUS_MISSING) {
        printf("%s: %s\n", name, problem.text);
        assert_int_equal(truth->copy_count, 0);
        for (size_t i = 0; i < peer_count; i++)
            haul_device_close(peers[i]);
        haul_device_close(device);
        haul_machine_free(truth);
        return;
    }
    MUST(status);
    compare_curves(parameters, name, truth, made.machine);
    compare_kernels(parameters, name, truth, made.machine);
    compare_engines(truth, made.machine, peer_count);
    compare_findings(parameters, name, truth, &made);
    for (size_t i = 0; i < made.verified_count; i++)
        if (made.verified[i].error.median > times->percent) {
            times->percent = made.verified[i].error.median;
            snprintf(times->what, sizeof times->what, "%s %s of %s",
                     haul_direction_text(made.verified[i].direction),
                     haul_memory_text(made.verified[i].memory), name);
        }
    for (size_t i = 0; i < made.stream_count; i++) {
        const double off = 100 * fabs(made.streams[i].predicted_s / made.streams[i].seconds - 1);
        if (off > times->percent) {
            times->percent = off;
            snprintf(times->what, sizeof times->what, "%u streams %s of %s",
                     made.streams[i].streams, haul_direction_text(made.streams[i].direction), name);
        }
    }
    haul_measurement_release(&made);
    for (size_t i = 0; i < peer_count; i++)
        haul_device_close(peers[i]);
    haul_device_close(device);
    haul_machine_free(truth);
}

static void every_machine_gives_back_its_parameters(void **state)
{
    (void)state;
    char **names;
    size_t count;
    worst parameters = {0}, times = {0};
    MUST(haul_catalogue_list(&names, &count, &problem));
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++)
        measure_simulated(names[i], &parameters, &times);
    printf("worst parameter: %.4f %%, %s\nworst median of fresh sizes: %.4f %%, %s\n",
           parameters.percent, parameters.what, times.percent, times.what);
    printf("parameters of staging: %u\n", parameters.staging);
    assert_true(parameters.staging > 150);
    assert_true(parameters.percent <= 0.1);
    assert_true(times.percent <= 0.1);
    haul_names_free(names, count);
}

/* Interrupted after some points, it goes on with the rest, and gives the same machine. */
static void an_interrupted_measurement_goes_on(void **state)
{
    (void)state;
    char journal[] = "/tmp/haul-journal-XXXXXX";
    haul_device *device, *other;
    haul_measurement whole, rest, again;
    close(mkstemp(journal));
    MUST(haul_device_open("sim:k20", NULL, &device, &problem));
    const haul_measure_options options = {
        .parts = HAUL_MEASURE_TRANSFERS, .journal = journal, .largest_bytes = 4 << 20};
    MUST(haul_measurement_make(device, &options, &whole, &problem));
    assert_int_equal(whole.points_kept, 0);
    FILE *file = fopen(journal, "r+");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 333), 0); /* within a line */
    fclose(file);
    MUST(haul_measurement_make(device, &options, &rest, &problem));
    assert_in_range(rest.points_kept, 1, rest.points - 1);
    MUST(haul_measurement_make(device, &options, &again, &problem));
    assert_int_equal(again.points_kept, again.points);
    assert_int_equal(whole.machine->copy_count, again.machine->copy_count);
    for (size_t i = 0; i < whole.machine->copy_count; i++)
        assert_true(whole.machine->copies[i].rate_Bps.value ==
                    again.machine->copies[i].rate_Bps.value);
    MUST(haul_device_open("sim:k40", NULL, &other, &problem));
    haul_measurement none;
    assert_int_equal(haul_measurement_make(other, &options, &none, &problem),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(problem.text, "is the journal of 'Tesla K20m', not of"));
    haul_measurement_release(&whole);
    haul_measurement_release(&rest);
    haul_measurement_release(&again);
    haul_device_close(device);
    haul_device_close(other);
    unlink(journal);
}

static void journals_that_are_none(void **state)
{
    (void)state;
    char journal[] = "/tmp/haul-journal-XXXXXX";
    haul_device *device;
    haul_measurement none;
    haul_measure_options options = {
        .parts = HAUL_MEASURE_TRANSFERS, .journal = journal, .largest_bytes = 1 << 20};
    const int descriptor = mkstemp(journal);
    assert_int_equal(write(descriptor, "something else\n", 15), 15);
    close(descriptor);
    MUST(haul_device_open("sim:k20", NULL, &device, &problem));
    assert_int_equal(haul_measurement_make(device, &options, &none, &problem),
                     HAUL_STATUS_BAD_INPUT);
    FILE *file = fopen(journal, "w");
    fputs("haul measure 1 of Tesla K20m\n1e-6 0 1 a point\n", file);
    fclose(file);
    assert_int_equal(haul_measurement_make(device, &options, &none, &problem),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(problem.text, "another version"));
    unlink(journal);
    MUST(haul_measurement_make(device, &options, &none, &problem));
    haul_measurement_release(&none);
    /* of other sizes: points of the same names would be of less work */
    options.largest_bytes = 2 << 20;
    assert_int_equal(haul_measurement_make(device, &options, &none, &problem),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(problem.text, "'copies up to 1048576 bytes', not of"));
    options.largest_bytes = 1 << 20;
    char head[512];
    file = fopen(journal, "r");
    assert_non_null(fgets(head, sizeof head, file));
    fclose(file);
    file = fopen(journal, "w");
    fprintf(file, "%s1e-6 0 0 1 a point\n1e-6 what\n", head);
    fclose(file);
    assert_int_equal(haul_measurement_make(device, &options, &none, &problem),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(problem.line, 3);
    options.journal = "/nothing/such/journal";
    assert_int_equal(haul_measurement_make(device, &options, &none, &problem), HAUL_STATUS_IO);
    haul_device_close(device);
    unlink(journal);
}

/* Pauses between kernels, and around memsets, which no machine of the catalogue has. */
static void gaps_between_operations_are_found(void **state)
{
    (void)state;
    haul_machine *machine;
    haul_device *device;
    haul_measurement made;
    MUST(haul_machine_load("h100-sxm5", &machine, &problem));
    machine->gpu.memory_gap_s = (haul_parameter){1.7e-6, HAUL_PROVENANCE_MEASURED, "set here"};
    const haul_device_options with = {.machine = machine, .without_data = true};
    const haul_measure_options options = {.parts = HAUL_MEASURE_KERNELS};
    MUST(haul_device_open("sim:gapped", &with, &device, &problem));
    MUST(haul_measurement_make(device, &options, &made, &problem));
    assert_true(fabs(made.machine->gpu.memory_gap_s.value - 1.7e-6) < 1e-9);
    assert_true(fabs(made.machine->gpu.kernel_gap_s.value - machine->gpu.kernel_gap_s.value) <
                1e-9);
    haul_measurement_release(&made);
    haul_device_close(device);
    haul_machine_free(machine);
}

/* As on a full disk: what was measured before stays. */
static void a_journal_that_cannot_grow(void **state)
{
    (void)state;
    char journal[] = "/tmp/haul-journal-XXXXXX";
    haul_device *device;
    haul_measurement none;
    struct rlimit before;
    const haul_measure_options options = {
        .parts = HAUL_MEASURE_TRANSFERS, .journal = journal, .largest_bytes = 1 << 20};
    close(mkstemp(journal));
    MUST(haul_device_open("sim:k20", NULL, &device, &problem));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){200, before.rlim_max});
    const haul_status status = haul_measurement_make(device, &options, &none, &problem);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, HAUL_STATUS_IO);
    assert_non_null(strstr(problem.text, journal));
    MUST(haul_measurement_make(device, &options, &none, &problem));
    assert_in_range(none.points_kept, 1, 10);
    haul_measurement_release(&none);
    haul_device_close(device);
    unlink(journal);
}

static double width_of(const char *lines, uint64_t bytes)
{
    char yaml[1024];
    haul_machine *machine;
    haul_estimate estimate;
    snprintf(yaml, sizeof yaml,
             "haul: 1\nname: m\nsummary: s\nfrom: measured\ngpu: {name: g}\ncopies:\n"
             "  - direction: HtoD\n    memory: pinned\n    latency: 10 us\n    rate: 10 GB/s\n%s",
             lines);
    MUST(haul_machine_parse(yaml, strlen(yaml), "m.yaml", &machine, &problem));
    const haul_copy copy = {bytes, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR};
    MUST(haul_copy_time(machine, NULL, &copy, &estimate, &problem));
    haul_machine_free(machine);
    assert_true(fabs(estimate.seconds / estimate.low_s - estimate.high_s / estimate.seconds) <
                1e-3);
    return estimate.high_s / estimate.seconds - 1;
}

/* A file's own uncertainty, by small and by large copies, where it is more than the usual 3 %. */
static void intervals_are_as_wide_as_medians_differ(void **state)
{
    (void)state;
    static const char wide[] = "    latency_uncertainty: 0.5\n    rate_uncertainty: 0.2\n",
                      narrow[] = "    latency_uncertainty: 0.001\n    rate_uncertainty: 0.002\n",
                      points[] = "    latency_uncertainty: 0.5\n    rate_uncertainty: 0.2\n"
                                 "    points: [[1 B, 10 us], [1 GiB, 0.1 s]]\n";
    assert_float_equal(width_of("", 1), 0.03, 1e-3);
    assert_float_equal(width_of(narrow, 1), 0.03, 1e-3);
    assert_float_equal(width_of(wide, 1), 0.5, 1e-3);
    assert_float_equal(width_of(wide, 1 << 30), 0.2, 1e-3);
    assert_float_equal(width_of(points, 1), 0.5, 1e-3);
    assert_float_equal(width_of(points, 1 << 30), 0.2, 1e-3);
}

/* Others that took all cores for the last minute: copies of a CPU may be twice as fast without
 * them. */
static void a_busy_machine_widens_intervals(void **state)
{
    (void)state;
    hl_measure_session session = {.curve_count = 1,
                                  .curves = {{HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED,
                                              .latency_s = {1e-6, HAUL_PROVENANCE_MEASURED, ""}}}};
    haul_measured_copy sizes[] = {
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 1e-6, .predicted_s = 1e-6},
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1 << 20, 1e-3, .predicted_s = 1e-3}};
    session.made.sizes = sizes;
    session.made.size_count = 2;
    const haul_copy_curve *curve = &session.curves[0];
    MUST(haul_device_open("host", NULL, &session.device, &problem));
    for (int busy = 0; busy < 2; busy++) {
        session.load = hl_base_load_now();
        if (!session.load.is_told)
            break;
        session.load.at_s -= 60;
        if (busy) /* 60 s of each core */
            session.load.all_s -= 60.0 * (double)sysconf(_SC_NPROCESSORS_ONLN);
        MUST(hl_measure_find_uncertainty(&session, &problem));
        assert_float_equal(curve->latency_uncertainty.value, busy, 0.01);
        assert_float_equal(curve->rate_uncertainty.value, busy, 0.01);
    }
    haul_device_close(session.device);
}

/* However busy the machine: what was measured lies inside its own intervals, nearly always, and a
 * time limit that is over at once leaves a few attempts of each. */
static void a_measurement_holds_its_own_medians(void **state)
{
    (void)state;
    haul_device *device;
    haul_measurement made;
    size_t inside = 0;
    MUST(haul_device_open("host", NULL, &device, &problem));
    const haul_measure_options options = {.parts = HAUL_MEASURE_TRANSFERS,
                                          .largest_bytes = 1 << 20,
                                          .point_s = 1e-4,
                                          .time_limit_s = 1e-3};
    MUST(haul_measurement_make(device, &options, &made, &problem));
    assert_true(made.size_count > 30);
    for (size_t i = 0; i < made.size_count; i++) {
        const haul_measured_copy *size = &made.sizes[i];
        assert_true(size->predicted_s > 0 && size->drift >= 0);
        inside += size->low_s <= size->seconds && size->seconds <= size->high_s;
    }
    for (size_t i = 0; i < made.machine->copy_count; i++)
        assert_int_equal(made.machine->copies[i].latency_uncertainty.provenance,
                         HAUL_PROVENANCE_MEASURED);
    assert_true(10 * inside >= 8 * made.size_count);
    haul_measurement_release(&made);
    haul_device_close(device);
}

/* Copies in parts on a simulated device, and on real ones, whose streams run as they like. */
static void copies_in_parts_are_predicted(void **state)
{
    (void)state;
    static const char *const names[] = {"sim:gtx-titan", "host", "opencl:0"};
    size_t count = sizeof names / sizeof *names;
#ifdef __SANITIZE_THREAD__
    count--; /* PoCL's threads are not compiled for it, and its copies take twenty times as long */
#endif
    for (size_t n = 0; n < count; n++) {
        haul_device *device;
        haul_measurement made;
        if (haul_device_open(names[n], NULL, &device, &problem)) {
            printf("skipped: %s: %s\n", names[n], problem.text);
            continue;
        }
        const haul_measure_options options = {.parts = HAUL_MEASURE_TRANSFERS,
                                              .largest_bytes = 1 << 20,
                                              .point_s = 1e-4,
                                              .time_limit_s = 1e-3,
                                              .verify = true};
        MUST(haul_measurement_make(device, &options, &made, &problem));
        assert_int_equal(made.stream_count, HAUL_MEASURE_STREAMS_MOST);
        for (size_t i = 0; i < made.stream_count; i++) {
            const haul_measured_streams *row = &made.streams[i];
            assert_int_equal(row->streams, 1U << i % 7);
            assert_true(row->seconds > 0 && row->predicted_s > 0);
            assert_true(n > 0 || fabs(row->predicted_s - row->seconds) < 1e-4 * row->seconds);
        }
        haul_measurement_release(&made);
        haul_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_gives_back_its_parameters),
        cmocka_unit_test(an_interrupted_measurement_goes_on),
        cmocka_unit_test(journals_that_are_none),
        cmocka_unit_test(gaps_between_operations_are_found),
        cmocka_unit_test(a_journal_that_cannot_grow),
        cmocka_unit_test(intervals_are_as_wide_as_medians_differ),
        cmocka_unit_test(a_busy_machine_widens_intervals),
        cmocka_unit_test(a_measurement_holds_its_own_medians),
        cmocka_unit_test(copies_in_parts_are_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
