/* What NCCL's calls move, in profiles of Nsight Systems: since version 2.12 NCCL gives its NVTX
 * ranges ("ncclAllReduce") a payload with the size of the message. */
#ifndef HAUL_TRACE_NVTX_COLLECTIVES_H
#define HAUL_TRACE_NVTX_COLLECTIVES_H

#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"

enum { HAUL_NVTX_LAYOUTS = 64 };

/* Where payloads of one schema have what, in bytes from their beginning; -1: they lack it. */
typedef struct haul_nvtx_layout {
    int64_t domain;
    int64_t schema;
    int64_t size_at;
    int64_t ranks_at;
    int64_t communicator_at;
} haul_nvtx_layout;

typedef struct haul_nvtx_communicator {
    uint64_t id;
    uint32_t ranks;
} haul_nvtx_communicator;

/* A call of NCCL, with what it sends or receives. */
typedef struct haul_nvtx_message {
    int64_t start_ns;
    uint64_t bytes;
    uint64_t communicator;
    uint32_t name;
    uint32_t thread;
    bool is_taken; /* a kernel has it */
} haul_nvtx_message;

typedef struct haul_nvtx_collectives {
    haul_nvtx_layout layouts[HAUL_NVTX_LAYOUTS];
    size_t layout_count;
    haul_nvtx_communicator *communicators;
    size_t communicator_count;
    size_t communicator_capacity;
    haul_nvtx_message *messages;
    size_t message_count;
    size_t message_capacity;
} haul_nvtx_collectives;

/* A row of NVTX_PAYLOAD_SCHEMA_ENTRIES: domainId, schemaId, offset, name. */
void haul_nvtx_take_field(haul_nvtx_collectives *self, const haul_rows *rows);

/* The payload of a range; any bytes. A lack of memory is the builder's. */
void haul_nvtx_take_payload(haul_nvtx_collectives *self, haul_trace_builder *builder,
                            const haul_named_range *range, const char *payload, size_t length);

/* Gives kernels of collectives what the calls before their launch move. Needs all operations, calls
 * and names. */
void haul_nvtx_join(haul_nvtx_collectives *self, haul_trace_builder *builder);

void haul_nvtx_release(haul_nvtx_collectives *self);

#endif
