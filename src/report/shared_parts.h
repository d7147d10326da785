/* Parts that several reports share. */
#ifndef HAUL_REPORT_SHARED_PARTS_H
#define HAUL_REPORT_SHARED_PARTS_H

#include "haul/analysis.h"
#include "haul/document.h"
#include "haul/project.h"
#include "haul/report.h"

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

/* Profile number `at` by its file's name, or by its path where another has that name too: folders
 * would leave no room for the columns of a table. */
const char *hl_report_profile_name(const char *const *sources, size_t count, size_t at);

/* A list of sentences under a key, with a title for people. */
void hl_report_sentences(haul_table *parent, const char *key, const haul_column *column,
                         const char *const *texts, size_t count);

/* A line on what the host's time on a target rests on, where it was given or decides; else nothing.
 */
void hl_report_host(haul_report *report, const haul_host_time *host);

/* The same for several runs, each of which is called `what`: "machine". */
void hl_report_hosts(haul_report *report, const haul_target_row *rows, size_t count,
                     const char *what);

/* A line on the GPUs of another maker among them, for which the program has to be built anew. */
void hl_report_other_makers(haul_report *report, const haul_target_row *rows, size_t count);

enum { HL_REPORT_COST_NAME_BYTES = 256 };

/* "copy HtoD pinned of 4 MiB", or the kernel's name, in `text` of so many bytes, which is returned.
 * A copy of 0 bytes stands for those of all sizes. */
const char *hl_report_say_cost(const haul_workload *workload, const haul_cost_row *row, char *text);

/* Whether devices idle for more than noise; the line that says why; its rows; what to run next. */
bool hl_report_idle_says(const haul_analysis *analysis);

/* The kind of cause with most of the idle time, and of it the largest one with a name, or NULL.
 * False where nothing idles. */
typedef struct hl_report_idle_most {
    haul_idle_kind kind;
    int64_t time_ns;
    const char *name;
} hl_report_idle_most;
bool hl_report_idle_find_most(const haul_workload *workload, const haul_analysis *analysis,
                              hl_report_idle_most *out);
/* One line on the calls of MPI, the answer itself where nothing else is; false: there are none. */
bool hl_report_mpi_line(haul_report *report, const haul_workload *workload, bool is_answer);
bool hl_report_has_mpi(const haul_workload *workload);
void hl_report_mpi_tables(haul_report *report, const haul_workload *workload);
void hl_report_idle_line(haul_report *report, const haul_workload *workload,
                         const haul_analysis *analysis);
void hl_report_idle_table(haul_report *report, const haul_workload *workload,
                          const haul_analysis *analysis);
void hl_report_next_command(haul_report *report, const haul_workload *workload,
                            const haul_analysis *analysis);

/* The cost of a thousand runs, in the currency of the machine's price; NaN: not known. */
double hl_report_target_cost(const haul_target_row *row);

#endif
