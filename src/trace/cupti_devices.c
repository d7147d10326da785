/* A GPU has up to three numbers: its own in the device table, CUDA's in a process, and CUDA's in a
 * process that sees only some of them. Operations name the last; the table is joined to them once
 * they are all read, so that only devices that are used are kept. */
#include "trace/cupti_devices.h"

#include <string.h>

#include "base/fail.h"

enum { MOST_DEVICES = 64 }; /* of one table: for each the table of strings may be read */

/* Marks the number of a GPU in the device table, against an id as operations name it. */
static const uint64_t mapped = UINT64_C(1) << 63;

void hl_trace_cupti_devices_release(hl_trace_cupti_devices *self)
{
    hl_trace_id_map_release(&self->ids);
    hl_trace_id_map_release(&self->contexts);
}

/* The system's number of a process has 24 bits in nsys's global ids, CUDA's of a device few. */
static int64_t key_of(uint64_t pid, uint64_t id)
{
    return (int64_t)((pid & 0xffffff) << 32 | (id & UINT32_MAX));
}

void hl_trace_cupti_devices_map(hl_trace_cupti_devices *self, hl_workload_builder *built,
                                uint64_t pid, uint64_t id, uint64_t gpu)
{
    hl_trace_id_map_add(&self->ids, built,
                        &(hl_trace_id_row){key_of(pid, id), {(int64_t)(gpu | mapped)}});
}

/* The id itself where the file has no table of processes' devices, as before 2022. */
uint64_t hl_trace_cupti_devices_gpu(hl_trace_cupti_devices *self, uint64_t process, uint64_t id)
{
    /* nsys's global ids hold the system's number of the process above the thread's 24 bits. */
    return (uint64_t)hl_trace_id_map_value(&self->ids, key_of(process >> 24, id), 0, (int64_t)id);
}

/* A figure of a device, 0 where the table does not have it or has nonsense. */
static uint64_t figure(const hl_trace_rows *rows, int column)
{
    const int64_t value = hl_trace_rows_int(rows, column);
    return value > 0 ? (uint64_t)value : 0;
}

static uint32_t small_figure(const hl_trace_rows *rows, int column)
{
    const uint64_t value = figure(rows, column);
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

/* CUPTI gives kHz and kB/s, nsys Hz and B/s. No GPU is clocked below 100 MHz, or has memory of
 * under 10 GB/s, or of 10 PB/s, so the figure tells its unit. */
static double base_unit(uint64_t value, double smallest)
{
    return (double)value < smallest ? (double)value * 1e3 : (double)value;
}

typedef struct describer {
    hl_trace_builder *builder;
    const char *strings; /* see hl_trace_device_table */
    int described;
    haul_status status;
    haul_error *error;
} describer;

/* nvprof has a number for the name; its strings are looked through for each device, of which there
 * are few, rather than kept, of which there may be millions. */
static const char *read_name(describer *self, const hl_trace_rows *rows)
{
    static const char *const columns[HL_TRACE_ROW_COLUMNS] = {"_id_", "value"};
    hl_base_arena *const arena = &self->builder->built.arena;
    const int64_t number = hl_trace_rows_int(rows, HL_TRACE_DEVICE_NAME);
    const char *name = NULL;
    size_t length;
    bool more = true;
    if (!self->strings) {
        const char *text = hl_trace_rows_text(rows, HL_TRACE_DEVICE_NAME, &length);
        name = text ? hl_base_arena_text(arena, text, length) : NULL;
        self->builder->built.failed |= text && !name;
        return name;
    }
    hl_trace_rows strings;
    self->status =
        hl_trace_rows_begin(&strings, rows->source, self->strings, columns, true, self->error);
    while (!name && !self->status &&
           !(self->status = hl_trace_rows_next(&strings, &more, self->error)) && more) {
        if (hl_trace_rows_int_or(&strings, 0, ~number) != number)
            continue;
        const char *text = hl_trace_rows_text(&strings, 1, &length);
        name = hl_base_arena_text(arena, text ? text : "", length);
        if (!name)
            self->status = hl_base_fail_no_memory(self->error);
    }
    hl_trace_rows_end(&strings);
    return name;
}

/* Describes the device that a row is about, unless no operation names it or an earlier row did. */
static void take_device(void *reader, const hl_trace_rows *rows)
{
    describer *const self = reader;
    const hl_trace_builder *const builder = self->builder;
    const uint64_t gpu = (uint64_t)hl_trace_rows_int(rows, HL_TRACE_DEVICE_ID) | mapped;
    const uint64_t id = (uint64_t)hl_trace_rows_int(rows, HL_TRACE_DEVICE_CUDA);
    /* nsys lists every graphics adapter, each as CUDA's device 0; the others have no
     * multiprocessors and no compute capability. */
    const bool other_adapter = hl_trace_rows_is_int(rows, HL_TRACE_DEVICE_MULTIPROCESSORS) &&
                               !figure(rows, HL_TRACE_DEVICE_MULTIPROCESSORS) &&
                               !figure(rows, HL_TRACE_DEVICE_MAJOR);
    uint32_t number = hl_base_records_find(&builder->gpus, &gpu);
    if (number == HAUL_NONE && !other_adapter)
        number = hl_base_records_find(&builder->gpus, &id);
    if (number == HAUL_NONE || builder->built.devices[number].name || self->status ||
        self->described++ >= MOST_DEVICES)
        return;
    haul_workload_device *const device = &builder->built.devices[number];
    device->memory_bandwidth_Bps = base_unit(figure(rows, HL_TRACE_DEVICE_BANDWIDTH), 1e10);
    device->clock_Hz = base_unit(figure(rows, HL_TRACE_DEVICE_CLOCK), 1e8);
    device->memory_bytes = figure(rows, HL_TRACE_DEVICE_MEMORY);
    device->l2_bytes = figure(rows, HL_TRACE_DEVICE_L2);
    device->multiprocessors = small_figure(rows, HL_TRACE_DEVICE_MULTIPROCESSORS);
    device->copy_engines = small_figure(rows, HL_TRACE_DEVICE_COPY_ENGINES);
    device->compute_major = small_figure(rows, HL_TRACE_DEVICE_MAJOR);
    device->compute_minor = small_figure(rows, HL_TRACE_DEVICE_MINOR);
    device->name = read_name(self, rows);
}

/* A description once read stays: newer tables come first, and an older one only fills gaps. */
haul_status hl_trace_cupti_devices_describe(hl_trace_source *source,
                                            const hl_trace_device_table *table,
                                            hl_trace_builder *builder, haul_error *error)
{
    if (builder->built.failed)
        return HAUL_OK;
    describer self = {.builder = builder, .strings = table->strings, .error = error};
    hl_trace_scan scan = {.table = table->name, .take = take_device, .has_texts = true};
    memcpy(scan.columns, table->columns, sizeof scan.columns);
    HAUL_TRY(hl_trace_source_scan(source, "", &scan, 1, &self, error));
    return self.status;
}
