/* The fourth layer: a device, its streams, and one pass of a block over it. The context is whole
 * from here on. */
#ifndef HAUL_TILE_TILE_PASS_H
#define HAUL_TILE_TILE_PASS_H

#include "tile/tile_choice.h"

typedef struct hl_tile_plan hl_tile_plan;
typedef struct hl_tile_trace hl_tile_trace;

/* Events by number: made when they are first asked for. */
typedef struct hl_tile_events {
    haul_event **of;
    size_t count;
    size_t capacity;
} hl_tile_events;

/* The device's streams, and the events between them. */
typedef struct hl_tile_streams {
    haul_stream *up, *run, *down;
    haul_stream *home; /* copies out that the host waits for: it waits for nothing else */
    haul_event *computed;
    haul_event *share_began, *share_ended;
    hl_tile_events made_room, arrived, passed, early, handed;
    bool is_backward; /* the direction of the next pass */
} hl_tile_streams;

/* Loops on the host that may take so long alone. */
typedef struct hl_tile_limited {
    haul_stream *stream; /* a thread; else NULL */
    haul_device *device; /* its device, where the context's is another */
    bool is_stuck;       /* a loop ran out of time, and goes on */
    void *jobs, *calls;  /* memory that it uses, which is never freed */
} hl_tile_limited;

/* How often the host ran a kernel. */
typedef struct hl_tile_loops_of_kernel {
    const haul_kernel_source *source;
    uint64_t loops;
} hl_tile_loops_of_kernel;

/* How the last block was run, for haul_context_explain. */
typedef struct hl_tile_last_run {
    unsigned steps;
    int rows;       /* a tile on the host, a column on a device; 0: whole planes */
    int planes;     /* of a tile that the host does at once */
    bool is_far;    /* the tile stays in the third-level cache */
    int host_parts; /* regions of the last shared pass */
    haul_fused fused;
} hl_tile_last_run;

/* Two ways of a block on the host, 0 near and 1 far (tile_wave.c), of blocks that begin with loops
 * of this kernel over such arrays: processor time of a cell, and how often it was measured. */
typedef struct hl_tile_wave {
    const haul_kernel_source *source;
    uint64_t row_bytes;
    double cell_s[2];
    unsigned trials[2];
} hl_tile_wave;

enum { HL_TILE_WAVES = 16 };

typedef struct hl_tile_waves {
    uint64_t cache[2]; /* bytes of a thread's second and third level; 0: not yet known, no third */
    hl_tile_wave known[HL_TILE_WAVES];
    size_t next;
} hl_tile_waves;

/* Before a pass brings planes at one end, the last so many, the host has to wait for others. */
typedef struct hl_tile_gate {
    haul_status (*open)(void *state, haul_error *error); /* NULL: none */
    void *state;
    bool is_high;
    int planes;
} hl_tile_gate;

/* Passes over the same arrays by several devices in turns: a region is taken when the pass before
 * has brought it home, and handed on when it is queued to be there. */
typedef struct hl_tile_relay {
    haul_status (*take)(void *state, int part, haul_error *error); /* NULL: no such pass */
    haul_status (*hand_on)(void *state, int part, int more, haul_error *error);
    void *state;
    int shift;           /* of the planes' places in rings */
    int regions;         /* of this device's pass before, which may still run; 0: none */
    int region;          /* of the team: planes of regions of all such arrays; 0: not yet chosen */
    bool has_run;        /* loops of the queue */
    unsigned short_runs; /* the last runs that had too few loops */
    size_t pays_from;    /* loops between which arrays may be made anew for turns; 0: no number */
    size_t stretch;      /* of the team: loops that can go so since one that cannot, or a wait */
    unsigned era;        /* of the team: arrays that go in turns no more may do so in the next */
    double divided_s;    /* the model's time of a loop where planes are divided; 0: no matter */
    struct hl_tile_relay_speed *speeds; /* of all devices; the team's */
} hl_tile_relay;

haul_status hl_tile_gate_open(hl_tile_gate *self, haul_error *error);

struct haul_context {
    hl_tile_team *team; /* several devices: their contexts do the work; NULL: one */
    double *before;     /* of them: hl_tile_memory's */
    haul_context_options options;
    haul_device_options device_options;
    hl_tile_memory memory;
    hl_tile_kernels kernels;
    hl_tile_queue queue;
    hl_tile_choice choice;
    hl_tile_streams streams;
    hl_tile_gate gate;
    hl_tile_relay relay;
    hl_tile_limited limited;
    hl_tile_waves waves;
    hl_tile_loops_of_kernel *known;
    size_t known_count;
    size_t known_capacity;
    hl_tile_plan *plan;            /* NULL: not kept */
    hl_tile_trace *trace;          /* likewise */
    struct hl_tile_saving *saving; /* a file that a thread writes; NULL: none */
    haul_context_counts counts;
    hl_tile_last_run last;
    bool is_checked;   /* the program asks for the checked mode */
    bool is_checking;  /* the host runs loops on the arrays' shadows */
    bool is_poisoning; /* and looks for cells that they leave unset */
    bool has_failed;   /* and the program was told: waits for streams say nothing new */
};

/* In plans and traces; any other is the fourth. */
static inline int hl_tile_stream_number(const haul_context *context, const haul_stream *stream)
{
    return stream == context->streams.up     ? 0
           : stream == context->streams.run  ? 1
           : stream == context->streams.down ? 2
                                             : 3;
}

haul_status hl_tile_streams_open(haul_context *context, haul_error *error);
void hl_tile_streams_close(hl_tile_streams *self);
haul_status hl_tile_events_ensure(haul_context *context, hl_tile_events *self, size_t count,
                                  haul_error *error);

/* Operations on the device, counted and, where the context keeps a plan, noted there. */
hl_tile_plan *hl_tile_plan_new(int processes);
void hl_tile_plan_free(hl_tile_plan *plan);
haul_status hl_tile_copy(haul_context *context, haul_stream *stream, const haul_transfer *transfer,
                         haul_error *error);
haul_status hl_tile_launch(haul_context *context, const haul_kernel_source *source,
                           const haul_launch *launch, haul_error *error);
haul_status hl_tile_record(haul_context *context, haul_stream *stream, haul_event *event,
                           haul_error *error);
haul_status hl_tile_wait(haul_context *context, haul_stream *stream, haul_event *event,
                         haul_error *error);
haul_status hl_tile_host_wait(haul_context *context, haul_stream *stream, haul_error *error);
haul_status hl_tile_host_wait_event(haul_context *context, haul_event *event, haul_error *error);

/* The processes' functions of these names, noted likewise. */
haul_status hl_tile_start(haul_context *context, const haul_process_message *messages, int count,
                          haul_error *error);
haul_status hl_tile_finish(haul_context *context, haul_error *error);
/* Notes that what is done from now on may need the messages that were to come. */
void hl_tile_note_received(haul_context *context);
haul_status hl_tile_gather(haul_context *context, const void *own, size_t bytes, void *all,
                           haul_error *error);

typedef struct hl_tile_planes {
    int first;
    int end;
    int shift; /* of their places in the ring */
} hl_tile_planes;

/* Copies planes between the host's memory and the ring: to the ring on the stream `up`. Within the
 * ring one plane, on the stream of the kernels. */
haul_status hl_tile_planes_copy(hl_tile_field *field, hl_tile_planes run, haul_stream *stream,
                                haul_error *error);
/* To the ring from other memory, which has these planes' cells at `from`. */
haul_status hl_tile_planes_bring(hl_tile_field *field, hl_tile_planes run, haul_address from,
                                 haul_error *error);
/* Queues the step's planes, as far as they are in its box. An error names the kernel and planes. */
haul_status hl_tile_step_run(haul_context *context, const hl_tile_step *step, hl_tile_planes run,
                             haul_error *error);

/* Sets the planes beyond the edges from the opposite ends. */
haul_status hl_tile_planes_wrap(hl_tile_field *field, haul_error *error);
haul_status hl_tile_plane_copy_within(hl_tile_field *field, int to, int from, haul_error *error);

/* Notes that a copy of the part to the host is queued: the host's counts as current from now on. */
haul_status hl_tile_part_leaves(hl_tile_field *field, int part, haul_error *error);

/* Makes the host's copy of a part current, and waits until the device has done with it. */
haul_status hl_tile_part_fetch(hl_tile_field *field, int part, bool with_data, haul_error *error);

/* Brings what the device does not have of an array that it holds as a whole; waits until no stream
 * uses it, or, with a stream of the program's, lets that wait. */
haul_status hl_tile_field_bring(hl_tile_field *field, haul_error *error);
haul_status hl_tile_field_settle(hl_tile_field *field, haul_error *error);

/* Divides a field into regions of the size that the program asks for, if it has others. */
haul_status hl_tile_field_divide_anew(hl_tile_field *field, haul_error *error);

/* Makes the list of the cells beyond the edges within a plane, and on the device their values. */
haul_status hl_tile_ghosts_prepare(hl_tile_field *field, haul_error *error);
/* Sets them on the device, from within the plane or from the frame. */
haul_status hl_tile_ghosts_on_device(hl_tile_field *field, hl_tile_planes run, bool from_frame,
                                     haul_error *error);

/* Device memory for the rows of a step, kept for the next loop of the same size; from their results
 * to the array's one element. */
haul_status hl_tile_rows_ensure(haul_context *context, const hl_tile_step *step, haul_error *error);
haul_status hl_tile_rows_fold_on_device(haul_context *context, const hl_tile_step *step,
                                        haul_error *error);

/* The same for loops that ran in parts, after the passes that set their results. */
haul_status hl_tile_cut_fold(haul_context *context, const hl_tile_step *steps, size_t count,
                             haul_error *error);
/* Brings the rows of the parts that the host ran, from the step's skew before the border on, to the
 * device's. */
haul_status hl_tile_cut_join(haul_context *context, const hl_tile_step *step, int border,
                             const hl_tile_cut_loop *cut, haul_error *error);

/* Waits, because the caller frees `from`. */
haul_status hl_tile_upload(haul_context *context, haul_buffer *buffer, const void *from,
                           uint64_t bytes, haul_error *error);

/* Rings for all arrays, before the steps run; the model chooses regions first, where none were.
 * With `fused`, it is asked how many loops a launch best has, too. */
haul_status hl_tile_rings_ensure(haul_context *context, hl_tile_step *steps, size_t count,
                                 unsigned *fused, haul_error *error);

/* Runs one block, whose arrays have rings. On a failure device copies are given up. */
haul_status hl_tile_block_run(haul_context *context, hl_tile_block *block, haul_error *error);

#endif
