/* A machine with the storage of all that it points to. */
#ifndef HAUL_MACHINE_OWN_H
#define HAUL_MACHINE_OWN_H

#include "base/arena.h"
#include "haul/machine.h"

typedef struct haul_owned_machine {
    haul_machine machine; /* first: haul_machine_free takes its address */
    haul_arena arena;
} haul_owned_machine;

/* An empty machine, or NULL; haul_machine_free(&owned->machine) frees it. */
haul_owned_machine *haul_owned_machine_new(void);

#endif
