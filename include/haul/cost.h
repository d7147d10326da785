/* Copy models: the time of one copy on a machine. One registry holds them all; a shared object adds
 * one (see haul/backend.h).
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_COST_H
#define HAUL_COST_H

#include "haul/machine.h"
#include "haul/workload.h"

HAUL_BEGIN

typedef struct haul_copy {
    uint64_t bytes;
    haul_direction direction;
    haul_memory memory;
    haul_locality locality;
} haul_copy;

/* A predicted duration: low_s <= seconds <= high_s. */
typedef struct haul_estimate {
    double seconds;
    double low_s;
    double high_s;
    haul_provenance weakest; /* of the parameters it rests on */
    const char *model;       /* the one that answered: `auto` puts the chosen one's name */
} haul_estimate;

/* A copy model. `time` needs nothing but the machine's parameters; it returns MISSING, and leaves
 * *out alone, where the model needs one that the machine lacks, and names it in `error`. */
typedef struct haul_copy_model {
    unsigned abi; /* HAUL_MODEL_ABI */
    const char *name;
    const char *summary; /* one line, with the source of its formula */
    haul_status (*time)(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                        haul_error *error);
} haul_copy_model;

enum { HAUL_MODEL_ABI = 1 };

/* The models that haul has, in the order in which `haul machine time --model list` shows them. The
 * first is `auto`, which NULL stands for as well. */
HAUL_API size_t haul_copy_model_count(void);
HAUL_API const haul_copy_model *haul_copy_model_at(size_t index);

/* A user's model, or NULL in `handle` for one of haul's own. */
typedef struct haul_model_ref {
    const haul_copy_model *model;
    void *handle;
} haul_model_ref;

/* Finds a model by name, or loads it from a shared object where `name` contains a '/' or ends in
 * ".so": see haul/backend.h. Release with haul_model_release. Returns USAGE with the list of names,
 * or BAD_INPUT where the object cannot be loaded or is no model. */
HAUL_API haul_status haul_model_find(const char *name, haul_model_ref *ref, haul_error *error);
HAUL_API void haul_model_release(haul_model_ref *ref);

/* Time of one copy by a model (NULL: auto), checked: finite, not negative, low <= seconds <= high.
 * Returns what the model does: MISSING, naming the parameter. */
HAUL_API haul_status haul_copy_time(const haul_machine *machine, const haul_copy_model *model,
                                    const haul_copy *copy, haul_estimate *out, haul_error *error);

/* `to` completed with what only `from` knows: latencies, the staging of pageable copies (scaled by
 * the ratio of the hosts' copy rates), provenance "scaled" or "assumed" (AHEAD, section IV.C). A
 * board alone, without a link and without copies over one, gets `from`'s link and its copies as
 * they are: it is taken to be in that slot. Parameters that `to` has are kept. Returns NO_MEMORY.
 * The caller owns *out; free with haul_machine_free. */
HAUL_API haul_status haul_machine_complete(const haul_machine *to, const haul_machine *from,
                                           haul_machine **out, haul_error *error);

HAUL_END

#endif
