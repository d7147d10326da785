/* Names of GPUs, as drivers of different years and people write them. */
#ifndef HAUL_MACHINE_GPU_NAMES_H
#define HAUL_MACHINE_GPU_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/machine.h"

/* Whether two names are of the same GPU: equal letters and digits, in any case, without the maker's
 * words ("Tesla V100-SXM2-16GB", "NVIDIA V100-SXM2-16GB"). False where one is NULL. */
bool hl_machine_gpu_names_same(const char *a, const char *b);

/* hl_machine_gpu_names_same of two machines' GPUs. */
bool hl_machine_gpu_same(const haul_gpu *a, const haul_gpu *b);

/* How many letters and digits two names share where one holds the other ("k40" and "Tesla K40c")
 * and what follows does not make it another model ("GTX 1080" and "GTX 1080 Ti"): SIZE_MAX for the
 * same name, 0 where neither holds the other. */
size_t hl_machine_gpu_names_likeness(const char *a, const char *b);

/* Whether two names are of one family: the same GPU but for the form of its board and the size of
 * its memory ("A100-SXM4-40GB" and "A100 80GB PCIe", "GH200 120GB"). 0: no; 1: yes; more where form
 * or size are the same too. */
unsigned hl_machine_gpu_names_family(const char *a, const char *b);

#endif
