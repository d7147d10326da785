/* A board that runs the kernels. What fails there ends the program, with a word why: exit code 4
 * where there is no device, 1 otherwise. */
#ifndef KERNELS_BOARD_H
#define KERNELS_BOARD_H

enum { MATMULS = 4, BOARD_TILE = 16, BOARD_BLOCKS = 32, BOARD_WIDTH = 128, BOARD_RESULTS = 5 };

/* Opens a device by its name, as haul_device_open does, and returns the vendor's name for it. */
const char *board_open(const char *name);

/* c = a b, n x n, by variant 0 to 3, the paper's optimizations 1 to 4. Writes the kernel's own
 * times, `repetitions` of them, after one that does not count. */
void board_matmul(int variant, int n, const float *a, const float *b, float *c, int repetitions,
                  double *seconds);

/* Five numbers for each of the 32 x 128 intervals of `x`. */
void board_max_subarray(int n, const int *x, int *results, int repetitions, double *seconds);

void board_close(void);

#endif
