/* A tiled matrix product whose copies overlap with it, as a workload of three streams. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/overlap.h"
#include "timeline/predicted_run.h"
#include "workload/builder.h"

/* A dimension in tiles: all are 1 long but the last. */
typedef struct split {
    uint64_t count;
    double last;
} split;

/* A rest of more than `edge_alone` of a tile is a tile of its own; a smaller one is added to the
 * last tile, so that none is too small to fill the device. */
static split split_of(uint64_t length, uint64_t tile, double edge_alone)
{
    const uint64_t whole = length / tile;
    const double rest = (double)(length % tile) / (double)tile;
    if (!whole || rest > edge_alone)
        return (split){whole + 1, rest};
    return (split){whole, 1 + rest};
}

/* The length of a tile along one dimension, in whole tiles. */
static double part(const split *self, uint64_t index)
{
    return index + 1 < self->count ? 1 : self->last;
}

/* name, text: what is on the streams */
#define WORK_LIST(X)                                                                               \
    X(COPY_A, "A")                                                                                 \
    X(COPY_B, "B")                                                                                 \
    X(COPY_C, "C")                                                                                 \
    X(PRODUCT, "A B + C")                                                                          \
    X(COPY_BACK, "C back")

typedef enum work {
#define WORK_ENUM(name, text) name,
    WORK_LIST(WORK_ENUM)
#undef WORK_ENUM
        WORKS
} work;

static const char *const texts[WORKS] = {WORK_LIST(HAUL_ROW_TEXT)};
static const char *const stencil_texts[WORKS] = {"A", "B", "tile", "stencil", "tile back"};
static const char *const stream_texts[] = {"copies in", "kernels", "copies back"};

/* `finished` and the builder's storage are this struct's while it is built; `product` and `costs`
 * are the caller's. */
typedef struct tiling {
    const haul_blocked_product *product; /* NULL: a stencil */
    const haul_blocked_costs *costs;
    split m;
    split n;
    split k;
    hl_workload_builder builder;
    uint32_t names[WORKS];
    uint32_t streams[WORKS];
    uint32_t thread; /* that issues all of it, or HAUL_NONE */
    uint32_t last_in;
    uint32_t *finished; /* of each tile of C, its last product */
} tiling;

/* A busy copy that is faster than one alone would give the timeline a speed above 1. */
static haul_status check_costs(const haul_blocked_costs *costs, haul_error *error)
{
    const double times[] = {costs->in_s, costs->in_busy_s, costs->out_s, costs->out_busy_s,
                            costs->kernel_s};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!(times[i] >= 0 && isfinite(times[i])))
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "a tile's time is negative or no number");
    if (costs->in_busy_s < costs->in_s || costs->out_busy_s < costs->out_s)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "a copy is not faster while the other direction is busy");
    return HAUL_OK;
}

/* One device and three streams: copies in, products, copies back. A host thread is needed only
 * where the queue's depth limits how far it runs ahead. */
static void begin(tiling *self, unsigned queue_depth)
{
    hl_workload_builder *builder = &self->builder;
    hl_workload_builder_init(builder);
    const uint32_t device = hl_workload_builder_device(builder, 0);
    for (uint32_t w = 0; w < WORKS; w++) {
        const char *text = (self->product ? texts : stencil_texts)[w];
        const uint32_t id = w < PRODUCT ? 0 : w - PRODUCT + 1;
        const haul_workload_stream stream = {.device = device, .id = id, .name = stream_texts[id]};
        self->names[w] = hl_workload_builder_string(builder, text, strlen(text));
        self->streams[w] = hl_workload_builder_stream(builder, &stream);
    }
    self->last_in = self->thread = HAUL_NONE;
    if (queue_depth)
        self->thread = hl_workload_builder_thread(builder, &(haul_workload_thread){.id = 0});
}

/* Costs are of a whole tile; the caller scales them by the tile's share. */
static uint32_t add_work(tiling *self, work what, double seconds)
{
    const bool is_kernel = what == PRODUCT;
    haul_op op = {
        .kind = is_kernel ? HAUL_OP_KERNEL : HAUL_OP_COPY,
        .direction = what == COPY_BACK ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOD,
        .detail = is_kernel ? 0 : HAUL_MEMORY_PINNED,
        .dur_ns = llround(1e9 * seconds),
        .name = self->names[what],
        .stream = self->streams[what],
        .thread = self->thread,
        .flags = self->thread == HAUL_NONE ? 0 : HAUL_OP_HAS_CALL,
    };
    if (is_kernel)
        op.shape = HAUL_NONE;
    return hl_workload_builder_op(&self->builder, &op);
}

/* C's tile goes back after its last product. Where a library begins to copy back only after all
 * copies in, an edge holds the first; its stream holds the others. */
static void add_back(tiling *self, uint64_t i, uint64_t j)
{
    const double share = part(&self->m, i) * part(&self->n, j);
    const uint32_t back = add_work(self, COPY_BACK, self->costs->out_s * share);
    if (i == 0 && j == 0 && self->product && self->product->out_after_in)
        hl_workload_builder_edge(&self->builder, self->last_in, back);
    hl_workload_builder_edge(&self->builder, self->finished[i * self->n.count + j], back);
}

/* Copies a tile of A, B or C the first time that a product needs it: A for j = 0, B for i = 0 and C
 * for k = 0. The device keeps all tiles, so no other product copies. */
static void add_product(tiling *self, uint64_t i, uint64_t j, uint64_t k)
{
    const haul_blocked_product *product = self->product;
    const haul_blocked_costs *costs = self->costs;
    const double m = part(&self->m, i), n = part(&self->n, j), sum = part(&self->k, k);
    const uint32_t before = self->last_in;
    if (product->a_on_host && j == 0)
        self->last_in = add_work(self, COPY_A, costs->in_s * m * sum);
    if (product->b_on_host && i == 0)
        self->last_in = add_work(self, COPY_B, costs->in_s * sum * n);
    if (product->c_on_host && k == 0)
        self->last_in = add_work(self, COPY_C, costs->in_s * m * n);
    const uint32_t kernel = add_work(self, PRODUCT, costs->kernel_s * m * n * sum);
    if (self->last_in != before)
        hl_workload_builder_edge(&self->builder, self->last_in, kernel);
    self->finished[i * self->n.count + j] = kernel;
    if (product->c_on_host && product->back_at_once && k + 1 == self->k.count)
        add_back(self, i, j);
}

/* A stencil reads and writes each tile once: no tile is kept. */
static void add_stencil(tiling *self, bool back_at_once)
{
    const haul_blocked_costs *costs = self->costs;
    for (uint64_t i = 0; i < self->m.count; i++)
        for (uint64_t j = 0; j < self->n.count; j++) {
            const double share = part(&self->m, i) * part(&self->n, j);
            const uint32_t in = add_work(self, COPY_A, costs->in_s * share);
            const uint32_t kernel = add_work(self, PRODUCT, costs->kernel_s * share);
            hl_workload_builder_edge(&self->builder, in, kernel);
            self->finished[i * self->n.count + j] = kernel;
            if (back_at_once)
                add_back(self, i, j);
        }
}

/* Of its rate alone, what a copy keeps while the other direction is busy. */
static double speed(double alone_s, double busy_s)
{
    const double ratio = busy_s > 0 ? alone_s / busy_s : 1;
    return ratio > 0 ? ratio : 1; /* of nothing */
}

/* Checks the size before it allocates: a workload of tiles grows with the cube of the sizes. */
static haul_status build(tiling *self, const haul_blocked_stencil *stencil, const char *name,
                         haul_workload **workload, haul_timeline_device *device, haul_error *error)
{
    const unsigned queue_depth = stencil ? stencil->queue_depth : self->product->queue_depth;
    const haul_blocked_costs *costs = self->costs;
    const double products = (double)self->m.count * (double)self->n.count * (double)self->k.count;
    if (products > HAUL_OVERLAP_PRODUCTS_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "more than %d products of tiles",
                              HAUL_OVERLAP_PRODUCTS_MOST);
    /* at least the time of all that is to be done: the last tile of a dimension is up to 2 long */
    if (8e9 * products * (3 * costs->in_busy_s + costs->out_busy_s + costs->kernel_s) > 0x1p61)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "the times of all tiles are beyond 2^61 ns");
    self->finished = malloc(self->m.count * self->n.count * sizeof *self->finished);
    if (!self->finished)
        return hl_base_fail_no_memory(error);
    begin(self, queue_depth);
    if (stencil)
        add_stencil(self, stencil->back_at_once);
    else
        for (uint64_t i = 0; i < self->m.count; i++)
            for (uint64_t j = 0; j < self->n.count; j++)
                for (uint64_t k = 0; k < self->k.count; k++)
                    add_product(self, i, j, k);
    const bool is_back_at_once =
        stencil ? stencil->back_at_once : self->product->back_at_once || !self->product->c_on_host;
    for (uint64_t i = 0; !is_back_at_once && i < self->m.count; i++)
        for (uint64_t j = 0; j < self->n.count; j++)
            add_back(self, i, j);
    free(self->finished);
    const haul_status status =
        hl_workload_builder_finish(&self->builder, name, "haul", workload, error);
    if (!status)
        *device = (haul_timeline_device){
            .copy_engines = costs->copy_engines ? costs->copy_engines : 2,
            .kernels = 1,
            .queue_depth = queue_depth,
            .busy_speed = {[HAUL_DIRECTION_HTOD] = speed(costs->in_s, costs->in_busy_s),
                           [HAUL_DIRECTION_DTOH] = speed(costs->out_s, costs->out_busy_s)},
        };
    return status;
}

haul_status haul_blocked_workload(const haul_blocked_product *product,
                                  const haul_blocked_costs *costs, haul_workload **workload,
                                  haul_timeline_device *device, haul_error *error)
{
    if (!product->m || !product->n || !product->k || !product->tile)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "a matrix or a tile has no elements");
    if (!(product->edge_alone >= 0 && product->edge_alone <= 1))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "the share of a tile that is one of its own lies "
                              "from 0 to 1");
    HAUL_TRY(check_costs(costs, error));
    tiling self = {
        .product = product,
        .costs = costs,
        .m = split_of(product->m, product->tile, product->edge_alone),
        .n = split_of(product->n, product->tile, product->edge_alone),
        .k = split_of(product->k, product->tile, product->edge_alone),
    };
    return build(&self, NULL, "a blocked product", workload, device, error);
}

/* The same tiling with one product a tile: k is one tile long. */
haul_status haul_blocked_stencil_workload(const haul_blocked_stencil *stencil,
                                          const haul_blocked_costs *costs, haul_workload **workload,
                                          haul_timeline_device *device, haul_error *error)
{
    if (!stencil->rows || !stencil->columns || !stencil->tile_rows || !stencil->tile_columns)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "a grid or a tile has no elements");
    HAUL_TRY(check_costs(costs, error));
    tiling self = {
        .costs = costs,
        .m = split_of(stencil->rows, stencil->tile_rows, 0),
        .n = split_of(stencil->columns, stencil->tile_columns, 0),
        .k = {1, 1},
    };
    return build(&self, stencil, "a stencil in tiles", workload, device, error);
}

/* Rows of less than 5 KB are copied up to 25 % slower (cudaMemcpy2D on a V100). They cost in the
 * data's part of the time alone; starting the copy takes L+o as for a block. */
static double copy_s(const haul_overlap_leg *leg, const haul_blocked_tile *tile, double per_byte_s)
{
    const double short_bytes = 5e3, most = 0.25;
    const double row = (double)tile->row_bytes;
    const bool is_block = tile->rows < 2 || tile->pitch_bytes == tile->row_bytes;
    const double factor = is_block || row >= short_bytes ? 1 : 1 + most * (1 - row / short_bytes);
    return leg->bytes > 0 ? leg->latency_s + leg->bytes * per_byte_s * factor : 0;
}

/* A tile is a program of one copy each way: its costs are those of the overlap model, with its
 * rows. */
haul_status haul_blocked_costs_of(const haul_machine *machine, const haul_blocked_tile *in,
                                  const haul_blocked_tile *out, haul_blocked_costs *costs,
                                  haul_error *error)
{
    haul_overlap_case of;
    const haul_overlap_work moved = {
        .in_bytes = in->rows * in->row_bytes,
        .out_bytes = out->rows * out->row_bytes,
        .kernel_s = in->kernel_s,
    };
    HAUL_TRY(haul_overlap_describe(machine, &moved, &of, error));
    *costs = (haul_blocked_costs){
        .in_s = copy_s(&of.in, in, of.in.per_byte_s),
        .in_busy_s = copy_s(&of.in, in, of.in.busy_per_byte_s),
        .out_s = copy_s(&of.out, out, of.out.per_byte_s),
        .out_busy_s = copy_s(&of.out, out, of.out.busy_per_byte_s),
        .kernel_s = in->kernel_s,
        .copy_engines = of.device == HAUL_TWO_ENGINES ? 2 : 1,
    };
    return HAUL_OK;
}

/* Waits for the host's calls as well (RELEASE_HOST). */
haul_status haul_blocked_run(const haul_workload *workload, const haul_timeline_device *device,
                             haul_timeline **timeline, haul_error *error)
{
    const haul_timeline_options options = {.device = *device, .release = HAUL_RELEASE_HOST};
    hl_timeline_predicted_run run;
    HAUL_TRY(hl_timeline_predicted_run_make(workload, &options, NULL, &run, error));
    *timeline = run.timeline;
    return HAUL_OK;
}

haul_status haul_blocked_time(const haul_blocked_product *product, const haul_blocked_costs *costs,
                              double *seconds, haul_error *error)
{
    haul_workload *workload = NULL;
    haul_timeline_device device;
    haul_timeline *timeline = NULL;
    haul_status status = haul_blocked_workload(product, costs, &workload, &device, error);
    if (!status)
        status = haul_blocked_run(workload, &device, &timeline, error);
    if (!status)
        *seconds = 1e-9 * (double)timeline->makespan_ns;
    haul_timeline_free(timeline);
    haul_workload_free(workload);
    return status;
}
