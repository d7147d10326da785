/* Owners and helpers of each node. */
#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* Sent by each process to all. */
typedef struct place {
    int node; /* below the number of processes; equal on processes of a node */
    int is_helper;
    int owner; /* whose team it is of, -1: none */
    int team_place;
} place;

static haul_status allocate_lists(hl_mpi_layout *layout, int size, haul_error *error)
{
    const size_t n = (size_t)size + 1;
    int **const arrays[] = {&layout->rank_of,    &layout->node_of, &layout->place_of,
                            &layout->node_start, &layout->by_node, &layout->team_start,
                            &layout->team};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = calloc(n, sizeof(int));
        if (!*arrays[i])
            return hl_base_fail_no_memory(error);
    }
    return HAUL_OK;
}

void hl_mpi_layout_free(hl_mpi_layout *layout)
{
    free(layout->rank_of);
    free(layout->node_of);
    free(layout->place_of);
    free(layout->node_start);
    free(layout->by_node);
    free(layout->team_start);
    free(layout->team);
}

/* Nodes are numbered in the order of their first owner: number_of[] of what the processes called
 * them, -1 of one without owners. */
static void number_nodes(hl_mpi_layout *layout, const place *places, int *number_of)
{
    for (int i = 0; i < layout->owners; i++) {
        int *number = &number_of[places[layout->rank_of[i]].node];
        *number = *number < 0 ? layout->nodes++ : *number;
        layout->node_of[i] = *number;
        layout->place_of[i] = layout->node_start[*number + 1]++;
    }
    for (int n = 0; n < layout->nodes; n++) {
        const int of_node = layout->node_start[n + 1];
        layout->most = of_node > layout->most ? of_node : layout->most;
        layout->node_start[n + 1] += layout->node_start[n];
    }
    for (int i = 0; i < layout->owners; i++)
        layout->by_node[layout->node_start[layout->node_of[i]] + layout->place_of[i]] = i;
}

/* Each owner before its helpers, those in the order of their ranks. The helpers of a node are dealt
 * to its owners in turn, `met` counts them; one on a node without owners is of no team. */
static void form_teams(haul_comm *self, place *places, const int *number_of, int *met)
{
    hl_mpi_layout *layout = &self->layout;
    for (int rank = 0; rank < self->size; rank++) {
        place *of = &places[rank];
        const int node = number_of[of->node];
        if (of->is_helper && node >= 0) {
            const int first = layout->node_start[node],
                      of_node = layout->node_start[node + 1] - first;
            of->owner = layout->by_node[first + met[node]++ % of_node];
        }
        if (of->owner >= 0)
            of->team_place = of->is_helper ? ++layout->team_start[of->owner + 1] : 0;
    }
    for (int i = 0; i < layout->owners; i++)
        layout->team_start[i + 1] += layout->team_start[i] + 1;
    for (int rank = 0; rank < self->size; rank++)
        if (places[rank].owner >= 0)
            layout->team[layout->team_start[places[rank].owner] + places[rank].team_place] = rank;
    self->team_of = places[self->rank].owner;
    self->team_place = places[self->rank].team_place;
}

haul_status hl_mpi_layout_make(haul_comm *self, int node, bool is_helper, haul_error *error)
{
    hl_mpi_layout *layout = &self->layout;
    const size_t size = (size_t)self->size;
    const place own = {.node = node, .is_helper = is_helper, .owner = -1};
    place *places = calloc(size, sizeof *places);
    int *numbers = calloc(2 * size, sizeof *numbers);
    haul_status status = allocate_lists(layout, self->size, error);
    if (!places || !numbers || status) {
        free(places);
        free(numbers);
        return hl_base_fail_no_memory(error);
    }
    const int ints = (int)(sizeof own / sizeof(int));
    const int code = MPI_Allgather(&own, ints, MPI_INT, places, ints, MPI_INT, self->all);
    if (code) {
        status = hl_mpi_failed(self, code, "gathering the nodes", error);
    } else {
        for (int rank = 0; rank < self->size; rank++) {
            numbers[rank] = -1;
            if (!places[rank].is_helper) {
                places[rank].owner = layout->owners;
                layout->rank_of[layout->owners++] = rank;
            }
        }
        self->owner = places[self->rank].owner;
        number_nodes(layout, places, numbers);
        form_teams(self, places, numbers, numbers + size);
        if (!layout->owners)
            status =
                haul_error_set(error, HAUL_STATUS_ABSENT, "no process owns data: all are helpers");
    }
    free(places);
    free(numbers);
    return status;
}
