/* Making a schedule, operation by operation, of what a file says in words. */
#ifndef HAUL_SIMULATE_PLAN_H
#define HAUL_SIMULATE_PLAN_H

#include <stdbool.h>

#include "base/fail.h"
#include "haul/simulate.h"
#include "workload/builder.h"

/* enumerator, its name in files */
#define HL_SIMULATE_KEY_LIST(X)                                                                    \
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

typedef enum hl_simulate_key {
#define HL_SIMULATE_KEY_ENUM(name, text) HL_SIMULATE_KEY_##name,
    HL_SIMULATE_KEY_LIST(HL_SIMULATE_KEY_ENUM)
#undef HL_SIMULATE_KEY_ENUM
        HL_SIMULATE_KEYS
} hl_simulate_key;

extern const char *const hl_simulate_key_names[HL_SIMULATE_KEYS];

typedef struct hl_simulate_word {
    const char *text; /* NULL: not there */
    int line;
    int column;
} hl_simulate_word;

enum { HL_SIMULATE_AFTER_MOST = 256 };

/* An operation in words. The operations that it is after have a list of their own. */
typedef struct hl_simulate_draft {
    int line;
    int column;
    hl_simulate_word words[HL_SIMULATE_KEYS];
    hl_simulate_word after[HL_SIMULATE_AFTER_MOST];
    size_t after_count;
} hl_simulate_draft;

/* Where an operation stands in its file. */
typedef struct hl_simulate_spot {
    int line;
    int column;
} hl_simulate_spot;

/* An `after` that is not resolved yet. */
typedef struct hl_simulate_reference {
    uint32_t op;
    uint32_t name; /* string id */
    hl_simulate_spot spot;
} hl_simulate_reference;

/* A kernel whose time is that of a kernel file. */
typedef struct hl_simulate_kernel_use {
    uint32_t op;
    uint32_t name; /* string id */
    double size;
} hl_simulate_kernel_use;

typedef struct hl_simulate_owned_schedule {
    haul_schedule seen;
    haul_workload *workload;
    hl_simulate_spot *spots;         /* of each operation */
    hl_simulate_kernel_use *kernels; /* in order of operations */
    size_t kernel_count;
    const char *file;
    hl_base_arena arena;
} hl_simulate_owned_schedule;

typedef struct hl_simulate_plan {
    const char *file;
    haul_error *error;
    hl_simulate_word name;
    hl_simulate_word summary;
    int64_t call_ns; /* what a call costs where the operation does not say */
    bool has_ranks;  /* all operations say of which process they are */
    uint32_t rank;   /* of the operation that is added */
    hl_base_arena arena;
    hl_workload_builder built;
    hl_simulate_spot *spots;
    size_t spot_capacity;
    hl_simulate_reference *references;
    size_t reference_count;
    size_t reference_capacity;
    hl_simulate_kernel_use *kernels;
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
} hl_simulate_plan;

void hl_simulate_plan_init(hl_simulate_plan *self, const char *file, haul_error *error);
void hl_simulate_plan_release(hl_simulate_plan *self);

/* Adds the next operation. Returns BAD_INPUT at the word that is wrong. */
haul_status hl_simulate_plan_add(hl_simulate_plan *self, const hl_simulate_draft *draft);

/* Puts the operation's name before an error that is filled already; its place stays. */
haul_status hl_simulate_plan_blame(const hl_simulate_plan *self, const hl_simulate_draft *draft);

/* Fails at a place of the file. */
haul_status hl_simulate_plan_fail(const hl_simulate_plan *self, int line, int column,
                                  const char *format, ...) HAUL_PRINTF(4, 5);

static inline hl_base_place hl_simulate_schedule_place(const hl_simulate_owned_schedule *self,
                                                       uint32_t op)
{
    return (hl_base_place){self->file, self->spots[op].line, self->spots[op].column};
}

/* Returns BAD_INPUT, with its operations by name, where some of them wait for each other. In
 * cycle.c. */
haul_status hl_simulate_schedule_check_cycles(const hl_simulate_owned_schedule *self,
                                              haul_error *error);

/* Names an operation in an error: "'in 3'", or "#12". Returns `buffer`. In op_titles.c. */
char *hl_simulate_schedule_quote(const haul_schedule *self, uint32_t op, char *buffer, size_t size);

/* Reads a file's text into a plan. */
haul_status hl_simulate_plan_read_yaml(hl_simulate_plan *self, const char *text, size_t size);
haul_status hl_simulate_plan_read_csv(hl_simulate_plan *self, const char *text, size_t size);

/* A duration, in nanoseconds: at least 1. */
haul_status hl_simulate_plan_duration(const hl_simulate_plan *self, const hl_simulate_word *word,
                                      const char *key, int64_t *ns);

#endif
