/* Kernel models: the time of a kernel at another size, and on another GPU, from times measured on
 * one GPU. The work of a kernel's threads is given as counts; a fit holds measured times.
 *
 * Errors say what is wrong and with which sample, by its place in the file it was read from.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_KERNEL_H
#define HAUL_KERNEL_H

#include <stdbool.h>

#include "haul/cost.h"
#include "haul/kernel_class.h"
#include "haul/workload.h"

HAUL_BEGIN

/* Counts of a kernel at one size. Loads, stores and hits are of one thread, in accesses (HiPC 2015,
 * eq. 3 to 5): the hits are accesses to global memory that a cache serves. */
typedef struct haul_kernel_counts {
    double threads;
    double block; /* threads of one block */
    double comp;  /* cycles that a thread computes */
    double loads_global;
    double stores_global;
    double loads_shared;
    double stores_shared;
    double l1_hits;
    double l2_hits;
    double flops;      /* of all threads; 0: not known */
    double flops_fp64; /* of these, in double precision */
    double bytes;      /* that cross the device's memory at the least, of all threads; 0: not known.
                          A profiler's counters give them: memory throughput x duration */
    double shared_bytes; /* shared memory of a block; 0: not known */
} haul_kernel_counts;

/* Seconds by BSP with lambda 1 (HiPC 2015, eq. 3 to 5): t (Comp + Comm_GM + Comm_SM) / (R P), at 5
 * cycles for shared memory and L1, 250 for L2 and 500 for global memory. Needs the GPU's clock,
 * multiprocessors and cores. Returns MISSING, naming the figure, or BAD_INPUT for counts that
 * cannot be. */
HAUL_API haul_status haul_kernel_bsp(const haul_gpu *gpu, const haul_kernel_counts *counts,
                                     double *seconds, haul_error *error);

/* One measured time. `size` is the kernel's N, above 0; equal sizes count as one, by their mean. */
typedef struct haul_kernel_sample {
    double size;
    double seconds;
    haul_kernel_counts counts; /* at this size */
    const char *file;          /* that it was read from, for errors; NULL: none */
    int line;                  /* of its size in the file; 0: none */
    int column;                /* 0: none */
} haul_kernel_sample;

/* Lambda = BSP's prediction / the measured time less the launch. Between sizes log lambda follows a
 * monotone cubic in log N; outside them it is the nearest one's. */
typedef struct haul_kernel_knot {
    double size;
    double log_size;
    double log_calibration;
    double slope;    /* of log lambda over log size */
    double log_calm; /* lambda without this size's own conflicts in the cache */
} haul_kernel_knot;

/* A kernel as fitted on the GPU that it was measured on. */
typedef struct haul_kernel_fit {
    double calibration;      /* the median of the sizes */
    double least;            /* of the sizes' own */
    double most;             /*  */
    bool one_serves;         /* lambda gives every size within HAUL_KERNEL_ONE_CALIBRATION */
    double launch_s;         /* of a launch */
    double memory_share;     /* of the device memory's bandwidth that was in use, over all sizes */
    double arithmetic_share; /* of the single-precision peak; 0: flops are not known */
    double rough; /* how much neighbouring sizes differ beyond their trend, in log lambda */
    size_t count;
    haul_kernel_knot *knots; /* ascending */
    double issue_share; /* of the instructions that the multiprocessors can issue, over all sizes */
} haul_kernel_fit;

#define HAUL_KERNEL_ONE_CALIBRATION 0.05

/* How many figures a fit is to have: one lambda (needs a size), or lambda by size (needs two). AUTO
 * takes what the sizes allow. */
typedef enum haul_kernel_fit_kind {
    HAUL_KERNEL_FIT_AUTO,
    HAUL_KERNEL_FIT_ONE,
    HAUL_KERNEL_FIT_BY_SIZE,
} haul_kernel_fit_kind;

/* Fits a kernel to its times on `source`. Needs what haul_kernel_bsp needs. Returns BAD_INPUT, at
 * the sample, for a size or a time that is not above 0 and finite, and at the last sample where
 * there are fewer sizes than figures to fit. On success the caller owns *fit; free with
 * haul_kernel_fit_free. */
HAUL_API haul_status haul_kernel_fit_new(const haul_machine *source, haul_kernel_fit_kind kind,
                                         const haul_kernel_sample *samples, size_t count,
                                         haul_kernel_fit **fit, haul_error *error);
HAUL_API void haul_kernel_fit_free(haul_kernel_fit *fit);

/* Lambda at a size: a fitted one, or between and beyond them. */
HAUL_API double haul_kernel_fit_calibration(const haul_kernel_fit *fit, double size);

/* A question to a model: the kernel that was fitted on `source`, on `target`, at `size`, where it
 * does `counts`. */
typedef struct haul_kernel_case {
    const haul_machine *source;
    const haul_kernel_fit *fit;
    const haul_machine *target; /* may be `source` */
    double size;
    haul_kernel_counts counts;
} haul_kernel_case;

/* A kernel model, as haul_copy_model (haul/cost.h): `time` returns MISSING where a figure is
 * missing, and names it. */
typedef struct haul_kernel_model {
    unsigned abi; /* HAUL_KERNEL_MODEL_ABI */
    const char *name;
    const char *summary; /* one line, with the source of its formula */
    haul_status (*time)(const haul_kernel_case *what, haul_estimate *out, haul_error *error);
} haul_kernel_model;

enum { HAUL_KERNEL_MODEL_ABI = 2 };

/* haul's own: `roofline` (the default), `bsp`, `scale`. */
HAUL_API size_t haul_kernel_model_count(void);
HAUL_API const haul_kernel_model *haul_kernel_model_at(size_t index);

/* A user's model, or NULL in `handle` for one of haul's own. */
typedef struct haul_kernel_model_ref {
    const haul_kernel_model *model;
    void *handle;
} haul_kernel_model_ref;

/* Finds a model by name, or loads it from a shared object (which may call the functions of this
 * header where the program exports them, as haul does) that exports
 *
 *     const haul_kernel_model *haul_kernel_model_entry(void);
 *
 * where `name` contains a '/' or ends in ".so". Release with haul_kernel_model_release. Errors as
 * haul_model_find's. */
HAUL_API haul_status haul_kernel_model_find(const char *name, haul_kernel_model_ref *ref,
                                            haul_error *error);
HAUL_API void haul_kernel_model_release(haul_kernel_model_ref *ref);

typedef const haul_kernel_model *(*haul_kernel_model_entry_fn)(void);

/* Defined by the object; libhaul has no such function. See examples/model. */
HAUL_API const haul_kernel_model *haul_kernel_model_entry(void);

#define HAUL_KERNEL_MODEL_ENTRY "haul_kernel_model_entry"

/* Time by a model (NULL: roofline), checked: finite, not negative, low <= seconds <= high. low_s to
 * high_s is to hold the measured time in 90 of 100 cases; docs/accuracy.md says how often it does.
 * Returns BAD_INPUT for a size that is not above 0 and finite, or counts that cannot be. */
HAUL_API haul_status haul_kernel_time(const haul_kernel_model *model, const haul_kernel_case *what,
                                      haul_estimate *out, haul_error *error);

/* The bound of a kernel's time. name in reports */
#define HAUL_KERNEL_BOUND_LIST(X)                                                                  \
    X(LAUNCH, "launch")                                                                            \
    X(MEMORY, "device memory")                                                                     \
    X(ARITHMETIC, "arithmetic")                                                                    \
    X(LATENCY, "latency") /* waits inside the multiprocessors: for instructions, shared            \
                             memory, caches */                                                     \
    X(LOW_OCCUPANCY, "low occupancy") /* the same, with multiprocessors to spare */

typedef enum haul_kernel_bound {
#define HAUL_KERNEL_BOUND_ENUM(name, text) HAUL_KERNEL_BOUND_##name,
    HAUL_KERNEL_BOUND_LIST(HAUL_KERNEL_BOUND_ENUM)
#undef HAUL_KERNEL_BOUND_ENUM
        HAUL_KERNEL_BOUNDS
} haul_kernel_bound;

HAUL_API const char *haul_kernel_bound_text(haul_kernel_bound bound);

/* A time that the kernel cannot fall below on the target, and the share of the prediction that it
 * is: seconds / estimate.seconds. */
typedef struct haul_kernel_term {
    haul_kernel_bound bound;
    double seconds; /* 0: not known, or none */
    double share;
} haul_kernel_term;

/* Why a kernel takes what it takes on the target, by `roofline`. */
typedef struct haul_kernel_explanation {
    haul_estimate estimate;
    haul_kernel_bound bound;
    haul_kernel_term terms[HAUL_KERNEL_BOUNDS]; /* by bound */
    double source_s;                            /* the same size on the source GPU */
    double ratio;                               /* of the two, less their launches */
    double if_rate; /* seconds if what bounds it were twice as fast: the next term then bounds */
    double blocks;
    double busiest; /* blocks of the busiest multiprocessor */
    double idle;    /* share of the multiprocessors' time without a block: of the last wave */
} haul_kernel_explanation;

/* Returns what haul_kernel_time does. */
HAUL_API haul_status haul_kernel_explain(const haul_kernel_case *what, haul_kernel_explanation *out,
                                         haul_error *error);

/* The time of a kernel that took `seconds` on `from`, on `to`: the same where the GPU is the same,
 * else within an interval around the ratios that may bound it (memory, arithmetic, clock times
 * multiprocessors). Returns MISSING where no ratio is known on both. */
HAUL_API haul_status haul_kernel_scale(const haul_machine *from, const haul_machine *to,
                                       double seconds, haul_estimate *out, haul_error *error);

/* How kernels were launched; 0: not known. */
typedef struct haul_kernel_launches {
    double count;   /* launches: each takes its own time, whatever the work */
    double blocks;  /* of one launch */
    double block;   /* threads of one block */
    double grid[3]; /* blocks along x, y and z; of products z is a batch, or slices of the inner
                     * dimension */
    double shared_bytes; /* shared memory of one block */
} haul_kernel_launches;

/* The same for launches that took `seconds` together: a grid that leaves most of the GPU empty
 * follows its clock and the blocks of the busiest multiprocessor, not its memory. */
HAUL_API haul_status haul_kernel_scale_launches(const haul_machine *from, const haul_machine *to,
                                                const haul_kernel_launches *launches,
                                                double seconds, haul_estimate *out,
                                                haul_error *error);

/* The launches of one kernel, as far as a profile tells them. */
typedef struct haul_kernel_work {
    haul_kernel_kind kind;
    haul_kernel_launches launches;
    double seconds; /* of all launches together */
    double flops;   /* of one launch; 0: not known */
    double bytes;   /* that cross the device's memory at the least, of one launch; 0: not known */
    haul_operands operands; /* of the operator that launches it; zero: not known */
} haul_kernel_work;

typedef struct haul_kernel_prediction {
    haul_estimate estimate;
    haul_kernel_class kind;  /* that it was predicted as: LATENCY where the launch tells it, UNKNOWN
                              * where the GPUs lack the rates of its class */
    haul_kernel_bound bound; /* HAUL_KERNEL_BOUNDS: not known */
    double shared;           /* of the interval's half width, the part that all kernels of the class
                              * share; the root of the rest of its square is the kernel's own */
} haul_kernel_prediction;

/* The time on `to` of a kernel recorded on `from`, by its class: products by the sustained rate of
 * their precision and the blocks of the busiest multiprocessor, streaming kernels by the sustained
 * bandwidth, grids that leave most of the GPU empty by cycles; others as
 * haul_kernel_scale_launches. Never less than the memory and the arithmetic of the target allow,
 * where bytes and flops are known. Collectives keep their time. Returns MISSING where no ratio is
 * known on both. */
HAUL_API haul_status haul_kernel_predict(const haul_machine *from, const haul_machine *to,
                                         const haul_kernel_work *work, haul_kernel_prediction *out,
                                         haul_error *error);

/* A sum of predictions of one class. Starts as zero. */
typedef struct haul_kernel_sum {
    double seconds;
    double shared_s[2];    /* down, up: what kernels of the class miss together */
    double own_squared[2]; /* and each by itself, s^2 */
} haul_kernel_sum;

HAUL_API void haul_kernel_sum_add(haul_kernel_sum *self, const haul_kernel_prediction *one);

/* The variance of the sum, in units of its interval's half width: how far it reaches down (0) or up
 * (1), squared. Classes miss apart, so theirs add up. */
HAUL_API double haul_kernel_sum_squared(const haul_kernel_sum *self, int up);

HAUL_END

#endif
