/* The way of an exchange: what the user says, else the model's best; where the next one's interval
 * overlaps, both run some times and the median time of each counts. Every process comes to the same
 * choice: what it rests on is agreed, the measured times too. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/stats.h"
#include "mpi/mpi_parts.h"

enum { RUNS_LEAST = 2, RUNS_MOST = 11 };

/* A duel of short exchanges goes on for so long: few runs of them say little. */
static const double duel_s = 20e-3;

static int log2_of(uint64_t bytes)
{
    int found = 0;
    while (bytes >>= 1)
        found++;
    return found;
}

/* What is to be measured stands first: the best, the next best that overlaps it, and MPI's own, of
 * which least is known. Without a machine's model all are alike: two of them. */
static size_t finalists(haul_mpi_choice *choice)
{
    haul_mpi_time *times = choice->times;
    size_t count = 1;
    if (choice->count < 2)
        return 0;
    if (isnan(times[0].seconds))
        return 2;
    if (times[1].low_s <= times[0].high_s)
        count = 2;
    for (size_t i = count; i < choice->count; i++)
        if (times[i].way == HAUL_WAY_PLAIN && !(times[i].low_s > times[0].high_s)) {
            const haul_mpi_time plain = times[i];
            memmove(&times[count + 1], &times[count], (i - count) * sizeof *times);
            times[count++] = plain;
        }
    return count > 1 ? count : 0;
}

/* The slowest process's time, the same on all; with the agreement that the way needs each time. */
static haul_status measure(haul_comm *self, haul_way way, const haul_mpi_call *call,
                           const haul_mpi_shape *shape, double *seconds, haul_error *error)
{
    uint64_t ns = 0, numbers[HAUL_MPI_AGREED] = {0};
    const bool agrees =
        haul_mpi_spares_agreement(self, shape->kind, HAUL_WAY_DIRECT) && way != HAUL_WAY_DIRECT;
    haul_status status = haul_mpi_most(self, &ns, 1, error); /* all begin together */
    const double since = MPI_Wtime();
    if (!status && agrees)
        status = haul_mpi_most(self, numbers, HAUL_MPI_AGREED, error);
    if (!status)
        status = haul_mpi_run(self, way, shape, call, error);
    ns = (uint64_t)((MPI_Wtime() - since) * 1e9);
    if (!status)
        status = haul_mpi_most(self, &ns, 1, error);
    *seconds = (double)ns * 1e-9;
    return status;
}

static haul_status duel(haul_comm *self, haul_mpi_choice *choice, const haul_mpi_shape *shape,
                        const haul_mpi_call *call, haul_error *error)
{
    double times[HAUL_MPI_FINALISTS][RUNS_MOST], spent_s = 0;
    size_t runs = 0;
    for (; runs < RUNS_LEAST || (runs < RUNS_MOST && spent_s < duel_s); runs++)
        for (size_t i = 0; i < choice->finalists; i++) {
            const haul_status status =
                measure(self, choice->times[i].way, call, shape, &times[i][runs], error);
            if (status)
                return status;
            spent_s += times[i][runs]; /* alike on all */
        }
    for (size_t i = 0; i < choice->finalists; i++) {
        haul_sort_doubles(times[i], runs);
        choice->times[i].measured_s = haul_quantile_sorted(times[i], runs, 0.5);
    }
    const haul_mpi_time *best = choice->times;
    for (size_t i = 1; i < choice->finalists; i++)
        if (choice->times[i].measured_s < best->measured_s)
            best = &choice->times[i];
    choice->way = best->way;
    choice->is_made = true;
    return HAUL_OK;
}

haul_status haul_mpi_choose_and_run(haul_comm *self, const haul_mpi_shape *shape,
                                    const haul_mpi_call *call, haul_error *error)
{
    haul_mpi_choice *choice = &self->choices[shape->kind][shape->on_device][log2_of(shape->bytes)];
    haul_status status = HAUL_OK;
    if (!choice->is_made || (choice->way == HAUL_WAY_PLAIN && shape->largest > INT_MAX)) {
        *choice = (haul_mpi_choice){.shape = *shape};
        choice->count = haul_mpi_predict(self, shape, choice->times);
        choice->way = choice->times[0].way;
        bool can = false;
        for (size_t i = 0; i < choice->count; i++)
            can |= (int)choice->times[i].way == self->forced_way;
        if (self->forced_way >= 0 && !can)
            return haul_fail(error, HAUL_ABSENT, "'%s' cannot make this exchange%s",
                             haul_way_text((haul_way)self->forced_way),
                             shape->on_device ? " of device memory" : "");
        if (self->forced_way >= 0)
            choice->way = (haul_way)self->forced_way;
        else
            choice->finalists = finalists(choice);
        choice->is_made = !choice->finalists;
    }
    self->last = choice;
    status = choice->is_made ? haul_mpi_run(self, choice->way, shape, call, error)
                             : duel(self, choice, shape, call, error);
    self->last_way = choice->way;
    return status;
}

haul_status haul_mpi_run_kept(haul_comm *self, const haul_mpi_call *call, haul_error *error)
{
    self->last = self->kept[call->shape.kind];
    self->last_way = HAUL_WAY_DIRECT;
    return haul_mpi_run(self, HAUL_WAY_DIRECT, &call->shape, call, error);
}

/* --- what happened and why */

HAUL_PRINTF(3, 4)
static void say(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

const char *haul_comm_explain(haul_comm *comm)
{
    static const char *const kinds[] = {"messages", "all-to-all", "all-to-all-v"};
    const haul_mpi_choice *choice = comm->last;
    char *text = comm->explained;
    const size_t size = sizeof comm->explained;
    *text = '\0';
    if (!choice)
        return text;
    say(text, size,
        "%s of %s memory, %d owners on %d nodes, %llu bytes in %llu messages of one: %s\n",
        kinds[choice->shape.kind], choice->shape.on_device ? "device" : "host", comm->layout.owners,
        comm->layout.nodes, (unsigned long long)choice->shape.bytes,
        (unsigned long long)choice->shape.messages, haul_way_text(choice->way));
    say(text, size, "%s\n",
        comm->forced_way >= 0 ? "the user chose it"
        : choice->finalists && isnan(choice->times[0].seconds)
            ? "measured once: no machine's messages are given"
        : choice->finalists ? "chosen by measuring once those that the model cannot tell apart"
        : choice->count > 1 ? "chosen by the model"
                            : "the only way");
    for (size_t i = 0; i < choice->count; i++) {
        const haul_mpi_time *time = &choice->times[i];
        say(text, size, "  %-18s", haul_way_text(time->way));
        if (!isnan(time->seconds))
            say(text, size, " predicted %10.2f us (%.2f to %.2f)", time->seconds * 1e6,
                time->low_s * 1e6, time->high_s * 1e6);
        if (!isnan(time->measured_s))
            say(text, size, " measured %10.2f us", time->measured_s * 1e6);
        say(text, size, "\n");
    }
    return text;
}

haul_way haul_comm_way(const haul_comm *comm)
{
    return comm->last_way;
}

const char *haul_way_text(haul_way way)
{
    static const char *const texts[] = {HAUL_WAY_LIST(HAUL_ROW_TEXT)};
    return texts[way];
}
