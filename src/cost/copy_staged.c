/* Copies of pageable memory, which the driver moves through a pinned buffer of its own. */
#include "cost/copy_models.h"
#include "cost/copy_packet.h"
#include "cost/lookup.h"

#include <string.h>

/* Up to this size the device sees a copy at the link's rate: the data is in the buffer when its
 * clock starts. So it was up to 1 to 2 MiB, both ways, on GTX 680, 750 and 970, Titan and K40
 * (nvprof, public data); from there on it waits for the host. */
#define USUAL_THRESHOLD (1 << 20)

/* AMD's runtime: chunks up to this size go through one buffer, each waiting for the one before;
 * larger ranges are pinned on the fly, so much at a time (ROCm CLR, rocsettings.cpp:
 * stagedXferSize_, pinnedMinXferSize_, pinnedXferSize_). */
#define AMD_STAGED_BYTES (1 << 20)
#define AMD_PINNED_BYTES (32 << 20)

typedef struct staging {
    hl_cost_range latency_s;
    hl_cost_range dma_Bps;
    hl_cost_range host_Bps; /* one core's copy into or out of the buffer, for this size */
    double threshold;
    double chunk; /* 0: not known */
    hl_cost_range small_Bps;
    double gap_s;
    bool is_measured; /* here, from call to return; else a copy's time is the device's */
} staging;

/* A rate of staging as the copies' entry tells it, or one core's plain copy, which may be a third
 * off: GTX 970, 10.9 GB/s to the device and 5.9 back on one host. */
static hl_cost_range staging_rate(hl_cost_lookup *lookup, const haul_parameter *own,
                                  const haul_parameter *plain)
{
    if (hl_cost_rate_given(own))
        return hl_cost_lookup_need(lookup, own, "");
    const hl_cost_range rate = hl_cost_lookup_need(lookup, plain, "host.copy_rate");
    return (hl_cost_range){rate.low * 3 / 4, rate.mid, rate.high * 4 / 3};
}

static bool is_measured(const haul_parameter *rate)
{
    return hl_cost_rate_given(rate) && rate->provenance <= HAUL_PROVENANCE_FITTED;
}

/* All that either driver's staging needs. Small copies go at the link's rate unless they were
 * measured by themselves. */
static staging staging_of(hl_cost_lookup *lookup, double n)
{
    static const haul_copy_curve nothing;
    const haul_copy_curve *own = lookup->own ? lookup->own : &nothing;
    staging self = {.latency_s = hl_cost_lookup_latency(lookup),
                    .dma_Bps = hl_cost_packet_dma_rate(lookup)};
    /* One core copies at one rate while the source fits its last-level cache and at a lower one
     * beyond. The other of the two bounds the interval: a source may be in cache or not whatever
     * its size. */
    const haul_host *host = &lookup->machine->host;
    const bool is_slow_known =
        hl_cost_rate_given(&own->memory_rate_Bps) || hl_cost_rate_given(&host->copy_rate_Bps);
    const bool is_fast_known =
        hl_cost_rate_given(&own->host_rate_Bps) || hl_cost_rate_given(&host->cached_copy_rate_Bps);
    hl_cost_range slow = {0};
    hl_cost_range fast = {0};
    if (is_slow_known || !is_fast_known)
        slow = staging_rate(lookup, &own->memory_rate_Bps, &host->copy_rate_Bps);
    if (is_fast_known)
        fast = staging_rate(lookup, &own->host_rate_Bps, &host->cached_copy_rate_Bps);
    if (!is_slow_known)
        slow = fast;
    fast = hl_cost_range_max(slow, fast);
    const haul_parameter *cache =
        hl_cost_rate_given(&own->cache_bytes) ? &own->cache_bytes : &host->cache_bytes;
    const bool fits = hl_cost_rate_given(cache) && n <= cache->value;
    self.host_Bps = (hl_cost_range){slow.low, fits ? fast.mid : slow.mid, fast.high};
    self.threshold = hl_cost_lookup_usual(lookup, &own->threshold_bytes, USUAL_THRESHOLD);
    self.chunk = hl_cost_rate_given(&own->chunk_bytes) ? own->chunk_bytes.value : 0;
    self.gap_s = hl_cost_rate_given(&own->gap_s) ? own->gap_s.value : 0;
    self.is_measured = is_measured(&own->host_rate_Bps) || is_measured(&own->memory_rate_Bps);
    self.small_Bps = hl_cost_rate_given(&own->small_rate_Bps)
                         ? hl_cost_lookup_need_own(lookup, &own->small_rate_Bps, "small_rate")
                         : self.dma_Bps;
    return self;
}

static hl_cost_range over(hl_cost_range rate_Bps, double n)
{
    return hl_cost_range_scale(hl_cost_range_inverse(rate_Bps), n);
}

/* Double-buffered: up to a threshold n/R_small; above it the slower of host and DMA sets the pace
 * and the faster works alone once, on the first chunk or the last; a gap a chunk. Without a known
 * chunk the first `threshold` bytes go as small copies do. */
static hl_cost_range double_buffered(const staging *self, double n)
{
    const hl_cost_range small = over(self->small_Bps, fmin(n, self->threshold));
    if (n <= self->threshold)
        return small;
    const hl_cost_range pace = hl_cost_range_min(self->host_Bps, self->dma_Bps);
    if (self->chunk <= 0)
        return hl_cost_range_add(small, over(pace, n - self->threshold));
    const hl_cost_range alone = over(hl_cost_range_max(self->host_Bps, self->dma_Bps), self->chunk);
    const hl_cost_range gaps = hl_cost_range_exact(ceil(n / self->chunk) * self->gap_s);
    const hl_cost_range rest = hl_cost_range_add(over(pace, n), gaps);
    return hl_cost_range_max(small, hl_cost_range_add(alone, rest));
}

/* AMD: in and out one after the other up to 1 MiB; above it the range is pinned and goes at the
 * link's rate. Pinning costs what the host's pages cost, which no source gives: at most as much as
 * copying them, and the time is never below that of 1 MiB. The device's clock starts when the first
 * piece is pinned, and later ones are pinned one by one while the copy lasts. */
static hl_cost_range one_buffer(const staging *self, double n)
{
    const hl_cost_range in = over(self->host_Bps, fmin(n, AMD_STAGED_BYTES));
    const hl_cost_range out = over(self->dma_Bps, fmin(n, AMD_STAGED_BYTES));
    const hl_cost_range small = hl_cost_range_add(in, out);
    if (n <= AMD_STAGED_BYTES)
        return small;
    hl_cost_range large = over(self->dma_Bps, n);
    const double pinned_within = self->is_measured ? n : fmax(0, n - AMD_PINNED_BYTES);
    large.high += over(self->host_Bps, pinned_within).high;
    return hl_cost_range_max(small, large);
}

/* The copy's latency is that of its own kind where it is known: staging has a start of its own. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    if (lookup.copy.memory != HAUL_MEMORY_PAGEABLE ||
        !haul_direction_crosses_link(lookup.copy.direction))
        hl_cost_lookup_refuse(&lookup, hl_cost_copy_model_staged.name,
                              "is for pageable copies between host and device");
    const double n = (double)copy->bytes;
    const staging self = staging_of(&lookup, n);
    const char *architecture = machine->gpu.architecture ? machine->gpu.architecture : "";
    /* the two drivers stage differently, and a machine's file names the GPU, not the driver */
    const bool is_amd = machine->link.kind == HAUL_LINK_FABRIC ||
                        !strncmp(architecture, "cdna", 4) || !strncmp(architecture, "rdna", 4) ||
                        !strncmp(architecture, "gfx", 3);
    const hl_cost_range moved = is_amd ? one_buffer(&self, n) : double_buffered(&self, n);
    return hl_cost_lookup_end(&lookup, hl_cost_copy_model_staged.name,
                              hl_cost_range_add(self.latency_s, moved), out);
}

const haul_copy_model hl_cost_copy_model_staged = {
    .abi = HAUL_MODEL_ABI,
    .name = "staged",
    .summary = "pageable: (L+o) + through the driver's pinned buffer, chunk by chunk",
    .time = time_of,
};
