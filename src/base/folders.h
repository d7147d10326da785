/* Files that haul comes with, by name: NAME.yaml in one of a few folders. */
#ifndef HAUL_BASE_FOLDERS_H
#define HAUL_BASE_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "haul/status.h"

/* The folders in the order in which a file is looked for. */
typedef struct hl_base_folders {
    hl_base_arena arena;
    const char **paths;
    size_t count;
    size_t capacity;
} hl_base_folders;

/* Where the files of one kind are: `kind` is "machines". "" for no folder of the source tree or the
 * installation. */
typedef struct hl_base_folders_of {
    const char *kind;
    const char *variable; /* of the environment: folders separated by ':', looked in first */
    const char *source;
    const char *installed;
} hl_base_folders_of;

/* Fills an empty `folders`: those of the environment, share/haul/KIND beside the program's own
 * folder, wherever it was moved to, those of the source tree and the installation. Release with
 * hl_base_folders_release, whatever is returned. */
haul_status hl_base_folders_find(const hl_base_folders_of *of, hl_base_folders *folders,
                                 haul_error *error);
void hl_base_folders_release(hl_base_folders *folders);

/* The path of NAME.yaml in the first folder that has it, in the arena; NULL where none has. */
const char *hl_base_folders_file(hl_base_folders *folders, const char *name);

/* Names, owned by the list. */
typedef struct hl_base_name_list {
    char **names;
    size_t count;
    size_t capacity;
} hl_base_name_list;

haul_status hl_base_name_list_add(hl_base_name_list *list, const char *name, haul_error *error);

/* Sorts, and keeps each name once. */
void hl_base_name_list_settle(hl_base_name_list *list);
void hl_base_name_list_release(hl_base_name_list *list);

/* Ends the making of a list: hands the names to the caller, who frees each and the array, or, where
 * `status` is a failure, releases the list and leaves the outputs alone. Returns `status`. */
haul_status hl_base_name_list_hand_over(hl_base_name_list *list, haul_status status, char ***names,
                                        size_t *count);

/* The names that may be meant by `name`, "a, b", in `buffer`; "" for none: the nearest, with those
 * as near as it, or all that hold `name`. Returns `buffer`. */
const char *hl_base_name_list_near(const hl_base_name_list *list, const char *name, char *buffer,
                                   size_t size);

/* Adds the names of the files NAME.yaml in all folders for which `is_name` holds. */
haul_status hl_base_folders_list(const hl_base_folders *folders, bool (*is_name)(const char *name),
                                 hl_base_name_list *list, haul_error *error);

/* Whether text names a file, not a file's name in the folders: it has a '/' or ends in ".yaml". */
bool hl_base_folders_is_path(const char *text);

#endif
