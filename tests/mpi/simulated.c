/* libhaul-mpi on a simulated cluster (SimGrid's SMPI): what each way takes there beside what the
 * model predicts, and whether both put the ways in the same order; ways that take alike within TIE
 * there may be predicted either way round. Beyond MOST_DIRECT processes
 * `direct` is left out: the simulator takes a minute for 192. Fails where the times differ by more
 * than 10 % on average, or the orders at more than PERCENT of the sizes.
 * usage: simulated MACHINE PER_NODE PERCENT BYTES... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_parts.h"

static const haul_way ways[] = {HAUL_WAY_AGGREGATED, HAUL_WAY_BRUCK, HAUL_WAY_DIRECT};
static const double TIE = 0.03;
enum { WAYS = sizeof ways / sizeof *ways, MOST_DIRECT = 64 };

static unsigned char pattern(int from, int to, size_t i)
{
    return (unsigned char)((size_t)from * 131 + (size_t)to * 17 + i * 7);
}

/* The clock of SMPI is one for all. */
static double run(haul_comm *comm, int rank, int size, size_t bytes, int *wrong)
{
    unsigned char *send = malloc((size_t)size * bytes), *got = calloc((size_t)size, bytes);
    haul_error error;
    for (int to = 0; to < size; to++)
        for (size_t i = 0; i < bytes; i++)
            send[(size_t)to * bytes + i] = pattern(rank, to, i);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), end, first, last;
    if (haul_alltoall(comm, haul_in_host(send), haul_in_host(got), bytes, &error)) {
        fprintf(stderr, "%s\n", error.text);
        ++*wrong;
    }
    end = MPI_Wtime();
    MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (size_t i = 0; i < bytes; i++)
            *wrong += got[(size_t)from * bytes + i] != pattern(from, rank, i);
    free(send);
    free(got);
    return last - first;
}

/* Whether each two ways are in the order that was predicted, in the second answer but for ties. */
static void compare_orders(const double *took, const double *predicted, int count, int *strict,
                           int *but_for_ties)
{
    for (int v = 0; v < count; v++)
        for (int w = 0; w < v; w++) {
            const int is_alike = (took[v] < took[w]) == (predicted[v] < predicted[w]);
            *strict &= is_alike;
            *but_for_ties &= is_alike || fabs(took[v] / took[w] - 1) < TIE;
        }
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all_wrong = 0, agree = 0, agree_strictly = 0, sizes = argc - 4;
    double error_sum = 0;
    haul_machine *machine = NULL, *copies_free = NULL;
    haul_error error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 5 || haul_machine_load(argv[1], &machine, &error))
        MPI_Abort(MPI_COMM_WORLD, 2);
    /* what a process computes takes no time there, packing neither */
    if (haul_machine_set(machine, "host.copy_rate=1e6 GB/s", &copies_free, &error))
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int count = size <= MOST_DIRECT ? WAYS : WAYS - 1;
    haul_comm *comms[WAYS];
    for (int w = 0; w < count; w++) {
        const haul_comm_options options = {.machine = copies_free,
                                           .way = haul_way_text(ways[w]),
                                           .ranks_per_node = (unsigned)atoi(argv[2])};
        if (haul_comm_new(MPI_COMM_WORLD, &options, &comms[w], &error))
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int a = 4; a < argc; a++) {
        const size_t bytes = strtoul(argv[a], NULL, 10);
        double took[WAYS], predicted[WAYS];
        int in_order = 1, in_strict_order = 1;
        for (int w = 0; w < count; w++) {
            took[w] = run(comms[w], rank, size, bytes, &wrong);
            predicted[w] = (double)NAN;
            for (size_t i = 0; i < comms[w]->last->count; i++)
                if (comms[w]->last->times[i].way == ways[w])
                    predicted[w] = comms[w]->last->times[i].seconds;
            error_sum += fabs(predicted[w] / took[w] - 1);
        }
        compare_orders(took, predicted, count, &in_strict_order, &in_order);
        agree += in_order;
        agree_strictly += in_strict_order;
        for (int w = 0; !rank && w < count; w++)
            printf("%8zu B %-12s simulated %9.2f us predicted %9.2f us %s\n", bytes,
                   haul_way_text(ways[w]), took[w] * 1e6, predicted[w] * 1e6,
                   in_strict_order ? ""
                   : in_order      ? "(alike)"
                                   : "(other order)");
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    const double mean = error_sum / (count * sizes);
    if (!rank)
        printf("%d processes: order agrees for %d of %d sizes, %d where ways that take alike "
               "count, mean "
               "error %.1f %%, %d bytes wrong\n",
               size, agree_strictly, sizes, agree, 100 * mean, all_wrong);
    for (int w = 0; w < count; w++)
        haul_comm_free(comms[w]);
    haul_machine_free(copies_free);
    haul_machine_free(machine);
    MPI_Finalize();
    return !rank && (all_wrong || (sizes - agree) * 100 > atoi(argv[3]) * sizes || mean > 0.1);
}
