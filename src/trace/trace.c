/* The front door: a file is opened, its format found by what is in it, and the format's reader
 * fills a builder. */
#include "haul/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "trace/temporary.h"
#include "trace/trace_format.h"
#include "workload/join.h"
#include "workload/mpi_calls.h"

#define FORMAT_ROW(name) &hl_trace_##name,
static const hl_trace_format *const formats[] = {HL_TRACE_FORMAT_LIST(FORMAT_ROW) NULL};
#undef FORMAT_ROW

/* A profile being read. */
typedef struct reading {
    const hl_trace_format *format;
    const char *path;
    hl_trace_version version;
    hl_trace_builder builder;
} reading;

/* The workload of what the format has put into the builder, unless it failed. */
static haul_status finish_reading(reading *self, haul_status status, haul_workload **workload,
                                  haul_error *error)
{
    char name[64];
    const char *const version = self->version.text;
    if (status) {
        hl_base_error_in_file(error, self->path);
        hl_trace_release(&self->builder);
        return status;
    }
    /* Devices that no table describes have a number and nothing else: no model of them is known. */
    uint64_t nameless = 0;
    for (size_t i = 0; !self->builder.built.failed && i < self->builder.built.device_count; i++)
        nameless += !self->builder.built.devices[i].name;
    if (nameless && nameless == self->builder.built.device_count)
        hl_trace_missing(&self->builder, 0, "a device table, with the GPUs' names and parameters");
    else if (nameless)
        hl_trace_missing(&self->builder, nameless,
                         "devices that the device table does not describe");
    snprintf(name, sizeof name, "%s%s%s", self->format->name, version[0] ? " " : "", version);
    haul_workload *made = NULL;
    HAUL_TRY(hl_trace_finish(&self->builder, self->path, name, &made, error));
    if (!hl_workload_mpi_has_ranks(made)) {
        *workload = made;
        return HAUL_OK;
    }
    /* the calls of several processes met each other */
    uint64_t orphaned;
    const hl_workload_part whole = {.of = made, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
    status = hl_workload_join_one(&whole, &orphaned, workload, error);
    haul_workload_free(made);
    return status;
}

/* Reads an open database and closes it. */
static haul_status read_source(hl_trace_source *source, haul_workload **workload, haul_error *error)
{
    const hl_trace_format *const *format = formats;
    while (*format && !((*format)->sniff && (*format)->sniff(source)))
        format++;
    reading self = {.format = *format, .path = source->path};
    hl_trace_init(&self.builder);
    haul_status status = HAUL_OK;
    if (source->log_note)
        hl_trace_lost(&self.builder, 0, source->log_note);
    if (*format)
        status = (*format)->read(source, &self.builder, &self.version, error);
    if (!status && source->no_memory)
        status = hl_base_fail_no_memory(error);
    else if (!status && !*format)
        status =
            haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                           "an SQLite database without tables of a profile: expected an export of "
                           "Nsight Systems, a file of nvprof, or AMD's rocpd");
    status = finish_reading(&self, status, workload, error);
    hl_trace_source_close(source);
    return status;
}

/* For tests and fuzzing, which have a database in memory. */
haul_status hl_trace_load_database(sqlite3 *db, const char *path, haul_workload **workload,
                                   haul_error *error)
{
    hl_trace_source source;
    HAUL_TRY(hl_trace_source_wrap(&source, db, path, error));
    return read_source(&source, workload, error);
}

static haul_status load_file(const char *path, haul_workload **workload, haul_error *error)
{
    hl_trace_head head;
    hl_trace_source source;
    HAUL_TRY(hl_trace_head_read(path, &head, error));
    if (hl_trace_head_is_sqlite(&head) || hl_trace_is_report(path, &head)) {
        HAUL_TRY(hl_trace_open_database(&source, path, &head, error));
        return read_source(&source, workload, error);
    }
    for (const hl_trace_format *const *format = formats; *format; format++)
        if ((*format)->sniff_text && (*format)->sniff_text(&head)) {
            reading self = {.format = *format, .path = path};
            hl_trace_init(&self.builder);
            const haul_status status =
                (*format)->read_text(path, &self.builder, &self.version, error);
            return finish_reading(&self, status, workload, error);
        }
    return hl_trace_fail_kind(path, &head, error);
}

/* A stream cannot be looked at twice, which finding a format needs. */
haul_status haul_trace_load(const char *path, haul_workload **workload, haul_error *error)
{
    hl_trace_temporary kept;
    if (!hl_trace_is_stream(path))
        return load_file(path, workload, error);
    const char *const name = strcmp(path, "-") != 0 ? "a pipe" : "standard input";
    HAUL_TRY(hl_trace_temporary_fill(&kept, path, error));
    const haul_status status = load_file(kept.name, workload, error);
    hl_trace_temporary_release(&kept);
    if (!status)
        (*workload)->source = "-"; /* as a command takes it */
    if (status && error) {
        error->file[0] = '\0';
        hl_base_error_in_file(error, name);
    }
    return status;
}
