/* Heat in a box whose opposite sides are joined, on one process or many:
 *     mpirun -n 4 heat [--device NAME] [--size N] [--planes N] [--steps N] [--exchange-first]
 *                     [--check] [--plan FILE.csv]
 * The only lines that know of processes are those that open the context. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "../tiles/heat.kernel.h"
#include "haul/mpi.h"
#include "haul/tile.h"

typedef struct request {
    const char *device;
    int size; /* of a plane, each way */
    int planes;
    int steps;
    bool exchange_first;
    bool check;
    const char *plan; /* written there, on a device: haul simulate */
} request;

static haul_error error;

/* An error of one process is one of all: each says it and leaves. */
static void must(haul_status status)
{
    char text[1200];
    if (!status)
        return;
    fprintf(stderr, "heat: %s\n", haul_error_format(&error, text, sizeof text));
    MPI_Abort(MPI_COMM_WORLD, status == HAUL_STATUS_ABSENT ? 77 : 1);
}

static request read_arguments(int argc, char **argv)
{
    request given = {"host", 64, 0, 50, false, false, NULL};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--exchange-first"))
            given.exchange_first = true;
        else if (!strcmp(argv[i], "--check"))
            given.check = true;
        else if (!strcmp(argv[i], "--device"))
            given.device = argv[++i] ? value : "host";
        else if (!strcmp(argv[i], "--size"))
            given.size = (i++, atoi(value));
        else if (!strcmp(argv[i], "--steps"))
            given.steps = (i++, atoi(value));
        else if (!strcmp(argv[i], "--plan") && *value)
            given.plan = (i++, value);
        else if (!strcmp(argv[i], "--planes"))
            given.planes = (i++, atoi(value));
        else
            given.size = 0;
    }
    given.planes = given.planes ? given.planes : given.size;
    if (given.size >= 4 && given.planes >= 4 && given.steps >= 0)
        return given;
    fprintf(stderr, "usage: heat [--device NAME] [--size N] [--planes N] [--steps N] "
                    "[--exchange-first] [--check] [--plan FILE.csv]\n");
    exit(2);
}

static double start_of(int x, int y, int z)
{
    return (x * 31 + y * 17 + z * 7) % 101;
}

/* Each process sets the regions that it holds. */
static void set_cells(haul_array *u, int size, int planes)
{
    const int regions = haul_array_regions(u);
    haul_region region;
    for (int i = 0; i < regions; i++) {
        must(haul_array_access(u, i, HAUL_USE_WRITE, &region, &error));
        for (int z = region.first < 0 ? 0 : region.first; z < region.end && z < planes; z++)
            for (int y = 0; y < size; y++)
                for (int x = 0; x < size; x++)
                    ((double *)
                         region.cells)[(z - region.first) * region.plane + y * region.row + x] =
                        start_of(x, y, z);
    }
}

/* Plain loops over the whole box, on each process. */
static double difference_to_plain(haul_array *u, const request *given, double k)
{
    const size_t n = (size_t)given->size, cells = n * n * (size_t)given->planes;
    double *now = malloc(cells * sizeof *now), *next = malloc(cells * sizeof *next), most = 0;
    if (!now || !next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < cells; i++)
        now[i] = start_of((int)(i % n), (int)(i / n % n), (int)(i / n / n));
    for (int step = 0; step < given->steps; step++) {
        for (size_t i = 0; i < cells; i++) {
            const size_t x = i % n, y = i / n % n * n, z = i / n / n * n * n;
            const size_t left = (x + n - 1) % n, right = (x + 1) % n;
            const size_t below = (y + n * n - n) % (n * n), above = (y + n) % (n * n);
            const size_t front = (z + cells - n * n) % cells, back = (z + n * n) % cells;
            next[i] = now[i] + k * (now[left + y + z] + now[right + y + z] + now[x + below + z] +
                                    now[x + above + z] + now[x + y + front] + now[x + y + back] -
                                    6 * now[i]);
        }
        double *was = now;
        now = next;
        next = was;
    }
    must(haul_array_read(u, next, &error));
    for (size_t i = 0; i < cells; i++)
        most = fmax(most, fabs(now[i] - next[i]));
    free(now);
    free(next);
    return most;
}

static void report(const request *given, haul_context *context, double seconds)
{
    const haul_context_counts counts = haul_context_count(context);
    double times[2] = {seconds, counts.exposed_s}, most[2];
    int rank, count;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Reduce(times, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("%d x %d x %d cells, %d steps, %d processes on %s: %.3f ms a step, of which %.3f ms "
               "waited "
               "for ghost cells; %.3f MB sent a step by the first process\n",
               given->size, given->size, given->planes, given->steps, count,
               haul_device_describe(haul_context_device(context))->name, most[0] * 1e3,
               most[1] * 1e3 / (given->steps ? given->steps : 1),
               (double)counts.bytes_sent * 1e-6 / (given->steps ? given->steps : 1));
}

int main(int argc, char **argv)
{
    static const double k = 0.1;
    haul_comm *comm;
    haul_context *context;
    haul_array *u, *v;
    MPI_Init(&argc, &argv);
    const request given = read_arguments(argc, argv);
    must(haul_comm_new(MPI_COMM_WORLD, NULL, &comm, &error));
    const haul_context_options options = {.processes = haul_comm_processes(comm),
                                          .exchange_first = given.exchange_first,
                                          .keep_plan = given.plan != NULL};
    must(haul_context_open(given.device, &options, &context, &error));
    const haul_array_spec spec = {
        .size = {given.size, given.size, given.planes},
        .ghost = {1, 1, 1},
        .boundary = {HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC},
    };
    must(haul_array_new(context, &spec, &u, &error));
    must(haul_array_new(context, &spec, &v, &error));
    set_cells(u, given.size, given.planes);
    must(haul_context_wait(context, &error));
    MPI_Barrier(MPI_COMM_WORLD);
    const double since = MPI_Wtime();
    for (int step = 0; step < given.steps; step++) {
        must(HAUL_LOOP(context, &error, &heat, u, v, &k));
        must(haul_array_swap(u, v, &error));
    }
    must(haul_context_wait(context, &error));
    if (given.plan)
        must(haul_context_plan_write(context, given.plan, &error));
    report(&given, context, (MPI_Wtime() - since) / (given.steps ? given.steps : 1));
    const double difference = given.check ? difference_to_plain(u, &given, k) : 0;
    if (given.check)
        printf("differs from plain loops by %.1g\n", difference);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
    haul_comm_free(comm);
    MPI_Finalize();
    return !(difference <= 1e-10);
}
