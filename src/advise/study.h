/* Making the study that the changes read. */
#ifndef HAUL_ADVISE_STUDY_H
#define HAUL_ADVISE_STUDY_H

#include "advise/change.h"
#include "base/fail.h"

/* Fills classes, waits and limits, with memory for times and gaps; the caller has filled the rest.
 */
haul_status hl_advise_study_init(hl_advise_study *self, haul_error *error);
void hl_advise_study_release(hl_advise_study *self);

/* The machine that recorded the workload, to predict changed copies on: its link fitted to the
 * profile's copies, the rest of the first machine of the catalogue with the same GPU, as *loan says
 * (its texts are the arena's). The caller owns *machine and loan->slower. */
haul_status hl_advise_recorded_machine(const haul_workload *workload, hl_base_arena *arena,
                                       haul_machine **machine, hl_advise_loan *loan,
                                       haul_error *error);

#endif
