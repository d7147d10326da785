/* Devices' errors when something is wrong, and what they leave behind. */
#include "check.h"
#include "haul/device_test.h"
#include "haul/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/compile_log.h"
#include "device/kernel_cache.h"
#include "device/vendor_product.h"
#include "device_kernels.h"

static haul_error problem;

#define MUST(status)                                                                               \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", problem.text);                                                          \
    } while (0)

/* Skips where this kind of device is absent. */
static haul_device *open_or_skip(const char *name, const haul_device_options *options)
{
    haul_device *device = NULL;
    const haul_status status = haul_device_open(name, options, &device, &problem);
    if (status == HAUL_STATUS_ABSENT || status == HAUL_STATUS_USAGE)
        skip();
    MUST(status);
    return device;
}

static void a_kernel_that_does_not_compile(void **state)
{
    (void)state;
    static const char text[] = "#include \"haul/kernel_source.h\"\n"
                               "HAUL_KERNEL_FILE(mine)\n"
                               "HAUL_KERNEL_1D(scale, mine, HAUL_OUT(float, y))\n"
                               "{\n"
                               "    HAUL_FOR1 (i)\n"
                               "        y[i] = nothing_such;\n"
                               "}\n";
    haul_kernel_source source = scale;
    source.file = "mine.kernel.h";
    source.text = text;
    source.text_end = text + sizeof text - 1;
    haul_device *device = open_or_skip("opencl", NULL);
    haul_kernel *kernel;
    assert_int_equal(haul_kernel_new(device, &source, &kernel, &problem), HAUL_STATUS_BAD_INPUT);
    assert_string_equal(problem.file, "mine.kernel.h");
    assert_int_equal(problem.line, 6);
    assert_non_null(strstr(problem.text, "nothing_such"));
    haul_device_close(device);
}

static void compilers_are_understood(void **state)
{
    (void)state;
    hl_device_fail_compile(&scale, "a.h(12): error: identifier \"x\" is undefined\n\n1 error",
                           &problem);
    assert_int_equal(problem.line, 12);
    assert_string_equal(problem.text,
                        "kernel 'scale' does not compile: identifier \"x\" is undefined");
    hl_device_fail_compile(&scale, "note\na:3.h:7:21: error: no\nmore", &problem);
    assert_int_equal(problem.line, 7);
    assert_int_equal(problem.column, 21);
    hl_device_fail_compile(&scale, "error: a.h:6:16: unknown: 3\n", &problem);
    assert_int_equal(problem.line, 6);
    assert_int_equal(problem.column, 16);
    assert_string_equal(problem.text, "kernel 'scale' does not compile: unknown: 3");
    hl_device_fail_compile(&scale, "something else", &problem);
    assert_int_equal(problem.line, 0);
    assert_string_equal(problem.text, "kernel 'scale' does not compile: something else");
    hl_device_fail_compile(&scale, ": error: ", &problem);
    assert_int_equal(problem.line, 0);
}

/* A kernel that takes seconds, and a limit of a tenth of one. */
static void hang(const char *name)
{
    const haul_device_options options = {.time_limit_s = 0.1};
    haul_device *device = open_or_skip(name, &options);
    const int steps = 1 << 28;
    haul_kernel *kernel;
    haul_stream *stream;
    haul_buffer *buffer;
    char expected[128];
    MUST(haul_kernel_new(device, &spin, &kernel, &problem));
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
    const haul_argument arguments[] = {{buffer, 0, NULL}, {NULL, 0, &steps}};
    const haul_launch launch = {.box = {{0}, {1}}, .arguments = arguments, .argument_count = 2};
    MUST(haul_stream_launch(stream, kernel, &launch, NULL, &problem));
    assert_int_equal(haul_stream_wait(stream, &problem), HAUL_STATUS_TIMED_OUT);
    snprintf(expected, sizeof expected, "device '%s' did not end its work within 0.1 s", name);
    assert_string_equal(problem.text, expected);
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_kernel_free(kernel);
    haul_device_close(device);
}

static void a_hanging_kernel_on_opencl(void **state)
{
    (void)state;
    hang("opencl:0");
}

static void a_hanging_kernel_on_the_host(void **state)
{
    (void)state;
    hang("host");
}

static void a_budget_is_kept(void **state)
{
    (void)state;
    const haul_device_options options = {.memory_limit = 1000};
    haul_device *device = open_or_skip("host", &options);
    haul_buffer *one, *two;
    uint64_t left;
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 600, &one, &problem));
    assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 401, &two, &problem),
                     HAUL_STATUS_DEVICE_FULL);
    assert_string_equal(problem.text,
                        "401 bytes do not fit device 'host': 600 of its limit of 1000 are in use");
    MUST(haul_device_room(device, &left, &problem));
    assert_int_equal(left, 400);
    haul_buffer_free(one);
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 1000, &two, &problem));
    haul_buffer_free(two);
    haul_device_close(device);
}

/* The device is gone behind some operations: calls and waits say so from then on, and what
 * was made can be freed. */
static void disappears(const char *name)
{
    const haul_device_options options = {.test = &(haul_device_test){.lost_behind = 5}};
    haul_device *device = open_or_skip(name, &options);
    haul_stream *stream;
    haul_buffer *buffer;
    int queued = 0;
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
    const haul_filling filling = {buffer, 0, 64, 0};
    while (queued < 100 && haul_stream_fill(stream, &filling, NULL, &problem) == HAUL_OK)
        queued++;
    assert_int_equal(queued, 5);
    assert_non_null(strstr(problem.text, "has disappeared"));
    assert_int_equal(haul_stream_wait(stream, &problem), HAUL_STATUS_DEVICE_FAILED);
    assert_int_equal(haul_stream_fill(stream, &filling, NULL, &problem), HAUL_STATUS_DEVICE_FAILED);
    haul_buffer_free(buffer);
    haul_stream_free(stream);
    haul_device_close(device);
}

static void a_device_that_disappears(void **state)
{
    (void)state;
    disappears("sim:k20");
    disappears("host");
}

static void an_opencl_device_that_disappears(void **state)
{
    (void)state;
    disappears("opencl:0");
}

/* In simulated time: a kernel of a second, a limit of a tenth. */
static double a_second(void *state, const haul_machine *machine, const haul_kernel *kernel,
                       const haul_launch *launch)
{
    (void)state, (void)machine, (void)kernel, (void)launch;
    return 1;
}

static void a_hanging_simulated_kernel(void **state)
{
    (void)state;
    const haul_device_options options = {
        .time_limit_s = 0.1, .without_data = true, .kernel_seconds = a_second};
    haul_device *device = open_or_skip("sim:k20", &options);
    haul_kernel *kernel;
    haul_stream *stream;
    haul_buffer *buffer;
    const int steps = 1;
    MUST(haul_kernel_new(device, &spin, &kernel, &problem));
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
    const haul_argument arguments[] = {{buffer, 0, NULL}, {NULL, 0, &steps}};
    const haul_launch launch = {.box = {{0}, {1}}, .arguments = arguments, .argument_count = 2};
    MUST(haul_stream_launch(stream, kernel, &launch, NULL, &problem));
    assert_int_equal(haul_stream_wait(stream, &problem), HAUL_STATUS_TIMED_OUT);
    assert_string_equal(problem.text, "the simulated device did not end its work within 0.1 s");
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_kernel_free(kernel);
    haul_device_close(device);
}

/* A K20 has 5 GiB: managed memory counts as its own, pinned memory as the host's. */
static void a_simulated_gpu_is_full(void **state)
{
    (void)state;
    const haul_device_options options = {.without_data = true};
    haul_device *device = open_or_skip("sim:k20", &options);
    haul_buffer *most, *pinned, *more = NULL;
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, UINT64_C(5) << 30, &most, &problem));
    assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 1, &more, &problem),
                     HAUL_STATUS_DEVICE_FULL);
    assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_MANAGED, 1, &more, &problem),
                     HAUL_STATUS_DEVICE_FULL);
    assert_null(more);
    MUST(haul_buffer_new(device, HAUL_BUFFER_PINNED, 64, &pinned, &problem));
    haul_buffer_free(pinned);
    haul_buffer_free(most);
    haul_device_close(device);
}

static void cannot_share(haul_device *device, haul_buffer *buffer, const char *name)
{
    haul_buffer *other = NULL;
    haul_buffer_handle handle = {.bytes = 64};
    char expected[128];
    snprintf(expected, sizeof expected, "device '%s' cannot share memory between processes", name);
    assert_int_equal(haul_buffer_export(buffer, &handle, &problem), HAUL_STATUS_ABSENT);
    assert_string_equal(problem.text, expected);
    assert_int_equal(haul_buffer_import(device, &handle, &other, &problem), HAUL_STATUS_ABSENT);
    assert_null(other);
}

/* Where memory cannot be shared between processes, or moved by the driver, the device says so. */
static void what_a_device_cannot(void **state)
{
    (void)state;
    static const char *const names[] = {"host", "sim:k20", "opencl:0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        haul_device *device;
        haul_buffer *buffer, *other = NULL;
        char expected[128];
        if (haul_device_open(names[i], NULL, &device, &problem))
            continue;
        const unsigned can = haul_device_describe(device)->can;
        MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
        if (!(can & HAUL_DEVICE_CAN_SHARE))
            cannot_share(device, buffer, names[i]);
        if (!(can & HAUL_DEVICE_CAN_MANAGE)) {
            snprintf(expected, sizeof expected, "device '%s' has no managed memory", names[i]);
            assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_MANAGED, 64, &other, &problem),
                             HAUL_STATUS_ABSENT);
            assert_string_equal(problem.text, expected);
        }
        assert_null(other);
        haul_buffer_free(buffer);
        haul_device_close(device);
    }
}

static void no_such_device(void **state)
{
    (void)state;
    haul_device *device;
    assert_int_equal(haul_device_open("host:3", NULL, &device, &problem), HAUL_STATUS_ABSENT);
    assert_int_equal(haul_device_open("nothing:0", NULL, &device, &problem), HAUL_STATUS_USAGE);
    device = open_or_skip("opencl", NULL);
    haul_device_close(device);
    assert_int_equal(haul_device_open("opencl:63", NULL, &device, &problem), HAUL_STATUS_ABSENT);
    assert_int_equal(haul_device_open("opencl:x", NULL, &device, &problem), HAUL_STATUS_USAGE);
    assert_int_equal(haul_device_open("opencl:0.99", NULL, &device, &problem), HAUL_STATUS_ABSENT);
}

/* The example of a device from a shared object: what it leaves out, it cannot. */
static void a_device_of_one_s_own(void **state)
{
    (void)state;
    haul_device *own;
    haul_stream *stream;
    haul_buffer *buffer;
    haul_kernel *kernel;
    haul_measurement made;
    char name[512], there[] = "there", back[sizeof there] = "";
    MUST(haul_device_open(EXAMPLE_DEVICE, NULL, &own, &problem));
    MUST(haul_stream_new(own, &stream, &problem));
    MUST(haul_buffer_new(own, HAUL_BUFFER_DEVICE, sizeof there, &buffer, &problem));
    const haul_transfer in = {
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(there), .size = {sizeof there}};
    const haul_transfer out = {.to = haul_in_host(back), .from = in.to, .size = {sizeof there}};
    MUST(haul_stream_copy(stream, &in, NULL, &problem));
    MUST(haul_stream_copy(stream, &out, NULL, &problem));
    MUST(haul_stream_wait(stream, &problem));
    assert_string_equal(back, "there");
    assert_int_equal(haul_kernel_new(own, &scale, &kernel, &problem), HAUL_STATUS_ABSENT);
    assert_int_equal(haul_stream_call(stream, NULL, NULL, NULL, &problem), HAUL_STATUS_ABSENT);
    haul_buffer_free(buffer);
    haul_stream_free(stream);
    const haul_measure_options quick = {.parts = HAUL_MEASURE_TRANSFERS,
                                        .largest_bytes = 1 << 20,
                                        .point_s = 1e-4,
                                        .time_limit_s = 1e-3};
    MUST(haul_measurement_make(own, &quick, &made, &problem));
    assert_true(made.machine->copy_count >= 4);
    haul_measurement_release(&made);
    haul_device_close(own);
    (void)snprintf(name, sizeof name, "%s:7", EXAMPLE_DEVICE);
    MUST(haul_device_open(name, NULL, &own, &problem));
    haul_device_close(own);
    assert_int_equal(haul_device_open("/nothing/such.so", NULL, &own, &problem),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_device_open(EXAMPLE_MODEL, NULL, &own, &problem), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(problem.text, "exports no haul_device_entry"));
}

static char folder[] = "/tmp/haul-test-XXXXXX";

static void kept(const char *key, const char *expected)
{
    size_t size = 0;
    char *bytes = hl_device_kernel_cache_read(folder, key, &size);
    if (!expected) {
        assert_null(bytes);
        return;
    }
    assert_non_null(bytes);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

static void compiled_kernels_are_kept(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    kept("one", NULL);
    hl_device_kernel_cache_write(folder, "one", "first", 5);
    hl_device_kernel_cache_write(folder, "two", "second", 6);
    kept("one", "first");
    kept("two", "second");
    hl_device_kernel_cache_write(folder, "one", "anew", 4);
    kept("one", "anew");
    hl_device_kernel_cache_write("", "one", "nowhere", 7);
    hl_device_kernel_cache_write("/proc/nothing/such", "one", "nowhere", 7);
}

/* Files cut short, of other keys, and of lengths that are not: as if there were none. */
static void broken_files_are_none(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "for f in %s/*; do truncate -s -1 $f; done", folder);
    assert_int_equal(system(command), 0);
    kept("one", NULL);
    kept("two", NULL);
    hl_device_kernel_cache_write(folder, "one", "first", 5);
    snprintf(command, sizeof command,
             "for f in %s/*; do printf '\\377\\377\\377\\377\\377\\377\\377\\377' | "
             "dd of=$f bs=1 seek=16 conv=notrunc 2>/dev/null; done",
             folder);
    assert_int_equal(system(command), 0);
    kept("one", NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* CLBlast itself writes a line to the program's stderr. */
static void a_precision_that_the_device_lacks(void **state)
{
    (void)state;
    haul_device *device = open_or_skip("opencl:0", NULL);
    hl_device_vendor *vendor;
    haul_stream *stream;
    haul_buffer *buffer;
    if (hl_device_vendor_open(device, &vendor, &problem))
        skip();
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
    FILE *kept = tmpfile();
    const int before = dup(STDERR_FILENO);
    assert_non_null(kept);
    assert_true(before >= 0 && dup2(fileno(kept), STDERR_FILENO) >= 0);
    const hl_device_vendor_product product = {HAUL_PRECISION_FP16, 2, 2, 2, buffer, buffer, buffer};
    const haul_status status = hl_device_vendor_multiply(vendor, stream, &product, &problem);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    if (status)
        assert_int_equal(status, HAUL_STATUS_ABSENT);
    assert_int_equal(lseek(fileno(kept), 0, SEEK_END), 0);
    fclose(kept);
    MUST(haul_stream_wait(stream, &problem));
    hl_device_vendor_close(vendor);
    haul_buffer_free(buffer);
    haul_stream_free(stream);
    haul_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_does_not_compile),
        cmocka_unit_test(compilers_are_understood),
        cmocka_unit_test(a_hanging_kernel_on_opencl),
        cmocka_unit_test(a_budget_is_kept),
        cmocka_unit_test(a_device_that_disappears),
        cmocka_unit_test(an_opencl_device_that_disappears),
        cmocka_unit_test(a_hanging_simulated_kernel),
        cmocka_unit_test(a_simulated_gpu_is_full),
        cmocka_unit_test(what_a_device_cannot),
        cmocka_unit_test(no_such_device),
        cmocka_unit_test(a_precision_that_the_device_lacks),
        cmocka_unit_test(a_device_of_one_s_own),
        cmocka_unit_test(compiled_kernels_are_kept),
        cmocka_unit_test(broken_files_are_none),
        cmocka_unit_test(a_hanging_kernel_on_the_host), /* last: it leaves a thread behind */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
