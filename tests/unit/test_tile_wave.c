/* Tiles of the host by the sizes of its caches, and the way that is faster of the two that are
 * tried: the same cells in any of them. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/tile_host.h"
#include "tile_kernels.h"
#include "tile_must.h"

enum { X = 16, Y = 150, Z = 40, STEPS = 78 };

/* How the last loops went, as haul_context_explain tells. */
typedef struct told {
    unsigned steps;
    int rows;
    char level[8];
    int planes;
} told;

static told explain(haul_context *context)
{
    char *text;
    told self;
    must(haul_context_explain(context, &text, &error));
    assert_int_equal(sscanf(text,
                            "host: %u steps a pass in tiles of %d rows, which stay in the "
                            "%7[a-z]-level cache; %d planes",
                            &self.steps, &self.rows, self.level, &self.planes),
                     4);
    free(text);
    return self;
}

/* Loops back and forth on a host with such caches; the cells are the caller's. */
static unsigned *run(const haul_context_options *options, int dims, told *how)
{
    haul_context *context;
    haul_array *arrays[2];
    const haul_kernel_source *kernel = dims == 3 ? &near_3 : &near_2;
    const haul_array_spec spec = {.size = {X * (dims == 2 ? 5 : 1), Y, dims == 3 ? Z : 0},
                                  .ghost = {1, 1, dims == 3}};
    const size_t cells = (size_t)spec.size[0] * Y * (dims == 3 ? Z : 1);
    const unsigned plus = 3;
    unsigned *result = malloc(cells * sizeof *result);
    assert_non_null(result);
    must(haul_context_open("host", options, &context, &error));
    for (int i = 0; i < 2; i++)
        arrays[i] = array_of(context, spec);
    for (size_t i = 0; i < cells; i++)
        result[i] = (unsigned)(i * 2654435761U);
    must(haul_array_write(arrays[0], result, &error));
    for (int i = 0; i < STEPS; i++) {
        const void *const arguments[] = {arrays[i % 2], arrays[1 - i % 2], &plus};
        must(haul_loop_queue(context, kernel, arguments, 3, NULL, &error));
    }
    must(haul_array_read(arrays[STEPS % 2], result, &error));
    if (how)
        *how = explain(context);
    for (int i = 0; i < 2; i++)
        haul_array_free(arrays[i]);
    haul_context_close(context);
    return result;
}

static void any_tiles_set_the_same_cells(void **state)
{
    static const uint64_t caches[][2] = {{1 << 13, 1 << 13}, {1 << 14, 1 << 17}, {1 << 15, 1 << 19},
                                         {1 << 17, 1 << 24}, {1 << 12, 1 << 30}, {1, 1}};
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        const size_t bytes = (size_t)X * Y * (dims == 3 ? Z : 5) * sizeof(unsigned);
        unsigned *plain = run(&(haul_context_options){.steps = 1}, dims, NULL);
        for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
            const haul_device_options device = {.cache_bytes = {caches[i][0], caches[i][1]}};
            unsigned *tiled = run(&(haul_context_options){.device_options = &device}, dims, NULL);
            assert_memory_equal(plain, tiled, bytes);
            free(tiled);
        }
        free(plain);
    }
}

/* Without room for more than a front in the third level there is one way. */
static void tiles_follow_the_caches(void **state)
{
    told before = {.rows = 0};
    (void)state;
    for (uint64_t cache = 1 << 16; cache <= 1 << 18; cache *= 2) {
        const haul_device_options device = {.cache_bytes = {cache, cache}};
        told how;
        free(run(&(haul_context_options){.device_options = &device}, 3, &how));
        assert_string_equal(how.level, "second");
        assert_in_range(how.steps, 14, 16); /* 78 steps in five blocks */
        assert_true(how.rows >= before.rows);
        assert_true(how.rows >= 16);
        before = how;
    }
}

static void options_go_before_the_caches(void **state)
{
    told how;
    (void)state;
    free(run(&(haul_context_options){.steps = 13, .rows = 7}, 3, &how));
    assert_int_equal(how.steps, 13);
    assert_int_equal(how.rows, 7);
    assert_string_equal(how.level, "second");
}

typedef struct tried {
    haul_context *context;
    hl_tile_field field;
    hl_tile_step steps[100];
} tried;

static void set_up(tried *self, const haul_kernel_source *kernel, const uint64_t cache[2])
{
    self->context = calloc(1, sizeof *self->context);
    assert_non_null(self->context);
    for (int i = 0; i < 2; i++)
        self->context->device_options.cache_bytes[i] = cache[i];
    self->field = (hl_tile_field){.dims = 3, .row = 256, .element = 8};
    for (int i = 0; i < 100; i++) {
        self->steps[i] = (hl_tile_step){.source = kernel, .outer = 2, .use_count = 1};
        self->steps[i].uses[0] = (hl_tile_field_use){.field = &self->field, .halo = 1};
    }
}

static hl_tile_way choose(const tried *self)
{
    return hl_tile_way_choose(self->context, self->steps, 100, 100, 2);
}

static void the_faster_way_is_kept(void **state)
{
    static const uint64_t caches[2] = {1 << 20, 16 << 20};
    (void)state;
    for (int far_is_faster = 0; far_is_faster < 2; far_is_faster++) {
        tried self;
        set_up(&self, &near_3, caches);
        for (int i = 0; i < 4;
             i++) { /* one of each is slow: the first of all, or a disturbed one */
            const hl_tile_way way = choose(&self);
            const bool is_fast = way.is_far == (far_is_faster != 0);
            assert_non_null(way.trial);
            assert_int_equal(way.is_far, i % 2);
            hl_tile_way_note(&way, 3, 0.1); /* too short a block tells nothing */
            hl_tile_way_note(&way, way.steps, (is_fast ? 1.0 : 1.1) + (i == 1 || i == 2));
        }
        const hl_tile_way way = choose(&self);
        assert_null(way.trial);
        assert_int_equal(way.is_far, far_is_faster);
        assert_int_equal(way.steps, far_is_faster ? 20 : 15); /* 100 in equal blocks */
        /* other arrays and other kernels are tried by themselves */
        self.field.row = 512;
        assert_non_null(choose(&self).trial);
        self.field.row = 256;
        for (int i = 0; i < 100; i++)
            self.steps[i].source = &wide_3;
        assert_non_null(choose(&self).trial);
        self.context->options.rows = 32;
        assert_null(choose(&self).trial);
        free(self.context);
    }
}

/* A front of four halos and the planes that it reads beside fill two thirds of the second level,
 * with 16 rows at least. */
static void fronts_fill_the_second_level(void **state)
{
    static const uint64_t caches[2] = {1 << 20, 16 << 20};
    static const struct {
        int row, rows, planes;
    } wanted[] = {{256, 68, 4}, {512, 34, 4}, {2048, 16, 1}, {8192, 16, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        tried self;
        set_up(&self, &near_3, caches);
        (void)choose(&self);
        self.field.row = wanted[i].row;
        const hl_tile_block block = {.steps = self.steps,
                                     .count = 24,
                                     .reach = 24,
                                     .field_count = 1,
                                     .fields = {{.field = &self.field}}};
        const hl_tile_shape shape =
            hl_tile_shape_choose(self.context, &block, true,
                                 &(hl_tile_extent){.rows = 1000, .cells = 512, .threads = 2});
        assert_int_equal(shape.rows, wanted[i].rows);
        assert_int_equal(shape.planes, wanted[i].planes);
        free(self.context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_tiles_set_the_same_cells), cmocka_unit_test(tiles_follow_the_caches),
        cmocka_unit_test(options_go_before_the_caches), cmocka_unit_test(the_faster_way_is_kept),
        cmocka_unit_test(fronts_fill_the_second_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
