/* The names of kernels in a profile, readable ones where the program has a C++ runtime. */
#ifndef HAUL_RECORD_KERNEL_NAMES_H
#define HAUL_RECORD_KERNEL_NAMES_H

#include "record/profile_writer.h"

enum { HAUL_KERNEL_NAMES = 1024 };

/* Numbers of haul_profile_name. */
typedef struct haul_kernel_name {
    uint32_t whole; /* "void ns::scale<float>(float*, int)" */
    uint32_t base;  /* "scale" */
} haul_kernel_name;

/* The names met last. Begin with zero. */
typedef struct haul_kernel_names {
    struct {
        char *mangled;
        haul_kernel_name name;
    } slots[HAUL_KERNEL_NAMES];
    char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
    bool looked; /* for `demangle` */
} haul_kernel_names;

haul_kernel_name haul_kernel_names_find(haul_kernel_names *self, haul_profile_writer *writer,
                                        const char *mangled);
void haul_kernel_names_release(haul_kernel_names *self);

/* Writes a function's own name, without its namespace, template's arguments, result and
 * parameters, into `base` and returns that. */
char *haul_kernel_base_name(const char *name, char *base, size_t size);

#endif
