/* Speeds of copies: their share of the link, and bidirectional contention. */
#include <math.h>

#include "timeline/engine_parts.h"

enum { WAYS = 2 };

/* The way that a stream's copy goes: to the device, from it, or, WAYS, not over the link. A peer
 * copy that leaves through the device to host's engine goes with its copies. */
static unsigned way_of(const haul_engine *self, const haul_actor *stream)
{
    const unsigned direction = self->workload->ops[stream->op].direction;
    if (direction == HAUL_HTOD)
        return HAUL_HTOD;
    return direction == HAUL_DTOH || stream->resource == HAUL_ENGINE_OUT ? HAUL_DTOH : WAYS;
}

/* The lanes of a device's link, by way. */
static haul_lane *lanes_of(const haul_engine *self, uint32_t device)
{
    const unsigned devices = self->options->device.link_devices;
    const bool is_shared = devices && device + 1 < self->device_count;
    return &self->lanes[(size_t)WAYS * (is_shared ? device / devices : device)];
}

/* Of numbers; fmin is a call where NaN counts. */
static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static bool is_shared(const haul_engine *self)
{
    return self->options->device.link_devices || self->options->device.migrations;
}

/* The share of its full speed that each copy of a link has. */
static double share_of(const haul_engine *self, const haul_lane *lane)
{
    const double copies = self->options->device.link_copies;
    return is_shared(self) ? lesser(1, (copies > 0 ? copies : 1) / lane->running) : 1;
}

static void set_speed(haul_engine *self, uint32_t actor, double speed)
{
    haul_actor *stream = &self->actors[actor];
    if (stream->speed == speed)
        return;
    stream->left_ns -= (double)(self->now_ns - stream->since_ns) * stream->speed;
    stream->left_ns = fmax(stream->left_ns, 0);
    stream->since_ns = self->now_ns;
    stream->speed = speed;
    /* so long that the schedule refuses it, and the sum still fits */
    const double most_ns = 1.5 * (double)haul_time_limit_ns;
    haul_engine_schedule(self, actor,
                         self->now_ns + (int64_t)fmin(round(stream->left_ns / speed), most_ns));
}

static void refresh(haul_engine *self, const haul_lane *lanes, unsigned way)
{
    if (lanes[way].first == HAUL_NONE)
        return;
    const double share = share_of(self, &lanes[way]);
    for (uint32_t a = lanes[way].first; a != HAUL_NONE; a = self->actors[a].next_in_list) {
        const size_t other = (size_t)WAYS * self->actors[a].device + (WAYS - 1 - way);
        const double alone = self->copying[other] ? self->options->device.busy_speed[way] : 1;
        set_speed(self, a, lesser(alone, share));
    }
}

/* Copies of a direction share its link; those of the other contend with them. */
static void settle(haul_engine *self, const haul_lane *lanes)
{
    for (unsigned way = 0; way < WAYS; way++)
        refresh(self, lanes, way);
}

void haul_copy_joins(haul_engine *self, uint32_t actor)
{
    haul_actor *stream = &self->actors[actor];
    const unsigned way = way_of(self, stream);
    if (way == WAYS)
        return;
    haul_lane *lanes = lanes_of(self, stream->device);
    stream->next_in_list = lanes[way].first;
    lanes[way].first = actor;
    lanes[way].running++;
    self->copying[(size_t)WAYS * stream->device + way]++;
    settle(self, lanes);
}

void haul_copy_leaves(haul_engine *self, uint32_t actor)
{
    const haul_actor *stream = &self->actors[actor];
    const unsigned way = way_of(self, stream);
    if (way == WAYS)
        return;
    haul_lane *lanes = lanes_of(self, stream->device);
    uint32_t *at = &lanes[way].first;
    while (*at != actor)
        at = &self->actors[*at].next_in_list;
    *at = stream->next_in_list;
    lanes[way].running--;
    self->copying[(size_t)WAYS * stream->device + way]--;
    settle(self, lanes);
}
