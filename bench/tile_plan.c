/* A program of tiles and its plan, for bench/plans_followed: heat on SIZE^3 cells, twice.
 * tile_plan DEVICE MACHINE SIZE STEPS MEGABYTES BEFORE.csv AFTER.csv
 * The plan is written before the second round and after it, so that their difference is the second
 * round. Prints its time in seconds and the number of its operations. */
#include <stdio.h>
#include <stdlib.h>

#include "haul/tile.h"
#include "heat.kernel.h"
#include "took.h"

static haul_error error;

static void must(haul_status status)
{
    stop_at(status, &error);
}

/* All results are on the host again at the end. */
static double run(haul_context *context, haul_array *u, haul_array *v, int steps)
{
    const double k = 0.1, begin = wall_s();
    haul_region region;
    for (int step = 0; step < steps; step++) {
        must(HAUL_LOOP(context, &error, &heat, u, v, &k));
        must(haul_array_swap(u, v, &error));
    }
    for (int r = 0; r < haul_array_regions(u); r++)
        must(haul_array_access(u, r, HAUL_USE_BOTH, &region, &error));
    must(haul_context_wait(context, &error));
    return wall_s() - begin;
}

static uint64_t operations(const haul_context *context)
{
    const haul_context_counts counts = haul_context_count(context);
    return counts.copies + counts.kernels;
}

int main(int argc, char **argv)
{
    haul_machine *machine;
    haul_context *context;
    haul_array *u, *v;
    if (argc != 8) {
        fputs("usage: tile_plan DEVICE MACHINE SIZE STEPS MEGABYTES BEFORE.csv AFTER.csv\n",
              stderr);
        return 2;
    }
    must(haul_machine_load(argv[2], &machine, &error));
    const int size = atoi(argv[3]), steps = atoi(argv[4]);
    const haul_context_options options = {.memory_bytes = (uint64_t)atoi(argv[5]) * 1000000,
                                          .machine = machine,
                                          .host_share = -1,
                                          .keep_plan = true};
    const haul_array_spec spec = {.size = {size, size, size}, .ghost = {1, 1, 1}};
    must(haul_context_open(argv[1], &options, &context, &error));
    must(haul_array_new(context, &spec, &u, &error));
    must(haul_array_new(context, &spec, &v, &error));
    (void)run(context, u, v, steps);
    must(haul_context_plan_write(context, argv[6], &error));
    const uint64_t before = operations(context);
    const double took = run(context, u, v, steps);
    must(haul_context_plan_write(context, argv[7], &error));
    printf("%.6f %llu\n", took, (unsigned long long)(operations(context) - before));
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
    haul_machine_free(machine);
    return 0;
}
