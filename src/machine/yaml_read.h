/* Shared by the readers of YAML documents (machines, kernels, schedules): finding and checking
 * keys, and errors that name the place. */
#ifndef HAUL_MACHINE_YAML_READ_H
#define HAUL_MACHINE_YAML_READ_H

#include <stdio.h>

#include "machine/yaml_tree.h"

/* A document that is being read. */
typedef struct hl_machine_yaml {
    const char *file;     /* for errors */
    hl_base_arena *arena; /* of its nodes and what is made of them */
    haul_error *error;
} hl_machine_yaml;

/* Fills the error with a text and the place of a node, and returns BAD_INPUT. */
haul_status hl_machine_node_fail(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *format, ...) HAUL_PRINTF(3, 4);

/* "expected EXPECTED for 'KEY', not ...", with what the node is. */
haul_status hl_machine_node_fail_expected(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                          const char *expected, const char *key);

/* The value of a key of a mapping, or NULL. */
const hl_machine_node *hl_machine_node_child(const hl_machine_node *mapping, const char *key);

/* How many children a list or mapping has. */
size_t hl_machine_node_count(const hl_machine_node *parent);

/* Checks that `node` is a mapping of keys that are all `known`, at most 64, each there once.
 * `children`, unless NULL, gets the value of each known key, or NULL. `what` names the mapping. */
haul_status hl_machine_node_keys(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *what, const char *const *known, size_t count,
                                 const hl_machine_node **children);

/* Writes a text that hl_machine_node_line reads back; bytes that it refuses become '?'. In
 * machine_write.c. */
void hl_machine_yaml_text_write(const char *text, FILE *out);

/* One line of text without control characters and blanks at its end, in the arena. */
haul_status hl_machine_node_line(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *key, const char **out);

/* That a format's version, the value of `key`, is 1. */
haul_status hl_machine_node_version(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                    const char *key);

/* The index of a scalar among `words` (NULL for an index that is none), in any case. */
haul_status hl_machine_node_word(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *key, const char *const *words, int count, int *out);

#endif
