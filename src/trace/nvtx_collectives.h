/* Sizes of NCCL's calls in profiles of Nsight Systems: since version 2.12 NCCL gives its NVTX
 * ranges ("ncclAllReduce") a payload with the size of the message. */
#ifndef HAUL_TRACE_NVTX_COLLECTIVES_H
#define HAUL_TRACE_NVTX_COLLECTIVES_H

#include "trace/sqlite_rows.h"
#include "trace/trace_builder.h"

enum { HL_TRACE_NVTX_LAYOUTS = 64 };

/* Where payloads of one schema have what, in bytes from their beginning; -1: they lack it. */
typedef struct hl_trace_nvtx_layout {
    int64_t domain;
    int64_t schema;
    int64_t size_at;
    int64_t ranks_at;
    int64_t communicator_at;
} hl_trace_nvtx_layout;

typedef struct hl_trace_nvtx_communicator {
    uint64_t id;
    uint32_t ranks;
} hl_trace_nvtx_communicator;

/* A call of NCCL, with what it sends or receives. */
typedef struct hl_trace_nvtx_message {
    int64_t start_ns;
    uint64_t bytes;
    uint64_t communicator;
    uint32_t name;
    uint32_t thread;
    bool is_taken; /* a kernel has it */
} hl_trace_nvtx_message;

typedef struct hl_trace_nvtx_collectives {
    hl_trace_nvtx_layout layouts[HL_TRACE_NVTX_LAYOUTS];
    size_t layout_count;
    hl_trace_nvtx_communicator *communicators;
    size_t communicator_count;
    size_t communicator_capacity;
    hl_trace_nvtx_message *messages;
    size_t message_count;
    size_t message_capacity;
} hl_trace_nvtx_collectives;

/* A row of NVTX_PAYLOAD_SCHEMA_ENTRIES: domainId, schemaId, offset, name. */
void hl_trace_nvtx_take_field(hl_trace_nvtx_collectives *self, const hl_trace_rows *rows);

/* The payload of a range; any bytes. A lack of memory is the builder's. */
void hl_trace_nvtx_take_payload(hl_trace_nvtx_collectives *self, hl_trace_builder *builder,
                                const haul_named_range *range, const char *payload, size_t length);

/* Gives kernels of collectives what the calls before their launch move. Needs all operations, calls
 * and names. */
void hl_trace_nvtx_join(hl_trace_nvtx_collectives *self, hl_trace_builder *builder);

void hl_trace_nvtx_release(hl_trace_nvtx_collectives *self);

#endif
