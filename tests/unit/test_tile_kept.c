/* The tile runtime: what arrays hold after discards, across periodic edges, and in files, where
 * loops on the device and on the host follow each other. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_must.h"
#include "tile_twin.h"

/* Each is run on the host, on a simulated GPU that runs work late, and on OpenCL where it is; or on
 * those that are named. */
static const char *usual_devices[] = {"host", "sim:k40", "opencl:0"};
static const char **devices = usual_devices;
static size_t device_count = sizeof usual_devices / sizeof *usual_devices;

/* NULL where the device is not there. */
static haul_context *open_context(const char *name, uint64_t memory_bytes)
{
    const haul_device_options late = {.test = &(haul_device_test){.order = HAUL_ORDER_LATE}};
    const haul_context_options options = {.device_options = &late, .memory_bytes = memory_bytes};
    haul_context *context = NULL;
    if (haul_context_open(name, &options, &context, &error) && strcmp(name, "opencl:0") != 0)
        fail_msg("%s", error.text);
    return context;
}

static twin new_twin(haul_context *context, haul_array_spec spec)
{
    twin self = {.spec = spec, .dims = spec.size[2] ? 3 : spec.size[1] ? 2 : 1, .type = CELL_4};
    twin_lay_out(&self);
    self.cells = calloc(self.count, self.spec.element_bytes);
    must(haul_array_new(context, &self.spec, &self.array, &error));
    return self;
}

static void free_twin(twin *self)
{
    haul_array_free(self->array);
    free(self->cells);
}

/* All cells but those beyond the edges, of the array or, as they should be, of the twin. */
static unsigned *cells_of(const twin *self, bool as_they_should_be)
{
    unsigned *cells = malloc(self->count * sizeof *cells), *cell = cells;
    int at[3];
    if (!as_they_should_be)
        must(haul_array_read(self->array, cells, &error));
    twin_first(self, at, false);
    do {
        if (as_they_should_be)
            memcpy(cell, twin_cell(self, at), sizeof *cell);
        cell++;
    } while (twin_next(self, at, false));
    return cells;
}

static void check_twin(const twin *self)
{
    size_t wrong = 0, count = 1;
    unsigned *got = cells_of(self, false), *expected = cells_of(self, true);
    for (int d = 0; d < self->dims; d++)
        count *= (size_t)self->spec.size[d];
    for (size_t i = 0; i < count; i++)
        wrong += got[i] != expected[i];
    free(got);
    free(expected);
    if (wrong)
        fail_msg("%zu of %zu cells are wrong", wrong, count);
}

/* All cells of the array different. */
static void fill_twin(const twin *self)
{
    unsigned next = 1;
    int at[3];
    twin_first(self, at, false);
    do {
        next = next * 1664525 + 1013904223;
        memcpy(twin_cell(self, at), &next, sizeof next);
    } while (twin_next(self, at, false));
    unsigned *cells = cells_of(self, true);
    must(haul_array_write(self->array, cells, &error));
    free(cells);
}

/* v = f(u), over all cells. */
static void step(haul_context *context, const haul_kernel_source *kernel, twin *u, twin *v,
                 bool on_host)
{
    const unsigned value = 3;
    const void *const arguments[] = {u->array, v->array, &value};
    const twin *const twins[] = {u, v};
    const haul_box box = twin_box(v, false);
    const haul_loop_options options = {.on_host = on_host};
    must(haul_loop_queue(context, kernel, arguments, 3, &options, &error));
    if (kernel->parameters[0].halo)
        twin_set_ghosts(u);
    twin_run(kernel, &box, twins, &value);
}

/* An array is needed until the loops that were queued before its discard have run. */
static void discard_on(haul_context *context)
{
    const haul_array_spec spec = {.size = {200, 200}, .ghost = {1, 1}};
    twin u = new_twin(context, spec), v = new_twin(context, spec), w = new_twin(context, spec);
    fill_twin(&u);
    step(context, cell_table[1][CELL_4].near, &u, &v, false);
    step(context, cell_table[1][CELL_4].near, &v, &w, true);
    haul_array_discard(v.array);
    check_twin(&w);
    /* and it can be used again */
    must(haul_context_wait(context, &error));
    fill_twin(&v);
    haul_array_discard(w.array);
    must(haul_context_wait(context, &error));
    fill_twin(&w);
    step(context, cell_table[1][CELL_4].near, &v, &u, false);
    haul_array_discard(v.array);
    step(context, cell_table[1][CELL_4].near, &u, &v, false);
    check_twin(&v);
    check_twin(&u);
    check_twin(&w);
    free_twin(&u);
    free_twin(&v);
    free_twin(&w);
}

/* A region by itself: what it needs has ended, though other regions may still be worked on. */
static void check_region(const twin *self, int index)
{
    haul_region region;
    int at[3];
    size_t wrong = 0;
    must(haul_array_access(self->array, index, HAUL_USE_READ, &region, &error));
    twin_first(self, at, false);
    do {
        const int plane = at[self->dims - 1];
        if (plane >= region.first && plane < region.end)
            wrong += memcmp(twin_in_region(self, &region, at), twin_cell(self, at),
                            self->spec.element_bytes) != 0;
    } while (twin_next(self, at, false));
    if (wrong)
        fail_msg("%zu cells of region %d are wrong", wrong, index);
}

/* u is periodic in the last dimension, its partner is not; memory for a part of them. */
static void partner_on(haul_context *context, haul_boundary boundary, int planes)
{
    const haul_array_spec spec = {.size = {30, planes},
                                  .ghost = {1, 1},
                                  .boundary = {0, HAUL_BOUNDARY_PERIODIC},
                                  .region = 4};
    haul_array_spec other = spec;
    other.boundary[1] = boundary;
    twin u = new_twin(context, spec), v = new_twin(context, other);
    fill_twin(&u);
    for (int i = 0; i < 3; i++) {
        step(context, cell_table[1][CELL_4].near, &u, &v, false);
        step(context, cell_table[1][CELL_4].near, &v, &u, false);
    }
    check_region(&u, haul_array_regions(u.array) - 2);
    check_twin(&u);
    check_twin(&v);
    free_twin(&u);
    free_twin(&v);
}

/* A loop on the host between loops on the device. */
static void sides_on(haul_context *context)
{
    const haul_array_spec spec = {.size = {8}, .ghost = {1}, .boundary = {HAUL_BOUNDARY_PERIODIC}};
    twin a = new_twin(context, spec), b = new_twin(context, spec);
    fill_twin(&a);
    for (int i = 0; i < 4; i++) {
        step(context, cell_table[0][CELL_4].near, &a, &b, i % 2 == 0);
        step(context, cell_table[0][CELL_4].near, &b, &a, i > 1);
    }
    check_twin(&a);
    check_twin(&b);
    free_twin(&a);
    free_twin(&b);
}

/* An update, and then a loop that overwrites what it updated. */
static void update_on(haul_context *context, haul_array_spec spec)
{
    const bool is_flat = !spec.size[2];
    twin u = new_twin(context, spec), v = new_twin(context, spec);
    fill_twin(&v);
    for (int i = 0; i < 3; i++) {
        step(context, is_flat ? cell_table[1][CELL_4].add : cell_table[2][CELL_4].add, &v, &u,
             false);
        step(context, is_flat ? cell_table[1][CELL_4].near : cell_table[2][CELL_4].near, &v, &u,
             false);
        step(context, is_flat ? cell_table[1][CELL_4].near : cell_table[2][CELL_4].near, &u, &v,
             false);
    }
    check_twin(&u);
    check_twin(&v);
    free_twin(&u);
    free_twin(&v);
}

static void test_discard(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_count; i++)
        for (uint64_t bytes = 60000; bytes < 600000; bytes *= 3) {
            haul_context *context = open_context(devices[i], bytes);
            if (context)
                discard_on(context);
            haul_context_close(context);
        }
}

static void test_periodic(void **state)
{
    (void)state;
    const haul_array_spec flat = {
        .size = {30, 80}, .ghost = {1, 1}, .boundary = {0, HAUL_BOUNDARY_PERIODIC}, .region = 4};
    for (size_t i = 0; i < device_count; i++)
        for (uint64_t bytes = 10000; bytes < 90000; bytes *= 2) {
            haul_context *context = open_context(devices[i], bytes);
            for (int b = 0; context && b < 3; b++)
                for (int planes = 80; planes < 84; planes += 3) /* the last region has fewer */
                    partner_on(context, (haul_boundary)b, planes);
            if (context)
                sides_on(context);
            if (context)
                update_on(context, flat);
            haul_context_close(context);
        }
}

/* Of planes that are too large for the device columns are as large as arrays that fit. Passes over
 * columns follow passes that went round the array, for which there was room. */
static void test_periodic_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_count; i++)
        for (int rows = 6; rows < 18; rows += 3)
            for (uint64_t planes = 17; planes < 22; planes += 2) {
                const uint64_t plane_bytes = (uint64_t)(rows + 2) * 160 + 64;
                haul_context *context = open_context(devices[i], planes * plane_bytes);
                const haul_array_spec spec = {.size = {24, rows, 9},
                                              .ghost = {1, 1, 1},
                                              .boundary = {0, 0, HAUL_BOUNDARY_PERIODIC},
                                              .region = 2};
                if (context)
                    update_on(context, spec);
                haul_context_close(context);
            }
}

/* Cells that only the device has are in the file when the array is gone. */
static void test_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_count; i++) {
        char path[] = "/tmp/haul-kept-XXXXXX";
        const int made = mkstemp(path);
        assert_true(made >= 0);
        close(made);
        const haul_array_spec spec = {.size = {50, 60}, .ghost = {1, 1}};
        haul_array_spec kept = spec;
        kept.file = path;
        haul_context *context = open_context(devices[i], 40000);
        if (context) {
            twin u = new_twin(context, spec), v = new_twin(context, kept);
            fill_twin(&u);
            step(context, cell_table[1][CELL_4].near, &u, &v, false);
            haul_array_free(v.array);
            must(haul_array_new(context, &v.spec, &v.array, &error));
            check_twin(&v);
            free_twin(&u);
            free_twin(&v);
        }
        haul_context_close(context);
        remove(path);
    }
}

/* An array in a file streams through the device again and again: its memory is not page-locked, so
 * that what goes to the device may be read from it as soon as the copy is queued. */
static void file_again_on(haul_context *context, const char *path, haul_boundary boundary)
{
    const haul_array_spec spec = {
        .size = {30, 80}, .ghost = {1, 1}, .boundary = {0, boundary}, .region = 4};
    haul_array_spec kept = spec;
    kept.file = path;
    twin u = new_twin(context, kept), v = new_twin(context, spec);
    fill_twin(&u);
    for (int i = 0; i < 24; i++) {
        step(context, cell_table[1][CELL_4].add, &u, &v, false);
        step(context, cell_table[1][CELL_4].near, &v, &u, false);
    }
    check_twin(&u);
    check_twin(&v);
    free_twin(&u);
    free_twin(&v);
}

static void test_file_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_count; i++)
        for (int boundary = 0; boundary < 3; boundary++) {
            char path[] = "/tmp/haul-kept-XXXXXX";
            const int made = mkstemp(path);
            assert_true(made >= 0);
            close(made);
            haul_context *context = open_context(devices[i], 20000);
            if (context)
                file_again_on(context, path, (haul_boundary)boundary);
            haul_context_close(context);
            remove(path);
        }
}

/* DEVICE...: on these instead. */
int main(int argc, char **argv)
{
    if (argc > 1) {
        devices = (const char **)(argv + 1);
        device_count = (size_t)argc - 1;
    }
    if (getenv("TILE_TEST"))
        cmocka_set_test_filter(getenv("TILE_TEST"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discard), cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_periodic_columns), cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
