/* What models of every kind share: shared objects that hold a user's, and the check of what any of
 * them answers. */
#ifndef HAUL_COST_OBJECT_H
#define HAUL_COST_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/cost.h"

/* What a model says of itself. */
typedef struct haul_object_label {
    unsigned abi;
    const char *name;
    const char *summary;
    bool has_time;
} haul_object_label;

/* A kind of model: its entry, the header that declares it, and what is told of one. */
typedef struct haul_object_kind {
    const char *entry;
    const char *header;
    unsigned abi;
    /* Calls the entry at `symbol`: the model, with its label; NULL where it gives none. */
    const void *(*ask)(void *symbol, haul_object_label *label);
    bool (*is_own)(const char *name); /* of haul itself */
} haul_object_kind;

/* True where a model's name means a file: it contains a '/' or ends in ".so". */
bool haul_object_is_meant(const char *name);

/* Loads the model in the object at `path` and checks what it says of itself. Returns BAD_INPUT with
 * the file and the reason. On success the caller closes *handle with haul_object_close. */
haul_status haul_object_load(const haul_object_kind *kind, const char *path, void **handle,
                             const void **model, haul_error *error);

/* Returns USAGE: there is no `what` of that name; the error lists those that there are. `name_at`
 * gives NULL past the last. */
haul_status haul_object_unknown(const char *what, const char *name,
                                const char *(*name_at)(size_t index), haul_error *error);

/* NULL is fine. */
void haul_object_close(void *handle);

/* Finite, not negative, low <= seconds <= high. */
bool haul_estimate_is_sound(const haul_estimate *estimate);

#endif
