/* Reports: whatever haul finds, as tables, JSON or CSV; and timelines as traces.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_REPORT_H
#define HAUL_REPORT_H

#include <stdio.h>

#include "haul/advise.h"
#include "haul/analysis.h"
#include "haul/budget.h"
#include "haul/collective_time.h"
#include "haul/compare.h"
#include "haul/document.h"
#include "haul/exchange.h"
#include "haul/fit.h"
#include "haul/kernel.h"
#include "haul/kernel_class.h"
#include "haul/machine.h"
#include "haul/measure.h"
#include "haul/message.h"
#include "haul/message_figures.h"
#include "haul/overlap.h"
#include "haul/overlap_run.h"
#include "haul/project.h"
#include "haul/simulate.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* Each describes its answer as a document (haul/document.h); NULL without memory. The caller frees
 * it. JSON is documented in docs/json.md. */

/* Where the time of a recorded program went. */
HAUL_API haul_report *haul_report_analysis(const haul_workload *workload,
                                           const haul_analysis *analysis);

/* Kernels and copies by where in the program they come from. Returns NO_MEMORY. */
HAUL_API haul_status haul_report_groups(haul_report **report, const haul_workload *workload,
                                        haul_group_by by, haul_error *error);

/* The profile scheduled with its own durations (haul_timeline_replay), with calls as recorded and
 * with threads simulated. Returns what haul_timeline_replay does. */
HAUL_API haul_status haul_report_replays(haul_report **report, const haul_workload *workload,
                                         haul_error *error);

/* Its predicted time on another machine. */
HAUL_API haul_report *haul_report_projection(const haul_workload *workload,
                                             const haul_projection_options *options,
                                             const haul_projection *projection);

/* A projection's answer for one of several machines. */
typedef struct haul_target_row {
    const char *name;
    const char *source;           /* the profile */
    const char *gpu;              /* that recorded it, or NULL */
    const char *missing;          /* why the whole run is not predicted, or NULL */
    const char *other_maker;      /* as a projection has it */
    haul_link_kind replaced_link; /* the machine's */
    int64_t recorded_ns;          /* makespans */
    int64_t predicted_ns;
    int64_t low_ns;
    int64_t high_ns;
    double copies_s;       /* sums of durations */
    double kernels_s;      /* NaN: not predicted */
    double price_per_hour; /* of the machine, in any currency; 0: not known */
    double watts;          /* of the machine while it runs; 0: not known */
    haul_host_time host;
    haul_critical_path critical;
    haul_replay replay;
} haul_target_row;

/* Machines side by side; `gpu` is the source GPU, or NULL. Needs: a row at least. */
HAUL_API haul_report *haul_report_targets(const haul_workload *workload, const char *gpu,
                                          const haul_target_row *rows, size_t count);

/* Profiles of several jobs on machines: `rows` has `jobs` times `targets` of them, profile by
 * profile. Needs: one of each at least. */
HAUL_API haul_report *haul_report_matrix(const haul_target_row *rows, size_t jobs, size_t targets);

/* One of several profiles of different jobs. */
typedef struct haul_analyzed_profile {
    const haul_workload *workload;
    const haul_analysis *analysis;
} haul_analyzed_profile;

/* Where the time of each went: busy, idle and the largest cause of that. Needs: one at least. */
HAUL_API haul_report *haul_report_analyses(const haul_analyzed_profile *profiles, size_t count);

/* The advice that haul_advice_make found for one of several profiles. */
typedef struct haul_advised_profile {
    const char *source;  /* the profile */
    const char *machine; /* that the times are for; NULL where it is not known */
    const char *missing; /* why no change was tried, or NULL */
    const char *first;   /* what the change that saves most asks for; NULL: none saves time */
    int64_t recorded_ns; /* 0: not known */
    int64_t run_ns;      /* before changes, on that machine */
    haul_advised_plan safe;
    haul_advised_plan together;
} haul_advised_profile;

/* The savings of profiles of different jobs. Needs: one at least. */
HAUL_API haul_report *haul_report_advices(const haul_advised_profile *profiles, size_t count);

/* One of two profiles of a program. */
typedef struct haul_compared_run {
    const haul_workload *workload;
    const haul_analysis *analysis;
    const char *unsound; /* haul_soundness.why, "" or NULL where it is sound */
} haul_compared_run;

/* The value that a run has of each limit, after haul_budget_check; the same as JUnit's XML, a test
 * case for each limit, which returns IO where `out` fails. */
HAUL_API haul_report *haul_report_budget(const haul_workload *workload, const haul_budget *budget);
HAUL_API haul_status haul_budget_junit_write(const haul_budget *budget, FILE *out,
                                             haul_error *error);

/* The runs, the second against the first, with the largest causes of the difference. */
HAUL_API haul_report *haul_report_comparison(const haul_compared_run runs[2],
                                             const haul_comparison *of);

/* Every parameter of a machine, with its provenance and source. */
HAUL_API haul_report *haul_report_machine(const haul_machine *machine);

/* The parameters that differ between two machines, each with b/a. */
HAUL_API haul_report *haul_report_difference(const haul_machine *a, const haul_machine *b);

/* The machines of the catalogue; one that cannot be read is there with its error. Returns IO where
 * there is no catalogue. */
HAUL_API haul_status haul_report_catalogue(haul_report **report, haul_error *error);

/* The fit to measured copies: both lines and the curve of each group, with residuals. */
HAUL_API haul_report *haul_report_fit(const haul_fit_group *groups, size_t count);

/* A device's measured copies, and how well they predict others. */
HAUL_API haul_report *haul_report_measurement(const haul_measurement *measurement);

/* A copy with its time. */
typedef struct haul_timed_copy {
    haul_copy copy;
    haul_estimate estimate;
} haul_timed_copy;

/* The times of copies on a machine. */
HAUL_API haul_report *haul_report_times(const haul_machine *machine, const haul_timed_copy *copies,
                                        size_t count);

/* The copy models of the registry. */
HAUL_API haul_report *haul_report_models(void);

/* A kernel fitted to its times on a machine. */
typedef struct haul_kernel_fitted {
    const char *kernel;
    const char *counts; /* where they are from: a kernel file's name, or "counters" */
    const haul_machine *machine;
    const haul_kernel_fit *fit;
} haul_kernel_fitted;

/* Calibration factors (lambda, HiPC 2015): of each kernel and GPU, and of each kernel and
 * architecture (the geometric mean of its GPUs'). */
HAUL_API haul_report *haul_report_kernel_fits(const haul_kernel_fitted *fits, size_t count);

/* A kernel's time, and why it takes it where that was asked. */
typedef struct haul_kernel_predicted {
    const haul_machine *machine;
    double size;
    haul_estimate estimate;
    haul_kernel_explanation why;
} haul_kernel_predicted;

/* A kernel that was measured on `home`, elsewhere. */
typedef struct haul_kernel_predictions {
    const char *kernel;
    const haul_machine *source;
    const haul_kernel_predicted *items;
    size_t count;
} haul_kernel_predictions;

/* Its times, or why they are what they are. */
HAUL_API haul_report *haul_report_kernel_times(const haul_kernel_predictions *of);
HAUL_API haul_report *haul_report_kernel_why(const haul_kernel_predictions *of);

/* A kernel's name and its class. */
typedef struct haul_kernel_classified {
    const char *name;
    haul_kernel_kind kind;
} haul_kernel_classified;

/* The classes of kernels, and what tells them. */
HAUL_API haul_report *haul_report_kernel_classes(const haul_kernel_classified *items, size_t count);

/* The kernels of the catalogue and the models of the registry. Returns IO where there is no
 * catalogue. */
HAUL_API haul_status haul_report_kernel_models(haul_report **report, haul_error *error);

/* Strategies of overlap, of one work on one machine. */
typedef struct haul_overlap_report {
    const haul_machine *machine;
    const haul_overlap_work *work;
    const haul_overlap_case *of;
    haul_overlap strategies;
    int next_generation; /* of PCIe; 0: there is none, and no `next` */
    haul_overlap next;
    bool has_otherwise; /* the kind of device is assumed: the same on the slower kind that it may
                         * be (haul_overlap_device_end) */
    haul_overlap otherwise;
} haul_overlap_report;

/* The strategies as a table, and the questions that they answer. */
HAUL_API haul_report *haul_report_overlap(const haul_overlap_report *report);

/* A product or a stencil in tiles: its workload and timeline (haul_blocked_workload). */
typedef struct haul_tiles_report {
    const haul_machine *machine;
    const char *kind; /* "product" or "stencil" */
    haul_blocked_costs costs;
    uint32_t queue_depth; /* 0: not limited */
    const haul_workload *workload;
    const haul_timeline *timeline;
} haul_tiles_report;

/* A product or a stencil in tiles: what each tile costs, the bounds, and the timeline. */
HAUL_API haul_report *haul_report_tiles(const haul_tiles_report *report);

/* The curves of a fit of messages, piece by piece, and the rates of a node. */
HAUL_API haul_report *haul_report_message_fit(const haul_message_fit *fit);

/* An exchange, with its ways as haul_exchange_predict orders them; the sizes and numbers of
 * messages from which another way is best; with the curve of all ways over sizes where asked for.
 */
typedef struct haul_exchange_report {
    const haul_machine *machine;
    const haul_exchange *exchange;
    bool with_curve;
} haul_exchange_report;

/* `times` are haul_exchange_predict's of the same exchange. */
HAUL_API haul_report *haul_report_exchange(const haul_exchange_report *report,
                                           const haul_way_time times[HAUL_WAYS_PREDICTED]);

/* Times of a machine's messages over their size and number, a table for each figure. */
HAUL_API haul_report *haul_report_message_figures(const haul_machine *machine,
                                                  const haul_message_figure figures[HAUL_FIGURES]);

/* A collective of `nodes` nodes (0: as few as the machine's GPUs allow) in each way; with the curve
 * over sizes where asked for. */
typedef struct haul_collective_report {
    const haul_machine *machine;
    haul_communication of;
    uint32_t nodes;
    bool with_curve;
} haul_collective_report;

/* `times` are haul_collective_predict's of the same collective. */
HAUL_API haul_report *
haul_report_collective(const haul_collective_report *report,
                       const haul_collective_way_time times[HAUL_COLLECTIVE_WAYS]);

/* The strategies as they ran, beside their predictions; `device` is its name. */
HAUL_API haul_report *haul_report_run(const haul_run *run, const char *device);

/* A simulated workload, which has to live as long; with its timeline drawn in characters, `width`
 * to a row, 0 for none. */
HAUL_API haul_report *haul_report_simulation(const haul_simulation *simulation, unsigned width);

/* Advice, ranked by what it saves. */
HAUL_API haul_report *haul_report_advice(const haul_workload *workload,
                                         const haul_advice_list *list);

/* A timeline to look at: when each operation of a workload ran. */
typedef struct haul_drawn {
    const char *label; /* before its devices' names, "recorded"; NULL where it is the only one */
    const haul_workload *workload;
    const haul_span *spans;   /* op_count of them, as in haul_timeline; NULL: as recorded */
    bool named;               /* copies and memsets go by the names of their operations, which
                               * otherwise are those of the calls */
    int64_t run_ns;           /* what the report says that it takes; 0: from the first operation of
                               * a device to the last one's end */
    bool changed;             /* operations of a device that take no time are left out: a change
                               * took them away */
    const uint32_t *critical; /* operations of the critical path, in order, which a page marks;
                               * NULL: not known */
    size_t critical_count;
} haul_drawn;

enum { HAUL_REPORT_DRAWN_MOST = 16, HAUL_TRACE_BYTES = 100 * 1000 * 1000 };

/* Left out of a trace, or merged in it, to make it smaller. */
typedef struct haul_thinned {
    uint64_t operations;     /* and calls */
    uint64_t slices;         /* that they are drawn as */
    uint64_t merged;         /* drawn together with others close to them, */
    int64_t shorter_than_ns; /* because they are shorter than this; 0: none was */
    bool without_arrows;
    uint64_t hidden; /* not drawn: they overlap 16 others of their stream */
} haul_thinned;

/* That in a sentence without its end; "" where nothing is left out. Returns `buffer`. */
HAUL_API char *haul_thinned_text(const haul_thinned *thinned, char *buffer, size_t size);

/* Writes timelines as one trace of Chrome's Trace Event Format (JSON), which Perfetto and Chrome
 * show: a process for each device and host, a thread for each stream and thread, operations as
 * slices; arrows along dependencies and, as recorded, from calls to what they issued. The trace
 * stays under `limit_bytes`, 0 for HAUL_TRACE_BYTES: where all would take more, arrows are left
 * out, then short operations of one stream that are close together become one slice, with their
 * number and sums. The trace says so, and *thinned, which may be NULL. Needs 40 bytes an operation
 * while it runs. Returns IO; BAD_INPUT where the streams alone take more. */
HAUL_API haul_status haul_report_perfetto(const haul_drawn *timelines, size_t count,
                                          uint64_t limit_bytes, FILE *out, haul_thinned *thinned,
                                          haul_error *error);

HAUL_END

#endif
