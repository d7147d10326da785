/* Speeds of copies: their share of the link, and bidirectional contention (CCGrid 2014, section V:
 * the rate while the other direction is busy). A copy runs at the lesser of the two; where its
 * speed changes, the time that is left changes with it. */
#include "timeline/engine_parts.h"

enum { WAYS = 2 };

/* The way that a stream's copy goes: to the device, from it, or, WAYS, not over the link. A peer
 * copy that leaves through the device to host's engine goes with its copies. */
static unsigned way_of(const hl_timeline_engine *self, const hl_timeline_actor *stream)
{
    const unsigned direction = self->workload->ops[stream->op].direction;
    if (direction == HAUL_DIRECTION_HTOD)
        return HAUL_DIRECTION_HTOD;
    return direction == HAUL_DIRECTION_DTOH || stream->resource == HAUL_RESOURCE_ENGINE_OUT
               ? HAUL_DIRECTION_DTOH
               : WAYS;
}

/* The lanes of a device's link, by way. */
static hl_timeline_lane *lanes_of(const hl_timeline_engine *self, uint32_t device)
{
    const unsigned devices = self->options->device.link_devices;
    const bool shares = devices && device + 1 < self->device_count;
    return &self->lanes[(size_t)WAYS * (shares ? device / devices : device)];
}

/* Brings the copy's remaining time at full speed up to date before the speed changes. */
static void set_speed(hl_timeline_engine *self, uint32_t actor, double speed)
{
    hl_timeline_actor *stream = &self->actors[actor];
    if (stream->speed == speed)
        return;
    stream->left_ns -= (double)(self->now_ns - stream->since_ns) * stream->speed;
    stream->left_ns = stream->left_ns > 0 ? stream->left_ns : 0;
    stream->since_ns = self->now_ns;
    stream->speed = speed;
    /* so long that the schedule refuses it, and the sum still fits */
    const double most_ns = 1.5 * (double)hl_timeline_time_limit_ns;
    const double exact_ns = stream->left_ns / speed;
    int64_t needed_ns = (int64_t)(exact_ns < most_ns ? exact_ns : most_ns);
    needed_ns += exact_ns - (double)needed_ns >= 0.5 && exact_ns < most_ns; /* round is a call */
    hl_timeline_engine_schedule(self, actor, self->now_ns + needed_ns);
}

/* How many copies and migrations of a device go a way. */
static uint32_t *going(const hl_timeline_engine *self, uint32_t device, bool are_migrations,
                       unsigned way)
{
    return &self->copying[(size_t)WAYS * (2 * (size_t)device + are_migrations) + way];
}

/* The share of its speed that an actor keeps beside what goes the other way. */
static double beside(const hl_timeline_engine *self, const hl_timeline_actor *stream, unsigned way)
{
    const haul_timeline_device *device = &self->options->device;
    const bool is_migration = stream->resource == HAUL_RESOURCE_MIGRATION;
    const double mapped = device->mapped_speed[way];
    if (mapped > 0 && *going(self, stream->device, !is_migration, WAYS - 1 - way))
        return mapped;
    return *going(self, stream->device, false, WAYS - 1 - way) ||
                   *going(self, stream->device, true, WAYS - 1 - way)
               ? device->busy_speed[way]
               : 1;
}

static bool are_shared(const haul_timeline_device *device)
{
    return device->link_devices || device->migrations;
}

/* Without shares a copy that joined or left a lane changes nothing while the other lane is empty,
 * as most do. */
static bool may_change(const hl_timeline_engine *self, const hl_timeline_lane *lanes,
                       unsigned moved)
{
    return lanes[WAYS - 1 - moved].running || are_shared(&self->options->device);
}

/* Copies of a direction share its link; those of the other contend with them. */
static void settle_speeds(hl_timeline_engine *self, const hl_timeline_lane *lanes)
{
    const haul_timeline_device *device = &self->options->device;
    const bool shares = are_shared(device);
    const double copies = device->link_copies > 0 ? device->link_copies : 1;
    for (unsigned way = 0; way < WAYS; way++) {
        const uint32_t running = lanes[way].running;
        const double share = shares && running > copies ? copies / running : 1;
        for (uint32_t a = lanes[way].first; a != HAUL_NONE; a = self->actors[a].next_in_list) {
            const hl_timeline_actor *stream = &self->actors[a];
            const double own = beside(self, stream, way);
            const double speed = own < share ? own : share;
            /* Of the whole copy, whose latency nothing slows. */
            set_speed(self, a, speed < 1 ? 1 / (stream->steady + (1 - stream->steady) / speed) : 1);
        }
    }
}

/* All copies of both lanes may change their speed by one more. */
void hl_timeline_copy_joins(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *stream = &self->actors[actor];
    const unsigned way = way_of(self, stream);
    if (way == WAYS)
        return;
    hl_timeline_lane *lanes = lanes_of(self, stream->device);
    stream->next_in_list = lanes[way].first;
    lanes[way].first = actor;
    lanes[way].running++;
    ++*going(self, stream->device, stream->resource == HAUL_RESOURCE_MIGRATION, way);
    self->copies_met |= lanes[WAYS - 1 - way].running > 0;
    if (may_change(self, lanes, way))
        settle_speeds(self, lanes);
}

void hl_timeline_copy_leaves(hl_timeline_engine *self, uint32_t actor)
{
    const hl_timeline_actor *stream = &self->actors[actor];
    const unsigned way = way_of(self, stream);
    if (way == WAYS)
        return;
    hl_timeline_lane *lanes = lanes_of(self, stream->device);
    uint32_t *at = &lanes[way].first;
    while (*at != actor)
        at = &self->actors[*at].next_in_list;
    *at = stream->next_in_list;
    lanes[way].running--;
    --*going(self, stream->device, stream->resource == HAUL_RESOURCE_MIGRATION, way);
    if (may_change(self, lanes, way))
        settle_speeds(self, lanes);
}
