/* The parameters of a machine, each with its uncertainty, as a copy model asks for them while it
 * predicts one copy. A missing parameter is named once, in the error; those asked for after it are
 * 1, so that a model is written as its formula and looks at the status at its end. */
#ifndef HAUL_COST_LOOKUP_H
#define HAUL_COST_LOOKUP_H

#include <stdbool.h>

#include "cost/range.h"
#include "haul/cost.h"

/* A rate of 0 divides: it counts as not given. */
static inline bool hl_cost_rate_given(const haul_parameter *figure)
{
    return figure->provenance != HAUL_PROVENANCE_NOT_GIVEN && figure->value > 0;
}

typedef struct hl_cost_lookup {
    const haul_machine *machine;
    haul_copy copy;             /* as it is predicted: see hl_cost_lookup_begin */
    const haul_copy_curve *own; /* the machine's curve of such copies, or NULL */
    bool stand_in;              /* predicted by the parameters of another kind of memory */
    haul_provenance weakest;    /* of the parameters asked so far */
    haul_provenance rate_from;  /* the weakest of the rates among them */
    haul_status status;
    haul_error *error;
} hl_cost_lookup;

/* Fills `own`, `stand_in` and the copy as it is predicted. */
void hl_cost_lookup_find(hl_cost_lookup *self);

/* Finds what the machine has for such copies. Where it has nothing for just this kind of memory:
 * - host memory of a kind that the profile does not tell, and migrations of managed memory, are
 *   predicted as pinned. For the large copies that dominate this is what happens: AMD's runtime
 * pins ranges above 1 MiB on the fly, and migrations go straight to the engine. They may have been
 *   pageable, and pageable copies reach down to a third of the pinned rate (RTX 4090: 0.36 to
 *   0.77): the interval is that much longer;
 * - copies on and between devices are predicted as of device memory; a migration between devices
 *   crosses the peer link. */
static inline hl_cost_lookup hl_cost_lookup_begin(const haul_machine *machine,
                                                  const haul_copy *copy, haul_error *error)
{
    /* here, so that it is made where the model has it: models are asked millions of times */
    hl_cost_lookup self = {.machine = machine, .copy = *copy, .error = error};
    hl_cost_lookup_find(&self);
    return self;
}

/* Fills *out if no parameter was missing; returns the status. `model` is static. */
haul_status hl_cost_lookup_end(const hl_cost_lookup *self, const char *model, hl_cost_range seconds,
                               haul_estimate *out);

/* A positive parameter of the machine, with its uncertainty. `path` names it:
 * "gpu.memory_bandwidth". */
hl_cost_range hl_cost_lookup_need(hl_cost_lookup *self, const haul_parameter *figure,
                                  const char *path);

/* The same for a parameter of the copies' own entry: `key` is "rate". NULL: there is no entry. */
hl_cost_range hl_cost_lookup_need_own(hl_cost_lookup *self, const haul_parameter *figure,
                                      const char *key);

/* A positive figure, or what is usual where the machine does not say: then as weak as a data sheet.
 */
double hl_cost_lookup_usual(hl_cost_lookup *self, const haul_parameter *figure, double usual);

/* The same for a share of a link that is not payload: from none to `most` of what is seen. */
hl_cost_range hl_cost_lookup_share(hl_cost_lookup *self, const haul_parameter *figure, double usual,
                                   double most);

/* Says that a figure of the copy's curve is missing. */
void hl_cost_lookup_lacks_own(hl_cost_lookup *self, const char *key);

/* Says that the model is not for such copies: `why` goes on from the model's name. */
void hl_cost_lookup_refuse(hl_cost_lookup *self, const char *model, const char *why);

/* L+o: of such copies, or read off their points; else of pinned copies, which start the same
 * engine, from half to twice. */
hl_cost_range hl_cost_lookup_latency(hl_cost_lookup *self);

/* The rate of a copy inside a GPU, up to twice as high where L2 holds its data; of others as it is.
 */
hl_cost_range hl_cost_lookup_in_cache(const hl_cost_lookup *self, hl_cost_range rate);

/* 1/G of such copies, as measured: `rate`, or the last piece of the points. */
hl_cost_range hl_cost_lookup_rate(hl_cost_lookup *self);

/* The nominal rate of what the copy crosses: link, peer link, or half of a memory's bandwidth, for
 * a copy reads and writes. */
double hl_cost_lookup_peak(hl_cost_lookup *self);

/* Seconds a byte at the nominal rate. None is faster than that. */
hl_cost_range hl_cost_lookup_nominal_per_byte(hl_cost_lookup *self);

/* The kind of memory whose figures stand in for those of `memory`; see hl_cost_lookup_begin. */
haul_memory hl_cost_memory_stand_in(haul_direction direction, haul_memory memory);

/* The latency that an entry tells: its own figure, or its points at one byte, which is what L+o is.
 * Of a single point the bytes at the link's peak are taken off. False where `curve` is NULL or
 * tells nothing. */
bool hl_cost_latency_of(const haul_machine *machine, const haul_copy_curve *curve,
                        haul_parameter *out);

/* How far off a figure may be, by where it is from: a factor of 1 or more, up and down. */
double hl_cost_provenance_factor(haul_provenance provenance);

/* The same, and what was measured and fitted at least by its own uncertainty, where that is
 * known. */
double hl_cost_factor_with(haul_provenance provenance, const haul_parameter *uncertainty);

#endif
