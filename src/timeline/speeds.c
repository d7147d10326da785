/* How fast copies go: what they have of their link, and what the other direction leaves them. */
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

static haul_lane *lane_of(const haul_engine *self, uint32_t device, unsigned way)
{
    const unsigned devices = self->options->device.link_devices;
    const bool is_shared = devices && device + 1 < self->device_count;
    return &self->lanes[(size_t)WAYS * (is_shared ? device / devices : device) + way];
}

/* The share of its full speed that the link has left for each of its copies. */
static double share_of(const haul_engine *self, const haul_lane *lane)
{
    const haul_timeline_device *device = &self->options->device;
    if (!device->link_devices && !device->migrations)
        return 1;
    return fmin(1, (device->link_copies > 0 ? device->link_copies : 1) / lane->running);
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

static void refresh(haul_engine *self, uint32_t device, unsigned way)
{
    const haul_lane *lane = lane_of(self, device, way);
    const double share = share_of(self, lane);
    for (uint32_t a = lane->first; a != HAUL_NONE; a = self->actors[a].next_in_list) {
        const size_t other = (size_t)WAYS * self->actors[a].device + (WAYS - 1 - way);
        set_speed(self, a,
                  fmin(self->copying[other] ? self->options->device.busy_speed[way] : 1, share));
    }
}

void haul_copy_joins(haul_engine *self, uint32_t actor)
{
    haul_actor *stream = &self->actors[actor];
    const unsigned way = way_of(self, stream);
    if (way == WAYS)
        return;
    haul_lane *lane = lane_of(self, stream->device, way);
    stream->next_in_list = lane->first;
    lane->first = actor;
    lane->running++;
    self->copying[(size_t)WAYS * stream->device + way]++;
    for (unsigned w = 0; w < WAYS; w++)
        refresh(self, stream->device, w);
}

void haul_copy_leaves(haul_engine *self, uint32_t actor)
{
    const haul_actor *stream = &self->actors[actor];
    const unsigned way = way_of(self, stream);
    if (way == WAYS)
        return;
    haul_lane *lane = lane_of(self, stream->device, way);
    uint32_t *at = &lane->first;
    while (*at != actor)
        at = &self->actors[*at].next_in_list;
    *at = stream->next_in_list;
    lane->running--;
    self->copying[(size_t)WAYS * stream->device + way]--;
    for (unsigned w = 0; w < WAYS; w++)
        refresh(self, stream->device, w);
}
