/* A profile that a command writes is read back, so that no loss of the file's format goes unsaid:
 * here the reading back is a stand-in that counts. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/profile_output.h"

static int read_back;
static const char *loss;

haul_status __wrap_haul_trace_written_check(const haul_workload *workload, const char *path,
                                            char *text, size_t size, haul_error *error);

haul_status __wrap_haul_trace_written_check(const haul_workload *workload, const char *path,
                                            char *text, size_t size, haul_error *error)
{
    (void)workload;
    assert_int_equal(access(path, R_OK), 0);
    read_back++;
    (void)snprintf(text, size, "%s", loss);
    return strcmp(loss, "unreadable") != 0
               ? HAUL_OK
               : haul_error_set(error, HAUL_STATUS_BAD_INPUT, "cannot be read back");
}

haul_status __wrap_haul_trace_write_npz(const haul_workload *workload, FILE *out,
                                        haul_error *error);

haul_status __wrap_haul_trace_write_npz(const haul_workload *workload, FILE *out, haul_error *error)
{
    (void)workload;
    (void)error;
    return fputs("arrays", out) < 0 ? HAUL_STATUS_IO : HAUL_OK;
}

/* As those of src/cli/results.c, which write to another file first. */
haul_status cli_output_open(const char *path, FILE **out, haul_error *error)
{
    *out = fopen(path, "w");
    return *out ? HAUL_OK : haul_error_set(error, HAUL_STATUS_IO, "cannot open '%s'", path);
}

haul_status cli_output_finish(FILE *out, const char *path, haul_status status, haul_error *error)
{
    (void)path;
    (void)error;
    return fclose(out) ? HAUL_STATUS_IO : status;
}

static haul_status write_to(const char *path, const char *told, haul_error *error)
{
    const haul_workload empty = {.source = "made", .format = "made"};
    read_back = 0;
    loss = told;
    const haul_status status = cli_profile_write(&empty, path, error);
    (void)remove(path);
    return status;
}

static void profiles_are_read_back(void **state)
{
    (void)state;
    static const char *const endings[] = {"sqlite", "json"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[200];
        haul_error error = {0};
        (void)snprintf(path, sizeof path, "/tmp/haul-test-output-%ld.%s", (long)getpid(),
                       endings[i]);
        assert_int_equal(write_to(path, "", &error), HAUL_OK);
        assert_int_equal(read_back, 1);
        assert_int_equal(write_to(path, "unreadable", &error), HAUL_STATUS_BAD_INPUT);
        assert_string_equal(error.text, "cannot be read back");
    }
}

/* On stderr, with the file's name and each thing that differs; the file stays. */
static void losses_are_told(void **state)
{
    (void)state;
    char path[200], told[300], line[400] = "";
    (void)snprintf(path, sizeof path, "/tmp/haul-test-output-%ld.sqlite", (long)getpid());
    (void)snprintf(told, sizeof told, "/tmp/haul-test-output-%ld.txt", (long)getpid());
    const int kept = dup(STDERR_FILENO);
    assert_non_null(freopen(told, "w", stderr));
    assert_int_equal(write_to(path, "operators", NULL), HAUL_OK);
    (void)fflush(stderr);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    (void)close(kept);
    FILE *in = fopen(told, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    (void)fclose(in);
    (void)remove(told);
    assert_non_null(strstr(line, path));
    assert_non_null(strstr(line, "read back, these differ from the profile: operators\n"));
}

/* Arrays of NumPy are no profile that haul reads. */
static void other_files_are_not(void **state)
{
    (void)state;
    char path[200];
    (void)snprintf(path, sizeof path, "/tmp/haul-test-output-%ld.npz", (long)getpid());
    assert_int_equal(write_to(path, "", NULL), HAUL_OK);
    assert_int_equal(read_back, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_are_read_back),
        cmocka_unit_test(losses_are_told),
        cmocka_unit_test(other_files_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
