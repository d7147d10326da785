/* Where in the program the rows of a projection were called for. */
#ifndef HAUL_PROJECT_ROW_PLACES_H
#define HAUL_PROJECT_ROW_PLACES_H

#include "haul/project.h"

/* Fills the places of kernel rows and of the rows of all sizes of copies. rows[i], of op_count, is
 * a kernel's row; the others are set. Returns NO_MEMORY. */
haul_status hl_project_row_places_find(const haul_workload *workload, uint32_t *rows,
                                       haul_projection *out, haul_error *error);

#endif
