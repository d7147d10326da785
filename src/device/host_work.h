/* Operations as the host's own cores do them. */
#ifndef HAUL_DEVICE_HOST_WORK_H
#define HAUL_DEVICE_HOST_WORK_H

#include "haul/device.h"

enum { HL_DEVICE_ARGUMENTS = 32 };

/* A launch: addresses, with copies of the values. */
typedef struct hl_device_host_call {
    const haul_kernel_source *source;
    haul_box box;
    void *arguments[HL_DEVICE_ARGUMENTS];
    void *values; /* the heap's */
} hl_device_host_call;

/* An operation's effect on data. */
typedef struct hl_device_host_task {
    enum {
        HL_DEVICE_TASK_NOTHING,
        HL_DEVICE_TASK_COPY,
        HL_DEVICE_TASK_FILL,
        HL_DEVICE_TASK_CALL,
        HL_DEVICE_TASK_KERNEL
    } kind;
    union {
        struct {
            void *to;
            const void *from;
            haul_transfer shape; /* its addresses do not count */
        } copy;
        struct {
            void *at;
            uint64_t bytes;
            unsigned char value;
        } fill;
        struct {
            void (*function)(void *state);
            void *state;
        } call;
        hl_device_host_call kernel;
    };
} hl_device_host_task;

/* Makes a kernel's task; `address_of` says where the host finds a buffer's first byte. Run or
 * release it. */
haul_status hl_device_host_task_kernel(const haul_kernel_source *source, const haul_launch *launch,
                                       void *(*address_of)(const haul_buffer *buffer),
                                       hl_device_host_task *task, haul_error *error);

/* A kernel that is its source; ABSENT where it has no function for the host and is to run there. */
haul_status hl_device_host_kernel_new(const haul_kernel_source *source, bool runs,
                                      haul_kernel **kernel, haul_error *error);
void hl_device_host_kernel_free(haul_kernel *kernel);

/* Runs and releases a task. */
void hl_device_host_task_run(hl_device_host_task *task);
void hl_device_host_task_release(hl_device_host_task *task);

/* Memory whose pages are there, as a GPU's are, so that the first operation on it costs no more
 * than the next; freed with free. NULL where the host has no room for it. */
void *hl_device_host_pages(uint64_t bytes);

/* Copies a box row by row, where both ends have data; the shape alone of `shape` counts. */
void hl_device_host_copy(void *to, const void *from, const haul_transfer *shape);

#endif
