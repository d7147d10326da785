/* A name is looked for in the folders first, then inside the program: a portable build may be given
 * further machines. */
#include "machine/catalogue.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "machine/machine_fields.h"
#include "machine/yaml_tree.h"

enum { NAME_BYTES = 128 };

static haul_status list_names(const hl_machine_catalogue *catalogue, hl_base_name_list *list,
                              haul_error *error)
{
    hl_base_folders where = {0};
    haul_status status = hl_base_folders_find(&catalogue->folders, &where, error);
    if (!status)
        status = hl_base_folders_list(&where, catalogue->is_name, list, error);
    for (const hl_machine_embedded *inside = catalogue->embedded; !status && inside->name; inside++)
        status = hl_base_name_list_add(list, inside->name, error);
    hl_base_folders_release(&where);
    hl_base_name_list_settle(list);
    /* Also after a failure, so that the caller releases a list in one state alone. */
    return status;
}

haul_status hl_machine_catalogue_names(const hl_machine_catalogue *catalogue, char ***names,
                                       size_t *count, haul_error *error)
{
    hl_base_name_list list = {0};
    const haul_status status = list_names(catalogue, &list, error);
    return hl_base_name_list_hand_over(&list, status, names, count);
}

static haul_status fail_unknown(const hl_machine_catalogue *catalogue, const char *name,
                                haul_error *error)
{
    char near[256];
    hl_base_name_list list = {0};
    /* The folders are read again for the message only: the common case never lists them. */
    haul_status status = list_names(catalogue, &list, error);
    if (!status && *hl_base_name_list_near(&list, name, near, sizeof near))
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                "no %s '%.80s' in the catalogue; did you mean %s?", catalogue->what,
                                name, near);
    else if (!status)
        status = haul_error_set(
            error, HAUL_STATUS_BAD_INPUT,
            "no %s '%.80s' in the catalogue; a file has '/' or \".yaml\" in its name",
            catalogue->what, name);
    hl_base_name_list_release(&list);
    return status;
}

static haul_status load_file(const hl_machine_catalogue *catalogue, const char *path,
                             const char *name, void *document, haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    haul_status status = hl_base_textfile_read(path, HL_MACHINE_YAML_BYTES, &text, &size, error);
    if (!status)
        status = catalogue->parse(text, size, path, name, document, error);
    free(text);
    return status;
}

static haul_status load_named(const hl_machine_catalogue *catalogue, const char *name,
                              void *document, haul_error *error)
{
    hl_base_folders where = {0};
    const hl_machine_embedded *inside = catalogue->embedded;
    haul_status status = hl_base_folders_find(&catalogue->folders, &where, error);
    const char *path = status ? NULL : hl_base_folders_file(&where, name);
    if (!status && where.arena.failed)
        status = hl_base_fail_no_memory(error);
    /* The copy inside the program is for a build that was moved without its folders, so it comes
     * last. */
    while (inside->name && strcmp(inside->name, name) != 0)
        inside++;
    if (!status && path)
        status = load_file(catalogue, path, name, document, error);
    else if (!status && inside->name)
        status = catalogue->parse(inside->yaml, inside->size, name, name, document, error);
    else if (!status)
        status = fail_unknown(catalogue, name, error);
    hl_base_folders_release(&where);
    return status;
}

haul_status hl_machine_catalogue_load(const hl_machine_catalogue *catalogue, const char *name,
                                      void *document, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    if (hl_base_folders_is_path(name))
        return load_file(catalogue, name, NULL, document, error);
    /* A name as other tools write it still finds its machine; one that is valid as it is stays. */
    char lower[NAME_BYTES]; /* "H100_PCIE5" */
    size_t length = 0;
    for (; name[length] && length + 1 < sizeof lower; length++)
        lower[length] = (char)(name[length] == '_' ? '-' : tolower((unsigned char)name[length]));
    lower[length] = '\0';
    if (!name[length] && !catalogue->is_name(name) && catalogue->is_name(lower))
        name = lower;
    return catalogue->is_name(name) ? load_named(catalogue, name, document, error)
                                    : fail_unknown(catalogue, name, error);
}

void haul_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* --- machines */

static haul_status parse_machine(const char *yaml, size_t size, const char *file, const char *name,
                                 void *document, haul_error *error)
{
    haul_machine *machine = NULL;
    haul_status status = haul_machine_parse(yaml, size, file, &machine, error);
    /* In the folders the file's name is what users ask for: a copy with an old name in it would be
     * reported under a machine that nobody asked for. A path given by hand may have any name. */
    if (!status && name && strcmp(machine->name, name) != 0) {
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                "expected the file's name, '%s', as the machine's, not '%s'", name,
                                machine->name);
        hl_base_error_in_file(error, file);
    }
    /* Nothing is handed out on failure, so the document that was parsed is freed here. */
    if (status)
        haul_machine_free(machine);
    else
        *(haul_machine **)document = machine;
    return status;
}

static const hl_machine_catalogue machines = {
    .what = "machine",
    .folders = {.kind = "machines",
                .variable = "HAUL_MACHINES",
                .source = HAUL_MACHINES_SOURCE,
                .installed = HAUL_MACHINES_INSTALLED},
    .embedded = hl_machine_embedded_machines,
    .is_name = hl_machine_name_ok,
    .parse = parse_machine,
};

haul_status haul_catalogue_list(char ***names, size_t *count, haul_error *error)
{
    return hl_machine_catalogue_names(&machines, names, count, error);
}

haul_status haul_machine_load(const char *name, haul_machine **machine, haul_error *error)
{
    return hl_machine_catalogue_load(&machines, name, machine, error);
}
