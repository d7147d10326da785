/* Loops before and after a compaction. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_compact)

HAUL_KERNEL_3D(mark_3, tile_compact, HAUL_READ(int, u, 1), HAUL_WRITE(int, flags),
               HAUL_VALUE(int, parts))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(flags, x, y, z) = (HAUL_AT(u, x, y, z - 1) + HAUL_AT(u, x, y, z)) % parts ? 0 : 256;
}

HAUL_KERNEL_2D(mark_2, tile_compact, HAUL_READ(int, u, 1), HAUL_WRITE(int, flags),
               HAUL_VALUE(int, parts))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(flags, x, y) = (HAUL_AT2(u, x, y - 1) + HAUL_AT2(u, x, y)) % parts ? 0 : 256;
}

HAUL_KERNEL_1D(mark_1, tile_compact, HAUL_READ(int, u, 1), HAUL_WRITE(int, flags),
               HAUL_VALUE(int, parts))
{
    HAUL_FOR1 (x)
        HAUL_AT1(flags, x) = (HAUL_AT1(u, x - 1) + HAUL_AT1(u, x)) % parts ? 0 : 256;
}

/* The sum of a cell and the one before, so that cells beyond the edge count, too. */
HAUL_KERNEL_1D(pair_1, tile_compact, HAUL_READ(int, u, 1), HAUL_WRITE(int, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(u, x - 1) + HAUL_AT1(u, x);
}

HAUL_KERNEL_1D(count_up_1, tile_compact, HAUL_UPDATE(int, u, 0))
{
    HAUL_FOR1 (x)
        HAUL_AT1(u, x) += 1;
}
