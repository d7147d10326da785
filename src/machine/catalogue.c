/* Machines by name: folders of YAML files. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/folders.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "haul/machine.h"
#include "machine/embedded.h"
#include "machine/machine_fields.h"
#include "machine/yaml_tree.h"

static const haul_folders_of machines = {.kind = "machines",
                                         .variable = "HAUL_MACHINES",
                                         .source = HAUL_MACHINES_SOURCE,
                                         .installed = HAUL_MACHINES_INSTALLED};

static haul_status list_machines(haul_name_list *list, haul_error *error)
{
    haul_folders where = {0};
    haul_status status = haul_folders_find(&machines, &where, error);
    if (!status)
        status = haul_folders_list(&where, haul_machine_name_ok, list, error);
    for (const haul_embedded *inside = haul_embedded_machines; !status && inside->name; inside++)
        status = haul_name_list_add(list, inside->name, error);
    haul_folders_release(&where);
    haul_name_list_settle(list);
    return status;
}

haul_status haul_catalogue_list(char ***names, size_t *count, haul_error *error)
{
    haul_name_list list = {0};
    const haul_status status = list_machines(&list, error);
    if (status) {
        haul_name_list_release(&list);
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
    char near[256];
    haul_name_list list = {0};
    haul_status status = list_machines(&list, error);
    if (!status && *haul_name_list_near(&list, name, near, sizeof near))
        status = haul_fail(error, HAUL_BAD_INPUT,
                           "no machine '%.80s' in the catalogue; near it: %s", name, near);
    else if (!status)
        status = haul_fail(
            error, HAUL_BAD_INPUT,
            "no machine '%.80s' in the catalogue; a file has '/' or \".yaml\" in its name", name);
    haul_name_list_release(&list);
    return status;
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
    haul_folders where = {0};
    haul_machine *found = NULL;
    haul_status status = haul_folders_find(&machines, &where, error);
    const char *path = status ? NULL : haul_folders_file(&where, name);
    if (!status)
        status = path ? load_file(path, &found, error) : load_inside(name, &found, error);
    if (found)
        status = check_file_name(name, path, found, error);
    haul_folders_release(&where);
    if (status) {
        haul_machine_free(found);
        return status;
    }
    *machine = found;
    return HAUL_OK;
}

haul_status haul_machine_load(const char *name, haul_machine **machine, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    return haul_folders_is_path(name) ? load_file(name, machine, error)
                                      : load_named(name, machine, error);
}
