/* Kernel files: what a kernel's threads do, as expressions in its size, so that a new kernel needs
 * no C. docs/kernels.md describes them.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_KERNEL_FILE_H
#define HAUL_KERNEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "haul/kernel.h"

HAUL_BEGIN

typedef struct haul_kernel_samples {
    const haul_kernel_sample *items;
    size_t count;
} haul_kernel_samples;

typedef struct haul_kernel_file {
    const char *name;
    const char *summary;
    const char *source; /* NULL where not said */
    const char *const *aliases;
    size_t alias_count;
    const char *variable; /* its size's name: "N" */
    const char *meaning;  /* of the size; NULL where not said */
    double from;          /* the sizes that it is for */
    double to;
    const char *machine;               /* that it was measured on; NULL: it was not */
    const haul_kernel_sample *samples; /* ascending in size */
    size_t sample_count;
} haul_kernel_file;

/* Reads a kernel from a YAML file, or, where `name` has no '/' and no ".yaml", from the kernels
 * that come with haul: NAME.yaml in the folders of the environment's HAUL_KERNELS (separated by
 * ':'), in ../share/haul/kernels beside the program's own folder, in kernels of the source tree and
 * of the installation. Returns BAD_INPUT with file, line, column and what was expected. On success
 * the caller owns *kernel; free with haul_kernel_file_free. */
HAUL_API haul_status haul_kernel_file_load(const char *name, haul_kernel_file **kernel,
                                           haul_error *error);

/* The same from `size` bytes of YAML in memory; `file` names them in errors. */
HAUL_API haul_status haul_kernel_file_parse(const char *yaml, size_t size, const char *file,
                                            haul_kernel_file **kernel, haul_error *error);
HAUL_API void haul_kernel_file_free(haul_kernel_file *kernel);

/* The names of the kernels in those folders, sorted; free with haul_names_free (haul/machine.h). */
HAUL_API haul_status haul_kernel_file_list(char ***names, size_t *count, haul_error *error);

/* Whether this is a kernel's name, its own or an alias, in any case. */
HAUL_API bool haul_kernel_file_is(const haul_kernel_file *kernel, const char *name);

/* Counts the kernel's work at size `n`. Returns BAD_INPUT, with the place in the file, where the
 * size is outside the kernel's range, or an expression divides by zero, overflows, is undefined, or
 * gives what cannot be (less than nothing, more hits than loads). */
HAUL_API haul_status haul_kernel_file_at(const haul_kernel_file *kernel, double n,
                                         haul_kernel_counts *out, haul_error *error);

/* Writes a kernel file with what was measured on a machine, which is named as it was given.
 * `kernel` NULL: the samples' counts take the place of expressions, between the sizes and to a
 * quarter and four times them. `name` is then the kernel's. What `kernel` had measured before is
 * left out. Returns BAD_INPUT where `kernel` is not written so that it can be added to, key by key
 * on lines of their own; IO. */
HAUL_API haul_status haul_kernel_file_write(const haul_kernel_file *kernel, const char *name,
                                            const char *machine, const haul_kernel_samples *samples,
                                            FILE *out, haul_error *error);

/* The expression of one count, as the file has it ("loads_global"); NULL where it has none. */
HAUL_API const char *haul_kernel_file_expression(const haul_kernel_file *kernel, const char *key);

HAUL_END

#endif
