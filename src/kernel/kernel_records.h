/* Launches as they are read, one file after the other. */
#ifndef HAUL_KERNEL_RECORDS_H
#define HAUL_KERNEL_RECORDS_H

#include "base/arena.h"
#include "haul/kernel_times.h"
#include "kernel/counters.h"

typedef struct haul_kernel_record {
    const char *gpu;
    const char *kernel;
    const char *launch; /* its number in the file, where that has one */
    const char *file;
    int line;
    int column; /* of its size; 1 where the table has none */
    haul_counters counters;
} haul_kernel_record;

/* Zero is an empty list. */
typedef struct haul_kernel_records {
    haul_arena arena;
    haul_kernel_record *items;
    size_t count;
    size_t capacity;
} haul_kernel_records;

/* A name without result, template arguments and parameters: "matMul(float*, int) [123]" is matMul,
 * "void mul<float>(float*)" mul, "Tesla K40c (0)" Tesla K40c. */
typedef struct haul_kernel_plain_name {
    const char *start; /* in the name that was given */
    size_t length;
} haul_kernel_plain_name;
haul_kernel_plain_name haul_kernel_plain_name_of(const char *name);

/* Whether `plain`, which is such a name, is that of `name`. */
bool haul_kernel_plain_name_is(const char *plain, const char *name);

/* A name without template arguments, parameters and namespaces: Nsight Compute leaves inline
 * namespaces out ("at::native::"). */
haul_kernel_plain_name haul_kernel_bare_name_of(const char *name);

/* A new record without anything; NULL without memory. Good until the next one. */
haul_kernel_record *haul_kernel_records_new(haul_kernel_records *records);

/* Whether a record says more than its names and size. */
bool haul_kernel_record_tells(const haul_kernel_record *record);

/* Gives counters without a time the mean of those launches of the same kernel, size and GPU (what
 * one of them does not say fits) that were timed, and their grid; nothing where these are of more
 * than one grid, for then they are of more than one size. `is_used`, of each record: its time went
 * to counters, and it is of no more use. In kernel_join.c. */
haul_status haul_kernel_records_join(haul_kernel_records *records, bool *is_used,
                                     haul_error *error);

/* Reads a file's text into records; `first_line` counts from 1. Sizes that it does not say are
 * `file.size`. In kernel_csv.c. */
haul_status haul_kernel_csv_read(char *text, size_t size, haul_kernel_csv file,
                                 haul_kernel_records *records, haul_error *error);

#endif
