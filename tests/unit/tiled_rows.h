/* The tiled products of overlap/k40-dgemm-tiled.csv, with what the other files of the data give for
 * a tile of theirs. */
#ifndef HAUL_TEST_TILED_ROWS_H
#define HAUL_TEST_TILED_ROWS_H

#include "haul/overlap.h"

enum { TILED_RUNS_MOST = 4096, TILED_SCHEDULES = 3, TILED_PUBLISHED = 2 };

typedef struct tiled_run {
    haul_blocked_product product; /* edge_alone and out_after_in are left 0 */
    haul_blocked_costs costs;
    double measured_s;
    double published_s[TILED_PUBLISHED]; /* by tiled_published */
} tiled_run;

typedef struct tiled_runs {
    tiled_run items[TILED_RUNS_MOST];
    size_t count;
} tiled_runs;

extern const char *const tiled_published[TILED_PUBLISHED];

/* Reads them from the folder `data`. On success the caller owns *runs; free() it. */
haul_status tiled_runs_read(const char *data, tiled_runs **runs, haul_error *error);

/* How a product is cut into tiles, and when C goes back. */
typedef struct tiled_schedule {
    const char *name;
    double edge_alone;
    bool may_wait; /* copies back wait for those in where tiled_waits says */
} tiled_schedule;

/* The plain one; the measured program's edges; that program's. */
extern const tiled_schedule tiled_schedules[TILED_SCHEDULES];

/* Seconds that nothing can be faster than, each alone. */
typedef struct tiled_work {
    double in_s;
    double out_s;
    double kernel_s;
} tiled_work;

tiled_work tiled_work_of(const tiled_run *run);

/* Whether the measured program lets copies back wait for all copies in: where products take at
 * least as long as all copies. */
bool tiled_waits(const tiled_run *run);

haul_status tiled_predict(const tiled_schedule *schedule, const tiled_run *run, double *seconds,
                          haul_error *error);

#endif
