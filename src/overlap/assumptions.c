/* Where the analytical model and the timeline differ, and by how much: the pipeline of equal
 * chunks, solved. docs/overlap.md derives it. */
#include <math.h>

#include "haul/overlap.h"
#include "overlap/formulas.h"
#include "overlap/schedule.h"

/* Copies of one direction: the first of them, one behind another, and the least and the most of
 * those that are not the first. */
typedef struct steps {
    double first_s;
    double next_s;
    double least_s;
    double most_s;
} steps;

/* A strategy's chunks in three stages: copies in, kernels and copies back, all equal but the
 * first. */
typedef struct pipeline {
    haul_overlap_device_kind device;
    double count;
    steps in;
    steps out;
    double kernel_s; /* of one chunk */
} pipeline;

/* A direction without bytes has no copies: all of its times are 0, and so drop out of sums and
 * maxima. `speed` slows latency and gap too, as the timeline does. */
static steps steps_of(const haul_overlap_leg *leg, double times, double count, double speed)
{
    if (!(leg->bytes > 0))
        return (steps){0};
    const double data_s = leg->bytes * times * leg->per_byte_s / count;
    return (steps){
        .first_s = (leg->latency_s + data_s) / speed,
        .next_s = (leg->gap_s + data_s) / speed,
        .least_s = (fmin(leg->latency_s, leg->gap_s) + data_s) / speed,
        .most_s = (fmax(leg->latency_s, leg->gap_s) + data_s) / speed,
    };
}

static bool both_ways(const haul_overlap_case *self)
{
    return self->in.bytes > 0 && self->out.bytes > 0;
}

/* With copies as fast as alone, or slowed by copies in the other direction all the time. */
static pipeline pipeline_of(const haul_overlap_case *self, haul_strategy strategy, double count,
                            bool slow)
{
    haul_timeline_device device;
    hl_overlap_schedule_device(self, strategy, (uint32_t)count, &device);
    const bool meets = slow && count > 1 && device.copy_engines > 1 && both_ways(self);
    const double speed[] = {meets ? device.busy_speed[0] : 1, meets ? device.busy_speed[1] : 1};
    return (pipeline){
        .device = self->device,
        .count = count,
        .in = steps_of(&self->in, 1, count, speed[0]),
        .out = steps_of(&self->out, strategy == HAUL_STRATEGY_HYBRID ? self->out.times : 1, count,
                        speed[1]),
        .kernel_s = self->kernel_s / count,
    };
}

/* Time between the starts of two chunks on the busier of the first two stages. */
static double pace(const pipeline *p)
{
    return fmax(p->in.next_s, p->kernel_s);
}

/* When chunk i's kernel ends, from 0 on. */
static double computed(const pipeline *p, double i)
{
    return p->in.first_s + p->kernel_s + i * pace(p);
}

/* When the first copy back starts: one engine copies all in before. */
static double back_begins(const pipeline *p)
{
    switch (p->device) {
    case HAUL_IMPLICIT_SYNC:
        return computed(p, p->count - 1);
    case HAUL_ONE_ENGINE:
        return fmax(p->in.first_s + (p->count - 1) * p->in.next_s, computed(p, 0));
    default:
        return computed(p, 0);
    }
}

/* All copies back without a pause: only the first pays L+o, the others g (section V). */
static double in_a_row(const pipeline *p)
{
    return p->out.first_s + (p->count - 1) * p->out.next_s;
}

/* A chunk takes the longer of its kernel and its writes; after the last one a latency. */
static double hybrid_time(const pipeline *p, double latency_s)
{
    const double chunk_s = fmax(p->kernel_s, p->out.next_s);
    const double last_s = fmax(p->kernel_s + latency_s, p->out.first_s);
    return p->in.first_s + (p->count - 1) * fmax(p->in.next_s, chunk_s) + last_s;
}

/* Strategies in which chunks overlap; with one stream nothing does. */
static bool is_piped(haul_strategy strategy, uint32_t streams)
{
    return strategy == HAUL_STRATEGY_HYBRID || (strategy == HAUL_STRATEGY_STREAMS && streams > 1);
}

/* The timeline's time lies between the two whatever order its copies take: low with every copy as
 * fast as alone, high with every copy slowed all the time by those of the other direction. */
void haul_overlap_limits(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams,
                         double *low_s, double *high_s)
{
    const double count = streams ? streams : 1;
    const pipeline fast = pipeline_of(self, strategy, count, false);
    const pipeline slow = pipeline_of(self, strategy, count, true);
    if (strategy == HAUL_STRATEGY_MAPPED) {
        *low_s = *high_s = hl_overlap_mapped_both_ways(self);
    } else if (!is_piped(strategy, streams)) {
        *low_s = *high_s = haul_overlap_time(self, strategy, streams);
    } else if (strategy == HAUL_STRATEGY_HYBRID) {
        const double latency_s = self->out.bytes > 0 ? self->out.latency_s : 0;
        *low_s = hybrid_time(&fast, latency_s);
        *high_s = hybrid_time(&slow, latency_s);
    } else {
        /* all copies back in a row, or the last by itself, which costs at least so much */
        *low_s = fmax(back_begins(&fast) + in_a_row(&fast),
                      computed(&fast, fast.count - 1) + fast.out.least_s);
        /* The last pause before a copy back was before the first, the second or the last: in
         * between the time is linear in the place. */
        const double last = computed(&slow, slow.count - 1) + slow.out.most_s;
        const double second =
            computed(&slow, 1) + slow.out.most_s + (slow.count - 2) * slow.out.next_s;
        const double row = back_begins(&slow) + in_a_row(&slow);
        *high_s = fmax(row, slow.device == HAUL_IMPLICIT_SYNC ? last : fmax(last, second));
    }
}

/* Whether it is known what the last copy back costs. Were all in a row, it would wait so long; it
 * waits indeed if that is a latency less a gap. If none has to wait, it does not. Else some wait
 * and some do not. */
static bool last_is_known(const pipeline *p)
{
    const double tick_s = 5e-9; /* what a timeline rounds decides no tie */
    const double spread_s = p->out.first_s - p->out.next_s;
    const double before_s = in_a_row(p) - p->out.next_s;
    const double waits_s = back_begins(p) + before_s - computed(p, p->count - 1);
    const bool never = p->device == HAUL_IMPLICIT_SYNC || p->out.first_s + tick_s < pace(p);
    return waits_s >= spread_s || (waits_s < -tick_s && never);
}

/* Each flag is an assumption of Figure 7 that this case does not meet, so that a report can say why
 * the two times differ. No flag: they agree to rounding. */
unsigned haul_overlap_unmet(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams)
{
    const double count = streams ? streams : 1;
    unsigned unmet = 0;
    if (strategy == HAUL_STRATEGY_MAPPED &&
        hl_overlap_mapped_both_ways(self) > haul_overlap_time(self, HAUL_STRATEGY_MAPPED, 1))
        return HAUL_ASSUMPTION_MAPPED;
    if (!is_piped(strategy, streams))
        return 0;
    const pipeline p = pipeline_of(self, strategy, count, false);
    const bool streamed = strategy == HAUL_STRATEGY_STREAMS && self->out.bytes > 0;
    haul_timeline_device device;
    hl_overlap_schedule_device(self, strategy, streams, &device);
    if (both_ways(self) && device.copy_engines > 1 &&
        (device.busy_speed[0] < 1 || device.busy_speed[1] < 1))
        unmet |= HAUL_ASSUMPTION_CONTENTION;
    if (strategy == HAUL_STRATEGY_HYBRID && self->out.bytes > 0 && self->kernel_s > 0)
        unmet |= HAUL_ASSUMPTION_ENDS;
    if (streamed && !last_is_known(&p))
        unmet |= HAUL_ASSUMPTION_LATENCY;
    if (streamed && self->out.gap_s > self->out.latency_s)
        unmet |= HAUL_ASSUMPTION_GAP;
    return unmet;
}
