/* Several devices that run loops in turns over whole arrays: random programs of loops, swaps,
 * discards and the host's accesses, each run on the host, too, whose bytes it must have. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_kernels.h"

enum { ARRAYS = 4, TURNS_AT_LEAST = 20 };

/* A program, drawn from its seed: the same one for each context that runs it. */
typedef struct relay_program {
    haul_context *context;
    haul_array *arrays[ARRAYS];
    haul_array *sum, *least, *most;
    haul_array *apart[2]; /* whose edges are copied: planes are divided */
    haul_array_spec spec;
    int dims;
    size_t cells;
    unsigned *buffer;
    uint64_t drawn;
    uint64_t hash; /* of all that the host has read */
    bool is_over;  /* arrays do not fit */
    bool differ;   /* in their cells beyond the edges; none is swapped */
} relay_program;

static unsigned draw(relay_program *self, unsigned below)
{
    self->drawn = self->drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(self->drawn >> 33) % below;
}

static void must(relay_program *self, haul_status status, const haul_error *error)
{
    self->is_over = self->is_over || status == HAUL_STATUS_DEVICE_FULL;
    if (status && !self->is_over)
        fail_msg("%s", error->text);
}

static void read_hash(relay_program *self, haul_array *array, size_t cells)
{
    haul_error error = {.text = ""};
    must(self, haul_array_read(array, self->buffer, &error), &error);
    for (size_t i = 0; i < cells; i++)
        self->hash = (self->hash ^ self->buffer[i]) * UINT64_C(1099511628211);
}

static void read_all(relay_program *self, int array)
{
    read_hash(self, self->arrays[array], self->cells);
}

static void write_all(relay_program *self, int array)
{
    const unsigned by = 1 + draw(self, 1000);
    haul_error error = {.text = ""};
    for (size_t i = 0; i < self->cells; i++)
        self->buffer[i] = by * (unsigned)i;
    must(self, haul_array_write(self->arrays[array], self->buffer, &error), &error);
}

/* A cell of a plane, or of those beyond the edges. */
static void set_cell(relay_program *self, int array)
{
    const int last = self->dims - 1, ghost = self->spec.ghost[last];
    const int plane = (int)draw(self, (unsigned)(self->spec.size[last] + 2 * ghost)) - ghost;
    const unsigned value = draw(self, 1u << 30);
    haul_error error = {.text = ""};
    haul_region region;
    for (int i = 0; i < haul_array_regions(self->arrays[array]); i++) {
        must(self, haul_array_access(self->arrays[array], i, HAUL_USE_READ, &region, &error),
             &error);
        if (self->is_over)
            return;
        if (plane < region.first || plane >= region.end)
            continue;
        must(self, haul_array_access(self->arrays[array], i, HAUL_USE_BOTH, &region, &error),
             &error);
        ((unsigned *)region.cells)[(plane - region.first) * region.plane] += value;
    }
}

static haul_box draw_box(relay_program *self)
{
    haul_box box = {{0}, {0}};
    for (int d = 0; d < self->dims; d++) {
        box.hi[d] = self->spec.size[d];
        if (draw(self, 4))
            continue;
        box.lo[d] = (int)draw(self, (unsigned)box.hi[d]);
        box.hi[d] -= (int)draw(self, (unsigned)(box.hi[d] - box.lo[d]));
    }
    return box;
}

static void run_loop(relay_program *self, int from, int to, bool is_whole)
{
    static const haul_kernel_source *const near[] = {&near_1, &near_2, &near_3};
    static const haul_kernel_source *const wide[] = {&wide_1, &wide_2, &wide_3};
    static const haul_kernel_source *const add[] = {&add_1, &add_2, &add_3};
    const unsigned k = draw(self, 100), kind = is_whole ? 0 : draw(self, 4);
    const haul_box box = draw_box(self);
    haul_array *const u = self->arrays[from], *const v = self->arrays[to];
    haul_array *const w = self->arrays[draw(self, 2) || from + 1 == to ? from : (to + 1) % ARRAYS];
    const void *two[] = {u, v, &k}, *three[] = {u, w == v ? u : w, v};
    const haul_loop_options options = {.box = is_whole || draw(self, 3) ? NULL : &box,
                                       .on_host = !is_whole && !draw(self, 6)};
    haul_error error = {.text = ""};
    const int d = self->dims - 1;
    must(self,
         haul_loop_queue(self->context,
                         kind == 1   ? wide[d]
                         : kind == 2 ? add[d]
                                     : near[d],
                         kind == 1 ? three : two, 3, &options, &error),
         &error);
}

/* Reduces an array, on the device or the host; results are read by a loop, by the host, or later.
 */
static void sum_up(relay_program *self, int from, int to)
{
    static const haul_kernel_source *const total[] = {&total_1, &total_2, &total_3};
    static const haul_kernel_source *const with[] = {&beside_1, &beside_2, &beside_3};
    const unsigned k = draw(self, 9), what = draw(self, 4);
    haul_array *const results[] = {self->sum, self->least, self->most};
    const void *arguments[] = {self->arrays[from], self->sum, self->least, &k, self->most};
    const void *uses[] = {self->arrays[from], self->arrays[to], results[draw(self, 3)]};
    const haul_box box = draw_box(self);
    const haul_loop_options options = {.box = draw(self, 3) ? NULL : &box,
                                       .on_host = !draw(self, 6)};
    haul_error error = {.text = ""};
    must(self,
         haul_loop_queue(self->context, total[self->dims - 1], arguments, 5, &options, &error),
         &error);
    if (what == 1)
        must(self, haul_loop_queue(self->context, with[self->dims - 1], uses, 3, NULL, &error),
             &error);
    for (int i = 0; i < 3 && what == 2; i++) {
        read_hash(self, results[i], 1);
    }
}

/* A loop over arrays that do not go in turns, which may have no cells on some devices. */
static void run_apart(relay_program *self)
{
    static const haul_kernel_source *const near[] = {&near_1, &near_2, &near_3};
    const unsigned k = draw(self, 100), from = draw(self, 2);
    const void *arguments[] = {self->apart[from], self->apart[!from], &k};
    const haul_box box = draw_box(self);
    const haul_loop_options options = {.box = draw(self, 5) ? &box : NULL};
    haul_error error = {.text = ""};
    must(self, haul_loop_queue(self->context, near[self->dims - 1], arguments, 3, &options, &error),
         &error);
}

/* A loop that reads any cell of an array cannot go in turns. */
static void read_far(relay_program *self, int from, int to)
{
    static const haul_kernel_source *const far[] = {&fold_back_1, &fold_back_2, &fold_back_3};
    const void *arguments[] = {self->arrays[from], self->arrays[to]};
    haul_error error = {.text = ""};
    must(self, haul_loop_queue(self->context, far[self->dims - 1], arguments, 2, NULL, &error),
         &error);
}

/* Of more cells beyond the last dimension's edges, where programs draw that. */
static void make_array(relay_program *self, haul_array **array)
{
    haul_error error = {.text = ""};
    haul_array_spec spec = self->spec;
    if (self->differ && array == &self->arrays[ARRAYS - 1])
        spec.ghost[self->dims - 1]++;
    must(self, haul_array_new(self->context, &spec, array, &error), &error);
}

/* One of what a program does, with the arrays that it is about. */
static void do_one(relay_program *self)
{
    const unsigned what = draw(self, 74);
    const int a = (int)draw(self, ARRAYS), b = (a + 1 + (int)draw(self, ARRAYS - 1)) % ARRAYS;
    haul_error error = {.text = ""};
    if (what < 30) {
        run_loop(self, a, b, false);
    } else if (what < 40) { /* a run of loops back and forth */
        for (unsigned i = draw(self, 40); i > 0; i--) {
            run_loop(self, a, b, true);
            if (self->differ)
                run_loop(self, b, a, true);
            else
                must(self, haul_array_swap(self->arrays[a], self->arrays[b], &error), &error);
        }
    } else if (what < 44 && !self->differ) {
        must(self, haul_array_swap(self->arrays[a], self->arrays[b], &error), &error);
    } else if (what < 47) {
        must(self, haul_context_start(self->context, &error), &error);
    } else if (what < 50) {
        read_all(self, a);
    } else if (what < 52) {
        write_all(self, a);
    } else if (what < 54) {
        set_cell(self, a);
    } else if (what < 57) {
        haul_array_discard(self->arrays[b]);
        run_loop(self, a, b, true);
    } else if (what < 58) {
        haul_array_free(self->arrays[a]);
        make_array(self, &self->arrays[a]);
    } else if (what < 66) {
        sum_up(self, a, b);
    } else if (what < 72) {
        run_apart(self);
    } else if (draw(self, 2)) {
        read_far(self, a, b);
    }
}

/* Draws the arrays' shape and the memory that devices have of them. */
static haul_context_options draw_options(relay_program *self)
{
    static const int relays[] = {-1, 0, 1, 1};
    haul_context_options options = {.relay = relays[draw(self, 4)]};
    self->dims = 1 + (int)draw(self, 3);
    self->cells = 1;
    self->differ = !draw(self, 4);
    self->spec = (haul_array_spec){.element_bytes = sizeof(unsigned)};
    for (int d = 0; d < self->dims; d++) {
        self->spec.size[d] =
            d + 1 < self->dims ? 2 + (int)draw(self, 5) : 3 + (int)draw(self, 1 + draw(self, 150));
        self->spec.ghost[d] = 2;
        self->cells *= (size_t)self->spec.size[d];
    }
    options.region = draw(self, 3) ? 0 : 1 + (int)draw(self, 6);
    const unsigned share = 14 + 4 * (unsigned)options.region + draw(self, 60);
    const uint64_t plane = self->dims == 1 ? 4 : self->dims == 2 ? 192 : 1400;
    if (draw(self, 5))
        options.memory_bytes = 3000 + plane * share * ARRAYS;
    options.keep_plan = !draw(self, 4);
    return options;
}

static relay_program run_program(const char *devices, haul_order order, uint64_t seed)
{
    relay_program self = {.drawn = seed * UINT64_C(0x9E3779B97F4A7C15)};
    haul_context_options options = draw_options(&self);
    const haul_device_options device = {.test = &(haul_device_test){.order = order, .seed = seed}};
    haul_error error = {.text = ""};
    if (strcmp(devices, "host") != 0)
        options.device_options = &device;
    must(&self, haul_context_open(devices, &options, &self.context, &error), &error);
    self.buffer = calloc(self.cells, sizeof *self.buffer);
    for (int i = 0; i < ARRAYS; i++)
        make_array(&self, &self.arrays[i]);
    const haul_array_spec single = {.size = {1}, .element_bytes = sizeof(unsigned)};
    haul_array **const results[] = {&self.sum, &self.least, &self.most};
    for (int i = 0; i < 3; i++)
        must(&self, haul_array_new(self.context, &single, results[i], &error), &error);
    haul_array_spec copied = self.spec;
    for (int d = 0; d < self.dims; d++)
        copied.boundary[d] = HAUL_BOUNDARY_COPY;
    for (int i = 0; i < 2; i++)
        must(&self, haul_array_new(self.context, &copied, &self.apart[i], &error), &error);
    write_all(&self, 0);
    must(&self, haul_array_write(self.apart[0], self.buffer, &error), &error);
    for (unsigned i = TURNS_AT_LEAST + draw(&self, 40); i > 0 && !self.is_over; i--)
        do_one(&self);
    for (int i = 0; i < ARRAYS; i++)
        read_all(&self, i);
    for (int i = 0; i < 3; i++) {
        read_hash(&self, *results[i], 1);
        haul_array_free(*results[i]);
    }
    for (int i = 0; i < 2; i++) {
        read_hash(&self, self.apart[i], self.cells);
        haul_array_free(self.apart[i]);
    }
    for (int i = 0; i < ARRAYS; i++)
        haul_array_free(self.arrays[i]);
    haul_context_close(self.context);
    free(self.buffer);
    return self;
}

static void run_programs(uint64_t first, uint64_t count)
{
    uint64_t whole = 0;
    static const char *const lists[] = {"sim:k40,sim:k40", "sim:p100-pcie3,sim:k40,sim:k40",
                                        "sim:k40,sim:k40,sim:k40,sim:h200"};
    for (uint64_t seed = first; seed < first + count; seed++) {
        const char *devices = lists[seed % 3];
        const haul_order order = (haul_order)(seed / 3 % 3);
        const relay_program there = run_program(devices, order, seed);
        if (!there.is_over && run_program("host", HAUL_ORDER_USUAL, seed).hash != there.hash)
            fail_msg("program %d on %s, order %d", (int)seed, devices, (int)order);
        whole += !there.is_over;
    }
    assert_true(whole * 10 >= count * 9);
}

static void test_random_programs(void **state)
{
    (void)state;
    run_programs(1, SWEEP(150));
}

/* Loops back and forth over arrays that stream; the host waits for each run. */
static void run_steps(relay_program *self, unsigned runs, unsigned loops)
{
    haul_error error = {.text = ""};
    const unsigned k = 3;
    for (; runs > 0; runs--) {
        for (unsigned i = 0; i < loops; i++) {
            must(self,
                 HAUL_LOOP(self->context, &error, &near_3, self->arrays[0], self->arrays[1], &k),
                 &error);
            must(self, haul_array_swap(self->arrays[0], self->arrays[1], &error), &error);
        }
        read_all(self, 0);
    }
}

/* Reductions and loops on the host, which read no neighbours, between runs of many loops. */
static void run_between(relay_program *self, bool on_host)
{
    const unsigned k = 5;
    const void *arguments[] = {self->arrays[0], self->sum, self->least, &k, self->most};
    const void *two[] = {self->arrays[0], self->arrays[1], &k};
    const haul_loop_options options = {.on_host = on_host};
    haul_error error = {.text = ""};
    must(self, haul_loop_queue(self->context, &total_3, arguments, 5, &options, &error), &error);
    must(self, haul_loop_queue(self->context, &add_3, two, 3, &options, &error), &error);
    run_steps(self, 1, 200);
}

static uint64_t exchanges_of(const relay_program *self)
{
    return haul_context_count(self->context).exchanges;
}

/* Where the model chooses, runs of many loops go in turns, and those of few do not for long; when
 * they are many again they go in turns again. */
static void test_the_model_chooses(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* two minutes of it, of threads as in the random programs */
#endif
    static const char *const lists[] = {"host", "sim:k40,sim:k40,sim:k40,sim:k40"};
    const haul_context_options options = {.memory_bytes = 450000};
    const haul_array_spec single = {.size = {1}, .element_bytes = sizeof(unsigned)};
    relay_program on[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        haul_error error = {.text = ""};
        on[i] = (relay_program){.dims = 3, .cells = (size_t)30 * 30 * 200, .drawn = 1};
        on[i].spec = (haul_array_spec){
            .size = {30, 30, 200}, .element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}};
        on[i].buffer = calloc(on[i].cells, sizeof(unsigned));
        must(&on[i], haul_context_open(lists[i], &options, &on[i].context, &error), &error);
        make_array(&on[i], &on[i].arrays[0]);
        make_array(&on[i], &on[i].arrays[1]);
        haul_array **const results[] = {&on[i].sum, &on[i].least, &on[i].most};
        for (int j = 0; j < 3; j++)
            must(&on[i], haul_array_new(on[i].context, &single, results[j], &error), &error);
        write_all(&on[i], 0);
        run_steps(&on[i], 1, 200);
        run_between(&on[i], false);
        run_between(&on[i], true);
        assert_int_equal(exchanges_of(&on[i]), 0);
        char *text;
        must(&on[i], haul_context_explain(on[i].context, &text, &error), &error);
        assert_int_equal(strstr(text, "in turns") != NULL, i);
        free(text);
        run_steps(&on[i], 20, 1);
        const uint64_t some = exchanges_of(&on[i]);
        run_steps(&on[i], 1, 200);
        const uint64_t more = exchanges_of(&on[i]);
        run_steps(&on[i], 3, 200);
        assert_true(i ? some > 0 && more > some : !more);
        assert_int_equal(exchanges_of(&on[i]), more);
    }
    assert_true(on[0].hash == on[1].hash);
    for (int i = 0; i < 2; i++) {
        haul_array_free(on[i].sum);
        haul_array_free(on[i].least);
        haul_array_free(on[i].most);
        haul_array_free(on[i].arrays[0]);
        haul_array_free(on[i].arrays[1]);
        haul_context_close(on[i].context);
        free(on[i].buffer);
    }
}

/* Between loops in turns is one over a plane of divided arrays, of which some devices have no cell.
 */
static void test_loops_between_that_some_have_not(void **state)
{
    static const char *const lists[] = {"host", "sim:k40,sim:k40,sim:k40"};
    const haul_context_options options = {.memory_bytes = 12000, .relay = 1};
    uint64_t hashes[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        relay_program on = {.dims = 2, .cells = (size_t)8 * 90, .drawn = 1};
        haul_error error = {.text = ""};
        on.spec =
            (haul_array_spec){.size = {8, 90}, .element_bytes = sizeof(unsigned), .ghost = {1, 1}};
        on.buffer = calloc(on.cells, sizeof(unsigned));
        must(&on, haul_context_open(lists[i], &options, &on.context, &error), &error);
        for (int a = 0; a < ARRAYS; a++) {
            on.spec.boundary[0] = a < 2 ? HAUL_BOUNDARY_FIXED : HAUL_BOUNDARY_COPY;
            make_array(&on, &on.arrays[a]);
        }
        write_all(&on, 0);
        write_all(&on, 2);
        for (int loop = 0; loop < 40; loop++) {
            const unsigned k = 5;
            const haul_box box = {{0, 3}, {8, 4}};
            const haul_loop_options few = {.box = &box};
            const void *const two[] = {on.arrays[2], on.arrays[3], &k};
            run_loop(&on, loop % 2, 1 - loop % 2, true);
            if (loop % 9 == 3)
                must(&on, haul_loop_queue(on.context, &near_2, two, 3, &few, &error), &error);
        }
        for (int a = 0; a < ARRAYS; a++)
            read_all(&on, a);
        hashes[i] = on.hash;
        for (int a = 0; a < ARRAYS; a++)
            haul_array_free(on.arrays[a]);
        haul_context_close(on.context);
        free(on.buffer);
    }
    assert_true(hashes[0] == hashes[1]);
}

/* A device that goes ends what the others wait for: its arrays are lost, and are said to be. */
static void test_a_device_is_lost(void **state)
{
    (void)state;
    for (uint64_t behind = 20; behind < 3000; behind += behind / 2) {
        const haul_device_options device = {.test = &(haul_device_test){.lost_behind = behind}};
        const haul_context_options options = {
            .device_options = &device, .memory_bytes = 60000, .relay = 1};
        const haul_array_spec spec = {
            .size = {4, 5, 60}, .element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}};
        static unsigned cells[4 * 5 * 60];
        const unsigned k = 3;
        haul_context *context;
        haul_array *u, *v;
        assert_int_equal(
            haul_context_open("sim:k40,sim:k40,sim:p100-pcie3", &options, &context, NULL), HAUL_OK);
        assert_int_equal(haul_array_new(context, &spec, &u, NULL), HAUL_OK);
        assert_int_equal(haul_array_new(context, &spec, &v, NULL), HAUL_OK);
        haul_status status = haul_array_write(u, cells, NULL);
        for (int round = 0; round < 40; round++)
            for (int i = 0; i < 7 && !status; i++) {
                status = HAUL_LOOP(context, NULL, &near_3, u, v, &k);
                if (!status && i == 6)
                    status = haul_context_wait(context, NULL);
                if (!status)
                    status = haul_array_swap(u, v, NULL);
            }
        assert_int_equal(status, HAUL_STATUS_DEVICE_FAILED);
        assert_int_not_equal(haul_array_read(u, cells, NULL), HAUL_OK);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* FIRST COUNT: those programs; COUNT: so many that the quick test does not have. */
int main(int argc, char **argv)
{
    if (argc > 1) {
        run_programs(argc > 2 ? strtoull(argv[1], NULL, 10) : 1000,
                     strtoull(argv[argc - 1], NULL, 10));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_the_model_chooses),
        cmocka_unit_test(test_loops_between_that_some_have_not),
        cmocka_unit_test(test_a_device_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
