/* The devices `cuda` and `hip` when something is wrong, over the driver's stand-in: the first
 * argument is the kind, the second the test, for each needs a driver of its own (FAKE_CUDA). */
#include "check.h"

#include <dlfcn.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "device/vendor_product.h"
#include "device_kernels.h"

extern char **environ;

static const char *program, *kind;
static haul_error problem;

#define MUST(status)                                                                               \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", problem.text);                                                          \
    } while (0)

static haul_device *open_nth(unsigned nth, const haul_device_options *options)
{
    char name[32];
    haul_device *device;
    snprintf(name, sizeof name, "%s:%u", kind, nth);
    MUST(haul_device_open(name, options, &device, &problem));
    return device;
}

static void expect(const char *part)
{
    if (!strstr(problem.text, part))
        fail_msg("'%s' is not in '%s'", part, problem.text);
}

static haul_status open_failing(void)
{
    haul_device *device;
    return haul_device_open(kind, NULL, &device, &problem);
}

static void no_driver(void **state)
{
    (void)state;
    const haul_status status = open_failing();
    if (!status || !strstr(problem.text, "brings it"))
        skip(); /* this machine has a driver */
    assert_int_equal(status, HAUL_STATUS_ABSENT);
    expect(strcmp(kind, "hip") ? "no libcuda.so.1: NVIDIA's driver brings it"
                               : "no libamdhip64.so: AMD's ROCm brings it");
}

static void no_device(void **state)
{
    (void)state;
    assert_int_equal(open_failing(), HAUL_STATUS_ABSENT);
    expect("the driver finds no GPU of ");
}

static void no_such_device(void **state)
{
    (void)state;
    haul_device *device;
    char name[32];
    snprintf(name, sizeof name, "%s:2", kind);
    assert_int_equal(haul_device_open(name, NULL, &device, &problem), HAUL_STATUS_ABSENT);
    expect(":2': the last is 1");
    snprintf(name, sizeof name, "%s:x", kind);
    assert_int_equal(haul_device_open(name, NULL, &device, &problem), HAUL_STATUS_USAGE);
    snprintf(name, sizeof name, "%s:GPU-nothing", kind);
    assert_int_equal(haul_device_open(name, NULL, &device, &problem), HAUL_STATUS_ABSENT);
    snprintf(name, sizeof name, "%s:ffff:00:00.0", kind);
    assert_int_equal(haul_device_open(name, NULL, &device, &problem), HAUL_STATUS_ABSENT);
}

/* By what it says of itself, as `haul measure` writes it into a journal. */
static void by_uuid(void **state)
{
    (void)state;
    char name[64];
    haul_device *second = open_nth(1, NULL), *again;
    const char *identity = haul_device_describe(second)->identity;
    snprintf(name, sizeof name, "%s:%s", kind, identity);
    MUST(haul_device_open(name, NULL, &again, &problem));
    assert_string_equal(haul_device_describe(again)->identity, identity);
    haul_device_close(again);
    haul_device_close(second);
}

/* c = a b by the vendor's library, behind the copies of a and b on the same stream. */
static void multiply_in(haul_device *device, hl_device_vendor *vendor, haul_precision precision,
                        const void *matrices[2], void *result, size_t bytes)
{
    haul_buffer *on_device[3];
    haul_stream *stream;
    MUST(haul_stream_new(device, &stream, &problem));
    for (int i = 0; i < 3; i++)
        MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, bytes, &on_device[i], &problem));
    for (int i = 0; i < 2; i++) {
        const haul_transfer in = {.to = haul_in_buffer(on_device[i], 0),
                                  .from = haul_in_host(matrices[i]),
                                  .size = {bytes}};
        MUST(haul_stream_copy(stream, &in, NULL, &problem));
    }
    const hl_device_vendor_product product = {precision,    2,           2, 2, on_device[0],
                                              on_device[1], on_device[2]};
    MUST(hl_device_vendor_multiply(vendor, stream, &product, &problem));
    const haul_transfer out = {
        .to = haul_in_host(result), .from = haul_in_buffer(on_device[2], 0), .size = {bytes}};
    MUST(haul_stream_copy(stream, &out, NULL, &problem));
    MUST(haul_stream_wait(stream, &problem));
    for (int i = 0; i < 3; i++)
        haul_buffer_free(on_device[i]);
    haul_stream_free(stream);
}

static void matrix_products(void **state)
{
    (void)state;
    static const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {19, 22, 43, 50};
    static const float a_single[4] = {1, 2, 3, 4}, b_single[4] = {5, 6, 7, 8};
    static const uint16_t a_half[4] = {0x3c00, 0x4000, 0x4200, 0x4400};
    static const uint16_t b_half[4] = {0x4500, 0x4600, 0x4700, 0x4800};
    static const uint16_t c_half[4] = {0x4cc0, 0x4d80, 0x5160, 0x5240};
    double made[4];
    float made_single[4];
    uint16_t made_half[4];
    hl_device_vendor *vendor;
    haul_device *device = open_nth(0, NULL);
    MUST(hl_device_vendor_open(device, &vendor, &problem));
    assert_string_equal(hl_device_vendor_name(vendor), strcmp(kind, "hip") ? "cuBLAS" : "hipBLAS");
    multiply_in(device, vendor, HAUL_PRECISION_FP64, (const void *[]){a, b}, made, sizeof made);
    assert_memory_equal(made, c, sizeof c);
    multiply_in(device, vendor, HAUL_PRECISION_FP32, (const void *[]){a_single, b_single},
                made_single, sizeof made_single);
    for (int i = 0; i < 4; i++)
        assert_true((double)made_single[i] == c[i]);
    multiply_in(device, vendor, HAUL_PRECISION_FP16, (const void *[]){a_half, b_half}, made_half,
                sizeof made_half);
    assert_memory_equal(made_half, c_half, sizeof c_half);
    hl_device_vendor_close(vendor);
    haul_device_close(device);
}

static void no_compiler(void **state)
{
    (void)state;
    haul_kernel *kernel;
    haul_device *device = open_nth(0, NULL);
    assert_int_equal(haul_kernel_new(device, &scale, &kernel, &problem), HAUL_STATUS_ABSENT);
    expect("which compiles kernels: ");
    haul_device_close(device);
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
    haul_device *device = open_nth(0, NULL);
    haul_kernel *kernel;
    assert_int_equal(haul_kernel_new(device, &source, &kernel, &problem), HAUL_STATUS_BAD_INPUT);
    assert_string_equal(problem.file, "mine.kernel.h");
    assert_int_equal(problem.line, 6);
    expect("nothing_such");
    haul_device_close(device);
}

/* FAKE_CUDA gives devices of 1 MiB. */
static void out_of_memory(void **state)
{
    (void)state;
    haul_device *device = open_nth(0, NULL);
    haul_buffer *one, *two;
    uint64_t left;
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 600 << 10, &one, &problem));
    assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 600 << 10, &two, &problem),
                     HAUL_STATUS_DEVICE_FULL);
    expect(":0' has no 614400 bytes of device memory");
    MUST(haul_device_room(device, &left, &problem));
    assert_int_equal(left, 424 << 10);
    haul_buffer_free(one);
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 600 << 10, &two, &problem));
    haul_buffer_free(two);
    haul_device_close(device);
}

/* The driver loses its devices after some calls: whatever is called then fails, and nothing hangs.
 */
static void a_device_that_disappears(void **state)
{
    (void)state;
    haul_device *device = open_nth(0, NULL);
    haul_stream *stream;
    haul_buffer *buffer, *other;
    char bytes[64] = {0};
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, sizeof bytes, &buffer, &problem));
    const haul_transfer transfer = {
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(bytes), .size = {sizeof bytes}};
    haul_status status = HAUL_OK;
    for (int i = 0; i < 1000 && !status; i++) {
        status = haul_stream_copy(stream, &transfer, NULL, &problem);
        if (!status)
            status = haul_stream_wait(stream, &problem);
    }
    assert_int_equal(status, HAUL_STATUS_DEVICE_FAILED);
    expect("Unknown (999)" + (strcmp(kind, "hip") ? 7 : 0));
    assert_int_equal(haul_stream_wait(stream, &problem), HAUL_STATUS_DEVICE_FAILED);
    assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 1, &other, &problem),
                     HAUL_STATUS_DEVICE_FAILED);
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_device_close(device);
}

/* The status that a launch of `source` on a small buffer ends with, within `limit_s` (0: the
 * default). */
static haul_status run(const haul_kernel_source *source, const void *value, size_t buffers,
                       haul_box box, double limit_s)
{
    const haul_device_options options = {.time_limit_s = limit_s};
    haul_device *device = open_nth(0, &options);
    haul_kernel *kernel;
    haul_stream *stream;
    haul_buffer *buffer, *other;
    MUST(haul_kernel_new(device, source, &kernel, &problem));
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
    haul_argument arguments[3] = {{buffer, 0, NULL}, {buffer, 0, NULL}};
    arguments[buffers] = (haul_argument){NULL, 0, value};
    const haul_launch launch = {.box = box, .arguments = arguments, .argument_count = buffers + 1};
    MUST(haul_stream_launch(stream, kernel, &launch, NULL, &problem));
    const haul_status status = haul_stream_wait(stream, &problem);
    const haul_error first = problem;
    assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 1, &other, &problem),
                     HAUL_STATUS_DEVICE_FAILED);
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_kernel_free(kernel);
    haul_device_close(device);
    problem = first;
    return status;
}

static void a_hanging_kernel(void **state)
{
    (void)state;
    const int steps = 1 << 30;
    assert_int_equal(run(&spin, &steps, 1, (haul_box){{0}, {16}}, 0.2), HAUL_STATUS_TIMED_OUT);
    expect("did not end its work within 0.2 s");
}

static void a_kernel_that_leaves_its_buffer(void **state)
{
    (void)state;
    const float by = 1;
    assert_int_equal(run(&scale, &by, 2, (haul_box){{0}, {100000}}, 0), HAUL_STATUS_DEVICE_FAILED);
    expect("an operation on the device failed: ");
    expect("(700)");
}

/* HIP counts a launch's threads in a row in 32 bits, in blocks of 256; CUDA its blocks in 31. */
static void a_box_too_large_for_a_launch(void **state)
{
    (void)state;
    haul_device *device = open_nth(0, NULL);
    haul_kernel *kernel;
    haul_stream *stream;
    haul_buffer *buffer;
    MUST(haul_kernel_new(device, &spin, &kernel, &problem));
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
    const int steps = 0;
    const haul_argument arguments[] = {{buffer, 0, NULL}, {NULL, 0, &steps}};
    const haul_launch launch = {
        .box = {{INT_MIN}, {INT_MAX}}, .arguments = arguments, .argument_count = 2};
    if (!strcmp(kind, "hip")) {
        assert_int_equal(haul_stream_launch(stream, kernel, &launch, NULL, &problem),
                         HAUL_STATUS_USAGE);
        expect("is launched over too large a box");
    }
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_kernel_free(kernel);
    haul_device_close(device);
}

/* --- memory of two processes */

static char *hexadecimal(const haul_buffer_handle *handle, char *text)
{
    for (size_t i = 0; i < sizeof handle->name; i++)
        sprintf(text + 2 * i, "%02x", handle->name[i]);
    return text;
}

/* In the other process: adds 1 to each byte. */
static int import_and_add(const char *text, unsigned count)
{
    haul_buffer_handle handle = {.bytes = count};
    char bytes[64];
    haul_device *device = open_nth(0, NULL);
    haul_stream *stream;
    haul_buffer *buffer;
    for (size_t i = 0; i < sizeof handle.name; i++) {
        unsigned byte;
        sscanf(text + 2 * i, "%2x", &byte);
        handle.name[i] = (unsigned char)byte;
    }
    if (haul_stream_new(device, &stream, &problem) ||
        haul_buffer_import(device, &handle, &buffer, &problem))
        return 1;
    haul_transfer transfer = {
        .to = haul_in_host(bytes), .from = haul_in_buffer(buffer, 0), .size = {count}};
    if (haul_stream_copy(stream, &transfer, NULL, &problem) || haul_stream_wait(stream, &problem))
        return 1;
    for (unsigned i = 0; i < count; i++)
        bytes[i]++;
    transfer = (haul_transfer){
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(bytes), .size = {count}};
    if (haul_stream_copy(stream, &transfer, NULL, &problem) || haul_stream_wait(stream, &problem))
        return 1;
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_device_close(device);
    return 0;
}

static void memory_of_two_processes(void **state)
{
    (void)state;
    char bytes[64], text[129];
    haul_buffer_handle handle;
    haul_device *device = open_nth(0, NULL);
    haul_stream *stream;
    haul_buffer *buffer;
    memset(bytes, 7, sizeof bytes);
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, sizeof bytes, &buffer, &problem));
    haul_transfer transfer = {
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(bytes), .size = {sizeof bytes}};
    MUST(haul_stream_copy(stream, &transfer, NULL, &problem));
    MUST(haul_stream_wait(stream, &problem));
    MUST(haul_buffer_export(buffer, &handle, &problem));
    char *arguments[] = {(char *)program, (char *)kind, (char *)"import",
                         hexadecimal(&handle, text), NULL};
    pid_t child;
    int status;
    assert_int_equal(posix_spawn(&child, program, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    transfer = (haul_transfer){
        .to = haul_in_host(bytes), .from = haul_in_buffer(buffer, 0), .size = {sizeof bytes}};
    MUST(haul_stream_copy(stream, &transfer, NULL, &problem));
    MUST(haul_stream_wait(stream, &problem));
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 8);
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_device_close(device);
}

/* A program that uses another GPU has a context of CUDA, or a device of HIP, current. */
typedef struct program_state {
    int (*get)(void *current);
    int (*set)(void *context);
    int (*set_number)(int device);
} program_state;

static void *current_of(const program_state *program_has)
{
    void *current = NULL;
    assert_int_equal(program_has->get(&current), 0);
    return current;
}

static void use_all(haul_device *device)
{
    uint64_t room;
    haul_buffer *buffer;
    haul_stream *stream;
    haul_event *event;
    char byte = 0;
    double seconds;
    MUST(haul_device_room(device, &room, &problem));
    MUST(haul_buffer_new(device, HAUL_BUFFER_DEVICE, 64, &buffer, &problem));
    MUST(haul_stream_new(device, &stream, &problem));
    MUST(haul_event_new(device, &event, &problem));
    const haul_transfer transfer = {
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(&byte), .size = {1}};
    MUST(haul_stream_copy(stream, &transfer, event, &problem));
    MUST(haul_event_wait(event, &problem));
    MUST(haul_event_seconds(event, event, &seconds, &problem));
    MUST(haul_stream_wait(stream, &problem));
    haul_event_free(event);
    haul_stream_free(stream);
    haul_buffer_free(buffer);
}

/* Another device's, and none: both are there again behind every call. */
static void what_a_program_has_current_stays(void **state)
{
    (void)state;
    const bool is_hip = !strcmp(kind, "hip");
    void *library = dlopen(is_hip ? "libamdhip64.so.6" : "libcuda.so.1", RTLD_NOW);
    assert_non_null(library);
    program_state has = {NULL};
    *(void **)&has.get = dlsym(library, is_hip ? "hipGetDevice" : "cuCtxGetCurrent");
    *(void **)&has.set = dlsym(library, is_hip ? "hipSetDevice" : "cuCtxSetCurrent");
    *(void **)&has.set_number = *(void **)&has.set;
    haul_device *other = open_nth(1, NULL), *device = open_nth(0, NULL);
    if (!is_hip) {
        int (*retain)(void *context, int number);
        void *context;
        *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
        assert_null(current_of(&has));
        use_all(device);
        assert_null(current_of(&has));
        assert_int_equal(retain(&context, 1), 0);
        assert_int_equal(has.set(context), 0);
    } else {
        assert_int_equal(has.set_number(1), 0);
    }
    void *const before = current_of(&has);
    assert_non_null(before);
    use_all(device);
    assert_ptr_equal(current_of(&has), before);
    haul_device_close(device);
    haul_device_close(other);
    dlclose(library);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_driver),
        cmocka_unit_test(no_device),
        cmocka_unit_test(no_such_device),
        cmocka_unit_test(by_uuid),
        cmocka_unit_test(matrix_products),
        cmocka_unit_test(no_compiler),
        cmocka_unit_test(a_kernel_that_does_not_compile),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(a_device_that_disappears),
        cmocka_unit_test(a_hanging_kernel),
        cmocka_unit_test(a_kernel_that_leaves_its_buffer),
        cmocka_unit_test(a_box_too_large_for_a_launch),
        cmocka_unit_test(memory_of_two_processes),
        cmocka_unit_test(what_a_program_has_current_stays),
    };
    if (argc < 3)
        return 2;
    program = argv[0];
    kind = argv[1];
    if (argc == 4)
        return import_and_add(argv[3], 64);
    cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
