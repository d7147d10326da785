/* Calls are MPI's own until another way has been faster in them. Some calls are trials: all
 * processes agree on the sizes, one of the ways takes the place of MPI's own, and the slowest
 * process's time counts. Trials are so far apart that all of them together cost no more than a
 * share of the time of such calls; between them nothing is sent to agree on a way. They go on for
 * ever, more rarely once all ways are known, so that times that change are seen. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "mpi/mpi_parts.h"

enum { TRIES_LEAST = 5, WINS_LEAST = 4, JITTER = 7, APART_KNOWN = 16, DECAY = 64 };

/* One call in so many is timed, for which it goes the long way of lists and checks. */
enum { SAMPLED = 64 };

/* Trials begin after 256 calls and are 32 calls apart at least, where their share is 1 %. */
static const double usual_share = 0.01, first_by_share = 2.56, apart_by_share = 0.32;

/* A way has to be so much faster: less is noise. */
static const double least_gain = 0.03;

/* Blocks to which ways that send each byte more than once are tried where no machine is known. */
static const double aggregated_most_bytes = 8192, bruck_most_bytes = 1024;

/* Numbers that a trial agrees on, the largest of all processes; of the last two the least. */
enum { BYTES, MESSAGES, LARGEST, TRIED_NS, MEAN_NS, AGREEMENT_NS, NUMBERS };

static double share_of(const haul_comm *self)
{
    return self->trial_share > 0 ? self->trial_share : usual_share;
}

static double median_of(const hl_mpi_choice *choice, size_t finalist)
{
    double sorted[HL_MPI_TRIES];
    const unsigned tries = choice->tries[finalist];
    const size_t count = tries < HL_MPI_TRIES ? tries : HL_MPI_TRIES;
    memcpy(sorted, choice->tried_s[finalist], count * sizeof *sorted);
    return count ? hl_base_median(sorted, count) : (double)NAN;
}

static bool is_known(const hl_mpi_choice *choice)
{
    for (size_t i = 0; i < choice->finalists; i++)
        if (choice->tries[i] < TRIES_LEAST)
            return false;
    return true;
}

/* Ways are tried in turn, so that the last tries of two stand beside each other. */
static int wins_of(const hl_mpi_choice *choice, size_t finalist)
{
    const unsigned a = choice->tries[0], b = choice->tries[finalist], common = a < b ? a : b;
    int wins = 0;
    for (unsigned i = common - TRIES_LEAST; i < common; i++)
        wins += choice->tried_s[finalist][i % HL_MPI_TRIES] < choice->tried_s[0][i % HL_MPI_TRIES];
    return wins;
}

/* --- which ways are tried */

static bool is_worth_trying(const haul_comm *self, const hl_mpi_shape *shape,
                            const hl_mpi_time *time, const hl_mpi_time *usual)
{
    const double each = shape->messages ? (double)shape->bytes / (double)shape->messages : 0;
    if (self->machine)
        return !(time->low_s > usual->high_s);
    if (time->way == HAUL_WAY_AGGREGATED)
        return each <= aggregated_most_bytes;
    return time->way != HAUL_WAY_BRUCK || (each <= bruck_most_bytes && self->layout.owners > 3);
}

/* First the way that runs without a choice, then the others, the fastest by the model first. */
static void list_finalists(const haul_comm *self, hl_mpi_choice *choice)
{
    hl_mpi_time *times = choice->times, usual = {.way = hl_mpi_usual_way(&choice->shape)};
    hl_mpi_time found[HAUL_WAYS];
    const size_t count = hl_mpi_predict(self, &choice->shape, found);
    size_t put = 1, rest = 0;
    for (size_t i = 0; i < count; i++)
        if (found[i].way == usual.way)
            usual = found[i];
    times[0] = usual;
    for (size_t i = 0; i < count; i++)
        if (found[i].way != usual.way && put < HL_MPI_FINALISTS &&
            is_worth_trying(self, &choice->shape, &found[i], &usual) && choice->shape.messages)
            times[put++] = found[i];
        else if (found[i].way != usual.way)
            found[rest++] = found[i];
    choice->finalists = put;
    memcpy(times + put, found, rest * sizeof *found);
    choice->count = put + rest;
    choice->way = usual.way;
}

/* --- a trial */

static uint64_t inverse_ns(double seconds)
{
    return UINT64_MAX - (uint64_t)(seconds * 1e9);
}

static double seconds_of(uint64_t inverse)
{
    return (double)(UINT64_MAX - inverse) * 1e-9;
}

/* The first way is what runs without a choice. */
static void settle_choice(hl_mpi_choice *choice)
{
    choice->way = choice->times[0].way;
    for (size_t i = 0; i < choice->finalists; i++)
        choice->times[i].measured_s = median_of(choice, i);
    if (!is_known(choice))
        return;
    double best_s = choice->times[0].measured_s * (1 - least_gain);
    for (size_t i = 1; i < choice->finalists; i++)
        if (choice->times[i].measured_s < best_s && wins_of(choice, i) >= WINS_LEAST) {
            best_s = choice->times[i].measured_s;
            choice->way = choice->times[i].way;
        }
}

/* Notes the time of the last trial, now known to all; returns its cost. */
static double enter_last(haul_comm *self, double seconds)
{
    hl_mpi_choice *choice = self->tried;
    if (!choice)
        return 0;
    const size_t of = self->tried_finalist;
    const double usual_s = median_of(choice, 0);
    choice->tried_s[of][choice->tries[of]++ % HL_MPI_TRIES] = seconds;
    self->tried = NULL;
    settle_choice(choice);
    return of && seconds > usual_s ? seconds - usual_s : 0;
}

/* Calls of one process may be of any size without others' knowledge: the way of them all is the
 * one that gains most over the exchanges looked at last. */
static void settle_course(hl_mpi_course *self, hl_mpi_choice *choice, double agreement_s)
{
    const haul_exchange_kind kind = choice->shape.kind;
    self->way = choice->way;
    self->agrees = false;
    if (kind == HAUL_EXCHANGE_ALL)
        return;
    self->recent[self->looks % HL_MPI_RECENT] = choice;
    double all_s = 0, best_s = 0, direct_s = 0;
    for (size_t i = 0; i < HL_MPI_RECENT && self->recent[i]; i++) {
        const hl_mpi_choice *of = self->recent[i];
        double way_s = of->times[0].measured_s, own_s = (double)NAN;
        best_s -= agreement_s;
        if (!is_known(of)) {
            direct_s = (double)NAN;
            continue;
        }
        for (size_t f = 0; f < of->finalists; f++) {
            way_s = of->times[f].way == of->way ? of->times[f].measured_s : way_s;
            own_s = of->times[f].way == HAUL_WAY_DIRECT ? of->times[f].measured_s : own_s;
        }
        all_s += of->times[0].measured_s;
        best_s += of->times[0].measured_s - way_s;
        direct_s += of->times[0].measured_s - own_s; /* NaN: `direct` was not tried */
    }
    const bool is_direct = direct_s > least_gain * all_s;
    self->agrees = best_s > least_gain * all_s && !(is_direct && direct_s >= best_s);
    self->way = is_direct ? HAUL_WAY_DIRECT : choice->times[0].way;
}

/* The next trial comes when all of them together have earned their share. Its distance varies,
 * for sizes that take turns to be all seen. */
static void schedule(const haul_comm *self, hl_mpi_course *of, const hl_mpi_choice *choice,
                     double mean_s)
{
    double apart = fmax(1, floor(apart_by_share / share_of(self)));
    if (choice->finalists < 2 || is_known(choice))
        apart *= APART_KNOWN;
    if (mean_s > 0)
        apart = fmax(apart, of->looks_s / (share_of(self) * mean_s) - (double)of->calls);
    of->looks++;
    of->next_look = of->calls + (uint64_t)fmin(apart, 1e9) + of->looks % JITTER;
    of->left_until = 0;
}

static haul_status run_trial(haul_comm *self, hl_mpi_course *course, hl_mpi_call *call,
                             haul_error *error)
{
    const hl_mpi_shape *own = &call->shape;
    const double mean_s = course->sampled ? course->sampled_s / (double)course->sampled : 0;
    uint64_t numbers[NUMBERS] = {own->bytes,         own->messages,
                                 own->largest,       (uint64_t)(self->tried_took_s * 1e9),
                                 inverse_ns(mean_s), inverse_ns(self->agreement_s)};
    double since = MPI_Wtime();
    HAUL_TRY(hl_mpi_most(self, numbers, NUMBERS, error));
    self->agreement_s = MPI_Wtime() - since;
    const double lost_s = enter_last(self, (double)numbers[TRIED_NS] * 1e-9);
    const double agreement_s = seconds_of(numbers[AGREEMENT_NS]);
    call->shape.bytes = numbers[BYTES];
    call->shape.messages = numbers[MESSAGES];
    call->shape.largest = numbers[LARGEST];
    HAUL_TRY(hl_mpi_choice_find(self, &call->shape, &self->last, error));
    hl_mpi_choice *choice = self->last;
    if (!choice->count)
        list_finalists(self, choice);
    size_t least = 0;
    for (size_t i = 1; i < choice->finalists; i++)
        least = choice->tries[i] < choice->tries[least] ? i : least;
    course->looks_s += agreement_s + lost_s;
    settle_course(course, choice, agreement_s);
    schedule(self, course, choice, seconds_of(numbers[MEAN_NS]));
    self->last_way = choice->times[least].way;
    self->last_is_listed = false;
    self->last_shape = call->shape;
    self->last_is_own = false;
    since = MPI_Wtime();
    HAUL_TRY(hl_mpi_run(self, self->last_way, &call->shape, call, error));
    self->tried_took_s = MPI_Wtime() - since;
    self->tried = choice;
    self->tried_finalist = least;
    return HAUL_OK;
}

/* --- every call */

static void begin_course(const haul_comm *self, hl_mpi_course *course, const hl_mpi_shape *shape)
{
    const hl_mpi_shape usual = {.kind = shape->kind,
                                .largest = shape->kind == HAUL_EXCHANGE_ALL ? shape->largest : 0};
    course->way = hl_mpi_usual_way(&usual);
    course->next_look = self->layout.owners > 1
                            ? (uint64_t)fmax(2, ceil(first_by_share / share_of(self)))
                            : UINT64_MAX;
}

/* The calls that are alike to all processes without a word: those of a kind, of an all-to-all those
 * of a size too. */
static haul_status find_course(haul_comm *self, const hl_mpi_shape *shape, hl_mpi_course **course,
                               haul_error *error)
{
    *course = &self->courses[shape->kind];
    if (shape->kind == HAUL_EXCHANGE_ALL) {
        HAUL_TRY(hl_mpi_choice_find(self, shape, &self->last, error));
        *course = &self->last->course;
    }
    if (!(*course)->next_look)
        begin_course(self, *course, shape);
    return HAUL_OK;
}

/* Between trials the sizes are agreed on where the way needs them. */
static haul_status run_between(haul_comm *self, const hl_mpi_course *course, hl_mpi_call *call,
                               haul_error *error)
{
    haul_way way = course->way;
    if (course->agrees) {
        uint64_t numbers[] = {call->shape.bytes, call->shape.messages, call->shape.largest};
        HAUL_TRY(hl_mpi_most(self, numbers, 3, error));
        call->shape.bytes = numbers[BYTES];
        call->shape.messages = numbers[MESSAGES];
        call->shape.largest = numbers[LARGEST];
        HAUL_TRY(hl_mpi_choice_find(self, &call->shape, &self->last, error));
        if (!self->last->count)
            list_finalists(self, self->last);
        way = self->last->way;
    } else if (call->shape.kind != HAUL_EXCHANGE_ALL) {
        self->last = NULL;
    }
    self->last_way = way;
    self->last_is_listed = false;
    self->last_shape = call->shape;
    self->last_is_own = !course->agrees && call->shape.kind != HAUL_EXCHANGE_ALL;
    return hl_mpi_run(self, way, &call->shape, call, error);
}

haul_status hl_mpi_run_proven(haul_comm *self, hl_mpi_call *call, haul_error *error)
{
    hl_mpi_course *course;
    HAUL_TRY(find_course(self, &call->shape, &course, error));
    course->calls++;
    if (course->calls >= course->next_look)
        return run_trial(self, course, call, error);
    if (course->calls % SAMPLED)
        return run_between(self, course, call, error);
    const double since = MPI_Wtime();
    const haul_status status = run_between(self, course, call, error);
    /* Calls of long ago count less. */
    if (course->sampled == DECAY) {
        course->sampled /= 2;
        course->sampled_s /= 2;
    }
    course->sampled++;
    course->sampled_s += MPI_Wtime() - since;
    return status;
}

haul_status hl_mpi_trials_adopt(haul_comm *self, const hl_mpi_proof *proof, haul_error *error)
{
    hl_mpi_choice *choice;
    HAUL_TRY(hl_mpi_choice_find(self, &proof->shape, &choice, error));
    if (!choice->count)
        list_finalists(self, choice);
    for (size_t i = 0; i < choice->finalists; i++)
        for (size_t k = 0; k < proof->ways; k++)
            if (choice->times[i].way == proof->way[k]) {
                memcpy(choice->tried_s[i], proof->tried_s[k], sizeof proof->tried_s[k]);
                choice->tries[i] = proof->tries[k];
            }
    settle_choice(choice);
    hl_mpi_course *course = proof->shape.kind == HAUL_EXCHANGE_ALL
                                ? &choice->course
                                : &self->courses[proof->shape.kind];
    if (!course->next_look)
        begin_course(self, course, &proof->shape);
    settle_course(course, choice, proof->agreement_s);
    course->looks++;
    return HAUL_OK;
}

/* The course of all-to-alls with such blocks; NULL without memory. */
static hl_mpi_course *course_of_all(haul_comm *self, uint64_t bytes)
{
    const uint64_t others = (uint64_t)self->layout.owners - 1;
    const hl_mpi_shape shape = {HAUL_EXCHANGE_ALL, false, bytes * others, bytes ? others : 0,
                                bytes * others};
    hl_mpi_course *course;
    if (bytes > (uint64_t)INT_MAX / (uint64_t)self->layout.owners ||
        find_course(self, &shape, &course, NULL))
        return NULL;
    self->left_course = course;
    self->left_bytes = bytes;
    return course;
}

/* Finds out for how many calls nothing but MPI's own is to be done. */
static bool leaves_more(haul_comm *self, haul_exchange_kind kind, uint64_t bytes)
{
    hl_mpi_course *course = &self->courses[kind];
    if (!hl_mpi_is_proven(self) || self->failure.status || kind == HAUL_EXCHANGE_MESSAGES)
        return false;
    if (kind == HAUL_EXCHANGE_ALL)
        course = course_of_all(self, bytes);
    else if (!course->next_look)
        begin_course(self, course, &(hl_mpi_shape){.kind = kind});
    if (!course || course->way != HAUL_WAY_PLAIN || course->agrees)
        return false;
    const uint64_t next_sample = (course->calls / SAMPLED + 1) * SAMPLED;
    course->left_until = (next_sample < course->next_look ? next_sample : course->next_look) - 1;
    if (course->calls >= course->left_until)
        return false;
    course->calls++;
    return true;
}

/* Short calls take hardly longer than the looking: those that are left for some time yet cost a
 * comparison. Programs call with one size many times, whose course is not looked for again. */
bool haul_comm_leaves_next(haul_comm *comm, haul_exchange_kind kind, uint64_t bytes)
{
    hl_mpi_course *course = &comm->courses[kind];
    if (kind == HAUL_EXCHANGE_ALL && comm->left_course && comm->left_bytes == bytes)
        course = comm->left_course;
    if (course->calls >= course->left_until || comm->failure.status)
        return leaves_more(comm, kind, bytes);
    course->calls++;
    return true;
}
