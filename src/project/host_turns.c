/* A profile does not tell that one thread waits for another, so that two which take turns are
 * inferred to, as trace/thread_turns.c does: the reader hears of it. */
#include "project/host_turns.h"

#include <stdlib.h>

#include "base/fail.h"
#include "workload/chains.h"

haul_status hl_project_host_turns_note(const haul_workload *workload, hl_project_notes *notes,
                                       bool *has_turns, haul_error *error)
{
    uint32_t *of = malloc((workload->thread_count + 1) * sizeof *of);
    unsigned count = 0;
    if (!of)
        return hl_base_fail_no_memory(error);
    hl_workload_chain_threads(workload, of);
    for (uint32_t t = 0; t < workload->thread_count; t++)
        count += of[t] != t;
    free(of);
    *has_turns = count > 0;
    if (count)
        hl_project_notes_add(notes,
                             "two threads%s take turns, as forward and backward passes do: each is "
                             "taken to begin when the other has ended its turn, so that both count "
                             "as one host",
                             count > 1 ? " of each process" : "");
    return HAUL_OK;
}
