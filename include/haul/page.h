/* A page to look at: one HTML file that needs no network, no other file and, for reading, no
 * scripts. What comes from a profile stands in it as text alone, whatever its bytes are. */
#ifndef HAUL_PAGE_H
#define HAUL_PAGE_H

#include <stdio.h>

#include "haul/advise.h"
#include "haul/analysis.h"
#include "haul/machine.h"
#include "haul/project.h"
#include "haul/report.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* What the page shows; a part that is NULL or 0 is left out. */
typedef struct haul_page {
    const char *title;
    const char *command; /* that made it */
    /* drawn below each other, all from 0 on and to one scale */
    const haul_drawn *timelines;
    size_t timeline_count;
    /* their answers stand at the top, then their sections in this order, with charts of: */
    const haul_report *const *reports;
    size_t report_count;
    const haul_analysis *analysis; /* the sizes of copies */
    /* what to change, and what it saves */
    const haul_advice_list *advice;
    const haul_workload *workload;
    /* the whole run on another machine, its copies, and how well copies are predicted; needs
     * `workload` */
    const haul_projection *projection;
    const haul_projection_options *projected;
    /* strategies, and their times over the number of streams */
    const haul_overlap_report *overlap;
    /* their figures, with where these are from */
    const haul_machine *const *machines;
    size_t machine_count;
} haul_page;

/* Writes the page, below 5 MB whatever the number of operations: what is too short and too close
 * together to be told apart is drawn as one, and the page says so. Needs 4 bytes an operation.
 * Returns IO and NO_MEMORY. */
HAUL_API haul_status haul_page_write(const haul_page *page, FILE *out, haul_error *error);

HAUL_END

#endif
