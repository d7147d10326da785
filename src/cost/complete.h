/* A board without a machine around it, as haul_machine_complete takes it. */
#ifndef HAUL_COST_COMPLETE_H
#define HAUL_COST_COMPLETE_H

#include <stdbool.h>

#include "haul/machine.h"

/* Whether a machine has neither a link nor copies over one: its copies are then those of the
 * machine that it is completed from. */
bool hl_cost_is_board(const haul_machine *machine);

#endif
