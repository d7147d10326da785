/* A report on a page. */
#ifndef HAUL_PAGE_WRITE_HTML_H
#define HAUL_PAGE_WRITE_HTML_H

#include "report/document.h"

/* The sentences, lines and values before the first section. */
void hl_page_html_answer(const haul_report *report, FILE *out);

/* Whether a page shows anything of the part. */
bool hl_page_html_is_shown(const haul_table *part);

/* The parts of a section, from its first on. */
void hl_page_html_parts(const haul_table *first, FILE *out);

/* The same of a drawing, which is folded away until it is asked for; frees the report. False where
 * that could not be made whole. */
bool hl_page_html_figures(haul_report *report, FILE *out);

#endif
