/* The second layer: loops as steps, their queue, and the blocks of steps that one pass runs. It
 * knows arrays, but not where their cells are at the time. */
#ifndef HAUL_TILE_TILE_QUEUE_H
#define HAUL_TILE_TILE_QUEUE_H

#include "tile/tile_field.h"

enum {
    HL_TILE_USES = 16,
    HL_TILE_VALUE_BYTES = 192,
    HL_TILE_STEPS_QUEUED = 1024,
    HL_TILE_BLOCK_FIELDS = 32
};

typedef struct hl_tile_field_use {
    hl_tile_field *field;
    bool reads;
    bool writes;
    bool is_all; /* read anywhere: it is on the device as a whole */
    int halo;
    haul_access reduction; /* SUM, MIN, MAX; else 0 */
    int number;            /* its type */
    bool is_last;          /* the program discards the values after the step */
} hl_tile_field_use;

/* A loop with reductions that runs in parts: its rows are those of the whole box, and are folded by
 * whoever cut it, when all parts have run. */
typedef struct hl_tile_cut_loop {
    haul_box box;
    void *rows[HL_TILE_USES]; /* of the parts on the host; NULL: there are none */
} hl_tile_cut_loop;

/* A loop of the queue, or, where `source` is NULL, setting the cells beyond uses[0]'s edges. */
typedef struct hl_tile_step {
    const haul_kernel_source *source;
    haul_box box;
    unsigned use_count;
    hl_tile_field_use uses[HL_TILE_USES];
    _Alignas(16) unsigned char values[HL_TILE_VALUE_BYTES];
    double flops;
    bool on_host;
    bool is_ordered; /* its cells are computed in order, by one thread of the host */
    int outer;       /* the last dimension of the box */
    int length; /* planes of the fields that it goes along with, and `first` and `whole` of them */
    int first;
    int whole;
    int region_asked; /* for arrays of which the program has not said it; 0: there are none */
    bool is_exchange; /* of uses[0]'s ghost planes with other processes */
    bool is_own;      /* other processes' queues have not the same loop */
    unsigned turn;    /* exchanges for loops so far, on all processes; 0: it is for edges */
    unsigned
        others; /* of one in turns: loops before it that are not, also those without cells here */
    bool is_untold;   /* which the host has set: its memory gets them, too */
    int skew;         /* planes and rows that the step is behind the front of its block */
    haul_fused fused; /* steps 0: a loop by itself; else so many of uses[0] and uses[1] in turn */
    hl_tile_cut_loop *cut; /* the loop that it is a part of; NULL: it is all of it */
} hl_tile_step;

/* Loops that wait to be run. */
typedef struct hl_tile_queue {
    hl_tile_step *steps;
    size_t count;
    size_t capacity;
    unsigned turns;     /* loops that exchanges were queued for */
    unsigned others;    /* loops that are not run in turns */
    bool keeps_all;     /* also loops whose results nothing reads: they are checked */
    haul_error failure; /* of a call that could not return it; the next one does */
} hl_tile_queue;

typedef struct hl_tile_block_field {
    hl_tile_field *field;
    bool is_aligned; /* else it is brought wholly */
    bool is_fresh;   /* overwritten before it is read: nothing is brought */
    bool is_written;
    bool is_result;    /* of a reduction */
    bool is_dead;      /* overwritten after the block before it is read */
    bool is_discarded; /* dead, but not overwritten: any values will do */
    int write_skew;
    int read_skew; /* with the halo; -1: not read */
} hl_tile_block_field;

/* On the host a pass goes round a dimension of `length` cells in which an array is periodic: step i
 * begins skew + beyond cells after its start, and ends as far behind its end. Length 0: it does
 * not. */
typedef struct hl_tile_round {
    int length;
    int beyond; /* cells beyond an edge, of all arrays at most */
} hl_tile_round;

/* Steps that run in one pass: step i does planes front - skew when the front is there. */
typedef struct hl_tile_block {
    hl_tile_step *steps;
    size_t count;
    size_t loops; /* a step may be several */
    int length;
    int reach;     /* planes behind the front that are still read */
    bool is_first; /* of the queue, for the model */
    bool is_last;  /* of the queue */
    int host_from; /* plane from which on the host needs it after the pass, also where it is dead */
    bool wraps;    /* goes round the array: its fields are periodic in the last dimension */
    hl_tile_round rounds[2]; /* of planes and of rows, on the host */
    hl_tile_block_field fields[HL_TILE_BLOCK_FIELDS];
    unsigned field_count;
} hl_tile_block;

typedef struct hl_tile_block_limits {
    size_t steps; /* loops */
    int reach;
    bool in_host_rows;
    bool can_round; /* planes and rows, on the host */
    int region;     /* planes */
    bool wraps;     /* takes steps that can go round the array alone */
    size_t ahead;   /* steps after those that may be taken: they tell which results are of use */
} hl_tile_block_limits;

/* Whether the step's planes are those of the array: a loop of fewer dimensions goes over the
 * array's last ones, and an array of fewer than the loop, or that it reads all of, is read
 * anywhere. */
static inline bool hl_tile_is_along(const hl_tile_step *step, const hl_tile_field_use *use)
{
    return !use->reduction && !use->is_all && use->field->dims > step->outer &&
           use->field->length == step->length && use->field->whole == step->whole;
}

/* Whether the result is set when all parts of the loop have run, not by the step. */
static inline bool hl_tile_is_set_later(const hl_tile_step *step, const hl_tile_field_use *use)
{
    return step->cut && use->reduction;
}

/* Whether several devices run the step in turn with others. */
static inline bool hl_tile_step_is_relayed(const hl_tile_step *step)
{
    bool is_one = false;
    for (unsigned u = 0; u < step->use_count; u++)
        is_one = is_one || step->uses[u].field->is_relayed;
    return is_one;
}

/* Setting edges is no loop of the program's. */
static inline unsigned hl_tile_loops_of(const hl_tile_step *step)
{
    return step->fused.steps ? (unsigned)step->fused.steps : step->source != NULL;
}

/* Whether fused steps go on beyond the last plane with the first ones. */
static inline bool hl_tile_step_turns(const hl_tile_step *step)
{
    return step->fused.steps && step->fused.edges[2] == HAUL_EDGE_PERIODIC;
}

/* The step's box as kernels see it. */
static inline haul_box hl_tile_box_moved(haul_box box, int outer, int planes)
{
    box.lo[outer] += planes;
    box.hi[outer] += planes;
    return box;
}

/* A value's bytes among a step's, aligned as any type needs. */
static inline size_t hl_tile_value_bytes(const haul_kernel_parameter *parameter)
{
    return ((size_t)parameter->bytes + 15) / 16 * 16;
}

/* The bounds within which the step's kernel may use an array, and an error that tells of an access
 * of other cells. */
haul_bounds hl_tile_bounds_of(const hl_tile_step *step, unsigned use, haul_fault *fault);
haul_status hl_tile_fault_tell(const hl_tile_step *step, const haul_fault *fault,
                               haul_error *error);
/* The name of an array in the kernel's text. */
const char *hl_tile_name_of(const hl_tile_step *step, unsigned use);
size_t hl_tile_name_length(const hl_tile_step *step, unsigned use);

/* A loop as the program gives it. */
typedef struct hl_tile_asked_loop {
    const haul_kernel_source *kernel;
    const void *const *arguments;
    size_t count;
    const haul_loop_options *options; /* NULL: none */
    bool is_own;                      /* each process has loops over its own cells alone */
} hl_tile_asked_loop;

/* USAGE where the loop says types of its arguments that are not those of the kernel. */
haul_status hl_tile_types_check(const hl_tile_asked_loop *loop, haul_error *error);
/* Makes a step of a loop's arguments; USAGE where the loop cannot be. Without a box it goes over
 * all cells of the array that it goes along with. */
haul_status hl_tile_step_make(hl_tile_step *step, const haul_context *context,
                              const hl_tile_asked_loop *loop, haul_error *error);
/* Gives arrays of which the program did not say the size of a region that of the step's others.
 * Needs: no loop that uses them is queued. */
void hl_tile_step_ask_region(const hl_tile_step *step);
/* USAGE where the step uses cells of an array that another process has, beyond its halo. */
haul_status hl_tile_step_check_shares(const hl_tile_step *step, haul_error *error);
/* The part of the step's box that is this process's, counted from its first plane, and so many
 * planes of its neighbours'. */
void hl_tile_step_localise(hl_tile_step *step, int margin);
/* Whether the step's box, which is not yet cut, has cells beyond the array's edges. */
bool hl_tile_step_goes_beyond(const hl_tile_step *step, const hl_tile_field *field);
bool hl_tile_step_is_empty(const hl_tile_step *step);
/* How many planes of its neighbours' a process computes with the step, whose box is not yet cut.
 * `sent` says of which uses ghost planes come before it; more are added where that gives more
 * planes. The other notes what is known of the arrays after the step. */
int hl_tile_margin_choose(const hl_tile_step *step, bool sent[HL_TILE_USES]);
void hl_tile_margin_note(const hl_tile_step *step, int margin);

/* Tells the program of a failure that left wrong values in an array that the step reads. */
haul_status hl_tile_step_check_failures(const hl_tile_step *step, haul_error *error);
/* A loop over no cells is not queued, but is refused, and says what its arrays hold, as others do.
 */
haul_status hl_tile_step_note_empty(const hl_tile_step *step, haul_error *error);
/* Queues the step, and before it the setting of edges that it reads and that are stale; a loop that
 * goes on where the last one ends becomes part of it. */
haul_status hl_tile_queue_step(hl_tile_queue *queue, hl_tile_step *step, haul_error *error);

/* Failures that a call cannot return: kept for the next that can. Taking one clears it. */
void hl_tile_failure_keep(hl_tile_queue *queue, const haul_error *failure);
haul_status hl_tile_failure_take(haul_error *failure, haul_error *error);

/* Whether the step sets every cell of the field, reading none of it. */
bool hl_tile_step_overwrites(const hl_tile_step *step, const hl_tile_field *field);
bool hl_tile_step_uses(const hl_tile_step *step, const hl_tile_field *field);
/* Whether the step uses planes of the part, or is up to `halo` planes from them. */
bool hl_tile_step_touches(const hl_tile_step *step, const hl_tile_field_use *use, int halo,
                          int part);

/* Takes the longest block that may begin with the first of `count` steps. */
void hl_tile_block_take(hl_tile_block *block, hl_tile_step *steps, size_t count,
                        const hl_tile_block_limits *limits);
/* Planes that an array's last region has less than the others: when a pass that goes round the
 * array has been there, steps are so many planes further behind, counted in regions. */
static inline int hl_tile_planes_missing(int length, int region)
{
    return (region - length % region) % region;
}

/* Whether a pass over regions of so many planes that goes round the array can run the step. */
bool hl_tile_step_goes_round(const hl_tile_step *step, int region);
/* An array whose planes the block's steps go along. */
const hl_tile_field *hl_tile_block_along(const hl_tile_block *block);

/* Reductions: where the results of a step's rows are and how many they are; the groups that take
 * the rows of a box; memory for the results on the host, which the caller frees. */
haul_rows hl_tile_rows_of(const hl_tile_step *step, const hl_tile_field_use *use, uint64_t *count);
const haul_box *hl_tile_rows_box(const hl_tile_step *step);
haul_box hl_tile_row_groups(const haul_box *box, int dims);
void *hl_tile_rows_new(const hl_tile_step *step, const hl_tile_field_use *use, uint64_t *bytes);
/* An argument of the kernel that folds: tile_reduce.kernel.h's fold_shape. */
typedef struct hl_tile_fold {
    long count;
    double identity;
} hl_tile_fold;

/* How many partial results so many rows have: FOLD of them are folded to one. */
uint64_t hl_tile_fold_parts(uint64_t rows);
/* The kernel that folds, and what folded with any value gives that value. */
const haul_kernel_source *hl_tile_fold_of(const hl_tile_field_use *use);
double hl_tile_fold_identity(const hl_tile_field_use *use);
void hl_tile_fold_set_identity(const hl_tile_field_use *use, void *at);
/* To the second of two results, both; or from the results of so many rows to the array's one
 * element, on the host; behind the rows is room for the partial ones. */
void hl_tile_fold_pair(const hl_tile_field_use *use, const void *first, void *second);
void hl_tile_fold_on_host(const hl_tile_field_use *use, void *rows, uint64_t count);
void hl_tile_rows_fold(const hl_tile_step *step, const hl_tile_field_use *use, void *rows);

#endif
