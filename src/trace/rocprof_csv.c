/* rocprofv3's CSV: kernel_trace.csv is read. Copies are not: memory_copy_trace.csv has no number of
 * bytes, so that nothing could be said of them. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/csv.h"
#include "trace/rocpd.h"
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

/* Finds rocprofv3's tables by their first columns; older versions named domains where newer have
 * kinds. */
static bool sniff_rocprof_csv(const hl_trace_head *head)
{
    static const char *const beginnings[] = {"\"Kind\",", "\"Domain\",\"Function\"",
                                             "\"Guid\",\"Domain\""};
    bool found = false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        const size_t length = strlen(beginnings[i]);
        found |= head->length >= length && !memcmp(head->bytes, beginnings[i], length);
    }
    return found;
}

/* Columns are found by name: versions order them differently. Those that are not needed may be
 * absent. */
static haul_status find_columns(const haul_csv *csv, size_t *columns, haul_error *error)
{
    static const char *const names[COLUMNS] = {
        "Agent_Id",         "Queue_Id",         "Stream_Id",        "Kernel_Name",
        "Correlation_Id",   "Start_Timestamp",  "End_Timestamp",    "LDS_Block_Size",
        "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X",
        "Grid_Size_Y",      "Grid_Size_Z"};
    size_t direction;
    if (!haul_csv_find(csv, "Direction", &direction, NULL))
        return haul_error_set(
            error, HAUL_STATUS_BAD_INPUT,
            "copies without their number of bytes, which rocprofv3's CSV does not have: "
            "record with 'rocprofv3 --output-format rocpd'");
    for (int i = 0; i < COLUMNS; i++) {
        const bool needed = i == NAME || i == START || i == END;
        columns[i] = SIZE_MAX;
        if (haul_csv_find(csv, names[i], &columns[i], needed ? error : NULL) && needed)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "rocprofv3's CSV of neither kernels nor copies: record with "
                                  "'rocprofv3 --output-format rocpd'");
    }
    return HAUL_OK;
}

/* One file holds one kind of rows: a note names the tables of the other files as missing. */
static haul_status read_rocprof_csv(const char *path, hl_trace_builder *builder,
                                    hl_trace_version *version, haul_error *error)
{
    haul_csv *csv;
    size_t columns[COLUMNS] = {0};
    const char *const *fields = NULL;
    HAUL_TRY(haul_csv_open(path, &csv, error));
    haul_status status = find_columns(csv, columns, error);
    while (!status && !builder->built.failed && !(status = haul_csv_next(csv, &fields, error)) &&
           fields) {
        /* A file of before 2025 has no stream: the queue orders the work. */
        int64_t numbers[COLUMNS] = {0};
        for (int i = 0; i < COLUMNS; i++)
            if (i != NAME && columns[i] != SIZE_MAX) {
                const char *text = fields[columns[i]];
                numbers[i] = strtoll(text + strcspn(text, "-0123456789"), NULL, 10); /* "Agent 4" */
            }
        const uint64_t agent = (uint64_t)numbers[AGENT];
        const haul_workload_stream stream = {
            .device = hl_trace_device(builder, agent, agent),
            .id = (uint64_t)numbers[columns[STREAM] == SIZE_MAX ? QUEUE : STREAM]};
        const char *const name = fields[columns[NAME]];
        const haul_op op = {
            .start_ns = numbers[START],
            .dur_ns = hl_trace_duration(numbers[START], numbers[END]),
            .kind = HAUL_OP_KERNEL,
            .shape = hl_trace_rocpd_shape(&builder->built, &numbers[BLOCK], &numbers[GRID],
                                          numbers[SHARED]),
            .name = hl_trace_text(builder, name, strlen(name)),
            .thread = HAUL_NONE,
            .stream = hl_workload_builder_stream(&builder->built, &stream),
        };
        hl_trace_op(builder, &op, numbers[CORRELATION] > 0 ? (uint64_t)numbers[CORRELATION] : 0);
    }
    haul_csv_close(csv);
    version->text[0] = '\0';
    hl_trace_missing(builder, 0, "copies and API calls: rocprofv3 writes them to other files");
    return status;
}

const hl_trace_format hl_trace_rocprof_csv = {
    .name = "rocprofv3 CSV", .sniff_text = sniff_rocprof_csv, .read_text = read_rocprof_csv};
