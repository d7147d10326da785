#include "record/cupti_decode.h"

#include <stdio.h>

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

static void flush(haul_cupti_decoder *self)
{
    haul_profile_put(self->writer, self->batch, self->batch_count);
    self->batch_count = 0;
}

static int64_t moment(const haul_cupti_decoder *self, uint64_t time_ns)
{
    return (int64_t)time_ns + self->shift_ns;
}

/* The next row of the batch. CUPTI gives 0 for both times where it could take none: such a row goes
 * nowhere. */
static haul_record *add(haul_cupti_decoder *self, haul_record_kind kind, uint32_t correlation,
                        uint64_t start, uint64_t end)
{
    const bool timed = start || end || kind == HAUL_RECORD_EVENT;
    if (self->batch_count == HAUL_CUPTI_BATCH)
        flush(self);
    self->untimed += !timed;
    haul_record *row = timed ? &self->batch[self->batch_count++] : &self->left_out;
    *row = (haul_record){
        .kind = kind,
        .correlation = correlation,
        .start_ns = moment(self, start),
        .end_ns = moment(self, end),
    };
    return row;
}

static void place(haul_record *row, uint32_t device, uint32_t context, uint32_t stream)
{
    row->device = device;
    row->context = context;
    row->stream = stream;
}

/* CUpti_ActivityMemoryKind is one above nsys's numbers, and has 0 for unknown. */
static uint8_t memory_kind(uint32_t kind)
{
    return kind >= 1 && kind <= 7 ? (uint8_t)(kind - 1) : HAUL_RECORD_UNKNOWN;
}

static void remember_context(haul_cupti_decoder *self, uint32_t context, uint32_t device)
{
    for (size_t i = 0; i < self->context_count; i++)
        if (self->contexts[i].context == context) {
            self->contexts[i].device = device;
            return;
        }
    if (self->context_count == HAUL_CUPTI_CONTEXTS)
        return;
    self->contexts[self->context_count].context = context;
    self->contexts[self->context_count++].device = device;
}

static uint32_t device_of(const haul_cupti_decoder *self, uint32_t context)
{
    for (size_t i = 0; i < self->context_count; i++)
        if (self->contexts[i].context == context)
            return self->contexts[i].device;
    return HAUL_PROFILE_NO_ID;
}

static void add_copy(haul_cupti_decoder *self, const haul_abi_copy *from)
{
    haul_record *row = add(self, HAUL_RECORD_COPY, from->correlation, from->start, from->end);
    place(row, from->device, from->context, from->stream);
    row->copy.bytes = from->bytes;
    row->copy.copy_kind = from->copy_kind;
    row->copy.source_kind = memory_kind(from->source_kind);
    row->copy.target_kind = memory_kind(from->target_kind);
    row->copy.source_device = row->copy.target_device = HAUL_PROFILE_NO_ID;
    remember_context(self, from->context, from->device);
}

static void add_peer_copy(haul_cupti_decoder *self, const haul_abi_peer_copy *from)
{
    haul_record *row = add(self, HAUL_RECORD_COPY, from->correlation, from->start, from->end);
    place(row, from->device, from->context, from->stream);
    row->copy.bytes = from->bytes;
    row->copy.copy_kind = from->copy_kind;
    row->copy.source_kind = memory_kind(from->source_kind);
    row->copy.target_kind = memory_kind(from->target_kind);
    row->copy.source_device = from->source_device;
    row->copy.target_device = from->target_device;
}

static void add_memset(haul_cupti_decoder *self, const haul_abi_memset *from)
{
    haul_record *row = add(self, HAUL_RECORD_SET, from->correlation, from->start, from->end);
    place(row, from->device, from->context, from->stream);
    row->set.bytes = from->bytes;
    row->set.value = from->value;
    row->set.memory_kind = memory_kind(from->memory_kind);
}

static uint32_t figure(int32_t value)
{
    return value > 0 ? (uint32_t)value : 0;
}

static void add_kernel(haul_cupti_decoder *self, const haul_abi_kernel *from)
{
    const haul_kernel_name name =
        haul_kernel_names_find(&self->kernel_names, self->writer, from->name);
    haul_record *row = add(self, HAUL_RECORD_KERNEL, from->correlation, from->start, from->end);
    place(row, from->device, from->context, from->stream);
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

static uint32_t name_call(haul_cupti_decoder *self, const haul_abi_call *from)
{
    const bool driver = from->kind == HAUL_ABI_DRIVER;
    uint32_t *known =
        from->function < HAUL_CUPTI_CALLS ? &self->call_names[driver][from->function] : NULL;
    if (known && *known)
        return *known;
    const char *name = NULL;
    char number[64];
    if (self->cupti->GetCallbackName(driver ? HAUL_ABI_DOMAIN_DRIVER : HAUL_ABI_DOMAIN_RUNTIME,
                                     from->function, &name) != HAUL_CUPTI_SUCCESS ||
        !name) {
        snprintf(number, sizeof number, "%s call %u", driver ? "driver" : "runtime",
                 from->function);
        name = number;
    }
    const uint32_t id = haul_profile_name(self->writer, name);
    if (known)
        *known = id;
    return id;
}

static void add_call(haul_cupti_decoder *self, const haul_abi_call *from)
{
    const uint32_t name = name_call(self, from);
    haul_record *row = add(self, HAUL_RECORD_CALL, from->correlation, from->start, from->end);
    row->call.name = name;
    row->call.thread = from->thread;
    row->call.result = (int32_t)from->result;
}

/* Queries of streams and events that were not ready are records of failed waits: nothing waited. */
static void add_sync(haul_cupti_decoder *self, const haul_abi_sync *from)
{
    const bool is_long = self->version >= HAUL_CUPTI_EVENT_TIMES;
    if (is_long && from->result)
        return;
    const bool of_event =
        from->type == HAUL_RECORD_WAIT_EVENT || from->type == HAUL_RECORD_STREAM_WAITS;
    const bool of_stream =
        from->type == HAUL_RECORD_WAIT_STREAM || from->type == HAUL_RECORD_STREAM_WAITS;
    haul_record *row = add(self, HAUL_RECORD_SYNC, from->correlation, from->start, from->end);
    place(row, device_of(self, from->context), from->context,
          of_stream ? from->stream : HAUL_PROFILE_NO_ID);
    row->sync.type = from->type;
    row->sync.event = of_event ? from->event : HAUL_PROFILE_NO_ID;
    row->sync.sync_id = of_event && is_long ? (uint32_t)from->sync_id : HAUL_PROFILE_NO_ID;
}

/* The time is left open: CUPTI's is the device's, on a clock of its own, and only where the program
 * pays for it. Readers take that of the call. */
static void add_event(haul_cupti_decoder *self, const haul_abi_event *from)
{
    const bool is_long = self->version >= HAUL_CUPTI_EVENT_TIMES;
    haul_record *row = add(self, HAUL_RECORD_EVENT, from->correlation, 0, 0);
    row->start_ns = row->end_ns = 0;
    place(row, is_long ? from->device : device_of(self, from->context), from->context,
          from->stream);
    row->event.event = from->event;
    row->event.sync_id = is_long ? (uint32_t)from->sync_id : HAUL_PROFILE_NO_ID;
}

static void add_migration(haul_cupti_decoder *self, const haul_abi_migration *from)
{
    static const struct {
        uint32_t counter;
        uint8_t copy_kind;
    } moved[] = {
        {HAUL_ABI_MOVED_HTOD, HAUL_RECORD_UNIFIED_HTOD},
        {HAUL_ABI_MOVED_DTOH, HAUL_RECORD_UNIFIED_DTOH},
        {HAUL_ABI_MOVED_DTOD, HAUL_RECORD_UNIFIED_DTOH + 1},
    };
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        if (from->counter != moved[i].counter)
            continue;
        haul_record *row = add(self, HAUL_RECORD_COPY, 0, from->start, from->end);
        place(row, from->counter == HAUL_ABI_MOVED_DTOH ? from->source : from->target, 0,
              HAUL_CUPTI_MIGRATIONS);
        row->copy.bytes = from->value;
        row->copy.copy_kind = moved[i].copy_kind;
        row->copy.source_kind = row->copy.target_kind = HAUL_RECORD_MANAGED;
        row->copy.source_device = row->copy.target_device = HAUL_PROFILE_NO_ID;
        row->copy.migration_cause = (uint8_t)from->flags;
    }
}

static void add_overhead(haul_cupti_decoder *self, const haul_abi_overhead *from)
{
    const uint32_t number = from->overhead >> 16;
    const char *name = from->overhead == OVERHEAD_COMPILER ? "driver compiles a kernel"
                       : number > 0 && number < OVERHEADS  ? overhead_names[number]
                                                           : "other overhead";
    const uint32_t id = haul_profile_name(self->writer, name);
    haul_record *row = add(self, HAUL_RECORD_OVERHEAD, 0, from->start, from->end);
    row->overhead.name = id;
    row->overhead.thread = from->object == OBJECT_THREAD ? from->object_id[1] : 0;
    row->overhead.type = from->overhead;
}

static void describe_device(const haul_cupti_decoder *self, const haul_abi_device *from)
{
    char uuid[40];
    const uint8_t *u = from->uuid;
    snprintf(uuid, sizeof uuid,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
             u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
             u[15]);
    haul_profile_describe_device(self->writer,
                                 &(haul_profile_device){
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

static void decode(haul_cupti_decoder *self, const haul_abi_record *record)
{
    self->decoded++;
    switch (record->kind) {
    case HAUL_ABI_COPY:
        add_copy(self, (const haul_abi_copy *)(const void *)record);
        break;
    case HAUL_ABI_PEER_COPY:
        add_peer_copy(self, (const haul_abi_peer_copy *)(const void *)record);
        break;
    case HAUL_ABI_MEMSET:
        add_memset(self, (const haul_abi_memset *)(const void *)record);
        break;
    case HAUL_ABI_KERNEL:
        add_kernel(self, (const haul_abi_kernel *)(const void *)record);
        break;
    case HAUL_ABI_DRIVER:
    case HAUL_ABI_RUNTIME:
        add_call(self, (const haul_abi_call *)(const void *)record);
        break;
    case HAUL_ABI_SYNC:
        add_sync(self, (const haul_abi_sync *)(const void *)record);
        break;
    case HAUL_ABI_EVENT:
        add_event(self, (const haul_abi_event *)(const void *)record);
        break;
    case HAUL_ABI_MIGRATION:
        add_migration(self, (const haul_abi_migration *)(const void *)record);
        break;
    case HAUL_ABI_OVERHEAD:
        add_overhead(self, (const haul_abi_overhead *)(const void *)record);
        break;
    case HAUL_ABI_DEVICE:
        describe_device(self, (const haul_abi_device *)(const void *)record);
        break;
    case HAUL_ABI_CONTEXT: {
        const haul_abi_context *context = (const haul_abi_context *)(const void *)record;
        remember_context(self, context->context, context->device);
        break;
    }
    default:
        self->decoded--;
        self->unknown++;
    }
}

void haul_cupti_decode(haul_cupti_decoder *self, uint8_t *buffer, size_t used)
{
    haul_abi_record *record = NULL;
    while (self->cupti->ActivityGetNextRecord(buffer, used, &record) == HAUL_CUPTI_SUCCESS)
        decode(self, record);
    flush(self);
}
