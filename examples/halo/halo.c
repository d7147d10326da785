/* Heat in a plate, whose rows are divided over the processes of an MPI program that keeps its own
 * arrays: mpirun -n 4 halo [SIZE STEPS]. A halo is planned once; rows at the edges travel while the
 * inner ones are computed. Prints the middle row's sum, the same on any number of processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/mpi.h"

typedef struct plate {
    int size;           /* cells of a row, the outer ones stay as they are */
    int first, rows;    /* of this process among size - 2 */
    double *now, *next; /* rows + 2 of them: the neighbours' beside its own */
} plate;

static void must(haul_status status, const haul_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "halo: %s\n", error->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static plate make_plate(int size, int rank, int processes)
{
    plate made = {.size = size, .first = (size - 2) * rank / processes};
    made.rows = (size - 2) * (rank + 1) / processes - made.first;
    const size_t cells = (size_t)(made.rows + 2) * (size_t)size;
    made.now = calloc(2 * cells, sizeof *made.now);
    if (!made.now)
        MPI_Abort(MPI_COMM_WORLD, 1);
    made.next = made.now + cells;
    for (int y = 0; y < made.rows + 2; y++) /* hot on the left */
        made.now[(size_t)y * (size_t)size] = made.next[(size_t)y * (size_t)size] = 100;
    return made;
}

/* The plan of one of the two arrays: its first and last own rows go out, the ones beyond come in.
 * A message's number is the same at both ends: 0 goes up, 1 goes down. */
static haul_halo *plan_halo(haul_comm *comm, const plate *of, double *cells)
{
    const int rank = haul_comm_rank(comm), last = haul_comm_size(comm) - 1, n = of->size;
    haul_halo_message messages[4];
    haul_halo_plan plan = {.array = haul_in_host(cells),
                           .cell_bytes = sizeof *cells,
                           .size = {n, of->rows + 2},
                           .messages = messages};
    haul_halo *halo;
    haul_error error;
    for (int up = 1; up >= 0; up--) {
        const int peer = up ? rank - 1 : rank + 1, sent = up ? 1 : of->rows;
        const int came = up ? 0 : of->rows + 1;
        if (peer < 0 || peer > last)
            continue;
        messages[plan.count++] = (haul_halo_message){peer, !up, true, {{0, sent}, {n, sent + 1}}};
        messages[plan.count++] = (haul_halo_message){peer, up, false, {{0, came}, {n, came + 1}}};
    }
    must(haul_halo_new(comm, &plan, &halo, &error), &error);
    return halo;
}

static void update_rows(const plate *of, int from, int to)
{
    const size_t n = (size_t)of->size;
    for (int y = from; y < to; y++)
        for (size_t x = 1; x + 1 < n; x++) {
            const double *at = of->now + (size_t)y * n + x;
            of->next[(size_t)y * n + x] = 0.25 * (at[-1] + at[1] + at[-(ptrdiff_t)n] + at[n]);
        }
}

static void run_steps(haul_comm *comm, plate *of, int steps)
{
    haul_halo *halos[] = {plan_halo(comm, of, of->now), plan_halo(comm, of, of->next)};
    haul_error error;
    for (int step = 0; step < steps; step++) {
        must(haul_halo_start(halos[step % 2], &error), &error);
        update_rows(of, 2, of->rows); /* rows that need no neighbour's */
        must(haul_halo_finish(halos[step % 2], &error), &error);
        update_rows(of, 1, 2);
        if (of->rows > 1)
            update_rows(of, of->rows, of->rows + 1);
        double *const old = of->now;
        of->now = of->next;
        of->next = old;
    }
    haul_halo_free(halos[0]);
    haul_halo_free(halos[1]);
}

int main(int argc, char **argv)
{
    const int size = argc > 1 ? atoi(argv[1]) : 66, steps = argc > 2 ? atoi(argv[2]) : 500;
    haul_comm *comm;
    haul_error error;
    MPI_Init(&argc, &argv);
    must(haul_comm_new(MPI_COMM_WORLD, NULL, &comm, &error), &error);
    const int processes = haul_comm_size(comm), middle = (size - 2) / 2;
    if (size - 2 < processes || steps < 1) {
        fputs("usage: halo [SIZE STEPS]: with a row for each process\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    plate own = make_plate(size, haul_comm_rank(comm), processes);
    double *const memory = own.now;
    double sum = 0, all = 0;
    run_steps(comm, &own, steps);
    const int y = middle - own.first + 1;
    for (int x = 0; y >= 1 && y <= own.rows && x < size; x++)
        sum += own.now[(size_t)y * (size_t)size + (size_t)x];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!haul_comm_rank(comm))
        printf("sum of row %d after %d steps: %.17g\n", middle, steps, all);
    free(memory);
    haul_comm_free(comm);
    MPI_Finalize();
    return 0;
}
