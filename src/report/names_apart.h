/* Kernels' names in little room, so that different ones look different. */
#ifndef HAUL_REPORT_NAMES_APART_H
#define HAUL_REPORT_NAMES_APART_H

#include "report/document.h"

typedef struct hl_report_name_text {
    char text[HL_REPORT_CELL_BYTES];
} hl_report_name_text;

/* Shortens `count` names to `width` characters each, at least 16 and at most 60. Of different names
 * that would look alike the part is shown where they begin to differ, or else their number among
 * them: "#2". Time in proportion to the square of `count`. False without memory. */
bool hl_report_names_apart(const char *const *names, size_t count, size_t width,
                           hl_report_name_text *texts);

#endif
