/* Matrices of counts, for an all-to-all-v. */
#ifndef HAUL_COMM_COUNTS_H
#define HAUL_COMM_COUNTS_H

#include "haul/exchange.h"

/* Reads `ranks` lines of `ranks` counts from a text into counts[row * ranks + column]; `file` names
 * it in errors. Returns BAD_INPUT with line and column. */
haul_status hl_comm_counts_parse(const char *text, const char *file, size_t ranks, uint64_t *counts,
                                 haul_error *error);

#endif
