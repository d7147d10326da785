/* The state of giving advice. */
#ifndef HAUL_ADVISE_ADVISOR_H
#define HAUL_ADVISE_ADVISOR_H

#include "advise/study.h"
#include "base/grow.h"
#include "haul/project.h"
#include "project/notes.h"
#include "timeline/predicted_run.h"
#include "timeline/recorded_waits.h"
#include "workload/places.h"

/* A plan's workload with its timeline. */
typedef struct hl_advise_advised_run {
    hl_advise_rewritten draft;
    haul_timeline *timeline;
} hl_advise_advised_run;

typedef struct hl_advise_found {
    hl_advise_candidate candidate;
    haul_advice advice;
    bool taken; /* into the plan of all */
} hl_advise_found;

/* The run before changes, with the host's time as it is likely or at an end of its interval. */
typedef struct hl_advise_baseline {
    double host_time; /* by the recorded time */
    int64_t run_ns;
    int64_t began_ns; /* on the workload's clock */
} hl_advise_baseline;

/* A plan that was scheduled, at an end of the host's time, and what came of it. */
typedef struct hl_advise_known_run {
    hl_advise_rewrite_key key;
    hl_timeline_bound host_end;
    int64_t saved_ns;
} hl_advise_known_run;

typedef struct hl_advise_advisor {
    haul_advice_list out; /* first: haul_advice_free gets its address */
    hl_base_arena arena;
    hl_project_notes notes;
    const haul_workload *workload;
    const haul_advise_options *options;
    haul_machine *recorded;
    haul_machine *target;        /* completed from the recording machine; or NULL */
    haul_projection *projection; /* onto it */
    hl_advise_loan loan;         /* of parameters that complete the recorded machine */
    bool rests_on_loan;          /* a change that is advised does */
    haul_timeline_device device;
    hl_advise_study study;
    hl_advise_rewrite plan;
    hl_advise_candidates candidates;
    hl_advise_found *found; /* out.count */
    size_t found_capacity;
    haul_timeline *before;
    hl_advise_baseline baselines[HL_TIMELINE_LIKELY + 1];
    hl_timeline_bound host_end; /* that runs are scheduled at */
    int64_t *held_ns;           /* of the study */
    int64_t *device_ns;         /* likewise */
    bool *critical;             /* whether each operation is on its critical path */
    int64_t waits_ns; /* the part of the run before changes in which no host thread that launches
                       * kernels makes calls of its own, and what comes behind the last */
    hl_timeline_recorded_waits waits; /* of the profile */
    hl_advise_advised_run together;
    hl_advise_known_run *known; /* changes are tried alone, then with others, of which there may be
                                 * none */
    size_t known_count;
    size_t known_capacity;
    hl_workload_origins origins; /* of the workload's operations */
    uint32_t *row_of;            /* of op_count: see advised_calls.c */
    uint64_t most_ops;
    uint64_t scheduled;
    int64_t beyond_ns; /* the most that a change saved beyond its bound; tests ask for 0 */
} hl_advise_advisor;

/* Finds the machine, the durations on it and its device. In advised_machine.c. */
haul_status hl_advise_advisor_machine(hl_advise_advisor *self, haul_error *error);

/* Schedules the plan; the run is kept where `run` is not NULL. In advised_run.c. */
haul_status hl_advise_advisor_schedule(hl_advise_advisor *self, int64_t *saved_ns,
                                       hl_advise_advised_run *run, haul_error *error);
/* Schedules the profile without changes at an end of the host's time, and keeps it as what savings
 * at that end are relative to. In advised_run.c. */
haul_status hl_advise_baseline_make(hl_advise_advisor *self, hl_timeline_bound end,
                                    haul_timeline **timeline, haul_error *error);

/* Finds waits_ns: how much longer the run before changes takes than the longest chain of calls,
 * with the time between them and without waits, until its last kernel is launched. No change
 * removes that time, or a kernel. In host_waits.c. */
haul_status hl_advise_waits_find(hl_advise_advisor *self, haul_error *error);

/* Fills the study's held_ns and device_ns from the run before changes. In occupied.c. */
haul_status hl_advise_occupied_find(hl_advise_advisor *self, haul_error *error);

void hl_advise_advised_run_release(hl_advise_advised_run *run);
bool hl_advise_advisor_may_schedule(const hl_advise_advisor *self, double share);

/* Fills the calls and words of a piece of advice from the plan; false without memory. In
 * advised_calls.c. */
bool hl_advise_advisor_describe(hl_advise_advisor *self, hl_advise_found *found);

/* The plan's saving at both ends of what is lent and of the host's time; both are `saved_ns` where
 * nothing is lent and the host's time is known. `refill`
 * makes the plan anew. In advised_run.c. */
typedef void (*hl_advise_refill)(hl_advise_advisor *self, const void *context);
haul_status hl_advise_interval_find(hl_advise_advisor *self, hl_advise_refill refill,
                                    const void *context, int64_t saved_ns, int64_t ends_ns[2],
                                    haul_error *error);

/* Makes changes together, the most saving first, each where it saves beside the others. In
 * together.c. */
haul_status hl_advise_advisor_together(hl_advise_advisor *self, haul_error *error);

/* Notes what part of the collectives is exposed. In advised_collectives.c. */
haul_status hl_advise_advisor_messages(hl_advise_advisor *self, haul_error *error);
haul_status hl_advise_advisor_collectives(hl_advise_advisor *self, haul_error *error);

/* Adds the cautions for the reader. In advised_machine.c. */
haul_status hl_advise_advisor_note(hl_advise_advisor *self, haul_error *error);

static inline double hl_advise_advisor_share(const hl_advise_advisor *self, int64_t saved_ns)
{
    return self->out.baseline_ns > 0 ? (double)saved_ns / (double)self->out.baseline_ns : 0;
}

#endif
