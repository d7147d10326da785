#include "overlap/cores.h"

#include <math.h>

#include "haul/workload.h"

/* The kernel that was taken first of those that have not ended, or NULL. */
static cores_op *first_kernel(cores_op *ops, size_t count)
{
    cores_op *first = NULL;
    for (size_t i = 0; i < count; i++)
        if (ops[i].is_kernel && ops[i].turn && ops[i].left_s > 0 &&
            (!first || ops[i].turn < first->turn))
            first = &ops[i];
    return first;
}

/* The operation that a free core takes; NULL where there is none. */
static cores_op *next_of(cores_op *ops, size_t count, uint32_t turn)
{
    /* The first that became ready of those that no core has taken yet, or NULL. */
    cores_op *op = NULL;
    for (size_t i = 0; i < count; i++)
        if (!ops[i].turn && ops[i].left_s > 0 && isfinite(ops[i].ready_s) &&
            (!op || ops[i].ready_s < op->ready_s))
            op = &ops[i];
    if (op)
        op->turn = turn;
    return op && !op->is_kernel ? op : first_kernel(ops, count);
}

/* Returns the cores that are free again. */
static uint32_t advance(cores_op *ops, size_t count, double step_s)
{
    const double rounding = 1e-12;
    uint32_t freed = 0;
    for (size_t i = 0; i < count; i++) {
        ops[i].left_s -= step_s * ops[i].on;
        if (!ops[i].on || ops[i].left_s > rounding)
            continue;
        freed += ops[i].on;
        ops[i].on = 0;
        ops[i].left_s = 0;
    }
    return freed;
}

double hl_overlap_cores_time(cores_op *ops, size_t count, uint32_t cores)
{
    double now_s = 0;
    uint32_t idle = cores, turn = 0;
    for (size_t i = 0; i < count; i++) {
        ops[i].left_s = ops[i].seconds * (ops[i].is_kernel ? cores : 1);
        ops[i].ready_s = (double)INFINITY;
        ops[i].on = ops[i].turn = 0;
    }
    for (;;) {
        for (size_t i = 0; i < count; i++) {
            const cores_op *const before = ops[i].after == HAUL_NONE ? NULL : &ops[ops[i].after];
            const bool has_ended = !before || (isfinite(before->ready_s) && !(before->left_s > 0));
            if (!isfinite(ops[i].ready_s) && has_ended)
                ops[i].ready_s = now_s;
        }
        for (cores_op *op; idle && (op = next_of(ops, count, ++turn)); idle--)
            op->on++;
        /* Until the first of those that run ends. */
        double step_s = (double)INFINITY;
        for (size_t i = 0; i < count; i++)
            if (ops[i].on)
                step_s = fmin(step_s, ops[i].left_s / ops[i].on);
        if (!isfinite(step_s))
            return now_s;
        now_s += step_s;
        idle += advance(ops, count, step_s);
    }
}
