/* A kernel file with the storage of all that it points to, and what its readers share. */
#ifndef HAUL_KERNEL_OWN_H
#define HAUL_KERNEL_OWN_H

#include "base/arena.h"
#include "base/expression.h"
#include "haul/kernel_file.h"
#include "machine/yaml_read.h"

enum { HAUL_COUNT_ROWS = 12, HAUL_CONSTANTS_MOST = 32 };

/* A count that a file may give, in the order of the document. */
typedef struct haul_count_row {
    const char *key;
    size_t at; /* in haul_kernel_counts */
    bool is_needed;
    double least;
    double most;
} haul_count_row;

extern const haul_count_row haul_count_rows[HAUL_COUNT_ROWS];

/* The place of a count. */
static inline double *haul_count_of(haul_kernel_counts *counts, int row)
{
    return (double *)(void *)((char *)counts + haul_count_rows[row].at);
}

typedef struct haul_owned_kernel {
    haul_kernel_file kernel; /* first: haul_kernel_file_free takes its address */
    haul_arena arena;
    const char *file;
    const char *yaml;   /* as it was read */
    size_t yaml_length; /* without what was measured, where that is the last in it */
    bool is_extensible;
    haul_place range; /* where the size's range is */
    haul_place places[HAUL_COUNT_ROWS];
    const haul_expression *counts[HAUL_COUNT_ROWS];
    haul_kernel_sample *samples;
    bool is_counted; /* the measured sizes have counts of their own */
} haul_owned_kernel;

static inline const haul_owned_kernel *haul_kernel_owned(const haul_kernel_file *kernel)
{
    return (const haul_owned_kernel *)(const void *)kernel;
}

typedef struct haul_kernel_reader {
    haul_owned_kernel *made;
    const haul_node *root;
    haul_symbol symbols[HAUL_CONSTANTS_MOST + 1]; /* the variable, then the constants */
    size_t symbol_count;
    haul_yaml yaml;
} haul_kernel_reader;

/* Where the text of a value is. */
static inline haul_place haul_kernel_place(const haul_kernel_reader *self, const haul_node *node)
{
    return (haul_place){.file = self->made->file, .line = node->line, .column = node->text_column};
}

/* --- in kernel_yaml.c */

/* The value of an expression without the variable. */
haul_status haul_kernel_read_constant(const haul_kernel_reader *self, const haul_node *node,
                                      const char *key, double *out);

/* --- in kernel_measured.c */

/* Reads the section `measured`, where there is one. */
haul_status haul_kernel_read_measured(haul_kernel_reader *self, const haul_node *node);

/* Counts between measured sizes, where those have them: a power of the size from one to the next,
 * and on beyond the first and the last two. */
haul_status haul_kernel_measured_at(const haul_owned_kernel *self, double n,
                                    haul_kernel_counts *out, haul_error *error);

#endif
