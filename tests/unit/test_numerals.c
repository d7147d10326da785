/* In a program whose locale has a decimal comma the library reads and writes points, and the
 * program goes on with its comma. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "haul/kernel_file.h"
#include "haul/page.h"
#include "haul/project.h"
#include "haul/report.h"
#include "haul/simulate.h"
#include "haul/trace.h"
#include "haul/units.h"

static const char *profile;

static void say(haul_status status, const haul_error *error)
{
    if (status)
        fail_msg("%s", error->text);
}

static void write_report(haul_report *report, haul_format format, FILE *out, haul_error *error)
{
    const haul_report_options options = {.format = format, .verbose = true};
    say(haul_report_write(report, &options, out, error), error);
    haul_report_free(report);
}

static void write_machine(FILE *out, haul_machine *machine, haul_error *error)
{
    char text[64];
    double rate = 0;
    say(haul_quantity_parse("12.5 GB/s", HAUL_DIM_RATE, &rate, error), error);
    fprintf(out, "%s\n", haul_quantity_format(rate, HAUL_DIM_RATE, 3, text, sizeof text));
    say(haul_machine_write(machine, out, error), error);
    write_report(haul_report_machine(machine), HAUL_FORMAT_JSON, out, error);
}

static void write_schedule(FILE *out, haul_machine *machine, haul_error *error)
{
    static const char text[] = "haul_workload: 1\n"
                               "constants: {part: 0.5}\n"
                               "operations:\n"
                               "  - {op: HtoD, bytes: '{64 * part} MiB'}\n"
                               "  - {op: kernel, duration: 2.5 ms}\n";
    haul_schedule *schedule = NULL;
    haul_simulation *simulation = NULL;
    say(haul_schedule_parse(text, strlen(text), "text", &schedule, error), error);
    say(haul_simulation_make(schedule, machine, NULL, &simulation, error), error);
    write_report(haul_report_simulation(simulation, 100), HAUL_FORMAT_TABLE, out, error);
    const haul_drawn drawn = {.workload = schedule->workload, .spans = simulation->timeline->ops};
    const haul_page page = {.title = "page", .timelines = &drawn, .timeline_count = 1};
    say(haul_page_write(&page, out, error), error);
    haul_simulation_free(simulation);
    haul_schedule_free(schedule);
}

static void write_run(FILE *out, haul_machine *machine, haul_error *error)
{
    haul_workload *workload = NULL;
    haul_projection *projection = NULL;
    haul_advice_list *advice = NULL;
    const haul_projection_options options = {.to = machine};
    const haul_advise_options here = {0};
    say(haul_trace_load(profile, &workload, error), error);
    say(haul_projection_make(workload, &options, &projection, error), error);
    write_report(haul_report_projection(workload, &options, projection), HAUL_FORMAT_TABLE, out,
                 error);
    say(haul_advice_make(workload, &here, &advice, error), error);
    write_report(haul_report_advice(workload, advice), HAUL_FORMAT_JSON, out, error);
    const haul_drawn drawn = {.workload = workload};
    say(haul_report_perfetto(&drawn, 1, 0, out, NULL, error), error);
    haul_advice_free(advice);
    haul_projection_free(projection);
    haul_workload_free(workload);
}

/* All that is written; the caller frees it. */
static char *written(void)
{
    char *text = NULL;
    size_t size = 0;
    haul_error error = {0};
    haul_machine *machine = NULL;
    haul_kernel_file *kernel = NULL;
    haul_kernel_counts counts;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    say(haul_machine_load("k40", &machine, &error), &error);
    write_machine(out, machine, &error);
    write_schedule(out, machine, &error);
    say(haul_kernel_file_load("matmul-shared", &kernel, &error), &error);
    say(haul_kernel_file_at(kernel, 1024, &counts, &error), &error);
    say(haul_kernel_file_write(
            kernel, NULL, "k40",
            &(haul_kernel_samples){&(haul_kernel_sample){.size = 1024, .seconds = 0.0125}, 1}, out,
            &error),
        &error);
    if (profile)
        write_run(out, machine, &error);
    haul_kernel_file_free(kernel);
    haul_machine_free(machine);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void a_locale_with_a_comma_changes_nothing(void **state)
{
    (void)state;
    char number[8];
    assert_non_null(setlocale(LC_ALL, "C"));
    char *plain = written();
    assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
    char *with_comma = written();
    snprintf(number, sizeof number, "%.1f", 1.5);
    assert_string_equal(number, "1,5");
    assert_string_equal(with_comma, plain);
    free(with_comma);
    free(plain);
}

int main(void)
{
    profile = getenv("profile"); // NOLINT(concurrency-mt-unsafe): one thread
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        printf("skipped: no locale de_DE.UTF-8, and none could be made\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_locale_with_a_comma_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
