/* A script of test_tile_scripts as it runs: its arrays beside their models, and the loops that it
 * draws. */
#ifndef HAUL_TESTS_TILE_SCRIPT_LOOPS_H
#define HAUL_TESTS_TILE_SCRIPT_LOOPS_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "haul/device_test.h"
#include "tile_script_model.h"

enum { SLOTS = 8, CONTEXTS = 2, CALLS = 60, NAMES = 3 };

/* Every call draws from a number of its own: without the others it is the same call. */
typedef struct script {
    uint64_t seed;
    int count;
    bool is_left_out[CALLS];
} script;

/* How a script is run. */
typedef struct manner {
    const char *device;
    haul_order order;
    uint64_t seed;  /* of the options; 0: the defaults */
    bool is_shared; /* over several devices: no array is in a file */
} manner;

typedef struct slot {
    haul_array *array; /* NULL: none */
    haul_array_spec spec;
    model is;
    int context;
    bool is_lost; /* discarded, and not yet set again */
    char path[40];
} slot;

typedef struct run {
    const script *of;
    const manner *how;
    uint64_t random; /* of the call */
    haul_context *contexts[CONTEXTS];
    int context_count;
    int dims; /* most arrays' */
    int sizes[2][3];
    int type;
    bool has_files;
    slot slots[SLOTS];
    haul_array *results[CONTEXTS][RESULTS];
    double expected[CONTEXTS][RESULTS];
    haul_status statuses[CALLS]; /* of the calls: refused, or done */
    int done;                    /* calls */
    bool is_over;                /* the device has not enough memory */
    bool has_failed;
    bool is_told;
    char why[600];
    haul_error error;
} run;

static bool is_telling;

static void tell(const char *format, ...)
{
    va_list values;
    if (!is_telling && !getenv("SCRIPT_VERBOSE"))
        return;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
}

static unsigned draw_from(uint64_t *random, unsigned below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*random >> 33) % below);
}

static unsigned draw(run *self, unsigned below)
{
    return draw_from(&self->random, below);
}

static void blame(run *self, const char *format, ...)
{
    va_list values;
    if (self->has_failed)
        return;
    self->has_failed = true;
    va_start(values, format);
    vsnprintf(self->why, sizeof self->why, format, values);
    va_end(values);
}

/* A call that must be done, unless the memory does not do. */
static bool must(run *self, haul_status status, const char *call)
{
    if (status == HAUL_STATUS_DEVICE_FULL || status == HAUL_STATUS_NO_MEMORY)
        self->is_over = true;
    else if (status)
        blame(self, "%s: %s", call, self->error.text);
    return !status;
}

/* A call that may be refused, in all runs then. */
static bool may(run *self, haul_status status)
{
    if (!self->statuses[self->done])
        self->statuses[self->done] = status;
    if (status)
        tell("    refused: %s\n", self->error.text);
    if (status == HAUL_STATUS_DEVICE_FULL || status == HAUL_STATUS_NO_MEMORY)
        self->is_over = true;
    return !status;
}

/* --- arrays */

static slot *draw_slot(run *self)
{
    const unsigned first = draw(self, SLOTS);
    for (unsigned i = 0; i < SLOTS; i++)
        if (self->slots[(first + i) % SLOTS].array)
            return &self->slots[(first + i) % SLOTS];
    return NULL;
}

static int number_of(const run *self, const slot *of)
{
    return of ? (int)(of - self->slots) : -1;
}

static void tell_slot(const run *self, const slot *of)
{
    tell("  array %d of context %d: type %d, region %d, edge %d, file %d, on all %d;",
         number_of(self, of), of->context, of->is.type, of->spec.region, of->is.edge,
         of->spec.file != NULL, of->spec.on_all);
    for (int d = 0; d < of->is.dims; d++)
        tell(" %d+%d boundary %d", of->spec.size[d], of->spec.ghost[d], (int)of->spec.boundary[d]);
    tell("\n");
}

#define SCRIPT_PICK(name) SCRIPT_PICK_OF(name, b1, b3, w4, f8, q16)
#define SCRIPT_PICK_OF(name, a, b, c, d, e)                                                        \
    {                                                                                              \
        {&name##_1_##a, &name##_1_##b, &name##_1_##c, &name##_1_##d, &name##_1_##e},               \
            {&name##_2_##a, &name##_2_##b, &name##_2_##c, &name##_2_##d, &name##_2_##e},           \
        {                                                                                          \
            &name##_3_##a, &name##_3_##b, &name##_3_##c, &name##_3_##d, &name##_3_##e              \
        }                                                                                          \
    }
static const haul_kernel_source *const typed[][3][TYPES] = {
    SCRIPT_PICK(shift), SCRIPT_PICK(far),  SCRIPT_PICK(acc), SCRIPT_PICK(pair),
    SCRIPT_PICK(chess), SCRIPT_PICK(down), SCRIPT_PICK(up)};
static const haul_kernel_source *const edges[3][TYPES] = SCRIPT_PICK(edge);
static const haul_kernel_source *const mirrors[3] = {&mirror_1, &mirror_2, &mirror_3};
static const haul_kernel_source *const others[][3] = {
    {&look_1, &look_2, &look_3}, {&fill_1, &fill_2, &fill_3}, {NULL, &table_2, &table_3},
    {NULL, &lines_2, &lines_3},  {NULL, NULL, &sheets_3},     {&total_1, &total_2, &total_3},
    {&sum_1, &sum_2, &sum_3},
};

static const haul_kernel_source *kernel_of(loop_kind kind, int dims, int type)
{
    return kind < LOOP_LOOK ? typed[kind][dims - 1][type] : others[kind - LOOP_LOOK][dims - 1];
}

static void draw_boundary(run *self, slot *of)
{
    const bool is_fixed = !draw(self, 3), is_mirror = !draw(self, 6) && of->is.type == TYPE_W4;
    for (int d = 0; d < of->is.dims; d++) {
        of->spec.ghost[d] = (int)draw(self, 4);
        of->spec.boundary[d] = is_fixed ? HAUL_BOUNDARY_FIXED : (haul_boundary)draw(self, 3);
        if (of->spec.boundary[d] == HAUL_BOUNDARY_PERIODIC && of->spec.size[d] < of->spec.ghost[d])
            of->spec.boundary[d] = HAUL_BOUNDARY_COPY;
    }
    if (is_mirror) {
        of->is.edge = EDGE_MIRROR;
        of->spec.boundary_kernel = mirrors[of->is.dims - 1];
        for (int d = 0; d < of->is.dims; d++) {
            of->spec.size[d] = d + 1 == of->is.dims ? 12 : 6;
            of->spec.ghost[d] = 1;
        }
    } else if (!draw(self, 8)) {
        of->is.edge = EDGE_PLACE;
        of->spec.boundary_kernel = edges[of->is.dims - 1][of->is.type];
    }
}

static void draw_spec(run *self, slot *of)
{
    static const unsigned regions[] = {0, 0, 0, 1, 2, 3, 5};
    const unsigned kind = draw(self, 5);
    const int *size = self->sizes[draw(self, 4) == 0];
    *of = (slot){.context = of->context};
    of->is.dims = kind ? self->dims : 1 + (int)draw(self, 3);
    of->is.type = draw(self, 2) ? self->type : draw(self, 3) ? TYPE_W4 : (int)draw(self, TYPES);
    of->spec.element_bytes = type_bytes(of->is.type);
    of->spec.element = draw(self, 2) ? cell_types[of->is.type].element : HAUL_ELEMENT_ANY;
    of->spec.region = (int)regions[draw(self, 7)];
    of->spec.on_all = !draw(self, 12);
    for (int d = 0; d < of->is.dims; d++)
        of->spec.size[d] = d + 1 == of->is.dims ? size[2] : size[d];
    draw_boundary(self, of);
    for (int d = 0; d < 3; d++) {
        of->is.size[d] = d < of->is.dims ? of->spec.size[d] : 1;
        of->is.ghost[d] = of->spec.ghost[d];
        of->is.boundary[d] = of->spec.boundary[d];
    }
}

static void make_array(run *self, slot *of)
{
    if (self->has_files && !draw(self, 3)) {
        strcpy(of->path, "/tmp/haul-script-XXXXXX");
        const int file = mkstemp(of->path);
        if (file >= 0)
            close(file);
        of->spec.file = of->path;
    }
    tell_slot(self, of);
    if (must(self, haul_array_new(self->contexts[of->context], &of->spec, &of->array, &self->error),
             "new"))
        model_init(&of->is);
}

static void drop_array(slot *of)
{
    haul_array_free(of->array);
    free(of->is.cells);
    if (of->spec.file)
        (void)remove(of->path);
    of->array = NULL;
    of->is.cells = NULL;
    of->spec.file = NULL;
}

/* Gone and made again; one in a file comes back from it at times. */
static void renew(run *self)
{
    slot *of = &self->slots[draw(self, SLOTS)];
    tell("renew %d\n", number_of(self, of));
    if (of->array && of->spec.file && draw(self, 2)) {
        haul_array_free(of->array);
        of->array = NULL;
        must(self, haul_array_new(self->contexts[of->context], &of->spec, &of->array, &self->error),
             "new from a file");
        return;
    }
    if (of->array)
        drop_array(of);
    of->context = (int)draw(self, (unsigned)self->context_count);
    draw_spec(self, of);
    if (draw(self, 8))
        make_array(self, of);
}

/* --- loops */

/* How a loop uses its arrays: `o` the last, which it goes along with. */
typedef struct loop_use {
    char how; /* r: reads, w: writes, u: reads and writes, a: reads anywhere, t: a table */
    int halo;
    bool is_w4; /* else of the loop's type */
} loop_use;

typedef struct loop_shape {
    loop_use uses[3];
    int count;
    unsigned weight;
    unsigned results; /* it sets: a bit each */
} loop_shape;

static const loop_shape shapes[LOOP_KINDS] = {
    [LOOP_SHIFT] = {{{'r', 1}, {'w', 0}}, 2, 6},
    [LOOP_FAR] = {{{'r', 2}, {'r', 1}, {'w', 0}}, 3, 4},
    [LOOP_ACC] = {{{'r', 1}, {'u', 0}}, 2, 4},
    [LOOP_PAIR] = {{{'r', 1}, {'u', 0}, {'w', 0}}, 3, 3},
    [LOOP_CHESS] = {{{'u', 1}}, 1, 3},
    [LOOP_DOWN] = {{{'r', 1}, {'w', 0, true}}, 2, 2},
    [LOOP_UP] = {{{'r', 1, true}, {'u', 0}}, 2, 2},
    [LOOP_LOOK] = {{{'a', 0, true}, {'u', 0, true}}, 2, 3},
    [LOOP_FILL] = {{{'w', 0, true}}, 1, 2},
    [LOOP_TABLE] = {{{'t', 0, true}, {'u', 0, true}}, 2, 3},
    [LOOP_LINES] = {{{'r', 1, true}, {'u', 0, true}}, 2, 2},
    [LOOP_SHEETS] = {{{'r', 1, true}, {'u', 0, true}}, 2, 1},
    [LOOP_TOTAL] = {{{'r', 1, true}, {'w', 0, true}}, 2, 2, 1 << SUM | 1 << LEAST | 1 << MOST},
    [LOOP_SUM] = {{{'r', 0}}, 1, 1, 1 << REAL},
};

typedef struct loop {
    model_loop is;
    const haul_kernel_source *kernel;
    slot *uses[3];
    int count;
    int dims;   /* of its arrays */
    int fewer;  /* dimensions that the loop has less */
    int number; /* its context */
    int table;  /* a result that it reads, else -1 */
    haul_box box;
    bool has_box;
    bool on_host;
} loop;

static loop_kind draw_kind(run *self)
{
    unsigned all = 0, at = 0;
    for (int i = 0; i < LOOP_KINDS; i++)
        all += shapes[i].weight;
    unsigned drawn = draw(self, all);
    while (drawn >= shapes[at].weight)
        drawn -= shapes[at++].weight;
    return (loop_kind)at;
}

static bool is_written(const loop_use *use)
{
    return use->how == 'w' || use->how == 'u';
}

static bool can_take(const loop *self, const slot *of, const loop_use *use, int type)
{
    bool can = of->array && of->context == self->number && !(of->is_lost && use->how != 'w') &&
               of->is.type == (use->is_w4 ? TYPE_W4 : type) &&
               of->is.dims == (use->how == 't' ? 1 : self->dims);
    /* one cell may be read anywhere, so that no box of a loop is refused for it */
    can = can && !(use->halo && of->is.dims == 1 && of->is.size[0] == 1 && !of->is.ghost[0]);
    for (int i = 0; i < self->count; i++) /* what is written is given once */
        can = can && !(self->uses[i] == of &&
                       (is_written(use) || is_written(&shapes[self->is.kind].uses[i])));
    return can;
}

static slot *take_slot(run *self, const loop *of, const loop_use *use, int type)
{
    const unsigned first = draw(self, SLOTS);
    for (unsigned i = 0; i < SLOTS; i++)
        if (can_take(of, &self->slots[(first + i) % SLOTS], use, type))
            return &self->slots[(first + i) % SLOTS];
    return NULL;
}

/* The array's dimension d where it goes along with the loop. */
static bool goes_along(const loop_use *use)
{
    return use->how != 'a' && use->how != 't';
}

/* Where all that the loop reads is there: the cells [lo, hi) of its arrays. */
static void room_of(const loop *self, int lo[3], int hi[3])
{
    for (int d = 0; d < 3; d++) {
        lo[d] = -1000;
        hi[d] = 1000;
        for (int u = 0; u < self->count; u++) {
            const loop_use *use = &shapes[self->is.kind].uses[u];
            const model *is = &self->uses[u]->is;
            if (!goes_along(use))
                continue;
            const bool is_there = d >= self->fewer && d < self->dims; /* else from 0 on */
            const int halo = is_there ? use->halo : 0, ghost = is_there ? is->ghost[d] : 0;
            lo[d] = halo - ghost > lo[d] ? halo - ghost : lo[d];
            hi[d] = is->size[d] + ghost - halo < hi[d] ? is->size[d] + ghost - halo : hi[d];
        }
    }
}

/* The array whose cells are the loop's where it has no box. */
static const model *along_of(const loop *self)
{
    for (int u = 0; u < self->count; u++)
        if (is_written(&shapes[self->is.kind].uses[u]))
            return &self->uses[u]->is;
    return &self->uses[0]->is;
}

/* The cells of a loop that has no box, of its arrays as they are now. */
static void go_over_all(loop *of)
{
    for (int d = of->fewer; d < 3 && !of->has_box; d++) {
        of->is.lo[d] = 0;
        of->is.hi[d] = along_of(of)->size[d];
    }
}

/* All cells, the ones that have their neighbours, a part of them, or those beyond the edges too;
 * now and then one too many. */
static void draw_box(run *self, loop *of)
{
    const unsigned how = draw(self, 10);
    const bool is_wrong = !draw(self, 40);
    const model *along = along_of(of);
    int lo[3], hi[3];
    room_of(of, lo, hi);
    of->has_box = how > 1 || of->kernel->reduces;
    for (int d = 0; d < 3; d++) {
        const bool is_part = how > 6 && d >= of->fewer && d < of->dims && draw(self, 2);
        if (d < of->fewer || !of->has_box) {
            lo[d] = 0;
            hi[d] = d < of->fewer ? of->is.value.n[d] : along->size[d];
        } else if (how < 9) {
            lo[d] = lo[d] > 0 ? lo[d] : 0;
            hi[d] = hi[d] < along->size[d] ? hi[d] : along->size[d];
        }
        if (is_part && lo[d] < hi[d]) {
            lo[d] += (int)draw(self, (unsigned)(hi[d] - lo[d]));
            hi[d] -= (int)draw(self, (unsigned)(hi[d] - lo[d]) + 1);
        }
        if (is_wrong && of->has_box && d == of->dims - 1)
            hi[d] += 1 + (int)draw(self, 3);
        of->is.lo[d] = lo[d];
        of->is.hi[d] = hi[d];
    }
    of->box = (haul_box){{0}, {0}};
    for (int d = of->fewer; d < of->dims; d++) {
        of->box.lo[d - of->fewer] = lo[d];
        of->box.hi[d - of->fewer] = hi[d];
    }
}

static void draw_value(run *self, loop *of)
{
    script_value *value = &of->is.value;
    const model *first = of->is.of[0];
    const bool is_chess = of->is.kind == LOOP_CHESS;
    const int far = of->is.kind == LOOP_FAR ? 2 : 1, only = (int)draw(self, (unsigned)of->dims);
    value->k = draw(self, 1000);
    for (int d = 0; d < of->dims; d++) {
        value->d[d] = (int)draw(self, 2 * (unsigned)far + 1) - far;
        if (is_chess)
            value->d[d] = d != only ? 0 : draw(self, 2) ? 1 : -1;
    }
    for (int d = 0; d < 3; d++) {
        value->n[d] = first->size[d];
        if (of->is.kind == LOOP_LOOK || of->is.kind == LOOP_TABLE) {
            value->n[d] += 2 * first->ghost[d];
            value->lo[d] = -first->ghost[d];
        } else if (of->count > 1 && of->is.of[1]->size[d] < value->n[d]) {
            value->n[d] = of->is.of[1]->size[d];
        }
    }
}

/* A result of a reduction, or an array of one dimension. */
static bool take_table(run *self, loop *of, model *cell)
{
    of->table = -1;
    if (of->is.kind != LOOP_TABLE || draw(self, 2))
        return false;
    of->table = draw(self, 2) ? SUM : MOST;
    *cell = (model){.dims = 1, .size = {1, 1, 1}, .type = TYPE_W4};
    model_init(cell);
    cell->cells[0].parts[0] = (uint64_t)self->expected[of->number][of->table];
    of->is.of[0] = cell;
    return true;
}

/* False where the arrays that it would take are not there. `cell`: a table of one. */
static bool draw_loop(run *self, loop *of, loop_kind kind, model *cell)
{
    const loop_shape *shape = &shapes[kind];
    const int type = kind == LOOP_SUM ? TYPE_F8 : draw(self, 3) ? self->type : TYPE_W4;
    *of = (loop){.is = {.kind = kind},
                 .dims = draw(self, 5) ? self->dims : 1 + (int)draw(self, 3),
                 .number = (int)draw(self, (unsigned)self->context_count),
                 .on_host = !draw(self, 8)};
    of->fewer = kind == LOOP_LINES ? 1 : kind == LOOP_SHEETS ? 2 : 0;
    of->kernel = kernel_of(kind, of->dims, type);
    if (!of->kernel)
        return false;
    for (int u = 0; u < shape->count; u++) {
        slot *drawn = take_slot(self, of, &shape->uses[u], type);
        if (!drawn)
            return false;
        of->uses[u] = drawn;
        of->is.of[u] = &drawn->is;
        of->count++;
    }
    (void)take_table(self, of, cell);
    draw_value(self, of);
    draw_box(self, of);
    return true;
}

static bool is_beyond(const loop *of, const model *is)
{
    bool is_one = false;
    for (int d = of->fewer; d < of->dims; d++)
        is_one = is_one || of->is.lo[d] < 0 || of->is.hi[d] > is->size[d];
    return is_one;
}

/* Whether all that the loop uses is there. */
static bool has_room(const loop *of)
{
    int lo[3], hi[3];
    bool has = true;
    room_of(of, lo, hi);
    for (int d = 0; d < 3; d++)
        has = has && of->is.lo[d] >= lo[d] && of->is.hi[d] <= hi[d];
    return has || is_no_cell(of->is.lo, of->is.hi);
}

/* Values that were discarded are there again where the loop sets all of them. */
static void note_set(const loop *of)
{
    for (int u = 0; u < of->count; u++) {
        bool is_whole = shapes[of->is.kind].uses[u].how == 'w';
        for (int d = 0; d < 3; d++)
            is_whole = is_whole && of->is.lo[d] <= 0 && of->is.hi[d] >= of->uses[u]->is.size[d];
        of->uses[u]->is_lost = of->uses[u]->is_lost && !is_whole;
    }
}

/* Applies the loop to the model. */
static void apply_loop(run *self, loop *of)
{
    const loop_shape *shape = &shapes[of->is.kind];
    for (int u = 0; u < of->count; u++) {
        const loop_use *use = &shape->uses[u];
        if (use->how != 'w' && of->is.of[u] == &of->uses[u]->is &&
            (use->halo || !goes_along(use) || of->fewer || is_beyond(of, of->is.of[u])))
            model_set_ghosts(of->is.of[u]);
    }
    model_loop_run(&of->is);
    for (int r = 0; r < RESULTS; r++)
        if (shape->results >> r & 1)
            self->expected[of->number][r] = of->is.results[r];
    note_set(of);
}

/* The arguments in the kernel's order. */
static size_t list_arguments(run *self, const loop *of, const void *arguments[8])
{
    size_t count = 0;
    for (int u = 0; u < of->count; u++)
        arguments[count++] = of->uses[u]->array;
    if (of->table >= 0)
        arguments[0] = self->results[of->number][of->table];
    for (int r = 0; r < RESULTS; r++)
        if (shapes[of->is.kind].results >> r & 1)
            arguments[count++] = self->results[of->number][r];
    if (of->is.kind != LOOP_SUM)
        arguments[count++] = &of->is.value;
    return count;
}

static void tell_loop(const run *self, const loop *of)
{
    tell("%s: arrays %d %d %d, table %d, cells %d..%d %d..%d %d..%d%s, d %d %d %d, k %u%s\n",
         of->kernel->name, number_of(self, of->uses[0]), number_of(self, of->uses[1]),
         number_of(self, of->uses[2]), of->table, of->is.lo[0], of->is.hi[0], of->is.lo[1],
         of->is.hi[1], of->is.lo[2], of->is.hi[2], of->has_box ? "" : " (all)", of->is.value.d[0],
         of->is.value.d[1], of->is.value.d[2], of->is.value.k, of->on_host ? ", on the host" : "");
}

static void run_loop(run *self, loop *of)
{
    const void *arguments[8];
    const size_t count = list_arguments(self, of, arguments);
    const haul_loop_options options = {.box = of->has_box ? &of->box : NULL,
                                       .on_host = of->on_host};
    tell_loop(self, of);
    if (!may(self, haul_loop_queue(self->contexts[of->number], of->kernel, arguments, count,
                                   &options, &self->error)))
        return;
    if (has_room(of))
        apply_loop(self, of);
    else
        blame(self, "%s goes beyond its arrays", of->kernel->name);
}

static void one_loop(run *self)
{
    loop of;
    for (int tries = 0; tries < 6; tries++) {
        model cell = {.cells = NULL};
        const bool is_one = draw_loop(self, &of, draw_kind(self), &cell);
        if (is_one)
            run_loop(self, &of);
        free(cell.cells);
        if (is_one)
            return;
    }
}

#endif
