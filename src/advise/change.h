/* Changes that a programmer could make, as rewrites of a recorded workload: one table holds them
 * all. A change finds candidates and, for one of them, edits a plan. */
#ifndef HAUL_ADVISE_CHANGE_H
#define HAUL_ADVISE_CHANGE_H

#include "advise/call_groups.h"
#include "advise/rewrite.h"
#include "base/arena.h"
#include "base/intervals.h"
#include "haul/advise.h"
#include "haul/cost.h"

/* What the changes know. */
typedef struct haul_study {
    const haul_workload *workload;
    const int64_t *durations_ns;      /* of the device's operations; NULL: the workload's own */
    const int64_t *call_durations_ns; /* likewise of calls */
    const haul_machine *machine;      /* that prices copies */
    haul_call_groups groups;
    int64_t threshold_ns; /* what saves less is not said */
    const bool *critical; /* operations that decide the end of the run before changes */
    double host_share;    /* of that run, in which the host alone decides */
    uint32_t *waited;     /* of each stream the last operation that the host waits for */
    uint32_t *fetched;    /* of a copy to the device, the one to the host that it may bring back */
    struct haul_price_cache *prices;
    haul_arena *arena;
    struct haul_gap *gaps; /* figures that were asked for and are missing */
    size_t gap_count;
    bool failed; /* no memory */
} haul_study;

typedef struct haul_gap {
    const char *change;
    const char *figure; /* what the model says is missing */
    haul_direction direction;
    haul_memory memory;
    uint64_t copies;
} haul_gap;

enum { HAUL_GAPS = 32, HAUL_VARIANTS = 4 };

typedef struct haul_candidate {
    const struct haul_change *change;
    uint32_t subject;  /* a group, a stream, a name: what the change makes of it */
    uint32_t aspect;   /* likewise */
    uint32_t variants; /* ways of doing it, 1 to HAUL_VARIANTS: the best is taken */
    uint32_t variant;  /* that is tried */
    int64_t bound_ns;  /* no more can be saved */
    int64_t rank_ns;   /* what of that is known to decide the end: it is tried by this */
} haul_candidate;

typedef struct haul_candidates {
    haul_candidate *items;
    size_t count;
    size_t capacity;
} haul_candidates;

/* What a plan does to the copies that it touches. */
typedef struct haul_effect {
    uint64_t count;
    uint64_t bytes;
    uint64_t largest;
    int64_t before_ns; /* their durations' sum */
    int64_t after_ns;
    int64_t calls_ns; /* of their calls, before */
    int64_t waits_ns; /* of the host's waits that are left out */
    uint64_t pinned;  /* of them, pageable before and pinned now */
    uint64_t pinned_bytes;
    uint64_t pinned_largest;
    uint64_t left_out;
    const char *calls; /* "240 cudaMemcpy HtoD of 4 MiB, pageable" */
} haul_effect;

typedef struct haul_change {
    const char *word;
    const char *summary; /* one line */
    haul_certainty certainty;
    /* Adds candidates; a figure that is missing is a gap, no error. */
    void (*find)(haul_study *study, haul_candidates *out);
    /* Edits a plan that may hold other changes. */
    void (*apply)(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan);
    /* Fills what, why, assumes and needs; strings are the arena's. */
    void (*tell)(haul_study *study, const haul_candidate *candidate, const haul_effect *effect,
                 haul_advice *advice);
} haul_change;

/* In the order in which they are applied together. In changes.c. */
extern const haul_change *const haul_changes[];
extern const size_t haul_change_total;

extern const haul_change haul_change_pin;
extern const haul_change haul_change_symbol;
extern const haul_change haul_change_redundant;
extern const haul_change haul_change_round_trip;
extern const haul_change haul_change_batch;
extern const haul_change haul_change_map;
extern const haul_change haul_change_prefetch;
extern const haul_change haul_change_stream;
extern const haul_change haul_change_split;

/* Duration of an operation before any change. */
static inline int64_t haul_study_dur(const haul_study *study, uint32_t op)
{
    return study->durations_ns ? study->durations_ns[op] : study->workload->ops[op].dur_ns;
}

/* The same of a call of the device's operations. */
static inline int64_t haul_study_call_dur(const haul_study *study, uint32_t op)
{
    return study->call_durations_ns ? study->call_durations_ns[op]
                                    : study->workload->ops[op].call_dur_ns;
}

/* What of an operation's time, and of its call's, decides the end. */
static inline int64_t haul_study_weight(const haul_study *study, uint32_t op)
{
    const double call_ns = (double)haul_study_call_dur(study, op);
    return haul_add_ns(study->critical[op] ? haul_study_dur(study, op) : 0,
                       (int64_t)(study->host_share * call_ns));
}

/* Adds an operation whose time and call may vanish. */
static inline void haul_candidate_count(const haul_study *study, haul_candidate *candidate,
                                        uint32_t op)
{
    const int64_t call_ns = study->workload->ops[op].call_dur_ns;
    candidate->bound_ns =
        haul_add_ns(candidate->bound_ns, haul_add_ns(haul_study_dur(study, op), call_ns));
    candidate->rank_ns = haul_add_ns(candidate->rank_ns, haul_study_weight(study, op));
}

/* The time of one copy on the machine in seconds; false where a figure is missing, which becomes a
 * gap of `copies` copies where `change` is not NULL. */
bool haul_study_price(haul_study *study, const haul_copy *copy, const haul_change *change,
                      uint64_t copies, double *seconds);

/* What an operation's duration becomes where its copy costs `after` for `before`. */
int64_t haul_study_scaled(haul_study *study, int64_t dur_ns, const haul_copy *before,
                          const haul_copy *after);

/* The copy of an operation, in the memory that the plan has for it. */
haul_copy haul_study_copy(const haul_rewrite *plan, uint32_t op);

/* Whether the copy crosses the host's link: from host to device or back. */
static inline bool haul_op_crosses(const haul_op *op)
{
    return op->kind == HAUL_OP_COPY && op->direction <= HAUL_DTOH;
}

/* Pins a copy's memory: its duration becomes that of a pinned copy, and an asynchronous call does
 * not block any more. Nothing where it is not pageable, or already done. */
void haul_study_pin(haul_study *study, haul_rewrite *plan, uint32_t op);

/* Whether both kinds of memory have a price in a direction; else a gap. */
bool haul_study_can_pin(haul_study *study, const haul_change *change, haul_direction direction,
                        uint64_t bytes, uint64_t copies);

/* Adds a candidate where its bound reaches the threshold; `candidate->bound_ns` is set. */
void haul_candidates_add(haul_study *study, haul_candidates *out, const haul_candidate *candidate);

/* Texts: a formatted string; a time; a number of bytes; of the arena. */
const char *haul_study_text(haul_study *study, const char *format, ...) HAUL_PRINTF(2, 3);
const char *haul_study_time(haul_study *study, int64_t ns);
const char *haul_study_bytes(haul_study *study, uint64_t bytes);

/* "needs 4 MiB of pinned memory ..." for what a plan pins, or NULL. */
const char *haul_study_pinned_need(haul_study *study, const haul_effect *effect);

#endif
