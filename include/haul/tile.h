/* Arrays in regions, and loops over them that run on any device, with the copies hidden and several
 * loops run while a region is on the device. docs/tiles.md has programs.
 *
 * An array's planes are its cells with one index of the last dimension. A region is a run of
 * planes: the unit of transfer and of execution. Host and device each may hold a current copy of a
 * region.
 *
 * Loops are queued. They run, in an order that gives the results of running one after another, when
 * the host wants data, waits, or has queued many. A failure of a loop is returned by the call that
 * made it run, or by the next one where that returns none, and once by the first read of each array
 * that the loops were to set, or by the first loop that reads it; the regions that the host had
 * current stay so.
 *
 * Threads: a context, its device and its arrays are used by one thread at a time. */
#ifndef HAUL_TILE_H
#define HAUL_TILE_H

#include "haul/device.h"
#include "haul/kernel_source.h"

HAUL_BEGIN

typedef struct haul_context haul_context;
typedef struct haul_array haul_array;

/* A message of a process to or from another. */
typedef struct haul_process_message {
    int peer;
    int label; /* at both ends the same, from 0 to 16383 */
    bool is_send;
    void *cells;
    uint64_t bytes;
} haul_process_message;

/* The processes that share a program's arrays: haul_comm_processes of haul/mpi.h. Each function
 * returns an error that another process told. */
typedef struct haul_processes {
    void *of; /* first argument of each */
    int rank;
    int count;
    /* Starts at most 256 messages, where none are under way; those between the same two arrive in
     * order. Their memory is in use until `finish` returns. */
    haul_status (*start)(void *of, const haul_process_message *messages, int count,
                         haul_error *error);
    haul_status (*advance)(void *of, haul_error *error); /* MPIs work on them in calls alone */
    haul_status (*finish)(void *of, haul_error *error);
    /* `bytes` bytes of each process, in the order of ranks, to all. */
    haul_status (*gather)(void *of, const void *own, size_t bytes, void *all, haul_error *error);
    void (*tell)(void *of, const haul_error *error); /* ends the others' waits with this error */
} haul_processes;

/* Zero is the default of each: the machine's model chooses. */
typedef struct haul_context_options {
    const haul_device_options *device_options;
    uint64_t memory_bytes; /* each device's, for arrays; 0: nine tenths of what is free */
    unsigned steps;        /* loops that run while a region is on the device; in cache on a CPU */
    int region;            /* planes a region, of arrays that do not say */
    int rows;              /* rows a tile on a CPU */
    bool keep_plan;        /* for haul_context_plan_write */
    /* Part of an array's regions that the host's threads take while the device works on the others;
     * negative: none. The model chooses it for arrays that stream through the device, and the times
     * of both sides correct it. */
    double host_share;
    const haul_machine *machine; /* its model; NULL: of `sim` its own, else what the device says */
    const haul_processes *processes; /* arrays are divided over them; NULL: this one alone */
    bool exchange_first;             /* loops wait for ghost cells: to see what overlap saves */
    unsigned fused; /* loops of a stencil that one launch runs, on chip: 3, 5 or 7; 1: none */
    /* Each access of a kernel is checked against what the kernel declares, and the host's reads are
     * compared with plain runs of the same loops: for tests, as the host then runs all loops too
     * and arrays take twice the memory. Not with a time limit. The environment's HAUL_CHECK=1 asks
     * for it as well. */
    bool check;
    /* The program's own CUstream, hipStream_t or cl_command_queue (haul_stream_wrap): kernels run
     * there, behind what the program has queued on it before a call of haul and before what it
     * queues after. It must outlive the context. An OpenCL device is opened in its context. */
    void *stream;
    /* Loops between exchanges of ghost planes: 1 is one before each loop that reads them; with
     * more, processes compute so many loops of planes of their neighbours', too. 0: several devices
     * of one process as the model chooses, processes 1. */
    unsigned exchange_steps;
    /* Arrays that stream through several devices: 1: each device runs some of the loops over all
     * planes, in turns, where loops can; negative: devices divide the planes; 0: as the model
     * chooses. */
    int relay;
    /* A profile of what the context does is written to this file when it is closed, or the program
     * exits: copies with their arrays and planes, kernels, loops on the host, exchanges and waits.
     * JSON of Chrome's trace events, which Perfetto opens and `haul analyze` reads; a database
     * where the name ends in .sqlite. Contexts of one process that name one file share it. %p in
     * the name is the process, %h the host; of several processes of MPI a name without %p gets the
     * rank. NULL: as the environment's HAUL_TRACE says. IO where it cannot be written. */
    const char *trace;
    uint64_t reserved[1]; /* zeros: see haul/api.h */
} haul_context_options;

/* Opens the device (see haul_device_open) and a context on it. `options` may be NULL. The caller
 * closes *context, after its arrays.
 *
 * Several devices work as one where `device` is a list, "cuda:0,cuda:1", "sim:k40,sim:k40,host", or
 * all GPUs of a kind, "cuda:*", "sim:lassen:*": the program stays the same. Each has a context of
 * its own, with these options, and a thread; arrays' planes are divided over them as their memory
 * is fast, or evenly where that is not known of all, and the planes that neighbours need go through
 * the host's memory. Arrays that a loop reads anywhere, that it writes beside those it goes along
 * with, that it reads further than they have cells beyond their edges, and those with too few
 * planes are held by each device as a whole: an array that loops use in both ways is divided and
 * made whole between them. Sums of floating-point numbers may be rounded otherwise. No array is in
 * a file, tiles (haul_tiles) do not end with regions, and there are no processes beside.
 *
 * USAGE for negative regions or rows, a share above 1, and other
 * numbers of fused loops than 1, 3, 5 and 7. */
HAUL_API haul_status haul_context_open(const char *device, const haul_context_options *options,
                                       haul_context **context, haul_error *error);
HAUL_API void haul_context_close(haul_context *context);
/* Of several devices the first. */
HAUL_API haul_device *haul_context_device(haul_context *context);

/* Runs what is queued, and returns when it has ended. haul_context_start does not wait. */
HAUL_API haul_status haul_context_wait(haul_context *context, haul_error *error);
HAUL_API haul_status haul_context_start(haul_context *context, haul_error *error);

/* Work of a context since it was opened; of several devices that of all, but `loops`, and the
 * longest time. */
typedef struct haul_context_counts {
    uint64_t bytes_up; /* host to device */
    uint64_t bytes_down;
    uint64_t copies;
    uint64_t kernels;
    uint64_t loops;
    uint64_t passes;       /* over the regions, each of one or more loops */
    uint64_t device_bytes; /* allocated now */
    uint64_t host_bytes;
    /* The model's time of the first loops that ran on the device together, to the end of their
     * kernels, and that with all copies hidden but the first region's; 0 on the host. */
    double predicted_s;
    double bound_s;
    uint64_t exchanges; /* of ghost cells with other processes */
    uint64_t bytes_sent;
    double exposed_s; /* waited for them, after the loops' inner cells were computed or queued */
} haul_context_counts;

HAUL_API haul_context_counts haul_context_count(const haul_context *context);

/* Explains the context's choices in lines of text. The caller frees *text. */
HAUL_API haul_status haul_context_explain(const haul_context *context, char **text,
                                          haul_error *error);

/* Writes what the context has queued on its device, as a workload that `haul simulate` reads: CSV
 * where `path` ends in .csv, else YAML. Kernels have the times of the context's device, or, on a
 * simulated one, of its machine. Over several processes all call it, and the first writes the
 * operations and messages of all, as CSV. USAGE where the context does not keep a plan, or has more
 * operations than YAML holds. */
HAUL_API haul_status haul_context_plan_write(haul_context *context, const char *path,
                                             haul_error *error);

/* The values of the cells beyond an array's edge. FIXED ones keep what the host wrote; before a
 * loop reads neighbours of an array that has changed, the others are set: to the nearest cell, or
 * to the cell of the opposite edge. */
typedef enum haul_boundary {
    HAUL_BOUNDARY_FIXED,
    HAUL_BOUNDARY_COPY,
    HAUL_BOUNDARY_PERIODIC,
} haul_boundary;

typedef struct haul_array_spec {
    int size[3];            /* cells; dimensions of 0 are not there: {5, 0} is five cells in a row,
                             * whatever the ghosts and boundaries of the others; {0} has none */
    uint64_t element_bytes; /* 0: a double's */
    int ghost[3];           /* cells beyond each edge */
    haul_boundary boundary[3];
    /* Sets cells beyond the edge instead: a kernel of one array, HAUL_UPDATE, that runs over each
     * face's cells. */
    const haul_kernel_source *boundary_kernel;
    int region; /* planes a region, of which the last may have fewer; 0: the context's, or that
                 * of the arrays that a loop uses beside it, or chosen */
    const char *file; /* keep the array in this file, which is made, or read where its size fits;
                       * of several processes: each its own planes */
    bool on_all; /* every process has the whole array, as tables are had: loops that change it run
                  * on all. So is an array of one cell */
    /* The type of the elements; 0: as the first kernel that uses them says, or, where
     * `element_bytes` is 0, doubles. Kernels of another kind are then refused. */
    haul_element element;
    /* The array is kept in memory that the program owns, which has its contents when it is made,
     * and again when it is freed: until then the program uses it as haul_array_access says, and it
     * must live. Nothing is copied for that. Cells follow each other, x first, those beyond the
     * edges among them: a C array [size 2 + 2 ghost 2][size 1 + 2 ghost 1][size 0 + 2 ghost 0]. */
    void *cells;
    /* The same in memory of the device: an address of CUDA or HIP, a cl_mem of the context of the
     * `queue` in the device's options or of the context's `stream`, on `sim` memory of the host. It
     * counts not as the context's. What the program queued on it has ended, or is on the context's
     * `stream`. */
    void *device_cells;
    const char *name;     /* in traces, copied; NULL: as the first kernel that uses it calls it */
    uint64_t reserved[1]; /* zeros: see haul/api.h */
} haul_array_spec;

/* Makes an array of zeros, or of the contents of its file or memory. Returns USAGE for a negative
 * size or ghost width, a size above 2^30 - 1 with its ghosts, a size 0 before one that is not, a
 * boundary kernel of other arrays, or memory of the program's where the array is divided or in a
 * file, the memory is not aligned for its elements or the context's device has no data; ABSENT for
 * `device_cells` on a device that cannot wrap memory, or the host; NO_MEMORY, also for more than
 * the host's memory without a file; and IO for a file that cannot be had or that the disk has no
 * room for. The caller frees *array.
 *
 * Over several processes the planes are divided evenly, in the order of ranks, and indices remain
 * those of the whole array. All processes make the same arrays and queue the same loops in the same
 * order; each runs its own planes, while the ghost cells that it needs are on their way. Where the
 * host changes cells of an array between two loops, all processes do, each in regions of its own:
 * their neighbours are then sent to. USAGE for an array with fewer planes a process than one, or
 * than it has ghost planes, or whose boundary's kernel reads further than those. */
HAUL_API haul_status haul_array_new(haul_context *context, const haul_array_spec *spec,
                                    haul_array **array, haul_error *error);

/* Runs what is queued where the array is used. A failure is returned by the next call that returns
 * one. Takes NULL. */
HAUL_API void haul_array_free(haul_array *array);

/* Exchanges the contents of two arrays of the same shape, without moving any. Each keeps its
 * boundary's kernel and its file: the files exchange their names, and the program's memory goes
 * with the contents. USAGE for arrays of different shapes or kinds of elements, and for one in a
 * file and one in memory, or one in the program's memory and one that is not; IO where files cannot
 * be renamed, as on different disks. */
HAUL_API haul_status haul_array_swap(haul_array *a, haul_array *b, haul_error *error);

/* Says that the array's values are not needed any more once the loops that are queued have run:
 * they are not copied back. Until they are set again they may be any; fixed cells beyond the edges
 * stay. An array whose cells beyond the edges a loop or its boundary's kernel has set keeps all its
 * values: those cells are copied back with the others. */
HAUL_API void haul_array_discard(haul_array *array);

typedef enum haul_use {
    HAUL_USE_READ = 1,
    HAUL_USE_WRITE = 2, /* alone: all cells of the region, ghosts too, will be set */
    HAUL_USE_BOTH = 3,
} haul_use;

/* A region as the host sees it: cell (x, y, z) of the array, with first <= last index < end, is at
 * cells + (z - first) * plane + y * row + x elements. `cells` is NULL on a device without data. */
typedef struct haul_region {
    void *cells;
    int64_t row; /* elements */
    int64_t plane;
    int first;
    int end;
    unsigned owner; /* the process that holds it: this one */
} haul_region;

/* A region's cell by its indices in the array, of three dimensions, two and one:
 * HAUL_CELL(region, double, x, y, z) = 1. */
#define HAUL_CELL(region, type, x, y, z)                                                           \
    (((type *)(region).cells)[((z) - (region).first) * (region).plane + (y) * (region).row + (x)])
#define HAUL_CELL2(region, type, x, y)                                                             \
    (((type *)(region).cells)[((y) - (region).first) * (region).plane + (x)])
#define HAUL_CELL1(region, type, x)                                                                \
    (((type *)(region).cells)[((x) - (region).first) * (region).plane])

/* Runs what is queued, and returns how many this process holds; 0 after a failure, which the next
 * call that returns one gives. Where the program did not say the size of a region, it is chosen
 * anew when the first loops run. */
HAUL_API int haul_array_regions(haul_array *array);

/* Gives the host a region: runs what is queued, and waits for what this region needs, not for
 * others. The host may use it until the next loop that uses the array is queued. Planes beyond the
 * edge belong to the first and the last region. USAGE for a region that is not there. */
HAUL_API haul_status haul_array_access(haul_array *array, int index, haul_use use,
                                       haul_region *region, haul_error *error);

/* An array as kernels and libraries of others find it on the device: cell (x, y, z) is the element
 * number first + z * plane + y * row + x of the buffer. */
typedef struct haul_device_cells {
    void *memory; /* haul_buffer_native of it: an address of CUDA or HIP, a cl_mem; on the host, and
                   * as the host's own, the address of its first element */
    haul_buffer *buffer; /* NULL on the host */
    int64_t first;       /* elements, as the next: of cell (0, 0, 0) */
    int64_t row;
    int64_t plane;
} haul_device_cells;

/* Gives the program the array on the device, until the next call that uses the array: runs what is
 * queued, and brings what the device does not have, but where all cells are to be set (WRITE alone)
 * and there are none beyond the edges. Those that the program sets are the array's from then on;
 * cells beyond the edges are not set before, and are left alone. The program's work goes to the
 * context's `stream`; without one this call waits for haul's, and the program's has to end before
 * the next call. USAGE over several devices or processes, where the context checks loops, and
 * without data; DEVICE_FULL where the device cannot hold all of the array. */
HAUL_API haul_status haul_array_access_device(haul_array *array, haul_use use,
                                              haul_device_cells *cells, haul_error *error);

/* Copies the whole array, without ghosts and gaps, to or from `cells`. All processes call it: each
 * gets the whole array, and gives its own planes of it. Planes that were lost with a device can be
 * written again: fixed cells beyond the edges are then as the host last had them. */
HAUL_API haul_status haul_array_read(haul_array *array, void *cells, haul_error *error);
HAUL_API haul_status haul_array_write(haul_array *array, const void *cells, haul_error *error);

/* Copies those cells of `from` whose flag is not 0 to the first cells of `to`, in their order, x
 * first, and sets *count to how many they are (a compaction, as Thrust's copy_if). `flags` has the
 * shape of `from`, and integers of any size; it may be `from`. `to` may have any shape; its other
 * cells stay. NULL for `to` only counts. Runs what is queued. A device that holds all of `from` and
 * of the flags, and has room for `to`, does it there; else the host's threads do: the flags come
 * from the device, then `from` up to the last of those cells and the part of `to` that is set,
 * which later loops send back. Over several devices the host does it with one thread. On any
 * devices the result is the same. USAGE, before anything changes, for more cells than `to` has,
 * flags of another shape or that are no integers, elements of another size or kind, a `to` that is
 * one of the others, and arrays of different contexts, that several processes share, or without
 * data. After another failure `to` may have some of the cells; *count is set on success alone. */
HAUL_API haul_status haul_array_compact(haul_array *from, haul_array *flags, haul_array *to,
                                        uint64_t *count, haul_error *error);

/* Writes the array, without the cells beyond its edges, as a file that NumPy's numpy.load opens
 * (.npy): a[z, y, x], integers as signed ones, structs as bytes; where `path` ends in .vti, as
 * VTK's image data, which ParaView opens, with the cells as cells of edges of length 1; where it
 * ends in .h5 or .hdf5, as HDF5's array "cells", or, after a colon, of another name:
 * "run.h5:/fields/u", alone in the file. The file takes the place of an older one when all of it is
 * on the disk. Runs what is queued. Of several processes, which all call it, each writes its own
 * planes into the one file, that one process alone would write: `path` is on a disk that they
 * share. All return the same: IO where the file cannot be written, ABSENT without the library of
 * HDF5 (1.10 or newer): the program's own, or one that is loaded, in which haul has one thread at a
 * time. */
HAUL_API haul_status haul_array_save(haul_array *array, const char *path, haul_error *error);

/* Sets the array's cells, not those beyond its edges, from such a .npy of its shape and type, in
 * this machine's order of bytes, or from an array in an HDF5 file, also one of others, in chunks or
 * compressed, whose numbers are in any order of bytes. Takes memory for all of them meanwhile, in
 * each of several processes. BAD_INPUT for another file, shape, type or length, before the array
 * changes, in any of them. */
HAUL_API haul_status haul_array_load(haul_array *array, const char *path, haul_error *error);

/* An array and its name in a file of several. */
typedef struct haul_named_array {
    const char *name;
    haul_array *array;
} haul_named_array;

/* Writes arrays into one file, for a program that goes on from it later (a checkpoint): all of
 * their cells, those beyond the edges too. numpy.load opens it (.npz): file["u"][z, y, x], where
 * each index counts from the first cell beyond the edge. Each array has a checksum. Runs what is
 * queued, and waits for each region where it is written; the file takes the place of an older one
 * when all of it is on the disk. Of several processes, which all call it with the same arrays, each
 * writes its own planes, as haul_array_save does, and all return the same. USAGE for two arrays of
 * one name, for more than 256, and for a name of an HDF5 file, IO where the file cannot be written.
 */
HAUL_API haul_status haul_arrays_save(const haul_named_array *arrays, size_t count,
                                      const char *path, haul_error *error);
/* The same while later loops run: returns when the arrays are copied to memory of the host, of
 * which it takes as much again, and a thread writes them from there. The file has the arrays as
 * they are at the call. The next call of haul_arrays_ in the first array's context waits for the
 * thread before it does anything, and returns its failure; haul_arrays_save_finish does that alone,
 * and haul_context_close waits too, but tells no failure. Errors as above; NO_MEMORY where the host
 * cannot hold the copy. Contexts that write at the same time write different files. Of several
 * processes it is haul_arrays_save. */
HAUL_API haul_status haul_arrays_save_start(const haul_named_array *arrays, size_t count,
                                            const char *path, haul_error *error);
HAUL_API haul_status haul_arrays_save_finish(haul_context *context, haul_error *error);

/* Sets arrays from such a file, which may have others, too, and may be numpy.savez's. It is read
 * and checked as a whole before the first array changes: BAD_INPUT where an array's bytes or name
 * are not those that were written, where the file ends early, has not all of the arrays, or one of
 * another shape or type. (The type of an array's elements is known from haul_array_spec's
 * `element`, or from its first loop.) Devices, regions, and the numbers of devices and processes
 * may be other ones than those of the program that wrote it. Each of several processes checks a
 * part of the file's arrays and reads its own planes; all return the same. */
HAUL_API haul_status haul_arrays_load(const haul_named_array *arrays, size_t count,
                                      const char *path, haul_error *error);

/* An argument of a loop as the compiler knows it. */
typedef struct haul_argument_type {
    size_t bytes;         /* of a value; 0: not known */
    haul_element element; /* likewise; ANY: not known */
    bool is_array;
} haul_argument_type;

typedef struct haul_loop_options {
    const haul_box *box; /* the indices; NULL: those of the first array that is written */
    double flops;        /* per cell, for models */
    bool on_host;
    const haul_argument_type *types; /* of the arguments, as many; NULL: not known */
    uint64_t reserved[3];            /* zeros: see haul/api.h */
} haul_loop_options;

/* Queues a loop: `kernel` for every index of the box. `arguments` are, for each parameter in turn,
 * a haul_array * or a value's address; values are copied. `options` may be NULL. A kernel of fewer
 * dimensions than an array goes over the array's last ones; one of more may read any of the array's
 * cells, as of arrays of one cell and of those that it declares with HAUL_ALL; it may add to any of
 * those that it declares with HAUL_SCATTER. All other cells that it uses, up to its halo, must be
 * within the arrays and their ghosts. A reduction's argument is an
 * array of one element, which the loop sets. USAGE where arguments do not fit the kernel, by their
 * number, their elements' size or kind, the `types` that are told, or the box, where it has no
 * array of its dimensions, where an array that is written is given twice, or where arrays of as
 * many planes are to have different regions. */
HAUL_API haul_status haul_loop_queue(haul_context *context, const haul_kernel_source *kernel,
                                     const void *const *arguments, size_t count,
                                     const haul_loop_options *options, haul_error *error);

/* The same in C, with the arguments in a row, at most 32, and their types: the address of a float
 * where the kernel has a double, or of a value where it has an array, is USAGE. That of a void or a
 * character may be any value's. The address of a haul_array *, in place of the pointer, does not
 * compile. A comma within an argument needs parentheses around it. */
#define HAUL_LOOP(context, error, kernel, ...)                                                     \
    haul_loop_queue(                                                                               \
        context, kernel, (const void *const[]){HAUL_EACH(HAUL_LOOP_ARGUMENT, __VA_ARGS__)},        \
        HAUL_UNIT_COUNT(__VA_ARGS__),                                                              \
        &(const haul_loop_options){                                                                \
            .types = (const haul_argument_type[]){HAUL_EACH(HAUL_LOOP_TYPE, __VA_ARGS__)}},        \
        error)
#define HAUL_LOOP_TYPE(index, argument)                                                            \
    {_Generic((argument), HAUL_SIZELESS(0), default : 1) *                                         \
         sizeof *_Generic((argument), HAUL_SIZELESS((const char *)0), default                      \
                          : (argument)),                                                           \
     _Generic(                                                                                     \
         (argument), HAUL_POINTER(float, HAUL_ELEMENT_FLOATING),                                   \
         HAUL_POINTER(double, HAUL_ELEMENT_FLOATING), HAUL_POINTER(int, HAUL_ELEMENT_INTEGER),     \
         HAUL_POINTER(unsigned, HAUL_ELEMENT_INTEGER), HAUL_POINTER(long, HAUL_ELEMENT_INTEGER),   \
         HAUL_POINTER(unsigned long, HAUL_ELEMENT_INTEGER), default                                \
         : HAUL_ELEMENT_ANY),                                                                      \
     _Generic((argument), HAUL_POINTER(haul_array, true), default                                  \
              : false)},
#define HAUL_POINTER(type, is) type * : (is), type const * : (is)
#define HAUL_SIZELESS(is)                                                                          \
    HAUL_POINTER(void, is), HAUL_POINTER(char, is), HAUL_POINTER(unsigned char, is),               \
        HAUL_POINTER(haul_array, is), HAUL_POINTER(haul_array *, is)
#define HAUL_LOOP_ARGUMENT(index, argument)                                                        \
    _Generic((argument), haul_array * * : (haul_not_an_array){0}, default : (argument)),

/* In place of an argument of a loop that is the address of an array's pointer: no pointer. */
typedef struct haul_not_an_array {
    int is_none;
} haul_not_an_array;

/* Runs loops of the kernel's source with this kernel, which the program compiled itself
 * (haul_kernel_wrap, haul_kernel_load) for haul_context_device's device; one of haul_kernel_new
 * takes its place again. It has to do what the source's text does, up to rounding: the host runs
 * the text in its share of a loop, in loops on the host and in the checked mode, which compares
 * both. A launch is a part of a loop, never several, also of a stencil; cells are where its views
 * say. Loops that are queued run first, as they would. The kernel is the context's from then on,
 * which frees it when it gets another for the source or is closed. USAGE for a context on several
 * devices, a kernel of another device, and a source without a function for the host; the kernel
 * stays the caller's where the call fails. */
HAUL_API haul_status haul_context_use_kernel(haul_context *context, haul_kernel *kernel,
                                             haul_error *error);

/* The paper's shape (TiDA-acc, 2017, section V): tiles of `size` cells of an array, region by
 * region. A size of 0 is the region's.
 *
 *     haul_tiles tiles = haul_tiles_make(array, NULL);
 *     for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
 *         haul_tiles_compute(&tiles, &kernel, arguments, count, NULL, &error);
 */
typedef struct haul_tiles {
    haul_array *array;
    int size[3];
    haul_box box; /* of the tile */
    bool on_device;
    bool is_valid;
} haul_tiles;

HAUL_API haul_tiles haul_tiles_make(haul_array *array, const int size[3]);
HAUL_API void haul_tiles_reset(haul_tiles *tiles, bool on_device);
HAUL_API bool haul_tiles_valid(const haul_tiles *tiles);
HAUL_API void haul_tiles_next(haul_tiles *tiles);

/* Queues the kernel for the cells of the tile that are within `bounds`, or for all: a loop of its
 * own, which finds the arrays as the tiles before it have left them. */
HAUL_API haul_status haul_tiles_compute(const haul_tiles *tiles, const haul_kernel_source *kernel,
                                        const void *const *arguments, size_t count,
                                        const haul_box *bounds, haul_error *error);

HAUL_END

#endif
