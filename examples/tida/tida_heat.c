/* The paper's heat solver in the paper's shape: tida_heat [DEVICE [MEGABYTES]] */
#include "../tiles/example.h"
#include "tida.kernel.h"

enum { SIZE = 32, CELLS = SIZE * SIZE * SIZE, STEPS = 20 };

static const double alpha = 0.1;

static double at(const double *data, int x, int y, int z)
{
    const int last = SIZE - 1;
    x = x < 0 ? last : x > last ? 0 : x;
    y = y < 0 ? last : y > last ? 0 : y;
    z = z < 0 ? last : z > last ? 0 : z;
    return data[(z * SIZE + y) * SIZE + x];
}

static void step_plainly(const double *data, double *next)
{
    for (int i = 0; i < CELLS; i++) {
        const int x = i % SIZE, y = i / SIZE % SIZE, z = i / SIZE / SIZE;
        next[i] = data[i] + alpha * (at(data, x - 1, y, z) + at(data, x + 1, y, z) +
                                     at(data, x, y - 1, z) + at(data, x, y + 1, z) +
                                     at(data, x, y, z - 1) + at(data, x, y, z + 1) - 6 * data[i]);
    }
}

int main(int argc, char **argv)
{
    haul_context *context = open_context(argc, argv);
    /* TileArray ta = TileArray(data_size, region_size, ghost_size); */
    const haul_array_spec spec = {
        .size = {SIZE, SIZE, SIZE},
        .ghost = {1, 1, 1},
        .boundary = {HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC},
        .region = SIZE / 16,
    };
    haul_array *data = make_array(context, spec), *next = make_array(context, spec);
    double *plain[2] = {calloc(CELLS, sizeof(double)), calloc(CELLS, sizeof(double))};
    double *got = malloc(CELLS * sizeof *got);
    if (!plain[0] || !plain[1] || !got)
        return 1;
    for (int i = 0; i < CELLS; i++)
        plain[0][i] = i % 997;
    must(haul_array_write(data, plain[0], &error));
    for (int step = 0; step < STEPS; step++) {
        const void *const arguments[] = {data, next, &alpha};
        /* TileIter tIter = TileIter(&ta, tile_size); */
        haul_tiles tiles = haul_tiles_of(data, NULL);
        /* for (tIter.reset(GPU=true); tIter.isValid(); tIter.next()) */
        for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
            must(haul_compute(&tiles, &heat, arguments, 3, NULL, &error));
        must(haul_swap(data, next, &error)); /* ghost cells are updated before they are read */
        step_plainly(plain[step % 2], plain[1 - step % 2]);
    }
    must(haul_array_read(data, got, &error));
    const double difference = largest_difference(got, plain[STEPS % 2], CELLS);
    free(plain[0]);
    free(plain[1]);
    free(got);
    haul_array_free(data);
    haul_array_free(next);
    return report(context, "heat", difference, 1e-10);
}
