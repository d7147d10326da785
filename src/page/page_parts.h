/* The parts of a page, a file each; page.c has their table. */
#ifndef HAUL_PAGE_PAGE_PARTS_H
#define HAUL_PAGE_PAGE_PARTS_H

#include <stdbool.h>

#include "haul/page.h"
#include "page/lanes.h"
#include "report/wording.h"

/* Bytes a second in each of the cells that a timeline's window is cut into. */
enum { HL_PAGE_RATE_CELLS = 800, HL_PAGE_RATE_TRACKS = 2 };
typedef struct hl_page_rate_track {
    hl_page_look look;
    double most_Bps;
    double Bps[HL_PAGE_RATE_CELLS];
} hl_page_rate_track;

/* One for each direction in which copies cross the host's link. */
typedef struct hl_page_rate_tracks {
    hl_page_rate_track tracks[HL_PAGE_RATE_TRACKS];
    size_t count;
} hl_page_rate_tracks;

/* A page as it is written. A failure to get memory is kept and told at the end. */
typedef struct hl_page_writer {
    const haul_page *page;
    FILE *out;
    hl_page_lanes *lanes;       /* of each timeline */
    hl_page_rate_tracks *rates; /* likewise */
    double most_Bps;            /* of all tracks, which share one scale */
    hl_page_shades shades;
    int64_t window_ns; /* of the longest */
    bool failed;
} hl_page_writer;

/* The style and the script of every page, with the hashes by which the page allows them. */
extern const char hl_page_style[];
extern const char hl_page_style_hash[];
extern const char hl_page_script[];
extern const char hl_page_script_hash[];

/* Each writes the inside of its section. */
void hl_page_timelines(hl_page_writer *self);
void hl_page_accuracy(hl_page_writer *self);
void hl_page_sizes(hl_page_writer *self);
void hl_page_curve(hl_page_writer *page);
void hl_page_run(hl_page_writer *page);
void hl_page_exchange(hl_page_writer *page);
void hl_page_messages(hl_page_writer *page);
void hl_page_targets(hl_page_writer *self);
void hl_page_roofline(hl_page_writer *page);

/* Finds the tracks of a timeline whose page shows window_ns. */
void hl_page_rates(const hl_page_lanes *lanes, int64_t window_ns, hl_page_rate_tracks *tracks);

/* Draws a track into a box of a drawing. */
typedef struct hl_page_box {
    int top;
    int width;
    int height;
} hl_page_box;
void hl_page_draw_rates(const hl_page_rate_track *track, double most_Bps, hl_page_box box,
                        FILE *out);
void hl_page_measured(hl_page_writer *self);

/* The timelines' operations for the script, in an element of their own. */
void hl_page_timeline_data(hl_page_writer *self);

#endif
