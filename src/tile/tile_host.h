/* The fifth layer: loops on the host's memory. */
#ifndef HAUL_TILE_TILE_HOST_H
#define HAUL_TILE_TILE_HOST_H

#include "tile/tile_pass.h"

/* Of a step: a field takes two arguments, its cells and its view; a value at least 16 bytes of a
 * step's values. */
enum { HL_TILE_ARGUMENTS = 2 * HL_TILE_USES + HL_TILE_VALUE_BYTES / 16 };

/* Runs blocks of the steps on the host's memory. */
haul_status hl_tile_host_run(haul_context *context, hl_tile_step *steps, size_t count,
                             haul_error *error);

/* A front has about so many cells at least, so that work outweighs the wait for the tile before. */
enum { HL_TILE_FRONT_CELLS = 8192 };

/* How the next block goes through the caches. */
typedef struct hl_tile_way {
    size_t steps; /* loops of a block, at most */
    bool is_far;
    hl_tile_wave *trial; /* where its time is noted; NULL: it is not a trial */
} hl_tile_way;

typedef struct hl_tile_shape {
    int rows;   /* a tile */
    int planes; /* that a front goes on at once */
} hl_tile_shape;

typedef struct hl_tile_extent {
    int rows;  /* of all tiles */
    int cells; /* of a row */
    int threads;
} hl_tile_extent;

/* Blocks of the same kernel are tried in both ways, then take the faster one. Needs: `count` steps,
 * one at least, with so many loops. */
hl_tile_way hl_tile_way_choose(haul_context *context, const hl_tile_step *steps, size_t count,
                               size_t loops, int threads);
/* The processor time of a cell in a block of so many steps. */
void hl_tile_way_note(const hl_tile_way *self, size_t steps, double cell_s);
hl_tile_shape hl_tile_shape_choose(const haul_context *context, const hl_tile_block *block,
                                   bool is_far, const hl_tile_extent *of);

/* Whether the step is one of those of which a cell is checked, and which: counted as the step's box
 * is. */
bool hl_tile_sample_choose(haul_context *context, const hl_tile_step *step, int cell[3]);
/* Computes the cell with its accesses checked; nothing that it writes stays. Needs: a chosen cell,
 * whose time has come; `arguments` of the step's kernel, on the host. */
void hl_tile_sample_run(const hl_tile_step *step, const int cell[3], void *const *arguments,
                        haul_fault *fault);

/* Bytes that loops do not set by themselves: no computation gives these not-a-numbers. */
enum { HL_TILE_POISON = 0xff, HL_TILE_OTHER_POISON = 0x55 };

typedef struct hl_tile_poison {
    int byte;
    const char *before; /* of the part, where such a cell has the first poison, too; or NULL */
} hl_tile_poison;

/* Sets a part of the step's box, in all arrays of which the step is to set all cells there. */
void hl_tile_poison_set(const hl_tile_step *step, const haul_box *box, int byte);
/* The first cell of the part that still has the poison; false where there is none. */
bool hl_tile_poison_find(const hl_tile_step *step, unsigned use, const haul_box *box,
                         hl_tile_poison poison, int found[3]);
/* A copy of the part, which the caller frees; NULL: no memory. */
char *hl_tile_poison_keep(const hl_tile_step *step, unsigned use, const haul_box *box);

/* The first cell that a step leaves unset. */
typedef struct hl_tile_unset {
    bool is_taken;
    bool lacks_memory; /* it could not be looked for */
    unsigned use;
    int at[3];
} hl_tile_unset;

void hl_tile_unset_note(hl_tile_unset *self, unsigned use, const int at[3]);
/* The error of such a cell, if there is one. */
haul_status hl_tile_unset_tell(const hl_tile_step *step, const hl_tile_unset *self,
                               haul_error *error);

#endif
