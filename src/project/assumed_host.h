/* Assumptions of a prediction of copies about the host that the GPU is plugged into. */
#ifndef HAUL_PROJECT_ASSUMED_HOST_H
#define HAUL_PROJECT_ASSUMED_HOST_H

#include "haul/project.h"
#include "project/notes.h"
#include "project/recording.h"

/* Fills out->slower_link_generation and slower_link_s where copies over the target's link were
 * predicted from parameters that nobody measured on that very machine: a catalogue names a GPU, and
 * the slot is the host's. Needs: the sizes of `out`. Returns NO_MEMORY. */
haul_status hl_project_assumed_host_find(const haul_machine *target, const haul_copy_model *model,
                                         const hl_project_size_classes *classes,
                                         haul_projection *out, haul_error *error);

/* Notes that the profile's own pinned copies are slower than the link of the catalogue's machine
 * with its GPU lets them be, so that a PCIe of an earlier generation would carry them. Needs:
 * recording->like. */
void hl_project_assumed_host_note_slow_link(const hl_project_recording *recording,
                                            hl_project_notes *notes);

#endif
