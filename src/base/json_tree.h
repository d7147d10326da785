/* A JSON document as a tree, for files of moderate size, read through libyaml: JSON is flow YAML.
 * Each node knows its place. */
#ifndef HAUL_BASE_JSON_TREE_H
#define HAUL_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/status.h"

typedef struct haul_tree haul_tree;

/* A node; 0 is none, and what is asked of none is none. */
typedef int haul_tree_node;

/* Reads `size` bytes of JSON, an object or array, which it may change; `file` names them in errors
 * and must outlive the tree. Returns BAD_INPUT with line and column. Free with haul_tree_free. */
haul_status haul_tree_parse(char *text, size_t size, const char *file, haul_tree **tree,
                            haul_error *error);
void haul_tree_free(haul_tree *tree);

haul_tree_node haul_tree_root(const haul_tree *tree);

/* The value of a key of an object (the first of that name); the item of an array. */
haul_tree_node haul_tree_get(const haul_tree *tree, haul_tree_node object, const char *key);
haul_tree_node haul_tree_item(const haul_tree *tree, haul_tree_node array, size_t index);

/* How many items an array has; 0 for anything else. */
size_t haul_tree_count(const haul_tree *tree, haul_tree_node array);

/* The text of a string, number or word; NULL for anything else. */
const char *haul_tree_text(const haul_tree *tree, haul_tree_node node);

/* The value of a number, or of a string that holds one; false for anything else. Always finite. */
bool haul_tree_number(const haul_tree *tree, haul_tree_node node, double *value);

/* Adds a node's place to an error that has none yet. */
void haul_tree_locate(const haul_tree *tree, haul_tree_node node, haul_error *error);

#endif
