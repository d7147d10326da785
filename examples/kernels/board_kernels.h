/* The four matrix multiplications and the maximum subarray problem of Amaris, Cordeiro, Goldman and
 * de Camargo, HiPC 2015, section V. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(board_kernels)

#define TILE 16

/* Optimization 1: global memory only. Neighbours of a group work on neighbouring rows, so each
 * reads `a` and writes `c` far from the other. */
HAUL_KERNEL_GROUPS(matmul_global_uncoalesced, board_kernels, TILE, TILE, HAUL_IN(float, a),
                   HAUL_IN(float, b), HAUL_OUT(float, c), HAUL_VALUE(int, n))
{
    HAUL_THREADS (x, TILE, y, TILE) {
        const int row = HAUL_GROUP(0) * TILE + x, column = HAUL_GROUP(1) * TILE + y;
        float sum = 0;
        if (row >= n || column >= n)
            continue;
        for (int k = 0; k < n; k++)
            sum +=
                a[(size_t)row * (size_t)n + (size_t)k] * b[(size_t)k * (size_t)n + (size_t)column];
        c[(size_t)row * (size_t)n + (size_t)column] = sum;
    }
}

/* Optimization 2: neighbours work on neighbouring columns. */
HAUL_KERNEL_GROUPS(matmul_global, board_kernels, TILE, TILE, HAUL_IN(float, a), HAUL_IN(float, b),
                   HAUL_OUT(float, c), HAUL_VALUE(int, n))
{
    HAUL_THREADS (x, TILE, y, TILE) {
        const int column = HAUL_GROUP(0) * TILE + x, row = HAUL_GROUP(1) * TILE + y;
        float sum = 0;
        if (row >= n || column >= n)
            continue;
        for (int k = 0; k < n; k++)
            sum +=
                a[(size_t)row * (size_t)n + (size_t)k] * b[(size_t)k * (size_t)n + (size_t)column];
        c[(size_t)row * (size_t)n + (size_t)column] = sum;
    }
}

/* An element of an n x n matrix; 0 outside it. */
HAUL_FUNCTION float element(HAUL_GLOBAL const float *matrix, int n, int row, int column)
{
    return row < n && column < n ? matrix[(size_t)row * (size_t)n + (size_t)column] : 0;
}

/* Optimization 3: tiles in shared memory, loaded by neighbours on neighbouring rows. */
HAUL_KERNEL_GROUPS(matmul_shared_uncoalesced, board_kernels, TILE, TILE, HAUL_IN(float, a),
                   HAUL_IN(float, b), HAUL_OUT(float, c), HAUL_VALUE(int, n),
                   HAUL_SHARED(float, left, TILE *TILE), HAUL_SHARED(float, right, TILE *TILE))
{
    const int row = HAUL_GROUP(0) * TILE, column = HAUL_GROUP(1) * TILE;
    HAUL_PRIVATE(float, sum, TILE, TILE);
    HAUL_THREADS (x, TILE, y, TILE)
        HAUL_MINE(sum, x, y) = 0;
    for (int m = 0; m < n; m += TILE) {
        HAUL_THREADS (x, TILE, y, TILE) {
            left[x * TILE + y] = element(a, n, row + x, m + y);
            right[x * TILE + y] = element(b, n, m + x, column + y);
        }
        HAUL_BARRIER;
        HAUL_THREADS (x, TILE, y, TILE)
            for (int k = 0; k < TILE; k++)
                HAUL_MINE(sum, x, y) += left[x * TILE + k] * right[k * TILE + y];
        HAUL_BARRIER;
    }
    HAUL_THREADS (x, TILE, y, TILE)
        if (row + x < n && column + y < n)
            c[(size_t)(row + x) * (size_t)n + (size_t)(column + y)] = HAUL_MINE(sum, x, y);
}

/* Optimization 4: the same, loaded by neighbours on neighbouring columns. */
HAUL_KERNEL_GROUPS(matmul_shared, board_kernels, TILE, TILE, HAUL_IN(float, a), HAUL_IN(float, b),
                   HAUL_OUT(float, c), HAUL_VALUE(int, n), HAUL_SHARED(float, left, TILE *TILE),
                   HAUL_SHARED(float, right, TILE *TILE))
{
    const int column = HAUL_GROUP(0) * TILE, row = HAUL_GROUP(1) * TILE;
    HAUL_PRIVATE(float, sum, TILE, TILE);
    HAUL_THREADS (x, TILE, y, TILE)
        HAUL_MINE(sum, x, y) = 0;
    for (int m = 0; m < n; m += TILE) {
        HAUL_THREADS (x, TILE, y, TILE) {
            left[y * TILE + x] = element(a, n, row + y, m + x);
            right[y * TILE + x] = element(b, n, m + y, column + x);
        }
        HAUL_BARRIER;
        HAUL_THREADS (x, TILE, y, TILE)
            for (int k = 0; k < TILE; k++)
                HAUL_MINE(sum, x, y) += left[y * TILE + k] * right[k * TILE + x];
        HAUL_BARRIER;
    }
    HAUL_THREADS (x, TILE, y, TILE)
        if (row + y < n && column + x < n)
            c[(size_t)(row + y) * (size_t)n + (size_t)(column + x)] = HAUL_MINE(sum, x, y);
}

/* Maximum subarray: 32 groups of 128, whatever the size. Each thread has an interval of its own; 32
 * elements of each interval at a time are brought to shared memory, side by side. What is left of
 * an interval are five numbers: the best subarray, prefix and suffix (an empty one counts, as 0),
 * the sum and the number of elements. */
#define WIDTH 128
#define PIECE 32
#define PITCH (PIECE + 1) /* one more, so that no two threads meet in a bank */

typedef struct interval_sums {
    int best, prefix, least, sum, count;
} interval_sums;

HAUL_KERNEL_GROUPS(max_subarray, board_kernels, WIDTH, 1, HAUL_IN(int, x), HAUL_OUT(int, results),
                   HAUL_VALUE(int, n), HAUL_SHARED(int, pieces, WIDTH *PITCH))
{
    const int first = HAUL_GROUP(0) * WIDTH, threads = HAUL_GROUPS(0) * WIDTH;
    const int length = (n + threads - 1) / threads;
    HAUL_PRIVATE(interval_sums, mine, WIDTH, 1);
    HAUL_THREADS (lane, WIDTH, none, 1) {
        const interval_sums zero = {0, 0, 0, 0, 0};
        HAUL_MINE(mine, lane, none) = zero;
    }
    for (int from = 0; from < length; from += PIECE) {
        HAUL_THREADS (lane, WIDTH, none, 1)
            for (int i = lane / PIECE; i < WIDTH; i += WIDTH / PIECE) {
                const int at = from + lane % PIECE;
                const size_t index = (size_t)(first + i) * (size_t)length + (size_t)at;
                pieces[i * PITCH + lane % PIECE] = at < length && index < (size_t)n ? x[index] : 0;
            }
        HAUL_BARRIER;
        HAUL_THREADS (lane, WIDTH, none, 1) {
            const size_t start = (size_t)(first + lane) * (size_t)length;
            interval_sums own = HAUL_MINE(mine, lane, none);
            for (int i = 0; i < PIECE; i++) {
                if (from + i >= length || start + (size_t)(from + i) >= (size_t)n)
                    break;
                own.sum += pieces[lane * PITCH + i];
                if (own.sum > own.prefix)
                    own.prefix = own.sum;
                if (own.sum - own.least > own.best)
                    own.best = own.sum - own.least;
                if (own.sum < own.least)
                    own.least = own.sum;
                own.count++;
            }
            HAUL_MINE(mine, lane, none) = own;
        }
        HAUL_BARRIER;
    }
    HAUL_THREADS (lane, WIDTH, none, 1) {
        const interval_sums own = HAUL_MINE(mine, lane, none);
        HAUL_GLOBAL int *to = results + 5 * (first + lane);
        to[0] = own.best;
        to[1] = own.prefix;
        to[2] = own.sum - own.least;
        to[3] = own.sum;
        to[4] = own.count;
    }
}
