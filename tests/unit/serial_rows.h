/* The products of overlap/k40-dgemm-serial.csv, copies in, one kernel and the copy back one after
 * the other, beside the best of the same products with copies overlapped, k40-dgemm-tiled.csv. */
#ifndef HAUL_TEST_SERIAL_ROWS_H
#define HAUL_TEST_SERIAL_ROWS_H

#include "haul/machine.h"
#include "haul/workload.h"

enum { SERIAL_RUNS_MOST = 512 };

typedef struct serial_run {
    double m, n, k;    /* C is m x n, the sum k long */
    double on_host[3]; /* A, B, C: 1 or 0 */
    double total_s;
    double in_s;         /* the copies in together */
    double out_s;        /* the copy back */
    double overlapped_s; /* with the best tile; 0: not measured */
    double tile;
} serial_run;

typedef struct serial_runs {
    serial_run items[SERIAL_RUNS_MOST];
    size_t count;
} serial_runs;

/* Reads those that copy something and were measured overlapped as well. On success the caller owns
 * *runs; free() it. */
haul_status serial_runs_read(const char *data, serial_runs **runs, haul_error *error);

/* The run as a profile would hold it: blocking copies of pinned memory and a kernel on one stream,
 * which takes what the copies leave of the total; calls take no time but that for which they wait.
 * The caller owns *workload. */
haul_status serial_run_workload(const serial_run *run, haul_workload **workload, haul_error *error);

/* `machine` with what copies keep of their rate while the other direction is busy, by
 * transfers/bidirectional-k40.csv: the median over sizes. The caller owns *out. */
haul_status serial_busy_machine(const char *data, const haul_machine *machine, haul_machine **out,
                                haul_error *error);

#endif
