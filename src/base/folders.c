/* Folders are looked in from the most personal on (the environment) to the installation's, so that
 * a user's file of the same name takes the place of one that haul comes with. */
#include "base/folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/nearest.h"

static const char suffix[] = ".yaml";

enum { SUFFIX = sizeof suffix - 1, PATH_BYTES = 4096 };

void hl_base_folders_release(hl_base_folders *folders)
{
    hl_base_arena_release(&folders->arena);
    free(folders->paths);
    *folders = (hl_base_folders){0};
}

/* Adds `path`, the owner of which is the arena; NULL is a want of memory. The portable build's own
 * folders are "": its files are inside. */
static haul_status add_folder(hl_base_folders *self, const char *path, haul_error *error)
{
    if (path && !*path)
        return HAUL_OK;
    if (!path || !hl_base_grow(&self->paths, &self->capacity, self->count + 1, sizeof *self->paths))
        return hl_base_fail_no_memory(error);
    self->paths[self->count++] = path;
    return HAUL_OK;
}

/* PREFIX/share/haul/KIND of a program in PREFIX/bin, wherever it was moved to. */
static haul_status add_beside_program(hl_base_folders *self, const char *kind, haul_error *error)
{
    char path[PATH_BYTES];
    /* The link is resolved by the kernel: it is the file that runs, not the name it was called
     * by. */
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        /* Without /proc the folders of the source tree and of the installation still follow. */
        return HAUL_OK;
    path[length] = '\0';
    /* Cut twice: the program's own name, then its folder "bin". */
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return HAUL_OK;
        *slash = '\0';
    }
    return add_folder(self, hl_base_arena_format(&self->arena, "%s/share/haul/%s", path, kind),
                      error);
}

haul_status hl_base_folders_find(const hl_base_folders_of *of, hl_base_folders *folders,
                                 haul_error *error)
{
    const char *list = getenv(of->variable); // NOLINT(concurrency-mt-unsafe): read only
    haul_status status = HAUL_OK;
    while (!status && list && *list) {
        /* Parts that are empty, as in "a::b", are skipped; a shell's PATH would take them for
         * ".". */
        const size_t length = strcspn(list, ":");
        if (length)
            status = add_folder(folders, hl_base_arena_text(&folders->arena, list, length), error);
        list += length + (list[length] == ':');
    }
    HAUL_TRY(status);
    HAUL_TRY(add_beside_program(folders, of->kind, error));
    HAUL_TRY(add_folder(folders, of->source, error));
    return add_folder(folders, of->installed, error);
}

const char *hl_base_folders_file(hl_base_folders *folders, const char *name)
{
    for (size_t i = 0; i < folders->count; i++) {
        const char *path =
            hl_base_arena_format(&folders->arena, "%s/%s%s", folders->paths[i], name, suffix);
        struct stat info;
        /* Existence is enough: a file that cannot be read is reported when it is opened. */
        if (path && !stat(path, &info))
            return path;
    }
    return NULL;
}

haul_status hl_base_name_list_add(hl_base_name_list *list, const char *name, haul_error *error)
{
    char *copy = strdup(name);
    if (!copy ||
        !hl_base_grow(&list->names, &list->capacity, list->count + 1, sizeof *list->names)) {
        free(copy);
        return hl_base_fail_no_memory(error);
    }
    list->names[list->count++] = copy;
    return HAUL_OK;
}

/* By bytes and not by locale: lists are the same on every machine and in every test. */
static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void hl_base_name_list_settle(hl_base_name_list *list)
{
    size_t kept = 0;
    if (list->count)
        qsort(list->names, list->count, sizeof *list->names, compare_names);
    /* Equal names are neighbours now. Two folders may have a file each; the first is the one
     * used. */
    for (size_t i = 0; i < list->count; i++) {
        if (kept && !strcmp(list->names[kept - 1], list->names[i]))
            free(list->names[i]);
        else
            list->names[kept++] = list->names[i];
    }
    list->count = kept;
}

void hl_base_name_list_release(hl_base_name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (hl_base_name_list){0};
}

haul_status hl_base_name_list_hand_over(hl_base_name_list *list, haul_status status, char ***names,
                                        size_t *count)
{
    if (status) {
        hl_base_name_list_release(list);
        return status;
    }
    *names = list->names;
    *count = list->count;
    return HAUL_OK;
}

/* A short form, such as a GPU's without its slot, may mean any name that holds it. */
static size_t slips(const char *name, const char *known)
{
    return strstr(known, name) ? 0 : hl_base_edit_distance(name, known);
}

const char *hl_base_name_list_near(const hl_base_name_list *list, const char *name, char *buffer,
                                   size_t size)
{
    size_t used = 0, least = SIZE_MAX;
    buffer[0] = '\0';
    for (size_t i = 0; i < list->count; i++)
        if (hl_base_is_near(name, list->names[i]) && slips(name, list->names[i]) < least)
            least = slips(name, list->names[i]);
    for (size_t i = 0; i < list->count; i++) {
        if (!hl_base_is_near(name, list->names[i]) || slips(name, list->names[i]) > least ||
            used >= size)
            continue;
        const int added =
            snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", list->names[i]);
        /* On truncation snprintf returns more than it wrote; `used >= size` above then ends the
         * list. */
        used += added > 0 ? (size_t)added : 0;
    }
    return buffer;
}

/* Adds the files of a folder; one that is not there has none. */
static haul_status list_folder(const char *path, bool (*is_name)(const char *name),
                               hl_base_name_list *list, haul_error *error)
{
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOMEM ? hl_base_fail_no_memory(error) : HAUL_OK;
    haul_status status = HAUL_OK;
    const struct dirent *entry;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    while (!status && (entry = readdir(folder))) {
        char name[sizeof entry->d_name];
        const size_t length = strlen(entry->d_name);
        /* A bare ".yaml" has no name in front of its suffix. */
        if (length <= SUFFIX || strcmp(entry->d_name + length - SUFFIX, suffix) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - SUFFIX), entry->d_name);
        if (is_name(name))
            status = hl_base_name_list_add(list, name, error);
    }
    (void)closedir(folder);
    return status;
}

haul_status hl_base_folders_list(const hl_base_folders *folders, bool (*is_name)(const char *name),
                                 hl_base_name_list *list, haul_error *error)
{
    for (size_t i = 0; i < folders->count; i++)
        HAUL_TRY(list_folder(folders->paths[i], is_name, list, error));
    return HAUL_OK;
}

bool hl_base_folders_is_path(const char *text)
{
    const size_t length = strlen(text);
    return strchr(text, '/') || (length >= SUFFIX && !strcmp(text + length - SUFFIX, suffix));
}
