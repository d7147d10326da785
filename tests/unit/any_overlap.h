/* Random programs on random machines, for the strategies of overlap. */
#ifndef HAUL_TESTS_ANY_OVERLAP_H
#define HAUL_TESTS_ANY_OVERLAP_H

#include <math.h>

#include "haul/overlap.h"

static inline uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

static inline double between(uint64_t *seed, double least, double most)
{
    return least * pow(most / least, (double)next(seed) / 0x1p31);
}

static inline haul_overlap_leg any_leg(uint64_t *seed)
{
    haul_overlap_leg leg = {
        .bytes = between(seed, 1, 1e10),
        .times = next(seed) % 2 ? 1 : between(seed, 1, 10),
        .latency_s = between(seed, 1e-6, 2e-5),
        .per_byte_s = between(seed, 1e-12, 1e-9),
    };
    leg.gap_s = next(seed) % 8 ? leg.latency_s * between(seed, 1e-3, 1) : 0;
    leg.busy_per_byte_s = leg.per_byte_s * between(seed, 1, 2);
    leg.mapped_per_byte_s = leg.per_byte_s * between(seed, 1, 2);
    return next(seed) % 10 ? leg : (haul_overlap_leg){0};
}

static inline haul_overlap_case any_case(uint64_t *seed)
{
    return (haul_overlap_case){
        .device = (haul_overlap_device_kind)(next(seed) % 3),
        .in = any_leg(seed),
        .out = any_leg(seed),
        .kernel_s = next(seed) % 10 ? between(seed, 1e-6, 10) : 0,
    };
}

/* And a number of streams, to 512. */
typedef struct overlap_draw {
    haul_overlap_case of;
    uint32_t streams;
} overlap_draw;

static inline void in_step(haul_overlap_leg *leg)
{
    leg->busy_per_byte_s = leg->mapped_per_byte_s = leg->per_byte_s;
}

/* Half the machines slow no copy for another's sake, one in 16 has gaps beyond its latencies. */
static inline overlap_draw any_draw(uint64_t *seed)
{
    overlap_draw self = {.of = any_case(seed)};
    self.streams = (uint32_t)between(seed, 1, 513);
    if (next(seed) % 2) {
        in_step(&self.of.in);
        in_step(&self.of.out);
    }
    if (next(seed) % 16 == 0) {
        self.of.in.gap_s *= 8;
        self.of.out.gap_s *= 8;
    }
    return self;
}

#endif
