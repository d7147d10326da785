/* A second derivation of tiled products: three queues played forward in seconds, with no workload
 * and no timeline. */
#ifndef HAUL_TESTS_TILED_PLAYER_H
#define HAUL_TESTS_TILED_PLAYER_H

#include <math.h>

#include "haul/overlap.h"

/* The tiles of a dimension: their sides by that of a full one. */
static inline uint64_t player_sides(uint64_t length, const haul_blocked_product *product,
                                    double *sides)
{
    uint64_t count = 0;
    uint64_t left = length;
    for (; left >= product->tile; left -= product->tile)
        sides[count++] = 1;
    const double rest = (double)left / (double)product->tile;
    if (!count || rest > product->edge_alone)
        sides[count++] = rest;
    else
        sides[count - 1] += rest;
    return count;
}

enum { PLAYER_SIDES = 64, PLAYER_JOBS = 3 * 65536 };

typedef struct player_queue {
    double jobs[PLAYER_JOBS];  /* seconds each */
    size_t waits[PLAYER_JOBS]; /* until so many of the queue before are done */
    size_t count;
    size_t done;
} player_queue;

typedef struct player {
    player_queue in;
    player_queue products;
    player_queue out;
} player;

static inline void player_add(player_queue *self, double seconds, size_t waits)
{
    self->jobs[self->count] = seconds;
    self->waits[self->count++] = waits;
}

static inline void player_fill(player *self, const haul_blocked_product *product,
                               const haul_blocked_costs *costs)
{
    double m[PLAYER_SIDES], n[PLAYER_SIDES], k[PLAYER_SIDES];
    const uint64_t ms = player_sides(product->m, product, m);
    const uint64_t ns = player_sides(product->n, product, n);
    const uint64_t ks = player_sides(product->k, product, k);
    for (uint64_t p = 0; p < ms * ns * ks; p++) {
        const uint64_t x = p / ks / ns, y = p / ks % ns, z = p % ks;
        if (product->a_on_host && y == 0)
            player_add(&self->in, costs->in_s * m[x] * k[z], 0);
        if (product->b_on_host && x == 0)
            player_add(&self->in, costs->in_s * k[z] * n[y], 0);
        if (product->c_on_host && z == 0)
            player_add(&self->in, costs->in_s * m[x] * n[y], 0);
        player_add(&self->products, costs->kernel_s * m[x] * n[y] * k[z], self->in.count);
        if (product->c_on_host && z + 1 == ks)
            player_add(&self->out, costs->out_s * m[x] * n[y], self->products.count);
    }
}

static inline bool player_is_busy(const player_queue *self, const player_queue *before)
{
    return self->done < self->count && (!before || before->done >= self->waits[self->done]);
}

/* Goes on by `seconds` at so much time for a second alone. */
static inline void player_advance(player_queue *self, double seconds, double pace)
{
    double *left = &self->jobs[self->done];
    if (*left * pace <= seconds)
        self->done++;
    else
        *left -= seconds / pace;
}

static inline double player_time(player *self, const haul_blocked_product *product,
                                 const haul_blocked_costs *costs)
{
    self->in.count = self->in.done = 0;
    self->products.count = self->products.done = 0;
    self->out.count = self->out.done = 0;
    player_fill(self, product, costs);
    for (double now_s = 0;;) {
        const bool in = player_is_busy(&self->in, NULL);
        const bool kernel = player_is_busy(&self->products, &self->in);
        const bool held = product->out_after_in && self->in.done < self->in.count;
        const bool out = !held && player_is_busy(&self->out, &self->products);
        const double in_pace = in && out ? costs->in_busy_s / costs->in_s : 1;
        const double out_pace = in && out ? costs->out_busy_s / costs->out_s : 1;
        double step_s = INFINITY;
        if (in)
            step_s = fmin(step_s, self->in.jobs[self->in.done] * in_pace);
        if (kernel)
            step_s = fmin(step_s, self->products.jobs[self->products.done]);
        if (out)
            step_s = fmin(step_s, self->out.jobs[self->out.done] * out_pace);
        if (!in && !kernel && !out)
            return now_s;
        now_s += step_s;
        if (in)
            player_advance(&self->in, step_s, in_pace);
        if (kernel)
            player_advance(&self->products, step_s, 1);
        if (out)
            player_advance(&self->out, step_s, out_pace);
    }
}

#endif
