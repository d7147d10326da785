/* Facts about GPUs by architecture: one table, read by kernel models and the timeline. */
#ifndef HAUL_MACHINE_ARCHITECTURES_H
#define HAUL_MACHINE_ARCHITECTURES_H

#include <stdint.h>

#include "haul/machine.h"

/* Limits of one multiprocessor (compute unit). 0: not known. */
typedef struct hl_machine_architecture {
    const char *name; /* as machine files have it: "ampere" */
    uint32_t major;   /* CUDA compute capability; 0: none */
    uint32_t minor;   /*  */
    unsigned cores;   /* single-precision lanes */
    unsigned wait;    /* cycles from an instruction to one that needs its result */
    unsigned grids;   /* kernels resident on the whole GPU */
    unsigned blocks;
    unsigned threads;
    unsigned registers; /* of 32 bits */
    unsigned shared_bytes;
    unsigned group_bytes; /* of these for one block */
    unsigned pcie;        /* the latest generation that its GPUs have */
    unsigned nvlink_GBps; /* of a link, one direction */
    unsigned nvlinks;     /* of a GPU, at most */
} hl_machine_architecture;

/* NULL where the table has no such capability. */
const hl_machine_architecture *hl_machine_architecture_of_capability(uint32_t major,
                                                                     uint32_t minor);

/* By a machine's architecture and the cores of a multiprocessor; where these do not tell
 * capabilities apart, or the machine does not give its cores, the one that holds fewest threads.
 * NULL for an architecture that the table does not have. */
const hl_machine_architecture *hl_machine_architecture_of(const haul_gpu *gpu);

/* Bytes a second that all multiprocessors read and write in shared memory: 32 banks of 4 bytes a
 * cycle, of 8 on Kepler (CUDA C Programming Guide, compute capabilities). 0 where the machine gives
 * no clock or no multiprocessors. */
double hl_machine_gpu_shared_rate(const haul_gpu *gpu);

/* "NVIDIA", "AMD" or "Intel"; NULL for an architecture that the table does not have. */
const char *hl_machine_gpu_maker(const haul_gpu *gpu);

/* Whether both machines name the same architecture; false where one names none. */
bool hl_machine_gpu_alike(const haul_gpu *a, const haul_gpu *b);

#endif
