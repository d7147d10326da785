/* Facts about GPUs that hold for all of an architecture, each with its source. */
#include "machine/architectures.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { KIB = 1024 };

/* Resident grids, blocks, threads, 32-bit registers and shared memory: CUDA C++ Programming Guide
 * 12.9, "Technical Specifications per Compute Capability"; 2.x in that of version 8.0. There also
 * the shared memory that a group may have, from 7.0 on where it is asked for at launch; since 8.0
 * the system takes 1 KB more for each.
 *
 * Cycles from an addition or a multiply-add to its use: Arafa et al., "Instructions' Latencies
 * Characterization for NVIDIA GPGPUs", arXiv 1905.08778, and its tables in LANL's Performance
 * Prediction Toolkit (Kepler to Turing; Mesa's compiler has the same 9 for Kepler and 6 for
 * Maxwell); Fermi: "typically about 22 clock cycles", CUDA C Programming Guide 4.2. Those after
 * Turing are taken as Turing's.
 *
 * AMD: registers (VGPR) and LDS of a compute unit, all of which a group may have, from the ROCm
 * documentation, "AMD GPU specifications"; 8 wavefronts of 64 on each of 4 SIMDs. Lanes as the
 * peaks of the data sheets count them: CDNA 3 issues two single-precision operations a cycle.
 *
 * Intel Xe HPC: a core has 8 vector engines of 512 bits, each with 8 threads of 32 work items and
 * 128 registers of 64 bytes a thread; 128 KB of shared local memory (oneAPI GPU Optimization
 * Guide). "blackwell-rtx" are GeForce and RTX boards, which share little but the name with
 * "blackwell".
 *
 * PCIe and NVLink: the makers' data sheets; a link of NVLink 3 has 25 GB/s on an A100 and 14 on
 * GeForce and RTX boards. 0: none. */
static const hl_machine_architecture rows[] = {
    {"fermi", 2, 0, 32, 22, 16, 8, 1536, 32 * KIB, 48 * KIB, 48 * KIB, 2, 0, 0},
    {"fermi", 2, 1, 48, 22, 16, 8, 1536, 32 * KIB, 48 * KIB, 48 * KIB, 2, 0, 0},
    {"kepler", 3, 0, 192, 9, 16, 16, 2048, 64 * KIB, 48 * KIB, 48 * KIB, 3, 0, 0},
    {"kepler", 3, 5, 192, 9, 32, 16, 2048, 64 * KIB, 48 * KIB, 48 * KIB, 3, 0, 0},
    {"kepler", 3, 7, 192, 9, 32, 16, 2048, 128 * KIB, 112 * KIB, 48 * KIB, 3, 0, 0},
    {"maxwell", 5, 0, 128, 6, 32, 32, 2048, 64 * KIB, 64 * KIB, 48 * KIB, 3, 0, 0},
    {"maxwell", 5, 2, 128, 6, 32, 32, 2048, 64 * KIB, 96 * KIB, 48 * KIB, 3, 0, 0},
    {"pascal", 6, 0, 64, 6, 128, 32, 2048, 64 * KIB, 64 * KIB, 48 * KIB, 3, 20, 4},
    {"pascal", 6, 1, 128, 6, 32, 32, 2048, 64 * KIB, 96 * KIB, 48 * KIB, 3, 0, 0},
    {"volta", 7, 0, 64, 4, 128, 32, 2048, 64 * KIB, 96 * KIB, 96 * KIB, 3, 25, 6},
    {"turing", 7, 5, 64, 4, 128, 16, 1024, 64 * KIB, 64 * KIB, 64 * KIB, 3, 25, 0},
    {"ampere", 8, 0, 64, 4, 128, 32, 2048, 64 * KIB, 164 * KIB, 163 * KIB, 4, 25, 12},
    {"ampere", 8, 6, 128, 4, 128, 16, 1536, 64 * KIB, 100 * KIB, 99 * KIB, 4, 14, 4},
    {"ada", 8, 9, 128, 4, 128, 24, 1536, 64 * KIB, 100 * KIB, 99 * KIB, 4, 0, 0},
    {"hopper", 9, 0, 128, 4, 128, 32, 2048, 64 * KIB, 228 * KIB, 227 * KIB, 5, 25, 18},
    {"blackwell", 10, 0, 128, 4, 128, 32, 2048, 64 * KIB, 228 * KIB, 227 * KIB, 5, 50, 18},
    {"blackwell-rtx", 12, 0, 128, 4, 128, 24, 1536, 64 * KIB, 100 * KIB, 99 * KIB, 5, 0, 0},
    {"xe-hpc", 0, 0, 128, 0, 0, 0, 2048, 128 * KIB, 128 * KIB, 128 * KIB, 5, 0, 0},
    {"cdna2", 0, 0, 64, 0, 0, 0, 2048, 128 * KIB, 64 * KIB, 64 * KIB, 4, 0, 0},
    {"cdna3", 0, 0, 128, 0, 0, 0, 2048, 128 * KIB, 64 * KIB, 64 * KIB, 5, 0, 0},
    {"cdna4", 0, 0, 128, 0, 0, 0, 2048, 128 * KIB, 160 * KIB, 160 * KIB, 5, 0, 0},
};

enum { ROWS = sizeof rows / sizeof *rows };

const hl_machine_architecture *hl_machine_architecture_of_capability(uint32_t major, uint32_t minor)
{
    /* Rows with major 0 are not of NVIDIA: 0 must not find them. */
    for (size_t i = 0; major && i < ROWS; i++)
        if (rows[i].major == major && rows[i].minor == minor)
            return &rows[i];
    return NULL;
}

const hl_machine_architecture *hl_machine_architecture_of(const haul_gpu *gpu)
{
    const hl_machine_architecture *found = NULL;
    for (size_t i = 0; gpu->architecture && i < ROWS; i++) {
        if (strcasecmp(rows[i].name, gpu->architecture) != 0)
            continue;
        /* The cores of a multiprocessor tell Fermi 2.0 from 2.1, or A100 from the other Ampere
         * GPUs. */
        if (rows[i].cores == gpu->cores.value)
            return &rows[i];
        /* Where they do not, the row with the fewest threads: it never promises more occupancy than
         * there is. */
        if (!found || rows[i].threads < found->threads)
            found = &rows[i];
    }
    return found;
}

double hl_machine_gpu_shared_rate(const haul_gpu *gpu)
{
    const bool is_wide = gpu->architecture && !strcasecmp(gpu->architecture, "kepler");
    return gpu->multiprocessors.value * gpu->clock_Hz.value * (is_wide ? 256 : 128);
}

const char *hl_machine_gpu_maker(const haul_gpu *gpu)
{
    const hl_machine_architecture *of = hl_machine_architecture_of(gpu);
    if (!of)
        return NULL;
    if (of->major)
        return "NVIDIA";
    return strncmp(of->name, "cdna", 4) == 0 ? "AMD" : "Intel";
}

bool hl_machine_gpu_alike(const haul_gpu *a, const haul_gpu *b)
{
    /* Names and not capabilities, which machine files do not have; in any case, as people write
     * them. */
    return a->architecture && b->architecture && !strcasecmp(a->architecture, b->architecture);
}
