/* How often points are attempted, and what comes of their attempts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/stats.h"
#include "haul/device_backend.h"
#include "measure/session.h"

/* ROUNDS of sweeps are seconds apart; with a time limit there may be ROUNDS_MOST. */
enum {
    ATTEMPTS_LEAST = 5,
    ATTEMPTS_USUAL = 101,
    ATTEMPTS_MOST = 303,
    ROUNDS = 4,
    ROUNDS_MOST = 64,
};

/* Points whose median is surer than that, in percent, end at the usual number of attempts, or time;
 * others go on for up to three times as many. */
static const double sure_enough = 1;
static const double longest = 3;

/* Sweeps whose rounds differ by less, in percent, need no more of them. */
static const double steady_enough = 3;

/* Spent time is that of the host, which bounds how long a user waits; durations are the
 * device's. */
/* A trial while it is measured. */
typedef struct running {
    double seconds[ATTEMPTS_MOST]; /* of all rounds; later ones than fit are in `medians` alone */
    double this_round[ATTEMPTS_MOST];
    double medians[ROUNDS_MOST]; /* of rounds */
    unsigned stored;             /* in `seconds` */
    unsigned in_round;
    unsigned rounds;
    unsigned count; /* of all attempts */
    double spent_s;
    bool is_kept; /* the journal has it */
    bool only_verifies;
} running;

static haul_status try_once(hl_measure_session *self, const hl_measure_trial *trial, running *run,
                            haul_error *error)
{
    const double begin_s = hl_base_clock_s();
    double seconds = 0;
    const haul_status status = trial->attempt(self, trial->what, &seconds, error);
    run->spent_s += hl_base_clock_s() - begin_s;
    if (run->stored < ATTEMPTS_MOST)
        run->seconds[run->stored++] = seconds;
    if (run->in_round < ATTEMPTS_MOST)
        run->this_round[run->in_round++] = seconds;
    run->count++;
    return status;
}

/* The root of the mean square of the rounds' medians around theirs, in percent. */
static double drift_of(const running *run, double median)
{
    double sum = 0;
    for (unsigned i = 0; i < run->rounds; i++) {
        const double off = run->medians[i] > 0 ? log(run->medians[i] / median) : 0;
        sum += off * off;
    }
    return run->rounds > 1 && median > 0 ? 100 * sqrt(sum / run->rounds) : 0;
}

/* The median and the quartiles: one attempt that the system interrupted does not move them. Before
 * a round has ended, of its attempts. */
static hl_measure_point_measured outcome_of(const running *run)
{
    double sorted[ATTEMPTS_MOST], medians[ROUNDS_MOST];
    memcpy(sorted, run->seconds, run->stored * sizeof *sorted);
    memcpy(medians, run->medians, run->rounds * sizeof *medians);
    hl_base_sort_doubles(sorted, run->stored);
    const double range = hl_base_quantile_sorted(sorted, run->stored, 0.75) -
                         hl_base_quantile_sorted(sorted, run->stored, 0.25);
    const double median = run->rounds ? hl_base_median(medians, run->rounds)
                                      : hl_base_quantile_sorted(sorted, run->stored, 0.5);
    return (hl_measure_point_measured){
        .seconds = median,
        .spread = median > 0 ? 100 * range / median : 0,
        .drift = drift_of(run, median),
        .count = run->count,
    };
}

/* A quartile of normal noise is 0.67 of its deviation away, and a median's own deviation 1.25 of
 * that over the root of the count. */
double hl_measure_median_error(const hl_measure_point_measured *point)
{
    return 1.25 * point->spread / (2 * 0.67) / sqrt(point->count);
}

/* How far a set has to come: a part of the usual number of attempts and time. */
typedef struct quota {
    double part;
    double point_s;
    bool is_late; /* no time is left for more than the least */
} quota;

static bool goes_on(const running *run, const quota *until)
{
    const double count = run->count, part = until->part;
    if (run->is_kept || count >= ATTEMPTS_MOST * part)
        return false;
    if (!run->in_round) /* in every round, however long an attempt of another one took */
        return true;
    if (count < ATTEMPTS_LEAST * part ||
        (count < ATTEMPTS_USUAL * part && run->spent_s < part * until->point_s && !until->is_late))
        return true;
    if (until->is_late || run->only_verifies || run->spent_s >= longest * part * until->point_s)
        return false;
    const hl_measure_point_measured so_far = outcome_of(run);
    return hl_measure_median_error(&so_far) > sure_enough;
}

/* In turns, there and back, so that none always follows the largest. */
static haul_status try_in_turns(hl_measure_session *self, const hl_measure_trial_set *set,
                                running *runs, const quota *until, haul_error *error)
{
    const bool is_exact = haul_device_describe(self->device)->is_simulated;
    haul_status status = HAUL_OK;
    bool has_more = true;
    for (unsigned turn = 0; has_more && !status; turn++) {
        has_more = false;
        for (size_t i = 0; i < set->count && !status; i++) {
            const size_t at = turn % 2 ? set->count - 1 - i : i;
            running *run = &runs[at];
            if (is_exact ? run->is_kept || run->count : !goes_on(run, until))
                continue;
            has_more = true;
            status = try_once(self, &set->trials[at], run, error);
        }
    }
    for (size_t i = 0; i < set->count; i++)
        if (runs[i].in_round && runs[i].rounds < ROUNDS_MOST) {
            runs[i].medians[runs[i].rounds++] =
                hl_base_median(runs[i].this_round, runs[i].in_round);
            runs[i].in_round = 0;
        }
    return status;
}

/* Sets while they are measured, and the attempts of each one's trials. */
typedef struct turns {
    hl_measure_session *session;
    hl_measure_trial_set *sets;
    size_t count;
    running *runs; /* of all sets, one behind another */
    unsigned rounds;
    bool is_exact;
} turns;

/* The largest of the sets' median drifts. */
static double drift_of_sets(const turns *self)
{
    double worst = 0, drifts[HL_MEASURE_TRIALS];
    const running *runs = self->runs;
    for (size_t i = 0; i < self->count; i++) {
        const hl_measure_trial_set *set = &self->sets[i];
        size_t found = 0;
        for (size_t k = 0; k < set->count && found < HL_MEASURE_TRIALS && !set->status; k++)
            if (!runs[k].is_kept)
                drifts[found++] = outcome_of(&runs[k]).drift;
        if (found)
            worst = fmax(worst, hl_base_median(drifts, found));
        runs += set->count;
    }
    return worst;
}

static haul_status run_round(const turns *self, unsigned round, haul_error *error)
{
    hl_measure_session *session = self->session;
    const double limit_s = session->options.time_limit_s;
    running *runs = self->runs;
    for (size_t i = 0; i < self->count; i++) {
        hl_measure_trial_set *set = &self->sets[i];
        const quota until = {.part = (round + 1.0) / self->rounds,
                             .point_s = session->options.point_s,
                             .is_late =
                                 limit_s > 0 && hl_base_clock_s() - session->begin_s > limit_s};
        if (!set->status && !round && !self->is_exact) {
            /* The first attempt warms up what is lazy: pages, caches, drivers. */
            haul_status status = HAUL_OK;
            for (size_t k = 0; k < set->count && !status; k++) {
                if (runs[k].is_kept)
                    continue;
                if (session->options.progress)
                    session->options.progress(session->options.progress_state, set->trials[k].name);
                status = try_once(session, &set->trials[k], &runs[k], error);
                runs[k].stored = runs[k].in_round = runs[k].count = 0;
                runs[k].spent_s = 0;
            }
            set->status = status;
        }
        if (!set->status)
            set->status = try_in_turns(session, set, runs, &until, error);
        if (set->status && set->status != HAUL_STATUS_ABSENT && set->status != HAUL_STATUS_MISSING)
            return set->status;
        runs += set->count;
    }
    return HAUL_OK;
}

/* More rounds only where a time limit gives them time, and rounds differ. */
static haul_status run_rounds(const turns *self, haul_error *error)
{
    const hl_measure_session *session = self->session;
    bool goes_on = true;
    for (unsigned round = 0; goes_on; round++) {
        HAUL_TRY(run_round(self, round, error));
        goes_on = round + 1 < self->rounds ||
                  (self->rounds > 1 && round + 1 < ROUNDS_MOST &&
                   hl_base_clock_s() - session->begin_s < session->options.time_limit_s / 2 &&
                   drift_of_sets(self) > steady_enough);
    }
    return HAUL_OK;
}

static haul_status take_outcomes(hl_measure_session *self, const hl_measure_trial_set *set,
                                 const running *runs, haul_error *error)
{
    for (size_t i = 0; i < set->count; i++) {
        hl_measure_trial *trial = &set->trials[i];
        if (runs[i].is_kept)
            continue;
        trial->point = outcome_of(&runs[i]);
        trial->point.name = trial->name;
        HAUL_TRY(hl_measure_journal_add(&self->journal, &trial->point, error));
    }
    return HAUL_OK;
}

static haul_status measure_sets(hl_measure_session *self, hl_measure_trial_set *sets, size_t count,
                                unsigned rounds, haul_error *error)
{
    const bool is_exact = haul_device_describe(self->device)->is_simulated;
    size_t all = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        all += sets[i].count;
    running *runs = calloc(all ? all : 1, sizeof *runs);
    if (!runs)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < count; at += sets[i++].count) {
        /* Points that the journal has count as measured, but only those of an earlier run as kept:
         * a point that is asked for twice in one run is in the journal too. */
        for (size_t k = 0; k < sets[i].count; k++) {
            hl_measure_trial *trial = &sets[i].trials[k];
            const hl_measure_point_measured *kept =
                hl_measure_journal_find(&self->journal, trial->name);
            self->made.points++;
            runs[at + k].only_verifies = trial->only_verifies;
            runs[at + k].is_kept = kept != NULL;
            if (!kept)
                continue;
            trial->point = *kept;
            self->made.points_kept +=
                (size_t)(kept - self->journal.points) < self->journal.from_file;
        }
    }
    const turns all_sets = {self, sets, count, runs, is_exact ? 1 : rounds, is_exact};
    haul_status status = run_rounds(&all_sets, error);
    at = 0;
    for (size_t i = 0; i < count && !status; at += sets[i++].count)
        if (!sets[i].status)
            status = take_outcomes(self, &sets[i], runs + at, error);
    free(runs);
    return status;
}

haul_status hl_measure_session_rounds(hl_measure_session *session, hl_measure_trial_set *sets,
                                      size_t count, haul_error *error)
{
    return measure_sets(session, sets, count, ROUNDS, error);
}

haul_status hl_measure_session_trials(hl_measure_session *session, hl_measure_trial *trials,
                                      size_t count, haul_error *error)
{
    hl_measure_trial_set set = {trials, count, HAUL_OK};
    HAUL_TRY(measure_sets(session, &set, 1, 1, error));
    return set.status;
}

haul_status hl_measure_session_point(hl_measure_session *session, const char *name,
                                     hl_measure_attempt attempt, const void *what,
                                     hl_measure_point_measured *point, haul_error *error)
{
    hl_measure_trial trial = {.attempt = attempt, .what = what};
    snprintf(trial.name, sizeof trial.name, "%s", name);
    const haul_status status = hl_measure_session_trials(session, &trial, 1, error);
    if (!status)
        *point = trial.point;
    return status;
}
