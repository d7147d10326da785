/* Parameters of a machine for one copy: each asked for by a model widens the interval by its
 * provenance, and the first that is missing becomes the error. */
#include "cost/lookup.h"

#include <stdio.h>

#include "base/fail.h"
#include "cost/points.h"
#include "machine/link_rate.h"

static const haul_copy_curve *find_curve(const hl_cost_lookup *self, haul_memory memory)
{
    const haul_copy *copy = &self->copy;
    return haul_machine_curve(self->machine, copy->direction, memory, copy->locality);
}

/* The host's own copies are pageable, and a copy that crosses no host link is of device memory.
 * MANAGED memory and unknown host memory move as pinned does. */
haul_memory hl_cost_memory_stand_in(haul_direction direction, haul_memory memory)
{
    if (direction == HAUL_DIRECTION_HTOH)
        return HAUL_MEMORY_PAGEABLE;
    if (!haul_direction_crosses_link(direction))
        return HAUL_MEMORY_DEVICE;
    return memory == HAUL_MEMORY_PAGEABLE ? HAUL_MEMORY_PAGEABLE : HAUL_MEMORY_PINNED;
}

/* An entry for exactly this memory goes first. The stand-in widens the interval
 * (hl_cost_lookup_end) only where the copy crosses the link: there pageable memory could hide
 * behind it. */
void hl_cost_lookup_find(hl_cost_lookup *self)
{
    haul_copy *copy = &self->copy;
    const haul_memory asked = copy->memory;
    if ((unsigned)copy->direction >= HAUL_DIRECTION_UNKNOWN || (unsigned)asked >= HAUL_MEMORIES) {
        self->status = haul_error_set(self->error, HAUL_STATUS_MISSING,
                                      "a copy of unknown direction has no predicted time");
        return;
    }
    const bool is_crossing = haul_direction_crosses_link(copy->direction);
    if (!is_crossing)
        copy->locality = HAUL_LOCALITY_NEAR;
    self->own = find_curve(self, asked);
    if (self->own)
        return;
    if (copy->direction == HAUL_DIRECTION_DTOD && asked == HAUL_MEMORY_MANAGED)
        copy->direction = HAUL_DIRECTION_PTOP;
    copy->memory = hl_cost_memory_stand_in(copy->direction, asked);
    self->own = find_curve(self, copy->memory);
    self->stand_in = is_crossing && copy->memory != asked;
}

/* Half widths, as factors, that hold 90 of 100 groups of public measurements on machines of the
 * catalogue (docs/accuracy/copies.md, "Intervals of copies"): whoever measured had a slot of
 * another generation or width under the GPU, and another core to stage with. */
typedef struct width {
    double down;
    double up;
} width;

static const width of_link = {1 / 2.1, 2.1};
static const width of_host = {1 / 1.75, 1.75};
static const width of_device = {1 / 1.2, 1.2};

/* Only PCIe has slots: NVLink, chip to chip links and Infinity Fabric to the host are soldered.
 * Public measurements of such nodes (AC922, Frontier) are up to 11 % off. Between GPUs a pair may
 * have fewer links than the file says (one of two in a DGX-1, 4 of 12 on a board of four A100): a
 * copy does not name its pair. */
static const width of_soldered_link = {1 / 1.12, 1.12};

/* A slot that is known leaves contention and the board: of the five such groups of public
 * measurements whose copies tell the slot the worst takes 1.52 times as predicted, without its
 * machine 1.42 (docs/accuracy/copies.md). */
static const width of_known_slot = {1 / 1.6, 1.6};

static bool is_slot_known(const haul_link *link)
{
    const haul_provenance from = link->generation.provenance;
    return from == HAUL_PROVENANCE_MEASURED || from == HAUL_PROVENANCE_FITTED ||
           haul_parameter_is_set(&link->generation);
}

/* Where the CPU is soldered to the GPU, pageable copies that others measured on such a node were
 * staged by the same core: memory near or far and contention are left, as of a slot that is known.
 * Rates of a link through shared page tables, which no core stages, were published from 99.8 to 330
 * GB/s for one node (GH200): as wide as a slot. */
static const width *width_through_host(const hl_cost_lookup *self)
{
    const haul_link *link = &self->machine->link;
    const bool is_node = link->kind != HAUL_LINK_PCIE && link->kind != HAUL_LINK_NONE;
    if (is_node && self->rate_from == HAUL_PROVENANCE_PUBLISHED)
        return &of_known_slot;
    return self->own && hl_cost_rate_given(&self->own->rate_Bps) ? &of_link : &of_host;
}

static const width *width_of(const hl_cost_lookup *self, bool is_direct)
{
    if (self->copy.direction == HAUL_DIRECTION_PTOP)
        return &of_link;
    if (self->copy.direction == HAUL_DIRECTION_DTOD)
        return &of_device;
    if (!is_direct)
        return width_through_host(self);
    if (self->machine->link.kind != HAUL_LINK_PCIE)
        return &of_soldered_link;
    return is_slot_known(&self->machine->link) ? &of_known_slot : &of_link;
}

/* The least time that a copy takes whatever was measured of others: its link's, or inside a GPU
 * that of the bytes read and written beyond its cache; 0 where that is not known. */
static double least_seconds(const hl_cost_lookup *self, bool is_direct)
{
    const haul_machine *machine = self->machine;
    const haul_gpu *gpu = &machine->gpu;
    const double bytes = (double)self->copy.bytes;
    double peak = is_direct ? hl_machine_link_rate(&machine->link) : 0;
    /* other pairs have fewer NVLinks; of AMD's fabric some have more */
    if (self->copy.direction == HAUL_DIRECTION_PTOP && machine->peer.kind == HAUL_LINK_NVLINK)
        peak = hl_machine_link_rate(&machine->peer);
    if (self->copy.direction == HAUL_DIRECTION_DTOD)
        return gpu->memory_bandwidth_Bps.value > 0 && gpu->l2_bytes.provenance
                   ? fmax(2 * bytes - gpu->l2_bytes.value, 0) / gpu->memory_bandwidth_Bps.value
                   : 0;
    return peak > 0 ? bytes / peak : 0;
}

/* The interval grows for what the parameters do not know: another kind of memory that stood in, and
 * rates that are not from this machine. */
haul_status hl_cost_lookup_end(const hl_cost_lookup *self, const char *model, hl_cost_range seconds,
                               haul_estimate *out)
{
    if (self->status != HAUL_OK)
        return self->status;
    if (self->stand_in)
        seconds.high *= 3;
    if (self->rate_from > HAUL_PROVENANCE_FITTED) {
        /* Rates that were not measured on this very machine: no faster than its link allows. */
        const haul_direction direction = self->copy.direction;
        const bool is_direct =
            haul_direction_crosses_link(direction) && self->copy.memory != HAUL_MEMORY_PAGEABLE;
        const width *by = width_of(self, is_direct);
        double low = seconds.mid * by->down;
        const double high = seconds.mid * by->up;
        seconds.high = high > seconds.high ? high : seconds.high;
        if (!(low >= seconds.low)) {
            low = fmax(low, least_seconds(self, is_direct));
            seconds.low = low < seconds.low ? low : seconds.low;
        }
    }
    *out = (haul_estimate){
        .seconds = seconds.mid,
        .low_s = seconds.low,
        .high_s = seconds.high,
        .weakest = self->weakest,
        .model = model,
    };
    return HAUL_OK;
}

/* The first parameter that is missing stays in the error: it is the one to measure next. */
static void lacks(hl_cost_lookup *self, const char *path)
{
    if (self->status != HAUL_OK)
        return;
    const char *name = self->machine->name;
    self->status = haul_error_set(self->error, HAUL_STATUS_MISSING, "machine '%s' lacks %s",
                                  name ? name : "without a name", path);
}

void hl_cost_lookup_lacks_own(hl_cost_lookup *self, const char *key)
{
    if (self->status != HAUL_OK)
        return;
    self->status = HAUL_STATUS_MISSING;
    if (!self->error)
        return; /* `auto` asks many models: no text for those that only try */
    char path[96];
    snprintf(path, sizeof path, "copies[%s %s%s].%s", haul_direction_text(self->copy.direction),
             haul_memory_text(self->copy.memory),
             self->copy.locality == HAUL_LOCALITY_FAR ? " far" : "", key);
    self->status = HAUL_OK;
    lacks(self, path);
}

void hl_cost_lookup_refuse(hl_cost_lookup *self, const char *model, const char *why)
{
    if (self->status == HAUL_OK)
        self->status =
            haul_error_set(self->error, HAUL_STATUS_MISSING, "model '%s' %s", model, why);
}

/* Provenances are in order, from measured to assumed: the greatest is the weakest. */
static void rest_on(hl_cost_lookup *self, haul_provenance provenance)
{
    self->weakest = provenance > self->weakest ? provenance : self->weakest;
}

static void rest_on_rate(hl_cost_lookup *self, haul_provenance provenance)
{
    rest_on(self, provenance);
    self->rate_from = provenance > self->rate_from ? provenance : self->rate_from;
}

/* How far off a parameter may be on the machine that its value is of. Measured and fitted: a few
 * percent from run to run. Published and nominal: GPUs of one type differ by up to 10 %. Scaled by
 * one ratio from another machine, or assumed: by a third. */
double hl_cost_provenance_factor(haul_provenance provenance)
{
    switch (provenance) {
    case HAUL_PROVENANCE_MEASURED:
    case HAUL_PROVENANCE_FITTED:
        return 1.03;
    case HAUL_PROVENANCE_PUBLISHED:
    case HAUL_PROVENANCE_DATASHEET:
        return 1.10;
    default:
        return 1.33;
    }
}

double hl_cost_factor_with(haul_provenance provenance, const haul_parameter *uncertainty)
{
    const double factor = hl_cost_provenance_factor(provenance);
    const bool is_own = provenance <= HAUL_PROVENANCE_FITTED && uncertainty->provenance;
    return is_own && 1 + uncertainty->value > factor ? 1 + uncertainty->value : factor;
}

static hl_cost_range range_of(const hl_cost_lookup *self, const haul_parameter *figure)
{
    const double factor =
        self->own ? hl_cost_factor_with(figure->provenance, &self->own->rate_uncertainty)
                  : hl_cost_provenance_factor(figure->provenance);
    return hl_cost_range_within(figure->value, factor);
}

hl_cost_range hl_cost_lookup_need(hl_cost_lookup *self, const haul_parameter *figure,
                                  const char *path)
{
    if (!hl_cost_rate_given(figure)) {
        lacks(self, path);
        return hl_cost_range_exact(1);
    }
    rest_on_rate(self, figure->provenance);
    return range_of(self, figure);
}

hl_cost_range hl_cost_lookup_need_own(hl_cost_lookup *self, const haul_parameter *figure,
                                      const char *key)
{
    if (!figure || !hl_cost_rate_given(figure)) {
        hl_cost_lookup_lacks_own(self, key);
        return hl_cost_range_exact(1);
    }
    rest_on_rate(self, figure->provenance);
    return range_of(self, figure);
}

double hl_cost_lookup_usual(hl_cost_lookup *self, const haul_parameter *figure, double usual)
{
    /* A size of 0 is one where a machine file may give it: a threshold that nothing is below, a
     * link without headers. */
    const bool is_given = figure->provenance != HAUL_PROVENANCE_NOT_GIVEN && figure->value >= 0;
    rest_on(self, is_given ? figure->provenance : HAUL_PROVENANCE_DATASHEET);
    return is_given ? figure->value : usual;
}

hl_cost_range hl_cost_lookup_share(hl_cost_lookup *self, const haul_parameter *figure, double usual,
                                   double most)
{
    const bool has =
        figure->provenance != HAUL_PROVENANCE_NOT_GIVEN && figure->value >= 0 && figure->value < 1;
    rest_on(self, has ? figure->provenance : HAUL_PROVENANCE_DATASHEET);
    const double share = has ? figure->value : usual;
    return (hl_cost_range){0, share, fmax(share, most)};
}

/* Copies of up to this size take 2 us of link or less on PCIe 2 x16 and faster, no more than a
 * latency: their time tells it. A line through larger ones tells it only where it is a good part of
 * their time; else it is a small difference of large numbers. */
#define LATENCY_BYTES 16384

bool hl_cost_latency_of(const haul_machine *machine, const haul_copy_curve *curve,
                        haul_parameter *out)
{
    if (!curve)
        return false;
    if (curve->latency_s.provenance != HAUL_PROVENANCE_NOT_GIVEN) {
        *out = curve->latency_s;
        return true;
    }
    const size_t count = hl_cost_curve_points(curve);
    if (!count)
        return false;
    const haul_point *first = &curve->points[0];
    const haul_parameter peak = haul_link_peak(&machine->link);
    double latency_s = hl_cost_curve_seconds(curve, 1);
    if (count == 1 && hl_cost_rate_given(&peak))
        latency_s = fmax(latency_s - first->bytes / peak.value, 0);
    if (first->bytes > LATENCY_BYTES && (count == 1 || latency_s < first->seconds / 4))
        return false;
    *out = curve->points_from;
    out->value = latency_s;
    return true;
}

/* Inside a GPU no host takes part: the smallest copies take 1 to 2 us from Volta to Hopper, whose
 * catalogue's machines have 1.3 and 1.6. */
static const double inside_latency = 1.3;

hl_cost_range hl_cost_lookup_latency(hl_cost_lookup *self)
{
    const haul_machine *machine = self->machine;
    haul_parameter latency;
    if (hl_cost_latency_of(machine, self->own, &latency)) {
        /* latencies differ more between machines of a type than rates do; those of another machine
         * are kept as they were (AHEAD, IV.C), from half to twice */
        const haul_provenance from = latency.provenance;
        const double scaled = self->copy.direction == HAUL_DIRECTION_DTOD ? inside_latency : 2;
        rest_on(self, from);
        return hl_cost_range_within(
            latency.value, from >= HAUL_PROVENANCE_SCALED ? scaled
                           : from > HAUL_PROVENANCE_FITTED
                               ? 1.25
                               : hl_cost_factor_with(from, &self->own->latency_uncertainty));
    }
    const haul_direction direction = haul_direction_crosses_link(self->copy.direction)
                                         ? self->copy.direction
                                         : HAUL_DIRECTION_HTOD;
    const haul_copy_curve *pinned =
        haul_machine_curve(machine, direction, HAUL_MEMORY_PINNED, self->copy.locality);
    if (self->copy.direction != HAUL_DIRECTION_HTOH &&
        hl_cost_latency_of(machine, pinned, &latency)) {
        rest_on(self, latency.provenance);
        return hl_cost_range_within(latency.value, 2);
    }
    hl_cost_lookup_lacks_own(self, "latency");
    return hl_cost_range_exact(1);
}

static hl_cost_range rate_of_large(hl_cost_lookup *self)
{
    const haul_copy_curve *own = self->own;
    if (own && !hl_cost_rate_given(&own->rate_Bps)) {
        haul_parameter last = own->points_from;
        if (hl_cost_curve_rate(own, &last.value)) {
            rest_on_rate(self, last.provenance);
            return range_of(self, &last);
        }
    }
    return hl_cost_lookup_need_own(self, own ? &own->rate_Bps : NULL, "rate");
}

/* Data that L2 holds with both its ends need not be written to memory at once, nor be read from it
 * where a kernel has just made it: at best half of the memory's traffic is left. Copies of 1 to 8
 * MB take 0.62 times as those of memory on A100 and H100, and no less on V100: the interval alone
 * covers both. */
hl_cost_range hl_cost_lookup_in_cache(const hl_cost_lookup *self, hl_cost_range rate)
{
    const bool fits = self->copy.direction == HAUL_DIRECTION_DTOD &&
                      2 * (double)self->copy.bytes <= self->machine->gpu.l2_bytes.value;
    return fits ? hl_cost_range_times(rate, (hl_cost_range){1, 1, 2}) : rate;
}

hl_cost_range hl_cost_lookup_rate(hl_cost_lookup *self)
{
    const hl_cost_range rate = rate_of_large(self);
    const bool is_of_this_machine = self->rate_from <= HAUL_PROVENANCE_FITTED;
    return is_of_this_machine ? rate : hl_cost_lookup_in_cache(self, rate);
}

/* The rate after encoding, as haul_link_peak tells it. */
static double link_peak(hl_cost_lookup *self, const haul_link *link, const char *path)
{
    const haul_parameter peak = haul_link_peak(link);
    return hl_cost_lookup_need(self, &peak, path).mid;
}

/* A copy inside one memory reads and writes each byte there, hence half of its bandwidth. */
double hl_cost_lookup_peak(hl_cost_lookup *self)
{
    const haul_machine *machine = self->machine;
    switch (self->copy.direction) {
    case HAUL_DIRECTION_DTOD:
        return hl_cost_lookup_need(self, &machine->gpu.memory_bandwidth_Bps, "gpu.memory_bandwidth")
                   .mid /
               2;
    case HAUL_DIRECTION_HTOH:
        return hl_cost_lookup_need(self, &machine->host.memory_bandwidth_Bps,
                                   "host.memory_bandwidth")
                   .mid /
               2;
    case HAUL_DIRECTION_PTOP:
        return link_peak(self, &machine->peer, "peer");
    default:
        return link_peak(self, &machine->link, "link");
    }
}

/* Large copies reach 70 to 94 % of a link's rate after encoding (0.72 to 0.80 on PCIe 1 and 2, 0.77
 * to 0.88 on 3 to 5, 0.74 to 0.94 on NVLink, 0.77 on NVLink-C2C and 0.81 on xGMI in published
 * measurements) and 86 to 91 % of a GPU memory's. */
hl_cost_range hl_cost_lookup_nominal_per_byte(hl_cost_lookup *self)
{
    return hl_cost_range_inverse(hl_cost_range_around(hl_cost_lookup_peak(self), 0.7, 1));
}
