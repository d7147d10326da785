/* Changes that a programmer could make, as rewrites of a recorded workload: one list holds them
 * all. A change finds candidates and, for one of them, edits a plan. */
#ifndef HAUL_ADVISE_CHANGE_H
#define HAUL_ADVISE_CHANGE_H

#include "advise/rewrite.h"
#include "base/arena.h"
#include "base/intervals.h"
#include "haul/advise.h"
#include "project/size_class.h"
#include "workload/op_class.h"

/* Times lent by a machine of the catalogue for kinds of copies that the profile does not have. Its
 * slot is not known, so that at the slow end its link may be a generation older. */
typedef struct hl_advise_loan {
    const char *from;             /* "'t4' of the catalogue, which has the same GPU"; or NULL */
    const char *why_none;         /* else */
    bool kinds[2][HAUL_MEMORIES]; /* by direction and memory */
    haul_machine *slower;         /* on the link before; NULL: there is none */
} hl_advise_loan;

typedef enum hl_advise_end { HL_ADVISE_LIKELY, HL_ADVISE_FAST, HL_ADVISE_SLOW } hl_advise_end;

/* The data that all changes share. */
typedef struct hl_advise_study {
    const haul_workload *workload;
    const int64_t *durations_ns;      /* of the device's operations; NULL: the workload's own */
    const int64_t *call_durations_ns; /* likewise of calls */
    const haul_machine *machine;      /* that changed copies are predicted on */
    double given_link_Bps;            /* peak of the given recording machine's link, or 0 */
    hl_project_size_classes classes;  /* of the copies, by call */
    uint32_t *class_of;               /* of each operation that is a copy */
    uint32_t *staged_ns;              /* of each class, of one call: see hl_project_staging_find */
    uint64_t impossible;              /* copies that moved nothing */
    bool
        is_fitted; /* the machine's link, to the profile's copies; if so, by direction and memory */
    double limit_Bps[2][HAUL_MEMORIES]; /* the rate of the fastest of them; 0: there are none */
    int64_t threshold_ns;               /* changes that save less are hidden */
    int64_t free_call_ns;               /* how long a call takes that returns at once */
    const int64_t *held_ns;   /* in the run before changes: how long each call or wait took */
    const int64_t *device_ns; /* from when each operation could start, but for its engine, to its
                               * end, and the host's waits for it */
    const bool *critical;     /* operations on the critical path of the run before changes */
    double host_share;        /* of that path */
    uint32_t *waited;         /* of each stream the last operation that the host waits for */
    uint32_t *fetched; /* of a copy to the device, the one to the host that it may bring back */
    struct hl_cost_time_cache *times;
    const hl_advise_loan *loan;
    struct hl_cost_time_cache *slower_times; /* on its slower machine */
    hl_advise_end end;                       /* of what is lent that copies are predicted with */
    bool used_loan;                          /* set by a prediction that rests on it */
    hl_base_arena *arena;
    struct hl_advise_gap *gaps; /* parameters that were asked for and are missing */
    size_t gap_count;
    bool failed; /* no memory */
} hl_advise_study;

typedef struct hl_advise_gap {
    const char *change;
    const char *parameter; /* as the model names it */
    haul_direction direction;
    haul_memory memory;
    uint64_t copies;
} hl_advise_gap;

enum { HL_ADVISE_GAPS = 32, HL_ADVISE_VARIANTS = 4 };

typedef struct hl_advise_candidate {
    const struct hl_advise_change *change;
    uint32_t subject;  /* a class, a stream, a name: the change knows */
    uint32_t aspect;   /* likewise */
    uint32_t variants; /* ways of doing it, 1 to HL_ADVISE_VARIANTS: the best is taken */
    uint32_t variant;  /* that is tried */
    int64_t bound_ns;  /* no more can be saved */
    int64_t rank_ns;   /* the part of it on the critical path: candidates are tried by this */
    int64_t host_ns;   /* no more of the calls that do not wait can go; INT64_MAX: not known */
} hl_advise_candidate;

typedef struct hl_advise_candidates {
    hl_advise_candidate *items;
    size_t count;
    size_t capacity;
} hl_advise_candidates;

/* The effect of a plan on the copies that it touches. */
typedef struct hl_advise_effect {
    uint64_t count;
    uint64_t bytes;
    uint64_t largest;
    int64_t before_ns; /* their durations' sum */
    int64_t after_ns;
    int64_t calls_ns; /* of their calls, before */
    int64_t waits_ns; /* of the host's waits that vanish */
    int64_t locks_ns; /* of page-locking, which is added */
    uint64_t pinned;  /* of them, pageable before and pinned now */
    uint64_t pinned_bytes;
    uint64_t pinned_largest;
    uint64_t left_out;
    const char *calls; /* "240 cudaMemcpy HtoD of 4 MiB, pageable" */
} hl_advise_effect;

typedef struct hl_advise_change {
    const char *word;
    const char *summary; /* one line */
    haul_certainty certainty;
    /* Adds candidates; a missing parameter is a gap, no error. */
    void (*find)(hl_advise_study *study, hl_advise_candidates *out);
    /* Edits a plan that may hold other changes. */
    void (*apply)(hl_advise_study *study, const hl_advise_candidate *candidate,
                  hl_advise_rewrite *plan);
    /* Fills what, why, assumes and needs; strings are the arena's. */
    void (*tell)(hl_advise_study *study, const hl_advise_candidate *candidate,
                 const hl_advise_effect *effect, haul_advice *advice);
} hl_advise_change;

/* In changes.c, in the order of change_list.h. */
extern const hl_advise_change *const hl_advise_changes[];
extern const size_t hl_advise_change_total;

#define HAUL_CHANGE(name) extern const hl_advise_change hl_advise_change_##name;
#include "advise/change_list.h"
#undef HAUL_CHANGE

/* Duration of an operation before any change. */
static inline int64_t hl_advise_study_dur(const hl_advise_study *study, uint32_t op)
{
    return study->durations_ns ? study->durations_ns[op] : study->workload->ops[op].dur_ns;
}

/* The same of a call of the device's operations. */
static inline int64_t hl_advise_study_call_dur(const hl_advise_study *study, uint32_t op)
{
    return study->call_durations_ns ? study->call_durations_ns[op]
                                    : study->workload->ops[op].call_dur_ns;
}

/* The part of an operation's time, and of its call's, that is on the critical path. */
static inline int64_t hl_advise_study_weight(const hl_advise_study *study, uint32_t op)
{
    return hl_base_add_ns(study->critical[op] ? hl_advise_study_dur(study, op) : 0,
                          (int64_t)(study->host_share * (double)study->held_ns[op]));
}

/* The time of a call that does not wait; it is the host's own. */
static inline int64_t hl_advise_study_host_ns(const hl_advise_study *study, uint32_t op)
{
    return study->workload->ops[op].flags & HAUL_OP_BLOCKS ? 0
                                                           : hl_advise_study_call_dur(study, op);
}

/* The part of it that goes at most where the call stays and returns at once. */
static inline int64_t hl_advise_study_freed_ns(const hl_advise_study *study, uint32_t op)
{
    const int64_t freed_ns = hl_advise_study_host_ns(study, op) - study->free_call_ns;
    return freed_ns > 0 ? freed_ns : 0;
}

/* The time of a call or a wait to tell people: as recorded, or as the other machine makes it. */
static inline int64_t hl_advise_study_said_ns(const hl_advise_study *study, uint32_t op)
{
    return study->durations_ns ? study->held_ns[op]
                               : hl_workload_call_dur_ns(&study->workload->ops[op]);
}

/* The most that the run can be shorter for what is done to an operation and its call. */
static inline int64_t hl_advise_study_most_ns(const hl_advise_study *study, uint32_t op)
{
    return hl_base_add_ns(study->device_ns[op], study->held_ns[op]);
}

/* Adds an operation whose time and call may vanish. */
static inline void hl_advise_candidate_count(const hl_advise_study *study,
                                             hl_advise_candidate *candidate, uint32_t op)
{
    candidate->bound_ns = hl_base_add_ns(candidate->bound_ns, hl_advise_study_most_ns(study, op));
    candidate->rank_ns = hl_base_add_ns(candidate->rank_ns, hl_advise_study_weight(study, op));
    candidate->host_ns = hl_base_add_ns(candidate->host_ns, hl_advise_study_host_ns(study, op));
}

/* The time of one copy on the machine in seconds; false where a parameter is missing, which becomes
 * a gap of `copies` copies where `change` is not NULL. */
bool hl_advise_study_copy_time(hl_advise_study *study, const haul_copy *copy,
                               const hl_advise_change *change, uint64_t copies, double *seconds);

/* An operation's duration times the ratio of the predicted times of `after` and `before`, but no
 * faster than limit_Bps. */
int64_t hl_advise_study_scaled(hl_advise_study *study, int64_t dur_ns, const haul_copy *before,
                               const haul_copy *after);

/* The copy of an operation, in the memory that the plan has for it. */
haul_copy hl_advise_study_copy(const hl_advise_rewrite *plan, uint32_t op);

/* Whether an operation is a copy that moves bytes between host and device. */
static inline bool hl_advise_study_crosses(const hl_advise_study *study, uint32_t op)
{
    const haul_op *copy = &study->workload->ops[op];
    return haul_op_crosses_link(copy) && !study->classes.items[study->class_of[op]].impossible;
}

/* Pins a copy's memory: its duration becomes that of a pinned copy, and an asynchronous call does
 * not block any more. The first copy of a class waits while its buffer is page-locked; the others
 * are taken to use that buffer. Nothing where it is not pageable, or already done. */
void hl_advise_study_pin(hl_advise_study *study, hl_advise_rewrite *plan, uint32_t op);

/* The host page-locks the buffer of a copy's class, unless it is pinned or locked already, before
 * it calls `user`, the first operation that needs it: the copy, or a kernel that writes to it. */
void hl_advise_buffer_lock(const hl_advise_study *study, hl_advise_rewrite *plan, uint32_t op,
                           uint32_t user);

/* Seconds to page-lock so many bytes. */
double hl_advise_page_lock_s(double bytes);

/* Whether copies of both kinds of memory are predicted in a direction; else a gap. */
bool hl_advise_study_can_pin(hl_advise_study *study, const hl_advise_change *change,
                             haul_direction direction, uint64_t bytes, uint64_t copies);

/* Adds a candidate, unless its bound is 0. */
void hl_advise_candidates_add(hl_advise_study *study, hl_advise_candidates *out,
                              const hl_advise_candidate *candidate);

/* For a change about calls of one name, direction and memory, as far as `takes` takes their size: a
 * candidate for each, by the place of its first class; and `edit` for each copy of one. */
typedef bool (*hl_advise_class_test)(hl_advise_study *study, const hl_project_size_class *one);
void hl_advise_calls_find(hl_advise_study *study, hl_advise_class_test takes,
                          hl_advise_candidates *out);
void hl_advise_calls_edit(hl_advise_study *study, const hl_advise_candidate *candidate,
                          hl_advise_class_test takes,
                          void (*edit)(hl_advise_study *study, hl_advise_rewrite *plan,
                                       uint32_t op),
                          hl_advise_rewrite *plan);

/* For a change about calls of one size: a candidate for each class; `count` adds what the change
 * may save of a copy, if anything. */
void hl_advise_classes_find(hl_advise_study *study,
                            void (*count)(hl_advise_study *study, uint32_t op,
                                          hl_advise_candidate *candidate),
                            hl_advise_candidates *out);

/* A walk over the device's operations, with a state for each stream. */
typedef struct hl_advise_stream_walk {
    size_t size;       /* of a state */
    const void *empty; /* that it begins as */
    void (*visit)(hl_advise_study *study, void *state, uint32_t op, void *context);
    void (*end)(hl_advise_study *study, void *state, void *context); /* of a stream; or NULL */
} hl_advise_stream_walk;
void hl_advise_study_walk(hl_advise_study *study, const hl_advise_stream_walk *walk, void *context);

/* Texts: a formatted string; a time; a number of bytes; of the arena. */
const char *hl_advise_study_text(hl_advise_study *study, const char *format, ...) HAUL_PRINTF(2, 3);
const char *hl_advise_study_time(hl_advise_study *study, int64_t ns);
const char *hl_advise_study_bytes(hl_advise_study *study, uint64_t bytes);

/* "needs 4 MiB of pinned memory ..." for what a plan pins, or NULL. */
const char *hl_advise_study_pinned_need(hl_advise_study *study, const hl_advise_effect *effect);

#endif
