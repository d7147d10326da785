/* Machines by name: folders of YAML files. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "base/textfile.h"
#include "haul/machine.h"
#include "machine/embedded.h"
#include "machine/machine_fields.h"
#include "machine/yaml_tree.h"

static const char suffix[] = ".yaml";

enum { SUFFIX = sizeof suffix - 1, PATH_BYTES = 4096 };

/* The folders in the order in which a machine is looked for. */
typedef struct folders {
    haul_arena arena;
    const char **paths;
    size_t count;
    size_t capacity;
} folders;

static void release_folders(folders *self)
{
    haul_arena_release(&self->arena);
    free(self->paths);
}

/* Adds `path`, the owner of which is the arena; NULL is a want of memory. The portable build's own
 * folders are "": its machines are inside. */
static haul_status add_folder(folders *self, const char *path, haul_error *error)
{
    if (path && !*path)
        return HAUL_OK;
    if (!path || !haul_grow(&self->paths, &self->capacity, self->count + 1, sizeof *self->paths))
        return haul_fail_no_memory(error);
    self->paths[self->count++] = path;
    return HAUL_OK;
}

static haul_status add_environment(folders *self, haul_error *error)
{
    const char *list = getenv("HAUL_MACHINES"); // NOLINT(concurrency-mt-unsafe): read only
    haul_status status = HAUL_OK;
    while (!status && list && *list) {
        const size_t length = strcspn(list, ":");
        if (length)
            status = add_folder(self, haul_arena_text(&self->arena, list, length), error);
        list += length + (list[length] == ':');
    }
    return status;
}

/* PREFIX/share/haul/machines of a program in PREFIX/bin, wherever it was moved to. */
static haul_status add_beside_program(folders *self, haul_error *error)
{
    char path[PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return HAUL_OK;
    path[length] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return HAUL_OK;
        *slash = '\0';
    }
    return add_folder(self, haul_arena_format(&self->arena, "%s/share/haul/machines", path), error);
}

static haul_status find_folders(folders *self, haul_error *error)
{
    haul_status status = add_environment(self, error);
    if (!status)
        status = add_beside_program(self, error);
    if (!status)
        status = add_folder(self, HAUL_MACHINES_SOURCE, error);
    if (!status)
        status = add_folder(self, HAUL_MACHINES_INSTALLED, error);
    return status;
}

typedef struct name_list {
    char **names;
    size_t count;
    size_t capacity;
} name_list;

static haul_status add_name(name_list *self, const char *name, haul_error *error)
{
    char *copy = strdup(name);
    if (!copy || !haul_grow(&self->names, &self->capacity, self->count + 1, sizeof *self->names)) {
        free(copy);
        return haul_fail_no_memory(error);
    }
    self->names[self->count++] = copy;
    return HAUL_OK;
}

/* Adds the machines of a folder, by their files' names; one that is not there has none. */
static haul_status list_folder(name_list *self, const char *path, haul_error *error)
{
    DIR *folder = opendir(path);
    if (!folder)
        return HAUL_OK;
    haul_status status = HAUL_OK;
    const struct dirent *entry;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    while (!status && (entry = readdir(folder))) {
        char name[sizeof entry->d_name];
        const size_t length = strlen(entry->d_name);
        if (length <= SUFFIX || strcmp(entry->d_name + length - SUFFIX, suffix) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - SUFFIX), entry->d_name);
        if (haul_machine_name_ok(name))
            status = add_name(self, name, error);
    }
    (void)closedir(folder);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts, and keeps each name once. */
static void settle(name_list *self)
{
    size_t kept = 0;
    if (self->count)
        qsort(self->names, self->count, sizeof *self->names, compare_names);
    for (size_t i = 0; i < self->count; i++) {
        if (kept && !strcmp(self->names[kept - 1], self->names[i]))
            free(self->names[i]);
        else
            self->names[kept++] = self->names[i];
    }
    self->count = kept;
}

haul_status haul_catalogue_list(char ***names, size_t *count, haul_error *error)
{
    folders where = {0};
    name_list list = {0};
    haul_status status = find_folders(&where, error);
    for (size_t i = 0; !status && i < where.count; i++)
        status = list_folder(&list, where.paths[i], error);
    for (const haul_embedded *inside = haul_embedded_machines; !status && inside->name; inside++)
        status = add_name(&list, inside->name, error);
    release_folders(&where);
    settle(&list);
    if (status) {
        haul_names_free(list.names, list.count);
        return status;
    }
    *names = list.names;
    *count = list.count;
    return HAUL_OK;
}

void haul_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static haul_status load_file(const char *path, haul_machine **machine, haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    haul_status status = haul_textfile_read(path, HAUL_YAML_BYTES, &text, &size, error);
    if (status)
        return status;
    status = haul_machine_parse(text, size, path, machine, error);
    free(text);
    return status;
}

static haul_status fail_unknown(const char *name, haul_error *error)
{
    char near[256] = "";
    size_t used = 0;
    char **names = NULL;
    size_t count = 0;
    const haul_status status = haul_catalogue_list(&names, &count, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (!haul_is_near(name, names[i]) || used >= sizeof near)
            continue;
        const int added =
            snprintf(near + used, sizeof near - used, "%s%s", used ? ", " : "", names[i]);
        used += added > 0 ? (size_t)added : 0;
    }
    haul_names_free(names, count);
    if (used)
        return haul_fail(error, HAUL_BAD_INPUT, "no machine '%.80s' in the catalogue; near it: %s",
                         name, near);
    return haul_fail(error, HAUL_BAD_INPUT,
                     "no machine '%.80s' in the catalogue; a file has '/' or \".yaml\" in its name",
                     name);
}

/* The file of the catalogue for a name, in the arena; NULL where there is none. */
static const char *find_file(folders *where, const char *name)
{
    for (size_t i = 0; i < where->count; i++) {
        const char *path =
            haul_arena_format(&where->arena, "%s/%s%s", where->paths[i], name, suffix);
        struct stat info;
        if (path && !stat(path, &info))
            return path;
    }
    return NULL;
}

static haul_status check_file_name(const char *name, const char *path, haul_machine *machine,
                                   haul_error *error)
{
    if (!strcmp(machine->name, name))
        return HAUL_OK;
    haul_fail(error, HAUL_BAD_INPUT, "expected the file's name, '%s', as the machine's, not '%s'",
              name, machine->name);
    haul_error_in_file(error, path);
    return HAUL_BAD_INPUT;
}

static haul_status load_inside(const char *name, haul_machine **machine, haul_error *error)
{
    const haul_embedded *inside = haul_embedded_machines;
    while (inside->name && strcmp(inside->name, name) != 0)
        inside++;
    if (!inside->name)
        return fail_unknown(name, error);
    return haul_machine_parse(inside->yaml, inside->size, name, machine, error);
}

static haul_status load_named(const char *name, haul_machine **machine, haul_error *error)
{
    if (!haul_machine_name_ok(name))
        return fail_unknown(name, error);
    folders where = {0};
    haul_machine *found = NULL;
    haul_status status = find_folders(&where, error);
    const char *path = status ? NULL : find_file(&where, name);
    if (!status)
        status = path ? load_file(path, &found, error) : load_inside(name, &found, error);
    if (found)
        status = check_file_name(name, path, found, error);
    release_folders(&where);
    if (status) {
        haul_machine_free(found);
        return status;
    }
    *machine = found;
    return HAUL_OK;
}

haul_status haul_machine_load(const char *name, haul_machine **machine, haul_error *error)
{
    const size_t length = strlen(name);
    const bool is_path =
        strchr(name, '/') || (length >= SUFFIX && !strcmp(name + length - SUFFIX, suffix));
    return is_path ? load_file(name, machine, error) : load_named(name, machine, error);
}
