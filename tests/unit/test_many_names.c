/* Programs that name each step anew: the tables by name end with a row of the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "haul/report.h"
#include "haul/trace.h"

enum { NAMES = 12000, STEP_US = 10 };

/* Two kernels, between which a thread has so many ranges of one name each, annotations or operators
 * of PyTorch. */
static haul_workload *load_steps(int names, const char *category)
{
    char path[] = "/tmp/haul-names-XXXXXX";
    haul_workload *workload = NULL;
    haul_error error = {0};
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("{\"traceEvents\":[{}", file);
    for (int i = 0; i < names; i++)
        fprintf(file,
                ",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"step %d\",\"pid\":9,"
                "\"tid\":9,\"ts\":%d,\"dur\":2}",
                category, i, 100 + STEP_US * i);
    for (int i = 0; i < 2; i++) {
        const int call_us = i * (200 + STEP_US * names);
        fprintf(file,
                ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
                "\"tid\":9,\"ts\":%d,\"dur\":2,\"args\":{\"correlation\":%d}},{\"ph\":\"X\","
                "\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":2,"
                "\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}",
                call_us, i + 1, call_us + 5, i + 1);
    }
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
    const haul_status status = haul_trace_load(path, &workload, &error);
    unlink(path);
    if (status)
        fail_msg("%s", error.text);
    return workload;
}

/* The row of the names beyond 10,000 behind `table`: that many, of 2 us each. */
static void check_rest(const char *written, const char *table)
{
    const char *from = strstr(written, table);
    assert_non_null(from);
    const char *rest = strstr(from, "(2000 other names)");
    assert_non_null(rest);
    const char *count = strstr(rest, "\"count\": ");
    const char *time = strstr(rest, "\"time_s\": ");
    assert_non_null(count);
    assert_non_null(time);
    assert_int_equal(strtol(count + strlen("\"count\": "), NULL, 10), 2000);
    CHECK_NEAR(strtod(time + strlen("\"time_s\": "), NULL), 2000 * 2e-6, 1e-9);
}

static void names_beyond_a_table_are_one_row(void **state)
{
    (void)state;
    haul_workload *workload = load_steps(NAMES, "user_annotation");
    haul_analysis *analysis = NULL;
    assert_int_equal(haul_analysis_make(workload, &analysis, NULL), HAUL_OK);
    haul_report *report = haul_report_analysis(workload, analysis);
    const haul_report_options options = {.format = HAUL_FORMAT_JSON};
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    assert_non_null(out);
    assert_int_equal(haul_report_write(report, &options, out, NULL), HAUL_OK);
    assert_int_equal(fclose(out), 0);
    check_rest(written, "\"idle\": [");
    check_rest(written, "\"ranges\": [");
    free(written);
    haul_report_free(report);
    haul_analysis_free(analysis);
    haul_workload_free(workload);
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static double peak_bytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return 1024.0 * (double)use.ru_maxrss;
}

/* A text is kept once, with its place in one index: beside the range of 24 bytes, which has room to
 * grow by half, and the text of 12. Operators are joined to calls in the order of both. */
static void names_take_little_memory(void **state)
{
    (void)state;
    enum { MANY = 300000, BYTES = 95 };
    static const char *const categories[] = {"user_annotation", "cpu_op"};
    if (SANITIZED)
        skip();
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        int ended = 1;
        (void)fflush(stdout);
        const pid_t child = fork(); /* a peak never falls */
        if (!child) {
            haul_workload_free(load_steps(1, categories[i]));
            const double before = peak_bytes();
            haul_workload_free(load_steps(MANY, categories[i]));
            const double bytes = (peak_bytes() - before) / MANY;
            printf("%s: %.0f bytes a name at the peak, at most %d expected\n", categories[i], bytes,
                   BYTES);
            (void)fflush(stdout);
            _exit(bytes > BYTES);
        }
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
    }
}

/* Kernels, each launched within two operators of PyTorch, written in the order of time. */
static haul_workload *load_operations(int count)
{
    char path[] = "/tmp/haul-operations-XXXXXX";
    haul_workload *workload = NULL;
    haul_error error = {0};
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("{\"traceEvents\":[{}", file);
    for (int i = 0; i < count; i++) {
        const int us = 100 + STEP_US * i;
        for (int k = 0; k < 2; k++)
            fprintf(file,
                    ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op%d\",\"pid\":9,"
                    "\"tid\":9,\"ts\":%d,\"dur\":%d}",
                    i % 40 + k, us + k, 8 - k);
        fprintf(file,
                ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
                "\"tid\":9,\"ts\":%d,\"dur\":2,\"args\":{\"correlation\":%d}},{\"ph\":\"X\","
                "\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":2,"
                "\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}",
                us + 2, i + 1, i % 40, us + 5, i + 1);
    }
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
    const haul_status status = haul_trace_load(path, &workload, &error);
    unlink(path);
    if (status)
        fail_msg("%s", error.text);
    return workload;
}

/* Beside an operation of 64 bytes are its call of 20, two operators of 12, and a place in an order
 * of 4: 112. */
static void operators_take_little_memory(void **state)
{
    (void)state;
    enum { MANY = 200000, BYTES = 120 };
    int ended = 1;
    if (SANITIZED)
        skip();
    (void)fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        haul_workload_free(load_operations(1));
        const double before = peak_bytes();
        haul_workload *const workload = load_operations(MANY);
        const double bytes = (peak_bytes() - before) / MANY;
        const uint32_t last = haul_op_operator(workload, workload->op_count - 1);
        const bool named = workload->op_count == MANY && last != HAUL_NONE &&
                           !strcmp(haul_workload_string(workload, last), "aten::op40");
        printf("%.0f bytes an operation at the peak, at most %d expected\n", bytes, BYTES);
        (void)fflush(stdout);
        _exit(bytes > BYTES || !named);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_take_little_memory),
        cmocka_unit_test(names_take_little_memory),
        cmocka_unit_test(names_beyond_a_table_are_one_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
