/* Making a schedule, operation by operation, of what a file says in words. */
#ifndef HAUL_SIMULATE_PLAN_H
#define HAUL_SIMULATE_PLAN_H

#include <stdbool.h>

#include "base/fail.h"
#include "haul/simulate.h"
#include "workload/builder.h"

/* enumerator, its name in files */
#define HAUL_KEY_LIST(X)                                                                           \
    X(NAME, "name")                                                                                \
    X(OP, "op")                                                                                    \
    X(STREAM, "stream")                                                                            \
    X(DEVICE, "device")                                                                            \
    X(RANK, "rank")                                                                                \
    X(THREAD, "thread")                                                                            \
    X(MEMORY, "memory")                                                                            \
    X(BYTES, "bytes")                                                                              \
    X(DURATION, "duration")                                                                        \
    X(CALL, "call")                                                                                \
    X(BLOCKING, "blocking")                                                                        \
    X(KERNEL, "kernel")                                                                            \
    X(SIZE, "size")                                                                                \
    X(GRID, "grid")                                                                                \
    X(BLOCK, "block")                                                                              \
    X(AFTER, "after")

typedef enum haul_key {
#define HAUL_KEY_ENUM(name, text) HAUL_KEY_##name,
    HAUL_KEY_LIST(HAUL_KEY_ENUM)
#undef HAUL_KEY_ENUM
        HAUL_KEYS
} haul_key;

extern const char *const haul_key_names[HAUL_KEYS];

typedef struct haul_word {
    const char *text; /* NULL: not there */
    int line;
    int column;
} haul_word;

enum { HAUL_AFTER_MOST = 256 };

/* An operation in words. What it is after has a list of its own. */
typedef struct haul_draft {
    int line;
    int column;
    haul_word words[HAUL_KEYS];
    haul_word after[HAUL_AFTER_MOST];
    size_t after_count;
} haul_draft;

/* Where an operation stands in its file. */
typedef struct haul_spot {
    int line;
    int column;
} haul_spot;

/* An `after` that is not resolved yet. */
typedef struct haul_reference {
    uint32_t op;
    uint32_t name; /* string id */
    haul_spot spot;
} haul_reference;

/* A kernel whose time is that of a kernel file. */
typedef struct haul_kernel_use {
    uint32_t op;
    uint32_t name; /* string id */
    double size;
} haul_kernel_use;

typedef struct haul_owned_schedule {
    haul_schedule seen;
    haul_workload *workload;
    haul_spot *spots;         /* of each operation */
    haul_kernel_use *kernels; /* in order of operations */
    size_t kernel_count;
    const char *file;
    haul_arena arena;
} haul_owned_schedule;

typedef struct haul_plan {
    const char *file;
    haul_error *error;
    haul_word name;
    haul_word summary;
    int64_t call_ns; /* what a call costs where the operation does not say */
    bool has_ranks;  /* all operations say of which process they are */
    uint32_t rank;   /* of the operation that is added */
    haul_arena arena;
    haul_builder built;
    haul_spot *spots;
    size_t spot_capacity;
    haul_reference *references;
    size_t reference_count;
    size_t reference_capacity;
    haul_kernel_use *kernels;
    size_t kernel_count;
    size_t kernel_capacity;
    uint32_t *named; /* the operation of each string, HAUL_NONE where it names none */
    size_t named_capacity;
    size_t named_count;
    uint32_t *stream_last;
    size_t stream_capacity;
    int64_t *clocks_ns; /* of each thread */
    size_t clock_capacity;
    int64_t total_ns;
    uint64_t total_bytes;
} haul_plan;

void haul_plan_init(haul_plan *self, const char *file, haul_error *error);
void haul_plan_release(haul_plan *self);

/* Adds the next operation. Returns BAD_INPUT at the word that is wrong. */
haul_status haul_plan_add(haul_plan *self, const haul_draft *draft);

/* Puts the operation's name before an error that is filled already; its place stays. */
haul_status haul_plan_blame(const haul_plan *self, const haul_draft *draft);

/* Fails at a place of the file. */
haul_status haul_plan_fail(const haul_plan *self, int line, int column, const char *format, ...)
    HAUL_PRINTF(4, 5);

static inline haul_place haul_schedule_place(const haul_owned_schedule *self, uint32_t op)
{
    return (haul_place){self->file, self->spots[op].line, self->spots[op].column};
}

/* Returns BAD_INPUT, with its operations by name, where some of them wait for each other. In
 * cycle.c. */
haul_status haul_schedule_check_cycles(const haul_owned_schedule *self, haul_error *error);

/* Names an operation in an error: "'in 3'", or "#12". Returns `buffer`. In op_titles.c. */
char *haul_schedule_quote(const haul_schedule *self, uint32_t op, char *buffer, size_t size);

/* Reads a file's text into a plan. */
haul_status haul_plan_read_yaml(haul_plan *self, const char *text, size_t size);
haul_status haul_plan_read_csv(haul_plan *self, const char *text, size_t size);

/* A duration, in nanoseconds: at least 1. */
haul_status haul_plan_duration(const haul_plan *self, const haul_word *word, const char *key,
                               int64_t *ns);

#endif
