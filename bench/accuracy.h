/* docs/accuracy.md, made from public measurements: a section a file. */
#ifndef HAUL_BENCH_ACCURACY_H
#define HAUL_BENCH_ACCURACY_H

#include <stdio.h>

#include "haul/status.h"

/* Writes one section, Markdown with its own heading, from the folder `data`. What it writes depends
 * on the data alone, but for the figures of programs that ran: advice followed by hand, plans of
 * tiles. */
typedef struct accuracy_section {
    const char *name;
    haul_status (*write)(const char *data, FILE *out, haul_error *error);
} accuracy_section;

extern const accuracy_section accuracy_transfers;
extern const accuracy_section accuracy_self_check;
extern const accuracy_section accuracy_baselines;
extern const accuracy_section accuracy_intervals;
extern const accuracy_section accuracy_timeline;
extern const accuracy_section accuracy_runs;
extern const accuracy_section accuracy_overlap;
extern const accuracy_section accuracy_advice;
extern const accuracy_section accuracy_messages;
extern const accuracy_section accuracy_followed;
extern const accuracy_section accuracy_plans;
extern const accuracy_section accuracy_kernel_sizes;
extern const accuracy_section accuracy_kernel_boards;
extern const accuracy_section accuracy_kernel_choices;
extern const accuracy_section accuracy_kernel_unseen;
extern const accuracy_section accuracy_kernel_counters;
extern const accuracy_section accuracy_kernel_published;
extern const accuracy_section accuracy_kernel_classes;
extern const accuracy_section accuracy_kernel_limits;
extern const accuracy_section accuracy_kernel_gaps;

/* The machine of the catalogue nearest to a measured GPU, or NULL. */
const char *accuracy_machine_for(const char *gpu);

#endif
