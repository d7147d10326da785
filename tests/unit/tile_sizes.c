#include "haul/tile.h"

void sizes_in_c(size_t sizes[8]);

void sizes_in_c(size_t sizes[8])
{
    sizes[0] = sizeof(haul_error);
    sizes[1] = sizeof(haul_context_options);
    sizes[2] = sizeof(haul_array_spec);
    sizes[3] = sizeof(haul_box);
    sizes[4] = sizeof(haul_loop_options);
    sizes[5] = sizeof(haul_named_array);
    sizes[6] = sizeof(haul_device_cells);
    sizes[7] = sizeof(haul_region);
}
