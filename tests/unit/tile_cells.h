/* The loops of tile_cells.kernel.h, which are compiled once for the programs that draw from them.
 */
#ifndef HAUL_TESTS_TILE_CELLS_H
#define HAUL_TESTS_TILE_CELLS_H

#include "haul/tile.h"

/* The loops over one type of element. */
typedef struct cell_loops {
    size_t bytes;
    const haul_kernel_source *near, *wide, *add, *down, *up, *look, *edge;
} cell_loops;

enum { CELL_TYPES = 7, CELL_3 = 2, CELL_4 = 3, CELL_8 = 4, CELL_16 = 6 };

/* By dimensions less one, and type. */
extern const cell_loops cell_table[3][CELL_TYPES];

#endif
