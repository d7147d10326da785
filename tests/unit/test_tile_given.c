/* Kernels that the program compiled itself: from a text of its own, and haul's text as an image.
 * Loops with them give the results of haul's own kernels. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "device/cuda_compiler.h"
#include "device/cuda_device.h"
#include "device/opencl_device.h"
#include "haul/tile.h"
#include "tile_given.kernel.h"
#include "tile_must.h"

enum { X = 70, Y = 45, Z = 9, STEPS = 6, MARK = 1000000 };

typedef unsigned w4;

static const char *named; /* the device, of a test over a driver's stand-in; else NULL */

/* --- the program's own text */

#define TYPES                                                                                      \
    "typedef struct { int lo[3], hi[3]; } box;\n"                                                  \
    "typedef struct { long plane, row; int base, ring; long origin; } view;\n"
#define PLACE                                                                                      \
    "long plane(view v, int i) { i -= v.base; return (i - (i < v.ring ? 0 : v.ring)) * v.plane "   \
    "- v.origin; }\n"
#define SHIFT_BODY(more)                                                                           \
    "    if (x < it.hi[0] && y < it.hi[1])\n"                                                      \
    "        v[plane(v_view, y) + x] = 5 * u[plane(u_view, y) + x]\n"                              \
    "            + 3 * u[plane(u_view, y - 1) + x + 1] + k" more ";\n}\n"
#define HEAT_BODY                                                                                  \
    "    if (x < it.hi[0] && y < it.hi[1] && z < it.hi[2]) {\n"                                    \
    "        const long at = plane(u_view, z) + y * u_view.row + x;\n"                             \
    "        v[plane(v_view, z) + y * v_view.row + x] = 7 * u[at] + u[at - 1]\n"                   \
    "            + 3 * u[at + u_view.row] + 5 * u[plane(u_view, z - 1) + y * u_view.row + x];\n"   \
    "    }\n}\n"

#define CL_ENTRY(name, value)                                                                      \
    "kernel void " name "(box it, global char *u_from, ulong u_at, view u_view" value              \
    ", global char *v_from, ulong v_at, view v_view)\n{\n"                                         \
    "    global const uint *u = (global const uint *)(u_from + u_at);\n"                           \
    "    global uint *v = (global uint *)(v_from + v_at);\n"                                       \
    "    const int x = it.lo[0] + (int)get_global_id(0), y = it.lo[1] + (int)get_global_id(1);\n"
static const char cl_text[] = TYPES PLACE CL_ENTRY("own_shift", ", uint k") SHIFT_BODY("")
    CL_ENTRY("own_marked", ", uint k") SHIFT_BODY(" + 1000000") CL_ENTRY(
        "own_heat",
        "") "    const int z = it.lo[2] + (int)get_global_id(2);\n" HEAT_BODY
            "kernel void own_small(box it, global char *u_from, ulong u_at, view u_view, ulong k,\n"
            "    global char *v_from, ulong v_at, view v_view) { }\n"
            "kernel void own_few(box it, global char *u_from) { }\n";

#define CU_ENTRY(name, value)                                                                      \
    "extern \"C\" __global__ void " name "(box it, const unsigned *u, view u_view" value           \
    ", unsigned *v, view v_view)\n{\n"                                                             \
    "    const int x = it.lo[0] + (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"                 \
    "    const int y = it.lo[1] + (int)(blockIdx.y * blockDim.y + threadIdx.y);\n"
static const char cu_text[] = TYPES "static __device__ " PLACE CU_ENTRY("own_shift", ", unsigned k")
    SHIFT_BODY("") CU_ENTRY("own_marked", ", unsigned k") SHIFT_BODY(" + 1000000") CU_ENTRY(
        "own_heat", "") "    const int z = it.lo[2] + (int)blockIdx.z;\n" HEAT_BODY
                        "extern \"C\" __global__ void own_small(box it, const unsigned *u, box "
                        "u_view, unsigned k,\n"
                        "    unsigned *v, view v_view) { }\n"
                        "extern \"C\" __global__ void own_few(box it, const unsigned *u) { }\n";

/* A device's library, as the program uses it beside haul. */
typedef struct maker {
    haul_context *context;
    bool is_cl;
    hl_device_cl_api cl;
    cl_device_id id;
    cl_context cl_context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernels[8];
    unsigned kernel_count;
    hl_device_cu module;
} maker;

static const hl_device_cu_device *cu_of(const maker *self)
{
    return (const hl_device_cu_device *)haul_context_device(self->context);
}

static cl_program cl_build(const maker *self, const char *text)
{
    cl_int code;
    cl_program made = self->cl.clCreateProgramWithSource(self->cl_context, 1, &text, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(self->cl.clBuildProgram(made, 1, &self->id, "", NULL, NULL), CL_SUCCESS);
    return made;
}

/* Each text is compiled once. The image stays. */
static const hl_device_cu_image *cu_build(const maker *self, const char *text)
{
    static hl_device_cu_image images[2];
    hl_device_cu_image *const image = &images[text == cu_text];
    const haul_device *device = haul_context_device(self->context);
    hl_device_cu_compiler compiler;
    if (image->bytes)
        return image;
    must(hl_device_cu_compiler_load(&compiler, cu_of(self)->api.is_hip, 0, &error));
    must(hl_device_cu_compiler_aim(
        &compiler, (int)(10 * device->properties.compute_major + device->properties.compute_minor),
        &error));
    must(hl_device_cu_compile(&compiler, &given_shift, text, image, &error));
    return image;
}

static void open_cl(maker *self)
{
    cl_platform_id platform;
    cl_int code;
    must(hl_device_cl_load(&self->cl, &error));
    assert_int_equal(self->cl.clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(self->cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &self->id, NULL),
                     CL_SUCCESS);
    self->cl_context = self->cl.clCreateContext(NULL, 1, &self->id, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    self->queue = self->cl.clCreateCommandQueue(self->cl_context, self->id, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    self->program = cl_build(self, cl_text);
}

static void load_cu(maker *self)
{
    const hl_device_cu_image *image = cu_build(self, cu_text);
    HL_DEVICE_CU_VISIT(cu_of(self));
    must(hl_device_cu_enter(cu_of(self), &error));
    assert_int_equal(cu_of(self)->api.module_load(&self->module, image->bytes), 0);
}

static void open_maker(maker *self, const char *device, const haul_context_options *with)
{
    haul_context_options options = *with;
    haul_device_options of_queue = {.queue = NULL};
    *self = (maker){.is_cl = !strncmp(device, "opencl", 6)};
    if (self->is_cl)
        open_cl(self);
    of_queue.queue = self->queue;
    options.device_options = &of_queue;
    must(haul_context_open(device, &options, &self->context, &error));
    if (!self->is_cl)
        load_cu(self);
}

static void *native_of(maker *self, const char *name)
{
    hl_device_cu function;
    cl_int code;
    if (self->is_cl) {
        cl_kernel made = self->cl.clCreateKernel(self->program, name, &code);
        assert_int_equal(code, CL_SUCCESS);
        return self->kernels[self->kernel_count++] = made;
    }
    HL_DEVICE_CU_VISIT(cu_of(self));
    must(hl_device_cu_enter(cu_of(self), &error));
    assert_int_equal(cu_of(self)->api.module_function(&function, self->module, name), 0);
    return function;
}

/* The module lives as long as the context: the driver says so where one goes too early. */
static void close_maker(maker *self)
{
    haul_device *device;
    if (!self->is_cl) {
        must(haul_device_open(named, NULL, &device, &error));
        const hl_device_cu_device *cu = (const hl_device_cu_device *)device;
        haul_context_close(self->context);
        HL_DEVICE_CU_VISIT(cu);
        must(hl_device_cu_enter(cu, &error));
        assert_int_equal(cu->api.module_free(self->module), 0);
        haul_device_close(device);
        return;
    }
    haul_context_close(self->context);
    for (unsigned i = 0; i < self->kernel_count; i++)
        assert_int_equal(self->cl.clReleaseKernel(self->kernels[i]), CL_SUCCESS);
    self->cl.clReleaseProgram(self->program);
    self->cl.clReleaseCommandQueue(self->queue);
    self->cl.clReleaseContext(self->cl_context);
}

static void use_own(maker *self, const haul_kernel_source *source, const char *name)
{
    haul_kernel *kernel;
    must(haul_kernel_wrap(haul_context_device(self->context), source, native_of(self, name),
                          &kernel, &error));
    must(haul_context_use_kernel(self->context, kernel, &error));
}

/* Haul's text of the source's file as an image that the program made. The caller frees it. */
static char *image_of(const maker *self, const haul_kernel_source *source, size_t *bytes)
{
    char *text, *image;
    must(haul_kernel_text(source, &text, &error));
    if (self->is_cl) {
        cl_program program = cl_build(self, text);
        assert_int_equal(
            self->cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes, NULL),
            CL_SUCCESS);
        image = malloc(*bytes);
        assert_int_equal(
            self->cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof image, &image, NULL),
            CL_SUCCESS);
        self->cl.clReleaseProgram(program);
    } else {
        const hl_device_cu_image *made = cu_build(self, text);
        *bytes = made->size;
        image = malloc(*bytes);
        memcpy(image, made->bytes, *bytes);
    }
    free(text);
    return image;
}

static void use_image(const maker *self, const haul_kernel_source *source)
{
    haul_kernel *kernel;
    size_t bytes;
    char *image = image_of(self, source, &bytes);
    must(haul_kernel_load(haul_context_device(self->context), source, image, bytes, &kernel,
                          &error));
    free(image);
    must(haul_context_use_kernel(self->context, kernel, &error));
}

static bool is_there(const char *device)
{
    haul_device *found;
    if (!device || haul_device_open(device, NULL, &found, NULL))
        return false;
    haul_device_close(found);
    return true;
}

/* The devices that take kernels. */
static const char *device_at(int i)
{
    const char *const device = i ? named : "opencl:0";
    return is_there(device) ? device : NULL;
}

/* --- the loops */

static haul_array *plane_of(haul_context *context, haul_boundary boundary, unsigned by)
{
    static w4 cells[Y * X];
    haul_array *array = array_of(
        context,
        (haul_array_spec){.size = {X, Y}, .ghost = {1, 1}, .boundary = {boundary, boundary}});
    for (unsigned i = 0; i < Y * X; i++)
        cells[i] = 1 + i * by;
    must(haul_array_write(array, cells, &error));
    return array;
}

static void shift(haul_context *context, haul_array *u, haul_array *v, w4 k)
{
    must(HAUL_LOOP(context, &error, &given_shift, u, &k, v));
}

/* Back and forth, each time with another value; then the sum. */
static void run_planes(haul_context *context, haul_boundary boundary, w4 got[2][Y * X], w4 *sum)
{
    haul_array *u = plane_of(context, boundary, 17), *v = plane_of(context, boundary, 5);
    haul_array *total = array_of(context, (haul_array_spec){.size = {1}});
    for (int i = 0; i < STEPS; i++)
        shift(context, i % 2 ? v : u, i % 2 ? u : v, (w4)i);
    must(HAUL_LOOP(context, &error, &given_sum, u, total));
    must(haul_array_read(total, sum, &error));
    must(haul_array_read(u, got[0], &error));
    must(haul_array_read(v, got[1], &error));
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(total);
}

static void expect_planes(haul_boundary boundary, w4 expected[2][Y * X], w4 *sum)
{
    haul_context *host;
    must(haul_context_open("host", NULL, &host, &error));
    run_planes(host, boundary, expected, sum);
    haul_context_close(host);
}

/* With the program's kernels, in memory that holds the arrays or a part of them, checked or not. */
static void try_planes(const char *device, haul_boundary boundary, bool is_image,
                       const haul_context_options *options)
{
    static w4 expected[2][Y * X], got[2][Y * X];
    w4 sum, expected_sum;
    maker self;
    expect_planes(boundary, expected, &expected_sum);
    open_maker(&self, device, options);
    if (is_image) {
        use_image(&self, &given_shift);
        use_image(&self, &given_sum); /* of the same file */
    } else {
        use_own(&self, &given_shift, "own_shift");
    }
    run_planes(self.context, boundary, got, &sum);
    assert_memory_equal(got, expected, sizeof got);
    assert_int_equal(sum, expected_sum);
    close_maker(&self);
}

static void test_results_are_those_of_the_text(void **state)
{
    (void)state;
    static const haul_context_options options[] = {
        {.check = false}, {.memory_bytes = 16000}, {.check = true}};
    static const haul_boundary boundaries[] = {HAUL_BOUNDARY_FIXED, HAUL_BOUNDARY_COPY,
                                               HAUL_BOUNDARY_PERIODIC};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 3 && device_at(d); i++)
            for (int b = 0; b < 3; b++)
                for (int is_image = 0; is_image < 2; is_image++)
                    try_planes(device_at(d), boundaries[b], is_image, &options[i]);
}

static void run_cube(haul_context *context, w4 got[Z * Y * X])
{
    static w4 first[Z * Y * X];
    const haul_array_spec spec = {
        .size = {X, Y, Z},
        .ghost = {1, 1, 1},
        .boundary = {HAUL_BOUNDARY_FIXED, HAUL_BOUNDARY_FIXED, HAUL_BOUNDARY_FIXED}};
    haul_array *u = array_of(context, spec), *v = array_of(context, spec);
    for (unsigned i = 0; i < Z * Y * X; i++)
        first[i] = 3 * i + 1;
    must(haul_array_write(u, first, &error));
    for (int i = 0; i < STEPS; i++)
        must(HAUL_LOOP(context, &error, &given_heat, i % 2 ? v : u, i % 2 ? u : v));
    haul_array_discard(v); /* else the last three steps are not one launch */
    must(haul_array_read(u, got, &error));
    haul_array_free(u);
    haul_array_free(v);
}

/* Where haul's text has several steps in a launch, the program's kernel has one. */
static void test_stencils_are_not_fused(void **state)
{
    (void)state;
    static w4 expected[Z * Y * X], got[Z * Y * X];
    const haul_context_options fused = {.fused = 3, .host_share = -1, .region = Z};
    haul_context *host;
    must(haul_context_open("host", NULL, &host, &error));
    run_cube(host, expected);
    haul_context_close(host);
    for (int d = 0; d < 2; d++) {
        maker self;
        if (!device_at(d))
            continue;
        open_maker(&self, device_at(d), &fused);
        run_cube(self.context, got); /* the text: launches of three steps, and of edges */
        assert_memory_equal(got, expected, sizeof got);
        const uint64_t fused_launches = haul_context_count(self.context).kernels;
        assert_true(fused_launches < STEPS);
        use_own(&self, &given_heat, "own_heat");
        run_cube(self.context, got);
        assert_memory_equal(got, expected, sizeof got);
        assert_true(haul_context_count(self.context).kernels >= fused_launches + STEPS);
        close_maker(&self);
    }
}

/* One that gives other results shows which kernel ran: queued loops have the one before. */
static void test_the_kernel_of_the_time(void **state)
{
    (void)state;
    static w4 plain[Y * X], got[3][Y * X];
    for (int d = 0; d < 2; d++) {
        const haul_context_options none = {.host_share = -1};
        haul_array *u, *v[4];
        haul_kernel *text;
        maker self;
        if (!device_at(d))
            continue;
        open_maker(&self, device_at(d), &none);
        u = plane_of(self.context, HAUL_BOUNDARY_COPY, 3);
        for (int i = 0; i < 4; i++)
            v[i] = plane_of(self.context, HAUL_BOUNDARY_COPY, 1);
        shift(self.context, u, v[0], 1);
        use_own(&self, &given_shift, "own_marked");
        shift(self.context, u, v[1], 1);
        use_own(&self, &given_shift, "own_shift");
        shift(self.context, u, v[2], 1);
        use_own(&self, &given_shift, "own_marked");
        must(haul_kernel_new(haul_context_device(self.context), &given_shift, &text, &error));
        must(haul_context_use_kernel(self.context, text, &error));
        shift(self.context, u, v[3], 1);
        must(haul_array_read(v[0], plain, &error));
        for (int i = 0; i < 3; i++)
            must(haul_array_read(v[i + 1], got[i], &error));
        for (int i = 0; i < Y * X; i++)
            assert_int_equal(got[0][i], plain[i] + MARK);
        assert_memory_equal(got[1], plain, sizeof plain);
        assert_memory_equal(got[2], plain, sizeof plain);
        for (int i = 0; i < 4; i++)
            haul_array_free(v[i]);
        haul_array_free(u);
        close_maker(&self);
    }
}

/* One cl_kernel in two of haul's, and launched by the program between. */
static void test_arguments_are_set_each_time(void **state)
{
    (void)state;
    static w4 expected[2][Y * X], got[2][Y * X];
    const haul_context_options none = {.host_share = -1};
    w4 sum, expected_sum, other = 99;
    maker self;
    if (!is_there("opencl:0"))
        return;
    expect_planes(HAUL_BOUNDARY_COPY, expected, &expected_sum);
    open_maker(&self, "opencl:0", &none);
    use_own(&self, &given_shift, "own_shift");
    for (int i = 0; i < 2; i++) {
        run_planes(self.context, HAUL_BOUNDARY_COPY, got, &sum);
        assert_memory_equal(got, expected, sizeof got);
        assert_int_equal(self.cl.clSetKernelArg(self.kernels[0], 4, sizeof other, &other),
                         CL_SUCCESS);
    }
    close_maker(&self);
}

/* The checked mode compares a kernel with the text. */
static void test_a_wrong_kernel_is_found(void **state)
{
    (void)state;
    static w4 got[Y * X];
    const haul_context_options checked = {.check = true};
    for (int d = 0; d < 2; d++) {
        maker self;
        if (!device_at(d))
            continue;
        open_maker(&self, device_at(d), &checked);
        use_own(&self, &given_shift, "own_marked");
        haul_array *u = plane_of(self.context, HAUL_BOUNDARY_COPY, 3);
        haul_array *v = plane_of(self.context, HAUL_BOUNDARY_COPY, 1);
        shift(self.context, u, v, 1);
        assert_int_equal(haul_array_read(v, got, &error), HAUL_STATUS_USAGE);
        assert_non_null(strstr(error.text, "kernels that the program compiled"));
        haul_array_free(u);
        haul_array_free(v);
        close_maker(&self);
    }
}

/* --- refusals */

static void refuse_wrap(haul_device *device, void *native, const char *text)
{
    haul_kernel *kernel;
    assert_int_equal(haul_kernel_wrap(device, &given_shift, native, &kernel, &error),
                     HAUL_STATUS_USAGE);
    assert_non_null(strstr(error.text, text));
}

static void refuse_load(haul_device *device, const haul_kernel_source *source, const char *image,
                        size_t bytes, haul_status status, const char *text)
{
    haul_kernel *kernel;
    assert_int_equal(haul_kernel_load(device, source, image, bytes, &kernel, &error), status);
    assert_non_null(strstr(error.text, text));
}

static void refuse_use(haul_context *context, haul_kernel *kernel, const char *text)
{
    assert_int_equal(haul_context_use_kernel(context, kernel, &error), HAUL_STATUS_USAGE);
    assert_non_null(strstr(error.text, text));
}

static void try_refusals(const char *device)
{
    const haul_context_options none = {.check = false};
    haul_kernel_source other = given_shift;
    haul_context *second;
    haul_kernel *kernel;
    size_t bytes;
    maker self;
    open_maker(&self, device, &none);
    haul_device *on = haul_context_device(self.context);
    const bool tells = self.is_cl || !cu_of(&self)->api.is_hip; /* a kernel's parameters */
    refuse_wrap(on, NULL, "no kernel of the program's for 'given_shift'");
    if (tells) {
        refuse_wrap(on, native_of(&self, "own_few"), "has not the");
        refuse_wrap(on, native_of(&self, "own_heat"), self.is_cl ? "has not the 8" : "parameter 3");
        refuse_wrap(on, native_of(&self, "own_small"),
                    self.is_cl ? "the 4 bytes of the value of 'k'" : "of the value of 'u_view'");
    }
    char *image = image_of(&self, &given_shift, &bytes);
    refuse_load(on, &given_shift, NULL, bytes, HAUL_STATUS_USAGE, "no image");
    refuse_load(on, &given_shift, "no kernel", 9, HAUL_STATUS_BAD_INPUT,
                "'given_shift' does not load");
    other.name = "none_of_this_name";
    refuse_load(on, &other, image, bytes, HAUL_STATUS_BAD_INPUT, "no kernel of that name");
    other.name = given_shift.name;
    other.host = NULL;
    must(haul_kernel_load(on, &other, image, bytes, &kernel, &error));
    refuse_use(self.context, kernel, "no function for the host");
    haul_kernel_free(kernel);
    must(haul_context_open("sim:k40", NULL, &second, &error));
    must(haul_kernel_load(on, &given_shift, image, bytes, &kernel, &error));
    refuse_use(second, kernel, "of another device");
    haul_context_close(second);
    must(haul_context_open("sim:k40,sim:k40", NULL, &second, &error));
    refuse_use(second, kernel, "for a context of several");
    haul_context_close(second);
    if (self.is_cl) { /* a device with a context of its own */
        must(haul_context_open(device, NULL, &second, &error));
        refuse_wrap(haul_context_device(second), native_of(&self, "own_shift"),
                    "of another OpenCL context");
        haul_context_close(second);
    }
    haul_kernel_free(kernel);
    free(image);
    close_maker(&self);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const none[] = {"host", "sim:k40"};
    for (int i = 0; i < 2; i++) {
        haul_context *context;
        haul_kernel *kernel;
        int native = 0;
        must(haul_context_open(none[i], NULL, &context, &error));
        haul_device *device = haul_context_device(context);
        assert_int_equal(haul_kernel_wrap(device, &given_shift, &native, &kernel, &error),
                         HAUL_STATUS_ABSENT);
        assert_non_null(strstr(error.text, "cannot run kernels that the program compiled"));
        assert_int_equal(haul_kernel_load(device, &given_shift, &native, 4, &kernel, &error),
                         HAUL_STATUS_ABSENT);
        haul_context_close(context);
    }
    for (int d = 0; d < 2; d++)
        if (device_at(d))
            try_refusals(device_at(d));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_those_of_the_text),
        cmocka_unit_test(test_stencils_are_not_fused),
        cmocka_unit_test(test_the_kernel_of_the_time),
        cmocka_unit_test(test_arguments_are_set_each_time),
        cmocka_unit_test(test_a_wrong_kernel_is_found),
        cmocka_unit_test(test_refusals),
    };
    named = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
