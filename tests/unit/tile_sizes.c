#include "haul/tile.h"

void sizes_in_c(size_t sizes[3]);

void sizes_in_c(size_t sizes[3])
{
    sizes[0] = sizeof(haul_error);
    sizes[1] = sizeof(haul_context_options);
    sizes[2] = sizeof(haul_array_spec);
}
