/* The tile runtime: random programs of loops, host accesses, discards, arrays that come and go,
 * over arrays that differ in their elements, cells beyond the edges, boundaries and files; compared
 * byte by byte with plain loops, on every device that is present, or on those that are named. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_cells.kernel.h"
#include "tile_kernels.h"
#include "tile_program.h"

typedef struct device_case {
    const char *name;
    haul_order order;
    int programs;  /* in the quick test */
    int share;     /* of a hundred in the slow one */
    bool is_typed; /* of one type: its compiler takes longer than the loops */
} device_case;

/* An array that comes back from its file or the program's memory, or another in its place. */
static void renew_array(program *self)
{
    twin *of = &self->twins[draw(self, ARRAYS)];
    tell("renew %d\n", (int)(of - self->twins));
    if ((of->spec.file || of->spec.cells || of->spec.device_cells) && draw(self, 2)) {
        haul_array_free(of->array);
        of->array = NULL;
        check(self, haul_array_new(self->context, &of->spec, &of->array, &self->error));
        return;
    }
    drop_array(self, of);
    if (of == self->twins && self->is_uniform) {
        of->spec.file = NULL;
        new_array(self, of);
        return;
    }
    draw_array(self, of);
}

static twin *draw_twin(program *self, int type, bool is_read)
{
    for (int tries = 0; tries < 12; tries++) {
        twin *of = &self->twins[draw(self, ARRAYS)];
        if (of->type == type && !(is_read && of->is_lost))
            return of;
    }
    return NULL;
}

/* --- loops */

typedef struct loop {
    const haul_kernel_source *kernel;
    twin *uses[3];
    unsigned count;
    const void *value;
    haul_box box;
    bool is_full;
} loop;

/* The arguments that a loop may be given. */
typedef struct loop_values {
    unsigned number;
    int table;
    cell_ends ends;
} loop_values;

/* The dimensions that the kernel has less than its arrays: it goes over their last ones. */
static int fewer_of(const program *self, const loop *of)
{
    return self->dims - (int)of->kernel->dimensions;
}

/* Whether any cell of an array may be read. */
static bool is_read_whole(const program *self, const loop *of, unsigned use)
{
    return of->uses[use] == &self->table ||
           of->kernel->parameters[2 * (size_t)use].halo == HAUL_HALO_ALL;
}

/* Indices whose neighbours all arrays have. */
static haul_box inner_box(const program *self, const loop *of)
{
    const int fewer = fewer_of(self, of);
    haul_box box = {{0}, {0}};
    for (int d = fewer; d < self->dims; d++) {
        int *lo = &box.lo[d - fewer], *hi = &box.hi[d - fewer];
        *hi = self->size[d];
        for (unsigned u = 0; u < of->count; u++) {
            if (is_read_whole(self, of, u))
                continue;
            const int less =
                of->kernel->parameters[2 * (size_t)u].halo - of->uses[u]->spec.ghost[d];
            *lo = *lo > less ? *lo : less;
            *hi = *hi < self->size[d] - less ? *hi : self->size[d] - less;
        }
    }
    return box;
}

/* Cells beyond the edges too, of arrays that keep them. */
static void widen_box(program *self, loop *of)
{
    bool can = of->is_full && !fewer_of(self, of) && of->kernel->dimensions == (unsigned)self->dims;
    for (unsigned u = 0; u < of->count; u++)
        can = can && twin_is_fixed(of->uses[u]) && !of->kernel->parameters[2 * (size_t)u].halo;
    for (int d = 0; d < self->dims && can && !draw(self, 4); d++) {
        bool has_ghosts = true;
        for (unsigned u = 0; u < of->count; u++)
            has_ghosts = has_ghosts && of->uses[u]->spec.ghost[d] > 0;
        of->box.lo[d] -= has_ghosts;
        of->box.hi[d] += has_ghosts;
    }
}

/* Cells whose neighbours all arrays have; sometimes fewer, or those beyond the edges too. */
static void draw_box(program *self, loop *of, bool is_part)
{
    const int fewer = fewer_of(self, of);
    of->box = inner_box(self, of);
    of->is_full = true;
    for (int d = 0; d + fewer < self->dims; d++) {
        const int lo = of->box.lo[d], cells = of->box.hi[d] - lo;
        if (is_part && cells > 0 && draw(self, 2)) {
            of->box.lo[d] = lo + (int)draw(self, (unsigned)cells);
            of->box.hi[d] =
                of->box.lo[d] + (int)draw(self, (unsigned)(lo + cells - of->box.lo[d]) + 1);
        }
        of->is_full = of->is_full && of->box.lo[d] <= 0 && of->box.hi[d] >= self->size[d + fewer];
    }
    widen_box(self, of);
}

/* Over tiles of the array that is written, or of the first, each a loop. */
static haul_status run_tiles(program *self, const loop *of, const void *const *arguments)
{
    const twin *last = of->uses[of->count - 1];
    const twin *along = last == &self->table ? of->uses[0] : last;
    int size[3];
    for (int d = 0; d < 3; d++)
        size[d] = draw(self, 2) ? 0 : 1 + (int)draw(self, 20);
    haul_tiles tiles = haul_tiles_make(along->array, size);
    haul_status status = HAUL_OK;
    tell("  in tiles of %d %d %d\n", size[0], size[1], size[2]);
    for (haul_tiles_reset(&tiles, draw(self, 2)); haul_tiles_valid(&tiles) && !status;
         haul_tiles_next(&tiles))
        status = haul_tiles_compute(&tiles, of->kernel, arguments, of->count + 1, &of->box,
                                    &self->error);
    return status;
}

static bool is_beyond(const program *self, const loop *of)
{
    const int fewer = fewer_of(self, of);
    bool is_one = false;
    for (int d = 0; d + fewer < self->dims; d++)
        is_one = is_one || of->box.lo[d] < 0 || of->box.hi[d] > self->size[d + fewer];
    return is_one;
}

/* The last of its arrays that the loop does not only read. */
static twin *written_of(const loop *of)
{
    twin *written = of->uses[0];
    for (unsigned u = 0; u < of->count; u++)
        if (of->kernel->parameters[2 * (size_t)u].access != HAUL_ACCESS_IN)
            written = of->uses[u];
    return written;
}

static void run_loop(program *self, loop *of, bool is_uneven)
{
    const void *arguments[4] = {NULL};
    const twin *arrays[3] = {of->uses[0], of->uses[0], of->uses[0]};
    twin *written = written_of(of);
    for (unsigned u = 0; u < of->count; u++) {
        arguments[u] = of->uses[u]->array;
        arrays[u] = of->uses[u];
    }
    arguments[of->count] = of->value;
    const haul_loop_options options = {
        .box = of->is_full && !is_beyond(self, of) && draw(self, 2) ? NULL : &of->box,
        .on_host = is_uneven && self->on_host && !draw(self, self->on_host)};
    tell("%s: %d %d %d, box %d..%d %d..%d %d..%d, host %d\n", of->kernel->name,
         (int)(of->uses[0] - self->twins), of->count > 1 ? (int)(of->uses[1] - self->twins) : -1,
         of->count > 2 ? (int)(of->uses[2] - self->twins) : -1, of->box.lo[0], of->box.hi[0],
         of->box.lo[1], of->box.hi[1], of->box.lo[2], of->box.hi[2], options.on_host);
    if (is_uneven && !is_beyond(self, of) && !fewer_of(self, of) && !draw(self, 12))
        check(self, run_tiles(self, of, arguments));
    else
        check(self, haul_loop_queue(self->context, of->kernel, arguments, of->count + 1, &options,
                                    &self->error));
    for (unsigned u = 0; u < of->count; u++)
        if (of->uses[u] != &self->table && of->kernel->parameters[2 * (size_t)u].halo)
            twin_set_ghosts(of->uses[u]);
    bool is_empty = false;
    for (unsigned d = 0; d < of->kernel->dimensions; d++)
        is_empty = is_empty || of->box.lo[d] >= of->box.hi[d];
    if (is_empty)
        return;
    twin_run(of->kernel, &of->box, arrays, of->value);
    written->is_lost = written->is_lost && !of->is_full;
}

static const haul_kernel_source *draw_kernel(program *self, int type)
{
    static const haul_kernel_source *const others[3][4] = {
        {&far_1, &far_1, &spread_1, &spread_1},
        {&far_2, &lines_2, &lines_2, &spread_2},
        {&far_3, &lines_3, &sheets_3, &spread_3}};
    enum { COUNT = 9 };
    const cell_loops *loops = &cell_table[self->dims - 1][type];
    const haul_kernel_source *const kernels[COUNT] = {loops->near, loops->near, loops->wide,
                                                      loops->add,  loops->add,  loops->down,
                                                      loops->up,   loops->look, loops->look};
    const unsigned which = draw(self, COUNT + 1);
    if (which == COUNT)
        return others[self->dims - 1][draw(self, 4)];
    return kernels[which] ? kernels[which] : loops->add;
}

static int type_of(uint64_t bytes)
{
    int type = 0;
    while (cell_table[0][type].bytes != bytes)
        type++;
    return type;
}

/* Beyond the end where the array has cells there. */
static cell_ends ends_of(const program *self, const twin *of)
{
    cell_ends ends = {{0}, {0}};
    for (int d = 0; d < self->dims; d++) {
        ends.size[d] = self->size[d];
        ends.last[d] = self->size[d] - !of->spec.ghost[d];
    }
    return ends;
}

/* False where the arrays that it would take are not there. */
static bool draw_loop(program *self, loop *of, loop_values *values)
{
    const int type = draw(self, 3) ? self->type : CELL_4;
    *of = (loop){.kernel = draw_kernel(self, type)};
    const haul_kernel_parameter *parameters = of->kernel->parameters;
    const unsigned last = of->kernel->parameter_count - 1; /* the value */
    const bool is_look = of->kernel == cell_table[self->dims - 1][type].look;
    *values = (loop_values){.number = draw(self, 1000), .table = TABLE};
    for (unsigned i = 0; i < last; i += 2) {
        twin *drawn = is_look && !i ? &self->table
                                    : draw_twin(self, type_of(parameters[i].bytes),
                                                parameters[i].access != HAUL_ACCESS_OUT);
        if (!drawn)
            return false;
        of->uses[of->count++] = drawn;
    }
    twin *written = of->uses[of->count - 1];
    for (unsigned u = 0; u + 1 < of->count; u++)
        if (of->uses[u] == written)
            return false;
    values->ends = ends_of(self, of->uses[0]);
    of->value = is_look                                       ? (const void *)&values->table
                : parameters[last].bytes == sizeof(cell_ends) ? (const void *)&values->ends
                                                              : &values->number;
    draw_box(self, of, !draw(self, 5));
    return !written->is_lost || of->is_full;
}

static void one_loop(program *self)
{
    loop_values values;
    loop of;
    for (int tries = 0; tries < 8; tries++)
        if (draw_loop(self, &of, &values)) {
            run_loop(self, &of, true);
            return;
        }
}

/* NULL where there is none of that type. */
static const haul_kernel_source *beside_of(int dims, int type)
{
    static const haul_kernel_source *const all[3][CELL_TYPES] = {
        {NULL},
        {[CELL_3] = &beside_2_cell_3, [CELL_4] = &beside_2_cell_4, [CELL_16] = &beside_2_cell_16},
        {[CELL_3] = &beside_3_cell_3, [CELL_4] = &beside_3_cell_4, [CELL_16] = &beside_3_cell_16}};
    return all[dims - 1][type];
}

/* Three reductions at once, and what they should be. */
static void reduce(program *self, twin *from)
{
    static const haul_kernel_source *const kernels[3] = {&total_1, &total_2, &total_3};
    const unsigned value = draw(self, 1000);
    const int outer = self->dims - 1;
    unsigned *expected = self->expected;
    loop of = {.kernel = kernels[outer], .uses = {from}, .count = 1};
    draw_box(self, &of, !draw(self, 5));
    const haul_loop_options options = {.box = &of.box, .on_host = !draw(self, 20)};
    const void *const arguments[] = {from->array, self->results[0], self->results[1], &value,
                                     self->results[2]};
    tell("reduce %d, host %d\n", (int)(from - self->twins), options.on_host);
    int at[3];
    twin_set_ghosts(from);
    expected[0] = expected[2] = 0;
    expected[1] = UINT32_MAX;
    twin_first(from, at, false);
    do {
        bool is_in = true;
        for (int d = 0; d < self->dims; d++)
            is_in = is_in && at[d] >= of.box.lo[d] && at[d] < of.box.hi[d];
        if (!is_in)
            continue;
        int low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
        unsigned cell, below, above;
        low[outer]--;
        high[outer]++;
        memcpy(&cell, twin_cell(from, at), sizeof cell);
        memcpy(&below, twin_cell(from, low), sizeof cell);
        memcpy(&above, twin_cell(from, high), sizeof cell);
        expected[0] += below + value * above;
        expected[1] = cell < expected[1] ? cell : expected[1];
        expected[2] = cell > expected[2] ? cell : expected[2];
    } while (twin_next(from, at, false));
    check(self,
          haul_loop_queue(self->context, kernels[outer], arguments, 5, &options, &self->error));
}

static void one_reduction(program *self)
{
    twin *from = draw_twin(self, CELL_4, true);
    if (from)
        reduce(self, from);
}

/* A stencil back and forth, whose steps may be fused; with another array beside or without, and now
 * and then with reductions between. */
static void many_loops(program *self)
{
    const int type = draw(self, 3) ? self->type : CELL_4;
    const unsigned value = draw(self, 1000), count = 3 + draw(self, 9);
    const bool is_uneven = !draw(self, self->is_fusing ? 9 : 3);
    const bool reduces = type == CELL_4 && !draw(self, 2);
    twin *ends[2] = {draw_twin(self, type, true), draw_twin(self, type, true)};
    if (!ends[0] || !ends[1] || ends[0] == ends[1])
        return;
    loop of = {.kernel = cell_table[self->dims - 1][type].near, .count = 2, .value = &value};
    const haul_kernel_source *kernel = beside_of(self->dims, type);
    twin *beside = kernel && draw(self, 2) ? draw_twin(self, type, true) : NULL;
    if (beside && beside != ends[0] && beside != ends[1])
        of = (loop){.kernel = kernel, .uses = {NULL, NULL, beside}, .count = 3, .value = &value};
    const bool is_part = self->is_fusing && !draw(self, 3); /* one box for all */
    for (unsigned i = 0; i < count && !self->is_over; i++) {
        of.uses[0] = ends[i % 2];
        of.uses[1] = ends[(i + 1) % 2];
        if (!is_part || !i)
            draw_box(self, &of, is_part || (is_uneven && draw(self, 2)));
        run_loop(self, &of, is_uneven);
        if (reduces && !self->is_over && !draw(self, 3))
            reduce(self, of.uses[draw(self, 2)]);
    }
}

static void one_mass(program *self)
{
    static const haul_kernel_source *const kernels[3] = {&masses_1, &masses_2, &masses_3};
    const int table = TABLE;
    twin *from = draw_twin(self, CELL_4, true);
    if (!from)
        return;
    loop of = {.kernel = kernels[self->dims - 1],
               .uses = {from, &self->sums},
               .count = 2,
               .value = &table};
    draw_box(self, &of, !draw(self, 3));
    run_loop(self, &of, false); /* tiles would have another order */
}

/* Adds to cells of the table. */
static void one_count(program *self)
{
    static const haul_kernel_source *const kernels[3][3] = {
        {&counts_1_cell_3, &counts_1_cell_4, &counts_1_cell_16},
        {&counts_2_cell_3, &counts_2_cell_4, &counts_2_cell_16},
        {&counts_3_cell_3, &counts_3_cell_4, &counts_3_cell_16}};
    const int types[3] = {CELL_3, CELL_4, CELL_16}, table = TABLE;
    const unsigned which = self->type == types[2] ? 2 : self->type == types[0] ? 0 : 1;
    twin *from = draw_twin(self, types[which], true);
    if (!from)
        return;
    loop of = {.kernel = kernels[self->dims - 1][which],
               .uses = {from, &self->table},
               .count = 2,
               .value = &table};
    draw_box(self, &of, !draw(self, 3));
    run_loop(self, &of, true);
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

/* --- the host */

static void set_cell(program *self, unsigned char *cell, const twin *of, const int at[3])
{
    for (size_t i = 0; i < of->spec.element_bytes; i++)
        cell[i] = (unsigned char)draw(self, 256);
    memcpy(twin_cell(of, at), cell, of->spec.element_bytes);
}

/* The host reads a region, or sets some of its cells or all. */
static void touch(program *self, twin *of, int index, haul_use use)
{
    haul_region region;
    int at[3];
    const haul_status status = haul_array_access(of->array, index, use, &region, &self->error);
    tell("touch %d, region %d, use %d\n", (int)(of - self->twins), index, (int)use);
    check(self, status);
    if (status)
        return;
    const bool ghosts = use == HAUL_USE_WRITE || twin_is_fixed(of);
    twin_first(of, at, ghosts);
    do {
        const int plane = at[self->dims - 1];
        const int first = region.first, end = region.end;
        if (plane < first || plane >= end)
            continue;
        unsigned char *cell = twin_in_region(of, &region, at);
        if ((use & HAUL_USE_READ) && !of->is_lost &&
            memcmp(cell, twin_cell(of, at), of->spec.element_bytes) != 0)
            fail_cell(self, of, at, "the host's region");
        if (use == HAUL_USE_WRITE || (use == HAUL_USE_BOTH && !draw(self, 3)))
            set_cell(self, cell, of, at);
    } while (twin_next(of, at, ghosts));
}

static void touch_one(program *self)
{
    twin *of = &self->twins[draw(self, ARRAYS)];
    const int regions = haul_array_regions(of->array);
    if (!regions) { /* the loops that were queued failed */
        check(self, haul_context_start(self->context, &self->error));
        return;
    }
    touch(self, of, (int)draw(self, (unsigned)regions), (haul_use)(1 + draw(self, 3)));
}

static size_t inner_bytes(const twin *of)
{
    size_t bytes = of->spec.element_bytes;
    for (int d = 0; d < of->dims; d++)
        bytes *= (size_t)of->spec.size[d];
    return bytes;
}

static void write_all(program *self)
{
    twin *of = &self->twins[draw(self, ARRAYS)];
    unsigned char *cells = malloc(inner_bytes(of)), *cell = cells;
    int at[3];
    tell("write %d\n", (int)(of - self->twins));
    twin_first(of, at, false);
    do {
        set_cell(self, cell, of, at);
        cell += of->spec.element_bytes;
    } while (twin_next(of, at, false));
    of->is_lost = false;
    check(self, haul_array_write(of->array, cells, &self->error));
    free(cells);
}

static void read_all(program *self, const twin *of)
{
    unsigned char *cells = malloc(inner_bytes(of)), *cell = cells;
    int at[3];
    tell("read %d\n", (int)(of - self->twins));
    check(self, haul_array_read(of->array, cells, &self->error));
    twin_first(of, at, false);
    do {
        if (!self->is_over && !of->is_lost &&
            memcmp(cell, twin_cell(of, at), of->spec.element_bytes) != 0)
            fail_cell(self, of, at, "the whole array");
        cell += of->spec.element_bytes;
    } while (twin_next(of, at, false));
    free(cells);
}

static void discard_one(program *self)
{
    twin *of = &self->twins[draw(self, ARRAYS)];
    tell("discard %d\n", (int)(of - self->twins));
    haul_array_discard(of->array);
    of->is_lost = true;
}

static void swap_two(program *self)
{
    twin *a = &self->twins[draw(self, ARRAYS)], *b = &self->twins[draw(self, ARRAYS)];
    if (!twin_can_swap(a, b))
        return;
    tell("swap %d %d\n", (int)(a - self->twins), (int)(b - self->twins));
    check(self, haul_array_swap(a->array, b->array, &self->error));
    const twin old = *a;
    a->cells = b->cells;
    a->is_lost = b->is_lost;
    a->spec.cells = b->spec.cells; /* the program's memory goes with what it holds */
    a->spec.device_cells = b->spec.device_cells;
    b->cells = old.cells;
    b->is_lost = old.is_lost;
    b->spec.cells = old.spec.cells;
    b->spec.device_cells = old.spec.device_cells;
}

/* --- programs */

/* Device memory for a part of the arrays, for all of them, or, now and then, for no plane. */
static uint64_t draw_memory(program *self)
{
    const bool is_column = self->dims == 3 && !draw(self, 3);
    uint64_t bytes = ARRAYS * cell_table[0][self->type].bytes;
    for (int d = 0; d < self->dims; d++)
        bytes *= (uint64_t)self->size[d] + 4 + (d == 0 && self->dims > 1 ? 30 : 0);
    return is_column ? bytes / (10 + draw(self, 20)) + 2048
                     : bytes * (3 + draw(self, 25)) / 20 + 256;
}

static void make(program *self, const device_case *on)
{
    self->dims = 1 + (int)draw(self, 3);
    self->type = on->is_typed ? CELL_3 : (int)draw(self, CELL_TYPES);
    self->is_shared = strchr(on->name, ',');
    self->can_wrap = !strncmp(on->name, "sim:", 4);
    self->is_fusing = self->dims > 1 && !draw(self, self->can_wrap && !self->is_shared ? 2 : 8);
    self->is_uniform = self->is_fusing || !draw(self, 3);
    for (int d = 0; d < self->dims; d++)
        self->size[d] = 1 + (int)draw(self, d == self->dims - 1 ? 50 : d ? 20 : 16);
    self->region = (int)draw(self, 6);
    const unsigned hosts[4] = {0, 2, 5, 20};
    self->on_host = hosts[draw(self, self->is_fusing ? 1 : 4)];
    const haul_device_options device = {
        .test = &(haul_device_test){.order = on->order, .seed = self->random}};
    const haul_context_options options = {
        .device_options = &device,
        .memory_bytes = draw_memory(self),
        .steps = draw(self, 3) || self->is_fusing ? 0 : 1 + draw(self, 8),
        .rows = (int)draw(self, 8),
        .host_share = draw(self, 3) || self->is_fusing ? 0 : 0.1 * (1 + draw(self, 9)),
        .fused = self->is_fusing ? 3 + draw(self, 4) / 2 * 2
                 : draw(self, 3) ? 1 + 2 * draw(self, 4)
                                 : 0,
        .check = !draw(self, 3),
        .exchange_steps = draw(self, 3) ? 2 + draw(self, 6) : draw(self, 2),
        .relay = (int)draw(self, 3) - 1,
    };
    check(self, haul_context_open(on->name, &options, &self->context, &self->error));
    tell("memory %llu, region %d, steps %u, share %g, fused %u, checked %d\n",
         (unsigned long long)options.memory_bytes, self->region, options.steps, options.host_share,
         options.fused, options.check);
    for (int i = 0; i < ARRAYS; i++)
        draw_array(self, &self->twins[i]);
    self->table = (twin){.spec = {.size = {TABLE}}, .dims = 1, .type = CELL_4};
    new_array(self, &self->table);
    self->sums = (twin){
        .spec = {.size = {TABLE}, .element_bytes = sizeof(double)}, .dims = 1, .type = CELL_8};
    new_array(self, &self->sums);
    const haul_array_spec one = {.size = {1}, .element_bytes = sizeof(unsigned)};
    for (int i = 0; i < RESULTS; i++)
        check(self, haul_array_new(self->context, &one, &self->results[i], &self->error));
    for (int i = 0; i < TABLE; i++)
        ((unsigned *)self->table.cells)[i] = draw(self, 1000000);
    check(self, haul_array_write(self->table.array, self->table.cells, &self->error));
}

static void one_thing(program *self)
{
    const unsigned what = self->is_fusing && draw(self, 3) ? 20 : draw(self, 43);
    if (what < 20)
        one_loop(self);
    else if (what < 25)
        many_loops(self);
    else if (what < 28)
        touch_one(self);
    else if (what < 29)
        write_all(self);
    else if (what < 30)
        read_all(self, &self->twins[draw(self, ARRAYS)]);
    else if (what < 31)
        check_results(self);
    else if (what < 33)
        one_reduction(self);
    else if (what < 35)
        discard_one(self);
    else if (what < 37)
        swap_two(self);
    else if (what < 38)
        renew_array(self);
    else if (what < 40)
        one_count(self);
    else if (what < 41)
        one_mass(self);
    else
        check(self, haul_context_wait(self->context, &self->error));
}

/* Whether steps were fused. */
static bool has_fused(const program *self)
{
    char *text;
    if (haul_context_explain(self->context, &text, NULL))
        return false;
    const bool is_one = strstr(text, "fused on chip");
    free(text);
    return is_one;
}

typedef struct tally {
    size_t whole;
    size_t fused;
} tally;

/* Each thing is drawn from a number of its own, so that a program can be made shorter by hand:
 * TILE_WITHOUT=,3,7, leaves out two. */
static bool is_left_out(unsigned index)
{
    char word[16];
    const char *list = getenv("TILE_WITHOUT");
    snprintf(word, sizeof word, ",%u,", index);
    return list && strstr(list, word);
}

static void run_program(const device_case *on, uint64_t seed, tally *of)
{
    program self = {.random = seed * 0x9e3779b97f4a7c15 + 1};
    make(&self, on);
    const unsigned things = draw(&self, 60);
    for (unsigned i = 0; i < things && !self.is_over; i++) {
        self.random = (seed + 1) * 0x9e3779b97f4a7c15 + (i + 1) * 0xbf58476d1ce4e5b9;
        if (!is_left_out(i))
            one_thing(&self);
    }
    for (int i = 0; i < ARRAYS && !self.is_over; i++)
        read_all(&self, &self.twins[i]);
    if (!self.is_over)
        read_all(&self, &self.table);
    if (!self.is_over)
        read_all(&self, &self.sums);
    for (int i = 0; i < ARRAYS && !self.is_over; i++)
        for (int part = 0; part < haul_array_regions(self.twins[i].array); part++)
            touch(&self, &self.twins[i], part, HAUL_USE_READ);
    check_results(&self);
    for (int i = 0; i < RESULTS; i++)
        haul_array_free(self.results[i]);
    for (int i = 0; i < ARRAYS; i++)
        drop_array(&self, &self.twins[i]);
    drop_array(&self, &self.table);
    drop_array(&self, &self.sums);
    of->whole += !self.is_over;
    of->fused += has_fused(&self);
    haul_context_close(self.context);
}

static void run_case(const device_case *on, int first, int programs)
{
    tally of = {0};
    for (int i = first; i < first + programs; i++) {
        tell("%s order %d program %d\n", on->name, (int)on->order, i);
        run_program(on, (uint64_t)i, &of);
    }
    print_message("%s, order %d: %zu of %d programs fit, %zu fused steps\n", on->name,
                  (int)on->order, of.whole, programs, of.fused);
    assert_true(of.whole >= (size_t)programs / 4);
}

static const device_case cases[] = {
    {"host", HAUL_ORDER_USUAL, 60, 30, false},
    {"sim:k40", HAUL_ORDER_USUAL, 30, 15, false},
    {"sim:k40", HAUL_ORDER_LATE, 40, 20, false},
    {"sim:k40", HAUL_ORDER_RANDOM, 30, 15, false},
    {"opencl:0", HAUL_ORDER_USUAL, 2, 3, true},
    {"host,host", HAUL_ORDER_USUAL, 20, 5, false},
    {"sim:k40,sim:k40", HAUL_ORDER_USUAL, 30, 7, false},
    {"sim:k40,sim:k40,host", HAUL_ORDER_LATE, 20, 5, false},
    {"sim:p100-pcie3,sim:k40", HAUL_ORDER_RANDOM, 10, 0, false},
};

static int slow_programs; /* of all devices; 0: the quick test */

static void test_random_programs(void **state)
{
    (void)state;
    haul_context *context;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!haul_context_open(cases[i].name, NULL, &context, NULL)) {
            haul_context_close(context);
            const int quick = SWEEP(cases[i].programs);
            run_case(&cases[i], slow_programs ? 1000 : 1,
                     slow_programs ? slow_programs / 100 * cases[i].share : quick);
        }
}

static int number_of(const char *word)
{
    return (int)strtol(word, NULL, 10);
}

/* DEVICE ORDER FIRST [PROGRAMS]: those of one device; PROGRAMS: so many, of all devices. */
int main(int argc, char **argv)
{
    if (argc > 3) {
        const device_case on = {argv[1], (haul_order)number_of(argv[2]), 1, 0, false};
        run_case(&on, number_of(argv[3]), argc > 4 ? number_of(argv[4]) : 1);
        return 0;
    }
    slow_programs = argc == 2 ? number_of(argv[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
