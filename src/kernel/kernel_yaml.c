/* What the readers of a kernel file share. */
#include <stddef.h>
#include <string.h>

#include "base/nearest.h"
#include "kernel/kernel_own.h"

enum { BLOCK_MOST = 1024 };

const haul_count_row haul_count_rows[HAUL_COUNT_ROWS] = {
    {"threads", offsetof(haul_kernel_counts, threads), true, 1, 1e18},
    {"block", offsetof(haul_kernel_counts, block), true, 1, BLOCK_MOST},
    {"comp", offsetof(haul_kernel_counts, comp), true, 0, 1e18},
    {"loads_global", offsetof(haul_kernel_counts, loads_global), true, 0, 1e18},
    {"stores_global", offsetof(haul_kernel_counts, stores_global), true, 0, 1e18},
    {"loads_shared", offsetof(haul_kernel_counts, loads_shared), false, 0, 1e18},
    {"stores_shared", offsetof(haul_kernel_counts, stores_shared), false, 0, 1e18},
    {"l1_hits", offsetof(haul_kernel_counts, l1_hits), false, 0, 1e18},
    {"l2_hits", offsetof(haul_kernel_counts, l2_hits), false, 0, 1e18},
    {"flops", offsetof(haul_kernel_counts, flops), false, 0, 1e27},
    {"bytes", offsetof(haul_kernel_counts, bytes), false, 0, 1e27},
};

const haul_node *haul_kernel_child(const haul_node *mapping, const char *key)
{
    const haul_node *child = mapping->first;
    while (child && strcmp(child->key->text, key) != 0)
        child = child->next;
    return child;
}

haul_status haul_kernel_fail_expected(const haul_kernel_reader *self, const haul_node *node,
                                      const char *expected, const char *key)
{
    char found[96];
    return haul_node_fail(node, self->made->file, self->error, "expected %s for '%s', not %s",
                          expected, key, haul_node_describe(node, found, sizeof found));
}

/* Every key of a mapping is one of `known`, and there once. */
haul_status haul_kernel_check_keys(const haul_kernel_reader *self, const haul_node *mapping,
                                   const char *const *known, size_t count)
{
    const char *file = self->made->file;
    uint32_t seen = 0;
    for (const haul_node *child = mapping->first; child; child = child->next) {
        const haul_node *key = child->key;
        size_t at = 0;
        while (at < count && strcmp(known[at], key->text) != 0)
            at++;
        if (at == count) {
            const size_t near = haul_nearest(key->text, known, count);
            return near < count
                       ? haul_node_fail(key, file, self->error,
                                        "unknown key '%.80s'; did you mean '%s'?", key->text,
                                        known[near])
                       : haul_node_fail(key, file, self->error, "unknown key '%.80s'", key->text);
        }
        if (seen >> at & 1)
            return haul_node_fail(key, file, self->error, "'%s' is there twice; expected it once",
                                  known[at]);
        seen |= UINT32_C(1) << at;
    }
    return HAUL_OK;
}

/* One line of text, in the arena. */
haul_status haul_kernel_read_text(const haul_kernel_reader *self, const char *key, bool is_needed,
                                  const char **out)
{
    const haul_node *node = haul_kernel_child(self->root, key);
    if (!node && is_needed)
        return haul_node_fail(self->root, self->made->file, self->error, "'%s' is missing", key);
    if (!node)
        return HAUL_OK;
    if (node->kind != HAUL_NODE_SCALAR || !*node->text || strpbrk(node->text, "\n\r\t\x1b"))
        return haul_kernel_fail_expected(self, node, "one line of text", key);
    *out = node->text; /* the tree lives in the same arena */
    return HAUL_OK;
}

/* The value of an expression without the variable: a constant, or an end of the range. */
haul_status haul_kernel_read_constant(const haul_kernel_reader *self, const haul_node *node,
                                      const char *key, double *out)
{
    if (node->kind != HAUL_NODE_SCALAR)
        return haul_kernel_fail_expected(self, node, "a number or an expression", key);
    /* the constants so far, without the variable */
    const haul_symbols known = {self->symbols + 1, self->symbol_count ? self->symbol_count - 1 : 0};
    const haul_expression *expression = NULL;
    const haul_status status =
        haul_expression_compile(node->text, haul_kernel_place(self, node), known,
                                &self->made->arena, &expression, self->error);
    return status ? status : haul_expression_value(expression, NULL, out, self->error);
}
