#include "haul/trace.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "trace/trace_format.h"

/* nvprof first: a database of its may have tables of nsys's names, not the other way round. */
static const haul_trace_format *const formats[] = {&haul_trace_nvprof, &haul_trace_nsys, NULL};

static const char sqlite_magic[16] = "SQLite format 3";

typedef struct file_head {
    unsigned char bytes[100]; /* as long as SQLite's header */
    size_t length;
    int64_t file_bytes;
} file_head;

static const haul_trace_format *find_format(haul_source *source)
{
    const haul_trace_format *const *format = formats;
    while (*format && !(*format)->sniff(source))
        format++;
    return *format;
}

static haul_status fail_unknown(const haul_source *source, haul_error *error)
{
    bool is_rocpd = haul_source_has(source, "rocpd_metadata");
    for (size_t i = 0; i < source->tables.count; i++)
        is_rocpd |= !strncmp(source->tables.texts[i], "rocpd_", 6);
    haul_fail(error, HAUL_BAD_INPUT,
              is_rocpd ? "a rocpd database of AMD's profilers, which haul does not read yet"
                       : "an SQLite database without CUPTI tables: expected an export of Nsight "
                         "Systems or a file of nvprof");
    haul_error_in_file(error, source->path);
    return HAUL_BAD_INPUT;
}

static void say_devices(haul_builder *builder)
{
    uint64_t nameless = 0;
    for (size_t i = 0; !builder->failed && i < builder->device_keys.count; i++)
        nameless += !builder->devices[i].name;
    if (nameless && nameless == builder->device_keys.count)
        haul_builder_missing(builder, 0,
                             "no device table: names and figures of the GPUs are not known");
    else if (nameless)
        haul_builder_missing(builder, nameless, "devices that the device table does not describe");
}

static haul_status read_source(haul_source *source, haul_workload **workload, haul_error *error)
{
    const haul_trace_format *format = find_format(source);
    if (!format)
        return fail_unknown(source, error);
    haul_builder builder;
    haul_builder_init(&builder);
    char version[32], name[64];
    haul_status status = format->read(source, &builder, version, sizeof version, error);
    haul_error_in_file(status ? error : NULL, source->path);
    if (status) {
        haul_builder_release(&builder);
        return status;
    }
    say_devices(&builder);
    snprintf(name, sizeof name, "%s%s%s", format->name, version[0] ? " " : "", version);
    return haul_builder_finish(&builder, source->path, name, workload, error);
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

static haul_status read_head(const char *path, file_head *head, haul_error *error)
{
    struct stat facts;
    if (stat(path, &facts))
        return haul_fail_open(error, path);
    if (!S_ISREG(facts.st_mode)) {
        haul_fail(error, HAUL_IO, "%s, not a file",
                  S_ISDIR(facts.st_mode) ? "a directory" : "a device or pipe");
        haul_error_in_file(error, path);
        return HAUL_IO;
    }
    FILE *file = fopen(path, "rb");
    if (!file)
        return haul_fail_open(error, path);
    head->length = fread(head->bytes, 1, sizeof head->bytes, file);
    head->file_bytes = facts.st_size;
    const bool failed = ferror(file);
    fclose(file);
    return failed ? haul_fail(error, HAUL_IO, "cannot read '%.300s'", path) : HAUL_OK;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

static bool is_text(const file_head *head)
{
    for (size_t i = 0; i < head->length; i++)
        if (head->bytes[i] < 0x20 && !isspace(head->bytes[i]))
            return false;
    return true;
}

static haul_status fail_not_sqlite(const char *path, const file_head *head, haul_error *error)
{
    if (!head->length)
        return haul_fail(error, HAUL_BAD_INPUT, "an empty file");
    if (head->length >= 2 && head->bytes[0] == 0x1f && head->bytes[1] == 0x8b)
        return haul_fail(error, HAUL_BAD_INPUT, "a gzipped file, no SQLite database");
    if (is_text(head))
        return haul_fail(error, HAUL_BAD_INPUT,
                         head->bytes[0] == '{' ? "a JSON file, no SQLite database"
                                               : "a text file, no SQLite database");
    if (ends_with(path, ".nsys-rep") || ends_with(path, ".qdrep") || ends_with(path, ".qdstrm"))
        return haul_fail(error, HAUL_BAD_INPUT,
                         "a report of Nsight Systems, no SQLite database: export it with 'nsys "
                         "export --type sqlite'");
    return haul_fail(error, HAUL_BAD_INPUT,
                     "no SQLite database: a report of Nsight Systems is made one with 'nsys export "
                     "--type sqlite'");
}

static uint64_t big_endian(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* A log beside it, as a recorder that was killed leaves it, has pages that the file itself lacks.
 */
static bool has_log(const char *path)
{
    char name[4096];
    struct stat facts;
    const int length = snprintf(name, sizeof name, "%s-wal", path);
    return length > 0 && (size_t)length < sizeof name && !stat(name, &facts) && facts.st_size > 0;
}

/* The size in the header holds where its change counter is that of the last writer (fileformat2,
 * section 1.3.7). SQLite would say no more than "malformed". */
static haul_status check_length(const file_head *head, haul_error *error)
{
    const uint64_t stored = big_endian(head->bytes + 16, 2);
    const uint64_t page_bytes = stored == 1 ? 65536 : stored;
    const uint64_t pages = big_endian(head->bytes + 28, 4);
    const bool holds = big_endian(head->bytes + 24, 4) == big_endian(head->bytes + 92, 4);
    const uint64_t expected = pages * page_bytes;
    if (head->length < sizeof head->bytes)
        return haul_fail(error, HAUL_BAD_INPUT,
                         "a truncated SQLite database: shorter than its header");
    if (holds && (uint64_t)head->file_bytes < expected)
        return haul_fail(error, HAUL_BAD_INPUT, "a truncated SQLite database (%lld bytes of %llu)",
                         (long long)head->file_bytes, (unsigned long long)expected);
    return HAUL_OK;
}

static haul_status check_head(const char *path, const file_head *head, haul_error *error)
{
    haul_status status = HAUL_OK;
    if (head->length < sizeof sqlite_magic ||
        memcmp(head->bytes, sqlite_magic, sizeof sqlite_magic) != 0)
        status = fail_not_sqlite(path, head, error);
    else if (!has_log(path))
        status = check_length(head, error);
    if (status)
        haul_error_in_file(error, path);
    return status;
}

haul_status haul_trace_load(const char *path, haul_workload **workload, haul_error *error)
{
    file_head head = {0};
    haul_source source;
    haul_status status = read_head(path, &head, error);
    if (!status)
        status = check_head(path, &head, error);
    if (!status)
        status = haul_source_open(&source, path, error);
    if (status)
        return status;
    status = read_source(&source, workload, error);
    haul_source_close(&source);
    return status;
}
