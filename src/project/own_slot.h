/* The PCIe slot of the recording machine, as the profile's own copies tell it. */
#ifndef HAUL_PROJECT_OWN_SLOT_H
#define HAUL_PROJECT_OWN_SLOT_H

#include "haul/machine.h"
#include "project/size_class.h"

/* Makes *slotted `like`, a machine of the catalogue with the profile's GPU, in the slot that the
 * profile's pinned copies show, whose generation is FITTED then. NULL where they show none: no
 * large pinned copies, or none near the peak of a slot. The caller owns *slotted. Returns
 * NO_MEMORY. */
haul_status hl_project_own_slot(const haul_machine *like, const hl_project_size_classes *classes,
                                haul_machine **slotted, haul_error *error);

/* The highest rate of large pinned copies between host and device; 0: there are none. */
double hl_project_fastest_pinned(const hl_project_size_classes *classes);

#endif
