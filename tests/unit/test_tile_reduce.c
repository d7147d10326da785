/* Reductions of floating-point numbers where the device has a part of each array, or a part of the
 * work: sums have the bits that they have on the host. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_must.h"
#include "tile_norms.kernel.h"

static const char *const devices[] = {"sim:k40", "opencl:0", "sim:k40,sim:k40", "sim:k40,host"};

enum { STEPS = 6, CELLS = 28800 };

/* A program, and how it is run. */
typedef struct manner {
    int dims;
    int size[3];
    uint64_t memory_bytes;
    double host_share;
    haul_order order;
    unsigned steps;
    int rows;
    bool reduces;
    bool divides; /* by the sum, after each second step */
} manner;

typedef struct outcome {
    double sums[STEPS];
    float most[STEPS];
    double cells[CELLS];
    haul_context_counts counts;
} outcome;

static void queue_steps(haul_context *context, const manner *how, haul_array *const u[2],
                        haul_array *const sums[STEPS], haul_array *const most[STEPS])
{
    static const haul_kernel_source *const relax[] = {&relax_1, &relax_2, &relax_3};
    static const haul_kernel_source *const norm[] = {&norm_1, &norm_2, &norm_3};
    for (int step = 0; step < STEPS; step++) {
        haul_array *to = u[(step + 1) % 2];
        must(HAUL_LOOP(context, &error, relax[how->dims - 1], u[step % 2], to));
        if (how->reduces)
            must(HAUL_LOOP(context, &error, norm[how->dims - 1], to, sums[step], most[step]));
        if (how->divides && step % 2)
            must(HAUL_LOOP(context, &error, &divide_3, to, sums[step]));
    }
}

/* False where the device is not there. */
static bool run_on(const char *device, const manner *how, outcome *self)
{
    const haul_device_options order = {.test = &(haul_device_test){.order = how->order, .seed = 5}};
    const haul_context_options options = {
        .device_options = &order, .memory_bytes = how->memory_bytes, .host_share = how->host_share};
    haul_array_spec spec = {.element_bytes = sizeof(double)};
    const haul_array_spec one = {.size = {1}, .element_bytes = sizeof(double)};
    haul_context *context;
    haul_array *u[2], *sums[STEPS], *most[STEPS];
    memset(self, 0, sizeof *self);
    if (haul_context_open(device, &options, &context, &error))
        return false;
    for (int d = 0; d < how->dims; d++) {
        spec.size[d] = how->size[d];
        spec.ghost[d] = 1;
    }
    for (int i = 0; i < CELLS; i++)
        self->cells[i] = 1.0 / (1 + i * 7919 % 1000);
    for (int i = 0; i < 2; i++) {
        u[i] = array_of(context, spec);
        must(haul_array_write(u[i], self->cells, &error));
    }
    for (int i = 0; i < STEPS; i++) {
        sums[i] = array_of(context, one);
        most[i] = array_of(context, (haul_array_spec){.size = {1}});
    }
    queue_steps(context, how, u, sums, most);
    must(haul_context_wait(context, &error));
    self->counts = haul_context_count(context);
    for (int i = 0; i < STEPS; i++) {
        must(haul_array_read(sums[i], &self->sums[i], &error));
        must(haul_array_read(most[i], &self->most[i], &error));
        haul_array_free(sums[i]);
        haul_array_free(most[i]);
    }
    must(haul_array_read(u[STEPS % 2], self->cells, &error));
    haul_array_free(u[0]);
    haul_array_free(u[1]);
    haul_context_close(context);
    return true;
}

static bool is_same(const outcome *a, const outcome *b)
{
    return !memcmp(a->sums, b->sums, sizeof a->sums) && !memcmp(a->most, b->most, sizeof a->most) &&
           !memcmp(a->cells, b->cells, sizeof a->cells);
}

/* Reductions go along with the loops of a column. */
static void test_columns(void **state)
{
    static const manner manners[] = {
        {3, {40, 30, 24}, 60000, .reduces = true},
        {3, {40, 30, 24}, 60000, .order = HAUL_ORDER_RANDOM, .reduces = true},
        {3, {40, 30, 24}, 60000, .order = HAUL_ORDER_LATE, .reduces = true, .divides = true},
        {3, {8, 300, 12}, 120000, .reduces = true},
    };
    static outcome expected, got, alone;
    (void)state;
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        manner plain = manners[i];
        plain.reduces = plain.divides = false;
        plain.steps = 1;
        assert_true(run_on("host", &manners[i], &expected));
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
            const bool is_one = !strchr(devices[d], ',');
            manner how = manners[i];
            how.memory_bytes *=
                is_one ? 1 : 2; /* several devices have planes of their neighbours' */
            plain.memory_bytes = how.memory_bytes;
            if (!run_on(devices[d], &how, &got) || !run_on(devices[d], &plain, &alone))
                continue;
            if (is_one && !is_same(&got, &expected))
                fail_msg("%s, manner %zu", devices[d], i);
            if (is_one && !manners[i].divides)
                assert_int_equal(got.counts.passes, alone.counts.passes);
        }
    }
}

/* Rows are whole on one side, but for those of one dimension, whose parts are then added in one
 * order. */
static void test_shares(void **state)
{
    static const manner manners[] = {
        {3, {20, 12, 120}, 160000, .host_share = 0.4, .reduces = true},
        {3, {20, 12, 120}, 160000, .host_share = 0.7, .order = HAUL_ORDER_RANDOM, .reduces = true},
        {3, {20, 12, 120}, 160000, .host_share = 0.4, .reduces = true, .divides = true},
        {2, {40, 720}, 160000, .host_share = 0.5, .order = HAUL_ORDER_LATE, .reduces = true},
        {1, {28800}, 160000, .host_share = 0.5, .reduces = true},
        {1, {28800}, 160000, .host_share = 0.3, .order = HAUL_ORDER_RANDOM, .reduces = true},
    };
    static outcome expected, got, again;
    (void)state;
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        assert_true(run_on("host", &manners[i], &expected));
        for (size_t d = 0; d < 2; d++) {
            if (!run_on(devices[d], &manners[i], &got))
                continue;
            assert_true(run_on(devices[d], &manners[i], &again) && is_same(&got, &again));
            for (int s = 0; s < STEPS && manners[i].dims == 1; s++) {
                assert_true(fabs(got.sums[s] - expected.sums[s]) < 1e-12 * expected.sums[s]);
                got.sums[s] = expected.sums[s];
            }
            if (!is_same(&got, &expected))
                fail_msg("%s, manner %zu", devices[d], i);
        }
    }
}

/* Tiles of the host cut no row, however wide they are. */
static void test_tiles(void **state)
{
    manner how = {2, {40, 720}, .reduces = true};
    static outcome expected, got;
    (void)state;
    for (how.dims = 2; how.dims < 4; how.dims++) {
        how.size[2] = how.dims == 3 ? 24 : 0;
        how.size[1] = how.dims == 3 ? 30 : 720;
        for (how.rows = 0; how.rows < 9; how.rows += 4) {
            assert_true(run_on("host", &how, how.rows ? &got : &expected));
            assert_true(!how.rows || is_same(&got, &expected));
        }
    }
}

/* --- results that nothing reads */

typedef struct resident {
    haul_context *context;
    haul_array *u, *v, *sum, *most;
    double left; /* what the sum is to be */
} resident;

static resident open_on(const char *device, bool check)
{
    const haul_context_options options = {.memory_bytes = 160000, .check = check};
    const haul_array_spec spec = {
        .size = {20, 12, 120}, .ghost = {1, 1, 1}, .element_bytes = sizeof(double)};
    static double cells[CELLS];
    resident self = {0};
    if (haul_context_open(device, &options, &self.context, &error))
        return self;
    for (int i = 0; i < CELLS; i++)
        self.left += cells[i] = i % 13;
    self.u = array_of(self.context, spec);
    self.v = array_of(self.context, spec);
    self.sum =
        array_of(self.context, (haul_array_spec){.size = {1}, .element_bytes = sizeof(double)});
    self.most = array_of(self.context, (haul_array_spec){.size = {1}});
    must(haul_array_write(self.u, cells, &error));
    return self;
}

static void close_all(resident *self)
{
    haul_array *const all[] = {self->u, self->v, self->sum, self->most};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        haul_array_free(all[i]);
    haul_context_close(self->context);
}

/* Of a result that the next reduction sets again only the last is computed, so that the loops
 * between are one pass. */
static void test_unread_results(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        resident on = open_on(devices[d], false);
        uint64_t passes[3]; /* the first bring the arrays */
        double got = 0;
        for (int round = 0; round < 3 && on.context; round++) {
            const uint64_t before = haul_context_count(on.context).passes;
            for (int step = 0; step < 5; step++) {
                must(HAUL_LOOP(on.context, &error, &relax_3, on.u, on.v));
                if (round == 2)
                    must(HAUL_LOOP(on.context, &error, &total_of_3, on.u, on.sum));
            }
            must(haul_context_wait(on.context, &error));
            passes[round] = haul_context_count(on.context).passes - before;
        }
        if (!on.context)
            continue;
        if (passes[1] != passes[2] && !strchr(devices[d], ','))
            fail_msg("%s: %d passes, not %d", devices[d], (int)passes[2], (int)passes[1]);
        must(haul_array_read(on.sum, &got, &error));
        assert_true(got == on.left);
        close_all(&on);
    }
}

/* A result that a loop reads, that the program reads, or beside which another is kept. */
static void test_read_results(void **state)
{
    (void)state;
    static double cells[CELLS];
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int check = 0; check < 2; check++) {
            resident on = open_on(devices[d], check);
            float most = 0;
            double sum = 0;
            if (!on.context)
                continue;
            must(HAUL_LOOP(on.context, &error, &norm_3, on.u, on.sum, on.most)); /* most is kept */
            must(haul_array_write(on.v, cells, &error));
            must(HAUL_LOOP(on.context, &error, &total_of_3, on.v, on.sum));
            must(HAUL_LOOP(on.context, &error, &total_of_3, on.u, on.sum));
            must(HAUL_LOOP(on.context, &error, &divide_3, on.v, on.sum));
            must(HAUL_LOOP(on.context, &error, &total_of_3, on.v, on.sum));
            must(HAUL_LOOP(on.context, &error, &total_of_3, on.v, on.sum));
            must(haul_array_read(on.most, &most, &error));
            must(haul_array_read(on.sum, &sum, &error));
            assert_true(most == 12);
            assert_true(sum == 19.0 / 2 * CELLS); /* of x */
            close_all(&on);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),      cmocka_unit_test(test_shares),
        cmocka_unit_test(test_tiles),        cmocka_unit_test(test_unread_results),
        cmocka_unit_test(test_read_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
