/* Machines and kernels inside the program, for the portable build: files that are written when it
 * is configured. Other builds have none. */
#ifndef HAUL_MACHINE_EMBEDDED_H
#define HAUL_MACHINE_EMBEDDED_H

#include <stddef.h>

typedef struct hl_machine_embedded {
    const char *name;
    const char *yaml;
    size_t size;
} hl_machine_embedded;

/* Each ends with a row without a name. */
extern const hl_machine_embedded hl_machine_embedded_machines[];
extern const hl_machine_embedded hl_machine_embedded_kernels[];

#endif
