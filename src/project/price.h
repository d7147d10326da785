/* Every copy of a trace priced on the target by every model. */
#ifndef HAUL_PROJECT_PRICE_H
#define HAUL_PROJECT_PRICE_H

#include "base/arena.h"
#include "haul/project.h"
#include "project/size_class.h"

typedef struct haul_price_list {
    const haul_machine *target;
    const haul_copy_model **models; /* the chosen first, NULL for auto */
    size_t model_count;
    const haul_size_class *alike;
    haul_arena *arena;
    uint64_t kept; /* copies that keep their recorded time, because no model prices them */
    double kept_s;
    uint64_t replaced; /* copies that `instead` priced, and why the first of them */
    char why_replaced[512];
} haul_price_list;

/* Fills the sizes, rows, models and copies of a projection. */
haul_status haul_price_all(haul_price_list *list, haul_projection *projection, haul_error *error);

#endif
