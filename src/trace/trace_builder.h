/* The builder of a workload from a profile: what a reader fills, row by row and in any order.
 *
 * A reader adds device operations, waits and event records first, each with the key of the API call
 * that issued it; then the calls, which are joined to them by that key in memory; then the texts of
 * the names met. Streams, threads and shapes are added to `built`. haul_trace_finish orders and
 * links operations and turns waits into edges. A lack of memory is kept in `built.failed` and
 * reported by haul_trace_finish, so that no row needs a check of its own. */
#ifndef HAUL_TRACE_TRACE_BUILDER_H
#define HAUL_TRACE_TRACE_BUILDER_H

#include "base/order.h"
#include "workload/builder.h"

/* An event or an id of a synchronisation that a row does not name. */
#define HAUL_NO_ID UINT64_MAX

/* What readers say of operations with HAUL_OP_NO_BYTES. */
#define HAUL_TRACE_NO_BYTES                                                                        \
    "copies whose number of bytes is not known: their time is kept, and never predicted"

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

/* Operations or events sorted by call key. */
typedef struct haul_join {
    uint32_t *order;
    size_t count;
    size_t finger; /* where the last key was */
} haul_join;

typedef struct haul_trace_builder {
    haul_builder built;
    uint32_t *scratch; /* lists of numbers, one after another: pages once touched serve again */
    size_t scratch_capacity;
    haul_join op_join;
    haul_join event_join;
    bool joining;
    haul_wait *waits; /* haul_op.wait of a SYNC operation is its number here */
    size_t wait_count;
    size_t wait_capacity;
    haul_event *events;
    size_t event_count;
    size_t event_capacity;
    haul_records processes;
    haul_records names; /* the reader's keys */
    uint32_t *name_texts;
    size_t name_text_capacity;
    haul_records gpus; /* of each device of `built`, what tells it apart */
    uint64_t calls;
    uint64_t total_ns;
    uint64_t total_call_ns;
    uint64_t total_bytes;
} haul_trace_builder;

void haul_trace_init(haul_trace_builder *self);
void haul_trace_release(haul_trace_builder *self);

/* Notes `count` more of a loss, a lack or a repair; `text` is kept once and copied. */
void haul_trace_lost(haul_trace_builder *self, uint64_t count, const char *text);
void haul_trace_missing(haul_trace_builder *self, uint64_t count, const char *text);
void haul_trace_repaired(haul_trace_builder *self, uint64_t count, const char *text);

/* A process's number, from 0. */
uint32_t haul_trace_process(haul_trace_builder *self, uint64_t process);

/* The number of a name that the profile's string table gives later, by its key there. */
uint32_t haul_trace_name(haul_trace_builder *self, uint64_t key);

/* The number of a name by its text, and the text of one, "" where it has none yet. */
uint32_t haul_trace_text(haul_trace_builder *self, const char *text, size_t length);
const char *haul_trace_text_of(const haul_trace_builder *self, uint32_t name);

/* The device that the profile's tables, or else its operations, call `gpu`; `id` is what the
 * operation at hand calls it. */
uint32_t haul_trace_device(haul_trace_builder *self, uint64_t id, uint64_t gpu);

/* Gives the text of a name, if some operation has it. */
void haul_trace_name_text(haul_trace_builder *self, uint64_t key, const char *text, size_t length);

/* The duration between two times; a negative one, which is repaired, where they are out of range.
 */
int64_t haul_trace_duration(int64_t start_ns, int64_t end_ns);

/* Adds an operation issued by the call of key `key` (0: not known). Its times may be any: what
 * cannot be right is repaired so that starts lie in [-2^61, 2^61], durations are not negative, and
 * the sums of all durations and of all bytes fit in 63 bits. */
void haul_trace_op(haul_trace_builder *self, const haul_op *op, uint64_t key);

/* Adds a range, whose `name` is a number of names; times are repaired as an operation's are. */
void haul_trace_range(haul_trace_builder *self, const haul_named_range *range);

/* Before the first call: an operation's key; one that came without it; how many bytes one has that
 * came without. */
uint64_t haul_trace_key(const haul_trace_builder *self, size_t op);
void haul_trace_op_key(haul_trace_builder *self, size_t op, uint64_t key);
void haul_trace_op_bytes(haul_trace_builder *self, size_t op, uint64_t bytes);

/* Before the first call: the first operation of a key among those that were there at the first such
 * question; HAUL_NONE where there is none. */
uint32_t haul_trace_find_op(haul_trace_builder *self, uint64_t key);

/* Before the first call: drops operations that are written twice, equal in every field and key, and
 * notes how many; notes how many overlap the one before them on their stream by more than 1 us,
 * within which some profilers round. */
void haul_trace_drop_repeats(haul_trace_builder *self);
void haul_trace_note_overlaps(haul_trace_builder *self);

/* Adds a SYNC operation and what it waits for. */
void haul_trace_wait(haul_trace_builder *self, const haul_op *op, uint64_t key,
                     const haul_wait *wait);

void haul_trace_event(haul_trace_builder *self, const haul_event *event);

/* Joins a call to what it issued, or adds it as an operation of its own. No operation, wait or
 * record may be added after the first call. */
void haul_trace_call(haul_trace_builder *self, const haul_call *call);

/* Makes the workload: sorts operations by start, links those on one stream and thread, turns waits
 * into edges, counts orphans. The builder is empty afterwards, whatever the outcome. Returns
 * NO_MEMORY. */
haul_status haul_trace_finish(haul_trace_builder *self, const char *source, const char *format,
                              haul_workload **workload, haul_error *error);

/* --- the steps of haul_trace_finish, each in the file of its name */

/* Room for `count` numbers, good until the next such call; NULL with `failed` set. */
uint32_t *haul_trace_scratch(haul_trace_builder *self, size_t count);

/* The operations' numbers by start, good until the next call for room; NULL with `failed` set. */
uint32_t *haul_trace_by_start(haul_trace_builder *self);

/* Gives waits and events the streams that work is on; the others have no place in the workload
 * then. */
void haul_wait_streams_join(haul_trace_builder *builder);

/* Sorts operations by start, and links them. */
void haul_trace_links_make(haul_trace_builder *self);

/* Lets migrations that the host asked for come after its waits; before waits are resolved. */
void haul_host_faults_follow(haul_trace_builder *builder);

/* Resolves waits into edges; needs the links. */
void haul_wait_edges_make(haul_trace_builder *builder);

#endif
