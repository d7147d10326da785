#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(convolve_file)

HAUL_KERNEL_2D(convolve, convolve_file, HAUL_IN(float, in), HAUL_IN(float, filter),
               HAUL_OUT(float, out), HAUL_VALUE(int, columns), HAUL_VALUE(int, radius))
{
    const int width = 2 * radius + 1, pitch = columns + 2 * radius;
    HAUL_FOR2 (x, y) {
        float sum = 0;
        for (int i = 0; i < width; i++)
            for (int j = 0; j < width; j++)
                sum += in[(y + i) * pitch + x + j] * filter[i * width + j];
        out[y * columns + x] = sum;
    }
}
