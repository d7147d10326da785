/* Projection: what a recorded program's copies, kernels and whole run would take on another
 * machine.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_PROJECT_H
#define HAUL_PROJECT_H

#include "haul/analysis.h"
#include "haul/breakdown.h"
#include "haul/collective_time.h"
#include "haul/cost.h"
#include "haul/kernel_times.h"

HAUL_BEGIN

/* Error of predictions against measurements, in percent (AHEAD, VI.C): wmape is the mean over
 * operations of 100 W_i |A_i - P_i| / A_i with W_i = A_i / sum A; wape is their sum. */
typedef struct haul_score {
    uint64_t count;
    double wmape;
    double wape;
    double median;
    double p90;
} haul_score;

/* Whether predictions of the whole run can be relied on. */
typedef struct haul_soundness {
    bool is_sound;
    char why[160]; /* why not; "" where they can */
} haul_soundness;

/* Replays the profile and judges it, as every command does: unsound where the replay misses the
 * recorded makespan by more than 10 %, which `why` gives. Returns what haul_timeline_run does. */
HAUL_API haul_status haul_soundness_check(const haul_workload *workload, haul_soundness *soundness,
                                          haul_error *error);

typedef struct haul_projection_options {
    const haul_machine *to;         /* needed */
    const haul_machine *from;       /* NULL: the recording link is fitted to the profile's copies */
    const haul_copy_model *model;   /* NULL: auto */
    const haul_workload *reference; /* NULL, or the same program recorded on `to` */
    const haul_kernel_classes *classes; /* NULL, or a table of names asked before haul's own */
    const haul_kernel_times *counters;  /* NULL, or what a profiler counted of the kernels */
    bool tf32;         /* the program lets libraries compute products in fp32 in TF32 */
    double host_speed; /* the target's CPU is so many times as fast as the recording one; 0: not
                        * known, the same is assumed */
    const haul_workload *link_of; /* NULL, or a profile of the same machine: without `from` the link
                                   * is fitted to its copies */
    uint64_t reserved[4];         /* zeros: see haul/api.h */
} haul_projection_options;

/* Copies of one direction and memory: of one size, of one decade of sizes, or of all. Times are
 * sums over the row's copies. The ends of intervals add up too, because a model errs alike for all
 * copies of a kind. */
typedef struct haul_projection_row {
    haul_direction direction;
    haul_memory memory;
    int decade;          /* of analysis.h; HAUL_ANALYSIS_DECADES stands for all sizes */
    uint64_t copy_bytes; /* of the largest copy */
    uint64_t count;
    uint64_t bytes;
    double recorded_s;
    haul_estimate predicted; /* by the chosen model; `model` is NULL where several answered */
    uint64_t unpredicted;    /* copies that keep their recorded time: no model predicts them */
    const double *model_s;   /* by each of haul_projection.models; NaN where it cannot */
    haul_score score;        /* count 0 without a reference */
    haul_place place; /* of all sizes of a direction and memory: where most of their recorded time
                       * was called for */
} haul_projection_row;

/* The time of all copies by one model. `missing` is NULL, or why it cannot predict them all;
 * total_s is NaN then. */
typedef struct haul_model_total {
    const char *name;
    double total_s;
    const char *missing;
    haul_score score;
} haul_model_total;

/* The self-check of one direction and memory, or of all. */
typedef struct haul_self_check_score {
    haul_score score;   /* the profile's own copies, predicted on the machine that recorded it */
    double noise_floor; /* the spread of equal copies: 100 sum |t - their median| / sum t */
    double wape_without_contention; /* wape of the best prediction without a contention model: a
                                     * fitted machine is fitted anew without it */
} haul_self_check_score;

typedef struct haul_self_check_row {
    haul_direction direction;
    haul_memory memory;
    haul_self_check_score of;
    uint64_t contended; /* copies that ran while their device copied the other way */
    double busy_speed; /* the share of its speed that such a copy keeps, fitted; 1: no loss found */
    double points;     /* of the machine's curve; 0 where it has none */
} haul_self_check_row;

/* The copies of one direction, memory and size: the mean measured and the mean predicted time. */
typedef struct haul_copy_pair {
    haul_direction direction;
    haul_memory memory;
    uint64_t bytes;
    uint64_t count;
    double measured_s;
    double predicted_s;
} haul_copy_pair;

typedef struct haul_self_check {
    haul_self_check_score of;
    bool fitted;          /* the recording link was fitted to these copies */
    uint64_t unpredicted; /* copies that no parameter of the recording machine covers */
    haul_self_check_row *rows;
    size_t row_count;
    haul_copy_pair *pairs; /* of the copies that are predicted */
    size_t pair_count;
} haul_self_check;

/* The launches of one kernel, by its name. */
typedef struct haul_kernel_row {
    const char *name; /* "" where the profile has none */
    haul_kernel_kind kind;
    haul_kernel_class as;    /* that the launches with most of its time were predicted as */
    haul_kernel_bound bound; /* of these; HAUL_KERNEL_BOUNDS: not known */
    double most_s;           /* their recorded time */
    uint64_t count;
    double recorded_s;
    haul_estimate predicted; /* the ends are sums: launches of a name miss together */
    double flops; /* of those of its launches that counters or operands tell of; else 0 */
    double bytes;
    double counted_s;             /* what these took, */
    double counted_predicted_s;   /* and take on the target */
    int64_t critical_recorded_ns; /* on the critical path of the replay, */
    int64_t critical_ns;          /* and of the predicted run */
    haul_place place;             /* where most of its recorded time was called for */
} haul_kernel_row;

/* The kernels of a class, by their names. */
typedef struct haul_kernel_class_sum {
    uint64_t count;
    double recorded_s;
    haul_estimate predicted;
    double reference_s; /* of the reference's kernels of the class */
} haul_kernel_class_sum;

/* Products, convolutions and attention in a precision for which the source has tensor cores and the
 * target has none. */
typedef struct haul_lacking {
    haul_precision precision;
    haul_precision instead; /* in which they are predicted */
    double recorded_s;
} haul_lacking;

/* The host's time on the target by its recorded time. Not known, it is 1, and the ends are those
 * of two public programs that were recorded on two machines each (docs/projection.md). */
typedef struct haul_host_time {
    double likely;
    double low;
    double high;
    bool is_given;   /* by haul_projection_options.host_speed */
    bool is_known;   /* given, or both machine files name the same CPU */
    bool is_assumed; /* the same CPU is assumed, and the host is over a quarter of the critical path
                      */
    bool has_turns;  /* likewise, and two threads are inferred to wait for each other in turns */
    char cpu[40]; /* that is soldered to the target's GPU, where the speed is not known: "Grace" */
} haul_host_time;

typedef struct haul_projection {
    haul_self_check self_check;
    haul_projection_row *rows; /* each direction and memory: all sizes, then its decades */
    size_t row_count;
    haul_projection_row *sizes; /* each direction, memory and size */
    size_t size_count;
    haul_model_total *models; /* the chosen first, then every other */
    size_t model_count;
    const char *chosen;   /* the model that `auto` chose throughout, else models[0].name */
    haul_estimate copies; /* total of the chosen model */
    double recorded_copies_s;
    int own_slot_generation; /* of PCIe: the target has the profile's GPU, and is taken to be in the
                              * slot that the profile's own pinned copies show; 0: it is not */
    bool is_in_own_slot;     /* the target is a board alone, in the recording machine's slot */
    int slower_link_generation; /* of PCIe, 1 less than the target's; 0: its slot is measured, or is
                                 * no PCIe */
    double slower_link_s;       /* what the copies would take there */
    double contention_s; /* the part of recorded_copies_s that bidirectional contention explains */
    haul_estimate kernels; /* model NULL where there is no kernel or no ratio. Its interval is made
                            * of the classes', which miss independently of one another */
    double tf32_gain_s;    /* what they would take less, were products that ran in fp32 on a GPU
                            * without TF32 allowed it on the target; 0: no such products */
    haul_lacking lacking[HAUL_PRECISIONS]; /* the longest first */
    size_t lacking_count;
    bool counters_match;          /* counters were given, and some are of kernels of the profile */
    haul_kernel_row *kernel_rows; /* the longest first, recorded or predicted */
    size_t kernel_row_count;
    haul_kernel_class_sum kernel_classes[HAUL_KERNEL_CLASSES];
    double recorded_kernels_s;
    double peak_flops; /* of the GPU that recorded, in single precision; 0: not known */
    double peak_Bps;   /* of its memory, likewise */
    double target_peak_flops;
    double target_peak_Bps;
    haul_estimate memsets; /* likewise */
    double recorded_memsets_s;
    haul_collective_check collectives; /* the self-check of all; count 0: none of known size */
    const haul_collective_check *collective_rows; /* and by operation and ranks */
    size_t collective_row_count;
    const char *collectives_missing; /* why the interval of some is not known, or NULL */
    bool keeps_collectives;          /* some would differ by the two machines' links */
    const char *gpu;                 /* the source GPU, or NULL */
    const char *other_maker;         /* of the target's GPU: "AMD"; NULL where the GPU that recorded
                                      * has the same, or either's is unknown */
    const char *kernels_missing;     /* why kernels and memsets could not be scaled, or NULL */
    /* The whole run on the target. Where it cannot be scheduled `timeline` is NULL and run_missing
     * says why. */
    haul_timeline *timeline;
    const int64_t *durations_ns; /* of each operation of the workload; the host's keep theirs */
    const int64_t *call_durations_ns; /* of each call; NULL: as recorded */
    haul_timeline_device device; /* the target's. Times from call to start are recorded ones, and
                                  * so is the occupancy unless that of both GPUs is known */
    haul_release release; /* of the replay: as recorded where the profile has no calls of device
                           * work; the likely run has the recorded pauses within streams then, and
                           * the interval also holds a run released as recorded */
    haul_host_time host;  /* what calls and the time between them take, without calls the pauses */
    haul_replay replay;   /* the profile rebuilt from its own durations */
    const char *run_missing;
    const char *unsound; /* NULL, or why the whole run is no prediction to rely on, as
                          * haul_soundness_check says */
    haul_breakdown recorded_run;
    haul_breakdown target_run;
    haul_breakdown reference_run; /* as recorded; where there is a reference */
    haul_critical_path critical;
    int64_t low_ns;  /* the makespan with each operation at the low end of its interval, less the */
    int64_t high_ns; /* replay's error; and at the high end, and more by that error */
    haul_copy_pair *reference_pairs; /* the reference's copies beside their prediction */
    size_t reference_pair_count;
    uint64_t matched;   /* copies paired with the reference's */
    uint64_t unmatched; /* copies of either profile without a partner */
    const char **notes; /* what the reader must know, a sentence each */
    size_t note_count;
} haul_projection;

/* Predicts every copy, kernel and the whole run of `workload` on the target. The target's machine
 * is completed by haul_machine_complete from the machine that recorded the profile.
 *
 * Copies that the asked model cannot predict, `auto` does. Copies of unknown direction or within
 * the host's memory that no model predicts keep their recorded time; notes say how many. Copies are
 * paired with the reference's in order within direction, memory and size; the kind of memory is
 * ignored in a direction where either profile does not know it.
 *
 * Needs 350 bytes for each distinct size and about 54 an operation while it runs, 32 of which stay;
 * 8 more of both where calls do not keep their durations. Strings may be the workload's and the
 * machines', which must live as long. Free with haul_projection_free. Returns MISSING, naming the
 * parameter, where `auto` cannot predict a copy of another kind. */
HAUL_API haul_status haul_projection_make(const haul_workload *workload,
                                          const haul_projection_options *options,
                                          haul_projection **projection, haul_error *error);
HAUL_API void haul_projection_free(haul_projection *projection);

HAUL_END

#endif
