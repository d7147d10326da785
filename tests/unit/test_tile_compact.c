/* Compaction of random arrays whose flags a loop has set, and loops over what it gives, on every
 * device or on those that are named, beside plain C. */
#include "check.h"

#include <string.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_compact.kernel.h"
#include "tile_must.h"

static const char *usual_devices[] = {"host", "sim:k40", "opencl:0", "sim:k40,sim:k40",
                                      "host,sim:k40"};
static const char **devices = usual_devices;
static size_t device_count = sizeof usual_devices / sizeof *usual_devices;

static unsigned seed;

static int drawn(int count)
{
    seed = seed * 1664525U + 1013904223U;
    return (int)((seed >> 8) % (unsigned)count);
}

/* --- random arrays */

enum { MOST = 6000, PROGRAMS = 40 };

typedef struct program {
    int size[3]; /* of what is compacted */
    int cells;
    int room; /* cells of the result */
    int parts;
    int in[MOST];
    int out[MOST + 1]; /* from 1 on; 0 is beyond the edge */
    int pairs[MOST];
    uint64_t count;
} program;

static void draw_program(program *self)
{
    static const int most[3][3] = {{MOST, 0, 0}, {40, 90, 0}, {9, 8, 60}};
    const int dims = drawn(3);
    memset(self, 0, sizeof *self);
    self->cells = 1;
    for (int d = 0; d <= dims; d++)
        self->cells *= self->size[d] = 2 + drawn(most[dims][d] - 1);
    self->room = self->cells;
    self->parts = 1 + drawn(5);
    for (int i = 0; i < self->cells; i++)
        self->in[i] = drawn(1000);
}

/* The plane beyond the edge is zeros. Cells after the last that is kept stay -1. */
static void run_plainly(program *self)
{
    const int plane = self->size[2]   ? self->size[0] * self->size[1]
                      : self->size[1] ? self->size[0]
                                      : 1;
    for (int i = 1; i <= self->room; i++)
        self->out[i] = -1;
    for (int i = 0; i < self->cells; i++)
        if (((i < plane ? 0 : self->in[i - plane]) + self->in[i]) % self->parts == 0)
            self->out[++self->count] = self->in[i];
    for (int i = 1; i <= self->room; i++)
        self->out[i] += 1;
    for (int i = 0; i < self->room; i++)
        self->pairs[i] = self->out[i] + self->out[i + 1];
}

static void queue_mark(haul_context *context, const program *self, haul_array *u, haul_array *flags)
{
    if (self->size[2])
        must(HAUL_LOOP(context, &error, &mark_3, u, flags, &self->parts));
    else if (self->size[1])
        must(HAUL_LOOP(context, &error, &mark_2, u, flags, &self->parts));
    else
        must(HAUL_LOOP(context, &error, &mark_1, u, flags, &self->parts));
}

static void run_on(haul_context *context, const program *self, program *got)
{
    haul_array_spec spec = {.ghost = {1, 1, 1}, .region = drawn(2) ? 1 + drawn(3) : 0};
    const haul_array_spec line = {
        .size = {self->room}, .ghost = {1}, .region = drawn(2) ? 1 + drawn(2) : 0};
    memcpy(spec.size, self->size, sizeof spec.size);
    spec.region *= self->size[1] ? 1 : 50; /* of one dimension a plane is a cell */
    haul_array *u = array_of(context, spec), *flags = array_of(context, spec);
    haul_array *out = array_of(context, line), *pairs = array_of(context, line);
    uint64_t only_counted = 0;
    for (int i = 0; i < self->room; i++)
        got->out[i] = -2;
    must(haul_array_write(u, self->in, &error));
    must(haul_array_write(out, got->out, &error));
    must(
        HAUL_LOOP(context, &error, &count_up_1, out)); /* the device has it, and the host has not */
    queue_mark(context, self, u, flags);
    must(haul_array_compact(u, flags, NULL, &only_counted, &error));
    must(haul_array_compact(u, flags, out, &got->count, &error));
    assert_int_equal(only_counted, got->count);
    must(HAUL_LOOP(context, &error, &count_up_1, out));
    must(HAUL_LOOP(context, &error, &pair_1, out, pairs));
    must(haul_array_read(pairs, got->pairs, &error));
    must(haul_array_read(out, got->out + 1, &error));
    must(haul_array_read(u, got->in, &error));
    haul_array_free(u);
    haul_array_free(flags);
    haul_array_free(out);
    haul_array_free(pairs);
}

static void test_random(void **state)
{
    static program expected, got;
    (void)state;
    for (size_t d = 0; d < device_count; d++)
        for (unsigned number = 0; number < PROGRAMS; number++) {
            const haul_device_options order = {
                .test = &(haul_device_test){.order = HAUL_ORDER_RANDOM, .seed = number}};
            const haul_context_options options = {.device_options = &order,
                                                  .memory_bytes = number % 4 ? 40000 : 0,
                                                  .host_share = number % 3 ? 0 : 0.5,
                                                  .check = number % 5 == 4};
            haul_context *context;
            seed = number;
            if (haul_context_open(devices[d], &options, &context, &error))
                break;
            draw_program(&expected);
            run_plainly(&expected);
            memset(&got, 0, sizeof got);
            run_on(context, &expected, &got);
            haul_context_close(context);
            assert_int_equal(got.count, expected.count);
            if (memcmp(got.out + 1, expected.out + 1, (size_t)expected.room * sizeof(int)) != 0 ||
                memcmp(got.pairs, expected.pairs, (size_t)expected.room * sizeof(int)) != 0 ||
                memcmp(got.in, expected.in, sizeof got.in) != 0)
                fail_msg("%s, program %u", devices[d], number);
        }
}

/* --- shapes and types */

/* Structs of 12 bytes and of 3, by flags of one byte and of eight, into a plane that takes just as
 * many: from the host's memory, and where a device has all of them. */
enum { COUNT = 30, KEPT = 10, STRUCT = 12 };

static void try_types(haul_context *context, uint64_t bytes, bool on_device)
{
    const haul_array_spec from = {
        .size = {5, 6}, .element_bytes = bytes, .element = HAUL_ELEMENT_STRUCT};
    haul_array_spec to = from;
    unsigned char cells[COUNT * STRUCT], got[KEPT * STRUCT], small[COUNT];
    int64_t large[COUNT];
    uint64_t count = 0;
    haul_device_cells given;
    to.size[0] = 2;
    to.size[1] = 5;
    to.ghost[0] = 1;
    for (unsigned i = 0; i < COUNT; i++) {
        small[i] = i % 3 == 1 ? 128 : 0;
        large[i] = i % 3 == 1 ? INT64_MIN : 0;
        for (unsigned k = 0; k < bytes; k++)
            cells[i * bytes + k] = (unsigned char)(5 * i + k);
    }
    haul_array *u = array_of(context, from), *v = array_of(context, to);
    haul_array *by[] = {array_of(context, (haul_array_spec){.size = {5, 6}, .element_bytes = 1}),
                        array_of(context, (haul_array_spec){.size = {5, 6}, .element_bytes = 8})};
    must(haul_array_write(u, cells, &error));
    must(haul_array_write(by[0], small, &error));
    must(haul_array_write(by[1], large, &error));
    memset(got, 0, sizeof got);
    for (int i = 0; i < 2; i++) {
        must(haul_array_write(v, got, &error));
        if (on_device) {
            must(haul_array_access_device(u, HAUL_USE_READ, &given, &error));
            must(haul_array_access_device(by[i], HAUL_USE_READ, &given, &error));
        }
        const haul_context_counts before = haul_context_count(context);
        must(haul_array_compact(u, by[i], v, &count, &error));
        const haul_context_counts after = haul_context_count(context);
        assert_int_equal(after.kernels - before.kernels, on_device ? 2 : 0);
        assert_int_equal(after.bytes_down - before.bytes_down, on_device ? sizeof(long) : 0);
        must(haul_array_read(v, got, &error));
        assert_int_equal(count, KEPT);
        for (unsigned k = 0; k < KEPT; k++)
            assert_memory_equal(got + k * bytes, cells + (3 * k + 1) * bytes, bytes);
        memset(got, 0, sizeof got);
        haul_array_free(by[i]);
    }
    haul_array_free(u);
    haul_array_free(v);
}

static void test_types(void **state)
{
    (void)state;
    for (size_t d = 0; d < device_count; d++) {
        haul_context *context;
        if (haul_context_open(devices[d], NULL, &context, &error))
            continue;
        for (uint64_t bytes = 3; bytes <= STRUCT; bytes += STRUCT - 3) {
            try_types(context, bytes, false);
            if (strcmp(devices[d], "host") != 0 && !strchr(devices[d], ','))
                try_types(context, bytes, true);
        }
        haul_context_close(context);
    }
}

/* Of an array that a loop left on the device, counts of groups of cells come to the host alone. */
static void test_on_the_device(void **state)
{
    enum { WIDE = 70, HIGH = 90, GROUPS = 4 };
    static int cells[HIGH][WIDE], got[HIGH * WIDE];
    const haul_array_spec plane = {.size = {WIDE, HIGH}, .ghost = {1, 1}};
    const int parts = 3;
    (void)state;
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++)
            cells[y][x] = 7 * y + 5 * x;
    for (size_t d = 0; d < device_count; d++) {
        const haul_context_options alone = {.host_share = -1};
        haul_context *context;
        uint64_t count = 0, expected = 0;
        if (!strcmp(devices[d], "host") || strchr(devices[d], ',') ||
            haul_context_open(devices[d], &alone, &context, &error))
            continue;
        haul_array *u = array_of(context, plane), *flags = array_of(context, plane);
        haul_array *out = array_of(context, (haul_array_spec){.size = {HIGH * WIDE}});
        must(haul_array_write(u, cells, &error));
        must(HAUL_LOOP(context, &error, &mark_2, u, flags, &parts));
        must(haul_context_wait(context, &error));
        const haul_context_counts before = haul_context_count(context);
        must(haul_array_compact(u, flags, out, &count, &error));
        assert_int_equal(haul_context_count(context).kernels - before.kernels, 2);
        assert_int_equal(haul_context_count(context).bytes_down - before.bytes_down,
                         GROUPS * sizeof(long));
        must(haul_array_read(out, got, &error));
        for (int y = 0; y < HIGH; y++)
            for (int x = 0; x < WIDE; x++)
                if (((y ? cells[y - 1][x] : 0) + cells[y][x]) % parts == 0)
                    assert_int_equal(got[expected++], cells[y][x]);
        assert_int_equal(count, expected);
        haul_array_free(u);
        haul_array_free(flags);
        haul_array_free(out);
        haul_context_close(context);
    }
}

/* --- what is refused, before anything changes */

static void expect_usage(haul_array *from, haul_array *flags, haul_array *to, const char *words)
{
    uint64_t count = 77;
    assert_int_equal(haul_array_compact(from, flags, to, &count, &error), HAUL_STATUS_USAGE);
    if (!strstr(error.text, words))
        fail_msg("'%s' has no '%s'", error.text, words);
    assert_int_equal(count, 77);
}

static void test_wrong(void **state)
{
    const haul_array_spec eight = {.size = {8}}, doubles = {.size = {8},
                                                            .element_bytes = 8,
                                                            .element = HAUL_ELEMENT_FLOATING};
    const haul_array_spec floats = {.size = {8}, .element = HAUL_ELEMENT_FLOATING};
    const int cells[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int got[7];
    (void)state;
    for (size_t d = 0; d < device_count; d++) {
        haul_context *context;
        uint64_t count = 77;
        if (haul_context_open(devices[d], NULL, &context, &error))
            continue;
        haul_array *u = array_of(context, eight), *flags = array_of(context, eight);
        haul_array *seven = array_of(context, (haul_array_spec){.size = {7}});
        haul_array *wide = array_of(context, doubles), *real = array_of(context, floats);
        haul_array *integers =
            array_of(context, (haul_array_spec){.size = {8}, .element = HAUL_ELEMENT_INTEGER});
        haul_array *none = array_of(context, (haul_array_spec){.size = {0}});
        must(haul_array_write(u, cells, &error));
        must(haul_array_write(flags, cells, &error));
        expect_usage(u, flags, seven, "8 cells are kept");
        must(haul_array_read(seven, got, &error));
        for (int i = 0; i < 7; i++)
            assert_int_equal(got[i], 0);
        expect_usage(u, seven, flags, "another shape");
        expect_usage(u, real, seven, "flags are integers");
        expect_usage(u, flags, wide, "8 bytes");
        expect_usage(integers, flags, real, "kind");
        expect_usage(u, flags, u, "same array");
        expect_usage(u, flags, flags, "same array");
        must(haul_array_compact(none, none, seven, &count, &error));
        assert_int_equal(count, 0);
        must(haul_array_compact(u, u, integers, &count, &error)); /* its own flags */
        assert_int_equal(count, 8);
        haul_array *const all[] = {u, flags, seven, wide, real, integers, none};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            haul_array_free(all[i]);
        haul_context_close(context);
    }
}

static void test_without_data(void **state)
{
    const haul_device_options device = {.without_data = true};
    const haul_context_options options = {.device_options = &device};
    haul_context *context;
    (void)state;
    must(haul_context_open("sim:k40", &options, &context, &error));
    haul_array *u = array_of(context, (haul_array_spec){.size = {8}});
    expect_usage(u, u, NULL, "without data");
    haul_array_free(u);
    haul_context_close(context);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_on_the_device),
                                       cmocka_unit_test(test_wrong),
                                       cmocka_unit_test(test_without_data)};
    if (argc > 1) {
        devices = (const char **)argv + 1;
        device_count = (size_t)argc - 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
