/* The project's kernels, compiled by NVRTC for the oldest GPU that it knows and the newest: no GPU
 * is needed. NVRTC_PATH names it; tests/device/check_nvrtc finds one. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_compiler.h"
#include "device_kernels.h"
#include "haul/device_backend.h"

/* Those of one text beside each other. */
static const haul_kernel_source *const sources[] = {&scale, &number, &blend, &turn, &spin};

static haul_cu_compiler compiler;
static haul_error problem;

static haul_status compile(const haul_kernel_source *source, haul_cu_image *image)
{
    char *text;
    haul_status status = haul_kernel_text(source, &text, &problem);
    if (!status)
        status = haul_cu_compile(&compiler, source, text, image, &problem);
    free(text);
    return status;
}

/* One text has several kernels; PTX names them in words. */
static void check_names(const haul_cu_image *image, const char *text)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char entry[128];
        snprintf(entry, sizeof entry, ".entry %s(", sources[i]->name);
        if (sources[i]->text == text && !strstr(image->bytes, "of the tests' NVRTC"))
            assert_non_null(strstr(image->bytes, entry));
    }
}

static void compile_all(void)
{
    const char *last = NULL;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        haul_cu_image image;
        if (sources[i]->text == last)
            continue;
        last = sources[i]->text;
        if (compile(sources[i], &image))
            fail_msg("%s: %s:%d: %s", compiler.option, problem.file, problem.line, problem.text);
        if (compiler.is_ptx)
            check_names(&image, last);
        free(image.bytes);
    }
}

static void test_all_kernels(void **state)
{
    (void)state;
    int count = 0, known[64];
    assert_int_equal(compiler.target_count(&count), 0);
    assert_in_range(count, 1, 64);
    assert_int_equal(compiler.targets(known), 0);
    assert_int_equal(haul_cu_compiler_aim(&compiler, known[0], &problem), HAUL_OK);
    assert_false(compiler.is_ptx);
    compile_all();
    assert_int_equal(haul_cu_compiler_aim(&compiler, 999, &problem), HAUL_OK);
    assert_true(compiler.is_ptx);
    compile_all();
    assert_int_equal(haul_cu_compiler_aim(&compiler, known[0] - 1, &problem), HAUL_ABSENT);
}

static void test_message(void **state)
{
    (void)state;
    static const char text[] = "HAUL_KERNEL_1D(scale, mine, HAUL_OUT(float, y))\n"
                               "{\n"
                               "    HAUL_FOR1 (i)\n"
                               "        y[i] = nothing_such;\n"
                               "}\n";
    haul_kernel_source source = scale;
    haul_cu_image image;
    source.file = "mine.kernel.h";
    source.text = text;
    source.text_end = text + sizeof text - 1;
    assert_int_equal(haul_cu_compiler_aim(&compiler, 999, &problem), HAUL_OK);
    assert_int_equal(compile(&source, &image), HAUL_BAD_INPUT);
    assert_string_equal(problem.file, "mine.kernel.h");
    assert_int_equal(problem.line, 4);
    assert_non_null(strstr(problem.text, "nothing_such"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kernels),
        cmocka_unit_test(test_message),
    };
    if (haul_cu_compiler_load(&compiler, false, 0, &problem)) {
        fprintf(stderr, "skipped: %s\n", problem.text);
        return 77;
    }
    printf("NVRTC %d.%d\n", compiler.major, compiler.minor);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
