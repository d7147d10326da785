/* The peak of a link as a bare number, for models that ask for it at each copy. */
#ifndef HAUL_MACHINE_LINK_RATE_H
#define HAUL_MACHINE_LINK_RATE_H

#include "haul/machine.h"

/* haul_link_peak's value, in bytes per second; 0 where the link is not described. */
double hl_machine_link_rate(const haul_link *link);

#endif
