#include "check.h"

#include <stdio.h>
#include <string.h>

#include "haul/kernel_file.h"
#include "haul/machine.h"

static haul_kernel_file *loaded(const char *name)
{
    haul_kernel_file *kernel = NULL;
    haul_error error = {0};
    char text[1200];
    if (haul_kernel_file_load(name, &kernel, &error))
        fail_msg("%s", haul_error_format(&error, text, sizeof text));
    return kernel;
}

static haul_kernel_counts counts_at(const haul_kernel_file *kernel, double n)
{
    haul_kernel_counts counts = {0};
    haul_error error = {0};
    char text[1200];
    if (haul_kernel_file_at(kernel, n, &counts, &error))
        fail_msg("%s", haul_error_format(&error, text, sizeof text));
    return counts;
}

static void the_kernels_of_the_paper_are_there(void **state)
{
    (void)state;
    static const char *const wanted[] = {"matmul-global-uncoalesced", "matmul-global",
                                         "matmul-shared-uncoalesced", "matmul-shared",
                                         "max-subarray"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        haul_kernel_file *kernel = loaded(wanted[i]);
        assert_string_equal(kernel->name, wanted[i]);
        assert_true(haul_kernel_file_is(kernel, wanted[i]));
        (void)counts_at(kernel, kernel->from);
        (void)counts_at(kernel, kernel->to);
        haul_kernel_file_free(kernel);
    }
}

static void every_kernel_of_the_folder_is_named_by_its_file(void **state)
{
    (void)state;
    char **names;
    size_t count;
    haul_error error = {0};
    assert_int_equal(haul_kernel_file_list(&names, &count, &error), HAUL_OK);
    assert_true(count >= 5);
    for (size_t i = 0; i < count; i++) {
        haul_kernel_file *kernel = loaded(names[i]);
        assert_string_equal(kernel->name, names[i]);
        haul_kernel_file_free(kernel);
    }
    haul_names_free(names, count);
}

static void counts_are_those_of_the_paper(void **state)
{
    (void)state;
    haul_kernel_file *kernel = loaded("matmul-shared");
    haul_kernel_counts counts = counts_at(kernel, 1024);
    CHECK_NEAR(counts.threads, 1024 * 1024, 0);
    CHECK_NEAR(counts.block, 256, 0);
    CHECK_NEAR(counts.comp, 1024, 0);
    CHECK_NEAR(counts.loads_shared, 2048, 0);
    CHECK_NEAR(counts.stores_shared, 128, 0);
    CHECK_NEAR(counts.l2_hits, 0.02 * 2048, 1e-15);
    CHECK_NEAR(counts.flops, 2.0 * 1024 * 1024 * 1024, 0);
    counts = counts_at(kernel, 1000); /* the last tiles are not full */
    CHECK_NEAR(counts.threads, 1008 * 1008, 0);
    assert_true(haul_kernel_file_is(kernel, "MATMUL_GPU_SHAREDMEM"));
    assert_false(haul_kernel_file_is(kernel, "matMul_gpu"));
    assert_string_equal(haul_kernel_file_expression(kernel, "loads_shared"), "2*N");
    CHECK_NEAR(counts.l1_hits, 0, 0);
    haul_kernel_file_free(kernel);

    kernel = loaded("max-subarray");
    assert_null(haul_kernel_file_expression(kernel, "l2_hits"));
    counts = counts_at(kernel, 1 << 20);
    CHECK_NEAR(counts.threads, 4096, 0);
    CHECK_NEAR(counts.comp, 25600, 0);
    CHECK_NEAR(counts.stores_global, 5, 0);
    haul_kernel_file_free(kernel);
}

#define HEAD "haul_kernel: 1\nname: k\nsummary: s\nvariable: {from: 1, to: 100}\n"
#define COUNTS "threads: N\nblock: 32\ncomp: 1\nloads_global: 2*N\nstores_global: 1\n"

static void files_that_are_wrong_are_told_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        int line;
        int column;
        const char *text;
    } bad[] = {
        {"", 1, 1, "expected keys and values; there is nothing here"},
        {"42", 1, 1, "expected a mapping of keys for 'kernel', not '42'"},
        {"name: k\n", 1, 1, "'haul_kernel' is missing"},
        {"haul_kernel: 2\n", 1, 14,
         "expected 1, the version of this format, for 'haul_kernel', not '2'"},
        {"haul_kernel: 1\nname: k\n", 1, 1, "'summary' is missing"},
        {"haul_kernel: 1\nthread: 4\n", 2, 1,
         "unknown key 'thread' in 'kernel'; did you mean 'threads'?"},
        {HEAD "name: k\n", 5, 1, "'name' is there twice in 'kernel'; expected it once"},
        {"haul_kernel: 1\nname: k\nsummary: s\n", 1, 1, "'variable' is missing"},
        {"haul_kernel: 1\nname: k\nsummary: s\nvariable: {from: 1}\n", 4, 11,
         "'to' is missing for 'variable': the range of its sizes"},
        {"haul_kernel: 1\nname: k\nsummary: s\nvariable: {from: 9, to: 2}\n", 4, 25,
         "expected at least 'from' and at most 2^53 for 'to', not '2'"},
        {"haul_kernel: 1\nname: k\nsummary: s\nvariable: {name: sqrt, from: 1, to: 2}\n", 4, 18,
         "expected letters, digits and '_' for 'name', not 'sqrt'"},
        {HEAD "constants: {tile: 16, tile: 8}\n", 5, 23, "'tile' is there twice; expected it once"},
        {HEAD "constants: {a: 2*N}\n", 5, 18, "unknown variable 'N'; there are none here"},
        {HEAD "threads: N\n", 1, 1, "'block' is missing"},
        {HEAD "threads: [N]\n", 5, 10,
         "expected a number or an expression for 'threads', not a list"},
        {HEAD "threads: 2*\n", 5, 12,
         "expected a number, a name or '(', and here the expression ends"},
        {HEAD "threads:   2 * M\n", 5, 16, "unknown variable 'M'; did you mean 'N'?"},
        {HEAD "threads: \"2 * M\"\n", 5, 15, "unknown variable 'M'; did you mean 'N'?"},
        {HEAD "threads: 4/(2-2)\n", 5, 11, "division by zero"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        haul_kernel_file *kernel = NULL;
        haul_error error = {0};
        assert_int_equal(
            haul_kernel_file_parse(bad[i].yaml, strlen(bad[i].yaml), "k.yaml", &kernel, &error),
            HAUL_STATUS_BAD_INPUT);
        assert_null(kernel);
        assert_string_equal(error.text, bad[i].text);
        if (error.line != bad[i].line || error.column != bad[i].column)
            fail_msg("%s: at %d:%d", bad[i].yaml, error.line, error.column);
    }
}

static void check_count(const char *yaml, double n, int line, int column, const char *text)
{
    haul_kernel_file *kernel = NULL;
    haul_error error = {0};
    haul_kernel_counts counts = {.threads = 7};
    assert_int_equal(haul_kernel_file_parse(yaml, strlen(yaml), "k.yaml", &kernel, &error),
                     HAUL_OK);
    assert_int_equal(haul_kernel_file_at(kernel, n, &counts, &error), HAUL_STATUS_BAD_INPUT);
    assert_true(counts.threads == 7);
    assert_string_equal(error.text, text);
    assert_string_equal(error.file, "k.yaml");
    if (error.line != line || error.column != column)
        fail_msg("%s: at %d:%d", text, error.line, error.column);
    haul_kernel_file_free(kernel);
}

static void sizes_that_give_no_counts_are_told(void **state)
{
    (void)state;
    check_count(HEAD COUNTS, 101, 4, 18, "N = 101 is outside the range of 'k', 1 to 100");
    check_count(HEAD COUNTS, (double)NAN, 4, 18, "N = nan is outside the range of 'k', 1 to 100");
    check_count(HEAD COUNTS "flops: 1/(N - 4)\n", 4, 10, 9, "division by zero");
    check_count(HEAD COUNTS "flops: N - 10\n", 4, 10, 8,
                "'flops' is -6 at N = 4; expected at least 0");
    check_count(HEAD "threads: N - 4\nblock: 32\ncomp: 1\nloads_global: 1\nstores_global: 1\n", 4,
                5, 10, "'threads' is 0 at N = 4; expected at least 1");
    check_count(HEAD COUNTS "l2_hits: 3*N\n", 4, 10, 10,
                "the hits are 12 at N = 4, and the loads that they serve only 8");
}

static void names_that_are_not_there_are_told(void **state)
{
    (void)state;
    haul_kernel_file *kernel = NULL;
    haul_error error = {0};
    assert_int_equal(haul_kernel_file_load("max-subarrray", &kernel, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_string_equal(error.text,
                        "no kernel 'max-subarrray' in the catalogue; did you mean max-subarray?");
    assert_int_equal(haul_kernel_file_load("x/none.yaml", &kernel, &error), HAUL_STATUS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_of_the_paper_are_there),
        cmocka_unit_test(every_kernel_of_the_folder_is_named_by_its_file),
        cmocka_unit_test(counts_are_those_of_the_paper),
        cmocka_unit_test(files_that_are_wrong_are_told_with_their_place),
        cmocka_unit_test(sizes_that_give_no_counts_are_told),
        cmocka_unit_test(names_that_are_not_there_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
