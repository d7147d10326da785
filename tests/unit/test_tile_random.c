/* The tile runtime: random programs of loops and host accesses, compared cell by cell with plain
 * loops, on every device that is present, or on those that are named. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "tile_kernels.h"

enum { ARRAYS = 4, HALO = 2, RESULTS = 3 };

typedef struct device_case {
    const char *name;
    haul_order order;
    int programs;
} device_case;

/* An array and what it should hold: plain memory with its cells beyond the edges. */
typedef struct twin {
    haul_array *array;
    unsigned *cells;
} twin;

typedef struct program {
    uint64_t random;
    haul_context *context;
    haul_array_spec spec;
    int dims;
    int whole[3]; /* sizes with ghosts */
    size_t count;
    twin twins[ARRAYS];
    haul_array *results[RESULTS]; /* of reductions: sum, least, most */
    unsigned expected[RESULTS];
    bool is_over; /* the device had not enough memory */
    haul_error error;
} program;

static unsigned draw(program *self, unsigned below)
{
    self->random ^= self->random >> 12;
    self->random ^= self->random << 25;
    self->random ^= self->random >> 27;
    return (unsigned)((self->random * 0x2545f4914f6cdd1d >> 33) % below);
}

static void check(program *self, haul_status status)
{
    if (status == HAUL_DEVICE_FULL)
        self->is_over = true;
    else if (status)
        fail_msg("%s", self->error.text);
}

static size_t place(const program *self, const int at[3])
{
    size_t index = 0;
    for (int d = self->dims - 1; d >= 0; d--)
        index = index * (size_t)self->whole[d] + (size_t)(at[d] + self->spec.ghost[d]);
    return index;
}

/* Visits all cells, ghosts too where `ghosts`; `at` is the state. False at the end. */
static bool next_cell(const program *self, int at[3], bool ghosts)
{
    for (int d = 0; d < self->dims; d++) {
        const int ghost = ghosts ? self->spec.ghost[d] : 0;
        if (++at[d] < self->spec.size[d] + ghost)
            return true;
        at[d] = -ghost;
    }
    return false;
}

static void first_cell(const program *self, int at[3], bool ghosts)
{
    for (int d = 0; d < 3; d++)
        at[d] = ghosts && d < self->dims ? -self->spec.ghost[d] : 0;
}

static void set_ghosts(const program *self, unsigned *cells)
{
    int at[3];
    first_cell(self, at, true);
    unsigned *old = malloc(self->count * sizeof *old);
    memcpy(old, cells, self->count * sizeof *old);
    do {
        int from[3] = {at[0], at[1], at[2]};
        for (int d = 0; d < self->dims; d++) {
            const int size = self->spec.size[d];
            if ((at[d] >= 0 && at[d] < size) || self->spec.boundary[d] == HAUL_BOUNDARY_FIXED)
                continue;
            const bool is_low = at[d] < 0;
            from[d] = self->spec.boundary[d] == HAUL_BOUNDARY_COPY ? (is_low ? 0 : size - 1)
                      : is_low                                     ? at[d] + size
                                                                   : at[d] - size;
        }
        cells[place(self, at)] = old[place(self, from)];
    } while (next_cell(self, at, true));
    free(old);
}

/* The loop itself, on plain memory. */
static void run_plainly(const program *self, const haul_kernel_source *kernel, const haul_box *box,
                        unsigned *const cells[3], unsigned value)
{
    haul_box whole = *box;
    void *arguments[8];
    haul_view view = {.row = self->whole[0], .plane = self->whole[0], .ring = 1 << 20};
    const int outer = self->dims - 1;
    int zero[3] = {0};
    view.plane = self->dims == 1 ? 1 : self->whole[0] * (self->dims == 3 ? self->whole[1] : 1);
    view.base = -self->spec.ghost[outer];
    zero[outer] = -self->spec.ghost[outer];
    for (int d = 0; d < 3; d++)
        whole.hi[d] += d >= self->dims;
    for (unsigned i = 0, given = 0; i < kernel->parameter_count; i++) {
        if (kernel->parameters[i].halo < 0) {
            arguments[i] = &value;
            continue;
        }
        arguments[i] = cells[given++] + place(self, zero);
        arguments[++i] = &view;
    }
    kernel->host(&whole, &whole, arguments);
}

static haul_box draw_box(program *self)
{
    haul_box box = {{0}, {0}};
    for (int d = 0; d < self->dims; d++) {
        box.hi[d] = self->spec.size[d];
        if (!draw(self, 5)) {
            box.lo[d] = (int)draw(self, (unsigned)self->spec.size[d]);
            box.hi[d] = box.lo[d] + (int)draw(self, (unsigned)(self->spec.size[d] - box.lo[d]) + 1);
        }
    }
    return box;
}

/* Three reductions at once, and what they should be. */
static void one_reduction(program *self)
{
    static const haul_kernel_source *const kernels[3] = {&total_1, &total_2, &total_3};
    const twin *of = &self->twins[draw(self, ARRAYS)];
    const unsigned value = draw(self, 1000);
    const haul_box box = draw_box(self);
    const haul_loop_options options = {.box = &box, .on_host = !draw(self, 20)};
    const void *const arguments[] = {of->array, self->results[0], self->results[1], &value,
                                     self->results[2]};
    const int outer = self->dims - 1;
    unsigned *expected = self->expected;
    int at[3];
    set_ghosts(self, of->cells);
    expected[0] = expected[2] = 0;
    expected[1] = UINT32_MAX;
    first_cell(self, at, false);
    do {
        bool is_in = true;
        for (int d = 0; d < self->dims; d++)
            is_in = is_in && at[d] >= box.lo[d] && at[d] < box.hi[d];
        if (!is_in)
            continue;
        int low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
        low[outer]--;
        high[outer]++;
        const unsigned cell = of->cells[place(self, at)];
        expected[0] += of->cells[place(self, low)] + value * of->cells[place(self, high)];
        expected[1] = cell < expected[1] ? cell : expected[1];
        expected[2] = cell > expected[2] ? cell : expected[2];
    } while (next_cell(self, at, false));
    check(self, haul_loop(self->context, kernels[outer], arguments, 5, &options, &self->error));
}

static void check_results(program *self)
{
    for (int i = 0; i < RESULTS && !self->is_over; i++) {
        unsigned got = 0;
        check(self, haul_array_read(self->results[i], &got, &self->error));
        if (!self->is_over && got != self->expected[i])
            fail_msg("reduction %d is %u, not %u", i, got, self->expected[i]);
    }
}

static void one_loop(program *self)
{
    static const haul_kernel_source *const kernels[3][3] = {
        {&near_1, &wide_1, &add_1}, {&near_2, &wide_2, &add_2}, {&near_3, &wide_3, &add_3}};
    const unsigned which = draw(self, 3);
    const haul_kernel_source *kernel = kernels[self->dims - 1][which];
    const unsigned a = draw(self, ARRAYS), b = (a + 1 + draw(self, ARRAYS - 1)) % ARRAYS;
    unsigned c = draw(self, ARRAYS), value = draw(self, 1000);
    while (c == b)
        c = (c + 1) % ARRAYS;
    twin *used[3] = {&self->twins[a], &self->twins[b], &self->twins[b]};
    const void *arguments[3] = {self->twins[a].array, self->twins[b].array, &value};
    if (which == 1) {
        used[1] = &self->twins[c];
        arguments[1] = self->twins[c].array;
        arguments[2] = self->twins[b].array;
    }
    const haul_box box = draw_box(self);
    const haul_loop_options options = {.box = &box, .on_host = !draw(self, 20)};
    check(self, haul_loop(self->context, kernel, arguments, 3, &options, &self->error));
    if (which < 2)
        set_ghosts(self, used[0]->cells);
    unsigned *const cells[3] = {used[0]->cells, used[1]->cells, used[2]->cells};
    run_plainly(self, kernel, &box, cells, value);
}

/* A stencil back and forth, whose steps may be fused. */
static void many_loops(program *self)
{
    static const haul_kernel_source *const kernels[3] = {&near_1, &near_2, &near_3};
    const haul_kernel_source *kernel = kernels[self->dims - 1];
    const unsigned a = draw(self, ARRAYS), b = (a + 1 + draw(self, ARRAYS - 1)) % ARRAYS;
    const unsigned value = draw(self, 1000);
    haul_box box = {{0}, {0}};
    for (int d = 0; d < self->dims; d++)
        box.hi[d] = self->spec.size[d];
    for (unsigned i = 0, count = 3 + draw(self, 9); i < count && !self->is_over; i++) {
        twin *from = &self->twins[i % 2 ? b : a], *to = &self->twins[i % 2 ? a : b];
        const void *const arguments[3] = {from->array, to->array, &value};
        unsigned *const cells[3] = {from->cells, to->cells};
        check(self, haul_loop(self->context, kernel, arguments, 3, NULL, &self->error));
        set_ghosts(self, from->cells);
        run_plainly(self, kernel, &box, cells, value);
    }
}

static unsigned *in_region(const program *self, const haul_region *region, const int at[3])
{
    const int outer = self->dims - 1;
    int64_t offset = (at[outer] - region->first) * region->plane;
    if (self->dims > 1)
        offset += at[0];
    if (self->dims > 2)
        offset += at[1] * region->row;
    return (unsigned *)region->cells + offset;
}

/* The host reads a region, or sets some of its cells or all. */
static void touch(program *self)
{
    const twin *of = &self->twins[draw(self, ARRAYS)];
    check(self, haul_context_start(self->context, &self->error));
    if (self->is_over)
        return;
    const int regions = haul_array_regions(of->array);
    const haul_use use = (haul_use)(1 + draw(self, 3));
    haul_region region;
    int at[3];
    const haul_status status = haul_array_access(of->array, (int)draw(self, (unsigned)regions), use,
                                                 &region, &self->error);
    check(self, status);
    if (status)
        return;
    const bool ghosts = use == HAUL_USE_WRITE;
    first_cell(self, at, ghosts);
    do {
        const int plane = at[self->dims - 1];
        if (plane < region.first || plane >= region.end)
            continue;
        unsigned *cell = in_region(self, &region, at), *plain = &of->cells[place(self, at)];
        if ((use & HAUL_USE_READ) && *cell != *plain)
            fail_msg("cell %d %d %d is %u, not %u", at[0], at[1], at[2], *cell, *plain);
        if (use == HAUL_USE_WRITE || (use == HAUL_USE_BOTH && !draw(self, 3)))
            *cell = *plain = draw(self, 100000);
    } while (next_cell(self, at, ghosts));
}

static void compare(program *self)
{
    size_t count = 1;
    for (int d = 0; d < self->dims; d++)
        count *= (size_t)self->spec.size[d];
    unsigned *cells = malloc(count * sizeof *cells);
    for (int i = 0; i < ARRAYS && !self->is_over; i++) {
        int at[3];
        size_t index = 0;
        check(self, haul_array_read(self->twins[i].array, cells, &self->error));
        first_cell(self, at, false);
        do {
            if (!self->is_over && cells[index] != self->twins[i].cells[place(self, at)])
                fail_msg("array %d, cell %d %d %d is %u, not %u", i, at[0], at[1], at[2],
                         cells[index], self->twins[i].cells[place(self, at)]);
            index++;
        } while (next_cell(self, at, false));
    }
    free(cells);
}

static void make(program *self, const device_case *on)
{
    self->dims = 1 + (int)draw(self, 3);
    self->count = 1;
    for (int d = 0; d < self->dims; d++) {
        const bool is_outer = d == self->dims - 1;
        self->spec.size[d] = 1 + (int)draw(self, is_outer ? 50 : d ? 30 : 24);
        self->spec.ghost[d] = HALO + (int)draw(self, 2);
        self->spec.boundary[d] = (haul_boundary)draw(self, is_outer ? 4 : 3);
        if (self->spec.boundary[d] > HAUL_BOUNDARY_PERIODIC)
            self->spec.boundary[d] = HAUL_BOUNDARY_FIXED;
        if (self->spec.size[d] < self->spec.ghost[d])
            self->spec.boundary[d] = HAUL_BOUNDARY_COPY;
        self->whole[d] = self->spec.size[d] + 2 * self->spec.ghost[d];
        self->count *= (size_t)self->whole[d];
    }
    for (int d = 0, is_fixed = (int)draw(self, 2); is_fixed && d < 3; d++)
        self->spec.boundary[d] = HAUL_BOUNDARY_FIXED;
    self->spec.element_bytes = sizeof(unsigned);
    self->spec.region = (int)draw(self, 6);
    /* with the gaps between rows */
    uint64_t bytes = ARRAYS * sizeof(unsigned);
    for (int d = 0; d < self->dims; d++)
        bytes *= (uint64_t)self->whole[d] + (d == 0 && self->dims > 1 ? 30 : 0);
    const haul_device_options device = {.order = on->order, .seed = self->random};
    const bool is_column = self->dims == 3 && !draw(self, 3); /* no planes fit */
    const haul_context_options options = {
        .device_options = &device,
        .memory_bytes = is_column ? bytes / (10 + draw(self, 20)) + 2048
                                  : bytes * (3 + draw(self, 25)) / 20 + 64,
        .steps = draw(self, 3) ? 0 : 1 + draw(self, 8),
        .rows = (int)draw(self, 8),
        .host_share = draw(self, 3) ? 0 : 0.1 * (1 + draw(self, 9)),
        .fused = draw(self, 2) ? 0 : 1 + 2 * draw(self, 3),
    };
    check(self, haul_context_open(on->name, &options, &self->context, &self->error));
    for (int i = 0; i < ARRAYS; i++) {
        self->twins[i].cells = calloc(self->count, sizeof(unsigned));
        check(self,
              haul_array_new(self->context, &self->spec, &self->twins[i].array, &self->error));
    }
    const haul_array_spec one = {.size = {1}, .element_bytes = sizeof(unsigned)};
    for (int i = 0; i < RESULTS; i++)
        check(self, haul_array_new(self->context, &one, &self->results[i], &self->error));
}

/* Whether steps were fused. */
static bool has_fused(const program *self)
{
    char *text;
    if (haul_explain(self->context, &text, NULL))
        return false;
    const bool is_one = strstr(text, "fused on chip");
    free(text);
    return is_one;
}

typedef struct tally {
    size_t whole;
    size_t fused;
} tally;

static void run_program(const device_case *on, uint64_t seed, tally *of)
{
    program self = {.random = seed * 0x9e3779b97f4a7c15 + 1};
    make(&self, on);
    for (unsigned i = draw(&self, 60); i > 0 && !self.is_over; i--) {
        const unsigned what = draw(&self, 17);
        if (what >= 14)
            many_loops(&self);
        else if (what == 12)
            one_reduction(&self);
        else if (what == 13)
            check_results(&self);
        else if (what < 8) {
            one_loop(&self);
        } else if (what < 10) {
            touch(&self);
        } else if (what < 11) {
            twin *a = &self.twins[draw(&self, ARRAYS)], *b = &self.twins[draw(&self, ARRAYS)];
            check(&self, haul_swap(a->array, b->array, &self.error));
            unsigned *cells = a->cells;
            a->cells = b->cells;
            b->cells = cells;
        } else {
            check(&self, haul_context_wait(self.context, &self.error));
        }
    }
    compare(&self);
    check_results(&self);
    for (int i = 0; i < RESULTS; i++)
        haul_array_free(self.results[i]);
    for (int i = 0; i < ARRAYS; i++) {
        haul_array_free(self.twins[i].array);
        free(self.twins[i].cells);
    }
    of->whole += !self.is_over;
    of->fused += has_fused(&self);
    haul_context_close(self.context);
}

static void run_case(const device_case *on, int first, int programs)
{
    tally of = {0};
    for (int i = first; i < first + programs; i++) {
        if (getenv("TILE_VERBOSE"))
            fprintf(stderr, "%s order %d program %d\n", on->name, (int)on->order, i);
        run_program(on, (uint64_t)i, &of);
    }
    print_message("%s, order %d: %zu of %d programs fit, %zu fused steps\n", on->name,
                  (int)on->order, of.whole, programs, of.fused);
    assert_true(of.whole >= (size_t)programs / 4);
}

static const device_case cases[] = {
    {"host", HAUL_ORDER_USUAL, 60},     {"sim:k40", HAUL_ORDER_USUAL, 8},
    {"sim:k40", HAUL_ORDER_LATE, 20},   {"sim:k40", HAUL_ORDER_RANDOM, 8},
    {"opencl:0", HAUL_ORDER_USUAL, 15},
};

static void test_random_programs(void **state)
{
    (void)state;
    haul_device *device;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!haul_device_open(cases[i].name, NULL, &device, NULL)) {
            haul_device_close(device);
            run_case(&cases[i], 1, SWEEP(cases[i].programs));
        }
}

int main(int argc, char **argv)
{
    if (argc > 3) {
        const device_case on = {argv[1], (haul_order)atoi(argv[2]), 1};
        run_case(&on, atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 1);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
