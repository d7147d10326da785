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
#include <sys/wait.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/fail.h"

enum { SQLITE_HEADER = 100, LONGEST_PATH = 4096 + 32 };

static const char sqlite_magic[16] = "SQLite format 3";

extern char **environ;

static haul_status fail_file(haul_error *error, haul_status status, const char *path,
                             const char *text)
{
    haul_fail(error, status, "%s", text);
    haul_error_in_file(error, path);
    return status;
}

/* A pipe cannot be looked at twice, which finding a format needs. */
static haul_status check_plain(const char *path, haul_error *error)
{
    struct stat facts;
    if (stat(path, &facts))
        return haul_fail_open(error, path);
    if (!S_ISREG(facts.st_mode))
        return fail_file(error, HAUL_IO, path,
                         S_ISDIR(facts.st_mode) ? "a directory, not a file"
                                                : "a device or pipe, not a file");
    return facts.st_size ? HAUL_OK : fail_file(error, HAUL_BAD_INPUT, path, "an empty file");
}

/* 4 KiB tell every format; a gzipped file is unpacked so far. */
haul_status haul_trace_head_read(const char *path, haul_trace_head *head, haul_error *error)
{
    haul_byte_source *source;
    *head = (haul_trace_head){0};
    HAUL_TRY(check_plain(path, error));
    HAUL_TRY(haul_byte_source_open(path, &source, error));
    head->is_gzipped = haul_byte_source_is_gzipped(source);
    haul_status status = haul_byte_source_read(source, (char *)head->bytes, sizeof head->bytes,
                                               &head->length, error);
    haul_byte_source_close(source);
    if (!status && !head->length)
        status = fail_file(error, HAUL_BAD_INPUT, path, "an empty file, gzipped");
    return status;
}

/* The magic string with its NUL (sqlite.org/fileformat2.html, section 1.3.1). */
bool haul_trace_head_is_sqlite(const haul_trace_head *head)
{
    return head->length >= sizeof sqlite_magic &&
           !memcmp(head->bytes, sqlite_magic, sizeof sqlite_magic);
}

/* No control characters but white space: a report of Nsight Systems has some at its beginning. */
static bool is_text(const haul_trace_head *head)
{
    for (size_t i = 0; i < head->length; i++)
        if (head->bytes[i] < 0x20 && !isspace(head->bytes[i]))
            return false;
    return true;
}

/* Files that are named .nsys-rep may be databases: the content decides where it can. */
bool haul_trace_is_report(const char *path, const haul_trace_head *head)
{
    static const char *const ends[] = {".nsys-rep", ".qdrep", ".qdstrm"};
    const size_t length = strlen(path);
    bool named = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        named |= length >= strlen(ends[i]) && !strcmp(path + length - strlen(ends[i]), ends[i]);
    return named && !head->is_gzipped && !is_text(head) && !haul_trace_head_is_sqlite(head);
}

haul_status haul_trace_fail_kind(const char *path, const haul_trace_head *head, haul_error *error)
{
    size_t i = 0;
    while (i + 1 < head->length && isspace(head->bytes[i]))
        i++;
    const bool json = head->bytes[i] == '{' || head->bytes[i] == '[';
    if (is_text(head))
        return fail_file(error, HAUL_BAD_INPUT, path,
                         json ? "a JSON file without traceEvents, no profile"
                              : "a text file, no profile that haul knows");
    return fail_file(error, HAUL_BAD_INPUT, path,
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

/* The size in the header holds where its change counter is that of the last writer (fileformat2,
 * section 1.3.7). SQLite would say no more than "malformed". */
static haul_status check_length(const char *path, const unsigned char *head, haul_error *error)
{
    const uint64_t stored = big_endian(head + 16, 2);
    const uint64_t page_bytes = stored == 1 ? 65536 : stored;
    const uint64_t pages = big_endian(head + 28, 4);
    const bool holds = big_endian(head + 24, 4) == big_endian(head + 92, 4);
    const uint64_t expected = pages * page_bytes;
    struct stat facts;
    if (stat(path, &facts))
        return haul_fail_open(error, path);
    if (holds && (uint64_t)facts.st_size < expected)
        return haul_fail(error, HAUL_BAD_INPUT, "a truncated SQLite database (%lld bytes of %llu)",
                         (long long)facts.st_size, (unsigned long long)expected);
    return HAUL_OK;
}

/* Unpacks a gzipped file into an open one. */
static haul_status unpack(const char *path, int file, const char *to, haul_error *error)
{
    enum { STEP = 64 * 1024 };
    haul_byte_source *source;
    char buffer[STEP];
    size_t got = sizeof buffer;
    haul_status status = haul_byte_source_open(path, &source, error);
    if (status)
        return status;
    while (!status && got == sizeof buffer) {
        status = haul_byte_source_read(source, buffer, sizeof buffer, &got, error);
        for (size_t done = 0; !status && done < got;) {
            const ssize_t count = write(file, buffer + done, got - done);
            if (count < 0 && errno != EINTR)
                status = haul_fail(error, HAUL_IO, "cannot write '%.300s': no room?", to);
            done += count > 0 ? (size_t)count : 0;
        }
    }
    haul_byte_source_close(source);
    return status;
}

/* nsys is run without a shell; its words go nowhere, since the outcome says enough. */
static haul_status export_report(const char *path, char *to, haul_error *error)
{
    char name[LONGEST_PATH + 2];
    (void)snprintf(name, sizeof name, "%s%.4096s", path[0] == '-' ? "./" : "", path);
    char *const words[] = {"nsys", "export",   "--type", "sqlite", "--force-overwrite",
                           "true", "--output", to,       name,     NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions))
        return haul_fail_no_memory(error);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = -1;
    const int code = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (code)
        return fail_file(error, HAUL_ABSENT, path,
                         "a report of Nsight Systems, no SQLite database: nsys, which exports it "
                         "('nsys export --type sqlite'), is not installed here");
    int result = 0;
    while (waitpid(child, &result, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(result) || WEXITSTATUS(result))
        return fail_file(
            error, WIFEXITED(result) && WEXITSTATUS(result) == 127 ? HAUL_ABSENT : HAUL_BAD_INPUT,
            path, "a report of Nsight Systems that 'nsys export' cannot export");
    return HAUL_OK;
}

/* `file` is what is opened, `path` what the user named: they differ for a temporary file. */
static haul_status open_plain(haul_source *source, const char *file, const char *path,
                              haul_error *error)
{
    unsigned char head[SQLITE_HEADER];
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return haul_fail_open(error, file);
    const size_t length = fread(head, 1, sizeof head, stream);
    (void)fclose(stream);
    haul_status status = HAUL_OK;
    /* a log beside it, as a recorder that was killed leaves it, has pages that it lacks itself */
    if (!haul_source_has_beside(file, "-wal"))
        status = length < sizeof head
                     ? haul_fail(error, HAUL_BAD_INPUT,
                                 "a truncated SQLite database: shorter than its header")
                     : check_length(file, head, error);
    if (status) {
        haul_error_in_file(error, path);
        return status;
    }
    return haul_source_open(source, file, path, error);
}

/* A temporary file stays until it is closed, also where reading fails. */
haul_status haul_trace_open_database(haul_source *source, const char *path,
                                     const haul_trace_head *head, haul_error *error)
{
    char temporary[LONGEST_PATH];
    if (!head->is_gzipped && haul_trace_head_is_sqlite(head))
        return open_plain(source, path, path, error);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is read alone
    const char *folder = getenv("TMPDIR");
    (void)snprintf(temporary, sizeof temporary, "%.4000s/haul-trace-XXXXXX",
                   folder && *folder ? folder : "/tmp");
    const int file = mkstemp(temporary);
    if (file < 0)
        return haul_fail_open(error, temporary);
    haul_status status = head->is_gzipped ? unpack(path, file, temporary, error)
                                          : export_report(path, temporary, error);
    (void)close(file);
    if (!status)
        status = open_plain(source, temporary, path, error);
    (void)unlink(temporary); /* an open file lives on without its name */
    return status;
}
