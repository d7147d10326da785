/* How fast copies move their bytes over time: a track below the lanes for each direction of the
 * host's link. A copy's bytes are spread evenly over its time; copies at once add up. */
#include <math.h>

#include "page/chart.h"
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

static void add_copies(const hl_page_lanes *lanes, double cell_ns, hl_page_rate_track *track)
{
    double steps[HL_PAGE_RATE_CELLS + 1] = {0}, partial[HL_PAGE_RATE_CELLS] = {0};
    for (size_t l = 0; l < lanes->count; l++)
        for (uint32_t i = 0; i < lanes->lanes[l].count; i++) {
            const hl_page_bar bar =
                hl_page_lane_bar(lanes, lanes->order[lanes->lanes[l].first + i]);
            if (bar.look != track->look || !bar.bytes)
                continue;
            const double last = nextafter(HL_PAGE_RATE_CELLS, 0);
            const double from = fmin((double)bar.start_ns / cell_ns, last);
            const double to = fmin((double)bar.end_ns / cell_ns, last);
            if (to > from)
                spread(partial, steps, from, to, (double)bar.bytes);
            else
                partial[(size_t)from] += (double)bar.bytes;
        }
    double level = 0, most = 0;
    for (size_t c = 0; c < HL_PAGE_RATE_CELLS; c++) {
        level += steps[c];
        track->Bps[c] = (level + partial[c]) / (1e-9 * cell_ns);
        most = fmax(most, track->Bps[c]);
    }
    /* Rounding of many sums and differences leaves rates behind where no copy is: they become 0. */
    for (size_t c = 0; c < HL_PAGE_RATE_CELLS; c++)
        if (track->Bps[c] < 1e-6 * most)
            track->Bps[c] = 0;
    track->most_Bps = most;
}

void hl_page_rates(const hl_page_lanes *lanes, int64_t window_ns, hl_page_rate_tracks *tracks)
{
    static const hl_page_look looks[HL_PAGE_RATE_TRACKS] = {HL_PAGE_LOOK_IN, HL_PAGE_LOOK_OUT};
    const double cell_ns = fmax((double)window_ns, 1) / HL_PAGE_RATE_CELLS;
    tracks->count = 0;
    for (size_t i = 0; i < HL_PAGE_RATE_TRACKS; i++) {
        hl_page_rate_track *track = &tracks->tracks[tracks->count];
        track->look = looks[i];
        if (!lanes->ops[looks[i]])
            continue;
        add_copies(lanes, cell_ns, track);
        tracks->count += track->most_Bps > 0;
    }
}

static bool rate_at(const void *of, size_t i, hl_page_point *point)
{
    point->y = ((const hl_page_rate_track *)of)->Bps[i];
    return true;
}

void hl_page_draw_rates(const hl_page_rate_track *track, double most_Bps, hl_page_box box,
                        FILE *out)
{
    char style[16];
    (void)snprintf(style, sizeof style, "look%d", (int)track->look);
    const hl_page_plot plot = {
        .x = {.high = HL_PAGE_RATE_CELLS, .at_high = box.width},
        .y = {.high = most_Bps, .at_low = box.top + box.height, .at_high = box.top}};
    const hl_page_series rates = {HL_PAGE_FORM_STEPS, style, .count = HL_PAGE_RATE_CELLS,
                                  .at = rate_at, .of = track};
    hl_page_series_draw(&plot, &rates, out);
}
