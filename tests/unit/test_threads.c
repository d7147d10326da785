/* What haul/status.h promises of threads: objects that are const are shared, all else is called at
 * once. Under ThreadSanitizer this finds races; without it, results that differ. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "haul/analysis.h"
#include "haul/machine.h"
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
    double predicted_s;
    bool failed;
} result;

/* A report of the shared workload, as text. */
static bool write_report(const haul_workload *workload, result *to)
{
    haul_analysis *analysis = NULL;
    haul_error error;
    if (haul_analyze(workload, &analysis, &error))
        return false;
    FILE *out = open_memstream(&to->report, &to->length);
    haul_report *report = haul_report_analysis(workload, analysis);
    const haul_report_options options = {.format = HAUL_JSON};
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
    if (haul_project(workload, &options, &projection, &error))
        return false;
    *predicted_s = projection->copies.seconds;
    haul_projection_free(projection);
    return true;
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
    }
    for (int i = 0; i < THREADS; i++)
        free(results[i].report);
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
