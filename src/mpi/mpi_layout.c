/* Who runs where: owners and helpers of the nodes. */
#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* What each process tells of itself. */
typedef struct place {
    int node; /* any number; equal on processes of a node */
    int is_helper;
} place;

static haul_status allocate(haul_mpi_layout *layout, int size, haul_error *error)
{
    const size_t n = (size_t)size + 1;
    int **const arrays[] = {&layout->rank_of,    &layout->node_of, &layout->place_of,
                            &layout->node_start, &layout->by_node, &layout->team_start,
                            &layout->team};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = calloc(n, sizeof(int));
        if (!*arrays[i])
            return haul_fail_no_memory(error);
    }
    return HAUL_OK;
}

void haul_mpi_layout_free(haul_mpi_layout *layout)
{
    free(layout->rank_of);
    free(layout->node_of);
    free(layout->place_of);
    free(layout->node_start);
    free(layout->by_node);
    free(layout->team_start);
    free(layout->team);
}

/* Nodes are numbered in the order of their first owner. */
static void number_nodes(haul_mpi_layout *layout, const place *places)
{
    for (int i = 0; i < layout->owners; i++) {
        int j = 0;
        while (places[layout->rank_of[j]].node != places[layout->rank_of[i]].node)
            j++;
        layout->node_of[i] = j < i ? layout->node_of[j] : layout->nodes++;
        layout->node_start[layout->node_of[i] + 1]++;
    }
    for (int n = 0; n < layout->nodes; n++) {
        const int of_node = layout->node_start[n + 1];
        layout->most = of_node > layout->most ? of_node : layout->most;
        layout->node_start[n + 1] += layout->node_start[n];
    }
    for (int n = 0, at = 0; n < layout->nodes; n++)
        for (int i = 0; i < layout->owners; i++)
            if (layout->node_of[i] == n) {
                layout->place_of[i] = at - layout->node_start[n];
                layout->by_node[at++] = i;
            }
}

/* The helpers of a node are dealt to its owners in turn; one on a node without owners is of no
 * team. */
static void form_teams(haul_comm *self, const place *places)
{
    haul_mpi_layout *layout = &self->layout;
    int at = 0;
    for (int i = 0; i < layout->owners; i++) {
        const int node = layout->node_of[i];
        const int of_node = layout->node_start[node + 1] - layout->node_start[node];
        int met = 0;
        layout->team_start[i] = at;
        layout->team[at++] = layout->rank_of[i];
        for (int rank = 0; rank < self->size; rank++) {
            if (!places[rank].is_helper || places[rank].node != places[layout->rank_of[i]].node ||
                met++ % of_node != layout->place_of[i])
                continue;
            if (rank == self->rank) {
                self->team_of = i;
                self->team_place = at - layout->team_start[i];
            }
            layout->team[at++] = rank;
        }
    }
    layout->team_start[layout->owners] = at;
}

haul_status haul_mpi_layout_make(haul_comm *self, int node, bool is_helper, haul_error *error)
{
    haul_mpi_layout *layout = &self->layout;
    const place own = {node, is_helper};
    place *places = calloc((size_t)self->size, sizeof *places);
    haul_status status = allocate(layout, self->size, error);
    if (!places || status) {
        free(places);
        return haul_fail_no_memory(error);
    }
    const int code = MPI_Allgather(&own, 2, MPI_INT, places, 2, MPI_INT, self->all);
    if (code) {
        status = haul_mpi_failed(self, code, "gathering the nodes", error);
    } else {
        self->owner = self->team_of = -1;
        for (int rank = 0; rank < self->size; rank++) {
            if (places[rank].is_helper)
                continue;
            if (rank == self->rank)
                self->owner = self->team_of = layout->owners;
            layout->rank_of[layout->owners++] = rank;
        }
        number_nodes(layout, places);
        form_teams(self, places);
        if (!layout->owners)
            status = haul_fail(error, HAUL_ABSENT, "no process owns data: all are helpers");
    }
    free(places);
    return status;
}
