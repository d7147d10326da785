/* Files that arrays are written to: under another name until all of them is on the disk, and by all
 * processes that share the arrays, each its own cells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "tile/tile_files.h"

int hl_tile_processes(const haul_context *context)
{
    const haul_processes *processes = context ? context->options.processes : NULL;
    return processes ? processes->count : 1;
}

bool hl_tile_is_turn_of(const haul_context *context, uint64_t number)
{
    const int count = hl_tile_processes(context);
    return count == 1 || number % (uint64_t)count == (uint64_t)context->options.processes->rank;
}

haul_status hl_tile_agree(haul_context *context, haul_status status, haul_error *error)
{
    const int count = hl_tile_processes(context);
    haul_error own = {.status = HAUL_OK};
    if (count == 1)
        return status;
    if (status && error)
        own = *error;
    own.status = status;
    const haul_processes *processes = context->options.processes;
    haul_error *all = calloc((size_t)count, sizeof *all);
    if (!all) { /* the others must not wait for ever */
        status = hl_base_fail_no_memory(&own);
        processes->tell(processes->of, &own);
    } else {
        status = hl_tile_gather(context, &own, sizeof own, all, &own);
        for (int rank = 0; rank < count && !status; rank++)
            if (all[rank].status) {
                own = all[rank];
                status = own.status;
            }
    }
    free(all);
    if (status && error)
        *error = own;
    return status;
}

haul_status hl_tile_gather_first(haul_context *context, void *value, size_t bytes,
                                 haul_error *error)
{
    const int count = hl_tile_processes(context);
    if (count == 1)
        return HAUL_OK;
    char *all = malloc((size_t)count * bytes);
    haul_status status =
        hl_tile_agree(context, all ? HAUL_OK : hl_base_fail_no_memory(error), error);
    if (!status)
        status = hl_tile_gather(context, value, bytes, all, error);
    if (!status)
        memcpy(value, all, bytes);
    free(all);
    return status;
}

hl_tile_span hl_tile_span_of(const haul_array *array, const int size[3])
{
    const hl_tile_field *field = array->field;
    const bool is_divided = hl_tile_is_divided(field) && !array->of;
    const int outer = field->dims - 1;
    const int beyond = outer < 0 ? 0 : (size[outer] - field->whole) / 2;
    const int end = is_divided ? field->first + field->length : field->whole;
    hl_tile_span span = {is_divided ? field->first : 0, end, 0, 0};
    uint64_t plane = field->element;
    for (int d = 0; d < outer; d++)
        plane *= (uint64_t)size[d];
    span.first -= span.first ? 0 : beyond;
    span.end += end == field->whole ? beyond : 0;
    span.at = plane * (uint64_t)(span.first + beyond);
    span.bytes = plane * (uint64_t)(span.end - span.first);
    return span;
}

hl_tile_span hl_tile_span_written(const haul_array *array, const int size[3])
{
    const bool is_shared = hl_tile_is_divided(array->field) && !array->of;
    return is_shared || hl_tile_is_turn_of(array->context, 0) ? hl_tile_span_of(array, size)
                                                              : (hl_tile_span){.at = 0};
}

haul_region hl_tile_region_within(const hl_tile_field *field, const haul_region *region,
                                  const hl_tile_span *span)
{
    haul_region part = *region;
    part.first = part.first > span->first ? part.first : span->first;
    part.end = part.end < span->end ? part.end : span->end;
    part.end = part.end > part.first ? part.end : part.first;
    part.cells = (char *)region->cells +
                 (part.first - region->first) * region->plane * (int64_t)field->element;
    return part;
}

haul_status hl_tile_fail_write(const char *path, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.300s'", path);
}

/* Both names in one piece of memory. The process is that which makes the file. */
static haul_status make_names(const char *path, long process, hl_tile_file *file, haul_error *error)
{
    const size_t length = strlen(path), size = 2 * length + 33;
    char *between = malloc(size);
    if (!between)
        return hl_base_fail_no_memory(error);
    snprintf(between, size - length - 1, "%s.%ld-written", path, process);
    file->path = (const char *)memcpy(between + size - length - 1, path, length + 1);
    file->between = between;
    return HAUL_OK;
}

haul_status hl_tile_file_begin(haul_context *context, const char *path, hl_tile_file *file,
                               haul_error *error)
{
    long process = (long)getpid();
    *file = (hl_tile_file){.context = context, .is_first = hl_tile_is_turn_of(context, 0)};
    haul_status status = hl_tile_agree(context, hl_base_check_replaced(path, error), error);
    if (!status)
        status = hl_tile_gather_first(context, &process, sizeof process, error);
    if (!status)
        status = hl_tile_agree(context, make_names(path, process, file, error), error);
    for (int turn = 0; turn < 2 && !status; turn++) { /* the others open what the first has made */
        if (turn == !file->is_first && !(file->out = fopen(file->between, turn ? "r+b" : "wb")))
            status = hl_base_fail_open(error, file->between);
        status = hl_tile_agree(context, status, error);
    }
    if (!status)
        return HAUL_OK;
    if (file->out)
        (void)fclose(file->out);
    if (file->out && file->is_first)
        (void)remove(file->between);
    free(file->between);
    *file = (hl_tile_file){.path = NULL};
    return status;
}

haul_status hl_tile_file_end(hl_tile_file *file, haul_status status, haul_error *error)
{
    const bool is_written = !fflush(file->out) && !ferror(file->out) && !fsync(fileno(file->out));
    if ((fclose(file->out) || !is_written) && !status)
        status = hl_tile_fail_write(file->path, error);
    file->out = NULL;
    status = hl_tile_agree(file->context, status, error);
    if (!status && file->is_first && rename(file->between, file->path))
        status = hl_tile_fail_write(file->path, error);
    status = hl_tile_agree(file->context, status, error);
    if (status && file->is_first)
        (void)remove(file->between);
    free(file->between);
    file->between = NULL;
    return status;
}

haul_status hl_tile_file_write(const char *path, hl_tile_write write, void *state,
                               haul_error *error)
{
    hl_tile_file file;
    HAUL_TRY(hl_tile_file_begin(NULL, path, &file, error));
    return hl_tile_file_end(&file, write(state, file.out, error), error);
}
