/* The wave equation in a closed box: tiles_wave [-s SIZE] [-n STEPS] [-o PICTURE.pgm] [DEVICE
 * [MEGABYTES]] */
#include "example.h"
#include "loops.kernel.h"

static const double c = 0.1;

static double at(const double *u, int n, int x, int y, int z)
{
    x = x < 0 ? 0 : x < n ? x : n - 1;
    y = y < 0 ? 0 : y < n ? y : n - 1;
    z = z < 0 ? 0 : z < n ? z : n - 1;
    return u[((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x];
}

static void step_plainly(const double *now, double *other, int n)
{
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++, other++)
                *other = 2 * at(now, n, x, y, z) - *other +
                         c * (at(now, n, x - 1, y, z) + at(now, n, x + 1, y, z) +
                              at(now, n, x, y - 1, z) + at(now, n, x, y + 1, z) +
                              at(now, n, x, y, z - 1) + at(now, n, x, y, z + 1) -
                              6 * at(now, n, x, y, z));
}

/* A swelling near a wall, at rest. */
static void fill(double *u, int n)
{
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const double r = hypot(hypot(x - n / 2.0, y - n / 3.0), z - n / 2.0);
                *u++ = exp(-r * r / 9);
            }
}

int main(int argc, char **argv)
{
    const example self = begin(argc, argv, 32, 30);
    const int n = self.size;
    const size_t plane = (size_t)n * (size_t)n, cells = plane * (size_t)n;
    const haul_array_spec spec = {
        .size = {n, n, n},
        .ghost = {1, 1, 1},
        .boundary = {HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_COPY},
    };
    haul_array *now = make_array(self.context, spec), *other = make_array(self.context, spec);
    double *levels[2] = {make_cells(cells, sizeof(double)), make_cells(cells, sizeof(double))};
    double *got = make_cells(cells, sizeof(double));
    fill(levels[0], n);
    fill(levels[1], n);
    must(haul_array_write(now, levels[0], &error));
    must(haul_array_write(other, levels[1], &error));
    for (int step = 0; step < self.steps; step++) {
        must(HAUL_LOOP(self.context, &error, &wave, now, other, &c));
        must(haul_array_swap(now, other, &error));
        show_progress(&self, step + 1);
    }
    must(haul_array_read(now, got, &error));
    for (int step = 0; step < self.steps; step++)
        step_plainly(levels[step % 2], levels[1 - step % 2], n);
    const double difference = largest_difference(got, levels[self.steps % 2], cells);
    draw(&self, got + (size_t)(n / 2) * plane, n, n, (size_t)n);
    free(levels[0]);
    free(levels[1]);
    free(got);
    haul_array_free(now);
    haul_array_free(other);
    return report(&self, "wave", difference, 1e-12);
}
