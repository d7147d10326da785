/* Measured kernels: times, and what a profiler counted, from CSV.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_KERNEL_TIMES_H
#define HAUL_KERNEL_TIMES_H

#include "haul/kernel_file.h"
#include "haul/workload.h"

HAUL_BEGIN

/* One launch. Members that the files do not tell are NULL or 0. */
typedef struct haul_kernel_measured {
    const char *gpu;
    const char *kernel; /* without its parameters */
    double size;
    double seconds;
    haul_kernel_counts counts; /* the launch, bytes and flops also where nothing else was counted */
    bool is_counted;           /* instructions, loads and stores are in `counts` */
    int block[3];              /* its sides; all threads in the first where they are not told */
    const char *file;
    int line;
    int column; /* where its size stands, or would: 1 where the table has no such column */
} haul_kernel_measured;

typedef struct haul_kernel_times {
    haul_kernel_measured *rows;
    size_t count;
} haul_kernel_times;

/* A file, and the size of its launches where it does not say it; 0: not known. */
typedef struct haul_kernel_csv {
    const char *path;
    double size;
} haul_kernel_csv;

/* Reads measured kernels from CSV files, gzipped or not:
 *
 * - times: columns n (or size), a time with its unit in its name (seconds, kernel_s, median_ms
 * ...), and, where there are several, kernel (or program) and gpu; grid_x to block_z where known;
 * - nvprof --csv, with --print-gpu-trace (times), --metrics and --events (counters), or a table of
 *   such metrics, a launch a row. The units that it gives for a column hold to the next such row;
 * - ncu --csv: a metric a row, with its unit.
 *
 * Counters without a time take it from the launches of the same kernel, size and GPU, where those
 * are all of one grid. A time that says another unit than its column, or none where none is known,
 * is BAD_INPUT with line and column, as is one that is not above 0. On success the caller owns
 * *times. */
HAUL_API haul_status haul_kernel_times_load(const haul_kernel_csv *files, size_t count,
                                            haul_kernel_times **times, haul_error *error);

/* The same from one file's `size` bytes in memory, which it changes; `file.path` names them. */
HAUL_API haul_status haul_kernel_times_parse(char *text, size_t size, haul_kernel_csv file,
                                             haul_kernel_times **times, haul_error *error);
/* The kernels of a profile, a row a launch, `size` for all of them. BAD_INPUT where it has none.
 * Names are the workload's, which has to live as long. */
HAUL_API haul_status haul_kernel_times_of(const haul_workload *workload, double size,
                                          haul_kernel_times **times, haul_error *error);
/* Finds the counts of a kernel of a profile in times that one of the functions above made: the mean
 * flops and bytes of the rows of its name without template arguments and parameters, and of its
 * launch where the rows tell theirs. 0: not counted. */
HAUL_API void haul_kernel_times_find(const haul_kernel_times *times, const char *name,
                                     const haul_kernel_launches *launch, double *flops,
                                     double *bytes);
HAUL_API void haul_kernel_times_free(haul_kernel_times *times);

/* The machines and kernel files that measured rows are matched with. */
typedef struct haul_kernel_matching {
    const haul_kernel_times *times;
    haul_machine *const *machines; /* one: rows that name no GPU are its */
    size_t machine_count;
    haul_kernel_file *const *files;
    size_t file_count;
    bool is_chosen; /* the one file is what is asked for: rows without a name are its, rows of other
                       kernels are passed over */
    const char *kernel; /* rows of this name alone; NULL: of any */
    int block[3];       /* rows of this block alone; all 0: of any */
} haul_kernel_matching;

/* The rows of one kernel on one machine. Where a size was measured in blocks of several shapes,
 * those are kernels of their own. */
typedef struct haul_kernel_group {
    const char
        *kernel; /* its file's name, its own, or that of the table without folder and ending */
    const char *title; /* the same, with the shape of its blocks where there are several */
    size_t machine;
    const haul_kernel_file *file;      /* what it does; NULL: counted by a profiler */
    const haul_kernel_sample *samples; /* by size */
    size_t count;
} haul_kernel_group;

/* Rows that are not fitted, or not as their file has it, and the first of them. */
typedef struct haul_kernel_some_rows {
    size_t count;
    const haul_kernel_measured *one;
} haul_kernel_some_rows;

typedef struct haul_kernel_groups {
    haul_kernel_group *items; /* in the order of their first rows */
    size_t count;
    haul_kernel_some_rows other_gpus;
    haul_kernel_some_rows other_blocks;
    haul_kernel_some_rows uncounted;          /* neither a file nor counters say what they do */
    haul_kernel_some_rows launched_otherwise; /* than their file says: they are fitted */
    haul_kernel_counts by_file;               /* of the first of these */
} haul_kernel_groups;

/* Finds the machine of each row, by the GPU's name or the machine's, and the kernel's file, and
 * groups them. Returns BAD_INPUT at a row without a size or a time, or where no row is left;
 * MISSING where nothing says what the rows' kernels do. Texts and rows stay the caller's. On
 * success the caller owns *groups; free with haul_kernel_groups_free. */
HAUL_API haul_status haul_kernel_groups_new(const haul_kernel_matching *what,
                                            haul_kernel_groups **groups, haul_error *error);
HAUL_API void haul_kernel_groups_free(haul_kernel_groups *groups);

HAUL_END

#endif
