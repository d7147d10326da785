#include "trace/profile_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/strings.h"
#include "haul/trace.h"

bool haul_trace_name_is_profile(const char *name)
{
    static const char *const ends[] = {".json",     ".json.gz", ".sqlite", ".sqlite.gz", ".db",
                                       ".nsys-rep", ".qdrep",   ".nvvp",   ".rpd"};
    bool found = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        found |= hl_base_ends_with(name, ends[i]);
    return found && *name != '.';
}

static haul_status add_folder(hl_base_name_list *found, const char *folder, haul_error *error)
{
    char path[4096];
    struct stat is;
    DIR *const entries = opendir(folder);
    if (!entries)
        return hl_base_fail_open(error, folder);
    haul_status status = HAUL_OK;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    for (const struct dirent *entry; !status && (entry = readdir(entries));) {
        if (!haul_trace_name_is_profile(entry->d_name))
            continue;
        const size_t length = strlen(folder);
        const char *const slash = length && folder[length - 1] == '/' ? "" : "/";
        const int written = snprintf(path, sizeof path, "%s%s%s", folder, slash, entry->d_name);
        if (written < 0 || (size_t)written >= sizeof path) {
            errno = ENAMETOOLONG;
            status = hl_base_fail_open(error, folder);
        } else if (!stat(path, &is) && S_ISREG(is.st_mode)) {
            status = hl_base_name_list_add(found, path, error);
        }
    }
    (void)closedir(entries);
    hl_base_name_list_settle(found);
    return status;
}

haul_status hl_trace_profiles_add(hl_base_name_list *files, const char *path, haul_error *error)
{
    struct stat is;
    if (stat(path, &is) || !S_ISDIR(is.st_mode))
        return hl_base_name_list_add(files, path, error);
    hl_base_name_list found = {0};
    haul_status status = add_folder(&found, path, error);
    for (size_t i = 0; !status && i < found.count; i++)
        status = hl_base_name_list_add(files, found.names[i], error);
    if (!status && !found.count)
        status =
            haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                           "'%.300s' has no profiles directly in it: files named .json, .json.gz, "
                           ".sqlite, .db, .nsys-rep, .nvvp or .rpd",
                           path);
    hl_base_name_list_release(&found);
    return status;
}
