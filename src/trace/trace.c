#include "haul/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "trace/trace_format.h"

#define FORMAT_ROW(name) &haul_trace_##name,
static const haul_trace_format *const formats[] = {HAUL_TRACE_FORMAT_LIST(FORMAT_ROW) NULL};
#undef FORMAT_ROW

static const haul_trace_format *find_format(haul_source *source)
{
    const haul_trace_format *const *format = formats;
    while (*format && !((*format)->sniff && (*format)->sniff(source)))
        format++;
    return *format;
}

static haul_status fail_unknown(const haul_source *source, haul_error *error)
{
    haul_fail(error, HAUL_BAD_INPUT,
              "an SQLite database without tables of a profile: expected an export of Nsight "
              "Systems, a file of nvprof, or AMD's rocpd");
    haul_error_in_file(error, source->path);
    return HAUL_BAD_INPUT;
}

static void say_devices(haul_trace_builder *builder)
{
    uint64_t nameless = 0;
    for (size_t i = 0; !builder->built.failed && i < builder->built.device_count; i++)
        nameless += !builder->built.devices[i].name;
    if (nameless && nameless == builder->built.device_count)
        haul_trace_missing(builder, 0,
                           "no device table: names and figures of the GPUs are not known");
    else if (nameless)
        haul_trace_missing(builder, nameless, "devices that the device table does not describe");
}

/* A profile being read. */
typedef struct reading {
    const haul_trace_format *format;
    const char *path;
    haul_trace_version version;
    haul_trace_builder builder;
} reading;

static reading begin(const haul_trace_format *format, const char *path)
{
    reading self = {.format = format, .path = path};
    haul_trace_init(&self.builder);
    return self;
}

/* The workload of what the format has put into the builder, unless it failed. */
static haul_status finish(reading *self, haul_status status, haul_workload **workload,
                          haul_error *error)
{
    char name[64];
    const char *const version = self->version.text;
    if (status) {
        haul_error_in_file(error, self->path);
        haul_trace_release(&self->builder);
        return status;
    }
    say_devices(&self->builder);
    snprintf(name, sizeof name, "%s%s%s", self->format->name, version[0] ? " " : "", version);
    return haul_trace_finish(&self->builder, self->path, name, workload, error);
}

static haul_status read_source(haul_source *source, haul_workload **workload, haul_error *error)
{
    const haul_trace_format *format = find_format(source);
    if (!format && source->no_memory)
        return haul_fail_no_memory(error);
    if (!format)
        return fail_unknown(source, error);
    reading self = begin(format, source->path);
    if (source->log_note)
        haul_trace_lost(&self.builder, 0, source->log_note);
    haul_status status = format->read(source, &self.builder, &self.version, error);
    if (!status && source->no_memory)
        status = haul_fail_no_memory(error);
    return finish(&self, status, workload, error);
}

static haul_status read_text(const haul_trace_format *format, const char *path,
                             haul_workload **workload, haul_error *error)
{
    reading self = begin(format, path);
    const haul_status status = format->read_text(path, &self.builder, &self.version, error);
    return finish(&self, status, workload, error);
}

haul_status haul_trace_load_database(sqlite3 *db, const char *path, haul_workload **workload,
                                     haul_error *error)
{
    haul_source source;
    haul_status status = haul_source_wrap(&source, db, path, error);
    if (status)
        return status;
    status = read_source(&source, workload, error);
    haul_source_close(&source);
    return status;
}

static haul_status load_database(const char *path, const haul_trace_head *head,
                                 haul_workload **workload, haul_error *error)
{
    haul_source source;
    haul_status status = haul_trace_open_database(&source, path, head, error);
    if (status)
        return status;
    status = read_source(&source, workload, error);
    haul_source_close(&source);
    return status;
}

haul_status haul_trace_load(const char *path, haul_workload **workload, haul_error *error)
{
    haul_trace_head head;
    const haul_status status = haul_trace_head_read(path, &head, error);
    if (status)
        return status;
    if (haul_trace_head_is_sqlite(&head) || haul_trace_is_report(path, &head))
        return load_database(path, &head, workload, error);
    for (const haul_trace_format *const *format = formats; *format; format++)
        if ((*format)->sniff_text && (*format)->sniff_text(&head))
            return read_text(*format, path, workload, error);
    return haul_trace_fail_kind(path, &head, error);
}
