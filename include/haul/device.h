/* Devices: memory, copies, kernels and events on a GPU, an OpenCL device, the host's own cores or a
 * simulated machine, through one interface. docs/devices.md has a program.
 *
 * A stream runs its operations one after another; operations of different streams may overlap. A
 * call that queues an operation returns before the operation has run, and everything that the
 * operation uses must live until it has ended. An operation that fails on the device is reported by
 * the next call that waits for it, or for one behind it on its stream.
 *
 * Threads: devices are listed and opened by several threads at once; a device and its objects are
 * used by one thread at a time, different devices by different threads. Free a device's objects
 * before the device. A free function takes NULL, and waits for the operations that use its object.
 */
#ifndef HAUL_DEVICE_H
#define HAUL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "haul/machine.h"

HAUL_BEGIN

typedef struct haul_device haul_device;
typedef struct haul_buffer haul_buffer;
typedef struct haul_stream haul_stream;
typedef struct haul_event haul_event;
typedef struct haul_kernel haul_kernel;

/* Abilities of a device beyond device memory, pinned memory, copies and kernels. */
enum {
    HAUL_DEVICE_CAN_MAP = 1, /* HAUL_BUFFER_MAPPED */
    HAUL_DEVICE_CAN_COMBINE_WRITES = 2 /* HAUL_BUFFER_WRITE_COMBINED */,
    HAUL_DEVICE_CAN_MANAGE = 4,       /* HAUL_BUFFER_MANAGED, haul_stream_prefetch */
    HAUL_DEVICE_CAN_PIN = 8,          /* haul_buffer_pin */
    HAUL_DEVICE_CAN_SHARE = 16,       /* haul_buffer_export, haul_buffer_import */
    HAUL_DEVICE_CAN_REACH_PEERS = 32, /* copies to and from devices opened beside it */
};

typedef struct haul_device_properties {
    const char *name;         /* as the vendor's tools print it */
    const char *architecture; /* "kepler", "gfx90a"; NULL where unknown */
    /* Distinguishes devices of one name: a UUID, else an address on the bus; "" where the driver
     * says none. */
    const char *identity;
    const char *driver; /* the driver's version; "" where it says none */
    unsigned count;     /* devices of its kind in the node; 0: unknown */
    bool is_host;       /* its memory is the host's: a copy to it stays within the host */
    bool is_simulated;
    unsigned can;          /* HAUL_DEVICE_CAN_MAP | ... */
    uint64_t memory_bytes; /* zero where unknown, here and below */
    uint64_t l2_bytes;
    double memory_bandwidth_Bps;
    double clock_Hz;
    unsigned multiprocessors;
    uint64_t group_bytes;          /* shared memory that a group of threads may have */
    uint64_t multiprocessor_bytes; /* and that the groups of a multiprocessor have together */
    unsigned copy_engines;
    unsigned compute_major;
    unsigned compute_minor;
    int implicit_sync; /* 1: the device synchronises streams by itself (CCGrid 2014, III); 0: it
                          does not; -1: unknown */
} haul_device_properties;

typedef struct haul_launch haul_launch;

/* Gives the time of a kernel on a simulated device, in seconds. */
typedef double (*haul_kernel_seconds)(void *state, const haul_machine *machine,
                                      const haul_kernel *kernel, const haul_launch *launch);

/* Zero is the default of each. */
typedef struct haul_device_options {
    /* Copies to and from this device are peer copies: it is of the same node, and of the same kind,
     * and must be closed last. */
    haul_device *beside;
    uint64_t memory_limit;    /* bytes of device memory that may be allocated; 0: all there are */
    double time_limit_s;      /* a wait that takes longer returns TIMED_OUT; 0: none. Loops of
                               * haul/tile.h on the host are waited for as well */
    const char *cache_folder; /* for compiled kernels; NULL: see haul_kernel_new; "": none */
    /* `sim` */
    const haul_machine *machine; /* in place of one from the catalogue; must outlive the device */
    bool without_data;           /* only times: nothing is copied or computed */
    bool is_shareable;           /* its memory can be exported to other processes */
    bool is_host_visible;        /* addresses of its memory work on the host, as for an MPI that
                                  * knows the device; else they fault */
    haul_kernel_seconds kernel_seconds;
    void *kernel_state;
    const struct haul_device_test *test; /* of haul/device_test.h, read as the device is opened */
    /* `opencl`: a cl_command_queue of the program. The device is opened in its context, so that
     * buffers and queues of the program can be wrapped. The context must outlive the device. */
    void *queue;
    /* `host`: a core's second-level cache and a thread's share of the third level, in bytes, by
     * which loops of haul/tile.h are cut in tiles; 0: as the system says */
    uint64_t cache_bytes[2];
    uint64_t reserved[1]; /* zeros: see haul/api.h */
} haul_device_options;

/* Opens a device by its name: "host", "opencl:0", "cuda:1", "hip:0", "sim:k40", "sim:lassen:1" (its
 * second GPU); "opencl" is the first of its kind; NULL the first that there is of haul_device_list.
 * GPUs also by UUID, "cuda:GPU-4f2c", as much of it as tells it from others, or by their place on
 * the bus, "hip:0000:c1:00.0". "./mine.so" is a device from a shared object: haul/device_backend.h.
 * `options` may be NULL. Returns ABSENT where there is no such device, saying what would bring it,
 * and USAGE for an unknown kind. The caller closes *device. */
HAUL_API haul_status haul_device_open(const char *name, const haul_device_options *options,
                                      haul_device **device, haul_error *error);
HAUL_API void haul_device_close(haul_device *device);

/* The names of the devices that are present, the fastest kind first, without those of `sim`, which
 * are the catalogue's. Freed with haul_names_free. Returns NO_MEMORY. */
HAUL_API haul_status haul_device_list(char ***names, size_t *count, haul_error *error);

/* As long as the device is open. */
HAUL_API const haul_device_properties *haul_device_describe(const haul_device *device);

/* Bytes of device memory that can still be allocated. */
HAUL_API haul_status haul_device_room(haul_device *device, uint64_t *bytes, haul_error *error);

/* The host's clock, in nanoseconds from any point: of `sim` the simulated host's. */
HAUL_API int64_t haul_device_now(haul_device *device);

/* Which memory `pointer` points to: PINNED, MANAGED or DEVICE where this device allocated or pinned
 * it, else PAGEABLE. */
HAUL_API haul_status haul_device_memory_of(haul_device *device, const void *pointer,
                                           haul_memory *memory, haul_error *error);

/* name in reports */
#define HAUL_BUFFER_LIST(X)                                                                        \
    X(DEVICE, "device")                                                                            \
    X(PINNED, "pinned")                 /* the host's, page-locked */                              \
    X(WRITE_COMBINED, "write-combined") /* likewise: the host should not read it */                \
    X(MAPPED, "mapped")                 /* likewise: kernels read and write it over the link */    \
    X(MANAGED, "managed")               /* host and device use it; the driver moves it */

typedef enum haul_buffer_kind {
#define HAUL_BUFFER_ENUM(name, text) HAUL_BUFFER_##name,
    HAUL_BUFFER_LIST(HAUL_BUFFER_ENUM)
#undef HAUL_BUFFER_ENUM
        HAUL_BUFFER_KINDS
} haul_buffer_kind;

HAUL_API const char *haul_buffer_kind_text(haul_buffer_kind kind);

/* Allocates `bytes` > 0 bytes of undefined contents. Returns DEVICE_FULL where the device has not
 * as many, ABSENT for a kind that it lacks. The caller frees *buffer. */
HAUL_API haul_status haul_buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                                     haul_buffer **buffer, haul_error *error);

/* Page-locks `bytes` bytes of the caller's memory at `host` until the buffer is freed. */
HAUL_API haul_status haul_buffer_pin(haul_device *device, void *host, uint64_t bytes,
                                     haul_buffer **buffer, haul_error *error);

/* Makes a buffer of device memory that the program owns: a CUdeviceptr or HIP pointer, a cl_mem of
 * the context of the options' `queue`, on `sim` and `host` memory of the host. It stays the
 * program's, is not counted, and must live until the buffer is freed. Returns USAGE for none, or
 * where it has fewer bytes as far as the driver says, ABSENT on a device that cannot. */
HAUL_API haul_status haul_buffer_wrap(haul_device *device, void *memory, uint64_t bytes,
                                      haul_buffer **buffer, haul_error *error);
HAUL_API void haul_buffer_free(haul_buffer *buffer);

/* A buffer as the device's own library names it, for a library or kernel of another's: an address
 * of CUDA or HIP, a cl_mem, on `host` an address; NULL where there is none. */
HAUL_API void *haul_buffer_native(const haul_buffer *buffer);

/* Where the host finds the buffer; NULL for device memory. The host may use it while no operation
 * does. */
HAUL_API void *haul_buffer_host(const haul_buffer *buffer);
HAUL_API uint64_t haul_buffer_bytes(const haul_buffer *buffer);

/* The device's own address of a buffer, which a library that knows the device takes, such as an MPI
 * that is aware of it; NULL where there is none. */
HAUL_API void *haul_buffer_pointer(const haul_buffer *buffer);

/* Device memory named for another process, which can import it as long as the buffer lives. */
typedef struct haul_buffer_handle {
    uint64_t bytes;
    unsigned char name[64];
} haul_buffer_handle;

/* Export names a buffer of device memory; import, in another process, makes a buffer of the same
 * memory, which the caller frees before the exporter frees his. Return ABSENT on a device without
 * HAUL_DEVICE_CAN_SHARE, USAGE for a buffer that is not of device memory. */
HAUL_API haul_status haul_buffer_export(haul_buffer *buffer, haul_buffer_handle *handle,
                                        haul_error *error);
HAUL_API haul_status haul_buffer_import(haul_device *device, const haul_buffer_handle *handle,
                                        haul_buffer **buffer, haul_error *error);

/* A stream runs what is queued on it in order, beside what is on others. */
HAUL_API haul_status haul_stream_new(haul_device *device, haul_stream **stream, haul_error *error);

/* Makes a stream of a CUstream or hipStream_t of the program, of the device's primary context, as
 * the runtime's streams are, or of its cl_command_queue, which must be in order. It stays the
 * program's, which may queue work of its own there before and after; it must live until the stream
 * is freed, which waits for it. Returns USAGE for none or another device's, ABSENT on a device that
 * cannot. */
HAUL_API haul_status haul_stream_wrap(haul_device *device, void *queue, haul_stream **stream,
                                      haul_error *error);
HAUL_API void haul_stream_free(haul_stream *stream);

/* Returns when all operations of the stream have ended, with the error of the first that failed. */
HAUL_API haul_status haul_stream_wait(haul_stream *stream, haul_error *error);

/* An event stands for an operation that was queued with it, or for a point of a stream, and can be
 * queued again when nothing waits for it any more. */
HAUL_API haul_status haul_event_new(haul_device *device, haul_event **event, haul_error *error);
HAUL_API void haul_event_free(haul_event *event);

/* Returns when the operation has ended, at once for an event that was never queued. */
HAUL_API haul_status haul_event_wait(haul_event *event, haul_error *error);

/* Whether the operation has ended; does not wait. */
HAUL_API haul_status haul_event_done(haul_event *event, bool *done, haul_error *error);

/* The device's seconds from the start of `from`'s operation to the end of `to`'s, which may be the
 * same: both have ended. Negative where `to` ended before. USAGE for an event that was never
 * queued. */
HAUL_API haul_status haul_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                        haul_error *error);

/* One end of a copy: `offset` bytes into `buffer`, or, where that is NULL, pageable memory of the
 * host. */
typedef struct haul_address {
    haul_buffer *buffer;
    uint64_t offset;
    void *host;
} haul_address;

static inline haul_address haul_in_buffer(haul_buffer *buffer, uint64_t offset)
{
    haul_address address = {buffer, offset, NULL};
    return address;
}

/* A copy from there only reads it. */
static inline haul_address haul_in_host(const void *host)
{
    haul_address address = {NULL, 0, (void *)host};
    return address;
}

/* A box of size[0] bytes a row, size[1] rows, size[2] planes; 0 rows or planes are 1. A pitch is
 * the bytes from the start of a row or plane to the next; 0 where they follow each other. */
typedef struct haul_transfer {
    haul_address to;
    haul_address from;
    uint64_t size[3];
    uint64_t to_pitch[2]; /* of rows, of planes */
    uint64_t from_pitch[2];
} haul_transfer;

/* Queues a copy: between host and device, within either, or between devices opened beside each
 * other, where the stream may be of either. `event`, here and below, may be NULL. The two ends do
 * not overlap. Pageable memory may be copied from before the call returns, and so before what the
 * stream waits for, unless the device is the host. Returns USAGE where an end lies outside its
 * buffer. A copy of 0 bytes is an operation like others. */
HAUL_API haul_status haul_stream_copy(haul_stream *stream, const haul_transfer *transfer,
                                      haul_event *event, haul_error *error);

/* `bytes` bytes at `offset` that are set to `value`. */
typedef struct haul_filling {
    haul_buffer *buffer;
    uint64_t offset;
    uint64_t bytes;
    unsigned char value;
} haul_filling;

/* Queues a filling; `event`, which may be NULL, marks its end. Returns USAGE where it does not lie
 * within its buffer. */
HAUL_API haul_status haul_stream_fill(haul_stream *stream, const haul_filling *filling,
                                      haul_event *event, haul_error *error);

/* Queues moving a managed buffer to the device, or to the host. */
HAUL_API haul_status haul_stream_prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                                          haul_event *event, haul_error *error);

/* Queues a call of `function` on a thread of the device interface. It may not use the interface. */
HAUL_API haul_status haul_stream_call(haul_stream *stream, void (*function)(void *state),
                                      void *state, haul_event *event, haul_error *error);

/* Queues a point: `event` ends when all before it on the stream has. */
HAUL_API haul_status haul_stream_record(haul_stream *stream, haul_event *event, haul_error *error);

/* Makes work that is queued from now on start when `event`'s operation, which may be of a device
 * beside it, has ended: as it was last queued before this call. */
HAUL_API haul_status haul_stream_wait_event(haul_stream *stream, haul_event *event,
                                            haul_error *error);

/* Kernels. haul/kernel_source.h makes a haul_kernel_source from a kernel's text in C. */

/* From lo to below hi, of x, y and z. */
typedef struct haul_box {
    int lo[3];
    int hi[3];
} haul_box;

typedef enum haul_access {
    HAUL_ACCESS_IN,
    HAUL_ACCESS_OUT,
    HAUL_ACCESS_INOUT,
    HAUL_ACCESS_VALUE,
    HAUL_ACCESS_SHARED, /* memory of a group of threads; no argument */
    HAUL_ACCESS_SUM,    /* reductions of haul/tile.h */
    HAUL_ACCESS_MIN,
    HAUL_ACCESS_MAX,
    HAUL_ACCESS_HIDDEN = HAUL_ACCESS_VALUE, /* a value that the kernel's text does not see */
    HAUL_ACCESS_VIEW = HAUL_ACCESS_VALUE,   /* of an array of haul/tile.h: where its cells are */
} haul_access;

/* The type of an array's elements. */
typedef enum haul_element {
    HAUL_ELEMENT_ANY, /* not said */
    HAUL_ELEMENT_FLOATING,
    HAUL_ELEMENT_INTEGER,
    HAUL_ELEMENT_STRUCT,
} haul_element;

/* In place of a number of neighbours: the kernel may read any of the array's cells. */
enum { HAUL_HALO_ALL = 1 << 30 };

typedef struct haul_kernel_parameter {
    const char *name;
    haul_access access;
    uint32_t bytes; /* of the value, of an element of the buffer or of the whole shared memory */
    /* Of an array of haul/tile.h: neighbours that are read, and its view follows. Of a reduction:
     * its type, and its place follows. Else -1. */
    int halo;
    haul_element element; /* of an array or a value */
} haul_kernel_parameter;

/* A kernel as the program holds it. */
typedef struct haul_kernel_source {
    const char *name;
    const char *file; /* of the text, for messages */
    const char *text; /* in the language of haul/kernel_source.h */
    const char *text_end;
    const haul_kernel_parameter *parameters; /* SHARED ones last */
    unsigned parameter_count;
    /* A loop over `dimensions` indices where group[0] is 0; else groups of so many threads, and a
     * launch's box counts groups. */
    unsigned dimensions;
    unsigned group[2];
    bool reduces; /* a loop of haul/tile.h; a launch's box counts groups of rows, and the loop's box
                     is the last parameter */
    /* Runs the part `part` of the launch's box `whole` on the host. An argument is the address in
     * the buffer or of the value. */
    void (*host)(const haul_box *part, const haul_box *whole, void *const *arguments);
    const struct haul_kernel_source *fused; /* several steps of the loop at once; NULL: none */
    unsigned fused_bytes; /* of that kernel: shared memory of a group. Its last parameter is the
                             haul_fused of haul/kernel_source.h */
} haul_kernel_source;

/* Compiles a kernel for the device. `source` must outlive *kernel. Compiled kernels are kept in
 * the options' cache_folder, else $HAUL_CACHE, else $XDG_CACHE_HOME/haul, else ~/.cache/haul: the
 * folder may be deleted at any time. Returns BAD_INPUT with file, line and the compiler's message.
 * The caller frees *kernel. */
HAUL_API haul_status haul_kernel_new(haul_device *device, const haul_kernel_source *source,
                                     haul_kernel **kernel, haul_error *error);

/* Makes a kernel of one that the program compiled itself: a CUfunction or hipFunction_t of the
 * device's primary context, or a cl_kernel of the context of the options' `queue`. It stays the
 * program's, with its module or program, and must live until *kernel is freed, which waits for it.
 * `source`, which must outlive *kernel, says its parameters and its loop or groups; the text is not
 * compiled. The kernel has the parameters that haul/kernel_source.h gives the same source's, in
 * this order: the launch's haul_box; then for each parameter of the source that is a buffer its
 * address, in OpenCL a global pointer to its start and a ulong, the bytes from there; for each
 * other one the value itself; for SHARED ones none. So an array of haul/tile.h is its address and a
 * haul_view. A loop is a thread for each index of the box, x first, on CPUs too: `lo` and the
 * thread's number in the whole launch. Blocks have 256 threads, of loops of more dimensions than
 * one 32 x 8, in OpenCL fewer where the device has not as many; they may go beyond `hi`: the kernel
 * leaves those indices out. Launches have no dynamic shared memory. haul sets a cl_kernel's
 * arguments at each launch.
 *
 * USAGE for none, for a cl_kernel of another context, or with other parameters, as far as the
 * driver tells: of CUDA from 12.4 on. ABSENT on a device that cannot. */
HAUL_API haul_status haul_kernel_wrap(haul_device *device, const haul_kernel_source *source,
                                      void *native, haul_kernel **kernel, haul_error *error);

/* The same of the kernel of the source's name in an image that the program has, of `bytes` bytes,
 * which it may free after the call: a cubin, a fat binary or PTX, HIP's code object, or the binary
 * of an OpenCL program. Returns BAD_INPUT for an image that the driver does not take for the
 * device, or without such a kernel. */
HAUL_API haul_status haul_kernel_load(haul_device *device, const haul_kernel_source *source,
                                      const void *image, size_t bytes, haul_kernel **kernel,
                                      haul_error *error);
HAUL_API void haul_kernel_free(haul_kernel *kernel);

/* A buffer from `offset` bytes on, or, where that is NULL, a value of the parameter's size. */
typedef struct haul_argument {
    haul_buffer *buffer;
    uint64_t offset;
    const void *value;
} haul_argument;

struct haul_launch {
    haul_box box;                   /* hi[1] and hi[2] may be 0 where unused */
    const haul_argument *arguments; /* read before the call returns */
    size_t argument_count;
    /* For `sim`, which takes the largest of bytes / memory bandwidth, flops / peak rate and bytes
     * in shared memory / its rate, and the launch latency: what the kernel reads and writes, and
     * computes. */
    double bytes;
    double flops;
    double mapped_bytes[2]; /* read, and written, of mapped buffers: over the link */
    double shared_bytes;    /* read and written in the groups' shared memory */
    bool is_double;         /* the peak is that of doubles */
};

/* Queues a kernel. An empty box is an operation that does nothing. Returns USAGE for arguments that
 * do not fit the parameters, by number, kind or device. */
HAUL_API haul_status haul_stream_launch(haul_stream *stream, const haul_kernel *kernel,
                                        const haul_launch *launch, haul_event *event,
                                        haul_error *error);

HAUL_END

#endif
