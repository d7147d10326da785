/* The paper's two kernels (Bastem et al., TiDA-acc, 2017, section VI). */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tida_file)

/* Section VI.A, the data-transfer-intensive kernel, with the centre's share that the listing lacks.
 */
HAUL_STENCIL_3D(heat, tida_file, HAUL_READ(double, data, 1), HAUL_WRITE(double, next),
                HAUL_VALUE(double, alpha))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(next, x, y, z) = HAUL_AT(data, x, y, z) +
                                 alpha * (HAUL_AT(data, x - 1, y, z) + HAUL_AT(data, x + 1, y, z) +
                                          HAUL_AT(data, x, y - 1, z) + HAUL_AT(data, x, y + 1, z) +
                                          HAUL_AT(data, x, y, z - 1) + HAUL_AT(data, x, y, z + 1) -
                                          6 * HAUL_AT(data, x, y, z));
}

/* Section VI.B, the compute-intensive kernel. */
HAUL_KERNEL_3D(sine_cosine, tida_file, HAUL_UPDATE(double, data, 0),
               HAUL_VALUE(int, kernel_iterations))
{
    HAUL_FOR3 (x, y, z)
        for (int i = 0; i < kernel_iterations; i++) {
            const double s = sin(HAUL_AT(data, x, y, z)), c = cos(HAUL_AT(data, x, y, z));
            HAUL_AT(data, x, y, z) = HAUL_AT(data, x, y, z) + sqrt(s * s + c * c);
        }
}
