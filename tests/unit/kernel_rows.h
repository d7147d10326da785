/* The times of kernels/gpuperfpredict-times.csv, by program and GPU, with the counts of the
 * programs' kernel files. */
#ifndef HAUL_TEST_KERNEL_ROWS_H
#define HAUL_TEST_KERNEL_ROWS_H

#include "haul/kernel_file.h"

enum { KERNEL_BOARDS = 5, KERNEL_PROGRAMS = 10, KERNEL_SIZES = 256 };

/* A GPU's name in the catalogue, and in the data. */
typedef struct kernel_board {
    const char *machine;
    const char *in_data;
} kernel_board;

extern const kernel_board kernel_boards[KERNEL_BOARDS];
extern const char *const kernel_programs[KERNEL_PROGRAMS];

/* One program on one GPU, ascending in size. What the table says of the launches is beside the
 * samples: their counts are the kernel file's. */
typedef struct kernel_series {
    haul_kernel_sample samples[KERNEL_SIZES];
    haul_kernel_launches launches[KERNEL_SIZES];
    size_t count;
} kernel_series;

/* Whether two GPUs ran it with launches alike: programs whose launches differ are two programs.
 */
bool kernel_series_alike(const kernel_series *a, const kernel_series *b);

typedef struct kernel_rows {
    haul_machine *machines[KERNEL_BOARDS];
    kernel_series series[KERNEL_PROGRAMS][KERNEL_BOARDS];
} kernel_rows;

/* Reads them from the folder `data`. On success the caller owns *rows. */
haul_status kernel_rows_read(const char *data, kernel_rows **rows, haul_error *error);
void kernel_rows_free(kernel_rows *rows);

#endif
