/* Orders of numbers, as qsort asks for them: differences would not fit an int. */
#ifndef HAUL_BASE_COMPARE_H
#define HAUL_BASE_COMPARE_H

#include <stdint.h>

static inline int hl_base_compare_unsigned(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static inline int hl_base_compare_signed(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static inline int hl_base_compare_reals(double a, double b)
{
    return (a > b) - (a < b);
}

/* Of items that are such numbers. */
static inline int hl_base_compare_unsigned_items(const void *a, const void *b)
{
    return hl_base_compare_unsigned(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int hl_base_compare_signed_items(const void *a, const void *b)
{
    return hl_base_compare_signed(*(const int64_t *)a, *(const int64_t *)b);
}

#endif
