/* How many loops of several devices go between exchanges of ghost planes. With more, a device moves
 * its planes through its memory less often, and computes planes of its neighbours', too. */
#include <math.h>

#include "tile/tile_calls.h"
#include "tile/tile_relay.h"

/* A device's part of a loop. */
typedef struct part_of_loop {
    hl_tile_rates rates;
    int planes;            /* its own */
    int sides;             /* with neighbours */
    int halo;              /* the widest */
    int room;              /* planes of each array that its memory has */
    double plane_s;        /* of the loop */
    double plane_bytes[2]; /* that a pass reads and writes */
    double sent_bytes;     /* a plane of what neighbours need */
} part_of_loop;

/* Regions that a ring has at a time, so that copies hide behind each other. */
enum { REGIONS = 16 };

#define LEAST_GAIN 0.995

static part_of_loop describe_part(haul_array *const *arrays, const hl_tile_step *step, int rank)
{
    const haul_context *context = hl_tile_team_context(arrays[0]->context->team, rank);
    const int last = hl_tile_team_count(arrays[0]->context->team) - 1;
    const int box = step->box.hi[step->outer] - step->box.lo[step->outer];
    part_of_loop self = {.rates = hl_tile_rates_of(&context->choice),
                         .sides = (rank > 0) + (rank < last),
                         .room = INT32_MAX};
    self.plane_s = hl_tile_step_seconds(&self.rates, step) / (box > 0 ? box : 1);
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        const hl_tile_field *field = arrays[u]->on_all ? NULL : arrays[u]->of[rank]->field;
        if (!field)
            continue;
        const int room = hl_tile_ring_planes(&context->memory, field);
        self.room = room < self.room ? room : self.room;
        self.planes = field->length;
        self.halo = use->halo > self.halo ? use->halo : self.halo;
        self.plane_bytes[0] += use->reads ? (double)field->plane_bytes : 0;
        self.plane_bytes[1] += use->writes ? (double)field->plane_bytes : 0;
        self.sent_bytes += use->halo ? (double)field->plane_bytes : 0;
    }
    return self;
}

/* Seconds a loop; infinite where so many loops do not fit a pass. Planes of neighbours are there
 * when they have been copied out, by one device, and in, by the other. */
static double predict_loop(const part_of_loop *self, unsigned steps)
{
    const hl_tile_rates *rates = &self->rates;
    const double ghosts = (double)steps * self->halo;
    const double redundant = self->sides * self->halo * (double)steps * (steps - 1) / 2;
    const double run_s = self->plane_s * (self->planes * (double)steps + redundant);
    const double sent = self->sides * ghosts * self->sent_bytes;
    const double sent_s =
        2 * rates->copy_latency_s + sent / rates->copy_Bps[0] + sent / rates->copy_Bps[1];
    double missing = self->planes + 2 * ghosts - self->room;
    missing += missing > 0 ? 2 * ghosts : 0; /* that are put aside */
    if (ghosts >= self->planes)
        return INFINITY;
    if (missing <= 0) { /* the first loop's inner planes hide the exchange */
        const double inner_s = self->plane_s * (self->planes - self->sides * self->halo);
        return (run_s + ((double)steps + self->sides) * rates->launch_s +
                fmax(0, sent_s - inner_s)) /
               steps;
    }
    /* planes beyond both ends, those that steps are behind, and as many to copy ahead */
    if (steps > 1 && 5 * ghosts > self->room)
        return INFINITY;
    const double regions = REGIONS * (double)self->planes / fmax(self->room, 1);
    double copy_s = 0;
    for (int d = 0; d < 2; d++)
        copy_s = fmax(copy_s, missing * self->plane_bytes[d] / rates->copy_Bps[d] / rates->busy[d]);
    /* Copies begin when the steps have left the first region, and end before they come to the last;
     * before them come the planes of one neighbour. */
    const double idle = 2 * (ghosts / self->planes + 1 / regions);
    copy_s += run_s * idle + ghosts * self->sent_bytes / rates->copy_Bps[0];
    const double fill_s = self->room * self->plane_bytes[0] / REGIONS / rates->copy_Bps[0];
    return (fmax(run_s + steps * regions * rates->launch_s, copy_s) + fill_s) / steps;
}

/* The devices wait for the slowest. Of equal times the fewest loops: others need more memory. */
unsigned hl_tile_exchange_choose(haul_array *const *arrays, const hl_tile_step *step,
                                 double *loop_s)
{
    static const unsigned tried[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    const int count = hl_tile_team_count(arrays[0]->context->team);
    double best_s = INFINITY;
    unsigned best = 1;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        double slowest_s = 0;
        for (int rank = 0; rank < count; rank++) {
            const part_of_loop part = describe_part(arrays, step, rank);
            slowest_s = fmax(slowest_s, predict_loop(&part, tried[i]));
        }
        if (slowest_s < LEAST_GAIN * best_s) {
            best_s = slowest_s;
            best = tried[i];
        }
    }
    *loop_s = best_s;
    return best;
}

/* A device with all planes, in regions of so many. Its memory has as many of each array. */
static hl_tile_relay_speed describe_whole(haul_array *const *arrays, const hl_tile_step *step,
                                          int rank, int region)
{
    const haul_context *context = hl_tile_team_context(arrays[0]->context->team, rank);
    const part_of_loop part = describe_part(arrays, step, rank);
    const hl_tile_rates *rates = &part.rates;
    double plane_bytes = 0, room = (double)context->memory.budget;
    for (const hl_tile_field *field = context->memory.fields; field; field = field->next) {
        plane_bytes += field->whole > 1 ? (double)field->plane_bytes : 0;
        room -= field->whole > 1 ? 0 : (double)field->host_bytes;
    }
    hl_tile_relay_speed self = {.loop_reach = part.halo};
    /* later loops may read as far as arrays have cells beyond their edges */
    int edge = part.halo;
    for (unsigned u = 0; u < step->use_count; u++)
        if (!arrays[u]->on_all && arrays[u]->spec.ghost[step->outer] > edge)
            edge = arrays[u]->spec.ghost[step->outer];
    const double planes = room / plane_bytes;
    if (planes >= step->whole + 2 * edge)
        self.reach = INT32_MAX;
    else
        self.reach = ((int)planes - 2 * edge) / region * region - 3 * region;
    if (self.reach < 2 * edge)
        self.reach = -1;
    self.loop_s =
        hl_tile_step_seconds(rates, step) + ceil((double)step->whole / region) * rates->launch_s;
    for (int d = 0; d < 2; d++)
        self.copy_s = fmax(self.copy_s,
                           step->whole * part.plane_bytes[d] / rates->copy_Bps[d] / rates->busy[d]);
    return self;
}

/* As if the host never waited; of arrays that do not fit, where the program does not ask. */
int hl_tile_relay_choose(haul_array *const *arrays, const hl_tile_step *step, double *loop_s)
{
    hl_tile_relay_speed *speeds = arrays[0]->context->relay.speeds;
    hl_tile_relay_task task = {.devices = hl_tile_team_count(arrays[0]->context->team),
                               .planes = step->whole,
                               .loops = HL_TILE_STEPS_QUEUED};
    const int given = hl_tile_team_context(arrays[0]->context->team, 0)->memory.region_given;
    const int first = given ? given : 1 + step->whole / HL_TILE_RELAY_PARTS;
    const int last = given ? given : step->whole;
    bool streams = arrays[0]->context->options.relay > 0;
    for (int rank = 0; rank < task.devices; rank++) {
        const part_of_loop part = describe_part(arrays, step, rank);
        streams = streams || part.planes + 2 * part.halo > part.room;
    }
    int best = 0;
    *loop_s = INFINITY;
    for (task.region = first; streams && task.region <= last; task.region += 1 + task.region / 5) {
        for (int rank = 0; rank < task.devices; rank++)
            speeds[rank] = describe_whole(arrays, step, rank, task.region);
        const size_t rounds = hl_tile_relay_rounds(speeds, &task);
        const double all_s = hl_tile_relay_predict(speeds, &task, rounds ? rounds : 1);
        if (all_s / (double)task.loops < *loop_s) {
            *loop_s = all_s / (double)task.loops;
            best = task.region;
        }
    }
    return best;
}
