/* Advice: changes to a recorded program, each scheduled anew, ranked by the time that it saves.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_ADVISE_H
#define HAUL_ADVISE_H

#include "haul/analysis.h"
#include "haul/machine.h"
#include "haul/project.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* How far a piece of advice follows from the profile.
 * name, word */
#define HAUL_CERTAINTY_LIST(X)                                                                     \
    X(SAFE, "safe")               /* the program computes the same, whatever it is */              \
    X(CONDITIONAL, "conditional") /* where the program is as `assumes` says */                     \
    X(SPECULATIVE, "speculative") /* if the bytes copied agree: a profile records sizes only */

typedef enum haul_certainty {
#define HAUL_CERTAINTY_ENUM(name, word) HAUL_CERTAINTY_##name,
    HAUL_CERTAINTY_LIST(HAUL_CERTAINTY_ENUM)
#undef HAUL_CERTAINTY_ENUM
} haul_certainty;

HAUL_API const char *haul_certainty_text(haul_certainty certainty);

typedef struct haul_advise_options {
    const haul_machine *on;   /* NULL: the machine that recorded the profile */
    const haul_machine *from; /* that machine; NULL: its link is fitted to the profile's copies, and
                               * the rest is that of the first machine of the catalogue with the
                               * same GPU */
    uint64_t most_ops;        /* operations to schedule in all; 0: 100 million */
    double host_speed;        /* of the CPU of `on`, as haul_projection_options has it */
    uint64_t reserved[4];     /* zeros: see haul/api.h */
} haul_advise_options;

/* Copies that a piece of advice concerns: of one call, direction and memory. */
typedef struct haul_advised_calls {
    const char *name; /* of the call, without its version; "" where the profile has none */
    haul_direction direction;
    haul_memory memory;
    uint64_t count;
    uint64_t bytes; /* of all */
    uint64_t least_bytes;
    uint64_t most_bytes;
    int64_t first_ns; /* start of the first, from the first operation of a device */
    int64_t time_ns;  /* sum of durations, before the change */
    haul_place place; /* where most of that time was called for */
} haul_advised_calls;

typedef struct haul_advice {
    const char *change; /* its word: "pin" */
    const char *what;   /* what to do, with the calls concerned */
    const char *why;
    const char *assumes; /* NULL: nothing */
    const char *needs;   /* likewise */
    const char *apart;   /* why it is not part of the combined plan, or NULL */
    haul_certainty certainty;
    uint32_t parts; /* streams or parts that were best; 0 where that means nothing */
    const haul_advised_calls *calls; /* by time, the longest first */
    size_t call_count;
    int64_t saved_ns; /* of the run, alone */
    int64_t low_ns;   /* the same at both ends of what a machine of the catalogue lent, and of the
                       * host's time on a target */
    int64_t high_ns;
    double share; /* of the run */
} haul_advice;

/* Changes that were not tried since copies of a kind cannot be predicted. */
typedef struct haul_advice_untried {
    const char *changes; /* "pin, stream" */
    uint64_t copies;     /* that they are about, at most */
    haul_direction direction;
    haul_memory memory; /* that they would have */
    const char *why;
} haul_advice_untried;

/* Changes made together and scheduled once. */
typedef struct haul_advised_plan {
    size_t changes;
    int64_t saved_ns;
    double share;
    int64_t low_ns; /* as those of one */
    int64_t high_ns;
} haul_advised_plan;

typedef struct haul_advice_list {
    const char *machine;      /* that the times are for */
    const char *gpu;          /* or NULL */
    haul_replay replay;       /* of the profile */
    const char *unsound;      /* NULL, or why nothing was tried, as haul_soundness_check says;
                               * baseline_ns is 0 then, and there is nothing to draw */
    int64_t baseline_ns;      /* the run on that machine, from the first start to the last end */
    int64_t baseline_low_ns;  /* its interval where it is projected to that machine, as */
    int64_t baseline_high_ns; /* haul_projection has it; else 0 */
    haul_host_time host;      /* likewise; else 1 */
    int64_t threshold_ns; /* changes that save less are hidden: the replay's error, as a share */
    haul_advice *items;   /* by saved_ns, the most first; the speculative ones after all others */
    size_t count;
    haul_advised_plan safe;     /* the safe changes alone */
    haul_advised_plan together; /* the safe and conditional changes */
    haul_advised_plan with_speculative;
    uint64_t tried;
    uint64_t below;                       /* of those, how many save less than the threshold */
    uint64_t untried;                     /* for the limit of operations */
    const haul_advice_untried *not_tried; /* for a parameter that is not known */
    size_t not_tried_count;
    const char **notes; /* a sentence each */
    size_t note_count;
    /* The run before, and after the changes made together: for drawing. Those are speculative where
     * no other change saves time. */
    bool is_speculative;
    const haul_timeline *before;  /* of the workload that was given; NULL: nothing was tried */
    const haul_workload *changed; /* NULL where nothing is advised */
    const haul_timeline *after;
} haul_advice_list;

/* The change that saves most of those made together; NULL where none saves time. */
HAUL_API const haul_advice *haul_advice_first(const haul_advice_list *list);

/* The changes that are tried, in the order of the registry. */
HAUL_API size_t haul_change_count(void);
HAUL_API const char *haul_change_word(size_t index);
HAUL_API const char *haul_change_summary(size_t index);

/* Tries changes on a recorded workload. Each change rewrites the workload, which is then scheduled
 * on the machine's resources with simulated host threads, like the baseline. Kinds of copies that
 * the profile does not have are predicted with the catalogue's machine of its GPU; a change that
 * needs a parameter that this lacks too is not tried, and `not_tried` says why. Needs about 250
 * bytes an operation. Strings of the list may be the workload's, which must live as long. Free with
 * haul_advice_free. Returns MISSING where copies cannot be predicted on `on`, and what
 * haul_timeline_run does for a workload that cannot be scheduled. */
HAUL_API haul_status haul_advice_make(const haul_workload *workload,
                                      const haul_advise_options *options, haul_advice_list **list,
                                      haul_error *error);
HAUL_API void haul_advice_free(haul_advice_list *list);

HAUL_END

#endif
