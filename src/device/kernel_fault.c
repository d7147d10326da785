/* Accesses of a loop that its kernel does not declare, where they are checked. */
#include "haul/kernel_source.h"

/* The nearest index that the kernel may use. */
static long nearest(const haul_bounds *bounds, const haul_own *own, int d, long index)
{
    long lo = bounds->lo[d], last = bounds->hi[d] - 1L;
    if (bounds->halo >= 0 && d >= bounds->more) {
        const long me = own->at[d - bounds->more];
        lo = !bounds->is_within || lo < me - bounds->halo ? me - bounds->halo : lo;
        last = !bounds->is_within || last > me + bounds->halo ? me + bounds->halo : last;
    }
    return index < lo ? lo : index > last ? last : index;
}

static void note_place(const haul_bounds *bounds, const haul_own *own, const int line_and_dims[2],
                       const long cell[3])
{
    haul_fault *fault = bounds->fault;
    if (__atomic_exchange_n(&fault->is_taken, 1, __ATOMIC_RELAXED))
        return;
    fault->line = line_and_dims[0];
    fault->dims = line_and_dims[1];
    fault->parameter = bounds->parameter;
    for (int d = 0; d < 3; d++) {
        fault->own[d] = own->at[d];
        fault->cell[d] = cell[d];
    }
}

/* An access by another number of dimensions than the array's takes its first plane. */
long haul_place_checked(haul_sight in, haul_own own, const int line_and_dims[2], long x, long y,
                        long z)
{
    const haul_bounds *bounds = &in.bounds;
    const int dims = line_and_dims[1];
    const long cell[3] = {x, y, z};
    long there[3] = {0};
    bool is_wrong = bounds->dims != dims;
    for (int d = 0; d < 3 && d < dims; d++) {
        there[d] = bounds->dims == dims ? nearest(bounds, &own, d, cell[d]) : 0;
        is_wrong = is_wrong || there[d] != cell[d];
    }
    if (is_wrong)
        note_place(bounds, &own, line_and_dims, cell);
    if (bounds->dims != dims)
        return 0;
    const long plane = haul_turn(in.view, (int)there[dims - 1]);
    return dims == 1 ? plane
                     : plane * in.view.plane - in.view.origin + there[0] +
                           (dims == 3 ? there[1] * in.view.row : 0);
}

/* A kernel that changes the array by which it chooses its cells. */
void haul_fault_settle(const haul_bounds *bounds, unsigned far)
{
    haul_fault *fault = bounds->fault;
    if (!(far >> bounds->parameter & 1) ||
        __atomic_exchange_n(&fault->is_taken, 1, __ATOMIC_RELAXED))
        return;
    fault->parameter = bounds->parameter;
    fault->dims = bounds->dims;
    fault->line = 0;
}
