/* Cells beyond an array's edges, on a device: one kernel for all faces of a run of planes. Elements
 * are moved as `units` numbers of 8, 4 or 1 bytes. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_tile_ghost_file)

typedef struct ghost_shape {
    haul_view view; /* of units */
    int units;      /* an element */
    int count;      /* cells a plane */
    int edge;
} ghost_shape;

/* `list` has pairs of elements of a plane: where to, and where from. */
#define HL_TILE_GHOST_KERNELS(copy, put, type)                                                     \
    HAUL_KERNEL_2D(copy, hl_tile_ghost_file, HAUL_INOUT(type, cells), HAUL_IN(int, list),          \
                   HAUL_VALUE(ghost_shape, shape))                                                 \
    {                                                                                              \
        HAUL_FOR2 (i, plane)                                                                       \
            for (int k = 0; k < shape.units; k++)                                                  \
                cells[haul_turn(shape.view, plane) * shape.view.plane +                            \
                      (long)list[2 * (long)i] * shape.units + k] =                                 \
                    cells[haul_turn(shape.view, plane) * shape.view.plane +                        \
                          (long)list[2 * (long)i + 1] * shape.units + k];                          \
    }                                                                                              \
    HAUL_KERNEL_2D(put, hl_tile_ghost_file, HAUL_OUT(type, cells), HAUL_IN(int, list),             \
                   HAUL_IN(type, frame), HAUL_VALUE(ghost_shape, shape))                           \
    {                                                                                              \
        HAUL_FOR2 (i, plane)                                                                       \
            for (int k = 0; k < shape.units; k++)                                                  \
                cells[haul_turn(shape.view, plane) * shape.view.plane +                            \
                      (long)list[2 * (long)i] * shape.units + k] =                                 \
                    frame[((long)(plane + shape.edge) * shape.count + i) * shape.units + k];       \
    }

HL_TILE_GHOST_KERNELS(hl_tile_ghost_copy_8, hl_tile_ghost_put_8, unsigned long)
HL_TILE_GHOST_KERNELS(hl_tile_ghost_copy_4, hl_tile_ghost_put_4, unsigned)
HL_TILE_GHOST_KERNELS(hl_tile_ghost_copy_1, hl_tile_ghost_put_1, unsigned char)
