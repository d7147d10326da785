/* Loops that add to any cell of an array, beside plain ones, on every device or on those that are
 * named: sums of integers have the same bits everywhere. */
#include "check.h"

#include <string.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_must.h"
#include "tile_scatter.kernel.h"

static const char *usual_devices[] = {"host", "sim:k40", "opencl:0", "sim:k40,sim:k40"};
static const char **devices = usual_devices;
static size_t device_count = sizeof usual_devices / sizeof *usual_devices;

/* --- a histogram and a plane of sums after each step of a stencil */

enum { X = 9, Y = 7, Z = 40, N = X * Y * Z, BINS = 11, STEPS = 6 };

typedef struct counted {
    int cells[N];
    unsigned counts[BINS];
    int sheet[X * Y];
} counted;

static int beyond(int z, haul_boundary boundary)
{
    if (z >= 0 && z < Z)
        return z;
    if (boundary == HAUL_BOUNDARY_PERIODIC)
        return (z + Z) % Z;
    return z < 0 ? 0 : Z - 1;
}

static void run_plainly(counted *self, haul_boundary boundary)
{
    int next[N];
    memset(self, 0, sizeof *self);
    for (int i = 0; i < N; i++)
        self->cells[i] = i * 37 % 1000;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++) {
            const int x = i % X, z = i / (X * Y), plane = i % (X * Y);
            next[i] = (self->cells[beyond(z - 1, boundary) * X * Y + plane] +
                       self->cells[beyond(z + 1, boundary) * X * Y + plane] + x) %
                      1000;
        }
        memcpy(self->cells, next, sizeof next);
        for (int i = 0; i < N; i++) {
            self->counts[next[i] % BINS]++;
            self->sheet[i % (X * Y)] += next[i];
            if (i % X)
                self->sheet[i % (X * Y) - 1] -= next[i];
        }
    }
}

typedef struct manner {
    haul_boundary boundary;
    uint64_t memory_bytes;
    double host_share;
    haul_order order;
    bool check;
    bool on_host; /* every other count */
} manner;

static void queue_step(haul_context *context, haul_array *const arrays[4], bool on_host)
{
    const int bins = BINS;
    const void *const counting[] = {arrays[1], arrays[2], &bins};
    const haul_loop_options where = {.on_host = on_host};
    must(HAUL_LOOP(context, &error, &smooth_3, arrays[0], arrays[1]));
    must(haul_loop_queue(context, &histogram_3, counting, 3, &where, &error));
    must(HAUL_LOOP(context, &error, &sheet_3, arrays[1], arrays[3]));
    must(haul_array_swap(arrays[0], arrays[1], &error));
}

/* False where the device is not there. */
static bool run_on(const char *device, const manner *how, counted *self)
{
    const haul_device_options order = {.test = &(haul_device_test){.order = how->order, .seed = 3}};
    const haul_context_options options = {.device_options = &order,
                                          .memory_bytes = how->memory_bytes,
                                          .host_share = how->host_share,
                                          .region = 3,
                                          .check = how->check};
    const haul_array_spec spec = {
        .size = {X, Y, Z}, .ghost = {1, 1, 1}, .boundary = {[2] = how->boundary}};
    haul_context *context;
    memset(self, 0, sizeof *self);
    if (haul_context_open(device, &options, &context, &error))
        return false;
    haul_array *const arrays[] = {array_of(context, spec), array_of(context, spec),
                                  array_of(context, (haul_array_spec){.size = {BINS}}),
                                  array_of(context, (haul_array_spec){.size = {X, Y}})};
    for (int i = 0; i < N; i++)
        self->cells[i] = i * 37 % 1000;
    must(haul_array_write(arrays[0], self->cells, &error));
    for (int step = 0; step < STEPS; step++)
        queue_step(context, arrays, how->on_host && step % 2);
    must(haul_array_read(arrays[2], self->counts, &error));
    must(haul_array_read(arrays[3], self->sheet, &error));
    must(haul_array_read(arrays[0], self->cells, &error));
    for (int i = 0; i < 4; i++)
        haul_array_free(arrays[i]);
    haul_context_close(context);
    return true;
}

static void test_counts(void **state)
{
    static const manner manners[] = {
        {.boundary = HAUL_BOUNDARY_COPY},
        {.boundary = HAUL_BOUNDARY_COPY, .memory_bytes = 70000, .host_share = 0.5},
        {.boundary = HAUL_BOUNDARY_COPY, .memory_bytes = 28000, .order = HAUL_ORDER_RANDOM},
        {.boundary = HAUL_BOUNDARY_PERIODIC, .memory_bytes = 70000, .order = HAUL_ORDER_LATE},
        {.boundary = HAUL_BOUNDARY_PERIODIC, .memory_bytes = 80000, .check = true},
        {.boundary = HAUL_BOUNDARY_PERIODIC, .memory_bytes = 70000, .on_host = true},
    };
    static counted expected, got;
    (void)state;
    for (size_t d = 0; d < device_count; d++)
        for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
            run_plainly(&expected, manners[i].boundary);
            if (run_on(devices[d], &manners[i], &got) && memcmp(&got, &expected, sizeof got) != 0)
                fail_msg("%s, manner %zu", devices[d], i);
        }
}

/* --- weights to where a map says */

static void test_map(void **state)
{
    enum { COUNT = 3000, CELLS = 17 };
    static int map[COUNT];
    static unsigned weight[COUNT];
    long expected[CELLS] = {0}, got[CELLS];
    haul_context *context;
    const haul_context_options options = {.memory_bytes = 9000, .region = 200};
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        map[i] = i * i % CELLS;
        weight[i] = (unsigned)i * 2654435761U >> 12; /* sums stay below 2^60 */
        expected[map[i]] += (long)weight[i] << 32;
    }
    for (size_t d = 0; d < device_count; d++) {
        if (haul_context_open(devices[d], &options, &context, &error))
            continue;
        haul_array *u = array_of(context, (haul_array_spec){.size = {COUNT}});
        haul_array *w = array_of(context, (haul_array_spec){.size = {COUNT}});
        haul_array *sums =
            array_of(context, (haul_array_spec){.size = {CELLS}, .element_bytes = sizeof(long)});
        must(haul_array_write(u, map, &error));
        must(haul_array_write(w, weight, &error));
        must(HAUL_LOOP(context, &error, &deposit_1, u, w, sums));
        must(haul_array_read(sums, got, &error));
        assert_memory_equal(got, expected, sizeof got);
        haul_array_free(u);
        haul_array_free(w);
        haul_array_free(sums);
        haul_context_close(context);
    }
}

/* --- floating-point sums, in the order of cells */

enum { MASS_STEPS = 5 };

typedef struct masses {
    double sums[BINS];
    float rough[BINS];
    double cells[N];
} masses;

static double first_mass(int i)
{
    return 1.0 / (1 + i * 7919 % 1009);
}

static int place_of(int i)
{
    return i * 37 % 1000 % BINS;
}

static void add_plainly(masses *self, int dims)
{
    static double next[N];
    memset(self, 0, sizeof *self);
    for (int i = 0; i < N; i++)
        self->cells[i] = first_mass(i);
    for (int step = 0; step < MASS_STEPS; step++) {
        for (int i = 0; i < N && dims == 3; i++) {
            const int x = i % (X * Y), z = i / (X * Y);
            next[i] = self->cells[beyond(z - 1, HAUL_BOUNDARY_COPY) * X * Y + x] +
                      self->cells[beyond(z + 1, HAUL_BOUNDARY_COPY) * X * Y + x] / 7;
        }
        if (dims == 3)
            memcpy(self->cells, next, sizeof next);
        for (int i = 0; i < N; i++) {
            self->sums[place_of(i)] += self->cells[i];
            if (dims < 3)
                continue;
            self->rough[place_of(i)] += (float)(3 * self->cells[i]);
            self->cells[i] /= 3;
        }
    }
}

static bool add_on(const char *device, const manner *how, int dims, masses *self)
{
    const haul_device_options order = {.test = &(haul_device_test){.order = how->order, .seed = 9}};
    const haul_context_options options = {.device_options = &order,
                                          .memory_bytes = how->memory_bytes,
                                          .host_share = how->host_share,
                                          .check = how->check};
    haul_array_spec spec = {.size = {dims == 1 ? N : X, dims == 2 ? N / X : Y, Z},
                            .ghost = {1, 1, 1},
                            .boundary = {[2] = HAUL_BOUNDARY_COPY},
                            .element_bytes = sizeof(double)};
    static int map[N];
    haul_context *context;
    memset(self, 0, sizeof *self);
    for (int d = dims; d < 3; d++)
        spec.size[d] = spec.ghost[d] = spec.boundary[d] = 0;
    if (haul_context_open(device, &options, &context, &error))
        return false;
    haul_array *m = array_of(context, spec), *n = array_of(context, spec);
    spec.element_bytes = sizeof(int);
    haul_array *places = array_of(context, spec);
    haul_array *sums =
        array_of(context, (haul_array_spec){.size = {BINS}, .element_bytes = sizeof(double)});
    haul_array *rough = array_of(context, (haul_array_spec){.size = {BINS}});
    for (int i = 0; i < N; i++) {
        self->cells[i] = first_mass(i);
        map[i] = place_of(i);
    }
    must(haul_array_write(m, self->cells, &error));
    must(haul_array_write(places, map, &error));
    for (int step = 0; step < MASS_STEPS; step++) {
        if (dims < 3) {
            must(HAUL_LOOP(context, &error, dims == 1 ? &mass_1 : &mass_2, m, places, sums));
            continue;
        }
        must(HAUL_LOOP(context, &error, &blend_3, m, n));
        must(HAUL_LOOP(context, &error, &mass_3, n, places, sums, rough));
        must(haul_array_swap(m, n, &error));
    }
    must(haul_array_read(sums, self->sums, &error));
    must(haul_array_read(rough, self->rough, &error));
    must(haul_array_read(m, self->cells, &error));
    haul_array *const all[] = {m, n, places, sums, rough};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        haul_array_free(all[i]);
    haul_context_close(context);
    return true;
}

/* Each sum has the bits of a plain loop's, everywhere. */
static void test_masses(void **state)
{
    static const manner manners[] = {
        {.memory_bytes = 0},
        {.memory_bytes = 70000, .host_share = 0.5},
        {.memory_bytes = 45000, .order = HAUL_ORDER_RANDOM},
        {.memory_bytes = 70000, .order = HAUL_ORDER_LATE, .check = true},
    };
    static masses expected, got;
    (void)state;
    for (size_t d = 0; d < device_count; d++)
        for (int dims = 1; dims < 4; dims++)
            for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
                add_plainly(&expected, dims);
                if (add_on(devices[d], &manners[i], dims, &got) &&
                    memcmp(&got, &expected, sizeof got) != 0)
                    fail_msg("%s, manner %zu, %d dimensions", devices[d], i, dims);
            }
}

/* --- what is refused */

static void test_wrong(void **state)
{
    const haul_context_options checked = {.check = true};
    haul_context *context;
    (void)state;
    for (size_t d = 0; d < device_count; d++) {
        if (strchr(devices[d], ',') || haul_context_open(devices[d], &checked, &context, &error))
            continue;
        haul_array *u = array_of(context, (haul_array_spec){.size = {8}});
        haul_array *sums = array_of(context, (haul_array_spec){.size = {8}, .ghost = {1}});
        haul_array *none = array_of(context, (haul_array_spec){.size = {0}, .ghost = {1}});
        assert_int_equal(HAUL_LOOP(context, &error, &before_1, u, u), HAUL_STATUS_USAGE);
        assert_int_equal(HAUL_LOOP(context, &error, &before_1, u, none), HAUL_STATUS_USAGE);
        assert_non_null(strstr(error.text, "without cells"));
        /* beyond the edge, where cells are set anew before they are read */
        must(HAUL_LOOP(context, &error, &before_1, u, sums));
        assert_int_equal(haul_context_wait(context, &error), HAUL_STATUS_USAGE);
        assert_non_null(strstr(error.text, "uses (-1) of 'sums', but its array ends before"));
        haul_array_free(u);
        haul_array_free(sums);
        haul_array_free(none);
        haul_context_close(context);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_map),
                                       cmocka_unit_test(test_masses), cmocka_unit_test(test_wrong)};
    if (argc > 1) {
        devices = (const char **)argv + 1;
        device_count = (size_t)argc - 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
