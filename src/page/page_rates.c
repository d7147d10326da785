/* How fast copies move their bytes over time: a track below the lanes for each direction of the
 * host's link. A copy's bytes are spread evenly over its time; copies at once add up. */
#include <math.h>

#include "page/page_parts.h"

/* The bytes of a copy over the cells that it spans. Whole cells get a step up at the first and one
 * down behind the last, so that a copy costs the same whatever its length. */
static void spread(double *partial, double *steps, double from, double to, double bytes)
{
    const size_t first = (size_t)from, last = (size_t)to;
    const double density = bytes / (to - from);
    if (first == last) {
        partial[first] += bytes;
        return;
    }
    partial[first] += density * ((double)first + 1 - from);
    partial[last] += density * (to - (double)last);
    steps[first + 1] += density;
    steps[last] -= density;
}

static void add_copies(const haul_lanes *lanes, double cell_ns, haul_rate_track *track)
{
    double steps[HAUL_RATE_CELLS + 1] = {0}, partial[HAUL_RATE_CELLS] = {0};
    for (size_t l = 0; l < lanes->count; l++)
        for (uint32_t i = 0; i < lanes->lanes[l].count; i++) {
            const haul_bar bar = haul_lane_bar(lanes, lanes->order[lanes->lanes[l].first + i]);
            if (bar.look != track->look || !bar.bytes)
                continue;
            const double last = nextafter(HAUL_RATE_CELLS, 0);
            const double from = fmin((double)bar.start_ns / cell_ns, last);
            const double to = fmin((double)bar.end_ns / cell_ns, last);
            if (to > from)
                spread(partial, steps, from, to, (double)bar.bytes);
            else
                partial[(size_t)from] += (double)bar.bytes;
        }
    double level = 0, most = 0;
    for (size_t c = 0; c < HAUL_RATE_CELLS; c++) {
        level += steps[c];
        track->Bps[c] = (level + partial[c]) / (1e-9 * cell_ns);
        most = fmax(most, track->Bps[c]);
    }
    /* What sums and differences of many copies leave behind is no copy. */
    for (size_t c = 0; c < HAUL_RATE_CELLS; c++)
        if (track->Bps[c] < 1e-6 * most)
            track->Bps[c] = 0;
    track->most_Bps = most;
}

void haul_page_rates(const haul_lanes *lanes, int64_t window_ns, haul_rate_tracks *tracks)
{
    static const haul_look looks[HAUL_RATE_TRACKS] = {HAUL_LOOK_IN, HAUL_LOOK_OUT};
    const double cell_ns = fmax((double)window_ns, 1) / HAUL_RATE_CELLS;
    tracks->count = 0;
    for (size_t i = 0; i < HAUL_RATE_TRACKS; i++) {
        haul_rate_track *track = &tracks->tracks[tracks->count];
        track->look = looks[i];
        if (!lanes->ops[looks[i]])
            continue;
        add_copies(lanes, cell_ns, track);
        tracks->count += track->most_Bps > 0;
    }
}

/* One path: up and down at the sides of cells. `width` and `height` are of the drawing. */
void haul_page_draw_rates(const haul_rate_track *track, double most_Bps, int top, int width,
                          int height, FILE *out)
{
    bool is_open = false;
    fprintf(out, "<path class=\"look%d\" d=\"", (int)track->look);
    for (size_t c = 0; c <= HAUL_RATE_CELLS; c++) {
        const double rate = c < HAUL_RATE_CELLS ? track->Bps[c] : 0;
        const long x = lround((double)c * width / HAUL_RATE_CELLS);
        const long y = top + lround(height * (1 - rate / most_Bps));
        if (rate > 0)
            fprintf(out, is_open ? "V%ldh%d" : "M%ld %d", is_open ? y : x,
                    is_open ? width / HAUL_RATE_CELLS : top + height);
        if (rate > 0 && !is_open)
            fprintf(out, "V%ldh%d", y, width / HAUL_RATE_CELLS);
        if (!(rate > 0) && is_open)
            fprintf(out, "V%dz", top + height);
        is_open = rate > 0;
    }
    fputs("\"/>\n", out);
}
