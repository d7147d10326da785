/* The paper's heat solver in the paper's shape: tida_heat [-s SIZE] [-n STEPS] [-o PICTURE.pgm]
 * [DEVICE [MEGABYTES]] */
#include "../tiles/example.h"
#include "tida.kernel.h"

static const double alpha = 0.1;

/* The paper's program. The comments are its listing (section V). */
static void solve(const example *self, haul_array *data, haul_array *next)
{
    for (int step = 0; step < self->steps; step++) {
        const void *const arguments[] = {data, next, &alpha};
        /* TileIter tIter = TileIter(&ta, tile_size); */
        haul_tiles tiles = haul_tiles_make(data, NULL);
        /* for (tIter.reset(GPU=true); tIter.isValid(); tIter.next()) */
        for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
            must(haul_tiles_compute(&tiles, &heat, arguments, 3, NULL, &error));
        must(
            haul_array_swap(data, next, &error)); /* ghost cells are updated before they are read */
        show_progress(self, step + 1);
    }
}

static double at(const double *data, int n, int x, int y, int z)
{
    const int last = n - 1;
    x = x < 0 ? last : x > last ? 0 : x;
    y = y < 0 ? last : y > last ? 0 : y;
    z = z < 0 ? last : z > last ? 0 : z;
    return data[((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x];
}

static void step_plainly(const double *data, double *next, int n)
{
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                *next++ = at(data, n, x, y, z) +
                          alpha * (at(data, n, x - 1, y, z) + at(data, n, x + 1, y, z) +
                                   at(data, n, x, y - 1, z) + at(data, n, x, y + 1, z) +
                                   at(data, n, x, y, z - 1) + at(data, n, x, y, z + 1) -
                                   6 * at(data, n, x, y, z));
}

/* A hot ball. */
static void fill(double *data, int n)
{
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                *data++ = hypot(hypot(x - n / 3.0, y - n / 2.0), z - n / 2.0) < n / 5.0 ? 100 : 0;
}

int main(int argc, char **argv)
{
    const example self = begin(argc, argv, 32, 20);
    const int n = self.size;
    const size_t plane = (size_t)n * (size_t)n, cells = plane * (size_t)n;
    /* TileArray ta = TileArray(data_size, region_size, ghost_size); */
    const haul_array_spec spec = {
        .size = {n, n, n},
        .ghost = {1, 1, 1},
        .boundary = {HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC},
        .region = n < 16 ? 1 : n / 16,
    };
    haul_array *data = make_array(self.context, spec), *next = make_array(self.context, spec);
    double *plain[2] = {make_cells(cells, sizeof(double)), make_cells(cells, sizeof(double))};
    double *got = make_cells(cells, sizeof(double));
    fill(plain[0], n);
    must(haul_array_write(data, plain[0], &error));
    solve(&self, data, next);
    must(haul_array_read(data, got, &error));
    for (int step = 0; step < self.steps; step++)
        step_plainly(plain[step % 2], plain[1 - step % 2], n);
    const double difference = largest_difference(got, plain[self.steps % 2], cells);
    draw(&self, got + (size_t)(n / 2) * plane, n, n, (size_t)n);
    free(plain[0]);
    free(plain[1]);
    free(got);
    haul_array_free(data);
    haul_array_free(next);
    return report(&self, "heat", difference, 1e-10);
}
