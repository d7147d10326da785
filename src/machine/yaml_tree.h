/* A YAML document as a tree whose nodes know their place in the file. Only what plain data needs:
 * one document, no anchors, no tags, keys that are words. */
#ifndef HAUL_MACHINE_YAML_TREE_H
#define HAUL_MACHINE_YAML_TREE_H

#include <stddef.h>

#include "base/arena.h"
#include "haul/status.h"

enum { HAUL_YAML_BYTES = 256 * 1024, HAUL_YAML_DEPTH = 8 };

typedef enum haul_node_kind { HAUL_NODE_SCALAR, HAUL_NODE_LIST, HAUL_NODE_MAPPING } haul_node_kind;

/* In a mapping, each child is a value and `key` the scalar that names it. */
typedef struct haul_node {
    haul_node_kind kind;
    int line;
    int column;
    const char *text; /* SCALAR: without a NUL inside */
    int text_column;  /* of its first character; 0 where the file has it in another form */
    const struct haul_node *key;
    struct haul_node *first;
    struct haul_node *next;
} haul_node;

/* Reads `size` bytes of UTF-8; `file` names them in errors. The nodes live in `arena`. Returns
 * BAD_INPUT with line and column. */
haul_status haul_yaml_read(const char *yaml, size_t size, const char *file, haul_arena *arena,
                           const haul_node **root, haul_error *error);

#endif
