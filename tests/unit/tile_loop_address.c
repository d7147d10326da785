/* A loop's array given by its pointer's address: compiles without WRONG alone. */
#include "haul/tile.h"

haul_status queue(haul_context *context, const haul_kernel_source *kernel, haul_array *u);

haul_status queue(haul_context *context, const haul_kernel_source *kernel, haul_array *u)
{
    const double k = 1;
#ifdef WRONG
    return HAUL_LOOP(context, NULL, kernel, &u, &k);
#else
    return HAUL_LOOP(context, NULL, kernel, u, &k);
#endif
}
