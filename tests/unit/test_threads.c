/* The promises of haul/status.h about threads: objects that are const are shared, all else is
 * called at once. Under ThreadSanitizer this finds races; without it, results that differ. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "haul/advise.h"
#include "haul/analysis.h"
#include "haul/compare.h"
#include "haul/machine.h"
#include "haul/page.h"
#include "haul/project.h"
#include "haul/report.h"
#include "haul/timeline.h"
#include "haul/trace.h"

enum { THREADS = 8, ROUNDS = 3 };

static const char *profile;
static haul_workload *shared_workload;
static haul_machine *shared_machine;

typedef struct result {
    char *report;
    size_t length;
    char *more;
    size_t more_length;
    double predicted_s;
    bool failed;
} result;

/* A report of the shared workload, as text. */
static bool write_report(const haul_workload *workload, result *to)
{
    haul_analysis *analysis = NULL;
    haul_error error;
    if (haul_analysis_make(workload, &analysis, &error))
        return false;
    FILE *out = open_memstream(&to->report, &to->length);
    haul_report *report = haul_report_analysis(workload, analysis);
    const haul_report_options options = {.format = HAUL_FORMAT_JSON};
    const haul_status status = haul_report_write(report, &options, out, &error);
    fclose(out);
    haul_report_free(report);
    haul_analysis_free(analysis);
    return !status;
}

static bool project(const haul_workload *workload, const haul_machine *to, double *predicted_s)
{
    haul_projection *projection = NULL;
    haul_error error;
    const haul_projection_options options = {.to = to};
    if (haul_projection_make(workload, &options, &projection, &error))
        return false;
    *predicted_s = projection->copies.seconds;
    haul_projection_free(projection);
    return true;
}

/* Other readers of a workload: each writes its findings, which has to be equal in all threads. */
static bool use_more(const haul_workload *workload, const haul_machine *machine, FILE *out)
{
    haul_advice_list *advice = NULL;
    haul_comparison compared;
    haul_error error;
    const haul_advise_options options = {.on = machine};
    const haul_drawn drawn = {.workload = workload, .label = "recorded"};
    const haul_page page = {.title = "page", .timelines = &drawn, .timeline_count = 1};
    bool fine = !haul_advice_make(workload, &options, &advice, &error);
    for (size_t i = 0; fine && i < advice->count; i++)
        fprintf(out, "%" PRId64 "\n", advice->items[i].saved_ns);
    haul_advice_free(advice);
    fine = fine && !haul_comparison_make(workload, shared_workload, &compared, &error);
    if (fine) {
        fprintf(out, "%" PRIu64 " %" PRId64 "\n", compared.matched, compared.a_ns);
        haul_comparison_release(&compared);
    }
    return fine && !haul_page_write(&page, out, &error) &&
           !haul_report_perfetto(&drawn, 1, 0, out, NULL, &error) &&
           !haul_machine_write(machine, out, &error);
}

/* Own objects and shared ones, in turn. */
static void *work(void *argument)
{
    result *self = argument;
    for (int i = 0; i < ROUNDS && !self->failed; i++) {
        haul_workload *own = NULL;
        haul_machine *machine = NULL;
        haul_error error;
        free(self->report);
        self->report = NULL;
        self->failed = haul_trace_load(profile, &own, &error) ||
                       haul_machine_load("h100-sxm5", &machine, &error) ||
                       !write_report(i % 2 ? own : shared_workload, self) ||
                       !project(i % 2 ? shared_workload : own, i % 2 ? machine : shared_machine,
                                &self->predicted_s);
        free(self->more);
        FILE *out = open_memstream(&self->more, &self->more_length);
        self->failed |=
            !use_more(i % 2 ? own : shared_workload, i % 2 ? shared_machine : machine, out);
        fclose(out);
        haul_workload_free(own);
        haul_machine_free(machine);
    }
    return NULL;
}

static void threads_share_what_is_const(void **state)
{
    (void)state;
    static result results[THREADS];
    pthread_t threads[THREADS];
    haul_error error = {0};
    if (haul_trace_load(profile, &shared_workload, &error) ||
        haul_machine_load("h100-sxm5", &shared_machine, &error))
        fail_msg("%s", error.text);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &results[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_false(results[i].failed);
        assert_string_equal(results[i].report, results[0].report);
        assert_true(results[i].predicted_s == results[0].predicted_s);
        assert_string_equal(results[i].more, results[0].more);
    }
    for (int i = 0; i < THREADS; i++) {
        free(results[i].report);
        free(results[i].more);
    }
    haul_workload_free(shared_workload);
    haul_machine_free(shared_machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_what_is_const)};
    profile = getenv("profile");
    if (!profile) {
        puts("skipped: no profile in the environment");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
