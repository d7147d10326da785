/* CUPTI's activity records into rows of a profile. Any thread, one at a time. */
#ifndef HAUL_RECORD_CUPTI_DECODE_H
#define HAUL_RECORD_CUPTI_DECODE_H

#include "record/cupti_abi.h"
#include "record/kernel_names.h"
#include "record/profile_writer.h"

enum {
    HAUL_CUPTI_CONTEXTS = 256,        /* of which the device is remembered */
    HAUL_CUPTI_CALLS = 2048,          /* functions whose names are remembered, of each interface */
    HAUL_CUPTI_BATCH = 64,            /* rows put at once */
    HAUL_CUPTI_MIGRATIONS = 0xfffffe, /* the stream that unified memory's migrations are given:
                                       * CUPTI names none, and they wait for no stream */
};

/* Begin with zero, and then `cupti`, `version`, `writer`, `shift_ns`. */
typedef struct haul_cupti_decoder {
    const haul_cupti_functions *cupti;
    haul_profile_writer *writer;
    uint32_t version; /* cuptiGetVersion's */
    int64_t shift_ns; /* added to CUPTI's times gives CLOCK_MONOTONIC's */
    uint64_t untimed; /* left out: CUPTI could take no time */
    struct {
        uint32_t context;
        uint32_t device;
    } contexts[HAUL_CUPTI_CONTEXTS];
    size_t context_count;
    uint32_t call_names[2][HAUL_CUPTI_CALLS]; /* 0 where not met */
    haul_kernel_names kernel_names;
    haul_record batch[HAUL_CUPTI_BATCH];
    haul_record left_out;
    size_t batch_count;
} haul_cupti_decoder;

/* Puts what the buffer's first `used` bytes hold. */
void haul_cupti_decode(haul_cupti_decoder *self, uint8_t *buffer, size_t used);

#endif
