/* Parts that several reports share. */
#ifndef HAUL_REPORT_SHARED_PARTS_H
#define HAUL_REPORT_SHARED_PARTS_H

#include "haul/analysis.h"
#include "haul/document.h"
#include "haul/project.h"

/* Why the profile is incomplete: lines for people, and the list of JSON. */
void hl_report_losses(haul_report *report, const haul_workload *workload);
void hl_report_loss_list(haul_report *report, const haul_workload *workload);

/* A line on what the profile lacks or where it was repaired; nothing where that is nothing. */
void hl_report_caution(haul_report *report, const haul_workload *workload);

/* The table of named ranges, as recorded and, where `durations_ns` is given, as predicted; nothing
 * for a profile without ranges. */
void hl_report_ranges(haul_report *report, const haul_workload *workload,
                      const int64_t *durations_ns);

/* The lists of these, and of losses. */
void hl_report_notes(haul_report *report, const haul_workload *workload);

/* A list of sentences under a key, with a title for people. */
void hl_report_sentences(haul_table *parent, const char *key, const haul_column *column,
                         const char *const *texts, size_t count);

/* A line on what the host's time on a target rests on, where it was given or decides; else nothing.
 */
void hl_report_host(haul_report *report, const haul_host_time *host);

enum { HL_REPORT_COST_NAME_BYTES = 256 };

/* "copy HtoD pinned of 4 MiB", or the kernel's name, in `text` of so many bytes, which is returned.
 * A copy of 0 bytes stands for those of all sizes. */
const char *hl_report_say_cost(const haul_workload *workload, const haul_cost_row *row, char *text);

/* Whether devices idle for more than noise; the line that says why; its rows; what to run next. */
bool hl_report_idle_says(const haul_analysis *analysis);
void hl_report_idle_line(haul_report *report, const haul_workload *workload,
                         const haul_analysis *analysis);
void hl_report_idle_table(haul_report *report, const haul_workload *workload,
                          const haul_analysis *analysis);
void hl_report_next_command(haul_report *report, const haul_workload *workload,
                            const haul_analysis *analysis);

#endif
