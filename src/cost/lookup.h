/* What a copy model asks of a machine while it prices one copy: figures with their doubt. A figure
 * that is missing is named once, in the error; what is asked after it is 1, so that a model is
 * written as its formula and looks at the status at its end. */
#ifndef HAUL_COST_PRICING_H
#define HAUL_COST_PRICING_H

#include <stdbool.h>

#include "cost/range.h"
#include "haul/cost.h"

typedef struct haul_pricing {
    const haul_machine *machine;
    haul_copy copy;             /* as it is priced: see haul_pricing_begin */
    const haul_copy_curve *own; /* the machine's figures of such copies, or NULL */
    bool stand_in;              /* priced by the figures of another kind of memory */
    haul_provenance weakest;    /* of the figures asked so far */
    haul_status status;
    haul_error *error;
} haul_pricing;

/* Finds what the machine has for such copies. Where it has nothing for just this kind of memory:
 * - host memory of a kind that the profile does not tell, and migrations of managed memory, are
 *   priced as pinned. For the large copies that dominate this is what happens: AMD's runtime pins
 *   ranges above 1 MiB on the fly, and migrations go straight to the engine. They may have been
 *   pageable, and pageable copies reach down to a third of the pinned rate (RTX 4090: 0.36 to
 *   0.77): the interval is that much longer;
 * - copies on and between devices are priced as of device memory; a migration between devices
 *   crosses the peer link. */
haul_pricing haul_pricing_begin(const haul_machine *machine, const haul_copy *copy,
                                haul_error *error);

/* Fills *out if no figure was missing; returns the status. `model` is static. */
haul_status haul_pricing_end(const haul_pricing *self, const char *model, haul_range seconds,
                             haul_estimate *out);

/* Whether the copy crosses the host's link. */
bool haul_pricing_crosses(const haul_pricing *self);

/* A positive figure of the machine, with its doubt. `path` names it: "gpu.memory_bandwidth". */
haul_range haul_pricing_need(haul_pricing *self, const haul_parameter *figure, const char *path);

/* The same for a figure of the copies' own entry: `key` is "rate". NULL: there is no entry. */
haul_range haul_pricing_need_own(haul_pricing *self, const haul_parameter *figure, const char *key);

/* A positive figure, or what is usual where the machine does not say: then as weak as a data sheet.
 */
double haul_pricing_usual(haul_pricing *self, const haul_parameter *figure, double usual);

/* The same for a share of a link that is not payload: from none to `most` of what is seen. */
haul_range haul_pricing_share(haul_pricing *self, const haul_parameter *figure, double usual,
                              double most);

/* Says that a figure of the copy's curve is missing. */
void haul_pricing_lacks_own(haul_pricing *self, const char *key);

/* Says that the model is not for such copies: `why` goes on from the model's name. */
void haul_pricing_refuse(haul_pricing *self, const char *model, const char *why);

/* L+o: of such copies, or read off their points; else of pinned copies, which start the same
 * engine, from half to twice. */
haul_range haul_pricing_latency(haul_pricing *self);

/* 1/G of such copies, as measured: `rate`, or the last piece of the points. */
haul_range haul_pricing_rate(haul_pricing *self);

/* The nominal rate of what the copy crosses: link, peer link, or half of a memory's bandwidth, for
 * a copy reads and writes. */
double haul_pricing_peak(haul_pricing *self);

/* Seconds a byte at the nominal rate. None is faster than that. */
haul_range haul_pricing_nominal_per_byte(haul_pricing *self);

/* The kind of memory whose figures stand in for those of `memory`; see haul_pricing_begin. */
haul_memory haul_memory_priced(haul_direction direction, haul_memory memory);

/* The latency that an entry tells: its own figure, or its points at one byte, which is what L+o is.
 * Of a single point the bytes at the link's peak are taken off. False where `curve` is NULL or
 * tells nothing. */
bool haul_latency_of(const haul_machine *machine, const haul_copy_curve *curve,
                     haul_parameter *out);

/* How far off a figure may be, by where it is from: a factor of 1 or more, up and down. */
double haul_pricing_factor(haul_provenance provenance);

#endif
