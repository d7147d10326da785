/* The plain builder of a workload: operations, streams, threads and edges, in the order in which
 * they are added.
 *
 * Operations are numbered from 0. Each comes after the one added before it on its stream, and is
 * called after the one added before it on its thread. A lack of memory is kept in `failed` and
 * reported by hl_workload_builder_finish, so that no call needs a check of its own. */
#ifndef HAUL_WORKLOAD_BUILDER_H
#define HAUL_WORKLOAD_BUILDER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/records.h"
#include "base/strings.h"
#include "haul/workload.h"
#include "workload/spans.h"

static_assert(sizeof(haul_op) == 64, "a profile of 10 million operations must fit in 1 GiB");

/* More than these are refused: a failed builder. */
enum { HL_WORKLOAD_BUILDER_OPS_LOG2 = 31 };

/* The places where each operation was called for, as the profile tells them: string ids. */
enum { HL_WORKLOAD_OPERATOR, HL_WORKLOAD_LINE, HL_WORKLOAD_STACK, HL_WORKLOAD_ORIGINS };

/* Notes of a workload being built. */
typedef struct hl_workload_note_list {
    haul_note *items;
    size_t count;
    size_t capacity;
} hl_workload_note_list;

/* See workload/mpi_calls.h. */
typedef struct hl_workload_mpi_call hl_workload_mpi_call;

typedef struct hl_workload_builder {
    const haul_workload *from; /* see hl_workload_builder_init_from; else NULL */
    hl_base_arena arena;       /* for texts of the workload beside its strings */
    hl_base_strings strings;
    haul_op *ops;
    size_t op_count;
    size_t op_capacity;
    uint32_t *origins[HL_WORKLOAD_ORIGINS]; /* of each operation, once all are there; NULL: none is
                                             * known */
    haul_edge *edges;
    size_t edge_count;
    size_t edge_capacity;
    hl_base_records streams;
    hl_base_records threads;
    hl_base_records shapes;
    hl_base_records collectives;
    hl_base_records operands;
    haul_named_range *ranges;
    size_t range_count;
    size_t range_capacity;
    hl_workload_mpi_call *mpi_calls;
    size_t mpi_call_count;
    size_t mpi_call_capacity;
    int64_t epoch_ns; /* of the workload, set by who builds it; and its rank, -1 to begin with */
    int64_t rank;
    const char *host; /* of the devices that name none; "": several, so that none is known */
    haul_workload_device *devices;
    size_t device_count;
    size_t device_capacity;
    hl_workload_note_list losses;
    hl_workload_note_list missing;
    hl_workload_note_list repairs;
    bool failed;
} hl_workload_builder;

void hl_workload_builder_init(hl_workload_builder *self);

/* For a workload like `from`, whose strings, threads, devices, shapes and notes it shares: `from`
 * must outlive it. It begins with the streams of `from`, which differ, and without operations. */
void hl_workload_builder_init_from(hl_workload_builder *self, const haul_workload *from);

/* Takes the name of the machine that all devices are in, from `length` bytes. */
void hl_workload_builder_host(hl_workload_builder *self, const char *name, size_t length);

void hl_workload_builder_release(hl_workload_builder *self);

/* Makes room for about so many operations at once; without the memory they find room as they come.
 */
void hl_workload_builder_reserve(hl_workload_builder *self, uint64_t ops);

/* The id of a string, added where it is new. */
uint32_t hl_workload_builder_string(hl_workload_builder *self, const char *text, size_t length);

/* Adds a device. */
uint32_t hl_workload_builder_device(hl_workload_builder *self, uint64_t id);

/* The number of a stream, thread or shape, added where no equal one is there. `name` must outlive
 * the workload: a text of its strings, for example. */
uint32_t hl_workload_builder_stream(hl_workload_builder *self, const haul_workload_stream *stream);
uint32_t hl_workload_builder_thread(hl_workload_builder *self, const haul_workload_thread *thread);
uint32_t hl_workload_builder_shape(hl_workload_builder *self, const haul_shape *shape);

/* Adds a range. */
void hl_workload_builder_range(hl_workload_builder *self, const haul_named_range *range);

/* Adds a span to some; one whose times no recording has is left out. */
void hl_workload_builder_span(hl_workload_builder *self, hl_workload_spans *spans,
                              const haul_named_range *span);

/* The number of this one for haul_shape.collective. */
uint32_t hl_workload_builder_collective(hl_workload_builder *self,
                                        const haul_collective *collective);

/* The number of these for haul_shape.operands. */
uint32_t hl_workload_builder_operands(hl_workload_builder *self, const haul_operands *operands);

/* Adds an operation and returns its number; its links are set by hl_workload_builder_finish. */
uint32_t hl_workload_builder_op(hl_workload_builder *self, const haul_op *op);

/* Once all operations are there: their origins of one kind, HAUL_NONE to begin with; NULL with
 * `failed` set. */
uint32_t *hl_workload_builder_origins(hl_workload_builder *self, int kind);

/* `after` may not start before `before` has ended. */
void hl_workload_builder_edge(hl_workload_builder *self, uint32_t before, uint32_t after);

/* Makes the workload: links operations and sorts edges. The builder is empty afterwards, whatever
 * the outcome. `source` and `format` are copied. Returns NO_MEMORY. */
haul_status hl_workload_builder_finish(hl_workload_builder *self, const char *source,
                                       const char *format, haul_workload **workload,
                                       haul_error *error);

/* --- for those who order operations themselves: the parts of hl_workload_builder_finish */

/* Links the operations of each stream in order of their numbers. */
void hl_workload_builder_link_streams(hl_workload_builder *self);

/* hl_workload_builder_finish, but links stay as they are. */
haul_status hl_workload_builder_hand_over(hl_workload_builder *self, const char *source,
                                          const char *format, haul_workload **workload,
                                          haul_error *error);

/* Notes `count` more of what `text` says in one of the builder's lists. */
void hl_workload_note_add(hl_workload_builder *self, hl_workload_note_list *list, uint64_t count,
                          const char *text);

/* An array made larger for `needed` items, or `failed` set. */
bool hl_workload_builder_grow(hl_workload_builder *self, void *items, size_t *capacity,
                              size_t needed, size_t item_size);

/* A workload with the memory that it owns. */
typedef struct hl_workload_owned_workload {
    haul_workload seen;
    bool shares; /* all but operations, edges and streams are another's */
    hl_base_arena arena;
    hl_base_strings strings;
    hl_workload_mpi_call *mpi_calls;
    size_t mpi_call_count;
} hl_workload_owned_workload;

#endif
