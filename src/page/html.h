/* HTML with SVG inside: text of any bytes made harmless. */
#ifndef HAUL_PAGE_HTML_H
#define HAUL_PAGE_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints text for between tags and for an attribute in double quotes. Bytes that are
 * no UTF-8, control characters and those that turn the direction of writing become U+FFFD. */
void hl_page_html_text(const char *text, FILE *out);

/* The same, of at most `most` characters; a longer text ends with an ellipsis. */
void hl_page_html_text_cut(const char *text, size_t most, FILE *out);

/* Prints a string of JSON, with its quotes, that cannot end the script element it stands in; cut as
 * above. */
void hl_page_html_json_text(const char *text, size_t most, FILE *out);

#endif
