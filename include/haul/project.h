/* A recorded program's copies and kernels on another machine. */
#ifndef HAUL_PROJECT_H
#define HAUL_PROJECT_H

#include "haul/cost.h"
#include "haul/fit.h"

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

/* One direction, memory and decade of size. Decade HAUL_DECADES stands for all sizes. */
typedef struct haul_projection_row {
    haul_direction direction;
    haul_memory memory;
    int decade;
    uint64_t count;
    uint64_t bytes;
    double recorded_s;
    haul_estimate predicted;
    haul_score score; /* count 0 where there is no truth */
} haul_projection_row;

/* What one model gives for all the copies. `missing` is NULL, or why it could not price them. */
typedef struct haul_model_total {
    const char *name;
    double total_s;
    const char *missing;
    haul_score score;
} haul_model_total;

typedef struct haul_identity {
    haul_score score;  /* of the trace's own copies, priced on the machine that recorded it */
    double floor;      /* the spread of equal copies, percent (MODELS, section 2) */
    bool fitted;       /* the recording link was fitted to these copies */
    uint64_t unpriced; /* copies that no figure of the recording machine covers */
} haul_identity;

typedef struct haul_projection {
    haul_identity identity;
    haul_projection_row *rows;
    size_t row_count;
    haul_model_total *models; /* the chosen first, then the baselines */
    size_t model_count;
    haul_estimate copies; /* the total of the chosen model; `model` names it */
    double recorded_copies_s;
    haul_estimate kernels; /* model NULL where there is no kernel or no ratio */
    double recorded_kernels_s;
    const char *kernels_missing; /* why kernels could not be scaled, or NULL */
    uint64_t matched;            /* copies paired with the truth */
    uint64_t unmatched;          /* copies of either trace without a partner */
    haul_note *notes;            /* what the reader must know, one a line */
    size_t note_count;
} haul_projection;

/* Prices every copy of `workload` on the target. Copies are paired with the truth's in order within
 * direction, memory and size. Returns MISSING, naming the figure, where the target cannot price
 * a direction that occurs. Free with haul_projection_free. */
HAUL_API haul_status haul_project(const haul_workload *workload,
                                  const haul_projection_options *options,
                                  haul_projection **projection, haul_error *error);
HAUL_API void haul_projection_free(haul_projection *projection);

HAUL_END

#endif
