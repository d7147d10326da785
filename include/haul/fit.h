/* Fits of a machine's parameters to measured copies.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_FIT_H
#define HAUL_FIT_H

#include "haul/cost.h"

HAUL_BEGIN

/* The conditions under which a sample was timed. name, word */
#define HAUL_CONDITION_LIST(X)                                                                     \
    X(ALONE, "alone")   /* of a copy that has the link to itself */                                \
    X(BUSY, "busy")     /* of a copy while the other direction is busy with copies */              \
    X(MAPPED, "mapped") /* likewise, with mapped memory */                                         \
    X(GAP, "gap")       /* from the end of a copy to the start of the next in a row */

typedef enum haul_condition {
#define HAUL_CONDITION_ENUM(name, word) HAUL_CONDITION_##name,
    HAUL_CONDITION_LIST(HAUL_CONDITION_ENUM)
#undef HAUL_CONDITION_ENUM
        HAUL_CONDITIONS
} haul_condition;

HAUL_API const char *haul_condition_text(haul_condition condition);

typedef struct haul_sample {
    haul_copy copy;
    double seconds;
    haul_condition condition;
} haul_sample;

typedef struct haul_samples {
    haul_sample *items;
    size_t count;
} haul_samples;

/* Reads measured copies: CSV with columns direction, host_memory, bytes, seconds (others are
 * ignored, but for locality, "near" or "far", and condition, a word of HAUL_CONDITION_LIST), Google
 * Benchmark JSON as Comm|Scope writes it, or nvbandwidth JSON (copies of its default buffer, 512
 * MiB, where the file names no "bufferSize" in MiB); found by content; gzipped or not. Returns
 * BAD_INPUT with line and column. Free with haul_samples_free. */
HAUL_API haul_status haul_samples_load(const char *path, haul_samples *samples, haul_error *error);
HAUL_API void haul_samples_free(haul_samples *samples);

/* How well a fitted curve gives back its samples; relative errors in percent. */
typedef struct haul_residuals {
    size_t samples;
    double wape; /* 100 sum |t - fit| / sum t */
    double median;
    double p90;
} haul_residuals;

/* The errors that a fit makes least: RELATIVE for curves that must be right at every size, TIME for
 * the least sum of |t - fit|, the self-check's measure. */
typedef enum haul_fit_weight { HAUL_FIT_RELATIVE, HAUL_FIT_TIME } haul_fit_weight;

/* Fits one curve of at most `max_points` points (1 to HAUL_MACHINE_CURVE_POINTS; two parameters a
 * point) to samples of one direction, memory and locality, by least absolute (robust) error over
 * the position and height of its points. Up to `max_points` distinct sizes give the medians; of
 * more, RELATIVE takes at most one point for two sizes. latency_s and rate_Bps are left out: the
 * models that need them read them off the points. Returns MISSING with no sample. */
HAUL_API haul_status haul_fit_curve(const haul_sample *samples, size_t count, size_t max_points,
                                    haul_fit_weight weight, haul_copy_curve *curve,
                                    haul_residuals *residuals, haul_error *error);

/* The straight line, T = latency + bytes/rate: by the average formula of CCGrid 2014, section V
 * (latency: the time of the smallest size), or by weighted least squares on relative error.
 * Returns MISSING with copies of one size, or times that do not grow with it. `residuals` may be
 * NULL. */
HAUL_API haul_status haul_fit_line_average(const haul_sample *samples, size_t count,
                                           haul_copy_curve *curve, haul_residuals *residuals,
                                           haul_error *error);
HAUL_API haul_status haul_fit_line_relative(const haul_sample *samples, size_t count,
                                            haul_copy_curve *curve, haul_residuals *residuals,
                                            haul_error *error);

/* The copies of one direction, memory and locality, and what was fitted to them. */
typedef struct haul_fit_group {
    /* names the group; points, or rate_Bps where all are of one size; busy_rate_Bps,
     * mapped_rate_Bps and gap_s where samples of these conditions tell them */
    haul_copy_curve curve;
    size_t of_condition[HAUL_CONDITIONS]; /* samples */
    haul_copy_curve average;
    haul_copy_curve relative;
    haul_residuals of_curve;
    haul_residuals of_average; /* samples 0: no such line fits */
    haul_residuals of_relative;
    size_t sizes; /* distinct */
    double floor; /* spread of equal copies: 100 sum |t - median of the size| / sum t */
} haul_fit_group;

/* Sorts samples into groups, by direction, memory and locality, and fits each one's curve
 * (RELATIVE, at most `max_points` points) and both lines to the copies that were alone. The rates
 * of the others are those of their largest size, without the latency of copies alone, and at most
 * the rate of these; the gap is the median. Returns MISSING with no sample. On success the caller
 * owns *groups and frees it with haul_fit_groups_free. */
HAUL_API haul_status haul_fit_groups(const haul_samples *samples, size_t max_points,
                                     haul_fit_group **groups, size_t *count, haul_error *error);
HAUL_API void haul_fit_groups_free(haul_fit_group *groups);

HAUL_END

#endif
