/* Threads of a program that take turns. */
#ifndef HAUL_PROJECT_HOST_TURNS_H
#define HAUL_PROJECT_HOST_TURNS_H

#include "project/notes.h"

/* Notes which threads are taken as one chain of calls, since they take turns; sets *has_turns.
 * Returns NO_MEMORY. */
haul_status hl_project_host_turns_note(const haul_workload *workload, hl_project_notes *notes,
                                       bool *has_turns, haul_error *error);

#endif
