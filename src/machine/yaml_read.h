/* What readers of YAML documents (machines, kernels, schedules) share: finding and checking keys,
 * and errors that name the place. */
#ifndef HAUL_MACHINE_YAML_READ_H
#define HAUL_MACHINE_YAML_READ_H

#include <stdio.h>

#include "machine/yaml_tree.h"

/* A document that is being read. */
typedef struct haul_yaml {
    const char *file;  /* for errors */
    haul_arena *arena; /* of its nodes and what is made of them */
    haul_error *error;
} haul_yaml;

/* Fills the error with a text and the place of a node, and returns BAD_INPUT. */
haul_status haul_node_fail(const haul_yaml *yaml, const haul_node *node, const char *format, ...)
    HAUL_PRINTF(3, 4);

/* "expected EXPECTED for 'KEY', not ...", with what the node is. */
haul_status haul_node_fail_expected(const haul_yaml *yaml, const haul_node *node,
                                    const char *expected, const char *key);

/* The value of a key of a mapping, or NULL. */
const haul_node *haul_node_child(const haul_node *mapping, const char *key);

/* How many children a list or mapping has. */
size_t haul_node_count(const haul_node *parent);

/* Checks that `node` is a mapping of keys that are all `known`, at most 64, each there once.
 * `children`, unless NULL, gets the value of each known key, or NULL. `what` names the mapping. */
haul_status haul_node_keys(const haul_yaml *yaml, const haul_node *node, const char *what,
                           const char *const *known, size_t count, const haul_node **children);

/* Writes a text that haul_node_line reads back; bytes that it refuses become '?'. In
 * machine_write.c. */
void haul_yaml_text_write(const char *text, FILE *out);

/* One line of text without control characters and blanks at its end, in the arena. */
haul_status haul_node_line(const haul_yaml *yaml, const haul_node *node, const char *key,
                           const char **out);

/* That a format's version, the value of `key`, is 1. */
haul_status haul_node_version(const haul_yaml *yaml, const haul_node *node, const char *key);

/* The index of a scalar among `words` (NULL for an index that is none), in any case. */
haul_status haul_node_word(const haul_yaml *yaml, const haul_node *node, const char *key,
                           const char *const *words, int count, int *out);

#endif
