/* The parts of the tile runtime. haul/tile.h's calls queue steps; haul_block takes as many of them
 * as can run in one pass over the planes; haul_host_run or haul_device_run runs the pass. */
#ifndef HAUL_TILE_TILE_PARTS_H
#define HAUL_TILE_TILE_PARTS_H

#include "haul/kernel_source.h"
#include "haul/tile.h"

enum { HAUL_USES = 8, HAUL_VALUE_BYTES = 192, HAUL_STEPS_QUEUED = 1024, HAUL_BLOCK_FIELDS = 32 };

enum { HAUL_FUSED_CHOICES = 4 }; /* 1, 3, 5 or 7 loops a launch */

/* A region's copies. */
typedef struct haul_part {
    bool on_host;
    bool on_device;
    int shift;          /* of its planes' places in the ring: a pass goes past the array's end */
    bool is_leaving;    /* a copy to the host is queued, and not yet waited for */
    haul_event *passed; /* the device's work on it that is queued has ended; the context's */
} haul_part;

/* The contents of an array: what haul_swap exchanges. */
typedef struct haul_field {
    struct haul_field *next; /* of the context */
    haul_context *context;
    uint64_t element;
    int dims;
    int size[3];
    int ghost[3];
    haul_boundary boundary[3];
    const haul_kernel_source *boundary_kernel;
    int64_t row; /* elements from a row to the next, here and below */
    int64_t plane;
    int64_t lead; /* of a plane's cell 0 */
    int64_t gap;  /* between rows */
    int length;   /* planes, without those beyond the edges */
    int first;    /* of the planes of all processes; elsewhere planes count from it */
    int whole;    /* planes of all processes */
    bool is_ring; /* the first and the last process are neighbours */
    int number;   /* the same on all processes */
    int edge;     /* planes beyond each */
    uint64_t plane_bytes;
    uint64_t host_bytes;
    char *host; /* plane -edge on; NULL for a device without data */
    haul_buffer *pinned;
    int file; /* -1: none */
    int region;
    bool region_given;
    int part_count;
    haul_part *parts; /* NULL until the size of a region is chosen */
    bool ghosts_stale;
    bool ghosts_written; /* by a loop: they are data like others */
    bool planes_stale;   /* those beyond the edges: a pass went round the array without them */
    bool is_discarded;

    /* Device memory: plane p lies at p modulo `planes`. */
    haul_buffer *ring;
    int planes;
    /* While a column of rows is worked on: what of each plane is on the device; else 0 rows. */
    int window_first;
    int window_rows;
    uint64_t slot_bytes; /* of a plane in the ring */
    /* Cells beyond the edges within a plane: pairs (where to, where from) of a plane's elements,
     * and their fixed values, plane by plane. */
    haul_buffer *ghost_list;
    haul_buffer *frame;
    int ghost_count;
    bool frame_stale;
    /* Of a reduction's result: the rows' results of the loop that last set it. */
    haul_buffer *rows;
    const haul_kernel_source *rows_of;
    unsigned rows_use;
    haul_box rows_box;
} haul_field;

struct haul_array {
    haul_context *context;
    haul_field *field;
};

typedef struct haul_field_use {
    haul_field *field;
    bool reads;
    bool writes;
    int halo;
    haul_access reduction; /* SUM, MIN, MAX; else 0 */
    int number;            /* its type */
} haul_field_use;

/* A loop of the queue, or, where `source` is NULL, setting the cells beyond uses[0]'s edges. */
typedef struct haul_step {
    const haul_kernel_source *source;
    haul_box box;
    unsigned use_count;
    haul_field_use uses[HAUL_USES];
    _Alignas(16) unsigned char values[HAUL_VALUE_BYTES];
    double flops;
    bool on_host;
    int outer;  /* the last dimension of the box */
    int length; /* planes of the fields that it goes along with, and `first` and `whole` of them */
    int first;
    int whole;
    bool is_exchange; /* of uses[0]'s ghost planes with other processes */
    int skew;         /* planes and rows that the step is behind the front of its block */
    haul_fused fused; /* steps 0: a loop by itself; else so many of uses[0] and uses[1] in turn */
} haul_step;

typedef struct haul_block_field {
    haul_field *field;
    bool is_aligned; /* else it is brought wholly */
    bool is_fresh;   /* overwritten before it is read: nothing is brought */
    bool is_written;
    bool is_dead; /* overwritten after the block before it is read */
    int write_skew;
    int read_skew; /* with the halo; -1: not read */
} haul_block_field;

/* Steps that run in one pass: step i does planes front - skew when the front is there. */
typedef struct haul_block {
    haul_step *steps;
    size_t count;
    size_t loops; /* a step may be several */
    int length;
    int reach;     /* planes behind the front that are still read */
    bool is_first; /* of the queue, for the model */
    bool is_last;  /* of the queue */
    int host_from; /* plane from which on the host needs it after the pass, also where it is dead */
    bool wraps;    /* goes round the array: its fields are periodic in the last dimension */
    haul_block_field fields[HAUL_BLOCK_FIELDS];
    unsigned field_count;
} haul_block;

typedef struct haul_tile_plan haul_tile_plan;

/* Bytes a second of a host whose cores are not measured. */
#define HAUL_HOST_BPS 1e10

/* Rates of a machine, for the model. */
typedef struct haul_tile_rates {
    double copy_Bps[2]; /* in, out */
    double copy_latency_s;
    double busy[2];  /* the share that a copy keeps while the other direction is busy */
    bool one_engine; /* for both directions */
    double memory_Bps;
    double fp64_flops; /* a second; 0: unknown */
    double shared_Bps; /* of the groups' shared memory */
    double launch_s;
    const char *source;
} haul_tile_rates;

/* What a launch reads and writes in memory and in shared memory, and computes. */
typedef struct haul_tile_work {
    double bytes;
    double shared_bytes;
    double flops;
} haul_tile_work;

/* A kernel of several steps as the device compiles it. */
typedef struct haul_fused_kernel {
    struct haul_fused_kernel *next;
    const haul_kernel_source *of;
    haul_kernel_source source;
} haul_fused_kernel;

typedef struct haul_pass_time {
    size_t steps; /* of the first pass, as the times but the total */
    int region;
    size_t passes;
    double run_s;
    double copy_s[2];
    double fill_s;  /* the first region's copy in */
    double bound_s; /* of all passes, with perfect overlap behind the first region */
    double total_s; /* of all passes */
} haul_pass_time;

struct haul_context {
    haul_device *device;
    haul_context_options options;
    haul_device_options device_options;
    bool is_host; /* kernels run on the host's memory */
    bool without_data;
    haul_field *fields;
    haul_step *steps;
    size_t step_count;
    size_t step_capacity;
    haul_kernel **kernels; /* compiled */
    size_t kernel_count;
    size_t kernel_capacity;
    haul_stream *up, *run, *down;
    haul_stream *home; /* copies out that the host waits for: it waits for nothing else */
    haul_event *made_room[3], *arrived[3], *computed;
    haul_event *share_began, *share_ended;
    double host_share; /* corrected; 0: not yet */
    bool is_share_bad; /* less than a region */
    int host_parts;    /* regions of the last shared pass */
    haul_event **passed;
    size_t passed_count;
    size_t passed_capacity;
    uint64_t budget;
    int fields_made;
    uint64_t ran_out_at; /* budget that the device could not give; 0: never */
    int region;          /* planes */
    bool is_backward;    /* the direction of the next pass */
    haul_context_counts counts;
    unsigned steps_chosen; /* of the last block, for haul_explain */
    int rows_chosen;       /* a tile on the host, a column on a device; 0: whole planes */
    haul_pass_time predicted;
    const haul_field *wanted; /* wholly, by the host, once the queue has run; NULL: none */
    haul_tile_plan *plan;     /* NULL: not kept */
    haul_fused_kernel *fused_kernels;
    haul_fused fused; /* the last; for haul_explain, with the times that the model gave 1, 3... */
    bool has_chosen_fused;
    double fused_s[HAUL_FUSED_CHOICES];
};

/* Whether the step's planes are those of the array: a loop of fewer dimensions goes over the
 * array's last ones, and an array of fewer than the loop is read anywhere. */
static inline bool haul_is_along(const haul_step *step, const haul_field_use *use)
{
    return !use->reduction && use->field->dims > step->outer &&
           use->field->length == step->length && use->field->whole == step->whole;
}

static inline uint64_t haul_field_offset(const haul_field *field, int plane)
{
    return (uint64_t)(plane + field->edge) * field->plane_bytes;
}

/* Where the rows on the device begin, in elements of a plane. */
static inline int64_t haul_window_origin(const haul_field *field)
{
    return field->window_rows ? (field->window_first + field->ghost[1]) * field->row : 0;
}

/* The planes of a region, with those beyond the edge. */
static inline int haul_part_begin(const haul_field *field, int part)
{
    return part ? part * field->region : -field->edge;
}

static inline int haul_part_end(const haul_field *field, int part)
{
    return part + 1 < field->part_count ? (part + 1) * field->region : field->length + field->edge;
}

/* Fields. */
haul_status haul_field_new(haul_context *context, const haul_array_spec *spec, haul_field **field,
                           haul_error *error);
void haul_field_free(haul_field *field);

/* Divides the fields that are not yet divided into regions. */
haul_status haul_fields_divide(haul_context *context, haul_error *error);

/* Runs what is queued. */
haul_status haul_queue_run(haul_context *context, haul_error *error);

/* Runs steps without exchanges. */
haul_status haul_steps_run(haul_context *context, haul_step *steps, size_t count,
                           haul_error *error);

/* Arrays over processes: tile_processes.c. */
static inline bool haul_is_divided(const haul_field *field)
{
    return field->length != field->whole;
}

/* Takes this process's share of the planes; the edges that other processes have are fixed. */
haul_status haul_field_share(haul_field *field, bool on_all, haul_error *error);
/* The part of the step's box that is this process's, counted from its first plane. */
void haul_step_localise(haul_step *step);
/* Whether the loop's arrays are divided alike, and what it writes is. */
haul_status haul_step_check_shares(const haul_step *step, haul_error *error);
/* Runs steps with exchanges, and tells the other processes of a failure. */
haul_status haul_processes_run(haul_context *context, haul_step *steps, size_t count,
                               haul_error *error);
/* Brings all other processes' planes to `cells`, which has this one's. */
haul_status haul_planes_gather(haul_field *field, char *cells, haul_error *error);

/* The step's box as kernels see it. */
static inline haul_box haul_box_moved(haul_box box, int outer, int planes)
{
    box.lo[outer] += planes;
    box.hi[outer] += planes;
    return box;
}

typedef struct haul_block_limits {
    size_t steps; /* loops */
    int reach;
    bool in_host_rows;
    bool wraps; /* takes steps that can go round the array alone */
} haul_block_limits;

/* Takes the longest block that may begin with the first of `count` steps. */
void haul_block_take(haul_block *block, haul_step *steps, size_t count,
                     const haul_block_limits *limits);

/* Whether the step reads neighbours in the last dimension of periodic arrays alone. */
bool haul_step_wraps(const haul_step *step);

/* Whether the step sets every cell of the field, reading none of it. */
bool haul_step_overwrites(const haul_step *step, const haul_field *field);
bool haul_step_uses(const haul_step *step, const haul_field *field);
/* Whether the step uses planes of the part, or is up to `halo` planes from them. */
bool haul_step_touches(const haul_step *step, const haul_field_use *use, int halo, int part);

/* Runs blocks of the steps on the host's memory. */
haul_status haul_host_run(haul_context *context, haul_step *steps, size_t count, haul_error *error);

/* The same on the device. On a failure device copies are given up. */
haul_status haul_device_run(haul_context *context, haul_step *steps, size_t count,
                            haul_error *error);
haul_status haul_device_open_queues(haul_context *self, haul_error *error);
/* Runs one block, whose arrays have rings. */
haul_status haul_block_run(haul_context *context, haul_block *block, haul_error *error);

/* Runs a block on the device and the host together, where the host has a share. */
haul_status haul_share_run(haul_context *context, const haul_block *block, bool *is_shared,
                           haul_error *error);

/* An array whose planes the block's steps go along. */
const haul_field *haul_block_along(const haul_block *block);

/* Whether the step's planes are too large for the device, and running it and as many of those that
 * follow as can go with it, in columns of rows. */
bool haul_needs_columns(haul_step *step);
haul_status haul_columns_run(haul_context *context, haul_step *steps, size_t count, size_t *taken,
                             haul_error *error);
void haul_device_close_queues(haul_context *self);

typedef struct haul_planes {
    int first;
    int end;
    int shift; /* of their places in the ring */
} haul_planes;

/* Copies planes between the host's memory and the ring: to the ring on the stream `up`. Within the
 * ring one plane, on the stream of the kernels. */
haul_status haul_planes_copy(haul_field *field, haul_planes run, haul_stream *stream,
                             haul_error *error);
/* Queues the step's planes, as far as they are in its box. An error names the kernel and planes. */
haul_status haul_step_run(haul_context *context, const haul_step *step, haul_planes run,
                          haul_error *error);

/* Sets the planes beyond the edges from the opposite ends. */
haul_status haul_planes_wrap(haul_field *field, haul_error *error);
haul_status haul_plane_copy_within(haul_field *field, int to, int from, haul_error *error);

/* Makes the host's copy of a part current, and waits until the device has done with it. */
haul_status haul_part_fetch(haul_field *field, int part, bool with_data, haul_error *error);

/* Sets cells beyond the edges, of planes and rows [lo, hi), on the host. */
void haul_ghosts_on_host(haul_field *field, const int lo[2], const int hi[2]);

/* Adds to indices [*lo, *hi) of a dimension those beyond an edge that they touch, where its cells
 * are fixed: they may have cells beyond edges of other dimensions. */
void haul_ghost_range(const haul_field *field, int d, int *lo, int *hi);

/* Makes the list of the cells beyond the edges within a plane, and on the device their values. */
haul_status haul_ghosts_prepare(haul_field *field, haul_error *error);
/* Sets them on the device, from within the plane or from the frame; planes [first, end). */
haul_status haul_ghosts_on_device(haul_field *field, int first, int end, bool from_frame,
                                  haul_error *error);

/* Reductions: where the results of a step's rows are and how many they are; the groups that take
 * the rows of a box; memory for the results on the host, which the caller frees. */
haul_rows haul_rows_of(const haul_step *step, const haul_field_use *use, uint64_t *count);
haul_box haul_row_groups(const haul_box *box, int dims);
void *haul_rows_new(const haul_step *step, const haul_field_use *use, uint64_t *bytes);
/* From the rows' results to the array's one element, on the host and on the device. */
void haul_rows_fold(const haul_step *step, const haul_field_use *use, void *rows);
/* The processes' results to this process's. */
haul_status haul_rows_combine(const haul_step *step, haul_error *error);
haul_status haul_rows_ensure(haul_context *context, const haul_step *step, haul_error *error);
haul_status haul_rows_fold_on_device(haul_context *context, const haul_step *step,
                                     haul_error *error);
/* Sets the results of a loop over no cells. */
haul_status haul_rows_none(const haul_step *step, haul_error *error);

/* Waits, because the caller frees `from`. */
haul_status haul_tile_upload(haul_context *context, haul_buffer *buffer, const void *from,
                             uint64_t bytes, haul_error *error);

/* Operations on the device, counted and, where the context keeps a plan, noted there. */
haul_tile_plan *haul_tile_plan_new(int processes);
void haul_tile_plan_free(haul_tile_plan *plan);
haul_status haul_tile_copy(haul_context *context, haul_stream *stream,
                           const haul_transfer *transfer, haul_error *error);
haul_status haul_tile_launch(haul_context *context, const haul_kernel_source *source,
                             const haul_launch *launch, haul_error *error);
haul_status haul_tile_record(haul_context *context, haul_stream *stream, haul_event *event,
                             haul_error *error);
haul_status haul_tile_wait(haul_context *context, haul_stream *stream, haul_event *event,
                           haul_error *error);
haul_status haul_tile_host_wait(haul_context *context, haul_stream *stream, haul_error *error);

/* The processes' functions of these names, noted likewise. */
haul_status haul_tile_start(haul_context *context, const haul_process_message *messages, int count,
                            haul_error *error);
haul_status haul_tile_finish(haul_context *context, haul_error *error);
haul_status haul_tile_gather(haul_context *context, const void *own, size_t bytes, void *all,
                             haul_error *error);

static inline bool haul_field_is_all_there(const haul_field *field)
{
    return field->planes >= field->length + 2 * field->edge;
}

/* Rings for all arrays, before the steps run; regions are chosen anew where there were none. */
haul_status haul_rings_ensure(haul_context *context, haul_step *steps, size_t count,
                              haul_error *error);

/* Planes of a field that its device memory will hold. */
int haul_ring_planes(const haul_context *context, const haul_field *field);

/* Planes that steps may be behind the front where regions have so many planes: the ring holds
 * those, the region that they run on, the one that comes and the one that goes. Negative: not even
 * one. */
int haul_reach_of(const haul_context *context, const haul_step *steps, size_t count, int region);
haul_block_limits haul_limits_of(const haul_context *context, const haul_step *steps, size_t count,
                                 int region);

haul_tile_rates haul_tile_rates_of(const haul_context *context);
double haul_step_bytes(const haul_step *step);
double haul_step_seconds(const haul_tile_rates *rates, const haul_step *step);

/* Stencils of several steps. Makes steps that can be one launch one, in place, as many as the
 * program or the model chose for regions of so many planes; returns how many steps are left. */
size_t haul_fuse(haul_context *context, haul_step *steps, size_t count, int region);
/* How many loops a launch best has, and the model's time with it. */
unsigned haul_fuse_choose(haul_context *context, haul_step *steps, size_t count, int region,
                          haul_pass_time *time);
/* The kernel of several steps of the source's; NULL where the device does not compile it. */
const haul_kernel_source *haul_fused_source(haul_context *context,
                                            const haul_kernel_source *source);
/* What a launch of a part of the step is given, its work, and its groups. */
haul_box haul_fused_launch(const haul_context *context, const haul_step *step, const haul_box *part,
                           haul_fused *fused, haul_tile_work *work);
/* The time of all planes in launches of so many, without the launches' own. */
double haul_fused_seconds(const haul_context *context, const haul_tile_rates *rates,
                          const haul_step *step, int planes);

size_t haul_fuse_explain(const haul_context *context, char *at, size_t room);

/* Setting edges is no loop of the program's. */
static inline unsigned haul_loops_of(const haul_step *step)
{
    return step->fused.steps ? (unsigned)step->fused.steps : step->source != NULL;
}

/* The model's time of the steps; infinite where they do not fit. */
haul_pass_time haul_tile_predict(const haul_context *self, haul_step *steps, size_t count,
                                 int region);

/* Chooses the size of regions for the steps, before any array is on the device. */
void haul_tile_choose(haul_context *self, haul_step *steps, size_t count);

haul_status haul_context_kernel(haul_context *context, const haul_kernel_source *source,
                                haul_kernel **kernel, haul_error *error);

/* The view of a field for planes from `first` on: of the device's ring, or of the host's memory. */
haul_view haul_field_view(const haul_field *field, int first, bool on_device);

#endif
