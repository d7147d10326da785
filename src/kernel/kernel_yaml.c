/* Shared by the readers of a kernel file. */
#include <stddef.h>

#include "kernel/kernel_own.h"

/* CUDA's limit on the threads of a block, since compute capability 2.0. */
enum { BLOCK_MOST = 1024 };

const hl_kernel_count_row hl_kernel_count_rows[HL_KERNEL_COUNT_ROWS] = {
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
    {"flops_fp64", offsetof(haul_kernel_counts, flops_fp64), false, 0, 1e27},
    {"bytes", offsetof(haul_kernel_counts, bytes), false, 0, 1e27},
    {"shared_bytes", offsetof(haul_kernel_counts, shared_bytes), false, 0, 1e9},
};

/* The value of an expression without the variable: a constant, or an end of the range. */
haul_status hl_kernel_read_constant(const hl_kernel_reader *self, const hl_machine_node *node,
                                    const char *key, double *out)
{
    if (node->kind != HL_MACHINE_NODE_SCALAR)
        return hl_machine_node_fail_expected(&self->yaml, node, "a number or an expression", key);
    /* the constants so far, without the variable */
    const hl_base_symbols known = {self->symbols + 1,
                                   self->symbol_count ? self->symbol_count - 1 : 0};
    const hl_base_expression *expression = NULL;
    HAUL_TRY(hl_base_expression_compile(node->text, hl_kernel_place(self, node), known,
                                        self->yaml.arena, &expression, self->yaml.error));
    return hl_base_expression_value(expression, NULL, out, self->yaml.error);
}
