/* Files of kernels, the arguments, compiled by NVRTC for the oldest GPU that it knows and the
 * newest: no GPU is needed. NVRTC_PATH names it; tests/device/check_nvrtc finds one. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/textfile.h"
#include "device/cuda_compiler.h"
#include "haul/device_backend.h"
#include "haul/kernel_source.h"

static char **files;
static int file_count;
static hl_device_cu_compiler compiler;
static haul_error problem;

/* With shared memory, the kernels of fused steps. */
static haul_status compile(const char *file, const char *own, unsigned fused_bytes,
                           hl_device_cu_image *image)
{
    const haul_kernel_source source = {.name = "kernel",
                                       .file = file,
                                       .text = own,
                                       .text_end = own + strlen(own),
                                       .group = {32, 8},
                                       .fused_bytes = fused_bytes};
    char *text;
    haul_status status = haul_kernel_text(&source, &text, &problem);
    if (!status)
        status = hl_device_cu_compile(&compiler, &source, text, image, &problem);
    free(text);
    return status;
}

/* PTX has each kernel that the text defines by its name. */
static void check_names(const char *ptx, const char *text, const char *mark)
{
    for (const char *at = text; (at = strstr(at, mark)) != NULL; at++) {
        char entry[128];
        const char *name = at + strcspn(at, "(") + 1;
        if (!strncmp(at + strlen(mark), "FILE", 4))
            continue;
        snprintf(entry, sizeof entry, ".entry %.*s(", (int)strcspn(name, ", "), name);
        if (!strstr(ptx, entry))
            fail_msg("no '%s'", entry);
    }
}

static void compile_one(const char *file, const char *text, unsigned fused_bytes)
{
    hl_device_cu_image image;
    if (compile(file, text, fused_bytes, &image))
        fail_msg("%s: %s:%d: %s", compiler.option, problem.file, problem.line, problem.text);
    if (compiler.is_ptx && !strstr(image.bytes, "of the tests' NVRTC")) {
        check_names(image.bytes, text, "\nHAUL_KERNEL_");
        check_names(image.bytes, text, "\nHAUL_STENCIL_");
    }
    free(image.bytes);
}

/* The stand-in's fused steps are run by other tests. */
static void compile_all(void)
{
    for (int i = 0; i < file_count; i++) {
        size_t size;
        char *text;
        if (hl_base_textfile_read(files[i], 1 << 20, &text, &size, &problem))
            fail_msg("%s", problem.text);
        compile_one(files[i], text, 0);
        if (!strstr(compiler.file, "tests/driver") && strstr(text, "\nHAUL_STENCIL_"))
            compile_one(files[i], text, HAUL_GROUP_BYTES);
        free(text);
    }
}

static void test_all_kernels(void **state)
{
    (void)state;
    int count = 0, known[64];
    assert_int_equal(compiler.target_count(&count), 0);
    assert_in_range(count, 1, 64);
    assert_int_equal(compiler.targets(known), 0);
    assert_int_equal(hl_device_cu_compiler_aim(&compiler, known[0], &problem), HAUL_OK);
    assert_false(compiler.is_ptx);
    compile_all();
    assert_int_equal(hl_device_cu_compiler_aim(&compiler, 999, &problem), HAUL_OK);
    assert_true(compiler.is_ptx);
    compile_all();
    assert_int_equal(hl_device_cu_compiler_aim(&compiler, known[0] - 1, &problem),
                     HAUL_STATUS_ABSENT);
}

static void test_message(void **state)
{
    (void)state;
    static const char text[] = "HAUL_KERNEL_1D(scale, mine, HAUL_OUT(float, y))\n"
                               "{\n"
                               "    HAUL_FOR1 (i)\n"
                               "        y[i] = nothing_such;\n"
                               "}\n";
    hl_device_cu_image image;
    assert_int_equal(hl_device_cu_compiler_aim(&compiler, 999, &problem), HAUL_OK);
    assert_int_equal(compile("mine.kernel.h", text, 0, &image), HAUL_STATUS_BAD_INPUT);
    assert_string_equal(problem.file, "mine.kernel.h");
    assert_int_equal(problem.line, 4);
    assert_non_null(strstr(problem.text, "nothing_such"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kernels),
        cmocka_unit_test(test_message),
    };
    files = argv + 1;
    file_count = argc - 1;
    if (hl_device_cu_compiler_load(&compiler, false, 0, &problem)) {
        fprintf(stderr, "skipped: %s\n", problem.text);
        return 77;
    }
    printf("NVRTC %d.%d\n", compiler.major, compiler.minor);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
