/* Building a workload: what a reader of profiles fills, row by row and in any order.
 *
 * A reader adds device operations, waits and event records first, each with the key of the host
 * call that issued it; then the calls, which are joined to them by that key in memory; then the
 * texts of the names met. haul_builder_finish orders, links and hands over. A lack of memory is
 * kept in `failed` and said by haul_builder_finish, so that no row needs a check of its own. */
#ifndef HAUL_WORKLOAD_BUILDER_H
#define HAUL_WORKLOAD_BUILDER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/records.h"
#include "base/strings.h"
#include "haul/workload.h"

static_assert(sizeof(haul_op) == 64, "a profile of 10 million operations must fit in 1 GiB");

/* An event or an id of a synchronisation that a row does not name. */
#define HAUL_NO_ID UINT64_MAX

/* What a SYNC operation waits for. Which fields count depends on the operation's kind of wait. */
typedef struct haul_wait {
    uint64_t process;
    uint64_t context;
    uint64_t event;
    uint64_t sync_id; /* names one record of an event; HAUL_NO_ID where the schema has none */
} haul_wait;

/* An event recorded on a stream. */
typedef struct haul_event {
    uint64_t process;
    uint64_t event;
    uint64_t sync_id;
    uint64_t key;    /* of the call that recorded it, or 0 */
    int64_t time_ns; /* when it was reached on its device, 0 where not known; set by the join to
                      * when it was called for */
    uint32_t stream;
    bool has_call;
} haul_event;

typedef struct haul_call {
    int64_t start_ns;
    int64_t dur_ns;
    uint64_t key;
    uint32_t name;
    uint32_t thread;
} haul_call;

/* Things in order of their calls' keys. */
typedef struct haul_join {
    uint32_t *order;
    size_t count;
    size_t finger; /* where the last key was */
} haul_join;

typedef struct haul_workload_notes {
    haul_note *items;
    size_t count;
    size_t capacity;
} haul_workload_notes;

typedef struct haul_builder {
    haul_arena arena; /* notes, devices' names: the workload's in the end */
    haul_strings strings;
    haul_op *ops;
    size_t op_count;
    size_t op_capacity;
    uint32_t *scratch; /* lists of numbers, one after another: pages once touched serve again */
    size_t scratch_capacity;
    haul_join op_join;
    haul_join event_join;
    bool joining;
    haul_wait *waits; /* a SYNC operation's `bytes` is its number here until it is resolved */
    size_t wait_count;
    size_t wait_capacity;
    haul_event *events;
    size_t event_count;
    size_t event_capacity;
    haul_edge *edges;
    size_t edge_count;
    size_t edge_capacity;
    haul_records streams;
    haul_records threads;
    haul_records shapes;
    haul_records processes;
    haul_records names; /* the reader's keys */
    uint32_t *name_texts;
    size_t name_text_capacity;
    haul_records device_keys;
    haul_workload_device *devices;
    size_t device_capacity;
    haul_workload_notes missing;
    haul_workload_notes repairs;
    uint64_t calls;
    uint64_t total_ns;
    uint64_t total_call_ns;
    uint64_t total_bytes;
    bool failed;
} haul_builder;

void haul_builder_init(haul_builder *self);
void haul_builder_release(haul_builder *self);

/* Makes room for about so many operations at once; without the memory they find room as they come.
 */
void haul_builder_reserve(haul_builder *self, uint64_t ops);

/* Says `count` more of a lack or a repair; `text` is kept once and copied. */
void haul_builder_missing(haul_builder *self, uint64_t count, const char *text);
void haul_builder_repaired(haul_builder *self, uint64_t count, const char *text);

/* Numbers of things named by the profile's ids; each is made when it is first asked for. */
uint32_t haul_builder_process(haul_builder *self, uint64_t process);
uint32_t haul_builder_thread(haul_builder *self, uint64_t process, uint64_t id);
uint32_t haul_builder_shape(haul_builder *self, const haul_shape *shape);
uint32_t haul_builder_name(haul_builder *self, uint64_t key);

/* The device that the profile's tables, or else its operations, call `gpu`; `id` is what the
 * operation at hand calls it. */
uint32_t haul_builder_device(haul_builder *self, uint64_t id, uint64_t gpu);
uint32_t haul_builder_stream(haul_builder *self, const haul_workload_stream *stream);

/* Gives the text of a name, if some operation has it. */
void haul_builder_name_text(haul_builder *self, uint64_t key, const char *text, size_t length);

/* Adds an operation issued by the call of key `key` (0: not known). Its times may be any: what
 * cannot be right is repaired so that starts lie in [-2^61, 2^61], durations are not negative, and
 * the sums of all durations and of all bytes fit in 63 bits. */
void haul_builder_op(haul_builder *self, const haul_op *op, uint64_t key);

/* Adds a SYNC operation and what it waits for. */
void haul_builder_wait(haul_builder *self, const haul_op *op, uint64_t key, const haul_wait *wait);

void haul_builder_event(haul_builder *self, const haul_event *event);

/* Joins a call to what it issued, or adds it as an operation of its own. No operation, wait or
 * record may be added after the first call. */
void haul_builder_call(haul_builder *self, const haul_call *call);

/* Says that an operation may not start before another has ended, by their numbers in the order in
 * which they were added. Only for workloads without waits whose operations are added in order of
 * start. */
void haul_builder_edge(haul_builder *self, uint32_t before, uint32_t after);

/* Makes the workload: orders operations by start, links those on one stream and thread, turns waits
 * into edges, counts orphans. The builder is empty afterwards, whatever the outcome. In
 * builder_finish.c. */
haul_status haul_builder_finish(haul_builder *self, const char *source, const char *format,
                                haul_workload **workload, haul_error *error);

/* What a workload owns beside what its reader sees. */
typedef struct haul_owned_workload {
    haul_workload seen;
    haul_arena arena;
    haul_strings strings;
} haul_owned_workload;

/* For the files of the builder: an array made larger for `needed` items, or `failed` set. */
bool haul_builder_grow(haul_builder *self, void *items, size_t *capacity, size_t needed,
                       size_t item_size);

/* Room for `count` numbers, good until the next such call; NULL with `failed` set. */
uint32_t *haul_builder_scratch(haul_builder *self, size_t count);

/* Gives waits and events the streams that work is on; the others have no place in the workload
 * then. In wait_streams.c. */
void haul_wait_streams_join(haul_builder *builder);

/* Links operations in order of start. In links.c. */
void haul_links_make(haul_builder *self);

/* Lets migrations that the host asked for come after its waits. In host_faults.c, before waits are
 * resolved. */
void haul_host_faults_follow(haul_builder *builder);

/* Resolves waits into edges, sorted by their later end. In edges.c; needs the links. */
void haul_edges_make(haul_builder *builder);

#endif
