/* The loop of test_tile_lend, by itself: each device compiles a file as a whole. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_lend)

HAUL_KERNEL_2D(lend_shift, tile_lend, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = 5 * HAUL_AT2(u, x, y) + 3 * HAUL_AT2(u, x + 1, y - 1) + 3;
}
