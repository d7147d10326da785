/* For authors of devices: a device is one const table of functions, which haul_device_open_with
 * opens. src/device/host_device.c is the shortest.
 *
 * Threads: a backend is called as haul/device.h says: one thread at a time for a device. */
#ifndef HAUL_DEVICE_BACKEND_H
#define HAUL_DEVICE_BACKEND_H

#include "haul/device.h"
#include "haul/device_test.h"

HAUL_BEGIN

typedef struct haul_device_backend haul_device_backend;

/* The first member of each backend's own objects. The interface fills it when the backend's
 * function has returned the object; `properties`, `host` and `pointer` are the backend's to fill.
 */
struct haul_device {
    const haul_device_backend *backend;
    char name[64]; /* "opencl:0" */
    haul_device_properties properties;
    haul_device_options options; /* filled before `open` is called with them */
    haul_device_test test;       /* options.test, or zeros */
    char *cache_folder;          /* a copy, which the options point to */
    uint64_t allocated;          /* bytes of HAUL_BUFFER_DEVICE and MANAGED */
    uint64_t queued;             /* operations, where test.lost_behind counts them */
};

struct haul_buffer {
    haul_device *device;
    haul_buffer_kind kind;
    uint64_t bytes;
    void *host;      /* NULL for device memory */
    void *pointer;   /* the device's own, or NULL */
    void *native;    /* what its library calls it, where that is no address; else NULL */
    bool is_counted; /* in the device's `allocated` */
};

struct haul_stream {
    haul_device *device;
};

struct haul_event {
    haul_device *device;
    bool is_queued; /* at least once */
};

struct haul_kernel {
    haul_device *device;
    const haul_kernel_source *source;
    bool is_given; /* compiled by the program: a loop is a thread for each index */
};

/* A device's functions. One that is NULL means that the device cannot: the interface tells the
 * caller so with ABSENT. Arguments have been checked: objects are of this device or of one beside
 * it, sizes and pitches are filled and lie within their buffers, a launch's arguments fit the
 * parameters, no box is empty. Outputs are set on success alone; on failure nothing is left over.
 * `event` may be NULL. */
struct haul_device_backend {
    unsigned abi;        /* HAUL_DEVICE_ABI */
    const char *kind;    /* "opencl": what stands before the ':' in a device's name */
    const char *summary; /* one line */

    /* How many devices of this kind there are now; NULL where they have no numbers. */
    unsigned (*count)(void);
    /* `which` is what follows the kind's ':', or "". */
    haul_status (*open)(const char *which, const haul_device_options *options, haul_device **device,
                        haul_error *error);
    void (*close)(haul_device *device);
    haul_status (*room)(haul_device *device, uint64_t *bytes, haul_error *error);
    int64_t (*now)(haul_device *device); /* NULL: CLOCK_MONOTONIC */
    haul_status (*memory_of)(haul_device *device, const void *pointer, haul_memory *memory,
                             haul_error *error);

    haul_status (*buffer_new)(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                              haul_buffer **buffer, haul_error *error);
    haul_status (*buffer_pin)(haul_device *device, void *host, uint64_t bytes, haul_buffer **buffer,
                              haul_error *error);
    void (*buffer_free)(haul_buffer *buffer);
    haul_status (*buffer_export)(haul_buffer *buffer, haul_buffer_handle *handle,
                                 haul_error *error);
    haul_status (*buffer_import)(haul_device *device, const haul_buffer_handle *handle,
                                 haul_buffer **buffer, haul_error *error);

    haul_status (*stream_new)(haul_device *device, haul_stream **stream, haul_error *error);
    void (*stream_free)(haul_stream *stream);
    haul_status (*stream_wait)(haul_stream *stream, haul_error *error);

    haul_status (*event_new)(haul_device *device, haul_event **event, haul_error *error);
    void (*event_free)(haul_event *event);
    haul_status (*event_wait)(haul_event *event, haul_error *error);
    haul_status (*event_done)(haul_event *event, bool *done, haul_error *error);
    haul_status (*event_seconds)(haul_event *from, haul_event *to, double *seconds,
                                 haul_error *error);

    haul_status (*copy)(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                        haul_error *error);
    haul_status (*fill)(haul_stream *stream, const haul_filling *filling, haul_event *event,
                        haul_error *error);
    haul_status (*prefetch)(haul_stream *stream, haul_buffer *buffer, bool to_host,
                            haul_event *event, haul_error *error);
    haul_status (*call)(haul_stream *stream, void (*function)(void *state), void *state,
                        haul_event *event, haul_error *error);
    haul_status (*record)(haul_stream *stream, haul_event *event, haul_error *error);
    haul_status (*wait_event)(haul_stream *stream, haul_event *event, haul_error *error);

    haul_status (*kernel_new)(haul_device *device, const haul_kernel_source *source,
                              haul_kernel **kernel, haul_error *error);
    void (*kernel_free)(haul_kernel *kernel);
    haul_status (*launch)(haul_stream *stream, const haul_kernel *kernel, const haul_launch *launch,
                          haul_event *event, haul_error *error);

    /* Of the program's own memory and streams, which `buffer_free` and `stream_free` leave alone.
     */
    haul_status (*buffer_wrap)(haul_device *device, void *memory, uint64_t bytes,
                               haul_buffer **buffer, haul_error *error);
    haul_status (*stream_wrap)(haul_device *device, void *queue, haul_stream **stream,
                               haul_error *error);

    /* Of kernels that the program compiled: its own, which `kernel_free` leaves alone, or those of
     * an image. Both check the kernel's parameters, as far as the driver tells them. */
    haul_status (*kernel_wrap)(haul_device *device, const haul_kernel_source *source, void *native,
                               haul_kernel **kernel, haul_error *error);
    haul_status (*kernel_load)(haul_device *device, const haul_kernel_source *source,
                               const void *image, size_t bytes, haul_kernel **kernel,
                               haul_error *error);
};

enum { HAUL_DEVICE_ABI = 4 };

/* A shared object that exports
 *
 *     const haul_device_backend *haul_device_entry(void);
 *
 * is a device: haul_device_open("./mine.so", ...), `haul measure --device ./mine.so`; what follows
 * a
 * ':' behind the file's name is `which`. It needs no symbol of libhaul. See examples/device. */
typedef const haul_device_backend *(*haul_device_entry_fn)(void);

/* The object defines it; libhaul has no such function. */
HAUL_API const haul_device_backend *haul_device_entry(void);

#define HAUL_DEVICE_ENTRY "haul_device_entry"

/* Opens a device of a backend of one's own; otherwise as haul_device_open. */
HAUL_API haul_status haul_device_open_with(const haul_device_backend *backend, const char *which,
                                           const haul_device_options *options, haul_device **device,
                                           haul_error *error);

/* HTOD, DTOH, DTOD within a device, PTOP, or HTOH. Pinned, write-combined and mapped buffers are
 * the host's, managed ones the device's. */
HAUL_API haul_direction haul_transfer_direction(const haul_transfer *transfer);

/* Whether a transfer is one run of bytes at both ends: size[1] and size[2] are then 1. */
HAUL_API bool haul_transfer_is_flat(const haul_transfer *transfer);

/* Makes the text that a device's compiler reads for `source`: haul/kernel_source.h, a #line, and
 * the kernel's own text, NUL-terminated. The caller frees *text. Returns NO_MEMORY. */
HAUL_API haul_status haul_kernel_text(const haul_kernel_source *source, char **text,
                                      haul_error *error);

HAUL_END

#endif
