/* A machine of the catalogue, for a test that needs it. */
#ifndef HAUL_TESTS_MACHINE_NAMED_H
#define HAUL_TESTS_MACHINE_NAMED_H

#include "haul/machine.h"

static inline haul_machine *machine_named(const char *name)
{
    haul_machine *machine = NULL;
    haul_error error;
    char text[1200];
    if (haul_machine_load(name, &machine, &error))
        fail_msg("%s", haul_error_format(&error, text, sizeof text));
    return machine;
}

#endif
