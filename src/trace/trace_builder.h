/* The builder of a workload from a profile: what a reader fills, row by row and in any order.
 *
 * A reader adds device operations, waits and event records first, each with the key of the API call
 * that issued it; then the calls, which are joined to them by that key in memory; then the texts of
 * the names met. Streams, threads and shapes are added to `built`. hl_trace_finish orders and
 * links operations and turns waits into edges. A lack of memory is kept in `built.failed` and
 * reported by hl_trace_finish, so that no row needs a check of its own. */
#ifndef HAUL_TRACE_TRACE_BUILDER_H
#define HAUL_TRACE_TRACE_BUILDER_H

#include "base/order.h"
#include "workload/builder.h"

/* An event or an id of a synchronisation that a row does not name. */
#define HL_TRACE_NO_ID UINT64_MAX

/* The note on operations with HAUL_OP_NO_BYTES. */
#define HL_TRACE_NO_BYTES                                                                          \
    "copies whose number of bytes is not known: their time is kept, and never predicted"

/* Flag of a copy until its call is found: a migration of unified memory that the program prefetched
 * (cudaMemPrefetchAsync). */
enum { HL_TRACE_PREFETCHED = 128 };

/* The target of a SYNC operation. Which fields count depends on the operation's kind of wait. */
typedef struct hl_trace_host_wait {
    uint64_t process;
    uint64_t context;
    uint64_t event;
    uint64_t sync_id; /* names one record of an event; HL_TRACE_NO_ID where the schema has none */
} hl_trace_host_wait;

/* An event recorded on a stream. */
typedef struct hl_trace_event_mark {
    uint64_t process;
    uint64_t event;
    uint64_t sync_id;
    uint64_t key;    /* of the call that recorded it, or 0 */
    int64_t time_ns; /* when it was reached on its device, 0 where not known; set by the join to
                      * when it was called for */
    uint32_t stream;
    bool has_call;
} hl_trace_event_mark;

typedef struct hl_trace_host_call {
    int64_t start_ns;
    int64_t dur_ns;
    uint64_t key;
    uint32_t name;
    uint32_t thread;
} hl_trace_host_call;

/* Operations or events sorted by call key. */
typedef struct hl_trace_join {
    uint32_t *order;
    size_t count;
    size_t finger; /* where the last key was */
} hl_trace_join;

typedef struct hl_trace_builder {
    hl_workload_builder built;
    uint32_t *scratch; /* lists of numbers, one after another: pages once touched serve again */
    size_t scratch_capacity;
    hl_trace_join op_join;
    hl_trace_join event_join;
    bool joining;
    bool has_migrations;       /* copies of unified memory */
    hl_trace_host_wait *waits; /* haul_op.wait of a SYNC operation is its number here */
    size_t wait_count;
    size_t wait_capacity;
    hl_trace_event_mark *events;
    size_t event_count;
    size_t event_capacity;
    hl_base_records processes;
    hl_base_records names; /* the reader's keys */
    uint32_t *name_texts;
    size_t name_text_capacity;
    hl_base_records gpus; /* of each device of `built`, what tells it apart */
    bool has_own_notes;   /* as 'haul convert' wrote them, in place of the reader's */
    hl_workload_note_list own_missing;
    hl_workload_note_list own_repairs;
    bool has_own_defaults;        /* 'haul convert' wrote which streams are default ones */
    hl_base_records own_defaults; /* hl_trace_stream_key of each */
    uint64_t calls;
    uint64_t total_ns;
    uint64_t total_call_ns;
    uint64_t total_bytes;
} hl_trace_builder;

void hl_trace_init(hl_trace_builder *self);
void hl_trace_release(hl_trace_builder *self);

#define HL_TRACE_NOTE_MISSING "missing"
#define HL_TRACE_NOTE_REPAIR "repair"
/* A stream that is a default one: its device, context and id. The first, without a text, tells that
 * the file lists them, for no form of file has another place for it. */
#define HL_TRACE_NOTE_DEFAULT "default stream"

typedef struct hl_trace_stream_key {
    int64_t device; /* its id in the file, -1 for none */
    int64_t context;
    int64_t id;
} hl_trace_stream_key;

/* Notes `count` more of a loss, a lack or a repair; `text` is kept once and copied. */
void hl_trace_lost(hl_trace_builder *self, uint64_t count, const char *text);
/* The same of a text that the profile holds, which may be anything: made one line, and beyond
 * 64 of them left out. */
void hl_trace_lost_line(hl_trace_builder *self, uint64_t count, const char *text);
/* One that 'haul convert' wrote, of a kind below; others only tell that it wrote the file. */
void hl_trace_own_note(hl_trace_builder *self, const char *kind, uint64_t count, const char *text);
void hl_trace_missing(hl_trace_builder *self, uint64_t count, const char *text);
void hl_trace_repaired(hl_trace_builder *self, uint64_t count, const char *text);

/* A process's number, from 0. */
uint32_t hl_trace_process(hl_trace_builder *self, uint64_t process);

/* The number of a name that the profile's string table gives later, by its key there. */
uint32_t hl_trace_name(hl_trace_builder *self, uint64_t key);

/* Numbers of names from this one on are those of their strings behind it. */
#define HL_TRACE_TEXT_NAME (UINT32_C(1) << 31)

/* The number of a name by its text, and the text of one, "" where it has none yet. */
uint32_t hl_trace_text(hl_trace_builder *self, const char *text, size_t length);
const char *hl_trace_text_of(const hl_trace_builder *self, uint32_t name);

/* The string of a name, HAUL_NONE where it has none yet. */
uint32_t hl_trace_string_of(const hl_trace_builder *self, uint32_t name);

/* The device that the profile's tables, or else its operations, call `gpu`; `id` is what the
 * operation at hand calls it. */
uint32_t hl_trace_device(hl_trace_builder *self, uint64_t id, uint64_t gpu);

/* Gives the text of a name, if some operation has it. */
void hl_trace_name_text(hl_trace_builder *self, uint64_t key, const char *text, size_t length);

/* The duration between two times; a negative one, which is repaired, where they are out of range.
 */
int64_t hl_trace_duration(int64_t start_ns, int64_t end_ns);

/* Adds an operation issued by the call of key `key` (0: not known). Its times may be any: what
 * cannot be right is repaired so that starts lie in [-2^61, 2^61], durations are not negative, and
 * the sums of all durations and of all bytes fit in 63 bits. */
void hl_trace_op(hl_trace_builder *self, const haul_op *op, uint64_t key);

/* Adds a range, whose `name` is a number of names; times are repaired as an operation's are. */
void hl_trace_range(hl_trace_builder *self, const haul_named_range *range);

/* Before the first call: an operation's key; one that came without it; how many bytes one has that
 * came without. */
uint64_t hl_trace_key(const hl_trace_builder *self, size_t op);
void hl_trace_op_key(hl_trace_builder *self, size_t op, uint64_t key);
void hl_trace_op_bytes(hl_trace_builder *self, size_t op, uint64_t bytes);

/* Before the first call: the first operation of a key among those that were there at the first such
 * question; HAUL_NONE where there is none. */
uint32_t hl_trace_find_op(hl_trace_builder *self, uint64_t key);

/* Before the first call: drops operations that are written twice, equal in every field and key, and
 * notes how many; notes how many overlap the one before them on their stream by more than 1 us,
 * within which some profilers round. */
void hl_trace_drop_repeats(hl_trace_builder *self);
void hl_trace_note_overlaps(hl_trace_builder *self);

/* Adds a SYNC operation and what it waits for. */
void hl_trace_wait(hl_trace_builder *self, const haul_op *op, uint64_t key,
                   const hl_trace_host_wait *wait);

void hl_trace_event(hl_trace_builder *self, const hl_trace_event_mark *event);

/* Joins a call to what it issued, or adds it as an operation of its own. No operation, wait or
 * record may be added after the first call. */
void hl_trace_call(hl_trace_builder *self, const hl_trace_host_call *call);

/* Makes the workload: sorts operations by start, links those on one stream and thread, turns waits
 * into edges, counts orphans. The builder is empty afterwards, whatever the outcome. Returns
 * NO_MEMORY. */
haul_status hl_trace_finish(hl_trace_builder *self, const char *source, const char *format,
                            haul_workload **workload, haul_error *error);

/* --- the steps of hl_trace_finish, each in the file of its name */

/* Room for `count` numbers, good until the next such call; NULL with `failed` set. */
uint32_t *hl_trace_scratch(hl_trace_builder *self, size_t count);

/* The operations' numbers by start, good until the next call for room; NULL with `failed` set. */
uint32_t *hl_trace_by_start(hl_trace_builder *self);

/* Gives waits and events the streams that work is on; the others have no place in the workload
 * then. */
void hl_trace_wait_streams_join(hl_trace_builder *builder);

/* Moves the operations of devices whose clocks differ from the host's by a constant, and notes it.
 */
void hl_trace_device_clocks_set(hl_trace_builder *self);

/* Gives migrations of unified memory a stream of their own where they overlap other work of theirs,
 * and prefetched ones the call that asked for them. */
void hl_trace_prefetches_join(hl_trace_builder *self);

/* Sorts operations by start, and links them. */
void hl_trace_links_make(hl_trace_builder *self);

/* Lets migrations that the host asked for come after its waits; before waits are resolved. */
void hl_trace_host_faults_follow(hl_trace_builder *builder);

/* Resolves waits into edges; needs the links. */
void hl_trace_wait_edges_make(hl_trace_builder *builder);

/* Adds edges for waits that no row tells of; calls that waited become SYNC. */
void hl_trace_implied_waits_make(hl_trace_builder *self);

#endif
