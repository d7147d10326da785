/* A YAML document as a tree whose nodes know their place in the file. Only what plain data needs:
 * one document, no anchors, no tags, keys that are words. */
#ifndef HAUL_MACHINE_YAML_TREE_H
#define HAUL_MACHINE_YAML_TREE_H

#include <stddef.h>

#include "base/arena.h"
#include "haul/status.h"

enum { HL_MACHINE_YAML_BYTES = 256 * 1024, HL_MACHINE_YAML_DEPTH = 8 };

typedef enum hl_machine_node_kind {
    HL_MACHINE_NODE_SCALAR,
    HL_MACHINE_NODE_LIST,
    HL_MACHINE_NODE_MAPPING
} hl_machine_node_kind;

/* In a mapping, each child is a value and `key` the scalar that names it. */
typedef struct hl_machine_node {
    hl_machine_node_kind kind;
    int line;
    int column;
    const char *text; /* SCALAR: without a NUL inside */
    int text_column;  /* of its first character; 0 where the file has it in another form */
    const struct hl_machine_node *key;
    struct hl_machine_node *first;
    struct hl_machine_node *next;
} hl_machine_node;

/* Reads `size` bytes of UTF-8; `file` names them in errors. The nodes live in `arena`. Returns
 * BAD_INPUT with line and column. */
haul_status hl_machine_yaml_read(const char *yaml, size_t size, const char *file,
                                 hl_base_arena *arena, const hl_machine_node **root,
                                 haul_error *error);

#endif
