/* The cells that arrays of test_tile_scripts should hold: whole numbers, set by formulas that share
 * nothing with the kernels of tile_script.kernel.h nor with the library. */
#ifndef HAUL_TESTS_TILE_SCRIPT_MODEL_H
#define HAUL_TESTS_TILE_SCRIPT_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "tile_script.kernel.h"

enum { TYPE_B1, TYPE_B3, TYPE_W4, TYPE_F8, TYPE_Q16, TYPES };
enum { PARTS = 3 };

typedef struct cell_type {
    int parts;
    int bytes; /* of a part */
    uint64_t mask;
    haul_element element;
} cell_type;

static const cell_type cell_types[TYPES] = {
    {1, 1, 0xff, HAUL_ELEMENT_INTEGER},       {3, 1, 0xff, HAUL_ELEMENT_STRUCT},
    {1, 4, 0xffffffff, HAUL_ELEMENT_INTEGER}, {1, 8, 0xffff, HAUL_ELEMENT_FLOATING},
    {2, 8, UINT64_MAX, HAUL_ELEMENT_STRUCT},
};

typedef struct number {
    uint64_t parts[PARTS];
} number;

static inline size_t type_bytes(int type)
{
    return (size_t)cell_types[type].parts * (size_t)cell_types[type].bytes;
}

static inline number number_mixed(int type, number a, number b, unsigned k)
{
    const cell_type *is = &cell_types[type];
    number made = {{0}};
    for (int i = 0; i < is->parts; i++)
        made.parts[i] =
            (a.parts[i] * 5 + b.parts[(i + 1) % is->parts] * 3 + k + (uint64_t)i) & is->mask;
    return made;
}

static inline unsigned number_narrow(int type, number a)
{
    const int parts = cell_types[type].parts;
    return (unsigned)(parts > 1 ? a.parts[0] + 9 * a.parts[parts - 1] : a.parts[0]);
}

/* Parts of structs count in 32 bits before they are cut. */
static inline number number_wide(int type, unsigned a)
{
    number made = {{0}};
    for (int i = 0; i < cell_types[type].parts; i++)
        made.parts[i] = (uint32_t)(a + 77 * (unsigned)i) & cell_types[type].mask;
    return made;
}

static inline void number_store(int type, number a, void *at)
{
    const cell_type *is = &cell_types[type];
    const double real = (double)a.parts[0];
    if (is->element == HAUL_ELEMENT_FLOATING) {
        memcpy(at, &real, sizeof real);
        return;
    }
    for (int i = 0; i < is->parts; i++) /* little endian */
        memcpy((char *)at + (size_t)i * (size_t)is->bytes, &a.parts[i], (size_t)is->bytes);
}

static inline number number_load(int type, const void *at)
{
    const cell_type *is = &cell_types[type];
    number a = {{0}};
    double real;
    if (is->element == HAUL_ELEMENT_FLOATING) {
        memcpy(&real, at, sizeof real);
        a.parts[0] = real >= 0 && real < 65536 ? (uint64_t)real : 99999;
        return a;
    }
    for (int i = 0; i < is->parts; i++)
        memcpy(&a.parts[i], (const char *)at + (size_t)i * (size_t)is->bytes, (size_t)is->bytes);
    return a;
}

/* An array: cells with those beyond the edges. */
typedef struct model {
    int dims;
    int size[3]; /* 1 in dimensions that are not there */
    int ghost[3];
    haul_boundary boundary[3];
    int type;
    enum { EDGE_NONE, EDGE_PLACE, EDGE_MIRROR } edge;
    size_t count;
    number *cells;
} model;

static inline void model_init(model *self)
{
    self->count = 1;
    for (int d = 0; d < 3; d++)
        self->count *= (size_t)self->size[d] + 2 * (size_t)self->ghost[d];
    self->cells = calloc(self->count, sizeof *self->cells);
}

static inline number *model_at(const model *self, const int c[3])
{
    size_t at = 0;
    for (int d = 2; d >= 0; d--)
        at = at * ((size_t)self->size[d] + 2 * (size_t)self->ghost[d]) +
             (size_t)(c[d] + self->ghost[d]);
    return &self->cells[at];
}

static inline bool model_has(const model *self, const int c[3])
{
    bool has = true;
    for (int d = 0; d < 3; d++)
        has = has && c[d] >= 0 && c[d] < self->size[d];
    return has;
}

/* Goes through [lo, hi); false at the end. Needs: c is in it. */
static inline bool next_cell(int c[3], const int lo[3], const int hi[3])
{
    for (int d = 0; d < 3; d++) {
        if (++c[d] < hi[d])
            return true;
        c[d] = lo[d];
    }
    return false;
}

static inline bool is_no_cell(const int lo[3], const int hi[3])
{
    return lo[0] >= hi[0] || lo[1] >= hi[1] || lo[2] >= hi[2];
}

static inline void model_range(const model *self, bool ghosts, int lo[3], int hi[3])
{
    for (int d = 0; d < 3; d++) {
        lo[d] = ghosts ? -self->ghost[d] : 0;
        hi[d] = self->size[d] - lo[d];
    }
}

/* The formulas of `mirror`: from the cell next to it within the array, or beside that. */
static inline void mirror_cell(const model *self, const int c[3])
{
    const number five = {{5}};
    int d = self->dims - 1, from[3] = {c[0], c[1], c[2]};
    while (d && c[d] >= 0 && c[d] < self->size[d])
        d--;
    from[d] += c[d] < 0 ? 1 : -1;
    const int last = self->dims - 1;
    if (self->dims > 1 && !d)
        from[last] -= c[last] > 0;
    if (self->dims == 3 && d == 1)
        from[2] += c[2] < 11;
    *model_at(self, c) = number_mixed(self->type, *model_at(self, from), five, (unsigned)d + 1);
}

/* Face by face: the later ones have the corners. */
static inline void set_faces(const model *self)
{
    for (int d = 0; d < self->dims; d++)
        for (int side = 0; side < 2 && self->ghost[d]; side++) {
            int lo[3], hi[3];
            model_range(self, false, lo, hi);
            for (int e = 0; e < d; e++) {
                lo[e] -= self->ghost[e];
                hi[e] += self->ghost[e];
            }
            lo[d] = side ? self->size[d] : -self->ghost[d];
            hi[d] = lo[d] + self->ghost[d];
            int c[3] = {lo[0], lo[1], lo[2]};
            do
                if (self->edge == EDGE_MIRROR)
                    mirror_cell(self, c);
                else
                    *model_at(self, c) =
                        number_wide(self->type, (unsigned)(3 * c[0] + 5 * c[1] + 7 * c[2]));
            while (next_cell(c, lo, hi));
        }
}

/* As loops find them that read beyond the edges. */
static inline void model_set_ghosts(const model *self)
{
    int lo[3], hi[3];
    model_range(self, true, lo, hi);
    if (self->edge) {
        set_faces(self);
        return;
    }
    int c[3] = {lo[0], lo[1], lo[2]};
    number *old = malloc(self->count * sizeof *old);
    memcpy(old, self->cells, self->count * sizeof *old);
    do {
        int from[3];
        for (int d = 0; d < 3; d++) {
            const int n = self->size[d];
            from[d] = c[d] < 0 ? c[d] + n : c[d] >= n ? c[d] - n : c[d];
            if (self->boundary[d] == HAUL_BOUNDARY_COPY)
                from[d] = c[d] < 0 ? 0 : c[d] >= n ? n - 1 : c[d];
            from[d] = self->boundary[d] == HAUL_BOUNDARY_FIXED ? c[d] : from[d];
        }
        if (!model_has(self, c))
            *model_at(self, c) = old[model_at(self, from) - self->cells];
    } while (next_cell(c, lo, hi));
    free(old);
}

/* Whether its cells beyond the edges keep what they are given. */
static inline bool model_is_fixed(const model *self)
{
    bool is_fixed = !self->edge;
    for (int d = 0; d < self->dims; d++)
        is_fixed = is_fixed && (!self->ghost[d] || self->boundary[d] == HAUL_BOUNDARY_FIXED);
    return is_fixed;
}

static inline bool model_is_alike(const model *a, const model *b)
{
    bool is_alike = a->dims == b->dims && a->type == b->type;
    for (int d = 0; d < 3; d++)
        is_alike = is_alike && a->size[d] == b->size[d];
    return is_alike;
}

/* --- loops */

typedef enum loop_kind {
    LOOP_SHIFT,
    LOOP_FAR,
    LOOP_ACC,
    LOOP_PAIR,
    LOOP_CHESS,
    LOOP_DOWN,
    LOOP_UP,
    LOOP_LOOK,
    LOOP_FILL,
    LOOP_TABLE,
    LOOP_LINES,
    LOOP_SHEETS,
    LOOP_TOTAL,
    LOOP_SUM,
    LOOP_KINDS
} loop_kind;

enum { SUM, LEAST, MOST, REAL, RESULTS };

/* A loop's arrays in the order of the kernel's parameters. */
typedef struct model_loop {
    loop_kind kind;
    const model *of[3];
    script_value value;
    int lo[3]; /* of the written array's cells, also where the loop has fewer dimensions */
    int hi[3];
    double results[RESULTS];
} model_loop;

static inline number cell_off(const model *self, const int c[3], const int d[3], int times)
{
    const int at[3] = {c[0] + times * d[0], c[1] + times * d[1], c[2] + times * d[2]};
    return *model_at(self, at);
}

static inline number cell_any(const model_loop *self, const int c[3])
{
    int at[3] = {0};
    for (int d = 0; d < self->of[0]->dims; d++)
        at[d] = (int)((3 * (unsigned)c[d] + self->value.k) % (unsigned)self->value.n[d]) +
                self->value.lo[d];
    return *model_at(self->of[0], at);
}

static inline void run_far(const model_loop *self, const int c[3])
{
    const script_value *a = &self->value;
    int near[3];
    for (int d = 0; d < 3; d++)
        near[d] = (a->d[d] > 0) - (a->d[d] < 0);
    const number first = number_mixed(self->of[0]->type, cell_off(self->of[0], c, a->d, 1),
                                      cell_off(self->of[1], c, near, -1), a->k);
    *model_at(self->of[2], c) =
        number_mixed(self->of[0]->type, first, cell_off(self->of[0], c, a->d, -1), 1);
}

static inline void run_pair(const model_loop *self, const int c[3])
{
    const script_value *a = &self->value;
    number *w = model_at(self->of[1], c);
    const int type = self->of[0]->type;
    *model_at(self->of[2], c) = number_mixed(type, cell_off(self->of[0], c, a->d, 1), *w, a->k);
    *w = number_mixed(type, *w, cell_off(self->of[0], c, a->d, -1), 1);
}

static inline void run_total(model_loop *self, const int c[3])
{
    const script_value *a = &self->value;
    const number *here = model_at(self->of[0], c);
    const unsigned low = (unsigned)(here->parts[0] & 0xffff);
    const unsigned high = (unsigned)cell_off(self->of[0], c, a->d, -1).parts[0] ^ a->k;
    self->results[SUM] =
        (unsigned)self->results[SUM] + (unsigned)cell_off(self->of[0], c, a->d, 1).parts[0];
    self->results[LEAST] = low < self->results[LEAST] ? low : self->results[LEAST];
    self->results[MOST] = high > self->results[MOST] ? high : self->results[MOST];
    model_at(self->of[1], c)->parts[0] = (unsigned)(here->parts[0] + a->k);
}

/* Rows and planes are read from their other end. */
static inline void run_lines(const model_loop *self, const int c[3], int turned)
{
    const script_value *a = &self->value;
    int from[3] = {c[0], c[1], c[2]};
    from[turned] = a->n[turned] - 1 - c[turned];
    for (int d = turned + 1; d < self->of[0]->dims; d++)
        from[d] += a->d[d];
    number *v = model_at(self->of[1], c);
    *v = number_mixed(TYPE_W4, *v, *model_at(self->of[0], from), a->k);
}

static inline void run_up(const model_loop *self, const int c[3])
{
    const script_value *a = &self->value;
    const int type = self->of[1]->type;
    number *v = model_at(self->of[1], c);
    const number u = cell_off(self->of[0], c, a->d, 1);
    *v = number_mixed(type, *v, number_wide(type, (unsigned)u.parts[0]), a->k);
}

static inline void run_cell(model_loop *self, const int c[3])
{
    const script_value *a = &self->value;
    const model *u = self->of[0], *v = self->of[1];
    const int type = u->type;
    const int along[3] = {c[0] + c[1] + c[2], 0, 0};
    const number none = {{0}};
    number *at = model_at(self->kind == LOOP_FILL || self->kind == LOOP_CHESS ? u : v ? v : u, c);
    if (self->kind == LOOP_SHIFT)
        *at = number_mixed(type, *model_at(u, c), cell_off(u, c, a->d, 1), a->k);
    else if (self->kind == LOOP_FAR)
        run_far(self, c);
    else if (self->kind == LOOP_ACC)
        *at = number_mixed(type, *at, cell_off(u, c, a->d, 1), a->k);
    else if (self->kind == LOOP_PAIR)
        run_pair(self, c);
    else if (self->kind == LOOP_CHESS && (((unsigned)along[0] + a->k) & 1))
        *at = number_mixed(type, *at, cell_off(u, c, a->d, 1), a->k);
    else if (self->kind == LOOP_DOWN)
        *at = (number){{number_narrow(type, cell_off(u, c, a->d, 1)) + a->k}};
    else if (self->kind == LOOP_UP)
        run_up(self, c);
    else if (self->kind == LOOP_LOOK)
        *at = number_mixed(type, *at, cell_any(self, c), a->k);
    else if (self->kind == LOOP_FILL)
        *at = number_mixed(TYPE_W4, none, none, (unsigned)(3 * c[0] + 5 * c[1] + 7 * c[2]) + a->k);
    else if (self->kind == LOOP_TABLE)
        *at = number_mixed(type, *at, cell_any(self, along), a->k);
    else if (self->kind == LOOP_LINES || self->kind == LOOP_SHEETS)
        run_lines(self, c, self->kind == LOOP_SHEETS);
    else if (self->kind == LOOP_TOTAL)
        run_total(self, c);
    else if (self->kind == LOOP_SUM)
        self->results[REAL] += (double)model_at(u, c)->parts[0];
}

static inline void model_loop_run(model_loop *self)
{
    int c[3] = {self->lo[0], self->lo[1], self->lo[2]};
    self->results[SUM] = self->results[MOST] = self->results[REAL] = 0;
    self->results[LEAST] = INT32_MAX;
    if (is_no_cell(self->lo, self->hi))
        return;
    do
        run_cell(self, c);
    while (next_cell(c, self->lo, self->hi));
}

#endif
