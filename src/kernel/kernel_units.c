/* Units as profilers and people write them, and columns that are times: of several the median is
 * the best, for means hold the first, cold launch. */
#include "kernel/kernel_units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* nvprof and Nsight Compute spell units out ("nsecond", "Kbyte"); the rest is as everywhere in
 * haul. */
double haul_kernel_unit_scale(const char *unit, haul_dimension dimension)
{
    static const struct {
        const char *name;
        const char *usual;
    } others[] = {{"nsecond", "ns"}, {"usecond", "us"}, {"msecond", "ms"}, {"second", "s"},
                  {"sec", "s"},      {"seconds", "s"},  {"msec", "ms"},    {"usec", "us"},
                  {"nsec", "ns"},    {"byte", "B"},     {"Kbyte", "kB"},   {"Mbyte", "MB"},
                  {"Gbyte", "GB"},   {"Tbyte", "TB"}};
    char one[48];
    double value = 0;
    if (dimension == HAUL_DIM_NUMBER) {
        /* "inst", "sector" and "%": what is counted, as the name says too; "Kinst" and "Msector"
         * are thousands and millions of it; a prefix of nothing is no unit */
        static const char prefixes[] = "KMGT";
        const char *prefix = *unit ? strchr(prefixes, *unit) : NULL;
        if ((prefix || *unit == 'k') && !unit[1])
            return 0;
        return prefix && islower((unsigned char)unit[1]) ? pow(1e3, (double)(prefix - prefixes + 1))
                                                         : 1;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(unit, others[i].name))
            unit = others[i].usual;
    snprintf(one, sizeof one, "1 %.30s", unit);
    return *unit && !haul_quantity_parse(one, dimension, &value, NULL) ? value : 0;
}

/* "time_ms" is a stem and a unit behind the last '_'; "ms" is a unit alone. The list's order is the
 * rank: times of the kernel, medians, means, then whatever else was timed, the minimum last. */
int haul_kernel_time_rank(const char *name, double *scale)
{
    static const char *const stems[] = {
        "",        "kernel",       "time",      "kernel_time", "gpu_time", "median",  "median_time",
        "med",     "mean",         "mean_time", "avg",         "avg_time", "average", "duration",
        "elapsed", "elapsed_time", "runtime",   "min",         "min_time"};
    char plain[64];
    size_t length = 0;
    for (; name[length] && length < sizeof plain - 1; length++)
        plain[length] =
            isalnum((unsigned char)name[length]) ? (char)tolower((unsigned char)name[length]) : '_';
    while (length && plain[length - 1] == '_')
        length--;
    plain[length] = '\0';
    char *unit = strrchr(plain, '_');
    const char *stem = unit ? plain : "";
    *scale = haul_kernel_unit_scale(unit ? unit + 1 : plain, HAUL_DIM_SECONDS);
    if (*scale <= 0)
        return -1;
    while (unit && unit >= plain && *unit == '_')
        *unit-- = '\0';
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (!strcmp(stem, stems[i]))
            return (int)i;
    return -1;
}
