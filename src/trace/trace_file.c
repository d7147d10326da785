/* Files before they are read: what they begin with, whether they are whole, and databases that must
 * be unpacked, or exported by nsys, into a temporary file first. */
#include "trace/trace_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/fail.h"
#include "trace/temporary.h"

enum { SQLITE_HEADER = 100 };

static const char sqlite_magic[16] = "SQLite format 3";

// NOLINTNEXTLINE(readability-redundant-declaration): POSIX leaves it to the program
extern char **environ;

static haul_status fail_file(haul_error *error, haul_status status, const char *path,
                             const char *text)
{
    haul_error_set(error, status, "%s", text);
    hl_base_error_in_file(error, path);
    return status;
}

/* 4 KiB tell every format; a gzipped file is unpacked so far. */
haul_status hl_trace_head_read(const char *path, hl_trace_head *head, haul_error *error)
{
    hl_base_byte_source *source;
    *head = (hl_trace_head){0};
    /* Pipes are files by now: see temporary.h. */
    struct stat facts;
    if (stat(path, &facts))
        return hl_base_fail_open(error, path);
    if (!S_ISREG(facts.st_mode))
        return fail_file(error, HAUL_STATUS_IO, path,
                         S_ISDIR(facts.st_mode) ? "a directory, not a file"
                                                : "a device or pipe, not a file");
    HAUL_TRY(facts.st_size ? HAUL_OK
                           : fail_file(error, HAUL_STATUS_BAD_INPUT, path, "an empty file"));
    HAUL_TRY(hl_base_byte_source_open(path, &source, error));
    head->is_gzipped = hl_base_byte_source_is_gzipped(source);
    haul_status status = hl_base_byte_source_read(source, (char *)head->bytes, sizeof head->bytes,
                                                  &head->length, error);
    hl_base_byte_source_close(source);
    if (!status && !head->length)
        status = fail_file(error, HAUL_STATUS_BAD_INPUT, path, "an empty file, gzipped");
    return status;
}

/* The magic string with its NUL (sqlite.org/fileformat2.html, section 1.3.1). */
bool hl_trace_head_is_sqlite(const hl_trace_head *head)
{
    return head->length >= sizeof sqlite_magic &&
           !memcmp(head->bytes, sqlite_magic, sizeof sqlite_magic);
}

/* No control characters but white space: a report of Nsight Systems has some at its beginning. */
static bool is_text(const hl_trace_head *head)
{
    for (size_t i = 0; i < head->length; i++)
        if (head->bytes[i] < 0x20 && !isspace(head->bytes[i]))
            return false;
    return true;
}

/* Files that are named .nsys-rep may be databases: the content decides where it can. */
bool hl_trace_is_report(const char *path, const hl_trace_head *head)
{
    static const char *const ends[] = {".nsys-rep", ".qdrep", ".qdstrm"};
    const size_t length = strlen(path);
    bool named = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        named |= length >= strlen(ends[i]) && !strcmp(path + length - strlen(ends[i]), ends[i]);
    return named && !head->is_gzipped && !is_text(head) && !hl_trace_head_is_sqlite(head);
}

haul_status hl_trace_fail_kind(const char *path, const hl_trace_head *head, haul_error *error)
{
    size_t i = 0;
    while (i + 1 < head->length && isspace(head->bytes[i]))
        i++;
    /* A byte-order mark of UTF-16, or, without one, two characters of ASCII in it. */
    const unsigned char *const b = head->bytes;
    if (head->length >= 4 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff) ||
                              (b[0] && !b[1] && b[2] && !b[3]) || (!b[0] && b[1] && !b[2] && b[3])))
        return fail_file(error, HAUL_STATUS_BAD_INPUT, path,
                         "a text in UTF-16, and haul reads UTF-8: 'iconv -f UTF-16 -t UTF-8' "
                         "makes it that");
    const bool json = head->bytes[i] == '{' || head->bytes[i] == '[';
    if (is_text(head))
        return fail_file(error, HAUL_STATUS_BAD_INPUT, path,
                         json ? "a JSON file without traceEvents, no profile"
                              : "a text file, no profile that haul knows");
    return fail_file(error, HAUL_STATUS_BAD_INPUT, path,
                     "no SQLite database: a report of Nsight Systems is made one with 'nsys export "
                     "--type sqlite'");
}

/* All of SQLite's header is in this order, whatever the machine. */
static uint64_t big_endian(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The bytes of the whole file as its header has them, 0 where that does not tell: its size holds
 * where its change counter is that of the last writer (fileformat2, section 1.3.7). */
static uint64_t declared_bytes(const unsigned char *head)
{
    const uint64_t stored = big_endian(head + 16, 2);
    const uint64_t page_bytes = stored == 1 ? 65536 : stored;
    const bool holds = big_endian(head + 24, 4) == big_endian(head + 92, 4);
    return holds ? big_endian(head + 28, 4) * page_bytes : 0;
}

/* SQLite would say no more than "malformed". */
static haul_status check_length(const char *path, const unsigned char *head, haul_error *error)
{
    const uint64_t expected = declared_bytes(head);
    struct stat facts;
    if (stat(path, &facts))
        return hl_base_fail_open(error, path);
    if ((uint64_t)facts.st_size < expected)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "a truncated SQLite database (%lld bytes of %llu)",
                              (long long)facts.st_size, (unsigned long long)expected);
    return HAUL_OK;
}

/* How many bytes a gzipped database may unpack to: as many as its header says, and a tenth of what
 * is free is left to others. A few bytes may unpack to a thousand times as many. */
static haul_status find_limit(const hl_trace_temporary *into, const char *path,
                              const hl_trace_head *head, uint64_t *limit, haul_error *error)
{
    enum { LEFT = 10 };
    struct statvfs facts;
    const uint64_t expected = hl_trace_head_is_sqlite(head) && head->length >= SQLITE_HEADER
                                  ? declared_bytes(head->bytes)
                                  : 0;
    *limit = expected ? expected : UINT64_MAX;
    if (fstatvfs(into->file, &facts))
        return HAUL_OK;
    const uint64_t room = (uint64_t)facts.f_bavail * facts.f_frsize / LEFT * (LEFT - 1);
    if (expected > room) {
        haul_error_set(error, HAUL_STATUS_IO,
                       "unpacks to %llu bytes, for which '%.300s' has no room: TMPDIR may name "
                       "another folder",
                       (unsigned long long)expected, into->folder);
        hl_base_error_in_file(error, path);
        return HAUL_STATUS_IO;
    }
    *limit = room < *limit ? room : *limit;
    return HAUL_OK;
}

/* Unpacks a gzipped file into an open one. */
static haul_status unpack(const char *path, const hl_trace_head *head,
                          const hl_trace_temporary *into, haul_error *error)
{
    enum { STEP = 64 * 1024 };
    hl_base_byte_source *source;
    char buffer[STEP];
    size_t got = sizeof buffer;
    uint64_t limit, total = 0;
    HAUL_TRY(find_limit(into, path, head, &limit, error));
    HAUL_TRY(hl_base_byte_source_open(path, &source, error));
    haul_status status = HAUL_OK;
    while (!status && got == sizeof buffer) {
        status = hl_base_byte_source_read(source, buffer, sizeof buffer, &got, error);
        total += got;
        if (!status && total > limit)
            status = fail_file(error, HAUL_STATUS_BAD_INPUT, path,
                               "a gzipped database that unpacks to more bytes than its header says "
                               "or its folder has room for");
        if (!status)
            status = hl_trace_temporary_write(into, buffer, got, error);
    }
    hl_base_byte_source_close(source);
    return status;
}

/* nsys is run without a shell; its words go nowhere, since the outcome says enough. */
static haul_status export_report(const char *path, char *to, haul_error *error)
{
    char name[HL_TRACE_LONGEST_PATH + 2];
    (void)snprintf(name, sizeof name, "%s%.4096s", path[0] == '-' ? "./" : "", path);
    char *const words[] = {"nsys", "export",   "--type", "sqlite", "--force-overwrite",
                           "true", "--output", to,       name,     NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions))
        return hl_base_fail_no_memory(error);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = -1;
    const int code = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (code)
        return fail_file(error, HAUL_STATUS_ABSENT, path,
                         "a report of Nsight Systems, no SQLite database: nsys, which exports it "
                         "('nsys export --type sqlite'), is not installed here");
    int result = 0;
    while (waitpid(child, &result, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(result) || WEXITSTATUS(result))
        return fail_file(error,
                         WIFEXITED(result) && WEXITSTATUS(result) == 127 ? HAUL_STATUS_ABSENT
                                                                         : HAUL_STATUS_BAD_INPUT,
                         path, "a report of Nsight Systems that 'nsys export' cannot export");
    return HAUL_OK;
}

/* `file` is what is opened, `path` what the user named: they differ for a temporary file. */
static haul_status open_plain(hl_trace_source *source, const char *file, const char *path,
                              haul_error *error)
{
    unsigned char head[SQLITE_HEADER];
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return hl_base_fail_open(error, file);
    const size_t length = fread(head, 1, sizeof head, stream);
    (void)fclose(stream);
    haul_status status = HAUL_OK;
    /* a log beside it, as a recorder that was killed leaves it, has pages that it lacks itself */
    if (!hl_trace_source_has_beside(file, "-wal"))
        status = length < sizeof head
                     ? haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                      "a truncated SQLite database: shorter than its header")
                     : check_length(file, head, error);
    if (status) {
        hl_base_error_in_file(error, path);
        return status;
    }
    return hl_trace_source_open(source, file, path, error);
}

/* A temporary file stays until it is closed, also where reading fails. */
haul_status hl_trace_open_database(hl_trace_source *source, const char *path,
                                   const hl_trace_head *head, haul_error *error)
{
    hl_trace_temporary made;
    if (!head->is_gzipped && hl_trace_head_is_sqlite(head))
        return open_plain(source, path, path, error);
    haul_status status = hl_trace_temporary_make(&made, !head->is_gzipped, error);
    if (!status)
        status = head->is_gzipped ? unpack(path, head, &made, error)
                                  : export_report(path, made.name, error);
    if (!status)
        status = hl_trace_temporary_name(&made, error);
    if (!status)
        status = open_plain(source, made.name, path, error);
    hl_trace_temporary_release(&made);
    return status;
}
