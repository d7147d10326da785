/* The way of an exchange that is chosen before it runs, of device memory and with helpers: what the
 * user says, else the model's best; where the next one's interval overlaps, both run some times and
 * the median time of each counts. Every process comes to the same choice: what it rests on is
 * agreed, the measured times too. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/stats.h"
#include "mpi/mpi_parts.h"

enum { RUNS_LEAST = 2, RUNS_MOST = 11 };

/* A duel of short exchanges goes on for so long: few runs of them say little. */
static const double duel_s = 20e-3;

static const char *way_text(haul_way way, const hl_mpi_shape *of)
{
    return haul_way_text(way, of->on_device ? HAUL_MEMORY_DEVICE : HAUL_MEMORY_HOST);
}

static int log2_of(uint64_t bytes)
{
    int found = 0;
    while (bytes >>= 1)
        found++;
    return found;
}

/* Puts the ways to be measured first: the best, the next best that overlaps it, and MPI's own, of
 * which least is known. Without a machine's model all are alike: two of them. */
static size_t finalists(hl_mpi_choice *choice)
{
    hl_mpi_time *times = choice->times;
    size_t count = 1;
    if (choice->count < 2)
        return 0;
    if (isnan(times[0].seconds))
        return 2;
    if (times[1].low_s <= times[0].high_s)
        count = 2;
    for (size_t i = count; i < choice->count; i++)
        if (times[i].way == HAUL_WAY_PLAIN && !(times[i].low_s > times[0].high_s)) {
            const hl_mpi_time plain = times[i];
            memmove(&times[count + 1], &times[count], (i - count) * sizeof *times);
            times[count++] = plain;
        }
    return count > 1 ? count : 0;
}

static haul_status duel(haul_comm *self, hl_mpi_choice *choice, const hl_mpi_shape *shape,
                        const hl_mpi_call *call, haul_error *error)
{
    double times[HL_MPI_FINALISTS][RUNS_MOST], spent_s = 0;
    size_t runs = 0;
    for (; runs < RUNS_LEAST || (runs < RUNS_MOST && spent_s < duel_s); runs++)
        for (size_t i = 0; i < choice->finalists; i++) {
            /* The slowest process's time, the same on all. */
            uint64_t ns = 0;
            haul_status status = hl_mpi_most(self, &ns, 1, error); /* all begin together */
            const double since = MPI_Wtime();
            if (!status)
                status = hl_mpi_run(self, choice->times[i].way, shape, call, error);
            ns = (uint64_t)((MPI_Wtime() - since) * 1e9);
            if (!status)
                status = hl_mpi_most(self, &ns, 1, error);
            times[i][runs] = (double)ns * 1e-9;
            HAUL_TRY(status);
            spent_s += times[i][runs]; /* alike on all */
        }
    for (size_t i = 0; i < choice->finalists; i++) {
        hl_base_sort_doubles(times[i], runs);
        choice->times[i].measured_s = hl_base_quantile_sorted(times[i], runs, 0.5);
    }
    const hl_mpi_time *best = choice->times;
    for (size_t i = 1; i < choice->finalists; i++)
        if (choice->times[i].measured_s < best->measured_s)
            best = &choice->times[i];
    choice->way = best->way;
    choice->is_made = true;
    return HAUL_OK;
}

/* NULL: not begun. */
static hl_mpi_choice *find_begun(const haul_comm *self, const hl_mpi_shape *shape)
{
    for (size_t i = 0; i < self->choice_count; i++) {
        const hl_mpi_shape *of = &self->choices[i]->shape;
        if (of->kind == shape->kind && of->on_device == shape->on_device &&
            log2_of(of->bytes) == log2_of(shape->bytes) &&
            log2_of(of->messages) == log2_of(shape->messages))
            return self->choices[i];
    }
    return NULL;
}

haul_status hl_mpi_choice_find(haul_comm *self, const hl_mpi_shape *shape, hl_mpi_choice **choice,
                               haul_error *error)
{
    *choice = find_begun(self, shape);
    if (*choice)
        return HAUL_OK;
    hl_mpi_choice *made = NULL;
    const size_t needed = self->choice_count + 1;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): pointers, for callers keep them
    if (hl_base_grow(&self->choices, &self->choice_capacity, needed, sizeof *self->choices))
        made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    made->shape = *shape;
    *choice = self->choices[self->choice_count++] = made;
    return HAUL_OK;
}

void hl_mpi_choices_free(haul_comm *self)
{
    for (size_t i = 0; i < self->choice_count; i++)
        free(self->choices[i]);
    free(self->choices);
    self->choices = NULL;
    self->left_course = NULL;
    self->choice_count = self->choice_capacity = 0;
}

static haul_status predict_choice(haul_comm *self, hl_mpi_choice *choice, const hl_mpi_shape *shape,
                                  haul_error *error)
{
    *choice = (hl_mpi_choice){.shape = *shape};
    choice->count = hl_mpi_predict(self, shape, choice->times);
    choice->way = choice->times[0].way;
    bool can = false;
    for (size_t i = 0; i < choice->count; i++)
        can |= choice->times[i].way == self->forced_way;
    if (self->forced_way && !can && self->may_fall_back) {
        for (size_t i = 0; i < choice->count; i++)
            if (choice->times[i].way == HAUL_WAY_PLAIN)
                choice->way = HAUL_WAY_PLAIN;
        choice->is_made = true;
        return HAUL_OK;
    }
    if (self->forced_way && !can)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "'%s' cannot make this exchange%s",
                              way_text(self->forced_way, shape),
                              shape->on_device ? " of device memory" : "");
    if (self->forced_way)
        choice->way = self->forced_way;
    else
        choice->finalists = finalists(choice);
    choice->is_made = !choice->finalists;
    return HAUL_OK;
}

haul_status hl_mpi_choose_and_run(haul_comm *self, const hl_mpi_shape *shape,
                                  const hl_mpi_call *call, haul_error *error)
{
    hl_mpi_choice *choice;
    HAUL_TRY(hl_mpi_choice_find(self, shape, &choice, error));
    if (!choice->is_made || (choice->way == HAUL_WAY_PLAIN && shape->largest > INT_MAX))
        HAUL_TRY(predict_choice(self, choice, shape, error));
    self->last = choice;
    self->last_is_listed = false;
    self->last_shape = *shape;
    self->last_is_own = false;
    const haul_status status = choice->is_made ? hl_mpi_run(self, choice->way, shape, call, error)
                                               : duel(self, choice, shape, call, error);
    self->last_way = choice->way;
    return status;
}

/* --- what happened and why */

HAUL_PRINTF(3, 4)
static void append_text(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* Why the way of the last call was taken. */
static const char *reason_of(const haul_comm *self, const hl_mpi_choice *choice)
{
    if (hl_mpi_is_proven(self) && (!choice || self->last_way == hl_mpi_usual_way(&choice->shape)))
        return "no other way has been proven faster in such calls";
    if (hl_mpi_is_proven(self))
        return "proven faster in such calls, or a trial";
    if (self->forced_way == self->last_way)
        return "the user chose it";
    if (choice->finalists && isnan(choice->times[0].seconds))
        return "measured once: no machine's messages are given";
    if (choice->finalists)
        return "chosen by measuring once those that the model cannot tell apart";
    return choice->count > 1 ? "chosen by the model" : "the only way";
}

/* Sums up the bytes of a last call that was MPI's own all-to-all-v: few programs ask. */
static void sum_last_shape(haul_comm *self)
{
    hl_mpi_shape sum = {.kind = HAUL_EXCHANGE_ALL_V};
    for (int i = 0; self->last_is_listed && i < self->layout.owners; i++)
        if (i != self->owner && self->plain_numbers[i] > 0) {
            sum.bytes += (uint64_t)self->plain_numbers[i];
            sum.messages++;
        }
    if (self->last_is_listed)
        self->last_shape = sum;
    self->last_is_listed = false;
}

const char *haul_comm_explain(haul_comm *comm)
{
    sum_last_shape(comm);
    static const char *const kinds[] = {"messages", "all-to-all", "all-to-all-v"};
    const hl_mpi_shape *of = &comm->last_shape;
    const hl_mpi_choice *choice = comm->last ? comm->last : find_begun(comm, of);
    char *text = comm->explained;
    const size_t size = sizeof comm->explained;
    *text = '\0';
    if (!comm->last_way)
        return text;
    append_text(text, size,
                "%s of %s memory, %d owners on %d nodes, %llu bytes in %llu messages of %s: %s\n",
                kinds[of->kind], of->on_device ? "device" : "host", comm->layout.owners,
                comm->layout.nodes, (unsigned long long)of->bytes, (unsigned long long)of->messages,
                comm->last_is_own ? "this one" : "one", way_text(comm->last_way, of));
    if (comm->forced_way && comm->forced_way != comm->last_way)
        append_text(text, size, "'%s', which the user chose, cannot make this exchange\n",
                    way_text(comm->forced_way, of));
    append_text(text, size, "%s\n", reason_of(comm, choice));
    if (*comm->proofs_said)
        append_text(text, size, "%s\n", comm->proofs_said);
    for (size_t i = 0; choice && i < choice->count; i++) {
        const hl_mpi_time *time = &choice->times[i];
        const unsigned tries = i < choice->finalists ? choice->tries[i] : 0;
        append_text(text, size, "  %-18s", way_text(time->way, of));
        if (!isnan(time->seconds))
            append_text(text, size, " predicted %10.2f us (%.2f to %.2f)", time->seconds * 1e6,
                        time->low_s * 1e6, time->high_s * 1e6);
        if (!isnan(time->measured_s))
            append_text(text, size, " measured %10.2f us", time->measured_s * 1e6);
        if (tries)
            append_text(text, size, " in %u trials", tries);
        append_text(text, size, "\n");
    }
    return text;
}

haul_way haul_comm_way(const haul_comm *comm)
{
    return comm->last_way;
}
