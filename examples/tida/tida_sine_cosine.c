/* The paper's compute-intensive program in the paper's shape: tida_sine_cosine [-s SIZE] [-n STEPS]
 * [-o PICTURE.pgm] [DEVICE [MEGABYTES]] */
#include "../tiles/example.h"
#include "tida.kernel.h"

static const int iterations = 3;

static void compute(const example *self, haul_array *array)
{
    for (int step = 0; step < self->steps; step++) {
        const void *const arguments[] = {array, &iterations};
        haul_tiles tiles = haul_tiles_make(array, NULL);
        for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
            must(haul_tiles_compute(&tiles, &sine_cosine, arguments, 2, NULL, &error));
        show_progress(self, step + 1);
    }
}

int main(int argc, char **argv)
{
    const example self = begin(argc, argv, 32, 5);
    const int n = self.size;
    const size_t plane = (size_t)n * (size_t)n, cells = plane * (size_t)n;
    const haul_array_spec spec = {.size = {n, n, n}, .region = n < 16 ? 1 : n / 16};
    haul_array *array = make_array(self.context, spec);
    double *plain = make_cells(cells, sizeof(double)), *got = make_cells(cells, sizeof(double));
    for (size_t i = 0; i < cells; i++)
        plain[i] = hypot((double)(i % (size_t)n), (double)(i / (size_t)n % (size_t)n)) / 5;
    must(haul_array_write(array, plain, &error));
    compute(&self, array);
    must(haul_array_read(array, got, &error));
    for (size_t i = 0; i < cells; i++)
        for (int k = 0; k < self.steps * iterations; k++) {
            const double s = sin(plain[i]), c = cos(plain[i]);
            plain[i] = plain[i] + sqrt(s * s + c * c);
        }
    const double difference = largest_difference(got, plain, cells);
    draw(&self, got + (size_t)(n / 2) * plane, n, n, (size_t)n);
    free(plain);
    free(got);
    haul_array_free(array);
    return report(&self, "sine-cosine", difference, 1e-9);
}
