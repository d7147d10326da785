/* The wave equation on 24 x 20 x 64 cells, 30 steps, closed edges: wave [DEVICE [MEGABYTES]] */
#include "example.h"
#include "loops.kernel.h"

enum { NX = 24, NY = 20, NZ = 64, CELLS = NX * NY * NZ, STEPS = 30 };

static const double c = 0.1;

static double at(const double *u, int x, int y, int z)
{
    x = x < 0 ? 0 : x < NX ? x : NX - 1;
    y = y < 0 ? 0 : y < NY ? y : NY - 1;
    z = z < 0 ? 0 : z < NZ ? z : NZ - 1;
    return u[(z * NY + y) * NX + x];
}

static void step_plainly(const double *now, double *other)
{
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                double *cell = &other[(z * NY + y) * NX + x];
                *cell = 2 * at(now, x, y, z) - *cell +
                        c * (at(now, x - 1, y, z) + at(now, x + 1, y, z) + at(now, x, y - 1, z) +
                             at(now, x, y + 1, z) + at(now, x, y, z - 1) + at(now, x, y, z + 1) -
                             6 * at(now, x, y, z));
            }
}

int main(int argc, char **argv)
{
    haul_context *context = open_context(argc, argv);
    const haul_array_spec spec = {
        .size = {NX, NY, NZ},
        .ghost = {1, 1, 1},
        .boundary = {HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_COPY},
    };
    haul_array *now = make_array(context, spec), *other = make_array(context, spec);
    double *plain = calloc(2 * CELLS, sizeof *plain), *got = malloc(CELLS * sizeof *got);
    double *levels[2] = {plain, plain + CELLS};
    if (!plain || !got)
        return 1;
    levels[0][(NZ / 2 * NY + NY / 3) * NX + NX / 2] = 1;
    memcpy(levels[1], levels[0], CELLS * sizeof *plain);
    must(haul_array_write(now, levels[0], &error));
    must(haul_array_write(other, levels[1], &error));
    for (int step = 0; step < STEPS; step++) {
        must(HAUL_LOOP(context, &error, &wave, now, other, &c));
        must(haul_swap(now, other, &error));
        step_plainly(levels[step % 2], levels[1 - step % 2]);
    }
    must(haul_array_read(now, got, &error));
    const double difference = largest_difference(got, levels[STEPS % 2], CELLS);
    free(plain);
    free(got);
    haul_array_free(now);
    haul_array_free(other);
    return report(context, "wave", difference, 1e-13);
}
