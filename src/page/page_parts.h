/* The parts of a page, a file each; page.c has their table. */
#ifndef HAUL_PAGE_PAGE_PARTS_H
#define HAUL_PAGE_PAGE_PARTS_H

#include <stdbool.h>

#include "haul/page.h"
#include "page/lanes.h"
#include "report/wording.h"

/* A page as it is written. A failure to get memory is kept and told at the end. */
typedef struct haul_page_writer {
    const haul_page *page;
    FILE *out;
    haul_lanes *lanes; /* of each timeline */
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

/* The timelines' operations for the script, in an element of their own. */
void haul_page_timeline_data(haul_page_writer *self);

#endif
