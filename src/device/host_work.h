/* Operations as the host's own cores do them. */
#ifndef HAUL_DEVICE_HOST_WORK_H
#define HAUL_DEVICE_HOST_WORK_H

#include "haul/device.h"

enum { HAUL_ARGUMENTS = 16 };

/* The arguments of a launch: addresses, with copies of the values. */
typedef struct haul_host_call {
    const haul_kernel_source *source;
    haul_box box;
    void *arguments[HAUL_ARGUMENTS];
    void *values; /* the heap's */
} haul_host_call;

/* `address_of` says where the host finds a buffer's first byte. Release with
 * haul_host_call_release. */
haul_status haul_host_call_make(const haul_kernel_source *source, const haul_launch *launch,
                                void *(*address_of)(const haul_buffer *buffer),
                                haul_host_call *call, haul_error *error);
void haul_host_call_run(const haul_host_call *call);
void haul_host_call_release(haul_host_call *call);

/* Copies a box row by row; the shape alone of `transfer` counts. */
void haul_host_copy(void *to, const void *from, const haul_transfer *transfer);

#endif
