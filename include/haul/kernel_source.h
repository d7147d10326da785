/* The language of kernels: one text that is C on the host, OpenCL C, and CUDA or HIP C++ on a GPU.
 * docs/devices.md tells what it may hold. heat.kernel.h:
 *
 *     #include "haul/kernel_source.h"
 *     HAUL_KERNEL_FILE(heat_file)
 *     HAUL_KERNEL_2D(heat, heat_file, HAUL_IN(double, u), HAUL_OUT(double, v), HAUL_VALUE(int, n))
 *     {
 *         HAUL_FOR2 (x, y)
 *             v[y * n + x] = u[y * n + x] / 2;
 *     }
 *
 * and the program: #include "heat.kernel.h", haul_kernel_new(device, &heat, &kernel, error).
 *
 * On the host this defines `heat`, a haul_kernel_source, and the text of the file itself is put
 * into the program, so no file is needed where it runs. A device compiles this header and the text.
 *
 * Parameters, at most 32:
 *   HAUL_IN(type, name), HAUL_OUT(type, name), HAUL_INOUT(type, name): arrays that do not overlap
 *   HAUL_VALUE(type, name): a number or a struct of numbers
 *   HAUL_SHARED(type, name, count): an array of a group; these last
 *
 * Arrays of haul/tile.h, which place their cells themselves; `halo` is how many neighbours are
 * read: HAUL_READ(type, name, halo), HAUL_WRITE(type, name), HAUL_UPDATE(type, name, halo);
 * HAUL_ALL(type, name) may be read anywhere: a device has to hold all of it
 *   HAUL_AT(name, x, y, z), HAUL_AT2(name, x, y), HAUL_AT1(name, x)   the cell, to read or to set
 * HAUL_SCATTER(type, name), of int, unsigned, long, float or double: the kernel adds to any of the
 * array's cells, but for those beyond its edges, and reads none; other threads may add to the same
 * cell meanwhile. Sums of integers, which wrap round, are the same in any order. Floating-point
 * values are added in the order of the loop's cells, x fastest, by one thread of the host, wherever
 * the arrays are. Of integers a device has to hold all of the array
 *   HAUL_ADD_AT(name, x, y, z, value), HAUL_ADD_AT2(name, x, y, value), HAUL_ADD_AT1(name, x,
 * value) Each counts as two parameters.
 *
 * Reductions of haul/tile.h, into an array of one element of type double, float, int or unsigned:
 *   HAUL_SUM(type, name), HAUL_MIN(type, name), HAUL_MAX(type, name), in kernels HAUL_REDUCE_3D
 *   HAUL_ADD(name, value), HAUL_LEAST(name, value), HAUL_MOST(name, value)
 * Each counts as two parameters, and the kernel has one more. Results depend on the arrays'
 * regions, not on the order in which threads and copies run.
 *
 * Loops over the launch's box, one in each kernel:
 *   HAUL_KERNEL_1D(name, file, ...)   HAUL_FOR1 (x)
 *   HAUL_KERNEL_2D(name, file, ...)   HAUL_FOR2 (x, y)
 *   HAUL_KERNEL_3D(name, file, ...)   HAUL_FOR3 (x, y, z)
 *   HAUL_STENCIL_2D(name, file, HAUL_READ(type, u, halo), HAUL_WRITE(type, v), values ...)
 *   HAUL_STENCIL_3D(...)              the same; several steps may run in one launch, which u and v
 *                                     take in turn; with the values there may be other arrays that
 *                                     are read, such as coefficients
 *   HAUL_REDUCE_1D(name, file, ...)   HAUL_ROW1 (x)
 *   HAUL_REDUCE_2D(name, file, ...)   HAUL_ROW2 (x, y)
 *   HAUL_REDUCE_3D(name, file, ...)   HAUL_ROW3 (x, y, z)
 *
 * Groups of threads with shared memory:
 *   HAUL_KERNEL_GROUPS(name, file, width, height, ...)
 *   HAUL_THREADS (x, width, y, height)   the statement, for each thread of the group
 *   HAUL_BARRIER;                        between two of them, where one reads what another wrote
 *   HAUL_PRIVATE(type, name, width, height);   a variable of each thread that outlives a
 *   HAUL_MINE(name, x, y)                      HAUL_THREADS, and its name in one
 *   HAUL_GROUP(d), HAUL_GROUPS(d)        the group's index in direction d, and how many there are
 *
 * HAUL_MULTIPLY_ADD(a, b, c) is a * b + c, in one operation where the device has it.
 *
 * HAUL_FUNCTION marks a function that kernels call, HAUL_GLOBAL and HAUL_LOCAL its pointers to
 * arrays and to shared memory. */
#ifndef HAUL_KERNEL_SOURCE_H
#define HAUL_KERNEL_SOURCE_H

#if defined(__OPENCL_VERSION__)
#define HAUL_ON_OPENCL
#define HAUL_FUNCTION static
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define HAUL_ON_CUDA
#define HAUL_FUNCTION static __device__ __forceinline__
#else
#define HAUL_ON_HOST
#define HAUL_FUNCTION static inline
#include <string.h>

#include "haul/device.h"
#endif

/* Applies m(index, parameter) to each parameter; `n` is how many they are. */
#define HAUL_UNIT_COUNT(...)                                                                       \
    HAUL_COUNT_BY(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, \
                  15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define HAUL_COUNT_BY(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17,  \
                      p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32,   \
                      count, ...)                                                                  \
    count
#define HAUL_JOIN(a, b) HAUL_JOIN_BY(a, b)
#define HAUL_JOIN_BY(a, b) a##b
#define HAUL_EACH(m, ...) HAUL_EACH_OF(HAUL_UNIT_COUNT(__VA_ARGS__), m, __VA_ARGS__)
#define HAUL_EACH_OF(n, m, ...) HAUL_JOIN(HAUL_EACH_, n)(m, n, __VA_ARGS__)
#define HAUL_EACH_1(m, n, a) m(n - 1, a)
#define HAUL_EACH_2(m, n, a, ...) m(n - 2, a) HAUL_EACH_1(m, n, __VA_ARGS__)
#define HAUL_EACH_3(m, n, a, ...) m(n - 3, a) HAUL_EACH_2(m, n, __VA_ARGS__)
#define HAUL_EACH_4(m, n, a, ...) m(n - 4, a) HAUL_EACH_3(m, n, __VA_ARGS__)
#define HAUL_EACH_5(m, n, a, ...) m(n - 5, a) HAUL_EACH_4(m, n, __VA_ARGS__)
#define HAUL_EACH_6(m, n, a, ...) m(n - 6, a) HAUL_EACH_5(m, n, __VA_ARGS__)
#define HAUL_EACH_7(m, n, a, ...) m(n - 7, a) HAUL_EACH_6(m, n, __VA_ARGS__)
#define HAUL_EACH_8(m, n, a, ...) m(n - 8, a) HAUL_EACH_7(m, n, __VA_ARGS__)
#define HAUL_EACH_9(m, n, a, ...) m(n - 9, a) HAUL_EACH_8(m, n, __VA_ARGS__)
#define HAUL_EACH_10(m, n, a, ...) m(n - 10, a) HAUL_EACH_9(m, n, __VA_ARGS__)
#define HAUL_EACH_11(m, n, a, ...) m(n - 11, a) HAUL_EACH_10(m, n, __VA_ARGS__)
#define HAUL_EACH_12(m, n, a, ...) m(n - 12, a) HAUL_EACH_11(m, n, __VA_ARGS__)
#define HAUL_EACH_13(m, n, a, ...) m(n - 13, a) HAUL_EACH_12(m, n, __VA_ARGS__)
#define HAUL_EACH_14(m, n, a, ...) m(n - 14, a) HAUL_EACH_13(m, n, __VA_ARGS__)
#define HAUL_EACH_15(m, n, a, ...) m(n - 15, a) HAUL_EACH_14(m, n, __VA_ARGS__)
#define HAUL_EACH_16(m, n, a, ...) m(n - 16, a) HAUL_EACH_15(m, n, __VA_ARGS__)
#define HAUL_EACH_17(m, n, a, ...) m(n - 17, a) HAUL_EACH_16(m, n, __VA_ARGS__)
#define HAUL_EACH_18(m, n, a, ...) m(n - 18, a) HAUL_EACH_17(m, n, __VA_ARGS__)
#define HAUL_EACH_19(m, n, a, ...) m(n - 19, a) HAUL_EACH_18(m, n, __VA_ARGS__)
#define HAUL_EACH_20(m, n, a, ...) m(n - 20, a) HAUL_EACH_19(m, n, __VA_ARGS__)
#define HAUL_EACH_21(m, n, a, ...) m(n - 21, a) HAUL_EACH_20(m, n, __VA_ARGS__)
#define HAUL_EACH_22(m, n, a, ...) m(n - 22, a) HAUL_EACH_21(m, n, __VA_ARGS__)
#define HAUL_EACH_23(m, n, a, ...) m(n - 23, a) HAUL_EACH_22(m, n, __VA_ARGS__)
#define HAUL_EACH_24(m, n, a, ...) m(n - 24, a) HAUL_EACH_23(m, n, __VA_ARGS__)
#define HAUL_EACH_25(m, n, a, ...) m(n - 25, a) HAUL_EACH_24(m, n, __VA_ARGS__)
#define HAUL_EACH_26(m, n, a, ...) m(n - 26, a) HAUL_EACH_25(m, n, __VA_ARGS__)
#define HAUL_EACH_27(m, n, a, ...) m(n - 27, a) HAUL_EACH_26(m, n, __VA_ARGS__)
#define HAUL_EACH_28(m, n, a, ...) m(n - 28, a) HAUL_EACH_27(m, n, __VA_ARGS__)
#define HAUL_EACH_29(m, n, a, ...) m(n - 29, a) HAUL_EACH_28(m, n, __VA_ARGS__)
#define HAUL_EACH_30(m, n, a, ...) m(n - 30, a) HAUL_EACH_29(m, n, __VA_ARGS__)
#define HAUL_EACH_31(m, n, a, ...) m(n - 31, a) HAUL_EACH_30(m, n, __VA_ARGS__)
#define HAUL_EACH_32(m, n, a, ...) m(n - 32, a) HAUL_EACH_31(m, n, __VA_ARGS__)

/* A parameter is (access, type, name, count, halo). */
#define HAUL_IN(type, name) (IN, type, name, 1, -1)
#define HAUL_OUT(type, name) (OUT, type, name, 1, -1)
#define HAUL_INOUT(type, name) (INOUT, type, name, 1, -1)
#define HAUL_VALUE(type, name) (VALUE, type, name, 1, -1)
#define HAUL_SHARED(type, name, count) (SHARED, type, name, count, -1)

/* An array of tiles is its data and where it keeps its cells. */
#define HAUL_READ(type, name, halo) HAUL_FIELD(IN, type, name, halo)
#define HAUL_WRITE(type, name) HAUL_FIELD(OUT, type, name, 0)
#define HAUL_UPDATE(type, name, halo) HAUL_FIELD(INOUT, type, name, halo)
#define HAUL_ALL(type, name) HAUL_FIELD(IN, type, name, HAUL_HALO_ALL)
#define HAUL_FIELD(access, type, name, halo)                                                       \
    (access, type, name##_data, 1, halo), (VIEW, haul_view, name##_view, 1, -1)

/* Its cells have a name of their own, so that none is read. */
#define HAUL_SCATTER(type, name)                                                                   \
    (INOUT, HAUL_SCATTER_##type, name##_sums, 1, HAUL_HALO_ALL),                                   \
        (VIEW, haul_view, name##_view, 1, -1)
/* NOLINTBEGIN(readability-identifier-naming): the types' names */
#define HAUL_SCATTER_int int
#define HAUL_SCATTER_unsigned unsigned
#define HAUL_SCATTER_float float
#define HAUL_SCATTER_double double
#if !defined(__OPENCL_VERSION__) || defined(cl_khr_int64_base_atomics)
#define HAUL_SCATTER_long long
#endif
/* NOLINTEND(readability-identifier-naming) */

/* The rows' results, and where they are; the last of the five is the type's number. */
#define HAUL_SUM(type, name) HAUL_REDUCTION(SUM, type, name)
#define HAUL_MIN(type, name) HAUL_REDUCTION(MIN, type, name)
#define HAUL_MAX(type, name) HAUL_REDUCTION(MAX, type, name)
#define HAUL_REDUCTION(access, type, name)                                                         \
    (access, type, name, 1, HAUL_NUMBER_##type), (HIDDEN, haul_rows, name##_place, 1, -1)
/* NOLINTBEGIN(readability-identifier-naming): the types' names */
#define HAUL_NUMBER_double 0
#define HAUL_NUMBER_float 1
#define HAUL_NUMBER_int 2
#define HAUL_NUMBER_unsigned 3
/* NOLINTEND(readability-identifier-naming) */

#define HAUL_ADD(name, value) (*name = HAUL_FOLD_SUM(*name, value))
#define HAUL_LEAST(name, value) (*name = HAUL_FOLD_MIN(*name, value))
#define HAUL_MOST(name, value) (*name = HAUL_FOLD_MAX(*name, value))
#define HAUL_FOLD_SUM(a, b) ((a) + (b))
#define HAUL_FOLD_MIN(a, b) ((b) < (a) ? (b) : (a))
#define HAUL_FOLD_MAX(a, b) ((b) > (a) ? (b) : (a))

/* Cells of arrays. On the host an access can be checked: haul/kernel_check.h. */
#define HAUL_AT(name, x, y, z) name##_data[HAUL_PLACE(name, x, y, z)]
#define HAUL_AT2(name, x, y) name##_data[HAUL_PLACE2(name, x, y)]
#define HAUL_AT1(name, x) name##_data[HAUL_PLACE1(name, x)]
#define HAUL_ADD_AT(name, x, y, z, value)                                                          \
    HAUL_ADD_TO(&name##_sums[HAUL_PLACE(name, x, y, z)], value)
#define HAUL_ADD_AT2(name, x, y, value) HAUL_ADD_TO(&name##_sums[HAUL_PLACE2(name, x, y)], value)
#define HAUL_ADD_AT1(name, x, value) HAUL_ADD_TO(&name##_sums[HAUL_PLACE1(name, x)], value)
#ifndef HAUL_ON_HOST
#define HAUL_PLACE(name, x, y, z)                                                                  \
    (haul_turn(name##_view, z) * name##_view.plane - name##_view.origin + (y)*name##_view.row + (x))
#define HAUL_PLACE2(name, x, y)                                                                    \
    (haul_turn(name##_view, y) * name##_view.plane - name##_view.origin + (x))
#define HAUL_PLACE1(name, x) haul_turn(name##_view, x)
#define HAUL_SIGHT haul_view
#define HAUL_SIGHT_OF(view) view
#define HAUL_VIEW_OF(sight) sight
#define HAUL_OWN_CELL
#define HAUL_NO_CELL
#define HAUL_SEE1(x)
#define HAUL_SEE2(x, y)
#define HAUL_SEE3(x, y, z)
#endif

/* In the function that holds the kernel's text: `, const double *restrict u`. */
#define HAUL_DECLARE(index, parameter) HAUL_DECLARE_BY parameter
#define HAUL_DECLARE_BY(access, type, name, count, halo) HAUL_DECLARE_##access(type, name)
#define HAUL_DECLARE_IN(type, name) , HAUL_GLOBAL const type *HAUL_RESTRICT name
#define HAUL_DECLARE_OUT(type, name) , HAUL_GLOBAL type *HAUL_RESTRICT name
#define HAUL_DECLARE_INOUT(type, name) , HAUL_GLOBAL type *HAUL_RESTRICT name
#define HAUL_DECLARE_VALUE(type, name) , type name
#define HAUL_DECLARE_VIEW(type, name) , HAUL_SIGHT name
#define HAUL_DECLARE_SHARED(type, name) , HAUL_LOCAL type *name
#define HAUL_DECLARE_HIDDEN(type, name)
#define HAUL_DECLARE_SUM(type, name) , type *name
#define HAUL_DECLARE_MIN(type, name) , type *name
#define HAUL_DECLARE_MAX(type, name) , type *name
#define HAUL_BODY(name, ...)                                                                       \
    HAUL_FUNCTION void name##_body(                                                                \
        haul_box haul_it HAUL_OWN_CELL HAUL_EACH(HAUL_DECLARE, __VA_ARGS__))

#define HAUL_KERNEL_1D(name, file, ...) HAUL_KERNEL_LOOP(name, file, 1, __VA_ARGS__)
#define HAUL_KERNEL_2D(name, file, ...) HAUL_KERNEL_LOOP(name, file, 2, __VA_ARGS__)
#define HAUL_KERNEL_3D(name, file, ...) HAUL_KERNEL_LOOP(name, file, 3, __VA_ARGS__)

#define HAUL_STENCIL_2D(name, file, ...) HAUL_STENCIL(name, file, 2, __VA_ARGS__)
#define HAUL_STENCIL_3D(name, file, ...) HAUL_STENCIL(name, file, 3, __VA_ARGS__)

#define HAUL_REDUCE_1D(name, file, ...) HAUL_COLLECTIVE_REDUCE(name, file, 1, __VA_ARGS__)
#define HAUL_REDUCE_2D(name, file, ...) HAUL_COLLECTIVE_REDUCE(name, file, 2, __VA_ARGS__)
#define HAUL_REDUCE_3D(name, file, ...) HAUL_COLLECTIVE_REDUCE(name, file, 3, __VA_ARGS__)
#define HAUL_COLLECTIVE_REDUCE(name, file, dims, ...)                                              \
    HAUL_KERNEL_ROWS(name, file, dims, __VA_ARGS__, (HIDDEN, haul_box, whole, 1, -1))

/* A row of a reduction, by the threads of a group, which each take every HAUL_LANES-th cell. */
#define HAUL_ROW1(x) for (int x = haul_it.lo[0]; HAUL_SEE1(x) x < haul_it.hi[0]; x += HAUL_LANES)
#define HAUL_ROW2(x, y)                                                                            \
    for (int y = haul_it.lo[1], x = haul_it.lo[0]; HAUL_SEE2(x, y) x < haul_it.hi[0];              \
         x += HAUL_LANES)
#define HAUL_ROW3(x, y, z)                                                                         \
    for (int z = haul_it.lo[2], y = haul_it.lo[1], x = haul_it.lo[0];                              \
         HAUL_SEE3(x, y, z) x < haul_it.hi[0]; x += HAUL_LANES)

#define HAUL_GROUP(d) haul_it.lo[d]
#define HAUL_GROUPS(d) haul_it.hi[d]

/* Where an array of tiles keeps its cells, in elements: index i of the last dimension is at `plane`
 * times its place in a ring, so that a part of the array takes the place of the whole. */
typedef struct haul_view {
    long plane;
    long row;
    int base;    /* below every index of the launch, and so near that none is two rings above it */
    int ring;    /* 0: no index of the launch is beyond its end */
    long origin; /* where in a plane its first row begins that is there */
} haul_view;

#ifndef HAUL_ON_HOST
typedef struct haul_box {
    int lo[3];
    int hi[3];
} haul_box;
#endif

/* In this form gcc takes the choice out of loops over a row: as one of two places it made vectors
 * with masks, which took two to three times as long in fused steps. */
HAUL_FUNCTION long haul_turn(haul_view view, int index)
{
    index -= view.base;
    return index - (index < view.ring ? 0 : view.ring);
}

/* Where no array of a launch goes beyond its ring's end, compilers are told so: without the test of
 * each index they make vectors of neighbouring cells. */
HAUL_FUNCTION haul_view haul_view_of(haul_view view, int is_flat)
{
    view.ring = is_flat ? 0 : view.ring;
    return view;
}

#define HAUL_CALL_BODY(name, box, ...)                                                             \
    HAUL_CALL_CHECKED(name, box, __VA_ARGS__)                                                      \
    if (1 HAUL_EACH(HAUL_FLAT, __VA_ARGS__)) {                                                     \
        const int haul_is_flat = 1;                                                                \
        (void)haul_is_flat;                                                                        \
        name##_body(box HAUL_NO_CELL HAUL_EACH(HAUL_GIVE, __VA_ARGS__));                           \
    } else {                                                                                       \
        const int haul_is_flat = 0;                                                                \
        (void)haul_is_flat;                                                                        \
        name##_body(box HAUL_NO_CELL HAUL_EACH(HAUL_GIVE, __VA_ARGS__));                           \
    }
#ifndef HAUL_ON_HOST
#define HAUL_CALL_CHECKED(name, box, ...)
#endif
#define HAUL_FLAT(index, parameter) HAUL_FLAT_BY(index, HAUL_OPEN parameter)
#define HAUL_FLAT_BY(index, ...) HAUL_FLAT_TO(index, __VA_ARGS__)
#define HAUL_FLAT_TO(index, access, type, name) HAUL_FLAT_##access(index, name)
#define HAUL_FLAT_IN(index, name)
#define HAUL_FLAT_OUT(index, name)
#define HAUL_FLAT_INOUT(index, name)
#define HAUL_FLAT_VALUE(index, name)
#define HAUL_FLAT_SHARED(index, name)
#define HAUL_FLAT_HIDDEN(index, name)
#define HAUL_FLAT_SUM(index, name)
#define HAUL_FLAT_MIN(index, name)
#define HAUL_FLAT_MAX(index, name)

/* The result of row y of plane z is at z * width + y - origin. In one dimension a row is
 * HAUL_ROW_CELLS cells. */
typedef struct haul_rows {
    double identity; /* what changes no result: the sum's 0 */
    long width;
    long origin;
} haul_rows;

/* A group takes HAUL_GROUP_ROWS rows with HAUL_GROUP_LANES threads. */
#define HAUL_ROW_CELLS 1024
#define HAUL_GROUP_ROWS 8
#define HAUL_GROUP_LANES 64

/* Division that rounds down. */
HAUL_FUNCTION int haul_row_at(int x)
{
    return x >= 0 ? x / HAUL_ROW_CELLS : -((HAUL_ROW_CELLS - 1 - x) / HAUL_ROW_CELLS);
}

HAUL_FUNCTION int haul_row_first(haul_box it, int dims)
{
    return dims == 1 ? haul_row_at(it.lo[0]) : it.lo[1];
}

HAUL_FUNCTION int haul_row_end(haul_box it, int dims)
{
    return dims == 1 ? haul_row_at(it.hi[0] - 1) + 1 : it.hi[1];
}

/* The cells of a box that are in a row; none where the row is beyond the box. */
HAUL_FUNCTION haul_box haul_row_box(haul_box it, int dims, int row, int plane)
{
    const int first = row * HAUL_ROW_CELLS, end = first + HAUL_ROW_CELLS;
    if (row >= haul_row_end(it, dims)) {
        it.hi[0] = it.lo[0];
    } else if (dims == 1) {
        it.lo[0] = it.lo[0] > first ? it.lo[0] : first;
        it.hi[0] = it.hi[0] < end ? it.hi[0] : end;
    }
    it.lo[1] = dims == 1 ? 0 : row;
    it.lo[2] = plane;
    return it;
}

HAUL_FUNCTION long haul_row_place(haul_rows rows, haul_box row, int index)
{
    return row.lo[2] * rows.width + index - rows.origin;
}

/* Before and after a row: m(fold, index, type, name) of each reduction. */
#define HAUL_OPEN_ROW(index, parameter) HAUL_FOLDS(HAUL_OPEN_ROW_OF, index, HAUL_OPEN parameter)
#define HAUL_SHUT_ROW(index, parameter) HAUL_FOLDS(HAUL_SHUT_ROW_OF, index, HAUL_OPEN parameter)
#define HAUL_FOLDS(m, index, ...) HAUL_FOLDS_BY(m, index, __VA_ARGS__)
#define HAUL_FOLDS_BY(m, index, access, type, name) HAUL_FOLDS_##access(m, index, type, name)
#define HAUL_FOLDS_IN(m, index, type, name)
#define HAUL_FOLDS_OUT(m, index, type, name)
#define HAUL_FOLDS_INOUT(m, index, type, name)
#define HAUL_FOLDS_VALUE(m, index, type, name)
#define HAUL_FOLDS_VIEW(m, index, type, name)
#define HAUL_FOLDS_HIDDEN(m, index, type, name)
#define HAUL_FOLDS_SUM(m, index, type, name) m(HAUL_FOLD_SUM, index, type, name)
#define HAUL_FOLDS_MIN(m, index, type, name) m(HAUL_FOLD_MIN, index, type, name)
#define HAUL_FOLDS_MAX(m, index, type, name) m(HAUL_FOLD_MAX, index, type, name)
#define HAUL_OPEN(access, type, name, count, halo) access, type, name
#define HAUL_OPEN_ROW_OF(fold, index, type, name)                                                  \
    type haul_r_##name = (type)HAUL_PLACE_OF(index, name).identity;
#define HAUL_SHUT_ROW_OF(fold, index, type, name)                                                  \
    {                                                                                              \
        HAUL_GLOBAL type *haul_row = HAUL_ROWS_OF(index, type, name) +                             \
                                     haul_row_place(HAUL_PLACE_OF(index, name), haul_it, haul_y);  \
        *haul_row = fold(*haul_row, haul_r_##name);                                                \
    }

/* Several steps of a stencil in one launch. A group goes through the planes of its tile with the
 * steps behind each other, each on a ring of planes in shared memory, and computes again what its
 * neighbours compute at its edges (Nguyen et al., 3.5-D blocking, SC 2010). Where an array is
 * periodic its neighbours are those at the other end: a group goes on there, with the indices that
 * the cells have. Planes are dimension 2 here also of arrays of two dimensions, which have one row.
 */
typedef struct haul_fused {
    haul_box whole; /* the loop's box */
    haul_box part;  /* what the launch sets */
    int halo[3];    /* of a step */
    int edges[3];   /* HAUL_EDGE_FIXED: cells beyond the box keep what each array holds */
    int tile[3];    /* cells that a group sets */
    int steps;      /* odd: the last writes the array that the first writes */
    int width;      /* cells of a ring's row */
    int height;     /* rows of its plane */
    int is_round;   /* planes beyond the box are in the arrays' rings, behind its last one, and
                     * before its first one */
} haul_fused;

/* As haul/tile.h's boundaries. */
#define HAUL_EDGE_FIXED 0
#define HAUL_EDGE_COPIED 1
#define HAUL_EDGE_PERIODIC 2

/* Bytes of shared memory that fused steps use of a group at most: half of what the largest
 * multiprocessor has, 228 KB, less the 1 KB that the system takes of each. */
#define HAUL_GROUP_BYTES 115712

HAUL_FUNCTION int haul_larger(int a, int b)
{
    return a > b ? a : b;
}

HAUL_FUNCTION int haul_smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The cells that a group needs of a step: those that it computes, also round a periodic edge; with
 * `beyond` 1 those beyond fixed edges, too; with 2 those beyond copied ones as well. */
HAUL_FUNCTION haul_box haul_fused_box(haul_fused it, haul_box group, int step, int beyond)
{
    haul_box box;
    for (int d = 0; d < 3; d++) {
        const int more = (it.steps - step) * it.halo[d];
        const int over = beyond > it.edges[d] ? it.halo[d] : 0;
        const int lo = it.part.lo[d] + group.lo[d] * it.tile[d];
        const int hi = haul_smaller(lo + it.tile[d], it.part.hi[d]);
        const bool is_cut = it.edges[d] != HAUL_EDGE_PERIODIC;
        box.lo[d] = is_cut ? haul_larger(lo - more, it.whole.lo[d] - over) : lo - more;
        box.hi[d] = is_cut ? haul_smaller(hi + more, it.whole.hi[d] + over) : hi + more;
    }
    return box;
}

/* The box of a loop over one plane. */
HAUL_FUNCTION haul_box haul_plane_box(haul_box box, int dims, int plane)
{
    box.lo[dims - 1] = plane;
    box.hi[dims - 1] = plane + 1;
    return box;
}

HAUL_FUNCTION bool haul_has_plane(haul_box box, int plane)
{
    return plane >= box.lo[2] && plane < box.hi[2];
}

/* The place of a plane in a ring of `count`. */
HAUL_FUNCTION int haul_ring_place(int plane, int count)
{
    const int at = plane % count;
    return at < 0 ? at + count : at;
}

/* The index whose cell the one at `at` is like: its own within the box and beyond fixed edges. */
HAUL_FUNCTION int haul_fused_index(haul_fused it, int d, int at)
{
    const int lo = it.whole.lo[d], hi = it.whole.hi[d];
    if ((at >= lo && at < hi) || it.edges[d] == HAUL_EDGE_FIXED)
        return at;
    if (it.edges[d] == HAUL_EDGE_COPIED)
        return at < lo ? lo : hi - 1;
    return lo + haul_ring_place(at - lo, hi - lo);
}

/* Beyond copied edges alone. */
HAUL_FUNCTION int haul_fused_nearest(haul_fused it, int d, int at)
{
    return it.edges[d] == HAUL_EDGE_COPIED ? haul_fused_index(it, d, at) : at;
}

/* Where the indices end that follow that of `at` one by one, at `end` at most. */
HAUL_FUNCTION int haul_fused_run(haul_fused it, int d, int at, int end)
{
    const int lo = it.whole.lo[d], hi = it.whole.hi[d];
    if (it.edges[d] == HAUL_EDGE_FIXED)
        return end;
    if (it.edges[d] == HAUL_EDGE_COPIED && (at < lo || at >= hi))
        return at + 1;
    return haul_smaller(end, at + hi - haul_fused_index(it, d, at));
}

HAUL_FUNCTION bool haul_fused_copies(haul_fused it)
{
    return it.edges[0] == HAUL_EDGE_COPIED || it.edges[1] == HAUL_EDGE_COPIED ||
           it.edges[2] == HAUL_EDGE_COPIED;
}

/* A view in which cells are found at indices so much larger; `place` is that of a row's cells. */
HAUL_FUNCTION haul_view haul_view_moved(haul_view view, int planes, long place)
{
    view.base += planes;
    view.origin += place;
    return view;
}

/* A ring of planes from `lowest` on. */
HAUL_FUNCTION haul_view haul_fused_view(haul_fused it, haul_box group, int lowest)
{
    const int count = 2 * it.halo[2] + 1;
    const int x = it.part.lo[0] + group.lo[0] * it.tile[0] - it.steps * it.halo[0];
    const int y = it.part.lo[1] + group.lo[1] * it.tile[1] - it.steps * it.halo[1];
    haul_view view;
    view.plane = (long)it.width * it.height;
    view.row = it.width;
    view.base = lowest - haul_ring_place(lowest, count);
    view.ring = count;
    view.origin = (long)y * it.width + x;
    return view;
}

/* Where a row's cell 0 is. */
HAUL_FUNCTION long haul_row_start(haul_view view, int y, int plane)
{
    return haul_turn(view, plane) * view.plane - view.origin + y * view.row;
}

#define HAUL_NAME_OF(access, type, name, count, halo) name
#define HAUL_TYPE_OF(access, type, name, count, halo) type
#define HAUL_STENCIL_TYPE(...) HAUL_STENCIL_TYPE_BY(__VA_ARGS__, 0)
#define HAUL_STENCIL_TYPE_BY(first, ...) HAUL_TYPE_OF first

/* The body's arguments: rings in place of the first two arrays, then the other arrays, which are
 * read where they are, and the kernel's values. */
#define HAUL_MARCH_BODY(body, box, in, in_view, out, out_view, ...)                                \
    body(box HAUL_NO_CELL, haul_from, HAUL_SIGHT_OF(haul_from_here), haul_into,                    \
         HAUL_SIGHT_OF(haul_into_here) HAUL_EACH(HAUL_MARCH_GIVE, __VA_ARGS__))
#define HAUL_MARCH_GIVE(index, parameter) HAUL_MARCH_GIVE_BY parameter
#define HAUL_MARCH_GIVE_BY(access, type, name, count, halo) HAUL_MARCH_GIVE_##access(name)
#define HAUL_MARCH_GIVE_VALUE(name) , name
#define HAUL_MARCH_GIVE_IN(name) , name
#define HAUL_MARCH_GIVE_VIEW(name)                                                                 \
    , HAUL_SIGHT_OF(haul_view_moved(HAUL_VIEW_OF(name), haul_turned, 0))
#define HAUL_MARCH_GIVE_NONE(name)
#define HAUL_MARCH_ARRAYS(type, in, in_view, out, out_view, ...)                                   \
    HAUL_GLOBAL const type *haul_in = HAUL_NAME_OF in;                                             \
    HAUL_GLOBAL type *haul_out = HAUL_NAME_OF out;                                                 \
    const haul_view haul_in_view = HAUL_VIEW_OF(HAUL_NAME_OF in_view);                             \
    const haul_view haul_out_view = HAUL_VIEW_OF(HAUL_NAME_OF out_view);

/* fetch: cells of a plane that are in `box` and not in `but`, from an array's plane to a ring.
 * copy: cells of a ring's plane beyond copied edges, from `from_plane`; where that is another one,
 * all of them. march: step s does plane top - s * halo when plane `top` has come. The last step's
 * plane takes the place of the oldest of the first ring, which no step reads any more. Planes
 * before a copied edge are set with the first one behind it. */
#define HAUL_MARCH(name, dims, type, ...)                                                          \
    HAUL_FUNCTION void name##_fetch(                                                               \
        haul_fused it, haul_box box, haul_box but, int plane, HAUL_LOCAL type *to,                 \
        haul_view to_view, HAUL_GLOBAL const type *from, haul_view from_view, int from_plane)      \
    {                                                                                              \
        for (int y = box.lo[1] + HAUL_MARCH_FROM(1); y < box.hi[1]; y += HAUL_MARCH_BY(1)) {       \
            const bool is_cut = haul_has_plane(but, plane) && y >= but.lo[1] && y < but.hi[1];     \
            const long to_row = haul_row_start(to_view, y, plane);                                 \
            const long from_row =                                                                  \
                haul_row_start(from_view, haul_fused_index(it, 1, y), from_plane);                 \
            for (int at = box.lo[0], end; at < box.hi[0]; at = end) {                              \
                if (is_cut && at == but.lo[0] && but.lo[0] < but.hi[0]) {                          \
                    end = but.hi[0];                                                               \
                    continue;                                                                      \
                }                                                                                  \
                end = is_cut && at < but.lo[0] ? but.lo[0] : box.hi[0];                            \
                end = haul_fused_run(it, 0, at, end);                                              \
                const long more = from_row + haul_fused_index(it, 0, at) - at;                     \
                for (int x = at + HAUL_MARCH_FROM(0); x < end; x += HAUL_MARCH_BY(0))              \
                    to[to_row + x] = from[more + x];                                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    HAUL_FUNCTION void name##_copy(haul_fused it, haul_box box, int plane, int from_plane,         \
                                   HAUL_LOCAL type *ring, haul_view view)                          \
    {                                                                                              \
        for (int y = box.lo[1] + HAUL_MARCH_FROM(1); y < box.hi[1]; y += HAUL_MARCH_BY(1)) {       \
            const int from_y = haul_fused_nearest(it, 1, y);                                       \
            const bool is_all = plane != from_plane || y != from_y;                                \
            const long to_row = haul_row_start(view, y, plane);                                    \
            const long from_row = haul_row_start(view, from_y, from_plane);                        \
            for (int x = box.lo[0] + HAUL_MARCH_FROM(0); x < box.hi[0]; x += HAUL_MARCH_BY(0)) {   \
                const int from_x = haul_fused_nearest(it, 0, x);                                   \
                if (is_all || x != from_x)                                                         \
                    ring[to_row + x] = ring[from_row + from_x];                                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    HAUL_FUNCTION void name##_store(haul_box box, int plane, HAUL_GLOBAL type *to,                 \
                                    haul_view to_view, HAUL_LOCAL const type *from,                \
                                    haul_view from_view)                                           \
    {                                                                                              \
        for (int y = box.lo[1] + HAUL_MARCH_FROM(1); y < box.hi[1]; y += HAUL_MARCH_BY(1)) {       \
            const long to_row = haul_row_start(to_view, y, plane);                                 \
            const long from_row = haul_row_start(from_view, y, plane);                             \
            for (int x = box.lo[0] + HAUL_MARCH_FROM(0); x < box.hi[0]; x += HAUL_MARCH_BY(0))     \
                to[to_row + x] = from[from_row + x];                                               \
        }                                                                                          \
    }                                                                                              \
    HAUL_FUNCTION void name##_march(                                                               \
        haul_box haul_group, haul_fused haul_it,                                                   \
        HAUL_LOCAL type *haul_rings HAUL_EACH(HAUL_DECLARE, __VA_ARGS__))                          \
    {                                                                                              \
        HAUL_MARCH_ARRAYS(type, __VA_ARGS__, 0)                                                    \
        const int haul_halo = haul_it.halo[2], haul_count = 2 * haul_halo + 1;                     \
        const int haul_steps = haul_it.steps;                                                      \
        const long haul_plane = (long)haul_it.width * haul_it.height;                              \
        const haul_box haul_all = haul_fused_box(haul_it, haul_group, 0, 2);                       \
        const haul_box haul_set = haul_fused_box(haul_it, haul_group, haul_steps, 0);              \
        const int haul_end = haul_set.hi[2] + haul_steps * haul_halo;                              \
        haul_box haul_none = haul_all;                                                             \
        haul_none.hi[2] = haul_none.lo[2];                                                         \
        for (int haul_top = haul_all.lo[2]; haul_top < haul_end; haul_top++) {                     \
            HAUL_LOCAL type *haul_oldest =                                                         \
                haul_rings + haul_ring_place(haul_top - 2 * haul_halo, haul_count) * haul_plane;   \
            haul_view haul_into_view = haul_fused_view(haul_it, haul_group, haul_top);             \
            if (haul_has_plane(haul_all, haul_top))                                                \
                name##_fetch(haul_it, haul_all, haul_none, haul_top, haul_rings, haul_into_view,   \
                             haul_in, haul_in_view,                                                \
                             haul_it.is_round ? haul_top                                           \
                                              : haul_fused_index(haul_it, 2, haul_top));           \
            HAUL_MARCH_BARRIER;                                                                    \
            for (int haul_s = 1; haul_s <= haul_steps; haul_s++) {                                 \
                const int haul_p = haul_top - haul_s * haul_halo;                                  \
                const int haul_index = haul_fused_index(haul_it, 2, haul_p);                       \
                const int haul_turned = haul_it.is_round ? haul_index - haul_p : 0;                \
                const bool haul_is_last = haul_s == haul_steps;                                    \
                const haul_box haul_near = haul_fused_box(haul_it, haul_group, haul_s, 0);         \
                const haul_box haul_over = haul_fused_box(haul_it, haul_group, haul_s, 1);         \
                const haul_box haul_far = haul_fused_box(haul_it, haul_group, haul_s, 2);          \
                HAUL_LOCAL const type *haul_from =                                                 \
                    haul_rings + (haul_s - 1) * haul_count * haul_plane;                           \
                HAUL_LOCAL type *haul_into =                                                       \
                    haul_is_last ? haul_oldest : haul_rings + haul_s * haul_count * haul_plane;    \
                const haul_view haul_from_view =                                                   \
                    haul_fused_view(haul_it, haul_group, haul_p - haul_halo);                      \
                haul_into_view = haul_fused_view(haul_it, haul_group, haul_p);                     \
                if (haul_is_last)                                                                  \
                    haul_into_view.base = haul_p;                                                  \
                else if (haul_has_plane(haul_over, haul_p))                                        \
                    name##_fetch(haul_it, haul_over, haul_near, haul_p, haul_into, haul_into_view, \
                                 haul_s % 2 ? haul_out : haul_in,                                  \
                                 haul_s % 2 ? haul_out_view : haul_in_view,                        \
                                 haul_index - haul_turned);                                        \
                haul_box haul_run = haul_plane_box(haul_near, 3, haul_index);                      \
                for (int haul_y = haul_near.lo[1], haul_next;                                      \
                     haul_y < haul_near.hi[1] && haul_has_plane(haul_near, haul_p);                \
                     haul_y = haul_next) {                                                         \
                    haul_next = haul_fused_run(haul_it, 1, haul_y, haul_near.hi[1]);               \
                    haul_run.lo[1] = haul_fused_index(haul_it, 1, haul_y);                         \
                    haul_run.hi[1] = haul_run.lo[1] + haul_next - haul_y;                          \
                    for (int haul_x = haul_near.lo[0], haul_last; haul_x < haul_near.hi[0];        \
                         haul_x = haul_last) {                                                     \
                        haul_last = haul_fused_run(haul_it, 0, haul_x, haul_near.hi[0]);           \
                        haul_run.lo[0] = haul_fused_index(haul_it, 0, haul_x);                     \
                        haul_run.hi[0] = haul_run.lo[0] + haul_last - haul_x;                      \
                        const long haul_moved = haul_run.lo[0] - haul_x +                          \
                                                (haul_run.lo[1] - haul_y) * haul_from_view.row;    \
                        const haul_view haul_from_here =                                           \
                            haul_view_moved(haul_from_view, haul_index - haul_p, haul_moved);      \
                        const haul_view haul_into_here =                                           \
                            haul_view_moved(haul_into_view, haul_index - haul_p, haul_moved);      \
                        HAUL_MARCH_BODY(name##_body, haul_plane_box(haul_run, dims, haul_index),   \
                                        __VA_ARGS__, (NONE, 0, 0, 0, 0));                          \
                    }                                                                              \
                }                                                                                  \
                if (haul_fused_copies(haul_it) && !haul_is_last) {                                 \
                    const bool haul_is_cut = haul_it.edges[2] == HAUL_EDGE_COPIED;                 \
                    HAUL_MARCH_BARRIER;                                                            \
                    if (haul_has_plane(haul_far, haul_p) &&                                        \
                        !(haul_is_cut && haul_p < haul_it.whole.lo[2]))                            \
                        name##_copy(haul_it, haul_far, haul_p,                                     \
                                    haul_fused_nearest(haul_it, 2, haul_p), haul_into,             \
                                    haul_from_view);                                               \
                    for (int haul_k = haul_far.lo[2];                                              \
                         haul_k < haul_p && haul_is_cut && haul_p == haul_it.whole.lo[2];          \
                         haul_k++)                                                                 \
                        name##_copy(haul_it, haul_far, haul_k, haul_p, haul_into, haul_from_view); \
                }                                                                                  \
                HAUL_MARCH_BARRIER;                                                                \
            }                                                                                      \
            if (haul_has_plane(haul_set, haul_top - haul_steps * haul_halo))                       \
                name##_store(haul_set, haul_top - haul_steps * haul_halo, haul_out, haul_out_view, \
                             haul_oldest, haul_into_view);                                         \
            HAUL_MARCH_BARRIER;                                                                    \
        }                                                                                          \
    }

#ifdef HAUL_ON_HOST
#include "haul/kernel_host.h"
#else /* a device ---------------------------------------------------------------------------- */

#define HAUL_KERNEL_FILE(label)

#ifdef HAUL_ON_OPENCL
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#define HAUL_ENTRY kernel void
#define HAUL_KERNEL_START(width, height)                                                           \
    kernel __attribute__((reqd_work_group_size(width, height, 1))) void
#define HAUL_GLOBAL global
#define HAUL_LOCAL local
#define HAUL_RESTRICT restrict
#define HAUL_MULTIPLY_ADD(a, b, c) mad(a, b, c)
#define HAUL_ADD_TO(at, value)                                                                     \
    (sizeof(*(at)) == sizeof(long)                                                                 \
         ? HAUL_ADD_LONG(at, (__typeof__(*(at) + 0))(value))                                       \
         : (void)atomic_add((volatile global int *)(at), (int)(__typeof__(*(at) + 0))(value)))
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define HAUL_ADD_LONG(at, value) (void)atom_add((volatile global long *)(at), (long)(value))
#else
#define HAUL_ADD_LONG(at, value) (void)0 /* of no type that there is */
#endif
#define HAUL_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define HAUL_THREAD(d) ((int)get_local_id(d))
#define HAUL_BLOCK(d) ((int)get_group_id(d))
#define HAUL_UNIT_ID(d) ((int)get_global_id(d))
#define HAUL_IDS ((int)get_global_size(0))
/* A buffer has no address before the kernel runs, so its offset is an argument of its own. */
#define HAUL_TAKE_IN(type, name) , global const char *haul_p_##name, ulong haul_o_##name
#define HAUL_TAKE_OUT(type, name) , global char *haul_p_##name, ulong haul_o_##name
#define HAUL_GIVE_IN(type, name) , (global const type *)(haul_p_##name + haul_o_##name)
#define HAUL_GIVE_OUT(type, name) , (global type *)(haul_p_##name + haul_o_##name)
#define HAUL_SHARE_SHARED(type, name, count) local type haul_v_##name[count];
#define HAUL_SHARE_RINGS(type) HAUL_SHARE_SHARED(type, rings, HAUL_FUSED_BYTES / sizeof(type))
#define HAUL_ROWS_OF(index, type, name) ((global type *)(haul_p_##name + haul_o_##name))
#define HAUL_LANES_OF(fold, index, type, name) local type haul_l_##name[HAUL_GROUP_LANES];
#else
#define HAUL_ENTRY extern "C" __global__ void
#define HAUL_KERNEL_START(width, height)                                                           \
    extern "C" __global__ void __launch_bounds__((width) * (height))
#define HAUL_GLOBAL
#define HAUL_LOCAL
#define HAUL_RESTRICT __restrict__
#define HAUL_MULTIPLY_ADD(a, b, c) fma(a, b, c)
#define HAUL_ADD_TO(at, value) haul_add_to(at, value)
HAUL_FUNCTION void haul_add_to(int *at, int value)
{
    atomicAdd(at, value);
}
HAUL_FUNCTION void haul_add_to(unsigned *at, unsigned value)
{
    atomicAdd(at, value);
}
HAUL_FUNCTION void haul_add_to(long *at, long value)
{
    atomicAdd((unsigned long long *)at, (unsigned long long)value);
}
/* The host runs loops that add floating-point values: here they are only compiled. */
HAUL_FUNCTION void haul_add_to(float *at, float value)
{
    *at += value;
}
HAUL_FUNCTION void haul_add_to(double *at, double value)
{
    *at += value;
}
#define HAUL_BARRIER __syncthreads()
#define HAUL_OF(v, d) ((int)((d) == 0 ? v.x : (d) == 1 ? v.y : v.z))
#define HAUL_THREAD(d) HAUL_OF(threadIdx, d)
#define HAUL_BLOCK(d) HAUL_OF(blockIdx, d)
#define HAUL_UNIT_ID(d) (HAUL_BLOCK(d) * HAUL_OF(blockDim, d) + HAUL_THREAD(d))
#define HAUL_TAKE_IN(type, name) , const type *HAUL_RESTRICT haul_v_##name
#define HAUL_TAKE_OUT(type, name) , type *HAUL_RESTRICT haul_v_##name
#define HAUL_GIVE_IN(type, name) , haul_v_##name
#define HAUL_GIVE_OUT(type, name) , haul_v_##name
#define HAUL_SHARE_SHARED(type, name, count) __shared__ type haul_v_##name[count];
/* More than 48 KB come only with the launch. A name has one type in all of a file's kernels. */
#define HAUL_SHARE_RINGS(type)                                                                     \
    alignas(16) extern __shared__ char haul_dynamic[];                                             \
    type *haul_v_rings = (type *)haul_dynamic;
#define HAUL_ROWS_OF(index, type, name) haul_v_##name
#define HAUL_LANES_OF(fold, index, type, name) __shared__ type haul_l_##name[HAUL_GROUP_LANES];
#endif

/* One index per thread of a GPU; a row per work-item on a CPU, whose compiler vectorises it. In
 * fused steps the threads of a group share a box, which is one work-item's on a CPU. */
#define HAUL_LAST(d) haul_it.hi[d]
#ifdef HAUL_FUSED_BYTES
#define HAUL_IS_ALONE (HAUL_FUSED_WIDTH * HAUL_FUSED_HEIGHT == 1)
#define HAUL_MARCH_FROM(d) (HAUL_IS_ALONE ? 0 : HAUL_THREAD(d))
#define HAUL_MARCH_BY(d) ((d) ? HAUL_FUSED_HEIGHT : HAUL_FUSED_WIDTH)
#define HAUL_FOR1(x)                                                                               \
    for (int x = haul_it.lo[0] + HAUL_MARCH_FROM(0); x < HAUL_LAST(0); x += HAUL_MARCH_BY(0))
#define HAUL_FOR2(x, y)                                                                            \
    for (int y = haul_it.lo[1] + HAUL_MARCH_FROM(1); y < HAUL_LAST(1); y += HAUL_MARCH_BY(1))      \
        HAUL_FOR1 (x)
#define HAUL_FOR3(x, y, z)                                                                         \
    for (int z = haul_it.lo[2]; z < HAUL_LAST(2); z++)                                             \
        HAUL_FOR2 (x, y)
#elif defined(HAUL_ROWS)
#define HAUL_FOR1(x)                                                                               \
    for (int x = haul_part(haul_it, HAUL_UNIT_ID(0)),                                              \
             haul_last = haul_part(haul_it, HAUL_UNIT_ID(0) + 1);                                  \
         x < haul_last; x++)
#define HAUL_FOR2(x, y)                                                                            \
    for (int y = haul_it.lo[1] + HAUL_UNIT_ID(0),                                                  \
             x = y < HAUL_LAST(1) ? haul_it.lo[0] : HAUL_LAST(0);                                  \
         x < HAUL_LAST(0); x++)
#define HAUL_FOR3(x, y, z)                                                                         \
    for (int z = haul_it.lo[2] + HAUL_UNIT_ID(1), y = haul_it.lo[1] + HAUL_UNIT_ID(0),             \
             x = y < HAUL_LAST(1) && z < HAUL_LAST(2) ? haul_it.lo[0] : HAUL_LAST(0);              \
         x < HAUL_LAST(0); x++)

/* Where the work-item's part of a loop over x begins. */
HAUL_FUNCTION int haul_part(haul_box it, int id)
{
    return it.lo[0] + (int)((long)(it.hi[0] - it.lo[0]) * id / HAUL_IDS);
}
#else
#define HAUL_FOR1(x)                                                                               \
    for (int x = haul_it.lo[0] + HAUL_UNIT_ID(0); x < HAUL_LAST(0); x = HAUL_LAST(0))
#define HAUL_FOR2(x, y)                                                                            \
    for (int y = haul_it.lo[1] + HAUL_UNIT_ID(1), x = haul_it.lo[0] + HAUL_UNIT_ID(0);             \
         x < HAUL_LAST(0) && y < HAUL_LAST(1); x = HAUL_LAST(0))
#define HAUL_FOR3(x, y, z)                                                                         \
    for (int z = haul_it.lo[2] + HAUL_UNIT_ID(2), y = haul_it.lo[1] + HAUL_UNIT_ID(1),             \
             x = haul_it.lo[0] + HAUL_UNIT_ID(0);                                                  \
         x < HAUL_LAST(0) && y < HAUL_LAST(1) && z < HAUL_LAST(2); x = HAUL_LAST(0))
#endif

#define HAUL_THREADS(x, width, y, height)                                                          \
    for (int x = HAUL_THREAD(0), y = HAUL_THREAD(1), haul_once = 1; haul_once; haul_once = 0)
#define HAUL_PRIVATE(type, name, width, height) type name
#define HAUL_MINE(name, x, y) name

#define HAUL_TAKE(index, parameter) HAUL_TAKE_BY parameter
#define HAUL_TAKE_BY(access, type, name, count, halo) HAUL_TAKE_##access(type, name)
#define HAUL_TAKE_INOUT(type, name) HAUL_TAKE_OUT(type, name)
#define HAUL_TAKE_VALUE(type, name) , type haul_v_##name
#define HAUL_TAKE_VIEW(type, name) , type haul_v_##name
#define HAUL_TAKE_SHARED(type, name)
#define HAUL_TAKE_HIDDEN(type, name) , type haul_v_##name
#define HAUL_TAKE_SUM(type, name) HAUL_TAKE_OUT(type, name)
#define HAUL_TAKE_MIN(type, name) HAUL_TAKE_OUT(type, name)
#define HAUL_TAKE_MAX(type, name) HAUL_TAKE_OUT(type, name)
#define HAUL_GIVE(index, parameter) HAUL_GIVE_BY parameter
#define HAUL_GIVE_BY(access, type, name, count, halo) HAUL_GIVE_##access(type, name)
#define HAUL_GIVE_INOUT(type, name) HAUL_GIVE_OUT(type, name)
#define HAUL_GIVE_VALUE(type, name) , haul_v_##name
#define HAUL_GIVE_VIEW(type, name) , haul_view_of(haul_v_##name, haul_is_flat)
#define HAUL_FLAT_VIEW(index, name) &&!haul_v_##name.ring
#define HAUL_GIVE_SHARED(type, name) , haul_v_##name
#define HAUL_GIVE_HIDDEN(type, name)
#define HAUL_GIVE_SUM(type, name) , &haul_r_##name
#define HAUL_GIVE_MIN(type, name) , &haul_r_##name
#define HAUL_GIVE_MAX(type, name) , &haul_r_##name
#define HAUL_PLACE_OF(index, name) haul_v_##name##_place
#define HAUL_UNIT_SHARE(index, parameter) HAUL_SHARE_BY parameter
#define HAUL_SHARE_BY(access, type, name, count, halo) HAUL_SHARE_##access(type, name, count)
#define HAUL_SHARE_IN(type, name, count)
#define HAUL_SHARE_OUT(type, name, count)
#define HAUL_SHARE_INOUT(type, name, count)
#define HAUL_SHARE_VALUE(type, name, count)
#define HAUL_SHARE_VIEW(type, name, count)

#define HAUL_KERNEL_LOOP(name, file, dims, ...)                                                    \
    HAUL_BODY(name, __VA_ARGS__);                                                                  \
    HAUL_ENTRY name(haul_box haul_it HAUL_EACH(HAUL_TAKE, __VA_ARGS__)){                           \
        HAUL_CALL_BODY(name, haul_it, __VA_ARGS__)} HAUL_BODY(name, __VA_ARGS__)

#ifdef HAUL_FUSED_BYTES
#if HAUL_FUSED_WIDTH * HAUL_FUSED_HEIGHT == 1
#define HAUL_MARCH_BARRIER
#else
#define HAUL_MARCH_BARRIER HAUL_BARRIER
#endif
#define HAUL_NEAR_BODY(name, ...) HAUL_NEAR_BODY_BY(name, __VA_ARGS__, (NONE, 0, 0, 0, 0))
#define HAUL_NEAR_BODY_BY(name, in, in_view, out, out_view, ...)                                   \
    HAUL_FUNCTION void name##_body(                                                                \
        haul_box haul_it, HAUL_LOCAL const HAUL_TYPE_OF in *HAUL_RESTRICT HAUL_NAME_OF in,         \
        haul_view HAUL_NAME_OF in_view,                                                            \
        HAUL_LOCAL HAUL_TYPE_OF out *HAUL_RESTRICT HAUL_NAME_OF out,                               \
        haul_view HAUL_NAME_OF out_view HAUL_EACH(HAUL_DECLARE, __VA_ARGS__))
#define HAUL_DECLARE_NONE(type, name)
#define HAUL_STENCIL(name, file, dims, ...)                                                        \
    HAUL_NEAR_BODY(name, __VA_ARGS__);                                                             \
    HAUL_MARCH(name, dims, HAUL_STENCIL_TYPE(__VA_ARGS__), __VA_ARGS__)                            \
    HAUL_KERNEL_START(HAUL_FUSED_WIDTH, HAUL_FUSED_HEIGHT)                                         \
    name(haul_box haul_it HAUL_EACH(HAUL_TAKE, __VA_ARGS__), haul_fused haul_v_fused)              \
    {                                                                                              \
        HAUL_SHARE_RINGS(HAUL_STENCIL_TYPE(__VA_ARGS__))                                           \
        const int haul_is_flat = 0;                                                                \
        haul_box haul_group = haul_it;                                                             \
        haul_group.lo[0] += HAUL_BLOCK(0);                                                         \
        haul_group.lo[1] += HAUL_BLOCK(1);                                                         \
        haul_group.lo[2] += HAUL_BLOCK(2);                                                         \
        name##_march(haul_group, haul_v_fused, haul_v_rings HAUL_EACH(HAUL_GIVE, __VA_ARGS__));    \
    }                                                                                              \
    HAUL_NEAR_BODY(name, __VA_ARGS__)
#else
#define HAUL_STENCIL(name, file, dims, ...) HAUL_KERNEL_LOOP(name, file, dims, __VA_ARGS__)
#endif

#define HAUL_KERNEL_GROUPS(name, file, width, height, ...)                                         \
    HAUL_BODY(name, __VA_ARGS__);                                                                  \
    HAUL_KERNEL_START(width, height) name(haul_box haul_it HAUL_EACH(HAUL_TAKE, __VA_ARGS__))      \
    {                                                                                              \
        HAUL_EACH(HAUL_UNIT_SHARE, __VA_ARGS__)                                                    \
        /* A copy, for PoCL's work-items share a parameter, and plain indices, for PoCL 6 knows no \
         * others of a group. */                                                                   \
        haul_box haul_group = haul_it;                                                             \
        haul_group.lo[0] += HAUL_BLOCK(0);                                                         \
        haul_group.lo[1] += HAUL_BLOCK(1);                                                         \
        haul_group.lo[2] += HAUL_BLOCK(2);                                                         \
        name##_body(haul_group HAUL_EACH(HAUL_GIVE, __VA_ARGS__));                                 \
    }                                                                                              \
    HAUL_BODY(name, __VA_ARGS__)

/* Rows of a reduction: on a CPU one each for the first work-items of a group, else one after
 * another by all, whose results are then folded two by two. */
#ifdef HAUL_ROWS
#define HAUL_LANES 1
#define HAUL_ROWS_HERE(name, ...)                                                                  \
    for (int haul_y = haul_first + HAUL_THREAD(0), haul_once = HAUL_THREAD(0) < HAUL_GROUP_ROWS;   \
         haul_once && haul_y < haul_end; haul_once = 0) {                                          \
        const haul_box haul_it = haul_row_box(haul_v_whole, haul_dims, haul_y, haul_z);            \
        HAUL_EACH(HAUL_OPEN_ROW, __VA_ARGS__)                                                      \
        HAUL_CALL_BODY(name, haul_it, __VA_ARGS__)                                                 \
        HAUL_EACH(HAUL_SHUT_ROW, __VA_ARGS__)                                                      \
    }
#else
#define HAUL_LANES HAUL_GROUP_LANES
#define HAUL_ROWS_HERE(name, ...)                                                                  \
    HAUL_EACH(HAUL_LANE, __VA_ARGS__)                                                              \
    for (int haul_y = haul_first; haul_y < haul_first + HAUL_GROUP_ROWS; haul_y++) {               \
        const int haul_t = HAUL_THREAD(0);                                                         \
        haul_box haul_it = haul_row_box(haul_v_whole, haul_dims, haul_y, haul_z);                  \
        HAUL_EACH(HAUL_OPEN_ROW, __VA_ARGS__)                                                      \
        haul_it.lo[0] += haul_t;                                                                   \
        HAUL_CALL_BODY(name, haul_it, __VA_ARGS__)                                                 \
        HAUL_EACH(HAUL_FOLD_ROW, __VA_ARGS__)                                                      \
        if (!haul_t && haul_y < haul_end) {                                                        \
            HAUL_EACH(HAUL_SHUT_ROW, __VA_ARGS__)                                                  \
        }                                                                                          \
    }
#define HAUL_LANE(index, parameter) HAUL_FOLDS(HAUL_LANES_OF, index, HAUL_OPEN parameter)
#define HAUL_FOLD_ROW(index, parameter) HAUL_FOLDS(HAUL_FOLD_ROW_OF, index, HAUL_OPEN parameter)
#define HAUL_FOLD_ROW_OF(fold, index, type, name)                                                  \
    haul_l_##name[haul_t] = haul_r_##name;                                                         \
    HAUL_BARRIER;                                                                                  \
    for (int haul_n = HAUL_GROUP_LANES / 2; haul_n; haul_n /= 2) {                                 \
        if (haul_t < haul_n)                                                                       \
            haul_l_##name[haul_t] = fold(haul_l_##name[haul_t], haul_l_##name[haul_t + haul_n]);   \
        HAUL_BARRIER;                                                                              \
    }                                                                                              \
    haul_r_##name = haul_l_##name[0];                                                              \
    HAUL_BARRIER;
#endif

#define HAUL_KERNEL_ROWS(name, file, dims, ...)                                                    \
    HAUL_BODY(name, __VA_ARGS__);                                                                  \
    HAUL_KERNEL_START(HAUL_GROUP_LANES, 1)                                                         \
    name(haul_box haul_group HAUL_EACH(HAUL_TAKE, __VA_ARGS__))                                    \
    {                                                                                              \
        const int haul_dims = dims;                                                                \
        const int haul_z = haul_dims == 3 ? haul_v_whole.lo[2] + HAUL_BLOCK(2) : 0;                \
        const int haul_first =                                                                     \
            haul_row_first(haul_v_whole, haul_dims) + HAUL_BLOCK(1) * HAUL_GROUP_ROWS;             \
        const int haul_end = haul_row_end(haul_v_whole, haul_dims);                                \
        (void)haul_group;                                                                          \
        HAUL_ROWS_HERE(name, __VA_ARGS__)                                                          \
    }                                                                                              \
    HAUL_BODY(name, __VA_ARGS__)

#endif
#endif
