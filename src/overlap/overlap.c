/* The parameters of the formulas, from a machine and a program's work. */
#include <math.h>

#include "base/fail.h"
#include "cost/lookup.h"
#include "cost/usual.h"
#include "haul/cost.h"
#include "haul/overlap.h"

/* While one is made: `assumed` says which parameters of the leg had to be assumed, so that its
 * interval is widened by those alone. */
typedef struct description {
    const haul_machine *machine;
    haul_overlap_case *out;
    unsigned assumed; /* of the leg at hand */
    haul_error *error;
} description;

/* An estimate is as good as the weakest parameter in it. */
static void rest_on(haul_overlap_case *self, haul_provenance provenance)
{
    self->weakest = haul_provenance_weaker(self->weakest, provenance);
}

/* A copy is not faster while the other direction copies. */
static double slowed(description *self, const haul_overlap_leg *leg, const haul_parameter *rate,
                     const hl_cost_usual_share *usual, unsigned assumed)
{
    if (rate && hl_cost_rate_given(rate)) {
        rest_on(self->out, rate->provenance);
        return fmax(1 / rate->value, leg->per_byte_s);
    }
    self->assumed |= assumed;
    rest_on(self->out, HAUL_PROVENANCE_ASSUMED);
    return leg->per_byte_s / usual->median;
}

/* The machine's gap, or L+o: a copy behind another does not wait longer than one by itself. */
static double gap_of(description *self, const haul_overlap_leg *leg, const haul_copy_curve *curve)
{
    if (curve && hl_cost_rate_given(&curve->gap_s)) {
        rest_on(self->out, curve->gap_s.provenance);
        return curve->gap_s.value;
    }
    self->assumed |= HAUL_ASSUMED_GAP;
    rest_on(self->out, HAUL_PROVENANCE_ASSUMED);
    return leg->latency_s;
}

/* A leg's parameters beside L+o and G: the machine's, or the assumed ones. */
static void find_rest(description *self, haul_direction direction, haul_overlap_leg *leg)
{
    const haul_copy_curve *curve =
        haul_machine_curve(self->machine, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    leg->gap_s = gap_of(self, leg, curve);
    leg->busy_per_byte_s = leg->mapped_per_byte_s = leg->per_byte_s;
    if (!(self->out->in.bytes > 0 && self->out->out.bytes > 0))
        return; /* there is no other direction */
    leg->mapped_per_byte_s = slowed(self, leg, curve ? &curve->mapped_rate_Bps : NULL,
                                    &hl_cost_usual_mapped, HAUL_ASSUMED_MAPPED);
    /* With one engine only mapped memory moves both ways at once: nothing is assumed for it. */
    if (self->out->device == HAUL_TWO_ENGINES ||
        (curve && hl_cost_rate_given(&curve->busy_rate_Bps)))
        leg->busy_per_byte_s = slowed(self, leg, curve ? &curve->busy_rate_Bps : NULL,
                                      &hl_cost_usual_busy, HAUL_ASSUMED_BUSY);
}

/* The leg at one end of the interval: 0 the fast, 1 the slow. */
static haul_overlap_leg end_of(const description *self, const haul_overlap_leg *leg, double none_s,
                               double all_s, int end)
{
    const double per_byte_s = fmax(all_s - none_s, 0) / leg->bytes;
    haul_overlap_leg found = *leg;
    found.latency_s = none_s;
    found.per_byte_s = end ? fmax(per_byte_s, leg->per_byte_s) : fmin(per_byte_s, leg->per_byte_s);
    const double ratio = leg->per_byte_s > 0 ? found.per_byte_s / leg->per_byte_s : 1;
    found.busy_per_byte_s *= ratio;
    found.mapped_per_byte_s *= ratio;
    if (self->assumed & HAUL_ASSUMED_GAP)
        found.gap_s = end ? none_s : 0;
    if (self->assumed & HAUL_ASSUMED_BUSY)
        found.busy_per_byte_s = found.per_byte_s / hl_cost_usual_busy.ends[end];
    if (self->assumed & HAUL_ASSUMED_MAPPED)
        found.mapped_per_byte_s = found.per_byte_s / hl_cost_usual_mapped.ends[end];
    return found;
}

/* L+o is the time of a copy of nothing, G what all bytes take beyond it, each. */
static haul_status describe_leg(description *self, haul_direction direction, haul_overlap_leg *leg,
                                haul_overlap_leg ends[2])
{
    haul_estimate none, all; /* copies of no byte and of all */
    haul_copy copy = {.direction = direction, .memory = HAUL_MEMORY_PINNED};
    if (!(leg->bytes > 0))
        return HAUL_OK;
    HAUL_TRY(haul_copy_time(self->machine, NULL, &copy, &none, self->error));
    /* from the time of all bytes rather than the machine's rate, so that any copy model may be
     * asked */
    copy.bytes = (uint64_t)leg->bytes;
    HAUL_TRY(haul_copy_time(self->machine, NULL, &copy, &all, self->error));
    leg->latency_s = none.seconds;
    leg->per_byte_s = fmax(all.seconds - none.seconds, 0) / leg->bytes;
    rest_on(self->out, haul_provenance_weaker(none.weakest, all.weakest));
    self->assumed = 0;
    find_rest(self, direction, leg);
    for (int end = 0; end < 2; end++)
        ends[end] =
            end_of(self, leg, end ? none.high_s : none.low_s, end ? all.high_s : all.low_s, end);
    self->out->assumed |= self->assumed;
    return HAUL_OK;
}

/* Drivers say nothing of the synchronisation, and where two small kernels never run at once it
 * cannot be measured: the ends then have both kinds of device. */
static void find_device(description *self)
{
    const haul_parameter *engines = &self->machine->gpu.copy_engines;
    const haul_parameter *syncs = &self->machine->gpu.implicit_sync;
    haul_overlap_case *out = self->out;
    rest_on(out, syncs->provenance ? syncs->provenance : HAUL_PROVENANCE_ASSUMED);
    if (!syncs->provenance)
        out->assumed |= HAUL_ASSUMED_SYNC;
    if (syncs->value > 0) {
        out->device = HAUL_IMPLICIT_SYNC;
        return;
    }
    rest_on(out, hl_cost_rate_given(engines) ? engines->provenance : HAUL_PROVENANCE_ASSUMED);
    if (!hl_cost_rate_given(engines))
        out->assumed |= HAUL_ASSUMED_ENGINES;
    out->device =
        hl_cost_rate_given(engines) && engines->value <= 1 ? HAUL_ONE_ENGINE : HAUL_TWO_ENGINES;
}

haul_overlap_device_kind haul_overlap_device_end(const haul_overlap_case *self, int end)
{
    if (end && self->assumed & HAUL_ASSUMED_SYNC)
        return HAUL_IMPLICIT_SYNC;
    return end && self->assumed & HAUL_ASSUMED_ENGINES ? HAUL_ONE_ENGINE : self->device;
}

/* A thousand years, and a thousand million times. */
static const double seconds_most = 3.2e10;
static const double times_most = 1e9;

/* *out is set only on success. The ends are those of the interval of every parameter at once: all
 * fast, or all slow. */
haul_status haul_overlap_describe(const haul_machine *machine, const haul_overlap_work *work,
                                  haul_overlap_case *out, haul_error *error)
{
    const double times[] = {work->reads, work->writes}; /* 0 is once */
    if (!(work->kernel_s >= 0 && work->kernel_s <= seconds_most))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "a kernel's time is from 0 to a thousand years");
    for (int i = 0; i < 2; i++)
        if (times[i] != 0 && !(times[i] >= 1 && times[i] <= times_most))
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "a mapped byte is read or written from once to 1e9 times");
    haul_overlap_case found = {
        .in = {.bytes = (double)work->in_bytes, .times = work->reads > 0 ? work->reads : 1},
        .out = {.bytes = (double)work->out_bytes, .times = work->writes > 0 ? work->writes : 1},
        .kernel_s = work->kernel_s,
        .call_s = machine->gpu.queue_gap_s.value,
        .has_ends = true,
    };
    for (int end = 0; end < 2; end++) {
        found.in_ends[end] = found.in;
        found.out_ends[end] = found.out;
    }
    description self = {machine, &found, 0, error};
    find_device(&self);
    HAUL_TRY(describe_leg(&self, HAUL_DIRECTION_HTOD, &found.in, found.in_ends));
    HAUL_TRY(describe_leg(&self, HAUL_DIRECTION_DTOH, &found.out, found.out_ends));
    *out = found;
    return HAUL_OK;
}

/* Bandwidth grows with a generation of PCIe; latency and gap are software and stay. */
static void speed_up(haul_overlap_leg *leg, double ratio)
{
    leg->per_byte_s /= ratio;
    leg->busy_per_byte_s /= ratio;
    leg->mapped_per_byte_s /= ratio;
}

/* Scales what was measured by the ratio of the nominal rates: the efficiency reached is kept. */
haul_status haul_overlap_next_generation(const haul_machine *machine, const haul_overlap_case *self,
                                         haul_overlap_case *out, int *generation, haul_error *error)
{
    haul_link link = machine->link;
    const haul_parameter now = haul_link_peak(&link);
    link.generation.value += 1;
    const haul_parameter then = haul_link_peak(&link);
    if (link.kind != HAUL_LINK_PCIE || !hl_cost_rate_given(&now))
        return haul_error_set(error, HAUL_STATUS_MISSING, "the link is not PCIe");
    if (!hl_cost_rate_given(&then))
        return haul_error_set(error, HAUL_STATUS_MISSING, "no generation after %g is known",
                              machine->link.generation.value);
    *out = *self;
    const double ratio = then.value / now.value;
    speed_up(&out->in, ratio);
    speed_up(&out->out, ratio);
    for (int end = 0; end < 2; end++) {
        speed_up(&out->in_ends[end], ratio);
        speed_up(&out->out_ends[end], ratio);
    }
    rest_on(out, HAUL_PROVENANCE_SCALED);
    *generation = (int)link.generation.value;
    return HAUL_OK;
}
