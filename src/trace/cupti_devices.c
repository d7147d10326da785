#include "trace/cupti_devices.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "trace/row_scan.h"

enum { MOST_DEVICES = 64 }; /* of one table: for each the table of strings may be read */

/* Marks the number of a GPU in the device table, against an id as operations name it. */
static const uint64_t mapped = UINT64_C(1) << 63;

void haul_cupti_devices_init(haul_cupti_devices *self)
{
    *self = (haul_cupti_devices){
        .ids.size = 2 * sizeof(uint64_t),
        .contexts.size = sizeof(uint64_t),
    };
}

void haul_cupti_devices_release(haul_cupti_devices *self)
{
    haul_records_release(&self->ids);
    free(self->gpus);
    haul_records_release(&self->contexts);
    free(self->context_devices);
    haul_cupti_devices_init(self);
}

bool haul_cupti_devices_map(haul_cupti_devices *self, uint64_t pid, uint64_t id, uint64_t gpu)
{
    const uint64_t key[2] = {pid, id};
    const uint32_t number = haul_records_add(&self->ids, key);
    if (number == UINT32_MAX ||
        !haul_grow(&self->gpus, &self->gpu_capacity, self->ids.count, sizeof *self->gpus))
        return false;
    self->gpus[number] = gpu | mapped;
    return true;
}

bool haul_cupti_devices_context(haul_cupti_devices *self, uint64_t context, int64_t device)
{
    const uint32_t number = haul_records_add(&self->contexts, &context);
    if (number == UINT32_MAX || !haul_grow(&self->context_devices, &self->context_capacity,
                                           self->contexts.count, sizeof *self->context_devices))
        return false;
    self->context_devices[number] = device;
    return true;
}

uint64_t haul_cupti_devices_gpu(const haul_cupti_devices *self, uint64_t process, uint64_t id)
{
    /* nsys's global ids hold the system's number of the process above the thread's 24 bits. */
    const uint64_t key[2] = {process >> 24 & 0xffffff, id};
    const uint32_t number = haul_records_find(&self->ids, key);
    return number == UINT32_MAX ? id : self->gpus[number];
}

int64_t haul_cupti_devices_of_context(const haul_cupti_devices *self, uint64_t context)
{
    const uint32_t number = haul_records_find(&self->contexts, &context);
    return number == UINT32_MAX ? -1 : self->context_devices[number];
}

static uint64_t figure(const haul_rows *rows, int column)
{
    const int64_t value = haul_rows_int(rows, column);
    return value > 0 ? (uint64_t)value : 0;
}

static uint32_t small_figure(const haul_rows *rows, int column)
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

/* nsys lists every graphics adapter, each as CUDA's device 0; the others have no multiprocessors
 * and no compute capability. */
static bool is_other_adapter(const haul_rows *rows)
{
    return haul_rows_is_int(rows, HAUL_DEVICE_MULTIPROCESSORS) &&
           !figure(rows, HAUL_DEVICE_MULTIPROCESSORS) && !figure(rows, HAUL_DEVICE_MAJOR);
}

static haul_status find_string(haul_source *source, int64_t number, haul_arena *arena,
                               const char **text, haul_error *error)
{
    static const char *const columns[] = {"_id_", "value"};
    haul_rows rows;
    haul_status status = haul_rows_begin_texts_if(&rows, source, "StringTable", columns, 2, error);
    while (!*text && haul_rows_step(&rows, &status, error)) {
        if (haul_rows_int_or(&rows, 0, ~number) != number)
            continue;
        size_t length;
        const char *found = haul_rows_text(&rows, 1, &length);
        *text = haul_arena_text(arena, found ? found : "", length);
        if (!*text)
            status = haul_fail_no_memory(error);
    }
    haul_rows_end(&rows);
    return status;
}

static haul_status read_name(const haul_device_table *table, const haul_rows *rows,
                             haul_trace_builder *builder, haul_workload_device *device,
                             haul_error *error)
{
    if (table->name_is_number)
        return find_string(rows->source, haul_rows_int(rows, HAUL_DEVICE_NAME),
                           &builder->built.arena, &device->name, error);
    size_t length;
    const char *name = haul_rows_text(rows, HAUL_DEVICE_NAME, &length);
    if (!name)
        return HAUL_OK;
    device->name = haul_arena_text(&builder->built.arena, name, length);
    return device->name ? HAUL_OK : haul_fail_no_memory(error);
}

static haul_status describe(const haul_device_table *table, const haul_rows *rows,
                            haul_trace_builder *builder, haul_workload_device *device,
                            haul_error *error)
{
    device->memory_bandwidth_Bps = base_unit(figure(rows, HAUL_DEVICE_BANDWIDTH), 1e10);
    device->clock_Hz = base_unit(figure(rows, HAUL_DEVICE_CLOCK), 1e8);
    device->memory_bytes = figure(rows, HAUL_DEVICE_MEMORY);
    device->l2_bytes = figure(rows, HAUL_DEVICE_L2);
    device->multiprocessors = small_figure(rows, HAUL_DEVICE_MULTIPROCESSORS);
    device->copy_engines = small_figure(rows, HAUL_DEVICE_COPY_ENGINES);
    device->compute_major = small_figure(rows, HAUL_DEVICE_MAJOR);
    device->compute_minor = small_figure(rows, HAUL_DEVICE_MINOR);
    return read_name(table, rows, builder, device, error);
}

/* The device that a row is about, or NULL where no operation names it or an earlier row did. */
static haul_workload_device *device_of_row(const haul_rows *rows, const haul_trace_builder *builder)
{
    const uint64_t gpu = (uint64_t)haul_rows_int(rows, HAUL_DEVICE_ID) | mapped;
    const uint64_t id = (uint64_t)haul_rows_int(rows, HAUL_DEVICE_CUDA);
    uint32_t number = haul_records_find(&builder->gpus, &gpu);
    if (number == UINT32_MAX && !is_other_adapter(rows))
        number = haul_records_find(&builder->gpus, &id);
    return number == UINT32_MAX || builder->built.devices[number].name
               ? NULL
               : &builder->built.devices[number];
}

haul_status haul_cupti_devices_describe(haul_source *source, const haul_device_table *table,
                                        haul_trace_builder *builder, haul_error *error)
{
    if (builder->built.failed)
        return HAUL_OK;
    haul_rows rows;
    haul_status status = haul_rows_begin_texts_if(&rows, source, table->name, table->columns,
                                                  HAUL_DEVICE_COLUMNS, error);
    int described = 0;
    while (described < MOST_DEVICES && haul_rows_step(&rows, &status, error)) {
        haul_workload_device *device = device_of_row(&rows, builder);
        if (!device)
            continue;
        described++;
        status = describe(table, &rows, builder, device, error);
    }
    haul_rows_end(&rows);
    return status;
}
