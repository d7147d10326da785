/* rocprofv3's CSV: kernel_trace.csv is read. Copies are not: memory_copy_trace.csv has no number of
 * bytes, so that nothing could be said of them. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/csv.h"
#include "trace/trace_format.h"

enum {
    AGENT,
    QUEUE,
    STREAM,
    NAME,
    CORRELATION,
    START,
    END,
    SHARED,
    BLOCK,
    GRID = BLOCK + 3,
    COLUMNS = GRID + 3
};

static bool begins(const haul_trace_head *head, const char *text)
{
    const size_t length = strlen(text);
    return head->length >= length && !memcmp(head->bytes, text, length);
}

static bool sniff(const haul_trace_head *head)
{
    static const char *const beginnings[] = {"\"Kind\",", "\"Domain\",\"Function\"",
                                             "\"Guid\",\"Domain\""};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins(head, beginnings[i]))
            return true;
    return false;
}

static haul_status find_columns(const haul_csv *csv, size_t *columns, haul_error *error)
{
    static const char *const names[COLUMNS] = {
        "Agent_Id",         "Queue_Id",         "Stream_Id",        "Kernel_Name",
        "Correlation_Id",   "Start_Timestamp",  "End_Timestamp",    "LDS_Block_Size",
        "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X",
        "Grid_Size_Y",      "Grid_Size_Z"};
    size_t direction;
    if (!haul_csv_find(csv, "Direction", &direction, NULL))
        return haul_fail(
            error, HAUL_BAD_INPUT,
            "copies without their number of bytes, which rocprofv3's CSV does not have: "
            "record with 'rocprofv3 --output-format rocpd'");
    haul_status status = HAUL_OK;
    for (int i = 0; !status && i < COLUMNS; i++) {
        const bool needed = i == NAME || i == START || i == END;
        columns[i] = SIZE_MAX;
        if (haul_csv_find(csv, names[i], &columns[i], needed ? error : NULL) && needed)
            status = haul_fail(error, HAUL_BAD_INPUT,
                               "rocprofv3's CSV of neither kernels nor copies: record with "
                               "'rocprofv3 --output-format rocpd'");
    }
    return status;
}

static int64_t number_in(const char *const *fields, size_t column)
{
    if (column == SIZE_MAX)
        return 0;
    const char *text = fields[column];
    return strtoll(text + strcspn(text, "-0123456789"), NULL, 10); /* "Agent 4" */
}

static uint32_t count_in(const char *const *fields, size_t column)
{
    const int64_t value = number_in(fields, column);
    return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void add_kernel(haul_trace_builder *builder, const char *const *fields,
                       const size_t *columns)
{
    const uint64_t agent = (uint64_t)number_in(fields, columns[AGENT]);
    const int where = columns[STREAM] == SIZE_MAX ? QUEUE : STREAM;
    const haul_workload_stream stream = {.device = haul_trace_device(builder, agent, agent),
                                         .id = (uint64_t)number_in(fields, columns[where])};
    haul_shape shape = {.shared_bytes = count_in(fields, columns[SHARED])};
    for (int i = 0; i < 3; i++) {
        const uint32_t block = count_in(fields, columns[BLOCK + i]);
        const uint32_t items = count_in(fields, columns[GRID + i]); /* of work, not blocks */
        shape.block[i] = block;
        shape.grid[i] = block ? items / block + (items % block > 0) : items;
    }
    const int64_t start = number_in(fields, columns[START]);
    const char *const name = fields[columns[NAME]];
    const haul_op op = {
        .start_ns = start,
        .dur_ns = haul_trace_duration(start, number_in(fields, columns[END])),
        .kind = HAUL_OP_KERNEL,
        .shape = haul_builder_shape(&builder->built, &shape),
        .name = haul_trace_text(builder, name, strlen(name)),
        .thread = HAUL_NONE,
        .stream = haul_builder_stream(&builder->built, &stream),
    };
    const int64_t call = number_in(fields, columns[CORRELATION]);
    haul_trace_op(builder, &op, call > 0 ? (uint64_t)call : 0);
}

static haul_status read(const char *path, haul_trace_builder *builder, haul_trace_version *version,
                        haul_error *error)
{
    haul_csv *csv;
    size_t columns[COLUMNS] = {0};
    const char *const *fields = NULL;
    haul_status status = haul_csv_open(path, &csv, error);
    if (status)
        return status;
    status = find_columns(csv, columns, error);
    while (!status && !builder->built.failed && !(status = haul_csv_next(csv, &fields, error)) &&
           fields)
        add_kernel(builder, fields, columns);
    haul_csv_close(csv);
    version->text[0] = '\0';
    haul_trace_missing(builder, 0, "copies and API calls: rocprofv3 writes them to other files");
    return status;
}

const haul_trace_format haul_trace_rocprof_csv = {
    .name = "rocprofv3 CSV", .sniff_text = sniff, .read_text = read};
