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
        self->spec.size[d] = 1 + (int)draw(self, is_outer ? 50 : d ? 30 : 12);
        self->spec.ghost[d] = HALO + (int)draw(self, 2);
        self->spec.boundary[d] = (haul_boundary)draw(self, is_outer ? 4 : 3);
        if (self->spec.boundary[d] > HAUL_BOUNDARY_PERIODIC)
            self->spec.boundary[d] = HAUL_BOUNDARY_FIXED;
        if (self->spec.size[d] < self->spec.ghost[d])
            self->spec.boundary[d] = HAUL_BOUNDARY_COPY;
        self->whole[d] = self->spec.size[d] + 2 * self->spec.ghost[d];
        self->count *= (size_t)self->whole[d];
    }
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

static size_t run_program(const device_case *on, uint64_t seed)
{
    program self = {.random = seed * 0x9e3779b97f4a7c15 + 1};
    make(&self, on);
    for (unsigned i = draw(&self, 60); i > 0 && !self.is_over; i--) {
        const unsigned what = draw(&self, 14);
        if (what == 12)
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
    haul_context_close(self.context);
    return !self.is_over;
}

static void run_case(const device_case *on, int first, int programs)
{
    size_t whole = 0;
    for (int i = first; i < first + programs; i++) {
        if (getenv("TILE_VERBOSE"))
            fprintf(stderr, "%s order %d program %d\n", on->name, (int)on->order, i);
        whole += run_program(on, (uint64_t)i);
    }
    print_message("%s, order %d: %zu of %d programs fit\n", on->name, (int)on->order, whole,
                  programs);
    assert_true(whole >= (size_t)programs / 4);
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

/* The paper's shape gives what one loop gives, and as few kernels. */
static void test_tiles(void **state)
{
    (void)state;
    enum { SIZE = 40, COUNT = SIZE * SIZE };
    static const int tile[3] = {7, 3, 0};
    haul_error error;
    haul_context *context;
    haul_array *u, *v, *w;
    unsigned from[COUNT], one[COUNT], other[COUNT];
    const haul_array_spec spec = {
        .size = {SIZE, SIZE}, .element_bytes = sizeof(unsigned), .ghost = {1, 1}, .region = 8};
    const unsigned k = 5;
    for (unsigned i = 0; i < COUNT; i++)
        from[i] = i * i;
    assert_false(haul_context_open("sim:k40", NULL, &context, &error));
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    assert_false(haul_array_new(context, &spec, &w, &error));
    assert_false(haul_array_write(u, from, &error));
    assert_false(HAUL_LOOP(context, &error, &near_2, u, v, &k));
    haul_tiles tiles = haul_tiles_of(w, tile);
    const void *const arguments[] = {u, w, &k};
    for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
        assert_false(haul_compute(&tiles, &near_2, arguments, 3, NULL, &error));
    assert_false(haul_array_read(v, one, &error));
    assert_false(haul_array_read(w, other, &error));
    assert_memory_equal(one, other, sizeof one);
    assert_int_equal(haul_context_count(context).passes, 1);
    const haul_box bounds = {{3, 5, 0}, {6, 9, 1}};
    const void *const zeros[] = {u, w, &k};
    for (haul_tiles_reset(&tiles, false); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
        assert_false(haul_compute(&tiles, &add_2, zeros, 3, &bounds, &error));
    assert_false(haul_array_read(w, other, &error));
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            const bool is_inside = x >= 3 && x < 6 && y >= 5 && y < 9;
            const unsigned at = (unsigned)(y * SIZE + x), cell = 2 * one[at] + from[at];
            assert_int_equal(other[at], is_inside ? cell + k * (unsigned)(x + 3 * y) : one[at]);
        }
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(w);
    haul_context_close(context);
}

/* A plan has a line for each operation that was queued. */
static void test_plan(void **state)
{
    (void)state;
    haul_error error;
    haul_context *context;
    haul_array *u, *v;
    char path[] = "/tmp/haul-plan-XXXXXX", line[512];
    const unsigned k = 5;
    const haul_device_options without = {.without_data = true};
    const haul_context_options options = {
        .device_options = &without, .memory_bytes = 60000, .keep_plan = true};
    const haul_array_spec spec = {
        .size = {40, 200}, .element_bytes = sizeof(unsigned), .ghost = {1, 1}};
    assert_false(haul_context_open("sim:k40", &options, &context, &error));
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    for (int i = 0; i < 4; i++) {
        assert_false(HAUL_LOOP(context, &error, &near_2, u, v, &k));
        assert_false(haul_swap(u, v, &error));
    }
    const int made = mkstemp(path);
    assert_true(made >= 0);
    const haul_status status = haul_context_plan_write(context, path, &error);
    if (status)
        fail_msg("%s", error.text);
    const haul_context_counts counts = haul_context_count(context);
    uint64_t copies = 0, kernels = 0;
    FILE *file = fdopen(made, "r");
    while (file && fgets(line, sizeof line, file)) {
        copies += strstr(line, "op: HtoD") || strstr(line, "op: DtoH") || strstr(line, "op: DtoD");
        kernels += strstr(line, "op: kernel") != NULL;
    }
    fclose(file);
    remove(path);
    assert_int_equal(copies, counts.copies);
    assert_int_equal(kernels, counts.kernels);
    assert_true(counts.bytes_up > 0 && kernels > 4);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

typedef struct pair {
    haul_context *context;
    haul_array *u;
    haul_array *v;
} pair;

enum { PAIR = 4000 };

static pair open_pair(const char *device, const haul_context_options *options)
{
    haul_error error;
    pair self;
    const haul_array_spec spec = {.size = {PAIR}, .element_bytes = sizeof(unsigned), .ghost = {1}};
    unsigned cells[PAIR];
    for (unsigned i = 0; i < PAIR; i++)
        cells[i] = i * i;
    if (haul_context_open(device, options, &self.context, &error))
        fail_msg("%s", error.text);
    assert_false(haul_array_new(self.context, &spec, &self.u, &error));
    assert_false(haul_array_new(self.context, &spec, &self.v, &error));
    assert_false(haul_array_write(self.u, cells, &error));
    return self;
}

static void close_pair(pair *self)
{
    haul_array_free(self->u);
    haul_array_free(self->v);
    haul_context_close(self->context);
}

/* A device with less memory than it was thought to have: the arrays get less, and it is said. */
static void test_out_of_memory(void **state)
{
    (void)state;
    haul_error error;
    char *text;
    unsigned got[PAIR];
    const unsigned k = 3;
    const haul_device_options device = {.memory_limit = 20000};
    const haul_context_options options = {.device_options = &device, .memory_bytes = 1000000};
    pair self = open_pair("sim:k40", &options);
    assert_false(HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k));
    const haul_status status = haul_array_read(self.v, got, &error);
    if (status)
        fail_msg("%s", error.text);
    for (unsigned i = 1; i + 1 < PAIR; i++)
        assert_int_equal(got[i], 3 * i * i + 5 * (i - 1) * (i - 1) + 7 * (i + 1) * (i + 1) + k);
    assert_true(haul_context_count(self.context).device_bytes <= 20000);
    assert_false(haul_explain(self.context, &text, &error));
    assert_non_null(strstr(text, "the device had no"));
    free(text);
    close_pair(&self);
}

static double forever(void *state, const haul_machine *machine, const haul_kernel *kernel,
                      const haul_launch *launch)
{
    (void)state, (void)machine, (void)kernel, (void)launch;
    return 1000;
}

/* A kernel that does not end: what it was to write is lost, what the host had is not. */
static void test_lost(void **state)
{
    (void)state;
    haul_error error;
    unsigned got[PAIR];
    const unsigned k = 3;
    const haul_device_options device = {.kernel_seconds = forever, .time_limit_s = 1};
    const haul_context_options options = {.device_options = &device};
    pair self = open_pair("sim:k40", &options);
    assert_false(HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k));
    assert_int_equal(haul_array_read(self.v, got, &error), HAUL_TIMED_OUT);
    haul_array *w;
    const haul_array_spec spec = {.size = {PAIR}, .element_bytes = sizeof(unsigned)};
    assert_false(haul_array_new(self.context, &spec, &w, &error));
    assert_false(haul_array_read(w, got, &error));
    haul_array_free(w);
    close_pair(&self);
}

/* An array in a file is there again when the file is opened anew. */
static void test_file(void **state)
{
    (void)state;
    haul_error error;
    char path[] = "/tmp/haul-array-XXXXXX";
    const int made = mkstemp(path);
    assert_true(made >= 0);
    haul_array_spec spec = {.size = {30, 40}, .ghost = {1, 1}, .file = path};
    double cells[1200], got[1200] = {0};
    for (int i = 0; i < 1200; i++)
        cells[i] = i;
    for (int round = 0; round < 2; round++) {
        haul_context *context;
        haul_array *array;
        assert_false(haul_context_open("sim:k40", NULL, &context, &error));
        assert_false(haul_array_new(context, &spec, &array, &error));
        assert_false(round ? haul_array_read(array, got, &error)
                           : haul_array_write(array, cells, &error));
        haul_array_free(array);
        spec.size[0] = 300;
        assert_int_equal(haul_array_new(context, &spec, &array, &error), HAUL_BAD_INPUT);
        spec.size[0] = 30;
        haul_context_close(context);
    }
    remove(path);
    assert_memory_equal(cells, got, sizeof cells);
}

static void check_refused(haul_status status, const haul_error *error, const char *words)
{
    assert_int_equal(status, HAUL_USAGE);
    if (!strstr(error->text, words))
        fail_msg("'%s' lacks '%s'", error->text, words);
}

/* What does not fit is refused, with a reason; sizes of 0 and 1 are sizes like others. */
static void test_limits(void **state)
{
    (void)state;
    haul_error error;
    haul_context *context;
    haul_array *u = NULL, *v, *small, *empty;
    const unsigned k = 1;
    assert_false(haul_context_open("host", NULL, &context, &error));
    const haul_array_spec huge = {.size = {2000000, 2000000, 2000000}};
    check_refused(haul_array_new(context, &huge, &u, &error), &error, "larger than any memory");
    const haul_array_spec negative = {.size = {4, -1}};
    check_refused(haul_array_new(context, &negative, &u, &error), &error, "size -1");
    const haul_array_spec hole = {.size = {4, 0, 4}};
    check_refused(haul_array_new(context, &hole, &u, &error), &error, "none in 1");
    assert_null(u);
    const haul_array_spec spec = {.size = {9}, .element_bytes = sizeof(unsigned), .ghost = {1}};
    haul_array_spec other = spec;
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    other.size[0] = 1;
    assert_false(haul_array_new(context, &other, &small, &error));
    other.size[0] = 0;
    assert_false(haul_array_new(context, &other, &empty, &error));
    check_refused(HAUL_LOOP(context, &error, &near_1, u, u, &k), &error, "given twice");
    check_refused(HAUL_LOOP(context, &error, &near_1, u, v), &error, "needs an argument");
    check_refused(HAUL_LOOP(context, &error, &near_1, u, v, &k, &k), &error, "3 arguments, not 4");
    check_refused(HAUL_LOOP(context, &error, &wide_1, u, u, v), &error, "cells -2 to 10");
    check_refused(haul_swap(u, small, &error), &error, "different shapes");
    haul_region region;
    check_refused(haul_array_access(u, 9, HAUL_USE_READ, &region, &error), &error, "no region 9");
    assert_int_equal(haul_array_regions(empty), 0);
    assert_false(HAUL_LOOP(context, &error, &near_1, u, v, &k));
    assert_false(haul_context_wait(context, &error));
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(small);
    haul_array_free(empty);
    haul_context_close(context);
}

int main(int argc, char **argv)
{
    if (argc > 3) {
        const device_case on = {argv[1], (haul_order)atoi(argv[2]), 1};
        run_case(&on, atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 1);
        return 0;
    }
    if (getenv("TILE_TEST"))
        cmocka_set_test_filter(getenv("TILE_TEST"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),          cmocka_unit_test(test_limits),
        cmocka_unit_test(test_plan),           cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_lost),           cmocka_unit_test(test_file),
        cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
