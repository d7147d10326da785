/* A tiled matrix product whose copies overlap with it: three queues, played forward. */
#include <math.h>

#include "base/fail.h"
#include "haul/overlap.h"

/* A dimension in tiles: all are 1 long but the last. */
typedef struct split {
    uint64_t count;
    double last;
} split;

/* What is left after whole tiles is a tile of its own where it is more than half of one, else part
 * of the last. */
static split split_of(uint64_t length, uint64_t tile)
{
    const uint64_t whole = length / tile;
    const uint64_t rest = length % tile;
    if (!whole || rest > tile / 2)
        return (split){whole + 1, (double)rest / (double)tile};
    return (split){whole, 1 + (double)rest / (double)tile};
}

static double part(const split *self, uint64_t index)
{
    return index + 1 < self->count ? 1 : self->last;
}

/* A place in the products: k is the innermost. */
typedef struct place {
    uint64_t i;
    uint64_t j;
    uint64_t k;
} place;

typedef struct tiling {
    const haul_tiled_product *product;
    const haul_tiled_costs *costs;
    split m;
    split n;
    split k;
} tiling;

static bool is_past(const tiling *self, const place *at)
{
    return at->i >= self->m.count;
}

static void step(const tiling *self, place *at)
{
    if (++at->k < self->k.count)
        return;
    at->k = 0;
    if (++at->j < self->n.count)
        return;
    at->j = 0;
    at->i++;
}

enum { MATRICES = 3 };

/* Share of a full tile that a product needs copied in of A, B or C; 0 where it is there already. */
static double needs(const tiling *self, const place *at, int matrix)
{
    const haul_tiled_product *product = self->product;
    const double m = part(&self->m, at->i);
    const double n = part(&self->n, at->j);
    const double k = part(&self->k, at->k);
    switch (matrix) {
    case 0:
        return product->a_on_host && at->j == 0 ? m * k : 0;
    case 1:
        return product->b_on_host && at->i == 0 ? k * n : 0;
    default:
        return product->c_on_host && at->k == 0 ? m * n : 0;
    }
}

/* A queue that works on one thing at a time. */
typedef struct server {
    bool busy;
    double left_s; /* of its time alone */
    double pace;   /* time by time alone */
} server;

typedef struct player {
    const tiling *tiles;
    double now_s;
    server in;
    server compute;
    server out;
    place in_at; /* the next copy in: a product and a matrix of it */
    int in_matrix;
    uint64_t copied;   /* copies in that are done */
    place compute_at;  /* the next product, */
    uint64_t needed;   /* and what has to be copied before it */
    uint64_t out_tile; /* the next to copy back, and how many are ready */
    uint64_t out_ready;
} player;

static void start(server *self, double alone_s)
{
    *self = (server){.busy = true, .left_s = alone_s, .pace = 1};
}

static void start_in(player *self)
{
    while (!self->in.busy && !is_past(self->tiles, &self->in_at)) {
        const double share = needs(self->tiles, &self->in_at, self->in_matrix);
        if (share > 0)
            start(&self->in, share * self->tiles->costs->in_s);
        if (++self->in_matrix == MATRICES) {
            self->in_matrix = 0;
            step(self->tiles, &self->in_at);
        }
    }
}

static uint64_t count_needed(const tiling *tiles, const place *at)
{
    uint64_t count = 0;
    for (int matrix = 0; matrix < MATRICES; matrix++)
        count += needs(tiles, at, matrix) > 0;
    return count;
}

static void start_compute(player *self)
{
    const tiling *tiles = self->tiles;
    const place *at = &self->compute_at;
    if (self->compute.busy || is_past(tiles, at))
        return;
    if (self->copied >= self->needed + count_needed(tiles, at))
        start(&self->compute, tiles->costs->kernel_s * part(&tiles->m, at->i) *
                                  part(&tiles->n, at->j) * part(&tiles->k, at->k));
}

static void start_out(player *self)
{
    const tiling *tiles = self->tiles;
    if (self->out.busy || self->out_tile == self->out_ready)
        return;
    start(&self->out, tiles->costs->out_s * part(&tiles->m, self->out_tile / tiles->n.count) *
                          part(&tiles->n, self->out_tile % tiles->n.count));
    self->out_tile++;
}

/* Copies slow each other while both directions are busy. */
static void set_paces(player *self)
{
    const haul_tiled_costs *costs = self->tiles->costs;
    const bool both = self->in.busy && self->out.busy;
    self->in.pace = both && costs->in_s > 0 ? costs->in_busy_s / costs->in_s : 1;
    self->out.pace = both && costs->out_s > 0 ? costs->out_busy_s / costs->out_s : 1;
}

static double end_of(const server *self)
{
    return self->busy ? self->left_s * self->pace : (double)INFINITY;
}

/* Goes on by `seconds`; true where the server is then done. */
static bool advance(server *self, double seconds)
{
    if (!self->busy)
        return false;
    self->busy = end_of(self) > seconds;
    self->left_s -= seconds / self->pace;
    return !self->busy;
}

static void finish_compute(player *self)
{
    const place *at = &self->compute_at;
    self->needed += count_needed(self->tiles, at);
    self->out_ready += self->tiles->product->c_on_host && at->k + 1 == self->tiles->k.count;
    step(self->tiles, &self->compute_at);
}

/* False where nothing is left to do. */
static bool play(player *self)
{
    start_in(self);
    start_compute(self);
    start_out(self);
    set_paces(self);
    const double next_s = fmin(end_of(&self->in), fmin(end_of(&self->compute), end_of(&self->out)));
    if (!isfinite(next_s))
        return false;
    self->now_s += next_s;
    self->copied += advance(&self->in, next_s);
    if (advance(&self->compute, next_s))
        finish_compute(self);
    (void)advance(&self->out, next_s);
    return true;
}

static const double products_most = 1e8;

static haul_status check(const tiling *self, haul_error *error)
{
    const haul_tiled_costs *costs = self->costs;
    const double times[] = {costs->in_s, costs->in_busy_s, costs->out_s, costs->out_busy_s,
                            costs->kernel_s};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!(times[i] >= 0 && times[i] <= 1e9))
            return haul_fail(error, HAUL_BAD_INPUT, "a tile's time is from 0 to 1e9 s");
    if (costs->in_busy_s < costs->in_s || costs->out_busy_s < costs->out_s)
        return haul_fail(error, HAUL_BAD_INPUT,
                         "a copy is not faster while the other direction is busy");
    if (!((double)self->m.count * (double)self->n.count * (double)self->k.count <= products_most))
        return haul_fail(error, HAUL_BAD_INPUT, "more than 1e8 products of tiles");
    return HAUL_OK;
}

haul_status haul_tiled_time(const haul_tiled_product *product, const haul_tiled_costs *costs,
                            double *seconds, haul_error *error)
{
    if (!product->m || !product->n || !product->k || !product->tile)
        return haul_fail(error, HAUL_BAD_INPUT, "a matrix or a tile has no elements");
    const tiling tiles = {
        .product = product,
        .costs = costs,
        .m = split_of(product->m, product->tile),
        .n = split_of(product->n, product->tile),
        .k = split_of(product->k, product->tile),
    };
    const haul_status status = check(&tiles, error);
    if (status)
        return status;
    player self = {.tiles = &tiles};
    while (play(&self))
        ;
    *seconds = self.now_s;
    return HAUL_OK;
}
