/* The lowest layer of the tile runtime: arrays, their parts, and the memory that they share. It
 * knows no loop; a context is a name here, which the upper layers put into fields. */
#ifndef HAUL_TILE_TILE_FIELD_H
#define HAUL_TILE_TILE_FIELD_H

#include "haul/kernel_source.h"
#include "tile/tile_team.h"

/* A region's copies. */
typedef struct hl_tile_part {
    bool on_host;
    bool on_device;
    int shift;          /* of its planes' places in the ring: a pass goes past the array's end */
    bool is_bare;       /* on the device without the fixed cells beyond its planes' edges */
    bool is_given;      /* to the host, to set: the shadow does not have it yet */
    bool is_leaving;    /* a copy to the host is queued, and not yet waited for */
    haul_event *left;   /* that copy has ended; NULL: not asked for */
    haul_event *passed; /* the device's work on it that is queued has ended; the context's */
} hl_tile_part;

typedef struct hl_tile_field hl_tile_field;

/* The arrays of a context, and how much of them the device may hold. */
typedef struct hl_tile_memory {
    haul_device *device;
    const haul_processes *processes; /* NULL: one */
    hl_tile_field *lender; /* of the host's memory of the array that is made next; NULL: none */
    const double *before; /* parts of the planes that the processes before each have; NULL: equal */
    hl_tile_field *fields;
    int fields_made;
    bool is_team; /* the processes are this one's threads */
    bool is_host; /* kernels run on the host's memory */
    /* Of arrays that are made next: loops between exchanges of ghost planes; 0, 1: each */
    unsigned exchange_steps;
    bool without_data;
    int region_given;    /* planes, by the program for all arrays; 0: not */
    int region;          /* chosen; 0: not yet */
    uint64_t budget;     /* bytes of device memory */
    uint64_t ran_out_at; /* budget that the device could not give; 0: never */
    uint64_t host_bytes;
    uint64_t device_bytes;
} hl_tile_memory;

/* The contents of an array: what haul_array_swap exchanges. */
struct hl_tile_field {
    hl_tile_field *next; /* of the memory */
    hl_tile_memory *memory;
    haul_context *context;
    uint64_t element;
    haul_element element_kind;
    char name[48]; /* the program's, or that in the first kernel that used it; "": none yet */
    bool is_needed_whole; /* a loop may use any of it: no part of it streams */
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
    /* Of an array that is divided: planes beyond its own that the process computes, too, at most;
     * planes there that are as their process has them; and whether the host has set the array since
     * they came last. */
    int depth;
    int known;
    bool is_untold;
    uint64_t plane_bytes;
    uint64_t host_bytes;
    char *host; /* plane -edge on; NULL for a device without data */
    haul_buffer *pinned;
    bool is_lent;          /* `host` is the program's memory */
    bool is_borrowed;      /* it is another device's field's */
    bool is_relayed;       /* several devices run loops over all of it in turns */
    bool is_wrapped;       /* the ring is the program's memory: all of the array is there */
    bool starts_on_device; /* of such an array, when it is next divided into regions */
    int file;              /* -1: none */
    char *path;            /* of the file */
    int region;
    int region_asked; /* of it, or of an array that a loop uses beside it; 0: not */
    int region_aside; /* the same of a relayed one, whose region_asked is that of its turns */
    int part_count;
    hl_tile_part *parts; /* NULL until the size of a region is chosen */
    bool ghosts_stale;
    bool ghosts_written; /* by a loop: they are data like others */
    bool planes_stale;   /* those beyond the edges: a pass went round the array without them */
    bool is_stuck;       /* a loop that ran out of time may use it at any time */
    hl_tile_part *parts_aside; /* while the host runs loops on the shadow; else NULL */
    char *shadow;       /* in the checked mode: what the array should hold; NULL until it is used */
    bool is_given;      /* all parts: see there */
    bool is_doubtful;   /* after a failure or a discard no one knows what it holds */
    bool is_discarded;  /* and not set since */
    haul_error failure; /* of loops that were to set it; the program has yet to be told */

    /* Device memory: plane p lies at p modulo `planes`. */
    haul_buffer *ring;
    int planes;
    /* While a column of rows is worked on: what of each plane is on the device; else 0 rows. */
    int window_first;
    int window_rows;
    uint64_t slot_bytes; /* of a plane in the ring */
    /* Ghost planes on their way, out and in, while a pass runs; NULL until there are some. */
    haul_buffer *aside, *sent_host;
    /* Cells beyond the edges within a plane: pairs (where to, where from) of a plane's elements,
     * and their fixed values, plane by plane. */
    haul_buffer *ghost_list;
    haul_buffer *frame;
    int ghost_count;
    bool frame_stale;
    /* Of a reduction's result of which each process has a part: how they are put together, when
     * what was queued has run up to there (0: nothing is), and whether one is queued. */
    haul_access partial;
    int partial_number;
    bool has_no_part;
    bool is_partial;
    /* Of a reduction's result: the rows' results of the loop that last set it. */
    haul_buffer *rows;
    const haul_kernel_source *rows_of;
    unsigned rows_use;
    haul_box rows_box;
};

struct haul_array {
    haul_context *context;
    hl_tile_field *field; /* over several devices that of the first */
    /* Over several devices: the array on each, and which part of it they have. */
    haul_array **of; /* NULL: of one device */
    haul_array_spec spec;
    bool on_all;             /* each has the whole array */
    bool is_relayed;         /* which is the same memory: they run loops in turns */
    unsigned left_in;        /* the era in which they stopped to do so; 0: they did not */
    bool is_given;           /* the host may have changed the first one's, and it alone */
    bool is_blank;           /* neither the host nor a loop has set it */
    unsigned exchange_steps; /* loops between exchanges; 0: not yet chosen */
};

static inline uint64_t hl_tile_field_offset(const hl_tile_field *field, int plane)
{
    return (uint64_t)(plane + field->edge) * field->plane_bytes;
}

/* A cell in the host's memory. */
static inline char *hl_tile_field_cell(const hl_tile_field *field, const int cell[3])
{
    const int dims = field->dims;
    const int64_t inner =
        field->lead + (dims == 3 ? cell[1] * field->row : 0) + (dims > 1 ? cell[0] : 0);
    return field->host + hl_tile_field_offset(field, cell[dims - 1]) +
           inner * (int64_t)field->element;
}

/* Where the rows on the device begin, in elements of a plane. */
static inline int64_t hl_tile_window_origin(const hl_tile_field *field)
{
    return field->window_rows ? (field->window_first + field->ghost[1]) * field->row : 0;
}

/* The ring's place of a plane. The first is that beyond the edge, so that an array that is there as
 * a whole lies as in the host's memory. */
static inline int hl_tile_ring_place(const hl_tile_field *field, int plane)
{
    const int at = (plane + field->edge) % field->planes;
    return at < 0 ? at + field->planes : at;
}

static inline bool hl_tile_field_is_single(const hl_tile_field *field)
{
    return field->dims == 1 && field->size[0] == 1 && !field->ghost[0];
}

/* Of the array of all processes. */
static inline int hl_tile_field_size(const hl_tile_field *field, int d)
{
    return d == field->dims - 1 ? field->whole : field->size[d];
}

/* All cells, but those beyond the edges. */
static inline int64_t hl_tile_field_cells(const hl_tile_field *field)
{
    int64_t cells = 1;
    for (int d = 0; d < field->dims; d++)
        cells *= hl_tile_field_size(field, d);
    return cells;
}

/* The planes of a region, with those beyond the edge. */
static inline int hl_tile_part_begin(const hl_tile_field *field, int part)
{
    return part ? part * field->region : -field->edge;
}

static inline int hl_tile_part_end(const hl_tile_field *field, int part)
{
    return part + 1 < field->part_count ? (part + 1) * field->region : field->length + field->edge;
}

/* The same as the program sees them: without planes that the process has of its neighbours' to
 * compute them, too. */
static inline int hl_tile_shown_begin(const hl_tile_field *field, int part)
{
    return part ? part * field->region : -field->ghost[field->dims - 1];
}

static inline int hl_tile_shown_end(const hl_tile_field *field, int part)
{
    return part + 1 < field->part_count ? (part + 1) * field->region
                                        : field->length + field->ghost[field->dims - 1];
}

static inline int hl_tile_region_of_program(const hl_tile_field *field)
{
    return field->is_relayed ? field->region_aside : field->region_asked;
}

/* Planes of a region as the program asks for them; 0: it does not. */
static inline int hl_tile_region_asked(const hl_tile_field *field, int length)
{
    const int asked = hl_tile_region_of_program(field);
    return asked < length ? asked : length;
}

static inline bool hl_tile_field_is_all_there(const hl_tile_field *field)
{
    return field->planes >= field->length + 2 * field->edge;
}

/* Whether the array ends where the field does: beyond it are no planes of another process, which
 * come from there and may still be read when the field's own edges are set. */
static inline bool hl_tile_has_edge(const hl_tile_field *field, bool is_high)
{
    return is_high ? field->first + field->length == field->whole : !field->first;
}

/* The host has set cells: planes of neighbours, and all cells beyond edges, are to come anew. */
static inline void hl_tile_field_given(hl_tile_field *field)
{
    field->ghosts_stale = field->is_untold = true;
    field->known = 0;
}

/* Whether processes have a part of the planes each. */
static inline bool hl_tile_is_divided(const hl_tile_field *field)
{
    return field->length != field->whole;
}

/* Device memory for planes of both ends, where several devices exchange them while a pass runs. */
static inline uint64_t hl_tile_bytes_aside(const hl_tile_field *field)
{
    return field->memory->is_team && hl_tile_is_divided(field)
               ? 2 * (uint64_t)field->edge * field->plane_bytes
               : 0;
}

/* USAGE where the program asks for an array that cannot be. */
haul_status hl_tile_spec_check(const haul_array_spec *spec, haul_error *error);
/* NO_MEMORY where the host cannot hold so many bytes beside the arrays. `what` the program can do
 * ends the error. */
haul_status hl_tile_memory_check(const hl_tile_memory *memory, uint64_t bytes, const char *what,
                                 haul_error *error);

haul_status hl_tile_field_new(haul_context *context, hl_tile_memory *memory,
                              const haul_array_spec *spec, hl_tile_field **field,
                              haul_error *error);
/* Needs: no queued work uses the field, and the host has what is to stay in its file. Also frees
 * fields that are half made. */
void hl_tile_field_free(hl_tile_field *field);

/* The first plane of a process, of an array of so many. */
int hl_tile_share_first(const hl_tile_memory *memory, int whole, int rank);

void hl_tile_parts_free(hl_tile_field *field);
/* Needs: nothing on the device. The fields are divided anew, into regions of so many planes. */
void hl_tile_fields_join(hl_tile_memory *memory, int region);
/* Divides the fields that are not yet divided into regions. */
haul_status hl_tile_fields_divide(hl_tile_memory *memory, haul_error *error);

/* Bytes and planes that the budget gives the ring of a field. */
uint64_t hl_tile_ring_bytes(const hl_tile_memory *memory, const hl_tile_field *field);
int hl_tile_ring_planes(const hl_tile_memory *memory, const hl_tile_field *field);

/* The view of a field for planes from `first` on: of the device's ring, or of the host's memory. */
haul_view hl_tile_field_view(const hl_tile_field *field, int first, bool on_device);

/* Adds to indices [*lo, *hi) of a dimension those beyond an edge that they touch, where its cells
 * are fixed: they may have cells beyond edges of other dimensions. */
void hl_tile_ghost_range(const hl_tile_field *field, int d, int *lo, int *hi);
/* Sets cells beyond the edges, of planes and rows [lo, hi), on the host. */
void hl_tile_ghosts_on_host(hl_tile_field *field, const int lo[2], const int hi[2]);
/* Pairs of the cells beyond the edges within a plane and those that they are set from, as elements
 * of the plane; a NULL list only counts. Returns their number. */
int hl_tile_ghost_list(const hl_tile_field *field, int *list);

#endif
