/* Copies overlapped with a kernel: the strategies of van Werkhoven et al. (CCGrid 2014) as an
 * analytical model and as workloads of a timeline, their bounds, and the number of streams.
 * docs/overlap.md has the formulas.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_OVERLAP_H
#define HAUL_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "haul/machine.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* name, word, what it is */
#define HAUL_STRATEGY_LIST(X)                                                                      \
    X(EXPLICIT, "explicit") /* copy all in, compute, copy all out */                               \
    X(STREAMS, "streams")   /* copies and kernels in chunks, a stream each */                      \
    X(MAPPED, "mapped")     /* the kernel reads and writes mapped host memory */                   \
    X(HYBRID, "hybrid")     /* chunks copied in by streams, output written to mapped memory */

typedef enum haul_strategy {
#define HAUL_STRATEGY_ENUM(name, word) HAUL_STRATEGY_##name,
    HAUL_STRATEGY_LIST(HAUL_STRATEGY_ENUM)
#undef HAUL_STRATEGY_ENUM
} haul_strategy;

enum { HAUL_STRATEGIES = HAUL_STRATEGY_HYBRID + 1 };

HAUL_API const char *haul_strategy_word(haul_strategy strategy);

/* Whether the strategy's time depends on a number of streams. */
HAUL_API bool haul_strategy_has_streams(haul_strategy strategy);

/* The three kinds of device (CCGrid 2014, IV). One that synchronises streams by itself is the first
 * whatever its engines are. */
typedef enum haul_overlap_device_kind {
    HAUL_IMPLICIT_SYNC,
    HAUL_ONE_ENGINE,
    HAUL_TWO_ENGINES,
} haul_overlap_device_kind;

/* The bytes and the computation of one run of a program. */
typedef struct haul_overlap_work {
    uint64_t in_bytes;  /* host to device */
    uint64_t out_bytes; /* device to host */
    double kernel_s;
    double reads;  /* how often each byte in crosses the link where it is mapped; 0 or from 1 on */
    double writes; /* and each byte out */
} haul_overlap_work;

/* The copies of one direction: B, L+o, G and g. All are 0 where nothing is copied. */
typedef struct haul_overlap_leg {
    double bytes;
    double times; /* that a byte crosses the link where it is mapped */
    double latency_s;
    double per_byte_s;
    double gap_s;
    double busy_per_byte_s;   /* while copies run the other way; at least per_byte_s */
    double mapped_per_byte_s; /* while a kernel's mapped memory moves the other way; likewise */
} haul_overlap_leg;

/* Parameters that a machine lacks and what is taken for them; see haul_overlap_describe. */
enum {
    HAUL_ASSUMED_GAP = 1,
    HAUL_ASSUMED_BUSY = 2,
    HAUL_ASSUMED_MAPPED = 4,
    HAUL_ASSUMED_SYNC = 8,    /* streams are not synchronised by the device */
    HAUL_ASSUMED_ENGINES = 16 /* there are two copy engines */
};

/* All that the formulas need. */
typedef struct haul_overlap_case {
    haul_overlap_device_kind device;
    haul_overlap_leg in;
    haul_overlap_leg out;
    double kernel_s;
    /* On the timeline alone, 0 by default: of the kernel's time, what each chunk's kernel takes
     * again; and of the bytes in, those that every chunk needs: they are copied first. */
    double launch_s;
    double shared_bytes;
    /* The host queues one operation after another, each with a call of so long, copies in with one
     * more where `marks` says that each is followed by an event. */
    double call_s;
    bool marks;
    haul_provenance weakest; /* of the parameters it rests on */
    unsigned assumed;
    /* The legs where copies are as fast, and as slow, as the cost model's interval has them. Only
     * with has_ends. */
    bool has_ends;
    haul_overlap_leg in_ends[2];
    haul_overlap_leg out_ends[2];
} haul_overlap_case;

/* The kind of device at the fast (0) and the slow (1) end: another than `device` where
 * gpu.implicit_sync or gpu.copy_engines is assumed. */
HAUL_API haul_overlap_device_kind haul_overlap_device_end(const haul_overlap_case *self, int end);

/* Puts a machine's parameters of pinned copies (near) to a program's work. L+o and G are those of
 * the model `auto`. Where the machine lacks `gap` it is L+o, which it is never above; where it
 * lacks `busy_rate` or `mapped_rate` the shares of the rate that others measured are taken, and the
 * result is as weak as an assumed parameter. So it is where the machine lacks implicit_sync or
 * copy_engines, which not every device lets one measure: two engines without synchronisation are
 * assumed, as most GPUs since 2012 have them. The ends have the intervals of that model, all that
 * was measured elsewhere for an assumed rate, for an assumed gap 0 to L+o, and for an assumed kind
 * of device the fastest and the slowest that it may be; a gap and a ratio of rates that the machine
 * has stay. Returns MISSING where the copies cannot be timed, and BAD_INPUT for a time or a count
 * that is negative or not finite. */
HAUL_API haul_status haul_overlap_describe(const haul_machine *machine,
                                           const haul_overlap_work *work, haul_overlap_case *out,
                                           haul_error *error);

/* The same on the next generation of PCIe: G divided by the ratio of the generations' peaks,
 * latencies and gaps kept. `generation` is then the new one. Returns MISSING where the link is not
 * PCIe or its generation is the newest. */
HAUL_API haul_status haul_overlap_next_generation(const haul_machine *machine,
                                                  const haul_overlap_case *self,
                                                  haul_overlap_case *out, int *generation,
                                                  haul_error *error);

/* Time of a strategy with `streams` streams, from 1 on, in seconds. explicit and mapped have none.
 */
HAUL_API double haul_overlap_time(const haul_overlap_case *self, haul_strategy strategy,
                                  uint32_t streams);

/* The same with the parameters at their fast and at their slow ends; the kernel's time, which is
 * the caller's, is what it is. mapped's slow end has its two directions slow each other, as copies
 * are that meet mapped memory. Both are that time where the case has no ends. */
HAUL_API void haul_overlap_interval(const haul_overlap_case *self, haul_strategy strategy,
                                    uint32_t streams, double *low_s, double *high_s);

enum { HAUL_OVERLAP_STREAMS_MOST = 65536 };

/* The number of streams, up to HAUL_OVERLAP_STREAMS_MOST, of the least time; the fewest of those.
 */
HAUL_API uint32_t haul_overlap_best_streams(const haul_overlap_case *self, haul_strategy strategy);

/* The fewest streams whose time is within `share` of the least: 0.01 for one percent. */
HAUL_API uint32_t haul_overlap_enough_streams(const haul_overlap_case *self, haul_strategy strategy,
                                              double share);

/* The largest number of streams that is useful by the paper's formulas (section VI), not rounded;
 * infinite where they know none. `kernel_dominates` chooses the scenario. */
HAUL_API double haul_overlap_useful_streams(const haul_overlap_case *self, bool kernel_dominates);

/* Whether the kernel takes longer than all copies, in the order that the device allows: the paper's
 * scenario. */
HAUL_API bool haul_overlap_kernel_dominates(const haul_overlap_case *self);

/* The resource that bounds a strategy: the one that is busy longest. */
typedef enum haul_overlap_bound {
    HAUL_OVERLAP_BOUND_KERNEL,
    HAUL_OVERLAP_BOUND_IN,     /* copies to the device */
    HAUL_OVERLAP_BOUND_OUT,    /* copies from it */
    HAUL_OVERLAP_BOUND_COPIES, /* both, one after the other */
} haul_overlap_bound;

HAUL_API const char *haul_overlap_bound_text(haul_overlap_bound bound);

/* The numbers of streams that programs use: 1, 2, 4, 8, 16, 32. */
enum { HAUL_USUAL_STREAMS = 6 };

typedef struct haul_overlap_row {
    haul_strategy strategy;
    uint32_t streams; /* 1 where the strategy has none; so the next two */
    uint32_t best_streams;
    uint32_t enough_streams; /* the fewest within 1 % of the best number's time */
    double seconds;      /* by the analytical model; after haul_overlap_play_all on the timeline */
    double analytical_s; /* by the analytical model, haul_overlap_time */
    double low_s;        /* at both ends of what is known of the machine */
    double high_s;
    /* Set by haul_overlap_play_all; before that, and beyond what a timeline holds, NaN and 0. */
    double engine_s;         /* haul_overlap_play, in as many streams */
    double engine_enough_s;  /* the same in engine_streams */
    uint32_t engine_streams; /* the fewest of 1, 2, 3, 4, 6, 8, 12, ... 1024 within 1 % of their
                              * least time on the timeline; 1 where the strategy has none */
    double least_s;          /* in any number of streams, as `seconds` is */
    double usual_s[HAUL_USUAL_STREAMS]; /* in 1, 2, 4, ... 32 streams, likewise */
    haul_overlap_bound bound;
    double bound_s; /* that it is busy */
} haul_overlap_row;

/* The strategies beside each other. */
typedef struct haul_overlap {
    haul_overlap_row rows[HAUL_STRATEGIES]; /* by haul_strategy */
    uint32_t asked;                         /* number of streams, or 0 */
    /* Of the least time; one that maps memory only where it is faster by more than such predictions
     * were off (docs/overlap.md). Of equals the first. */
    haul_strategy best;
    double gain;     /* explicit's time by the best one's; 1 where both are 0 */
    double full_s;   /* no strategy is faster: all of it at once (the roofline's full overlap) */
    double none_s;   /* nothing at once, no latencies */
    double mapped_s; /* full overlap of what crosses the link where all is mapped */
    double useful;   /* haul_overlap_useful_streams of the scenario; infinite: no limit known */
    bool kernel_dominates;
    /* How often a byte in, and one out, may cross the link until copies, explicit or in streams,
     * are as fast as the best strategy, where that maps them; else NaN. */
    double reads_most;
    double writes_most;
} haul_overlap;

/* By the analytical model, with `streams` streams. For 0 the fewest of 1, 2, 4, ... 32 within 5 %
 * of the best time in any number, or the best of them: each stream more costs the program calls and
 * buffers, and few programs have more. */
HAUL_API void haul_overlap_compare(const haul_overlap_case *self, uint32_t streams,
                                   haul_overlap *out);

/* A strategy as a workload of chunks that are there from the beginning, in the order of the paper's
 * parameters: all copies in, all kernels, all copies back. A stream has one of each, no host is in
 * it.
 *
 * explicit is one chunk, mapped one kernel that takes what its formula says, both directions at the
 * rate of a busy link. hybrid's kernels write mapped memory while they run: a chunk is a kernel
 * and, beside it on a stream of their own, its writes as a copy from the device, and the next
 * begins when both have ended. So copies in are slow only while something is written. Results of
 * the last chunk are there a latency after the kernel.
 *
 * Returns BAD_INPUT for parameters that are negative or not finite, and where they are more than a
 * workload holds: 2^61 ns or bytes. The caller frees the workload. */
HAUL_API haul_status haul_overlap_workload(const haul_overlap_case *self, haul_strategy strategy,
                                           uint32_t streams, haul_workload **workload,
                                           haul_error *error);

/* The makespan of that workload on the device's timeline, beside haul_overlap_time. Returns what
 * haul_overlap_workload does. */
HAUL_API haul_status haul_overlap_play(const haul_overlap_case *self, haul_strategy strategy,
                                       uint32_t streams, double *seconds, haul_error *error);

/* Makes the comparison that of the timeline: the times, their intervals, the best strategy, and the
 * numbers of streams where none was asked for (as haul_overlap_compare chooses them, any number
 * being 1, 2, 3, 4, 6, ... 1024). A row that no timeline holds stays. Returns NO_MEMORY. */
HAUL_API haul_status haul_overlap_play_all(const haul_overlap_case *self, haul_overlap *of,
                                           haul_error *error);

/* Assumptions of the analytical model. */
#define HAUL_ASSUMPTION_LIST(X)                                                                    \
    X(CONTENTION, 1, "copies in both directions slow each other for all of their time")            \
    X(MAPPED, 2, "mapped memory moves both ways at full rate")                                     \
    X(ENDS, 4, "the last chunk is written after it has been computed")                             \
    X(LATENCY, 8, "the last copy back costs a latency, or all of them follow each other")          \
    X(GAP, 16, "a copy back behind another costs no more than one by itself")

enum {
#define HAUL_ASSUMPTION_ENUM(name, bit, text) HAUL_ASSUMPTION_##name = (bit),
    HAUL_ASSUMPTION_LIST(HAUL_ASSUMPTION_ENUM)
#undef HAUL_ASSUMPTION_ENUM
};

/* The assumptions that do not hold, together. With none, the analytical model and the timeline
 * agree to what a timeline rounds: its times are whole nanoseconds. */
HAUL_API unsigned haul_overlap_unmet(const haul_overlap_case *self, haul_strategy strategy,
                                     uint32_t streams);

/* Between which times haul_overlap_play lies, by formula (docs/overlap.md). They are apart
 * by the difference of L+o and g of one copy, and by contention. */
HAUL_API void haul_overlap_limits(const haul_overlap_case *self, haul_strategy strategy,
                                  uint32_t streams, double *low_s, double *high_s);

/* A point of the curve over the number of streams. */
typedef struct haul_overlap_point {
    uint32_t streams;
    double analytical_s; /* haul_overlap_time */
    double engine_s;     /* haul_overlap_play */
} haul_overlap_point;

enum { HAUL_OVERLAP_POINTS = 17 };

/* The times of 1, 2, 4, ... streams, up to `most` or HAUL_OVERLAP_STREAMS_MOST; a strategy without
 * streams has them level. Up to 65536 streams takes 0.5 s. Returns what haul_overlap_play does. */
HAUL_API haul_status haul_overlap_curve(const haul_overlap_case *self, haul_strategy strategy,
                                        uint32_t most,
                                        haul_overlap_point points[HAUL_OVERLAP_POINTS],
                                        size_t *count, haul_error *error);

/* C = A B + C in square tiles, in three streams: copies in, products, copies back. Each tile of A,
 * B and C that is on the host is copied in once, when it is first needed, and a tile of C back
 * after its last product; products are in order of rows, columns, then the sum. A tile at the edge
 * costs its share of a full one. */
typedef struct haul_blocked_product {
    uint64_t m; /* C is m x n, the sum k long */
    uint64_t n;
    uint64_t k;
    uint64_t tile;
    bool a_on_host;
    bool b_on_host;
    bool c_on_host;
    /* The rest of a dimension behind whole tiles is a tile of its own where it is more than this
     * share of one, from 0 to 1; else the last tile is longer by it. 0, the default: always its
     * own. */
    double edge_alone;
    bool out_after_in; /* no copy back starts before all copies in have ended */
    /* The host issues at most so many operations of a stream ahead (the launch queue); 0: all of
     * them at once, in any order. */
    unsigned queue_depth;
    bool back_at_once; /* a tile of C is sent back right after its last product, not after all */
} haul_blocked_product;

/* A grid of rows x columns in tiles, in three streams: each tile is copied in with `halo` rows and
 * columns around it, computed, and copied back. */
typedef struct haul_blocked_stencil {
    uint64_t rows;
    uint64_t columns;
    uint64_t tile_rows;
    uint64_t tile_columns;
    uint64_t halo;
    unsigned queue_depth; /* as of a product */
    bool back_at_once;
} haul_blocked_stencil;

/* Of a full tile. Copies take the busy time while the other direction copies. */
typedef struct haul_blocked_costs {
    double in_s;
    double in_busy_s;
    double out_s;
    double out_busy_s;
    double kernel_s;
    unsigned copy_engines; /* 0: two */
} haul_blocked_costs;

/* A full tile of an array: its rows are copied one by one where they are not one behind another. */
typedef struct haul_blocked_tile {
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t pitch_bytes; /* from a row to the next; row_bytes: one block */
    double kernel_s;
} haul_blocked_tile;

/* The costs of a tile on a machine: copies of pinned memory by haul_overlap_describe. Rows of less
 * than 5 KB with a pitch are slower, up to 25 % (measured on a V100; taken to grow in proportion).
 * Returns what haul_overlap_describe does. */
HAUL_API haul_status haul_blocked_costs_of(const haul_machine *machine, const haul_blocked_tile *in,
                                           const haul_blocked_tile *out, haul_blocked_costs *costs,
                                           haul_error *error);

enum { HAUL_OVERLAP_PRODUCTS_MOST = 1000000 };

/* Makes the schedule a workload, and the device that runs it as above. Returns BAD_INPUT for no
 * elements, times that are negative or no numbers, more products than the most, and a sum of all
 * times beyond 2^61 ns. Free with haul_workload_free. */
HAUL_API haul_status haul_blocked_workload(const haul_blocked_product *product,
                                           const haul_blocked_costs *costs,
                                           haul_workload **workload, haul_timeline_device *device,
                                           haul_error *error);

/* The same of a stencil; an edge tile costs its share of a full one. */
HAUL_API haul_status haul_blocked_stencil_workload(const haul_blocked_stencil *stencil,
                                                   const haul_blocked_costs *costs,
                                                   haul_workload **workload,
                                                   haul_timeline_device *device, haul_error *error);

/* Schedules such a workload on its device, and sets *timeline, which the caller frees with
 * haul_timeline_free. Calls of the host count: with a limited queue they decide when copies start.
 * Returns what haul_timeline_run does, and INTERNAL for a run below its physical bounds. */
HAUL_API haul_status haul_blocked_run(const haul_workload *workload,
                                      const haul_timeline_device *device, haul_timeline **timeline,
                                      haul_error *error);

/* Time from the first copy's start to the end of all, by the timeline of that workload; each copy
 * and product is rounded to a nanosecond. Returns what haul_blocked_workload does. */
HAUL_API haul_status haul_blocked_time(const haul_blocked_product *product,
                                       const haul_blocked_costs *costs, double *seconds,
                                       haul_error *error);

HAUL_END

#endif
