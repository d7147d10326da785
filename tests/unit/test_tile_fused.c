/* Stencils fused over steps: the same cells as one step at a time, on every device that is present,
 * or on those that are named. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "tile_kernels.h"

enum { STEPS = 11, MOST = 70000 };

typedef struct result {
    unsigned cells[2][MOST]; /* of both arrays */
    uint64_t kernels;
    bool is_fused;
} result;

typedef struct setting {
    const char *device;
    haul_context_options options;
    haul_array_spec spec;
    int steps;
    bool has_beside; /* an array that is read beside, with edges that are periodic */
    int around;      /* cells at each edge that the loops leave out */
} setting;

static void must(haul_status status, const haul_error *error)
{
    if (status)
        fail_msg("%s", error->text);
}

/* Cells of each array, and those beyond its edges, are like no others. */
static void fill(haul_array *array, const haul_array_spec *spec, unsigned seed)
{
    haul_error error;
    const int dims = spec->size[2] ? 3 : 2, y_ghost = dims == 3 ? spec->ghost[1] : 0;
    for (int r = 0; r < haul_array_regions(array); r++) {
        haul_region region;
        must(haul_array_access(array, r, HAUL_USE_WRITE, &region, &error), &error);
        for (int z = region.first; z < region.end; z++)
            for (int y = -y_ghost; y < (dims == 3 ? spec->size[1] : 1) + y_ghost; y++)
                for (int x = -spec->ghost[0]; x < spec->size[0] + spec->ghost[0]; x++)
                    ((unsigned *)
                         region.cells)[(z - region.first) * region.plane + y * region.row + x] =
                        (unsigned)((z * 131 + y) * 137 + x) * seed;
    }
}

/* False where the device is absent. */
static bool run(const setting *self, result *got)
{
    haul_error error;
    haul_context *context;
    haul_array *u, *v, *c = NULL;
    haul_array_spec beside = self->spec;
    char *text;
    const unsigned k = 3;
    haul_box box = {{0}, {0}};
    const haul_loop_options options = {.box = self->around ? &box : NULL};
    const haul_kernel_source *kernel = self->spec.size[2] ? &near_3 : &near_2;
    const haul_status status = haul_context_open(self->device, &self->options, &context, &error);
    if (status == HAUL_STATUS_ABSENT)
        return false;
    must(status, &error);
    must(haul_array_new(context, &self->spec, &u, &error), &error);
    must(haul_array_new(context, &self->spec, &v, &error), &error);
    fill(u, &self->spec, 3);
    fill(v, &self->spec, 7);
    for (int d = 0; d < (beside.size[2] ? 3 : 2); d++) {
        beside.boundary[d] = HAUL_BOUNDARY_PERIODIC;
        box.lo[d] = self->around;
        box.hi[d] = beside.size[d] - self->around;
    }
    if (self->has_beside) {
        kernel = self->spec.size[2] ? &given_3 : &given_2;
        must(haul_array_new(context, &beside, &c, &error), &error);
        fill(c, &beside, 11);
    }
    for (int i = 0; i < self->steps; i++) {
        must(haul_loop_queue(context, kernel,
                             c ? (const void *[]){u, v, c, &k} : (const void *[]){u, v, &k},
                             c ? 4 : 3, &options, &error),
             &error);
        must(haul_array_swap(u, v, &error), &error);
    }
    must(haul_array_read(u, got->cells[0], &error), &error);
    must(haul_array_read(v, got->cells[1], &error), &error);
    must(haul_context_explain(context, &text, &error), &error);
    got->is_fused = strstr(text, "fused on chip");
    got->kernels = haul_context_count(context).kernels;
    free(text);
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(c);
    haul_context_close(context);
    return true;
}

static const char *named;

static void compare(const setting *self, bool must_fuse)
{
    static result plain, got;
    setting host = *self;
    const int *size = self->spec.size;
    const size_t bytes =
        sizeof(unsigned) * (size_t)size[0] * (size_t)size[1] * (size_t)(size[2] ? size[2] : 1);
    host.device = "host";
    host.options = (haul_context_options){0};
    if (!run(self, &got))
        return;
    assert_true(run(&host, &plain));
    for (int i = 0; i < 2; i++)
        if (memcmp(plain.cells[i], got.cells[i], bytes) != 0)
            fail_msg("%s, %u steps fused, %d of them, %d x %d x %d, edges %d %d %d, memory %llu: "
                     "array %d differs",
                     self->device, self->options.fused, self->steps, size[0], size[1], size[2],
                     (int)self->spec.boundary[0], (int)self->spec.boundary[1],
                     (int)self->spec.boundary[2], (unsigned long long)self->options.memory_bytes,
                     i);
    if (got.is_fused != must_fuse)
        fail_msg("%s, %u steps fused, %d x %d x %d, edges %d %d %d, memory %llu: %s", self->device,
                 self->options.fused, size[0], size[1], size[2], (int)self->spec.boundary[0],
                 (int)self->spec.boundary[1], (int)self->spec.boundary[2],
                 (unsigned long long)self->options.memory_bytes, got.is_fused ? "is" : "is not");
}

static const char *const devices[] = {"sim:k40", "sim:h200", "opencl:0"};

static void check_size(const char *device, const int size[3], unsigned fused, bool has_beside)
{
    setting self = {
        device, {.fused = fused}, {.element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}},
        STEPS,  has_beside,       0};
    memcpy(self.spec.size, size, sizeof self.spec.size);
    compare(&self, true);
    if (fused > 3 || size[size[2] ? 2 : 1] < 40)
        return;
    /* a half fits, of rows with gaps between them */
    const uint64_t row = (uint64_t)size[0] + 33, rows = size[2] ? (uint64_t)size[1] + 2 : 1;
    self.options.memory_bytes = (has_beside ? 6 : 4) * row * rows * (uint64_t)size[size[2] ? 2 : 1];
    self.options.region = 2;
    compare(&self, true);
}

/* In core and streaming; sizes that no tile divides, and of one row or plane. The drivers' threads
 * are slow; the last of their tiles takes more shared memory than every GPU gives a group. */
static void test_sizes(void **state)
{
    (void)state;
    static const int sizes[][3] = {{37, 29, 40}, {70, 90, 0}, {600, 61, 0},
                                   {1, 45, 30},  {33, 1, 9},  {9, 20, 1}};
    static const int small[][3] = {{30, 17, 5}, {40, 12, 0}, {57, 57, 3}};
    for (size_t d = 0; !named && d < sizeof devices / sizeof *devices; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (unsigned fused = 3; fused <= 7; fused += 2)
                check_size(devices[d], sizes[s], fused, false);
    for (size_t d = 0; !named && d < sizeof devices / sizeof *devices; d++)
        for (size_t s = 0; s < 4; s++)
            check_size(devices[d], sizes[s], s % 2 ? 5 : 3, true);
    for (size_t s = 0; named && s < sizeof small / sizeof *small; s++)
        check_size(named, small[s], 3, false);
    for (size_t s = 0; named && s < 2; s++)
        check_size(named, small[s], 3, true);
}

/* Number `which` of all edges of so many dimensions. */
static void set_edges(haul_array_spec *spec, int which)
{
    for (int d = 0; d < (spec->size[2] ? 3 : 2); d++, which /= 3)
        spec->boundary[d] = (haul_boundary)(which % 3);
}

/* Edges that change with the cells: all of them, in core and streaming. In arrays smaller than what
 * fused steps reach they go round several times. */
static void test_edges(void **state)
{
    (void)state;
    static const int sizes[][3] = {{20, 17, 40}, {70, 60, 0}, {3, 2, 11}, {1, 1, 1}, {40, 1, 0}};
    for (size_t d = 0; d < (named ? 1 : sizeof devices / sizeof *devices); d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int which = 0; which < (sizes[s][2] ? 27 : 9);
                 which += !named  ? 1
                          : s < 2 ? 7
                                  : 5) { /* drivers' threads are slow, see above */
                setting self = {named ? named : devices[d],
                                {.fused = which % 2 ? 3 : 5},
                                {.element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}},
                                STEPS,
                                which % 4 == 1,
                                0};
                memcpy(self.spec.size, sizes[s], sizeof self.spec.size);
                self.spec.ghost[which % 3] += which % 5 == 1 && s < 2;
                set_edges(&self.spec, which);
                compare(&self, true);
                if (s > 1 || named)
                    continue;
                const uint64_t row = (uint64_t)self.spec.size[0] + 33;
                const uint64_t rows = self.spec.size[2] ? (uint64_t)self.spec.size[1] + 4 : 1;
                self.options.fused = 3;
                self.options.region = 2;
                self.options.memory_bytes = (self.has_beside ? 9 : 6) * row * rows *
                                            (uint64_t)self.spec.size[self.spec.size[2] ? 2 : 1];
                compare(&self, true);
            }
}

/* Loops over a part of the arrays: cells around it are each array's own. */
static void test_parts(void **state)
{
    (void)state;
    static const int sizes[][3] = {{20, 17, 40}, {70, 60, 0}};
    for (size_t d = 0; d < (named ? 1 : sizeof devices / sizeof *devices); d++)
        for (size_t s = 0; s < (named ? 1 : 2); s++)
            for (int which = 0; which < 3; which++) {
                setting self = {named ? named : devices[d],
                                {.fused = 3},
                                {.element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}},
                                STEPS,
                                which == 1,
                                1 + which};
                memcpy(self.spec.size, sizes[s], sizeof self.spec.size);
                set_edges(&self.spec, 13 * which);
                compare(&self, true);
                self.options.region = 2;
                self.options.memory_bytes = 9 * 53 * (uint64_t)(s ? 120 : 21 * 40);
                compare(&self, true);
            }
}

/* Edges that differ are not fused, nor those that a kernel sets, nor fewer steps than asked, nor
 * what the program forbids. */
static void test_not_fused(void **state)
{
    (void)state;
    const setting plain = {
        "sim:k40", {.fused = 3}, {.size = {30, 20, 25}, .element_bytes = 4, .ghost = {1, 1, 1}},
        STEPS,     false,        0};
    setting self = plain;
    self.spec.boundary_kernel = &edge_3;
    compare(&self, false);
    self = plain;
    self.steps = 3; /* the second result is wanted */
    compare(&self, false);
    self.steps = 4;
    compare(&self, true);
    self = plain;
    self.options.fused = 1;
    compare(&self, false);
    self = plain;
    self.options.steps = 2;
    compare(&self, false);
}

int main(int argc, char **argv)
{
    named = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_edges),
                                       cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_not_fused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
