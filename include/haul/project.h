/* A recorded program's copies and kernels on another machine. */
#ifndef HAUL_PROJECT_H
#define HAUL_PROJECT_H

#include "haul/breakdown.h"
#include "haul/cost.h"

HAUL_BEGIN

/* Prediction against truth, in percent (AHEAD, VI.C): wmape is the mean over operations of
 * 100 W_i |A_i - P_i| / A_i with W_i = A_i / sum A; wape is their sum. */
typedef struct haul_score {
    uint64_t count;
    double wmape;
    double wape;
    double median;
    double p90;
} haul_score;

typedef struct haul_projection_options {
    const haul_machine *to;       /* needed */
    const haul_machine *from;     /* NULL: the recording link is fitted to the trace's own copies */
    const haul_copy_model *model; /* NULL: auto */
    const haul_workload *truth;   /* NULL, or the same program recorded on `to` */
} haul_projection_options;

/* Copies of one direction and memory: of one size, of a decade of sizes, or of all. Times are sums
 * over the row's copies; the ends of intervals add up too, because the errors of a model are
 * systematic. */
typedef struct haul_projection_row {
    haul_direction direction;
    haul_memory memory;
    int decade;          /* of analysis.h; HAUL_DECADES stands for all sizes */
    uint64_t copy_bytes; /* of the largest copy */
    uint64_t count;
    uint64_t bytes;
    double recorded_s;
    haul_estimate predicted; /* by the chosen model; `model` NULL where it was not one throughout */
    const double *model_s;   /* by each of haul_projection.models; NaN where it cannot */
    haul_score score;        /* count 0 where there is no truth */
} haul_projection_row;

/* What one model gives for all the copies. `missing` is NULL, or why it could not price them, and
 * total_s is NaN then. */
typedef struct haul_model_total {
    const char *name;
    double total_s;
    const char *missing;
    haul_score score;
} haul_model_total;

/* The identity check of one direction and memory, or of all. */
typedef struct haul_self_check_score {
    haul_score score;  /* of the trace's own copies, priced on the machine that recorded it */
    double floor;      /* the spread of equal copies: 100 sum |t - their median| / sum t */
    double wape_alone; /* wape of the best that knows no collisions: where the machine is fitted,
                        * fitted anew without them */
} haul_self_check_score;

typedef struct haul_self_check_row {
    haul_direction direction;
    haul_memory memory;
    haul_self_check_score of;
    uint64_t collided; /* copies whose device copied the opposite way meanwhile */
    double busy_speed; /* what such a copy keeps of its speed, fitted; 1 where no loss was found */
    double points;     /* of the machine's curve; 0 where it has none */
} haul_self_check_row;

/* The copies of one direction, memory and size, one on average, as measured and as priced. */
typedef struct haul_copy_pair {
    haul_direction direction;
    haul_memory memory;
    uint64_t bytes;
    uint64_t count;
    double measured_s;
    double predicted_s;
} haul_copy_pair;

typedef struct haul_self_check {
    haul_self_check_score of;
    bool fitted;       /* the recording link was fitted to these copies */
    uint64_t unpriced; /* copies that no figure of the recording machine covers */
    haul_self_check_row *rows;
    size_t row_count;
    haul_copy_pair *pairs; /* those that have a price */
    size_t pair_count;
} haul_self_check;

typedef struct haul_projection {
    haul_self_check identity;
    haul_projection_row *rows; /* each direction and memory: all sizes, then its decades */
    size_t row_count;
    haul_projection_row *sizes; /* each direction, memory and size */
    size_t size_count;
    haul_model_total *models; /* the chosen first, then every other */
    size_t model_count;
    const char *chosen;   /* that `auto` took throughout, else models[0].name */
    haul_estimate copies; /* the total of the chosen model */
    double recorded_copies_s;
    double collisions_s;   /* of recorded_copies_s, what collisions cost by the fitted speeds */
    haul_estimate kernels; /* model NULL where there is no kernel or no ratio */
    double recorded_kernels_s;
    haul_estimate memsets; /* likewise */
    double recorded_memsets_s;
    const char *gpu;             /* that recorded the trace, or NULL */
    const char *kernels_missing; /* why kernels and memsets could not be scaled, or NULL */
    /* The whole run on the target; without a timeline run_missing says why. */
    haul_timeline *timeline;
    const int64_t *durations_ns; /* of each operation of the workload; the host's keep theirs */
    const int64_t *call_durations_ns; /* of each call; NULL: as recorded */
    haul_timeline_device device; /* the target's; the times from call to start are the recording's,
                                  * and so is the room for kernels unless that of both is known */
    haul_release release;        /* as recorded where the profile has no calls of device work */
    haul_replay identity_replay; /* the recording rebuilt with its own durations, in that way */
    const char *run_missing;
    haul_breakdown recorded_run;
    haul_breakdown target_run;
    haul_breakdown truth_run; /* recorded; where there is a truth */
    haul_critical_path critical;
    int64_t low_ns;  /* the makespan where each operation takes the low end of its interval, */
    int64_t high_ns; /* or the high one; the likely one lies between */
    haul_copy_pair *truth_pairs; /* the truth's copies, and what was predicted of them */
    size_t truth_pair_count;
    uint64_t matched;   /* copies paired with the truth */
    uint64_t unmatched; /* copies of either trace without a partner */
    const char **notes; /* what the reader must know, a sentence each */
    size_t note_count;
} haul_projection;

/* Prices every copy of `workload` on the target, completed by haul_machine_carry from the machine
 * that recorded it. What the asked model cannot price `auto` does; copies of unknown direction or
 * within the host's memory that no model prices keep their recorded time; notes say how many.
 * Copies are paired with the truth's in order within direction, memory and size; memory is not told
 * apart in a direction where either profile does not know it. Returns MISSING, naming the figure,
 * where `auto` cannot price a copy of another kind. Needs 350 bytes for each distinct size and
 * about 50 an operation while it runs, 28 of which stay, 8 more of both where calls do not keep
 * their durations. Names in it may be the workload's and the machines', which have to live as long.
 * Free with haul_projection_free. */
HAUL_API haul_status haul_project(const haul_workload *workload,
                                  const haul_projection_options *options,
                                  haul_projection **projection, haul_error *error);
HAUL_API void haul_projection_free(haul_projection *projection);

HAUL_END

#endif
