/* The functions of src/machine/catalogue.c, without the catalogue. */
#include <stdlib.h>

#include "haul/machine.h"

void haul_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
