/* The parts of a page, a file each; page.c has their table. */
#ifndef HAUL_PAGE_PAGE_PARTS_H
#define HAUL_PAGE_PAGE_PARTS_H

#include <stdbool.h>

#include "haul/page.h"
#include "page/lanes.h"
#include "report/wording.h"

/* Bytes a second in each of the cells that a timeline's window is cut into. */
enum { HAUL_RATE_CELLS = 800, HAUL_RATE_TRACKS = 2 };
typedef struct haul_rate_track {
    haul_look look;
    double most_Bps;
    double Bps[HAUL_RATE_CELLS];
} haul_rate_track;

/* One for each direction in which copies cross the host's link. */
typedef struct haul_rate_tracks {
    haul_rate_track tracks[HAUL_RATE_TRACKS];
    size_t count;
} haul_rate_tracks;

/* A page as it is written. A failure to get memory is kept and told at the end. */
typedef struct haul_page_writer {
    const haul_page *page;
    FILE *out;
    haul_lanes *lanes;       /* of each timeline */
    haul_rate_tracks *rates; /* likewise */
    double most_Bps;         /* of all tracks, which share one scale */
    haul_shades shades;
    int64_t window_ns; /* of the longest */
    bool failed;
} haul_page_writer;

/* What is put into every page, with the hashes that allow it to. */
extern const char haul_page_style[];
extern const char haul_page_style_hash[];
extern const char haul_page_script[];
extern const char haul_page_script_hash[];

/* Each writes the inside of its section. */
void haul_page_timelines(haul_page_writer *self);
void haul_page_accuracy(haul_page_writer *self);
void haul_page_sizes(haul_page_writer *self);
void haul_page_curve(haul_page_writer *page);
void haul_page_exchange(haul_page_writer *page);
void haul_page_roofline(haul_page_writer *page);

/* Finds the tracks of a timeline whose page shows window_ns. */
void haul_page_rates(const haul_lanes *lanes, int64_t window_ns, haul_rate_tracks *tracks);
void haul_page_draw_rates(const haul_rate_track *track, double most_Bps, int top, int width,
                          int height, FILE *out);
void haul_page_measured(haul_page_writer *self);

/* The timelines' operations for the script, in an element of their own. */
void haul_page_timeline_data(haul_page_writer *self);

#endif
