/* The folder in which a program's processes meet haul. haul holds a lock on one file in it, which
 * the kernel lets go when haul dies: a folder without that lock is left over. */
#include "record/ring_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "record/record_session.h"
#include "record/shared_ring.h"

enum { MOST_SAID = 4, LEFT_AFTER_S = 60 };

// NOLINTBEGIN(concurrency-mt-unsafe): the environment and folders are read by one thread

static const char folder_prefix[] = "haul-";

/* Only what this program puts there: files and a link, no folders. */
static void remove_folder(const char *path)
{
    char name[HL_RECORD_LONGEST_PATH];
    DIR *entries = opendir(path);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        snprintf(name, sizeof name, "%.3800s/%s", path, entry->d_name);
        unlink(name); /* "." and ".." are none that can be */
    }
    if (entries)
        closedir(entries);
    rmdir(path);
}

/* One of ours that is as old as a minute, so that none is met while it is made. */
static bool is_left(const char *path)
{
    char name[HL_RECORD_LONGEST_PATH];
    struct stat facts;
    snprintf(name, sizeof name, "%.3800s/" HL_RECORD_SAID, path);
    const int file = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const bool left = file >= 0 && !fstat(file, &facts) && facts.st_uid == geteuid() &&
                      S_ISREG(facts.st_mode) && time(NULL) - facts.st_ctime > LEFT_AFTER_S &&
                      !flock(file, LOCK_EX | LOCK_NB);
    if (file >= 0)
        close(file);
    return left;
}

/* Folders of this user alone, and only where no haul has the lock: another one may be recording. */
static void remove_left(const char *parent)
{
    char path[HL_RECORD_LONGEST_PATH];
    struct stat facts;
    DIR *entries = opendir(parent);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        if (strncmp(entry->d_name, folder_prefix, sizeof folder_prefix - 1) != 0)
            continue;
        snprintf(path, sizeof path, "%.3800s/%s", parent, entry->d_name);
        if (!lstat(path, &facts) && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
            is_left(path))
            remove_folder(path);
    }
    if (entries)
        closedir(entries);
}

/* A colon would end the path in OPENCL_LAYERS, see HL_RECORD_RING_FOLDER_LINK. */
static bool make_in(hl_record_ring_folder *self, const char *parent, size_t least_free)
{
    struct statvfs facts;
    if (!parent || !*parent || strchr(parent, ':') || strlen(parent) > 1000)
        return false;
    if (!statvfs(parent, &facts) && facts.f_bavail * facts.f_frsize < least_free)
        return false;
    snprintf(self->path, sizeof self->path, "%s/%sXXXXXX", parent, folder_prefix);
    if (!mkdtemp(self->path))
        return false;
    remove_left(parent);
    return true;
}

/* Memory first: a ring on a disk would be written out by the kernel for nothing. But a /dev/shm in
 * which a ring could not grow to its full size, as a container's of 64 MB, is the program's own;
 * only where no other folder has that room either it has to do. */
static bool make_anywhere(hl_record_ring_folder *self)
{
    const size_t full = hl_record_ring_capacity(HL_RECORD_RING_SEGMENTS - 1);
    const char *const parents[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < sizeof parents / sizeof *parents; i++)
            if (make_in(self, parents[i], pass ? 0 : full * HL_RECORD_RING_SHARE))
                return true;
    return false;
}

haul_status hl_record_ring_folder_make(hl_record_ring_folder *self, const char *opencl,
                                       haul_error *error)
{
    char name[HL_RECORD_LONGEST_PATH];
    self->lock = -1;
    if (!make_anywhere(self))
        return hl_base_fail_open(error, "/tmp");
    snprintf(name, sizeof name, "%.4000s/" HL_RECORD_SAID, self->path);
    self->lock = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    snprintf(name, sizeof name, "%.4000s/" HL_RECORD_RING_FOLDER_LINK, self->path);
    if (self->lock >= 0 && !flock(self->lock, LOCK_EX) && (!opencl[0] || !symlink(opencl, name)))
        return HAUL_OK;
    hl_base_fail_open(error, self->path);
    hl_record_ring_folder_remove(self);
    return HAUL_STATUS_IO;
}

void hl_record_ring_folder_remove(hl_record_ring_folder *self)
{
    if (self->lock >= 0)
        close(self->lock);
    self->lock = -1;
    remove_folder(self->path);
}

/* Whether the entry of /proc has the text; *readable whether it could be asked: another user's
 * cannot, nor one that has ended. */
static bool scan_process(const char *process, const char *file_name, char separator,
                         const char *text, bool *readable)
{
    char name[64], *entry = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%.20s/%.20s", process, file_name);
    FILE *file = fopen(name, "re");
    *readable = file || errno == ENOENT || errno == ESRCH;
    while (file && !found && getdelim(&entry, &room, separator, file) > 0)
        found = strstr(entry, text) != NULL;
    free(entry);
    if (file)
        fclose(file);
    return found;
}

bool hl_record_process_mentions(const char *process, const char *file_name, char separator,
                                const char *text)
{
    bool readable;
    return scan_process(process, file_name, separator, text, &readable);
}

bool hl_record_process_lacks(const char *process, const char *file_name, char separator,
                             const char *text)
{
    bool readable;
    return !scan_process(process, file_name, separator, text, &readable) && readable;
}

/* A process that outlived the program is found by its environment, which it has from before its
 * recorder began. */
void hl_record_ring_folder_users(const hl_record_ring_folder *self, hl_record_process_done *done,
                                 const void *state, char *text, size_t size)
{
    char wanted[HL_RECORD_LONGEST_PATH + 32];
    DIR *processes = opendir("/proc");
    int found = 0;
    snprintf(wanted, sizeof wanted, HAUL_RECORD_FOLDER "=%s", self->path);
    text[0] = '\0';
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
            done(state, strtol(entry->d_name, NULL, 10)) ||
            !hl_record_process_mentions(entry->d_name, "environ", '\0', wanted))
            continue;
        char program[64];
        const size_t at = strlen(text);
        if (found++ < MOST_SAID)
            snprintf(text + at, size - at, "%sprocess %.20s (%s)", at ? ", " : "", entry->d_name,
                     hl_record_session_program(entry->d_name, program, sizeof program));
    }
    const size_t at = strlen(text);
    if (found > MOST_SAID)
        snprintf(text + at, size - at, " and %d more", found - MOST_SAID);
    if (processes)
        closedir(processes);
}

// NOLINTEND(concurrency-mt-unsafe)
