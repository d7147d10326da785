/* The end of a reduction: the rows' results are folded in the order of rows, FOLD of them by each
 * group, and set back for the next loop. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_tile_fold_file)

#define FOLD 4096

typedef struct fold_shape {
    long count;
    double identity;
} fold_shape;

#define HL_TILE_FOLD_KERNEL(name, type, fold)                                                      \
    HAUL_KERNEL_GROUPS(name, hl_tile_fold_file, HAUL_GROUP_LANES, 1, HAUL_INOUT(type, rows),       \
                       HAUL_OUT(type, out), HAUL_VALUE(fold_shape, shape),                         \
                       HAUL_SHARED(type, lanes, HAUL_GROUP_LANES))                                 \
    {                                                                                              \
        const long first = (long)HAUL_GROUP(0) * FOLD;                                             \
        const long end = shape.count - first < FOLD ? shape.count : first + FOLD;                  \
        HAUL_THREADS (t, HAUL_GROUP_LANES, u, 1) {                                                 \
            lanes[t] = (type)shape.identity;                                                       \
            for (long i = first + t; i < end; i += HAUL_GROUP_LANES) {                             \
                lanes[t] = fold(lanes[t], rows[i]);                                                \
                rows[i] = (type)shape.identity;                                                    \
            }                                                                                      \
        }                                                                                          \
        HAUL_BARRIER;                                                                              \
        HAUL_THREADS (t, HAUL_GROUP_LANES, u, 1) {                                                 \
            for (int n = 1; !t && n < HAUL_GROUP_LANES; n++)                                       \
                lanes[0] = fold(lanes[0], lanes[n]);                                               \
            if (!t)                                                                                \
                out[HAUL_GROUP(0)] = lanes[0];                                                     \
        }                                                                                          \
    }

HL_TILE_FOLD_KERNEL(hl_tile_sum_double, double, HAUL_FOLD_SUM)
HL_TILE_FOLD_KERNEL(hl_tile_sum_float, float, HAUL_FOLD_SUM)
HL_TILE_FOLD_KERNEL(hl_tile_sum_int, int, HAUL_FOLD_SUM)
HL_TILE_FOLD_KERNEL(hl_tile_sum_unsigned, unsigned, HAUL_FOLD_SUM)
HL_TILE_FOLD_KERNEL(hl_tile_min_double, double, HAUL_FOLD_MIN)
HL_TILE_FOLD_KERNEL(hl_tile_min_float, float, HAUL_FOLD_MIN)
HL_TILE_FOLD_KERNEL(hl_tile_min_int, int, HAUL_FOLD_MIN)
HL_TILE_FOLD_KERNEL(hl_tile_min_unsigned, unsigned, HAUL_FOLD_MIN)
HL_TILE_FOLD_KERNEL(hl_tile_max_double, double, HAUL_FOLD_MAX)
HL_TILE_FOLD_KERNEL(hl_tile_max_float, float, HAUL_FOLD_MAX)
HL_TILE_FOLD_KERNEL(hl_tile_max_int, int, HAUL_FOLD_MAX)
HL_TILE_FOLD_KERNEL(hl_tile_max_unsigned, unsigned, HAUL_FOLD_MAX)
