/* How CUPTI's stand-in brings records to the recorder: in buffers that the recorder gives. */
#ifndef HAUL_TESTS_CUPTI_BUFFERS_H
#define HAUL_TESTS_CUPTI_BUFFERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "driver_records.h"
#include "record/cupti_abi.h"

/* The options of FAKE_CUPTI; README.md lists the words. */
typedef struct cupti_options {
    bool old, ancient, refuses, many, driver, late, shuffle, taken;
    uint64_t seed;
    uint64_t drop;    /* one record in so many; 0 is none */
    uint64_t refused; /* a bit a kind */
} cupti_options;

typedef struct cupti_state {
    cupti_options options;
    hl_record_abi_request *request;
    hl_record_abi_complete *complete;
    hl_record_abi_clock *clock;
    atomic_bool delivered;    /* something */
    _Atomic uint64_t enabled; /* a bit a kind */
    atomic_size_t dropped;    /* since the recorder asked last */
    atomic_uint draws;
} cupti_state;

extern cupti_state cupti;

/* Records to be delivered together. */
typedef struct cupti_batch {
    driver_record *records;
    size_t count, room;
} cupti_batch;

/* Reads FAKE_CUPTI; an unknown word ends the program. */
void cupti_read_options(void);

uint64_t cupti_now(void);

/* Adds a record, if its kind is enabled. */
void cupti_put(cupti_batch *to, const void *record, size_t size);

/* Fills buffers with the batch, completes them and empties the batch. */
void cupti_deliver(cupti_batch *batch);

/* Delivers the set of records that tests know by heart. */
void cupti_deliver_known(void);

#endif
