/* The state of giving advice. */
#ifndef HAUL_ADVISE_ADVISOR_H
#define HAUL_ADVISE_ADVISOR_H

#include "advise/study.h"
#include "base/grow.h"
#include "haul/project.h"
#include "project/notes.h"
#include "timeline/recorded_waits.h"

/* A plan's workload with its timeline. */
typedef struct haul_advised_run {
    haul_rewritten draft;
    haul_timeline *timeline;
} haul_advised_run;

typedef struct haul_found {
    haul_candidate candidate;
    haul_advice advice;
    bool taken; /* into the plan of all */
} haul_found;

typedef struct haul_advisor {
    haul_advice_list out; /* first: haul_advice_free gets its address */
    haul_arena arena;
    haul_notes notes;
    const haul_workload *workload;
    const haul_advise_options *options;
    haul_machine *recorded;
    haul_machine *target;        /* completed from the recording machine; or NULL */
    haul_projection *projection; /* onto it */
    const char *borrowed; /* who lent the parameters that complete the recorded machine, or NULL */
    haul_timeline_device device;
    haul_study study;
    haul_rewrite plan;
    haul_candidates candidates;
    haul_found *found; /* out.count */
    size_t found_capacity;
    haul_timeline *before;
    int64_t end_ns;            /* of that */
    bool *critical;            /* whether each operation is on its critical path */
    haul_recorded_waits waits; /* of the profile */
    haul_advised_run together;
    uint64_t most_ops;
    uint64_t scheduled;
} haul_advisor;

/* Finds the machine, the durations on it and its device. In advised_machine.c. */
haul_status haul_advisor_machine(haul_advisor *self, haul_error *error);

/* Schedules the plan; the run is kept where `run` is not NULL. In advised_run.c. */
haul_status haul_advisor_schedule(haul_advisor *self, int64_t *saved_ns, haul_advised_run *run,
                                  haul_error *error);
void haul_advised_run_release(haul_advised_run *run);
bool haul_advisor_may_schedule(const haul_advisor *self, double share);

/* Fills the calls and words of a piece of advice from the plan; false without memory. In
 * advised_calls.c. */
bool haul_advisor_describe(haul_advisor *self, haul_found *found);

/* Makes changes together, the most saving first, each where it saves beside the others. In
 * together.c. */
haul_status haul_advisor_together(haul_advisor *self, haul_error *error);

/* Notes what part of the collectives is exposed. In advised_collectives.c. */
haul_status haul_advisor_collectives(haul_advisor *self, haul_error *error);

/* What the reader must know. In advised_machine.c. */
void haul_advisor_note(haul_advisor *self);

static inline double haul_advisor_share(const haul_advisor *self, int64_t saved_ns)
{
    return self->out.baseline_ns > 0 ? (double)saved_ns / (double)self->out.baseline_ns : 0;
}

#endif
