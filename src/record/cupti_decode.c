/* One function for each kind of CUPTI's records. Records are read through the beginnings of their
 * structs that all versions of CUPTI share (record/cupti_abi.h). */
#include "record/cupti_decode.h"

#include <stdio.h>

/* CUpti_ActivityOverheadKind's upper 16 bits, in words for people. */
static const char *const overhead_names[] = {
    "",
    "CUPTI writes a buffer out",
    "CUPTI instruments code",
    "CUPTI makes what it needs",
    "runtime loads a module",
    "driver loads a function",
    "command buffer full",
    "CUPTI asks for a buffer",
    "CUPTI prepares for unified memory",
};

enum { OVERHEADS = sizeof overhead_names / sizeof *overhead_names };
enum { OVERHEAD_COMPILER = 1, OBJECT_THREAD = 2 };

/* Puts are made by the batch: a put costs a lock, and CUPTI's buffers hold thousands of records. */
static void flush(hl_record_cupti_decoder *self)
{
    hl_record_profile_put(self->writer, self->batch, self->batch_count);
    self->batch_count = 0;
}

/* The next row of the batch. CUPTI gives 0 for both times where it could take none: such a row goes
 * nowhere. */
static hl_record *add_row(hl_record_cupti_decoder *self, hl_record_kind kind, uint32_t correlation,
                          uint64_t start, uint64_t end)
{
    const bool timed = start || end || kind == HL_RECORD_EVENT;
    if (self->batch_count == HL_RECORD_CUPTI_BATCH)
        flush(self);
    hl_record_profile_lost(self->writer, HL_RECORD_LOSS_RECORDS_UNTIMED, !timed);
    hl_record *row = timed ? &self->batch[self->batch_count++] : &self->left_out;
    *row = (hl_record){
        .kind = kind,
        .correlation = correlation,
        .start_ns = (int64_t)start + self->shift_ns,
        .end_ns = (int64_t)end + self->shift_ns,
    };
    return row;
}

/* Numbers of CUPTI's own: the collector gives devices those of the profile. */
static void place_row(hl_record *row, uint32_t device, uint32_t context, uint32_t stream)
{
    row->device = device;
    row->context = context;
    row->stream = stream;
}

/* CUpti_ActivityMemoryKind is one above nsys's numbers, and has 0 for unknown. */
static uint8_t memory_kind(uint32_t kind)
{
    return kind >= 1 && kind <= 7 ? (uint8_t)(kind - 1) : HL_RECORD_UNKNOWN;
}

/* Index of a context; `context_count` for one that is not remembered. */
static size_t find_context(const hl_record_cupti_decoder *self, uint32_t context)
{
    size_t at = 0;
    while (at < self->context_count && self->contexts[at].context != context)
        at++;
    return at;
}

/* Waits name a context, and not the device that it is on: copies, kernels and records of contexts
 * tell. */
static void remember_context(hl_record_cupti_decoder *self, uint32_t context, uint32_t device)
{
    const size_t at = find_context(self, context);
    if (at == HL_RECORD_CUPTI_CONTEXTS)
        return;
    self->context_count += at == self->context_count;
    self->contexts[at].context = context;
    self->contexts[at].device = device;
}

static uint32_t device_of(const hl_record_cupti_decoder *self, uint32_t context)
{
    const size_t at = find_context(self, context);
    return at < self->context_count ? self->contexts[at].device : HL_RECORD_PROFILE_NO_ID;
}

static hl_record *put_transfer(hl_record_cupti_decoder *self, hl_record_kind kind,
                               const hl_record_abi_transfer *from, uint32_t correlation)
{
    hl_record *row = add_row(self, kind, correlation, from->start, from->end);
    place_row(row, from->device, from->context, from->stream);
    return row;
}

static hl_record *put_copy(hl_record_cupti_decoder *self, const hl_record_abi_copy *from,
                           uint32_t correlation)
{
    hl_record *row = put_transfer(self, HL_RECORD_COPY, &from->transfer, correlation);
    row->copy.bytes = from->transfer.bytes;
    row->copy.copy_kind = from->copy_kind;
    row->copy.source_kind = memory_kind(from->source_kind);
    row->copy.target_kind = memory_kind(from->target_kind);
    row->copy.source_device = row->copy.target_device = HL_RECORD_PROFILE_NO_ID;
    remember_context(self, from->transfer.context, from->transfer.device);
    return row;
}

static void add_copy(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_copy *from = record;
    put_copy(self, from, from->transfer.correlation);
}

/* Its device is the one that copies; source and target may be others. */
static void add_peer_copy(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_peer_copy *from = record;
    hl_record *row = put_copy(self, &from->copy, from->correlation);
    row->copy.source_device = from->copy.transfer.source_device;
    row->copy.target_device = from->target_device;
}

static void add_memset(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_memset *from = record;
    hl_record *row = put_transfer(self, HL_RECORD_SET, &from->transfer, from->transfer.correlation);
    row->set.bytes = from->transfer.bytes;
    row->set.value = from->value;
    row->set.memory_kind = memory_kind(from->memory_kind);
}

/* CUPTI's fields are signed; what is negative is not known. */
static uint32_t figure(int32_t value)
{
    return value > 0 ? (uint32_t)value : 0;
}

static void add_kernel(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_kernel *from = record;
    const hl_record_kernel_name name =
        hl_record_kernel_names_find(&self->kernel_names, self->writer, from->name);
    hl_record *row = add_row(self, HL_RECORD_KERNEL, from->correlation, from->start, from->end);
    place_row(row, from->device, from->context, from->stream);
    row->kernel.name = name.whole;
    row->kernel.short_name = name.base;
    for (int i = 0; i < 3; i++) {
        row->kernel.grid[i] = figure(from->grid[i]);
        row->kernel.block[i] = figure(from->block[i]);
    }
    row->kernel.registers = from->registers_per_thread;
    row->kernel.static_shared_bytes = figure(from->static_shared);
    row->kernel.dynamic_shared_bytes = figure(from->dynamic_shared);
    remember_context(self, from->context, from->device);
}

/* CUPTI knows the names of its own version's functions; newer ones get their number. */
static uint32_t name_call(hl_record_cupti_decoder *self, const hl_record_abi_call *from)
{
    const bool driver = from->kind == HL_RECORD_ABI_DRIVER;
    uint32_t other = 0;
    uint32_t *known =
        from->function < HL_RECORD_CUPTI_CALLS ? &self->call_names[driver][from->function] : &other;
    if (*known)
        return *known;
    const char *name = NULL;
    char number[64];
    if (self->cupti->GetCallbackName(driver ? HL_RECORD_ABI_DOMAIN_DRIVER
                                            : HL_RECORD_ABI_DOMAIN_RUNTIME,
                                     from->function, &name) != HL_RECORD_CUPTI_SUCCESS ||
        !name) {
        snprintf(number, sizeof number, "%s call %u", driver ? "driver" : "runtime",
                 from->function);
        name = number;
    }
    *known = hl_record_profile_name(self->writer, name);
    return *known;
}

static void add_call(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_call *from = record;
    if (from->thread &&
        (from->thread == self->own_threads[0] || from->thread == self->own_threads[1])) {
        self->own_calls++;
        return;
    }
    const uint32_t name = name_call(self, from);
    hl_record *row = add_row(self, HL_RECORD_CALL, from->correlation, from->start, from->end);
    row->call.name = name;
    row->call.thread = from->thread;
    row->call.result = (int32_t)from->result;
}

/* Queries of streams and events that were not ready are records of failed waits: nothing waited. */
static void add_sync(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_sync *from = record;
    const bool is_long = self->version >= HL_RECORD_CUPTI_EVENT_TIMES;
    if (is_long && from->result)
        return;
    const bool of_event =
        from->type == HL_RECORD_WAIT_EVENT || from->type == HL_RECORD_STREAM_WAITS;
    const bool of_stream =
        from->type == HL_RECORD_WAIT_STREAM || from->type == HL_RECORD_STREAM_WAITS;
    hl_record *row = add_row(self, HL_RECORD_SYNC, from->correlation, from->start, from->end);
    place_row(row, device_of(self, from->context), from->context,
              of_stream ? from->stream : HL_RECORD_PROFILE_NO_ID);
    row->sync.type = from->type;
    row->sync.event = of_event ? from->event : HL_RECORD_PROFILE_NO_ID;
    row->sync.sync_id = of_event && is_long ? (uint32_t)from->sync_id : HL_RECORD_PROFILE_NO_ID;
}

/* The time is left open: CUPTI's is the device's, on a clock of its own, and only where the program
 * pays for it. Readers take that of the call. */
static void add_event(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_event *from = record;
    const bool is_long = self->version >= HL_RECORD_CUPTI_EVENT_TIMES;
    hl_record *row = add_row(self, HL_RECORD_EVENT, from->correlation, 0, 0);
    row->start_ns = row->end_ns = 0;
    place_row(row, is_long ? from->device : device_of(self, from->context), from->context,
              from->stream);
    row->event.event = from->event;
    row->event.sync_id = is_long ? (uint32_t)from->sync_id : HL_RECORD_PROFILE_NO_ID;
}

/* Counters that are no bytes moved (faults, throttling) match no row of the table and are left out.
 * */
static void add_migration(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_migration *from = record;
    static const struct {
        uint32_t counter;
        uint8_t copy_kind;
    } moved[] = {
        {HL_RECORD_ABI_MOVED_HTOD, HL_RECORD_UNIFIED_HTOD},
        {HL_RECORD_ABI_MOVED_DTOH, HL_RECORD_UNIFIED_DTOH},
        {HL_RECORD_ABI_MOVED_DTOD, HL_RECORD_UNIFIED_DTOH + 1},
    };
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        if (from->counter != moved[i].counter)
            continue;
        hl_record *row = add_row(self, HL_RECORD_COPY, 0, from->start, from->end);
        place_row(row, from->counter == HL_RECORD_ABI_MOVED_DTOH ? from->source : from->target, 0,
                  HL_RECORD_CUPTI_MIGRATIONS);
        row->copy.bytes = from->value;
        row->copy.copy_kind = moved[i].copy_kind;
        row->copy.source_kind = row->copy.target_kind = HL_RECORD_MANAGED;
        row->copy.source_device = row->copy.target_device = HL_RECORD_PROFILE_NO_ID;
        row->copy.migration_cause = (uint8_t)from->flags;
    }
}

static void add_overhead(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_overhead *from = record;
    const uint32_t number = from->overhead >> 16;
    const char *name = from->overhead == OVERHEAD_COMPILER ? "driver compiles a kernel"
                       : number > 0 && number < OVERHEADS  ? overhead_names[number]
                                                           : "other overhead";
    const uint32_t id = hl_record_profile_name(self->writer, name);
    hl_record *row = add_row(self, HL_RECORD_OVERHEAD, 0, from->start, from->end);
    row->overhead.name = id;
    row->overhead.thread = from->object == OBJECT_THREAD ? from->object_id[1] : 0;
    row->overhead.type = from->overhead;
}

/* CUPTI gives kB/s and kHz. */
static void describe_device(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_device *from = record;
    char uuid[40];
    const uint8_t *u = from->uuid;
    snprintf(uuid, sizeof uuid,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
             u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
             u[15]);
    hl_record_profile_describe_device(self->writer,
                                      &(hl_record_profile_device){
                                          .id = from->id,
                                          .name = from->name,
                                          .uuid = uuid,
                                          .discrete = true,
                                          .memory_bytes = from->memory_bytes,
                                          .l2_bytes = from->l2_bytes,
                                          .memory_bandwidth_Bps = from->memory_bandwidth * 1000,
                                          .clock_Hz = from->clock_rate * UINT64_C(1000),
                                          .multiprocessors = from->multiprocessors,
                                          .copy_engines = from->copy_engines,
                                          .compute_major = from->major,
                                          .compute_minor = from->minor,
                                      });
}

/* Contexts are told of when they are made: the first device of waits that come before any work. */
static void add_context(hl_record_cupti_decoder *self, const void *record)
{
    const hl_record_abi_context *from = record;
    remember_context(self, from->context, from->device);
}

/* Kinds that are not here were not asked for. */
static void (*const by_kind[])(hl_record_cupti_decoder *self, const void *record) = {
    [HL_RECORD_ABI_COPY] = add_copy,           [HL_RECORD_ABI_PEER_COPY] = add_peer_copy,
    [HL_RECORD_ABI_MEMSET] = add_memset,       [HL_RECORD_ABI_KERNEL] = add_kernel,
    [HL_RECORD_ABI_DRIVER] = add_call,         [HL_RECORD_ABI_RUNTIME] = add_call,
    [HL_RECORD_ABI_SYNC] = add_sync,           [HL_RECORD_ABI_EVENT] = add_event,
    [HL_RECORD_ABI_MIGRATION] = add_migration, [HL_RECORD_ABI_OVERHEAD] = add_overhead,
    [HL_RECORD_ABI_DEVICE] = describe_device,  [HL_RECORD_ABI_CONTEXT] = add_context,
};

/* A buffer that CUPTI filled half ends where it says that there is no next record. */
void hl_record_cupti_decode(hl_record_cupti_decoder *self, uint8_t *buffer, size_t used)
{
    hl_record_abi_record *record = NULL;
    while (self->cupti->ActivityGetNextRecord(buffer, used, &record) == HL_RECORD_CUPTI_SUCCESS)
        if (record->kind < sizeof by_kind / sizeof *by_kind && by_kind[record->kind])
            by_kind[record->kind](self, record);
    flush(self);
}
