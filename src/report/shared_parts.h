/* What several reports say in the same way. */
#ifndef HAUL_REPORT_SHARED_PARTS_H
#define HAUL_REPORT_SHARED_PARTS_H

#include "haul/analysis.h"
#include "haul/document.h"

/* Why the profile is incomplete: lines for people, and the list of JSON. */
void haul_report_losses(haul_report *report, const haul_workload *workload);
void haul_report_loss_list(haul_report *report, const haul_workload *workload);

/* A line on what the profile lacks or where it was repaired; nothing where that is nothing. */
void haul_report_caution(haul_report *report, const haul_workload *workload);

/* The table of named ranges, as recorded and, where `durations_ns` is given, as predicted; nothing
 * for a profile without ranges. */
void haul_report_ranges(haul_report *report, const haul_workload *workload,
                        const int64_t *durations_ns);

/* The lists of these, and of losses. */
void haul_report_notes(haul_report *report, const haul_workload *workload);

/* A list of sentences under a key, with a title for people. */
void haul_report_sentences(haul_table *parent, const char *key, const haul_column *column,
                           const char *const *texts, size_t count);

enum { HAUL_COST_NAME_BYTES = 256 };

/* "copy HtoD pinned of 4 MiB", or the kernel's name, in `text` of so many bytes, which is returned.
 * A copy of 0 bytes stands for those of all sizes. */
const char *haul_say_cost(const haul_workload *workload, const haul_cost_row *row, char *text);

#endif
