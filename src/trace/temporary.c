/* Temporary files, and streams kept in one. */
#include "trace/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fail.h"

haul_status hl_trace_temporary_make(hl_trace_temporary *self, bool needs_name, haul_error *error)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is read alone
    const char *folder = getenv("TMPDIR");
    *self = (hl_trace_temporary){.folder = folder && *folder ? folder : "/tmp", .file = -1};
#ifdef O_TMPFILE /* of some file systems */
    if (!needs_name && !access("/proc/self/fd", X_OK))
        self->file = open(self->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
#else
    (void)needs_name;
#endif
    if (self->file >= 0)
        return HAUL_OK;
    (void)snprintf(self->name, sizeof self->name, "%.4000s/haul-trace-XXXXXX", self->folder);
    self->file = mkstemp(self->name);
    return self->file < 0 ? hl_base_fail_open(error, self->name) : HAUL_OK;
}

/* SQLite opens files by name alone. */
haul_status hl_trace_temporary_name(hl_trace_temporary *self, haul_error *error)
{
    enum { TRIES = 100 };
    char from[64];
    int code = -1;
    if (self->name[0])
        return HAUL_OK;
    (void)snprintf(from, sizeof from, "/proc/self/fd/%d", self->file);
    for (int i = 0; code && i < TRIES; i++) {
        (void)snprintf(self->name, sizeof self->name, "%.4000s/haul-trace-%ld-%d-%d", self->folder,
                       (long)getpid(), self->file, i);
        code = linkat(AT_FDCWD, from, AT_FDCWD, self->name, AT_SYMLINK_FOLLOW);
        if (code && errno != EEXIST)
            break;
    }
    if (!code)
        return HAUL_OK;
    hl_base_fail_open(error, self->name);
    self->name[0] = '\0';
    return HAUL_STATUS_IO;
}

/* An open file lives on without its name. */
void hl_trace_temporary_release(hl_trace_temporary *self)
{
    if (self->file >= 0)
        (void)close(self->file);
    if (self->name[0])
        (void)unlink(self->name);
}

haul_status hl_trace_temporary_write(const hl_trace_temporary *self, const char *bytes,
                                     size_t count, haul_error *error)
{
    for (size_t done = 0; done < count;) {
        const ssize_t written = write(self->file, bytes + done, count - done);
        if (written < 0 && errno != EINTR)
            return haul_error_set(error, HAUL_STATUS_IO, "cannot write to '%.300s': no room?",
                                  self->folder);
        done += written > 0 ? (size_t)written : 0;
    }
    return HAUL_OK;
}

bool hl_trace_is_stream(const char *path)
{
    struct stat facts;
    return !strcmp(path, "-") || (!stat(path, &facts) && S_ISFIFO(facts.st_mode));
}

static haul_status take_all(const hl_trace_temporary *self, int from, const char *path,
                            haul_error *error)
{
    enum { STEP = 64 * 1024 };
    char buffer[STEP];
    /* The bytes that may be written; all where the file system does not tell. */
    enum { LEFT = 10 };
    struct statvfs facts;
    const uint64_t room = fstatvfs(self->file, &facts)
                              ? UINT64_MAX
                              : (uint64_t)facts.f_bavail * facts.f_frsize / LEFT * (LEFT - 1);
    for (uint64_t total = 0;;) {
        const ssize_t got = read(from, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) /* the progress line's alarm */
            continue;
        if (got < 0)
            return hl_base_fail_read(error, path);
        if (!got)
            return HAUL_OK;
        total += (uint64_t)got;
        if (total > room)
            return haul_error_set(error, HAUL_STATUS_IO,
                                  "a stream of more bytes than '%.300s' has room for: TMPDIR may "
                                  "name another folder",
                                  self->folder);
        HAUL_TRY(hl_trace_temporary_write(self, buffer, (size_t)got, error));
    }
}

haul_status hl_trace_temporary_fill(hl_trace_temporary *self, const char *path, haul_error *error)
{
    const bool is_input = !strcmp(path, "-");
    const int from = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return hl_base_fail_open(error, path);
    haul_status status = hl_trace_temporary_make(self, false, error);
    if (!status) {
        status = take_all(self, from, path, error);
        if (!status)
            status = hl_trace_temporary_name(self, error);
        if (status)
            hl_trace_temporary_release(self);
    }
    if (!is_input)
        (void)close(from);
    return status;
}
