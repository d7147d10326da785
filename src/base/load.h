/* Other work on the machine while something is measured. */
#ifndef HAUL_BASE_LOAD_H
#define HAUL_BASE_LOAD_H

#include <stdbool.h>

/* Processor time since the system's start, of all programs and of this one. */
typedef struct hl_base_load {
    double all_s;
    double own_s;
    double at_s; /* by the monotonic clock */
    bool is_told;
} hl_base_load;

/* Others that take so many cores make a machine busy. */
#define HL_BASE_LOAD_BUSY 0.5

hl_base_load hl_base_load_now(void);

/* The cores that other programs, and other guests of a virtual machine, took in the mean since
 * `before`; negative where the system does not tell. */
double hl_base_load_others(const hl_base_load *before);

/* The share of the machine's cores that is; 0 where others do not make it busy. */
double hl_base_load_share(double others);

/* Waits until others take less than half a core, at most so long. */
void hl_base_load_wait(double longest_s);

#endif
