/* The commands of `haul machine` that have a file of their own. */
#ifndef HAUL_CLI_MACHINE_PARTS_H
#define HAUL_CLI_MACHINE_PARTS_H

#include "cli/command.h"

extern const cli_command cli_machine_time;
extern const cli_command cli_machine_fit;

#endif
