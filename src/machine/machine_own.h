/* A machine with the storage of all that it points to. */
#ifndef HAUL_MACHINE_OWN_H
#define HAUL_MACHINE_OWN_H

#include "base/arena.h"
#include "haul/machine.h"

typedef struct hl_machine_owned_machine {
    haul_machine machine; /* first: haul_machine_free takes its address */
    hl_base_arena arena;
} hl_machine_owned_machine;

/* An empty machine, or NULL; haul_machine_free(&owned->machine) frees it. */
hl_machine_owned_machine *hl_machine_owned_machine_new(void);

#endif
