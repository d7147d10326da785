/* libhaul-mpi on a simulated cluster (SimGrid's SMPI): what each way takes there beside what the
 * model predicts, whether both put the ways in the same order; ways that take alike within TIE
 * there may be predicted either way round. Beyond MOST_DIRECT processes
 * `direct` is left out: the simulator takes a minute for 192. Fails where the times differ by more
 * than 10 % on average, or the orders at more than PERCENT of the sizes.
 * With HAUL_SMPI_RATIOS beside SMPI's own collectives (Open MPI's algorithms) too.
 * usage: simulated MACHINE PER_NODE PERCENT BYTES... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/stats.h"
#include "mpi/mpi_parts.h"

static const haul_way ways[] = {HAUL_WAY_AGGREGATED, HAUL_WAY_BRUCK, HAUL_WAY_DIRECT};
static const double TIE = 0.03;
enum { WAYS = sizeof ways / sizeof *ways, MOST_DIRECT = 64, PROCESSES_MOST = 2048 };
enum { PROVING = 90, TIMED = 3 };

/* SMPI's processes are of one program, and share it. */
static haul_machine *machine;

/* Computing takes no time there, packing neither. */
static haul_machine *load(const char *name)
{
    haul_machine *loaded = NULL, *copies_free = NULL;
    if (!haul_machine_load(name, &loaded, NULL))
        (void)haul_machine_set(loaded, "host.copy_rate=1e6 GB/s", &copies_free, NULL);
    haul_machine_free(loaded);
    return copies_free;
}

static unsigned char pattern(int from, int to, size_t i)
{
    return (unsigned char)((size_t)from * 131 + (size_t)to * 17 + i * 7);
}

/* The clock of SMPI is one for all: they begin at a time agreed upon. Processes leave a barrier one
 * after another, the first of them up to a message's latency ahead. */
static double start_together(void)
{
    double now = MPI_Wtime(), start;
    MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start += 1e-3;
    now = MPI_Wtime();
    nanosleep(&(struct timespec){.tv_nsec = (long)((start - now) * 1e9)}, NULL);
    return MPI_Wtime();
}

/* Blocks of equal size are an all-to-all-v too. */
static haul_status exchange(haul_comm *comm, const void *send, void *got, size_t bytes, bool is_v,
                            haul_error *error)
{
    const size_t size = (size_t)haul_comm_size(comm);
    size_t counts[PROCESSES_MOST];
    if (!is_v)
        return haul_comm_alltoall(comm, haul_in_host(send), haul_in_host(got), bytes, error);
    for (size_t i = 0; i < size; i++)
        counts[i] = bytes;
    const haul_alltoallv_blocks blocks = {
        haul_in_host(send), {counts, NULL}, haul_in_host(got), {counts, NULL}, 1};
    return haul_comm_alltoallv(comm, &blocks, error);
}

/* HAUL_WAY_CHOSEN: haul's own choice, proven by calls before; with a trial now and then among those
 * that are timed, of which the median counts */
static double run(haul_comm *comm, int way, size_t bytes, bool is_v, int *wrong)
{
    const int rank = haul_comm_rank(comm), size = haul_comm_size(comm);
    unsigned char *send = malloc((size_t)size * bytes), *got = calloc((size_t)size, bytes);
    haul_error error;
    double last, took[TIMED];
    for (int to = 0; to < size; to++)
        for (size_t i = 0; i < bytes; i++)
            send[(size_t)to * bytes + i] = pattern(rank, to, i);
    comm->forced_way = way;
    hl_mpi_choices_free(comm);
    memset(comm->courses, 0, sizeof comm->courses);
    comm->tried = NULL;
    for (int i = 0; way == HAUL_WAY_CHOSEN && i < PROVING; i++)
        (void)exchange(comm, send, got, bytes, is_v, &error);
    for (int i = 0; i < (way ? 1 : TIMED); i++) {
        const double start = start_together();
        if (exchange(comm, send, got, bytes, is_v, &error)) {
            fprintf(stderr, "%s\n", error.text);
            ++*wrong;
        }
        const double end = MPI_Wtime();
        MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        took[i] = last - start;
    }
    for (int from = 0; from < size; from++)
        for (size_t i = 0; i < bytes; i++)
            *wrong += got[(size_t)from * bytes + i] != pattern(from, rank, i);
    free(send);
    free(got);
    if (!way)
        hl_base_sort_doubles(took, TIMED);
    return took[way ? 0 : TIMED / 2];
}

/* Whether each two ways are in the order that was predicted. */
typedef struct order {
    int is_strict, is_but_for_ties;
} order;

static void compare_orders(const double *took, const double *predicted, int count, order *found)
{
    for (int v = 0; v < count; v++)
        for (int w = 0; w < v; w++) {
            const int is_alike = (took[v] < took[w]) == (predicted[v] < predicted[w]);
            found->is_strict &= is_alike;
            found->is_but_for_ties &= is_alike || fabs(took[v] / took[w] - 1) < TIE;
        }
}

/* Returns whether the ways are in the order that was predicted, with a line for each. */
static order compare(haul_comm *comm, size_t bytes, int count, double *error_sum, int *wrong)
{
    double took[WAYS], predicted[WAYS];
    order found = {1, 1};
    for (int w = 0; w < count; w++) {
        took[w] = run(comm, (int)ways[w], bytes, false, wrong);
        predicted[w] = (double)NAN;
        for (size_t i = 0; i < comm->last->count; i++)
            if (comm->last->times[i].way == ways[w])
                predicted[w] = comm->last->times[i].seconds;
        *error_sum += fabs(predicted[w] / took[w] - 1);
    }
    compare_orders(took, predicted, count, &found);
    for (int w = 0; !haul_comm_rank(comm) && w < count; w++)
        printf("%8zu B %-12s simulated %9.2f us predicted %9.2f us %s\n", bytes,
               haul_way_text(ways[w], HAUL_MEMORY_HOST), took[w] * 1e6, predicted[w] * 1e6,
               found.is_strict         ? ""
               : found.is_but_for_ties ? "(alike)"
                                       : "(other order)");
    return found;
}

/* MPI's own by what haul chooses, once it has chosen. */
static void print_ratios(haul_comm *comm, size_t bytes, int *wrong)
{
    for (int is_v = 0; is_v < 2; is_v++) {
        const double own = run(comm, HAUL_WAY_PLAIN, bytes, is_v, wrong);
        const double chosen = run(comm, HAUL_WAY_CHOSEN, bytes, is_v, wrong);
        if (!haul_comm_rank(comm))
            printf("%8zu B %-12s MPI %9.2f us haul %9.2f us MPI/haul %.2f (%s)\n", bytes,
                   is_v ? "all-to-all-v" : "all-to-all", own * 1e6, chosen * 1e6, own / chosen,
                   haul_way_text(haul_comm_way(comm), HAUL_MEMORY_HOST));
    }
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all_wrong = 0, agree = 0, agree_strictly = 0, sizes = argc - 4;
    double error_sum = 0;
    haul_comm *comm = NULL;
    haul_error error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 5 || size > PROCESSES_MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    machine = machine ? machine : load(argv[1]);
    const haul_comm_options options = {
        .machine = machine, .ranks_per_node = (unsigned)atoi(argv[2]), .trial_share = 1};
    if (!machine || haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error))
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int count = size <= MOST_DIRECT ? WAYS : WAYS - 1;
    for (int a = 4; a < argc; a++) {
        const order found = compare(comm, strtoul(argv[a], NULL, 10), count, &error_sum, &wrong);
        agree += found.is_but_for_ties;
        agree_strictly += found.is_strict;
        if (getenv("HAUL_SMPI_RATIOS"))
            print_ratios(comm, strtoul(argv[a], NULL, 10), &wrong);
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    const double mean = error_sum / (count * sizes);
    if (!rank)
        printf("%d processes: order agrees for %d of %d sizes, %d where ways that take alike "
               "count, mean error %.1f %%, %d bytes wrong\n",
               size, agree_strictly, sizes, agree, 100 * mean, all_wrong);
    haul_comm_free(comm);
    MPI_Finalize();
    return !rank && (all_wrong || (sizes - agree) * 100 > atoi(argv[3]) * sizes || mean > 0.1);
}
