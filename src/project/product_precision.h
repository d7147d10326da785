/* The precision of products whose names do not tell it. */
#ifndef HAUL_PROJECT_PRODUCT_PRECISION_H
#define HAUL_PROJECT_PRODUCT_PRECISION_H

#include "haul/project.h"

/* Seconds that a program's products, convolutions and attention took, by the precision that their
 * names tell. */
typedef struct hl_project_precisions {
    double seconds[HAUL_PRECISIONS];
} hl_project_precisions;

void hl_project_precisions_add(hl_project_precisions *self, const haul_kernel_row *row);

/* The precision of a kernel: as its name has it; else as wide as the elements of its operands
 * (zero: not known); else the one in which the program's other products took most of their time.
 * NONE where none of these tells, and of kernels whose time no precision bounds. */
haul_precision hl_project_precision_of(const hl_project_precisions *self,
                                       const haul_kernel_kind *kind, const haul_operands *operands);

#endif
