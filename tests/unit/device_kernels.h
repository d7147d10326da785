/* Kernels of the conformance test: one of each form. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(device_kernels)

HAUL_KERNEL_1D(scale, device_kernels, HAUL_IN(float, x), HAUL_OUT(float, y), HAUL_VALUE(float, by))
{
    HAUL_FOR1 (i)
        y[i] = by * x[i];
}

HAUL_FUNCTION int mixed(int x, int y)
{
    return 1000 * y + x;
}

HAUL_KERNEL_2D(number, device_kernels, HAUL_OUT(int, to), HAUL_VALUE(int, width))
{
    HAUL_FOR2 (x, y) {
        if ((x + y) % 7 == 3)
            continue;
        to[y * width + x] = mixed(x, y);
    }
}

typedef struct test_shape {
    int width;
    int height;
    double weight;
} test_shape;

HAUL_KERNEL_3D(blend, device_kernels, HAUL_INOUT(int, field), HAUL_VALUE(test_shape, shape))
{
    HAUL_FOR3 (x, y, z)
        field[(z * shape.height + y) * shape.width + x] +=
            (int)(shape.weight * (x + 10 * y + 100 * z));
}

/* Each group turns its 16 numbers round, through shared memory, and adds those of its threads. */
HAUL_KERNEL_GROUPS(turn, device_kernels, 4, 4, HAUL_IN(int, from), HAUL_OUT(int, to),
                   HAUL_SHARED(int, tile, 16))
{
    HAUL_PRIVATE(int, kept, 4, 4);
    const int base = 16 * (HAUL_GROUP(1) * HAUL_GROUPS(0) + HAUL_GROUP(0));
    HAUL_THREADS (x, 4, y, 4) {
        tile[4 * y + x] = from[base + 4 * y + x];
        HAUL_MINE(kept, x, y) = 100 * (4 * y + x);
    }
    HAUL_BARRIER;
    HAUL_THREADS (x, 4, y, 4)
        to[base + 4 * y + x] = tile[15 - 4 * y - x] + HAUL_MINE(kept, x, y);
}

/* Takes as many steps as it is told, each of which needs the one before it. */
HAUL_KERNEL_1D(spin, device_kernels, HAUL_INOUT(unsigned, x), HAUL_VALUE(int, steps))
{
    HAUL_FOR1 (i)
        for (int step = 0; step < steps; step++)
            x[i] = x[i] * 1664525 + 1013904223;
}
