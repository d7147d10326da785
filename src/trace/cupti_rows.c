/* CUPTI's activity records, one row at a time. It is the innermost loop of a reader that takes
 * millions of rows a second: what a row's ids and names stand for is looked up among the last few
 * before it is looked up among all. */
#include "trace/cupti_rows.h"

#include <string.h>

/* nsys's numbers, ENUM_CUDA_MEM_KIND; nvprof's (CUpti_ActivityMemoryKind) are one above. */
typedef enum memory_kind {
    KIND_PAGEABLE,
    KIND_PINNED,
    KIND_DEVICE,
    KIND_ARRAY,
    KIND_MANAGED,
    KIND_DEVICE_STATIC,
    KIND_MANAGED_STATIC,
    KIND_UNKNOWN,
} memory_kind;

typedef enum host_side { NO_HOST, SOURCE, TARGET, BOTH } host_side;

/* By copyKind: CUpti_ActivityMemcpyKind, and nsys's 11 to 13, ENUM_CUDA_MEMCPY_OPER. */
static const struct {
    haul_direction direction;
    host_side host;
    haul_memory memory; /* where no host's memory decides */
} copy_kinds[] = {
    {HAUL_DIRECTION_UNKNOWN, NO_HOST, HAUL_MEMORY_UNKNOWN},
    {HAUL_DIRECTION_HTOD, SOURCE, HAUL_MEMORY_HOST},
    {HAUL_DIRECTION_DTOH, TARGET, HAUL_MEMORY_HOST},
    {HAUL_DIRECTION_HTOD, SOURCE, HAUL_MEMORY_HOST}, /* to array */
    {HAUL_DIRECTION_DTOH, TARGET, HAUL_MEMORY_HOST},
    {HAUL_DIRECTION_DTOD, NO_HOST, HAUL_MEMORY_ARRAY},
    {HAUL_DIRECTION_DTOD, NO_HOST, HAUL_MEMORY_ARRAY},
    {HAUL_DIRECTION_DTOD, NO_HOST, HAUL_MEMORY_ARRAY},
    {HAUL_DIRECTION_DTOD, NO_HOST, HAUL_MEMORY_DEVICE},
    {HAUL_DIRECTION_HTOH, BOTH, HAUL_MEMORY_HOST},
    {HAUL_DIRECTION_PTOP, NO_HOST, HAUL_MEMORY_DEVICE},
    {HAUL_DIRECTION_HTOD, NO_HOST, HAUL_MEMORY_MANAGED},
    {HAUL_DIRECTION_DTOH, NO_HOST, HAUL_MEMORY_MANAGED},
    {HAUL_DIRECTION_DTOD, NO_HOST, HAUL_MEMORY_MANAGED},
};

enum { COPY_KINDS = sizeof copy_kinds / sizeof *copy_kinds, COPY_DTOD = 8 };

/* CUpti_ActivityUnifiedMemoryCounterKind: bytes transferred; the others count faults. */
enum { COUNTER_HTOD = 1, COUNTER_DTOH = 2, COUNTER_DTOD = 8 };

/* CUpti_ActivityUnifiedMemoryMigrationCause: the program's own prefetch; the others are faults,
 * evictions and the driver's guesses. */
enum { CAUSE_PREFETCH = 1 };

/* CUpti_ActivitySynchronizationType */
enum { SYNC_EVENT = 1, SYNC_STREAM_WAIT, SYNC_STREAM, SYNC_CONTEXT };

/* CUPTI's ids have 32 bits, all ones for none; files store them signed or not. */
static const uint32_t no_id = UINT32_MAX;

/* CUPTI gives the default stream of each context this id. */
static const uint32_t default_stream = 7;

static bool fits_id(int64_t value)
{
    return value >= INT32_MIN && value <= UINT32_MAX;
}

/* An id of 32 bits, however the file stored it: nvprof's are signed, nsys's are not. */
static uint32_t as_id(int64_t value)
{
    return fits_id(value) ? (uint32_t)value : no_id;
}

/* A column that is absent or NULL reads as none. */
static uint32_t id_at(const hl_trace_cupti_lane *lane, int column)
{
    return as_id(hl_trace_rows_int_or(&lane->rows, column, -1));
}

/* 0 is what CUPTI writes for work that no call issued, such as migrations of unified memory. */
uint32_t hl_trace_cupti_correlation(hl_trace_builder *builder, int64_t value)
{
    if (fits_id(value) && (uint32_t)value != no_id)
        return (uint32_t)value;
    if (!fits_id(value))
        hl_trace_repaired(builder, 1, "correlation id out of range, ignored");
    return 0;
}

/* Looks up what the ids that `place` has been given stand for. */
static void find_place(const hl_trace_cupti_lane *lane, hl_trace_cupti_place *place)
{
    const uint32_t id = as_id(place->ids[3]);
    place->known = true;
    place->process = (uint64_t)place->ids[0];
    place->process_key = (uint64_t)hl_trace_process(lane->builder, place->process) << 32;
    place->context = as_id(place->ids[2]);
    place->device = HAUL_NONE;
    place->stream = HAUL_NONE;
    if (id == no_id)
        return;
    uint32_t device = as_id(place->ids[1]);
    if (device == no_id) /* nvprof's waits name a context alone */
        device = as_id(
            hl_trace_id_map_value(&lane->devices->contexts, (int64_t)place->context, 0, no_id));
    if (device != no_id)
        place->device =
            hl_trace_device(lane->builder, device,
                            hl_trace_cupti_devices_gpu(lane->devices, place->process, device));
    const haul_workload_stream stream = {
        .device = place->device,
        .process = place->process,
        .context = place->context,
        .id = id,
        .is_default = id == default_stream,
    };
    place->stream = hl_workload_builder_stream(&lane->builder->built, &stream);
}

/* Finds the device, stream and thread that the row's ids stand for. */
static const hl_trace_cupti_place *place_of(hl_trace_cupti_lane *lane)
{
    const hl_trace_rows *rows = &lane->rows;
    int device = HL_TRACE_COL_DEVICE;
    if (lane->table->kind ==
        HL_TRACE_CUPTI_MIGRATION) /* whose two sides are columns of their own */
        device = hl_trace_rows_int(rows, HL_TRACE_COL_COPY_KIND) == COUNTER_DTOH
                     ? HL_TRACE_COL_SOURCE_DEVICE
                     : HL_TRACE_COL_TARGET_DEVICE;
    const int64_t ids[4] = {
        hl_trace_rows_int(rows, HL_TRACE_COL_PROCESS),
        hl_trace_rows_int_or(rows, device, -1),
        hl_trace_rows_int_or(rows, HL_TRACE_COL_CONTEXT, -1),
        hl_trace_rows_int_or(rows, HL_TRACE_COL_STREAM, -1),
    };
    const uint64_t low = (uint64_t)ids[3] + 16 * (uint64_t)ids[1];
    hl_trace_cupti_place *place = &lane->places[low % HL_TRACE_CUPTI_REMEMBERED];
    bool same = place->known;
    for (int i = 0; i < 4; i++) {
        same &= ids[i] == place->ids[i];
        place->ids[i] = ids[i];
    }
    if (!same)
        find_place(lane, place);
    return place;
}

/* The key of the call that issued the row, 0 where it names none. */
static uint64_t call_key(const hl_trace_cupti_lane *lane, const hl_trace_cupti_place *place)
{
    const uint32_t correlation = hl_trace_cupti_correlation(
        lane->builder, hl_trace_rows_int(&lane->rows, HL_TRACE_COL_CORRELATION));
    return correlation ? place->process_key | correlation : 0;
}

/* A kind that is new to haul is unknown, not the nearest one. */
static memory_kind kind_at(const hl_trace_cupti_lane *lane, int column)
{
    const int64_t value = hl_trace_rows_int_or(&lane->rows, column, -1);
    const int64_t pageable = lane->format->pageable;
    return value >= pageable && value < pageable + KIND_UNKNOWN ? (memory_kind)(value - pageable)
                                                                : KIND_UNKNOWN;
}

/* Of two sides the host's decides what a copy costs; of two hosts' memories the slower does. */
static haul_memory host_memory(const hl_trace_cupti_lane *lane, host_side host)
{
    const memory_kind source =
        host == TARGET ? KIND_UNKNOWN : kind_at(lane, HL_TRACE_COL_SOURCE_KIND);
    const memory_kind target =
        host == SOURCE ? KIND_UNKNOWN : kind_at(lane, HL_TRACE_COL_TARGET_KIND);
    if (source == KIND_PAGEABLE || target == KIND_PAGEABLE)
        return HAUL_MEMORY_PAGEABLE;
    switch (host == TARGET ? target : source) {
    case KIND_PINNED:
        return HAUL_MEMORY_PINNED;
    case KIND_MANAGED:
    case KIND_MANAGED_STATIC:
        return HAUL_MEMORY_MANAGED;
    default:
        return HAUL_MEMORY_HOST;
    }
}

/* Why the row's migration was made is read by a scan of its own, which keeps up with the other:
 * most programs migrate nothing, and the column would take a twentieth of the time of all. What
 * fails here fails there too, but for memory. */
static uint8_t prefetch_flag(hl_trace_cupti_lane *lane)
{
    const char *const columns[HL_TRACE_ROW_COLUMNS] = {
        lane->table->kind == HL_TRACE_CUPTI_MIGRATION ? "flags" : "migrationCause"};
    hl_trace_source *const source = lane->rows.source;
    hl_trace_rows *const causes = &lane->causes;
    haul_status status = HAUL_OK;
    bool more = true;
    if (!causes->source)
        status = hl_trace_rows_begin(causes, source, lane->table->name, columns, false, NULL);
    while (!status && more && causes->number < lane->rows.number)
        status = hl_trace_rows_next(causes, &more, NULL);
    source->no_memory |= status == HAUL_STATUS_NO_MEMORY;
    return !status && more && hl_trace_rows_int(causes, 0) == CAUSE_PREFETCH ? HL_TRACE_PREFETCHED
                                                                             : 0;
}

static void fill_copy(hl_trace_cupti_lane *lane, haul_op *op)
{
    const int64_t given = hl_trace_rows_int_or(&lane->rows, HL_TRACE_COL_COPY_KIND, 0);
    const int kind = given > 0 && given < COPY_KINDS ? (int)given : 0;
    op->kind = HAUL_OP_COPY;
    op->direction = (uint8_t)copy_kinds[kind].direction;
    op->detail =
        (uint8_t)(copy_kinds[kind].host == NO_HOST ? copy_kinds[kind].memory
                                                   : host_memory(lane, copy_kinds[kind].host));
    if (copy_kinds[kind].memory == HAUL_MEMORY_MANAGED)
        op->flags |= prefetch_flag(lane);
    if (kind != COPY_DTOD)
        return;
    /* newer files have copies between GPUs as those of one, with the two in columns */
    const uint32_t source = id_at(lane, HL_TRACE_COL_SOURCE_DEVICE);
    const uint32_t target = id_at(lane, HL_TRACE_COL_TARGET_DEVICE);
    if (source != no_id && target != no_id && source != target)
        op->direction = HAUL_DIRECTION_PTOP;
}

/* Returns false for counters of other things, such as faults. */
static bool fill_migration(hl_trace_cupti_lane *lane, haul_op *op)
{
    static const haul_direction directions[] = {[COUNTER_HTOD] = HAUL_DIRECTION_HTOD,
                                                [COUNTER_DTOH] = HAUL_DIRECTION_DTOH,
                                                [COUNTER_DTOD] = HAUL_DIRECTION_DTOD};
    const int64_t counter = hl_trace_rows_int(&lane->rows, HL_TRACE_COL_COPY_KIND);
    if (counter != COUNTER_HTOD && counter != COUNTER_DTOH && counter != COUNTER_DTOD)
        return false;
    op->kind = HAUL_OP_COPY;
    op->direction = (uint8_t)directions[counter];
    op->detail = HAUL_MEMORY_MANAGED;
    op->flags |= prefetch_flag(lane);
    return true;
}

/* Figures of a launch have 32 bits in CUDA; what does not fit comes of a damaged file. */
static uint32_t count_at(hl_trace_cupti_lane *lane, int column)
{
    const int64_t value = hl_trace_rows_int(&lane->rows, column);
    if (value >= 0 && value <= UINT32_MAX)
        return (uint32_t)value;
    hl_trace_repaired(lane->builder, 1, "figure of a kernel's launch out of range, set to 0");
    return 0;
}

/* Names repeat themselves far more than their number suggests: 64 places, by the low bits of the
 * string's id, answer nearly all questions. */
uint32_t hl_trace_cupti_name_number(hl_trace_builder *builder, hl_trace_cupti_name *names,
                                    uint64_t name_space, int64_t id)
{
    hl_trace_cupti_name *name = &names[(uint64_t)id % HL_TRACE_CUPTI_REMEMBERED];
    if (!name->known || name->id != id) {
        const uint64_t key = name_space | ((uint64_t)id & (INT64_MAX >> 1));
        *name =
            (hl_trace_cupti_name){.id = id, .number = hl_trace_name(builder, key), .known = true};
    }
    return name->number;
}

static void fill_kernel(hl_trace_cupti_lane *lane, haul_op *op)
{
    const hl_trace_rows *rows = &lane->rows;
    haul_shape shape = {0};
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = count_at(lane, HL_TRACE_COL_GRID + i);
        shape.block[i] = count_at(lane, HL_TRACE_COL_BLOCK + i);
    }
    shape.registers_per_thread = count_at(lane, HL_TRACE_COL_REGISTERS);
    shape.shared_bytes =
        count_at(lane, HL_TRACE_COL_STATIC_SHARED) + count_at(lane, HL_TRACE_COL_DYNAMIC_SHARED);
    op->kind = HAUL_OP_KERNEL;
    if (hl_trace_rows_is_int(rows, HL_TRACE_COL_NAME))
        op->name = hl_trace_cupti_name_number(lane->builder, lane->names, 0,
                                              hl_trace_rows_int(rows, HL_TRACE_COL_NAME));
    hl_trace_cupti_launch *const last = &lane->launches[op->name % HL_TRACE_CUPTI_REMEMBERED];
    if (!last->known || memcmp(&last->shape, &shape, sizeof shape) != 0)
        *last = (hl_trace_cupti_launch){
            .shape = shape,
            .number = hl_workload_builder_shape(&lane->builder->built, &shape),
            .known = true};
    op->shape = last->number;
}

/* Ids of events are reused within a file: the id of synchronisation, where a schema has it, tells
 * which record is meant (CUPTI 12.8 on). */
static uint64_t event_at(const hl_trace_cupti_lane *lane, int column)
{
    const uint32_t id = id_at(lane, column);
    return id == no_id ? HL_TRACE_NO_ID : id;
}

/* Waits are kept with what they wait for; edges are made once all operations are known. */
static void add_sync(hl_trace_cupti_lane *lane, const hl_trace_cupti_place *place, haul_op *op)
{
    const hl_trace_host_wait wait = {
        .process = place->process,
        .context = place->context,
        .event = event_at(lane, HL_TRACE_COL_EVENT),
        .sync_id = event_at(lane, HL_TRACE_COL_SYNC_ID),
    };
    op->kind = HAUL_OP_SYNC;
    /* The kind of a wait by the ids that the row gives, for types cannot be relied on: files of
     * Nsight Systems have 1 (event) for cudaDeviceSynchronize, 2 (a stream waits) for
     * cudaEventSynchronize and for cudaStreamSynchronize. */
    const bool has_stream = op->stream != HAUL_NONE;
    const int64_t type = hl_trace_rows_int(&lane->rows, HL_TRACE_COL_SYNC_TYPE);
    op->detail = (uint8_t)(wait.event != HL_TRACE_NO_ID
                               ? (has_stream ? HAUL_SYNC_STREAM_WAIT : HAUL_SYNC_EVENT)
                           : has_stream                                 ? HAUL_SYNC_STREAM
                           : type >= SYNC_EVENT && type <= SYNC_CONTEXT ? HAUL_SYNC_CONTEXT
                                                                        : HAUL_SYNC_UNKNOWN);
    hl_trace_wait(lane->builder, op, call_key(lane, place), &wait);
}

static void fill_bytes(const hl_trace_cupti_lane *lane, haul_op *op)
{
    op->bytes = (uint64_t)hl_trace_rows_int(&lane->rows, HL_TRACE_COL_BYTES);
    op->flags = hl_trace_rows_is_int(&lane->rows, HL_TRACE_COL_BYTES) ? 0 : HAUL_OP_NO_BYTES;
}

/* A row of a wait is no work of a device; all others are. */
void hl_trace_cupti_row_add(hl_trace_cupti_lane *lane)
{
    const hl_trace_cupti_place *place = place_of(lane);
    haul_op op = {
        .start_ns = lane->start_ns,
        .dur_ns = lane->dur_ns,
        .name = HAUL_NONE,
        .stream = place->stream,
        .thread = HAUL_NONE,
    };
    switch (lane->table->kind) {
    case HL_TRACE_CUPTI_COPY:
        fill_bytes(lane, &op);
        fill_copy(lane, &op);
        break;
    case HL_TRACE_CUPTI_MIGRATION:
        fill_bytes(lane, &op);
        if (!fill_migration(lane, &op))
            return;
        break;
    case HL_TRACE_CUPTI_MEMSET:
        fill_bytes(lane, &op);
        op.kind = HAUL_OP_MEMSET;
        break;
    case HL_TRACE_CUPTI_KERNEL:
        fill_kernel(lane, &op);
        break;
    case HL_TRACE_CUPTI_SYNC:
        add_sync(lane, place, &op);
        return;
    }
    if (op.flags & HAUL_OP_NO_BYTES && op.kind == HAUL_OP_COPY)
        hl_trace_missing(lane->builder, 1, HL_TRACE_NO_BYTES);
    hl_trace_op(lane->builder, &op, call_key(lane, place));
}

/* An event without an id, or off any stream, cannot be waited for. */
void hl_trace_cupti_row_event(hl_trace_cupti_lane *lane)
{
    const hl_trace_cupti_place *place = place_of(lane);
    const hl_trace_event_mark record = {
        .process = place->process,
        .event = event_at(lane, HL_TRACE_COL_EVENT),
        .sync_id = event_at(lane, HL_TRACE_COL_SYNC_ID),
        .key = call_key(lane, place),
        .time_ns = hl_trace_rows_int(&lane->rows, HL_TRACE_COL_START),
        .stream = place->stream,
    };
    if (record.event != HL_TRACE_NO_ID && record.stream != HAUL_NONE)
        hl_trace_event(lane->builder, &record);
}
