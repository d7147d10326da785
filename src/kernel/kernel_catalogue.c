/* Kernels by name: folders of YAML files. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/folders.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "haul/kernel_file.h"
#include "machine/embedded.h"
#include "machine/yaml_tree.h"

static const haul_folders_of kernels = {.kind = "kernels",
                                        .variable = "HAUL_KERNELS",
                                        .source = HAUL_KERNELS_SOURCE,
                                        .installed = HAUL_KERNELS_INSTALLED};

static bool is_name(const char *name)
{
    return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static haul_status list_kernels(haul_name_list *list, haul_error *error)
{
    haul_folders where = {0};
    haul_status status = haul_folders_find(&kernels, &where, error);
    if (!status)
        status = haul_folders_list(&where, is_name, list, error);
    for (const haul_embedded *inside = haul_embedded_kernels; !status && inside->name; inside++)
        status = haul_name_list_add(list, inside->name, error);
    haul_folders_release(&where);
    haul_name_list_settle(list);
    return status;
}

haul_status haul_kernel_file_list(char ***names, size_t *count, haul_error *error)
{
    haul_name_list list = {0};
    const haul_status status = list_kernels(&list, error);
    if (status) {
        haul_name_list_release(&list);
        return status;
    }
    *names = list.names;
    *count = list.count;
    return HAUL_OK;
}

static haul_status fail_unknown(const char *name, haul_error *error)
{
    char near[256];
    haul_name_list list = {0};
    haul_status status = list_kernels(&list, error);
    if (!status && *haul_name_list_near(&list, name, near, sizeof near))
        status = haul_fail(error, HAUL_BAD_INPUT, "no kernel '%.80s'; near it: %s", name, near);
    else if (!status)
        status = haul_fail(error, HAUL_BAD_INPUT,
                           "no kernel '%.80s'; a file has '/' or \".yaml\" in its name", name);
    haul_name_list_release(&list);
    return status;
}

static haul_status load_path(const char *path, haul_kernel_file **kernel, haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    haul_status status = haul_textfile_read(path, HAUL_YAML_BYTES, &text, &size, error);
    if (status)
        return status;
    status = haul_kernel_file_parse(text, size, path, kernel, error);
    free(text);
    return status;
}

static haul_status load_named(const char *name, haul_kernel_file **kernel, haul_error *error)
{
    haul_folders where = {0};
    haul_status status = is_name(name) ? haul_folders_find(&kernels, &where, error) : HAUL_OK;
    const char *path = status ? NULL : haul_folders_file(&where, name);
    const haul_embedded *inside = haul_embedded_kernels;
    while (inside->name && strcmp(inside->name, name) != 0)
        inside++;
    if (!status && path)
        status = load_path(path, kernel, error);
    else if (!status && inside->name)
        status = haul_kernel_file_parse(inside->yaml, inside->size, name, kernel, error);
    else if (!status)
        status = fail_unknown(name, error);
    haul_folders_release(&where);
    return status;
}

haul_status haul_kernel_file_load(const char *name, haul_kernel_file **kernel, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    return haul_folders_is_path(name) ? load_path(name, kernel, error)
                                      : load_named(name, kernel, error);
}
