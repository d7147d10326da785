/* Accesses of kernels to arrays of tiles on the host, which a loop can be given to be checked: the
 * view then knows what the kernel may use. Part of haul/kernel_source.h, which includes it on the
 * host alone: devices do not compile it. */
#ifndef HAUL_KERNEL_CHECK_H
#define HAUL_KERNEL_CHECK_H

#include "haul/kernel_source.h"

/* Within the loops that use them, so that compilers make vectors of these. Where nothing is
 * optimized no loop is faster by it, and a file of loops takes several times as long to compile. */
#ifdef __OPTIMIZE__
#define HAUL_INLINE __attribute__((always_inline))
#else
#define HAUL_INLINE
#endif
#define HAUL_ALWAYS static inline HAUL_INLINE

/* The first access of a loop that its kernel does not declare. */
typedef struct haul_fault {
    int is_taken; /* set by the first thread that finds one */
    int line;
    int parameter;
    int dims; /* of the access */
    int own[3];
    long cell[3];
} haul_fault;

/* The part of an array that a kernel may use, where accesses are checked. */
typedef struct haul_bounds {
    int dims;       /* of the array */
    int more;       /* dimensions that it has more than the kernel */
    int halo;       /* around the kernel's own cell; negative: any cell */
    bool is_within; /* lo and hi hold for all dimensions, not for the first `more` alone */
    int lo[3];      /* with cells beyond the edges */
    int hi[3];
    int quick; /* the array's dimensions where `halo` alone decides; where lo and hi do, negative;
                * else 0 */
    int parameter;
    haul_fault *fault;
} haul_bounds;

/* A view that a loop is given to be checked: its ring is negative. */
typedef struct haul_checked_view {
    haul_view view;
    haul_bounds bounds;
} haul_checked_view;

/* A view as the kernel's text has it, and the cell that it computes. */
typedef struct haul_sight {
    haul_view view;
    bool is_checked;
    haul_bounds bounds; /* a copy: stores to arrays do not change it */
} haul_sight;

/* The cell that the kernel computes. Where `far` is given, accesses that are not declared only set
 * their array's bit there. */
typedef struct haul_own {
    int at[3];
    unsigned *far;
} haul_own;

HAUL_FUNCTION haul_own haul_own_of(unsigned *far)
{
    haul_own own = {{0, 0, 0}, NULL};
    own.far = far;
    return own;
}

HAUL_FUNCTION haul_sight haul_sight_of(haul_view view, const haul_bounds *bounds)
{
    haul_sight sight;
    sight.view = view;
    sight.is_checked = bounds != NULL;
    if (bounds)
        sight.bounds = *bounds;
    return sight;
}

/* The place of a cell that quick tests do not pass. Notes an access that is not declared, and takes
 * a cell for it that is. */
#ifdef __cplusplus
extern "C"
#endif
    HAUL_API long
    haul_place_checked(haul_sight in, haul_own own, const int line_and_dims[2], long x, long y,
                       long z);

/* Notes an access that was counted, and that the call that was to tell of it did not do again. */
#ifdef __cplusplus
extern "C"
#endif
    HAUL_API void
    haul_fault_settle(const haul_bounds *bounds, unsigned far);

/* Whether an index is farther from the kernel's own than declared. In int: compilers see that it
 * does not change in a loop over neighbours, and compute it once. Answers are unsigned, as they are
 * joined without branches, of which compilers warn for a bool. */
HAUL_ALWAYS unsigned haul_is_far(int halo, int me, long index)
{
    const unsigned is_far =
        (unsigned)(int)index - (unsigned)me + (unsigned)halo > 2 * (unsigned)halo;
    const unsigned is_wide = index != (int)index;
    return is_far | is_wide;
}

HAUL_ALWAYS unsigned haul_is_outside(const haul_bounds *bounds, int d, long index)
{
    const unsigned is_below = index < bounds->lo[d], is_above = index >= bounds->hi[d];
    return is_below | is_above;
}

/* The index where it is declared, else the kernel's own: without a branch, and the distance alone
 * is chosen, so that compilers make vectors of neighbouring cells. */
HAUL_ALWAYS long haul_near(const haul_sight *in, const haul_own *own, int dims, int d, long index)
{
    const int me = own->at[d];
    const unsigned is_slow = in->bounds.quick != dims;
    const unsigned is_far = is_slow | haul_is_far(in->bounds.halo, me, index);
    *own->far |= is_far << in->bounds.parameter;
    return me + (is_far ? 0 : index - me);
}

HAUL_ALWAYS long haul_place_3(const haul_sight *in, const haul_own *own, long x, long y, long z,
                              int line)
{
    const haul_bounds *bounds = &in->bounds;
    const int line_and_dims[2] = {line, 3}, quick = bounds->quick;
    if (own->far) {
        x = haul_near(in, own, 3, 0, x);
        y = haul_near(in, own, 3, 1, y);
        z = haul_near(in, own, 3, 2, z);
    } else if (in->is_checked &&
               (quick == 3 ? haul_is_far(bounds->halo, own->at[0], x) |
                                 haul_is_far(bounds->halo, own->at[1], y) |
                                 haul_is_far(bounds->halo, own->at[2], z)
                : quick == -3 ? haul_is_outside(bounds, 0, x) | haul_is_outside(bounds, 1, y) |
                                    haul_is_outside(bounds, 2, z)
                              : true))
        return haul_place_checked(*in, *own, line_and_dims, x, y, z);
    return haul_turn(in->view, (int)z) * in->view.plane - in->view.origin + y * in->view.row + x;
}

HAUL_ALWAYS long haul_place_2(const haul_sight *in, const haul_own *own, long x, long y, int line)
{
    const haul_bounds *bounds = &in->bounds;
    const int line_and_dims[2] = {line, 2}, quick = bounds->quick;
    if (own->far) {
        x = haul_near(in, own, 2, 0, x);
        y = haul_near(in, own, 2, 1, y);
    } else if (in->is_checked &&
               (quick == 2 ? haul_is_far(bounds->halo, own->at[0], x) |
                                 haul_is_far(bounds->halo, own->at[1], y)
                : quick == -2 ? haul_is_outside(bounds, 0, x) | haul_is_outside(bounds, 1, y)
                              : true))
        return haul_place_checked(*in, *own, line_and_dims, x, y, 0);
    return haul_turn(in->view, (int)y) * in->view.plane - in->view.origin + x;
}

HAUL_ALWAYS long haul_place_1(const haul_sight *in, const haul_own *own, long x, int line)
{
    const haul_bounds *bounds = &in->bounds;
    const int line_and_dims[2] = {line, 1}, quick = bounds->quick;
    if (own->far) {
        x = haul_near(in, own, 1, 0, x);
    } else if (in->is_checked && (quick == 1    ? haul_is_far(bounds->halo, own->at[0], x)
                                  : quick == -1 ? haul_is_outside(bounds, 0, x)
                                                : true))
        return haul_place_checked(*in, *own, line_and_dims, x, 0, 0);
    return haul_turn(in->view, (int)x);
}

#define HAUL_PLACE(name, x, y, z) haul_place_3(&name##_view, &haul_me, x, y, z, __LINE__)
#define HAUL_PLACE2(name, x, y) haul_place_2(&name##_view, &haul_me, x, y, __LINE__)
#define HAUL_PLACE1(name, x) haul_place_1(&name##_view, &haul_me, x, __LINE__)
#define HAUL_SIGHT haul_sight
#define HAUL_SIGHT_OF(view) haul_sight_of(view, NULL)
#define HAUL_VIEW_OF(sight) (sight).view
#define HAUL_OWN_CELL , __attribute__((unused)) haul_own haul_me
#define HAUL_NO_CELL , haul_own_of(NULL)
#define HAUL_SEE1(x) haul_me.at[0] = (x),
#define HAUL_SEE2(x, y) haul_me.at[1] = (y), HAUL_SEE1(x)
#define HAUL_SEE3(x, y, z) haul_me.at[2] = (z), HAUL_SEE2(x, y)

/* A call of the kernel's text with checked views, where any is. Accesses to neighbours are first
 * only counted, which takes a quarter of the time; where one is not declared, or arrays are used in
 * another way, a second call tells of each access. */
#define HAUL_CALL_CHECKED(name, box, ...)                                                          \
    if (0 HAUL_EACH(HAUL_IS_CHECKED, __VA_ARGS__)) {                                               \
        const int haul_is_flat = -1;                                                               \
        const bool haul_is_quick = 1 HAUL_EACH(HAUL_IS_QUICK, __VA_ARGS__);                        \
        unsigned haul_far = 0;                                                                     \
        (void)haul_is_flat;                                                                        \
        if (haul_is_quick) {                                                                       \
            name##_body(box, haul_own_of(&haul_far) HAUL_EACH(HAUL_GIVE, __VA_ARGS__));            \
        }                                                                                          \
        if (!haul_is_quick || haul_far) {                                                          \
            name##_body(box HAUL_NO_CELL HAUL_EACH(HAUL_GIVE, __VA_ARGS__));                       \
            HAUL_EACH(HAUL_SETTLE, __VA_ARGS__)                                                    \
        }                                                                                          \
    } else
#define HAUL_IS_CHECKED(index, parameter) HAUL_IS_CHECKED_BY(index, HAUL_OPEN parameter)
#define HAUL_IS_CHECKED_BY(index, ...) HAUL_IS_CHECKED_TO(index, __VA_ARGS__)
#define HAUL_IS_CHECKED_TO(index, access, type, name) HAUL_IS_CHECKED_##access(index)
#define HAUL_IS_CHECKED_IN(index)
#define HAUL_IS_CHECKED_OUT(index)
#define HAUL_IS_CHECKED_INOUT(index)
#define HAUL_IS_CHECKED_VALUE(index)
#define HAUL_IS_CHECKED_SHARED(index)
#define HAUL_IS_CHECKED_HIDDEN(index)
#define HAUL_IS_CHECKED_SUM(index)
#define HAUL_IS_CHECKED_MIN(index)
#define HAUL_IS_CHECKED_MAX(index)
#define HAUL_IS_CHECKED_VIEW(index) || ((const haul_view *)arguments[index])->ring < 0
#define HAUL_IS_QUICK(index, parameter) HAUL_IS_QUICK_BY(index, HAUL_OPEN parameter)
#define HAUL_IS_QUICK_BY(index, ...) HAUL_IS_QUICK_TO(index, __VA_ARGS__)
#define HAUL_IS_QUICK_TO(index, access, type, name) HAUL_IS_QUICK_##access(index)
#define HAUL_IS_QUICK_IN(index)
#define HAUL_IS_QUICK_OUT(index)
#define HAUL_IS_QUICK_INOUT(index)
#define HAUL_IS_QUICK_VALUE(index)
#define HAUL_IS_QUICK_SHARED(index)
#define HAUL_IS_QUICK_HIDDEN(index)
#define HAUL_IS_QUICK_SUM(index)
#define HAUL_IS_QUICK_MIN(index)
#define HAUL_IS_QUICK_MAX(index)
#define HAUL_IS_QUICK_VIEW(index) &&((const haul_checked_view *)arguments[index])->bounds.quick > 0
#define HAUL_SETTLE(index, parameter) HAUL_SETTLE_BY(index, HAUL_OPEN parameter)
#define HAUL_SETTLE_BY(index, ...) HAUL_SETTLE_TO(index, __VA_ARGS__)
#define HAUL_SETTLE_TO(index, access, type, name) HAUL_SETTLE_##access(index)
#define HAUL_SETTLE_IN(index)
#define HAUL_SETTLE_OUT(index)
#define HAUL_SETTLE_INOUT(index)
#define HAUL_SETTLE_VALUE(index)
#define HAUL_SETTLE_SHARED(index)
#define HAUL_SETTLE_HIDDEN(index)
#define HAUL_SETTLE_SUM(index)
#define HAUL_SETTLE_MIN(index)
#define HAUL_SETTLE_MAX(index)
#define HAUL_SETTLE_VIEW(index)                                                                    \
    haul_fault_settle(&((const haul_checked_view *)arguments[index])->bounds, haul_far);

#endif
