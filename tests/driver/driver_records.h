/* Activity records: what the driver's stand-in has done, for CUPTI's. */
#ifndef HAUL_TESTS_DRIVER_RECORDS_H
#define HAUL_TESTS_DRIVER_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* A record of CUPTI; what it points at is never freed. */
typedef struct driver_record {
    _Alignas(8) unsigned char bytes[160];
    size_t size;
} driver_record;

/* libcuda's stand-in has these two, by their names without _function; any thread may call them. */

/* Moves up to `most` of the oldest records out of the driver; returns how many. */
typedef size_t driver_take_records_function(driver_record *into, size_t most);

/* The name of an API call by the number in its record, or NULL. */
typedef const char *driver_call_name_function(uint32_t number);

#endif
