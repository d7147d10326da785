/* Machines of a few lines of YAML. */
#ifndef HAUL_TESTS_MACHINE_TEXT_H
#define HAUL_TESTS_MACHINE_TEXT_H

#include <string.h>

#include "check.h"
#include "haul/machine.h"

#define HEAD "haul: 1\nname: a\nsummary: b\n"
#define MEASURED HEAD "from: measured\n"

static inline haul_machine *parsed(const char *yaml)
{
    haul_machine *machine = NULL;
    haul_error error = {0};
    char text[1200];
    if (haul_machine_parse(yaml, strlen(yaml), "a.yaml", &machine, &error))
        fail_msg("%s\n%s", haul_error_format(&error, text, sizeof text), yaml);
    return machine;
}

#endif
