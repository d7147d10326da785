/* A random program's arrays, and the numbers that it is drawn from. */
#ifndef HAUL_TESTS_TILE_PROGRAM_H
#define HAUL_TESTS_TILE_PROGRAM_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "tile_twin.h"

enum { ARRAYS = 5, TABLE = 7, RESULTS = 3 };

typedef struct program {
    uint64_t random;
    haul_context *context;
    int dims;
    int size[3];
    int type;         /* of elements; other arrays have CELL_4 */
    int region;       /* of all arrays */
    unsigned on_host; /* of so many loops one is on the host; 0: none */
    bool is_shared;   /* over several devices: no array is in a file, or in the program's memory */
    bool can_wrap;    /* arrays may be in memory of the device that the program owns */
    bool is_uniform;  /* all arrays have one spec: blocks are longest */
    bool is_fusing;   /* mostly stencils that can be fused, with edges of all kinds but kernels */
    twin twins[ARRAYS];
    twin table;                   /* read anywhere */
    twin sums;                    /* of floating-point numbers, in order */
    haul_array *results[RESULTS]; /* of reductions: sum, least, most */
    unsigned expected[RESULTS];
    bool is_over; /* the device had not enough memory */
    haul_error error;
} program;

static inline unsigned draw(program *self, unsigned below)
{
    self->random ^= self->random >> 12;
    self->random ^= self->random << 25;
    self->random ^= self->random >> 27;
    return (unsigned)((self->random * 0x2545f4914f6cdd1d >> 33) % below);
}

/* The program as it is run, for whoever looks for a fault. */
static inline void tell(const char *format, ...)
{
    va_list values;
    if (!getenv("TILE_VERBOSE"))
        return;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
}

static inline void check(program *self, haul_status status)
{
    if (status == HAUL_STATUS_DEVICE_FULL)
        self->is_over = true;
    else if (status)
        fail_msg("%s", self->error.text);
}

static inline void fail_cell(const program *self, const twin *of, const int at[3],
                             const char *where)
{
    fail_msg("%s: array %d, cell %d %d %d", where, (int)(of - self->twins), at[0], at[1], at[2]);
}

/* --- arrays */

static inline void draw_spec(program *self, twin *of)
{
    haul_array_spec *spec = &of->spec;
    *spec = (haul_array_spec){.region = self->region};
    of->dims = self->dims;
    of->type = draw(self, 3) ? self->type : CELL_4;
    for (int d = 0; d < self->dims; d++) {
        spec->size[d] = self->size[d];
        spec->ghost[d] = (int)(draw(self, 4) ? 2 - !draw(self, 3) : draw(self, 4));
        spec->boundary[d] = (haul_boundary)(draw(self, 4) % 3);
        if (d == self->dims - 1 && !draw(self, 2))
            spec->boundary[d] = HAUL_BOUNDARY_PERIODIC;
        if (spec->size[d] < spec->ghost[d] && spec->boundary[d] == HAUL_BOUNDARY_PERIODIC)
            spec->boundary[d] = HAUL_BOUNDARY_COPY;
    }
    const bool is_fixed = !draw(self, self->is_fusing ? 8 : self->is_uniform ? 2 : 3);
    for (int d = 0; d < 3 && is_fixed; d++)
        spec->boundary[d] = HAUL_BOUNDARY_FIXED;
    if (!draw(self, 8) && !self->is_fusing)
        spec->boundary_kernel = cell_table[self->dims - 1][of->type].edge;
}

static inline void tell_spec(const program *self, const twin *of)
{
    tell("array %d: %zu bytes, file %d, own memory %d %d, edge kernel %d;", (int)(of - self->twins),
         (size_t)of->spec.element_bytes, of->spec.file != NULL, of->spec.cells != NULL,
         of->spec.device_cells != NULL, of->spec.boundary_kernel != NULL);
    for (int d = 0; d < of->dims; d++)
        tell(" size %d ghost %d boundary %d", of->spec.size[d], of->spec.ghost[d],
             (int)of->spec.boundary[d]);
    tell("\n");
}

static inline void new_array(program *self, twin *of)
{
    twin_lay_out(of);
    of->is_lost = false;
    of->cells = calloc(of->count, of->spec.element_bytes);
    if (of != &self->table)
        tell_spec(self, of);
    check(self, haul_array_new(self->context, &of->spec, &of->array, &self->error));
}

/* Now and then an array is in memory of the program's, on the host or on the device. */
static inline void draw_memory_of(program *self, twin *of)
{
    const bool is_own = !self->is_shared && !of->spec.file && !draw(self, 8);
    twin_lay_out(of);
    of->spec.cells = of->spec.device_cells = NULL;
    if (is_own && self->can_wrap && draw(self, 2))
        of->spec.device_cells = calloc(of->count, of->spec.element_bytes);
    else if (is_own)
        of->spec.cells = calloc(of->count, of->spec.element_bytes);
}

/* The program's memory has the array's cells when the array is gone. */
static inline void check_memory_of(const twin *of)
{
    const unsigned char *own = of->spec.cells ? of->spec.cells : of->spec.device_cells;
    const size_t element = of->spec.element_bytes;
    int at[3];
    twin_first(of, at, twin_is_fixed(of));
    do {
        if (memcmp(own + twin_place(of, at) * element, twin_cell(of, at), element) != 0)
            fail_msg("memory of the program's: cell %d %d %d", at[0], at[1], at[2]);
    } while (twin_next(of, at, twin_is_fixed(of)));
}

/* Of one spec with the first, or of its own. */
static inline void draw_array(program *self, twin *of)
{
    if (self->is_uniform && of != self->twins) {
        of->spec = self->twins[0].spec;
        of->dims = self->dims;
        of->type = self->twins[0].type;
        of->spec.file = NULL;
    } else {
        draw_spec(self, of);
    }
    of->path[0] = '\0';
    if (!draw(self, 10) && !self->is_shared) {
        strcpy(of->path, "/tmp/haul-random-XXXXXX");
        const int file = mkstemp(of->path);
        assert_true(file >= 0);
        close(file);
        of->spec.file = of->path;
    }
    draw_memory_of(self, of);
    new_array(self, of);
}

/* Loops that the array's end runs may not fit the device: the context tells. */
static inline void drop_array(program *self, twin *of)
{
    const bool is_own = of->spec.cells || of->spec.device_cells;
    haul_array_free(of->array);
    if (is_own && !self->is_over)
        check(self, haul_context_wait(self->context, &self->error));
    if (is_own && !of->is_lost && !self->is_over)
        check_memory_of(of);
    free(of->spec.cells);
    free(of->spec.device_cells);
    of->spec.cells = of->spec.device_cells = NULL;
    free(of->cells);
    if (of->spec.file)
        remove(of->path);
    of->array = NULL;
}

#endif
