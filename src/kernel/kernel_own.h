/* A kernel file with the storage of all that it points to, and what its readers share. */
#ifndef HAUL_KERNEL_OWN_H
#define HAUL_KERNEL_OWN_H

#include "base/arena.h"
#include "base/expression.h"
#include "haul/kernel_file.h"
#include "machine/yaml_read.h"

enum { HL_KERNEL_COUNT_ROWS = 13, HL_KERNEL_CONSTANTS_MOST = 32 };

/* A count that a file may give, in the order of the document. */
typedef struct hl_kernel_count_row {
    const char *key;
    size_t at; /* in haul_kernel_counts */
    bool is_needed;
    double least;
    double most;
} hl_kernel_count_row;

extern const hl_kernel_count_row hl_kernel_count_rows[HL_KERNEL_COUNT_ROWS];

/* The place of a count. */
static inline double *hl_kernel_count_of(haul_kernel_counts *counts, int row)
{
    return (double *)(void *)((char *)counts + hl_kernel_count_rows[row].at);
}

typedef struct hl_kernel_owned_kernel {
    haul_kernel_file kernel; /* first: haul_kernel_file_free takes its address */
    hl_base_arena arena;
    const char *file;
    const char *yaml;   /* as it was read */
    size_t yaml_length; /* without what was measured, where that is the last in it */
    bool is_extensible;
    hl_base_place range; /* where the size's range is */
    hl_base_place places[HL_KERNEL_COUNT_ROWS];
    const hl_base_expression *counts[HL_KERNEL_COUNT_ROWS];
    haul_kernel_sample *samples;
    bool is_counted; /* the measured sizes have counts of their own */
} hl_kernel_owned_kernel;

static inline const hl_kernel_owned_kernel *hl_kernel_owned(const haul_kernel_file *kernel)
{
    return (const hl_kernel_owned_kernel *)(const void *)kernel;
}

typedef struct hl_kernel_reader {
    hl_kernel_owned_kernel *made;
    const hl_machine_node *root;
    hl_base_symbol symbols[HL_KERNEL_CONSTANTS_MOST + 1]; /* the variable, then the constants */
    size_t symbol_count;
    hl_machine_yaml yaml;
} hl_kernel_reader;

/* Where the text of a value is. */
static inline hl_base_place hl_kernel_place(const hl_kernel_reader *self,
                                            const hl_machine_node *node)
{
    return (hl_base_place){
        .file = self->made->file, .line = node->line, .column = node->text_column};
}

/* --- in kernel_yaml.c */

/* The value of an expression without the variable. */
haul_status hl_kernel_read_constant(const hl_kernel_reader *self, const hl_machine_node *node,
                                    const char *key, double *out);

/* --- in kernel_measured.c */

/* Reads the section `measured`, where there is one. */
haul_status hl_kernel_read_measured(hl_kernel_reader *self, const hl_machine_node *node);

/* Counts between measured sizes, where those have them: a power of the size from one to the next,
 * and on beyond the first and the last two. */
haul_status hl_kernel_measured_at(const hl_kernel_owned_kernel *self, double n,
                                  haul_kernel_counts *out, haul_error *error);

#endif
