#include "profile_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static haul_status add_path(profile_files *files, const char *folder, const char *name,
                            haul_error *error)
{
    const char *path = haul_arena_format(&files->arena, "%s/%s", folder, name);
    if (!path || !haul_grow(&files->paths, &files->capacity, files->count + 1, sizeof(char *)))
        return haul_fail_no_memory(error);
    files->paths[files->count++] = path;
    return HAUL_OK;
}

static haul_status list_folder(profile_files *files, const char *data, const char *name,
                               haul_error *error)
{
    const char *folder = haul_arena_format(&files->arena, "%s/traces/%s", data, name);
    if (!folder)
        return haul_fail_no_memory(error);
    DIR *directory = opendir(folder);
    if (!directory)
        return haul_fail(error, HAUL_IO, "cannot read the folder '%.400s'", folder);
    haul_status status = HAUL_OK;
    for (struct dirent *entry; !status && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            status = add_path(files, folder, entry->d_name, error);
    closedir(directory);
    return status;
}

static haul_status list_folders(const char *data, const char *const *names, profile_files *files,
                                haul_error *error)
{
    profile_files listed = {0};
    haul_status status = HAUL_OK;
    for (; !status && *names; names++)
        status = list_folder(&listed, data, *names, error);
    if (status) {
        profile_files_release(&listed);
        return status;
    }
    qsort(listed.paths, listed.count, sizeof(char *), compare_paths);
    *files = listed;
    return HAUL_OK;
}

haul_status profile_files_list(const char *data, profile_files *files, haul_error *error)
{
    static const char *const names[] = {"nsys", "nvprof", NULL};
    return list_folders(data, names, files, error);
}

haul_status kineto_files_list(const char *data, profile_files *files, haul_error *error)
{
    static const char *const names[] = {"kineto", NULL};
    return list_folders(data, names, files, error);
}

void profile_files_release(profile_files *files)
{
    free(files->paths);
    haul_arena_release(&files->arena);
    *files = (profile_files){0};
}

const char *profile_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
