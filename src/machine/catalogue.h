/* Files that haul comes with, by name: NAME.yaml in one of a few folders, or inside the program. */
#ifndef HAUL_MACHINE_CATALOGUE_H
#define HAUL_MACHINE_CATALOGUE_H

#include "base/folders.h"
#include "machine/embedded.h"

typedef struct hl_machine_catalogue {
    const char *what; /* in errors: "machine" */
    hl_base_folders_of folders;
    const hl_machine_embedded *embedded;
    bool (*is_name)(const char *name);
    /* Makes a document of a file's text; `name` is the catalogue's name for it, NULL for a path. */
    haul_status (*parse)(const char *yaml, size_t size, const char *file, const char *name,
                         void *document, haul_error *error);
} hl_machine_catalogue;

/* The names, sorted, each once, as haul_catalogue_list (haul/machine.h) gives them. */
haul_status hl_machine_catalogue_names(const hl_machine_catalogue *catalogue, char ***names,
                                       size_t *count, haul_error *error);

/* Reads the document of a name or, where that has a '/' or ends in ".yaml", of a file. Returns
 * BAD_INPUT, with the names that may be meant, where there is none. */
haul_status hl_machine_catalogue_load(const hl_machine_catalogue *catalogue, const char *name,
                                      void *document, haul_error *error);

#endif
