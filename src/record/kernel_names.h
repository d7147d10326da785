/* The names of kernels in a profile, readable ones where the program has a C++ runtime. */
#ifndef HAUL_RECORD_KERNEL_NAMES_H
#define HAUL_RECORD_KERNEL_NAMES_H

#include "record/profile_writer.h"

enum { HL_RECORD_KERNEL_NAMES = 1024 };

/* Numbers of hl_record_profile_name. */
typedef struct hl_record_kernel_name {
    uint32_t whole; /* "void ns::scale<float>(float*, int)" */
    uint32_t base;  /* "scale" */
} hl_record_kernel_name;

/* The names met last. Begin with zero. */
typedef struct hl_record_kernel_names {
    struct {
        char *mangled;
        hl_record_kernel_name name;
    } slots[HL_RECORD_KERNEL_NAMES];
    char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
    bool looked; /* for `demangle` */
} hl_record_kernel_names;

hl_record_kernel_name hl_record_kernel_names_find(hl_record_kernel_names *self,
                                                  hl_record_profile_writer *writer,
                                                  const char *mangled);
void hl_record_kernel_names_release(hl_record_kernel_names *self);

/* Writes a function's own name, without its namespace, template's arguments, result and
 * parameters, into `base` and returns that. */
char *hl_record_kernel_base_name(const char *name, char *base, size_t size);

#endif
