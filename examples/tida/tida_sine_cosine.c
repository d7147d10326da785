/* The paper's compute-intensive program in the paper's shape: tida_sine_cosine [DEVICE [MEGABYTES]]
 */
#include "../tiles/example.h"
#include "tida.kernel.h"

enum { SIZE = 32, CELLS = SIZE * SIZE * SIZE, STEPS = 5 };

int main(int argc, char **argv)
{
    haul_context *context = open_context(argc, argv);
    haul_array *array =
        make_array(context, (haul_array_spec){.size = {SIZE, SIZE, SIZE}, .region = 2});
    double *plain = malloc(CELLS * sizeof *plain), *got = malloc(CELLS * sizeof *got);
    const int iterations = 3;
    if (!plain || !got)
        return 1;
    for (int i = 0; i < CELLS; i++)
        plain[i] = i % 97;
    must(haul_array_write(array, plain, &error));
    for (int step = 0; step < STEPS; step++) {
        const void *const arguments[] = {array, &iterations};
        haul_tiles tiles = haul_tiles_of(array, NULL);
        for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
            must(haul_compute(&tiles, &sine_cosine, arguments, 2, NULL, &error));
        for (int i = 0; i < CELLS * iterations; i++) {
            double *cell = &plain[i / iterations];
            const double s = sin(*cell), c = cos(*cell);
            *cell = *cell + sqrt(s * s + c * c);
        }
    }
    must(haul_array_read(array, got, &error));
    const double difference = largest_difference(got, plain, CELLS);
    free(plain);
    free(got);
    haul_array_free(array);
    return report(context, "sine-cosine", difference, 1e-9);
}
