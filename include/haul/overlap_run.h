/* The strategies of haul/overlap.h run on a device, beside what is predicted of them.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_OVERLAP_RUN_H
#define HAUL_OVERLAP_RUN_H

#include "haul/device.h"
#include "haul/overlap.h"

HAUL_BEGIN

/* name, what it is */
#define HAUL_RUN_KERNEL_LIST(X)                                                                    \
    X(state, "density of sea water and its derivatives, of an ocean model in levels")              \
    X(buoydiff, "buoyancy differences of the same, from levels 1, k - 1 and k")                    \
    X(product, "a matrix product, by rows")                                                        \
    X(convolution, "a filter of 5 x 5 over a picture, by rows")                                    \
    X(sparse, "a sparse matrix times a vector, by rows")

/* Zero is the default of each. */
typedef struct haul_run_options {
    const char *kernel; /* a name of the list */
    uint32_t side;      /* of a level or a picture; 0: 256. The paper's levels have 1024 */
    unsigned times;     /* each strategy runs, of which the median counts; 0: 15, simulated once */
    uint64_t reserved[4]; /* zeros: see haul/api.h */
} haul_run_options;

/* A strategy in a number of streams; 1 where it has none. */
typedef struct haul_run_row {
    haul_strategy strategy;
    uint32_t streams;
    double measured_s; /* from the first call to the end of the last operation, each turn of all
                        * rows scaled to the pace of the other turns */
    double spread;     /* interquartile range, in percent */
    double predicted_s;
} haul_run_row;

enum { HAUL_OVERLAP_RUN_ROWS = 2 + 2 * 7 };

typedef struct haul_run {
    const char *kernel;
    haul_overlap_work work; /* with the kernel's time as it was measured by itself */
    haul_run_row rows[HAUL_OVERLAP_RUN_ROWS];
    size_t row_count;
    size_t best;           /* of the measured rows */
    size_t predicted_best; /* the first of the least prediction */
    double loss;           /* its measured time over the best one's, less 1 */
    double noise;          /* by how much a row differs from itself, measured twice: in every other
                            * turn, or in the first half of the turns and in the second, whichever
                            * is more; relative, the median of all rows. On a CPU at least the
                            * share of its cores that other programs took: without these a run
                            * may be as much shorter */
    double others_cores;   /* that other programs took meanwhile; negative: not told */
    bool is_checked;       /* results were compared with a plain loop's */
    double difference;     /* the largest of a result from a plain loop's, relative to the largest
                            * result */
} haul_run;

/* Runs a kernel by each strategy in 1, 2, 4, ... 64 streams, as far as it has so many parts, checks
 * each result against a plain loop of the host, and predicts each time from the figures of
 * `machine`, which is of the device. A device without mapped memory runs the others. A simulated
 * device without data is not checked.
 *
 * On a CPU, whose mapped memory is its own, nothing crosses a link there, and copies are timed on
 * the cores that kernels run on.
 *
 * Returns USAGE for a kernel that is none of the list, BAD_INPUT where a result is wrong, and what
 * the device, haul_overlap_describe and haul_overlap_play return. */
HAUL_API haul_status haul_overlap_run(haul_device *device, const haul_machine *machine,
                                      const haul_run_options *options, haul_run *run,
                                      haul_error *error);

HAUL_END

#endif
