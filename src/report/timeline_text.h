/* A timeline in characters: a row for each stream, and for each thread that worked or waited. */
#ifndef HAUL_REPORT_TIMELINE_TEXT_H
#define HAUL_REPORT_TIMELINE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "haul/timeline.h"

/* Draws the operations of `workload`, all on streams and of threads, at `spans` in `width`
 * characters a row; of more rows than fit on a page it draws the first and says so. Returns false
 * without memory. */
bool hl_report_timeline_draw(const haul_workload *workload, const haul_span *spans, unsigned width,
                             FILE *out);

#endif
