#include "timeline/limits.h"

#include <strings.h>

enum { KIB = 1024 };

typedef struct row {
    uint32_t major;
    uint32_t minor;
    const char *architecture; /* NULL: not the least that its cores allow */
    unsigned cores;           /* of a multiprocessor */
    haul_sm_limits limits;
} row;

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": resident grids,
 * blocks, threads, 32-bit registers and shared memory of a multiprocessor; 2.1 in that of version
 * 8.0. */
static const row rows[] = {
    {2, 1, "fermi", 48, {16, {0, 8, 1536, 32 * KIB, 48 * KIB}}},
    {3, 0, "kepler", 192, {16, {0, 16, 2048, 64 * KIB, 48 * KIB}}},
    {3, 5, NULL, 192, {32, {0, 16, 2048, 64 * KIB, 48 * KIB}}},
    {3, 7, NULL, 192, {32, {0, 16, 2048, 128 * KIB, 112 * KIB}}},
    {5, 0, "maxwell", 128, {32, {0, 32, 2048, 64 * KIB, 64 * KIB}}},
    {5, 2, NULL, 128, {32, {0, 32, 2048, 64 * KIB, 96 * KIB}}},
    {6, 0, "pascal", 64, {128, {0, 32, 2048, 64 * KIB, 64 * KIB}}},
    {6, 1, "pascal", 128, {32, {0, 32, 2048, 64 * KIB, 96 * KIB}}},
    {7, 0, "volta", 64, {128, {0, 32, 2048, 64 * KIB, 96 * KIB}}},
    {7, 5, "turing", 64, {128, {0, 16, 1024, 64 * KIB, 64 * KIB}}},
    {8, 0, "ampere", 64, {128, {0, 32, 2048, 64 * KIB, 164 * KIB}}},
    {8, 6, "ampere", 128, {128, {0, 16, 1536, 64 * KIB, 100 * KIB}}},
    {8, 9, "ada", 128, {128, {0, 24, 1536, 64 * KIB, 100 * KIB}}},
    {9, 0, "hopper", 128, {128, {0, 32, 2048, 64 * KIB, 228 * KIB}}},
    {10, 0, "blackwell", 128, {128, {0, 32, 2048, 64 * KIB, 228 * KIB}}},
};

enum { ROWS = sizeof rows / sizeof *rows };

const haul_sm_limits *haul_limits_of(uint32_t major, uint32_t minor)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].major == major && rows[i].minor == minor)
            return &rows[i].limits;
    return NULL;
}

const haul_sm_limits *haul_limits_of_gpu(const haul_gpu *gpu)
{
    for (size_t i = 0; gpu->architecture && i < ROWS; i++)
        if (rows[i].architecture && !strcasecmp(rows[i].architecture, gpu->architecture) &&
            rows[i].cores == gpu->cores.value)
            return &rows[i].limits;
    return NULL;
}
