/* A page to look at: one HTML file that needs no network, no other file and, for reading, no
 * scripts. Names from a profile stand in it as text alone, whatever their bytes are.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_PAGE_H
#define HAUL_PAGE_H

#include <stdio.h>

#include "haul/analysis.h"
#include "haul/measure.h"
#include "haul/message_figures.h"
#include "haul/overlap_run.h"
#include "haul/project.h"
#include "haul/report.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* The parts of a page; one that is NULL or 0 is left out. */
typedef struct haul_page {
    const char *title;
    const char *command; /* that made it */
    /* drawn below each other, all from 0 on and to one scale */
    const haul_drawn *timelines;
    size_t timeline_count;
    /* the first one's answer stands at the top, then the sections of all in this order */
    const haul_report *const *reports;
    size_t report_count;
    /* drawn in sections of these reports: the sizes of copies; predicted times of copies over
     * measured ones; times of strategies over the number of streams; of a measurement the times of
     * copies, with residuals */
    const haul_analysis *analysis;
    const haul_projection *projection;
    const haul_overlap_report *overlap;
    const haul_run *run; /* times of strategies as they ran */
    const haul_measurement *measurement;
    const haul_exchange_report *exchange; /* times of its ways over the size of a message */
    const haul_message_figure *figures;   /* a machine's HAUL_FIGURES */
    /* runs on machines, as haul_report_matrix has them */
    const haul_target_row *targets;
    size_t job_count;
    size_t target_count;
} haul_page;

/* Writes the page, below 5 MB whatever the number of operations: what is too short and too close
 * together to be told apart is drawn as one, and the page says so. Needs 4 bytes an operation.
 * Returns IO and NO_MEMORY. */
HAUL_API haul_status haul_page_write(const haul_page *page, FILE *out, haul_error *error);

HAUL_END

#endif
