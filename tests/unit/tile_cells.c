#include "tile_cells.h"

#include "tile_cells.kernel.h"

#define CELL_ROW(dims, cell)                                                                       \
    {                                                                                              \
        sizeof(cell), &near_##dims##_##cell, &wide_##dims##_##cell, &add_##dims##_##cell,          \
            &down_##dims##_##cell, &up_##dims##_##cell, CELL_LOOK_##dims(cell),                    \
            &edge_##dims##_##cell                                                                  \
    }
#define CELL_LOOK_1(cell) NULL
#define CELL_LOOK_2(cell) &look_2_##cell
#define CELL_LOOK_3(cell) &look_3_##cell
#define CELL_ROWS(dims)                                                                            \
    {                                                                                              \
        CELL_ROW(dims, cell_1), CELL_ROW(dims, cell_2), CELL_ROW(dims, cell_3),                    \
            CELL_ROW(dims, cell_4), CELL_ROW(dims, cell_8), CELL_ROW(dims, cell_12),               \
            CELL_ROW(dims, cell_16)                                                                \
    }

const cell_loops cell_table[3][CELL_TYPES] = {CELL_ROWS(1), CELL_ROWS(2), CELL_ROWS(3)};
