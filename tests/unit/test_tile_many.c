/* Loops of sixteen arrays, and a reduction with all parameters that a kernel may have, on every
 * device or on those that are named. */
#include "check.h"

#include <string.h>

#include "haul/tile.h"
#include "tile_many.kernel.h"
#include "tile_must.h"

static const char *usual_devices[] = {"host", "sim:k40", "opencl:0", "sim:k40,sim:k40"};
static const char **devices = usual_devices;
static size_t device_count = sizeof usual_devices / sizeof *usual_devices;

enum { CELLS = 900, READ = 15, SUMMED = 13, STEPS = 3 };

/* Cell x of array i, periodic. */
static int value_of(int i, int x)
{
    const int at = (x + CELLS) % CELLS;
    return at * (at + i) % 997;
}

typedef struct many {
    haul_context *context;
    haul_array *arrays[READ + 1];
    haul_array *sum;
    haul_array *most;
} many;

static bool open_many(many *self, const char *device, uint64_t memory_bytes, bool check)
{
    const haul_context_options options = {
        .memory_bytes = memory_bytes, .region = 60, .check = check};
    const haul_array_spec spec = {.size = {CELLS},
                                  .ghost = {1},
                                  .boundary = {HAUL_BOUNDARY_PERIODIC},
                                  .element_bytes = sizeof(int)};
    const haul_array_spec one = {.size = {1}, .element_bytes = sizeof(int)};
    int cells[CELLS];
    if (haul_context_open(device, &options, &self->context, &error))
        return false;
    for (int i = 0; i <= READ; i++) {
        for (int x = 0; x < CELLS; x++)
            cells[x] = value_of(i, x);
        must(haul_array_new(self->context, &spec, &self->arrays[i], &error));
        must(haul_array_write(self->arrays[i], cells, &error));
    }
    must(haul_array_new(self->context, &one, &self->sum, &error));
    must(haul_array_new(self->context, &one, &self->most, &error));
    return true;
}

static void close_many(many *self)
{
    for (int i = 0; i <= READ; i++)
        haul_array_free(self->arrays[i]);
    haul_array_free(self->sum);
    haul_array_free(self->most);
    haul_context_close(self->context);
}

static void check_sixteen(const many *self)
{
    int got[CELLS];
    for (int step = 0; step < STEPS; step++)
        must(haul_loop_queue(self->context, &sixteen_1, (const void *const *)self->arrays, READ + 1,
                             NULL, &error));
    must(haul_array_read(self->arrays[READ], got, &error));
    for (int x = 0; x < CELLS; x++) {
        int expected = 0;
        for (int i = 0; i < READ; i++)
            expected += (i + 1) * value_of(i, x + (i % 3 == 1) - (i % 3 == 2));
        assert_int_equal(got[x], expected);
    }
}

static void check_results(const many *self)
{
    const int k = 5;
    const void *arguments[SUMMED + 3];
    int sum = 0, most = 0, got[2];
    for (int i = 0; i < SUMMED; i++)
        arguments[i] = self->arrays[i];
    arguments[SUMMED] = &k;
    arguments[SUMMED + 1] = self->sum;
    arguments[SUMMED + 2] = self->most;
    must(haul_loop_queue(self->context, &thirteen_1, arguments, SUMMED + 3, NULL, &error));
    must(haul_array_read(self->sum, &got[0], &error));
    must(haul_array_read(self->most, &got[1], &error));
    for (int x = 0; x < CELLS; x++) {
        int others = 0;
        for (int i = 1; i < SUMMED - 1; i++)
            others += i == 5 ? 0 : value_of(i, x);
        most = others > most ? others : most;
        sum += k * value_of(0, x) + value_of(12, x) - value_of(5, x);
    }
    assert_int_equal(got[0], sum);
    assert_int_equal(got[1], most);
}

static void test_many_arrays(void **state)
{
    (void)state;
    for (size_t d = 0; d < device_count; d++)
        for (int manner = 0; manner < 3; manner++) {
            many self;
            if (!open_many(&self, devices[d], manner == 1 ? 40000 : 0, manner == 2))
                continue;
            check_sixteen(&self);
            check_results(&self);
            close_many(&self);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_arrays)};
    if (argc > 1) {
        devices = (const char **)argv + 1;
        device_count = (size_t)argc - 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
