/* The plain builder of a workload: operations, streams, threads and edges, in the order in which
 * they are added.
 *
 * Operations are numbered from 0. Each comes after the one added before it on its stream, and is
 * called after the one added before it on its thread. A lack of memory is kept in `failed` and
 * reported by haul_builder_finish, so that no call needs a check of its own. */
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

static_assert(sizeof(haul_op) == 64, "a profile of 10 million operations must fit in 1 GiB");

/* More than these are refused: a failed builder. */
enum { HAUL_BUILDER_OPS_LOG2 = 31 };

/* Notes of a workload being built. */
typedef struct haul_note_list {
    haul_note *items;
    size_t count;
    size_t capacity;
} haul_note_list;

typedef struct haul_builder {
    const haul_workload *from; /* see haul_builder_init_from; else NULL */
    haul_arena arena;          /* for texts of the workload beside its strings */
    haul_strings strings;
    haul_op *ops;
    size_t op_count;
    size_t op_capacity;
    haul_edge *edges;
    size_t edge_count;
    size_t edge_capacity;
    haul_records streams;
    haul_records threads;
    haul_records shapes;
    haul_records collectives;
    haul_records operands;
    haul_named_range *ranges;
    size_t range_count;
    size_t range_capacity;
    int64_t epoch_ns; /* of the workload, set by who builds it; and its rank, -1 to begin with */
    int64_t rank;
    haul_workload_device *devices;
    size_t device_count;
    size_t device_capacity;
    haul_note_list losses;
    haul_note_list missing;
    haul_note_list repairs;
    bool failed;
} haul_builder;

void haul_builder_init(haul_builder *self);

/* For a workload like `from`, whose strings, threads, devices, shapes and notes it shares: `from`
 * must outlive it. It begins with the streams of `from`, which differ, and without operations. */
void haul_builder_init_from(haul_builder *self, const haul_workload *from);

void haul_builder_release(haul_builder *self);

/* Makes room for about so many operations at once; without the memory they find room as they come.
 */
void haul_builder_reserve(haul_builder *self, uint64_t ops);

/* The id of a string, added where it is new. */
uint32_t haul_builder_string(haul_builder *self, const char *text, size_t length);

/* Adds a device. */
uint32_t haul_builder_device(haul_builder *self, uint64_t id);

/* The number of a stream, thread or shape, added where no equal one is there. `name` must outlive
 * the workload: a text of its strings, for example. */
uint32_t haul_builder_stream(haul_builder *self, const haul_workload_stream *stream);
uint32_t haul_builder_thread(haul_builder *self, const haul_workload_thread *thread);
uint32_t haul_builder_shape(haul_builder *self, const haul_shape *shape);

/* Adds a range. */
void haul_builder_range(haul_builder *self, const haul_named_range *range);

/* What haul_shape.collective says of this one. */
uint32_t haul_builder_collective(haul_builder *self, const haul_collective *collective);

/* What haul_shape.operands says of these. */
uint32_t haul_builder_operands(haul_builder *self, const haul_operands *operands);

/* Adds an operation and returns its number; its links are set by haul_builder_finish. */
uint32_t haul_builder_op(haul_builder *self, const haul_op *op);

/* `after` may not start before `before` has ended. */
void haul_builder_edge(haul_builder *self, uint32_t before, uint32_t after);

/* Makes the workload: links operations and sorts edges. The builder is empty afterwards, whatever
 * the outcome. `source` and `format` are copied. Returns NO_MEMORY. */
haul_status haul_builder_finish(haul_builder *self, const char *source, const char *format,
                                haul_workload **workload, haul_error *error);

/* --- for those who order operations themselves: the parts of haul_builder_finish */

/* Links the operations of each stream in order of their numbers. */
void haul_builder_link_streams(haul_builder *self);

/* haul_builder_finish, but links stay as they are. */
haul_status haul_builder_hand_over(haul_builder *self, const char *source, const char *format,
                                   haul_workload **workload, haul_error *error);

/* Notes `count` more of what `text` says in one of the builder's lists. */
void haul_note_add(haul_builder *self, haul_note_list *list, uint64_t count, const char *text);

/* An array made larger for `needed` items, or `failed` set. */
bool haul_builder_grow(haul_builder *self, void *items, size_t *capacity, size_t needed,
                       size_t item_size);

/* What a workload owns beside what its reader sees. */
typedef struct haul_owned_workload {
    haul_workload seen;
    bool shares; /* all but operations, edges and streams are another's */
    haul_arena arena;
    haul_strings strings;
} haul_owned_workload;

#endif
