/* Kinds of work that kernels do, told by their names: the bound of a kernel on another GPU follows
 * from its kind.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_KERNEL_CLASS_H
#define HAUL_KERNEL_CLASS_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/machine.h"

HAUL_BEGIN

/* name in reports.
 * STREAMING: elementwise, copies, transposes, gathers; each byte of memory once or nearly so.
 * ROWS: reductions, normalisations, softmax: rows that are read more than once, from caches where
 * these hold them. COLLECTIVE: communication, which is not predicted with the kernels. */
#define HAUL_KERNEL_CLASS_LIST(X)                                                                  \
    X(UNKNOWN, "unknown")                                                                          \
    X(PRODUCT, "product")                                                                          \
    X(CONVOLUTION, "convolution")                                                                  \
    X(ATTENTION, "attention")                                                                      \
    X(STREAMING, "streaming")                                                                      \
    X(ROWS, "rows")                                                                                \
    X(LATENCY, "latency bound")                                                                    \
    X(COLLECTIVE, "collective")

typedef enum haul_kernel_class {
#define HAUL_KERNEL_CLASS_ENUM(name, text) HAUL_KERNEL_CLASS_##name,
    HAUL_KERNEL_CLASS_LIST(HAUL_KERNEL_CLASS_ENUM)
#undef HAUL_KERNEL_CLASS_ENUM
        HAUL_KERNEL_CLASSES
} haul_kernel_class;

HAUL_API const char *haul_kernel_class_text(haul_kernel_class kind);
HAUL_API const char *haul_precision_text(haul_precision precision);

/* A row of a table of names. A pattern is parts of a name, in order, with a '*' between them for
 * anything; it matches anywhere in a name, in the case that is written. The first row that matches
 * tells the class. */
typedef struct haul_kernel_class_row {
    const char *pattern;
    haul_kernel_class kind;
    haul_precision precision; /* NONE: other parts of the name tell it */
    const char *source;       /* where names of this form are documented or defined */
    const char *example;      /* a name that this row is the first to match */
} haul_kernel_class_row;

/* haul's own table, kernels/classes.csv as it was when haul was built. */
HAUL_API const haul_kernel_class_row *haul_kernel_class_rows(size_t *count);

/* A user's table, which is asked before haul's own. */
typedef struct haul_kernel_classes haul_kernel_classes;

/* Reads a table from CSV, with the columns `pattern` and `class` and, where it has them,
 * `precision` and `source`. Returns BAD_INPUT with line and column for a class or a precision that
 * there is not, or a pattern without a letter. On success the caller owns *classes. */
HAUL_API haul_status haul_kernel_classes_load(const char *path, haul_kernel_classes **classes,
                                              haul_error *error);

/* The same from `size` bytes in memory, which stay the caller's; `file` names them in errors. */
HAUL_API haul_status haul_kernel_classes_parse(const char *text, size_t size, const char *file,
                                               haul_kernel_classes **classes, haul_error *error);
HAUL_API void haul_kernel_classes_free(haul_kernel_classes *classes);

/* A kernel's class and why. Strings are the tables'. */
typedef struct haul_kernel_kind {
    haul_kernel_class kind;
    haul_precision precision;
    const char *pattern;           /* that matched; NULL: none did */
    const char *source;            /* its row's */
    const char *precision_pattern; /* the part of the name that told the precision, or NULL */
    bool is_users;                 /* the row is of the user's table */
    unsigned char reads;           /* ROWS: how often it reads a row; 0: not told */
    unsigned char most_reads;      /* by the kernel that another GPU or version may run in place */
    bool is_scattered;  /* STREAMING: data tell the addresses, as of a gather or a sort */
    unsigned tile[2];   /* of the result, that a block computes, as names of matrix
                         * products tell it ("128x64"); 0: not told */
    bool has_few_tiles; /* of a library with few kernels for an architecture ("ampere_sgemm_") */
} haul_kernel_kind;

/* Tells a kernel's class by its name, in time linear in the name's length; `own` may be NULL. */
HAUL_API haul_kernel_kind haul_kernel_kind_of(const char *name, const haul_kernel_classes *own);

HAUL_END

#endif
