/* Reading measured copies from memory. */
#ifndef HAUL_COST_SAMPLES_H
#define HAUL_COST_SAMPLES_H

#include "haul/fit.h"

/* haul_samples_load from `size` bytes in memory, NUL behind them, which it may change; `file` names
 * them in errors. */
haul_status hl_cost_samples_parse(char *text, size_t size, const char *file, haul_samples *samples,
                                  haul_error *error);

#endif
