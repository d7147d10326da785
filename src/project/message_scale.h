/* Messages between processes on the target, by the times that both machines' MPIs give a message of
 * their size. */
#ifndef HAUL_PROJECT_MESSAGE_SCALE_H
#define HAUL_PROJECT_MESSAGE_SCALE_H

#include "haul/machine.h"
#include "project/device_work.h"
#include "project/notes.h"

/* By how much longer a message of ranks takes. A collective keeps its time, for its algorithm is
 * the MPI's own: the interval reaches to what a message of its size would take. 1 of other
 * operations, and where a machine has no messages; either machine may be NULL. */
hl_project_work_scale hl_project_message_scale(const haul_machine *from, const haul_machine *to,
                                               const haul_workload *workload, const haul_op *op);

/* Says what is kept, and what to measure to have it predicted. */
void hl_project_message_note(const haul_machine *from, const haul_machine *to,
                             const haul_workload *workload, hl_project_notes *notes);

#endif
