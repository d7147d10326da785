/* Limits of a run that a program's authors set, checked against a profile: docs/check.md.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_BUDGET_H
#define HAUL_BUDGET_H

#include <stdbool.h>

#include "haul/analysis.h"
#include "haul/units.h"

HAUL_BEGIN

/* A limit, and what the run has of it. */
typedef struct haul_limit {
    const char *what;         /* "idle", "time of kernels '*gemm*'"; the budget's */
    int line;                 /* of the budget's file */
    haul_dimension dimension; /* SECONDS, BYTES, or NUMBER: a count, */
    bool is_share;            /* or a share of the span */
    double most;
    double measured;   /* NaN before haul_budget_check, and where the run has no span */
    bool is_broken;    /* measured > most */
    bool is_unmatched; /* no kernel has a name of its pattern */
} haul_limit;

typedef struct haul_budget {
    const char *file;
    haul_limit *limits; /* in the order of the file */
    size_t count;
    size_t broken;
} haul_budget;

/* Reads a budget, a YAML file of at most 256 KiB. Returns IO, or BAD_INPUT with line and column.
 * Free with haul_budget_free. */
HAUL_API haul_status haul_budget_load(const char *path, haul_budget **budget, haul_error *error);

/* The same of `size` bytes of text with a NUL behind them; `file` names them in errors. */
HAUL_API haul_status haul_budget_parse(const char *text, size_t size, const char *file,
                                       haul_budget **budget, haul_error *error);
HAUL_API void haul_budget_free(haul_budget *budget);

/* Measures each limit; `analysis` is the workload's. Needs 40 bytes for each distinct kernel name.
 * Returns NO_MEMORY. */
HAUL_API haul_status haul_budget_check(haul_budget *budget, const haul_workload *workload,
                                       const haul_analysis *analysis, haul_error *error);

HAUL_END

#endif
