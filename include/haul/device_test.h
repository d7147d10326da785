/* Tests of programs on devices that do their worst.
 *
 * Threads: haul_device_options are read by the thread that opens the device. */
#ifndef HAUL_DEVICE_TEST_H
#define HAUL_DEVICE_TEST_H

#include "haul/device.h"

HAUL_BEGIN

/* In what order a device runs operations that may run in any. */
typedef enum haul_order {
    HAUL_ORDER_USUAL,
    HAUL_ORDER_LATE,   /* nothing runs before something waits for it, and then only what must */
    HAUL_ORDER_RANDOM, /* when something waits, in a random legal order */
} haul_order;

/* For haul_device_options.test. Zero is the default of each. */
typedef struct haul_device_test {
    haul_order order;     /* of `sim` */
    uint64_t seed;        /* of HAUL_ORDER_RANDOM */
    uint64_t lost_behind; /* any device disappears behind so many operations; 0: it stays */
    uint64_t reserved[4]; /* zeros: see haul/api.h */
} haul_device_test;

HAUL_END

#endif
