/* CUPTI's activity records into rows of a profile. Any thread, one at a time. */
#ifndef HAUL_RECORD_CUPTI_DECODE_H
#define HAUL_RECORD_CUPTI_DECODE_H

#include "record/cupti_abi.h"
#include "record/kernel_names.h"
#include "record/profile_writer.h"

enum {
    HL_RECORD_CUPTI_CONTEXTS = 256, /* of which the device is remembered */
    HL_RECORD_CUPTI_CALLS = 2048,   /* functions whose names are remembered, of each interface */
    HL_RECORD_CUPTI_BATCH = 64,     /* rows put at once */
    HL_RECORD_CUPTI_MIGRATIONS = 0xfffffe, /* the stream that unified memory's migrations are given:
                                            * CUPTI names none, and they wait for no stream */
};

/* Begin with zero, and then `cupti`, `version`, `writer`, `shift_ns`. */
typedef struct hl_record_cupti_decoder {
    const hl_record_cupti_functions *cupti;
    hl_record_profile_writer *writer;
    uint32_t version; /* cuptiGetVersion's */
    int64_t shift_ns; /* added to CUPTI's times gives CLOCK_MONOTONIC's */
    struct {
        uint32_t context;
        uint32_t device;
    } contexts[HL_RECORD_CUPTI_CONTEXTS];
    size_t context_count;
    uint32_t call_names[2][HL_RECORD_CUPTI_CALLS]; /* 0 where not met */
    hl_record_kernel_names kernel_names;
    uint32_t own_threads[2]; /* the recorder's, by the system and as pthread_self: 0 for none yet */
    uint64_t own_calls;      /* of those met: they go nowhere */
    hl_record batch[HL_RECORD_CUPTI_BATCH];
    hl_record left_out;
    size_t batch_count;
} hl_record_cupti_decoder;

/* Puts what the buffer's first `used` bytes hold. */
void hl_record_cupti_decode(hl_record_cupti_decoder *self, uint8_t *buffer, size_t used);

#endif
