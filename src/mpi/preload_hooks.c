/* Each of the program's communicators has an attribute of the library before the MPI. */
#include <stdlib.h>

#include "mpi/preload_parts.h"

/* The one thing that must be found again without the program's help. */
static int key = MPI_KEYVAL_INVALID;
static int live_comms;

atomic_ulong hl_mpi_hooks_freed;
_Thread_local hl_mpi_last_hook hl_mpi_last;

int hl_mpi_hooks_live(void)
{
    return live_comms;
}

void hl_mpi_hook_set(hl_mpi_hook *self, haul_comm *comm)
{
    self->comm = comm;
    live_comms += comm != NULL;
}

static int free_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    hl_mpi_hook *const self = value;
    hl_mpi_hooks_freed++;
    live_comms -= self->comm != NULL;
    haul_comm_free(self->comm);
    free(self);
    return MPI_SUCCESS;
}

hl_mpi_hook *hl_mpi_hook_find(MPI_Comm mpi)
{
    hl_mpi_hook *self = NULL;
    int is_there = 0;
    if (key == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(mpi, key, (void *)&self, &is_there))
        return NULL;
    return is_there ? self : NULL;
}

static hl_mpi_hook *find_or_make(MPI_Comm mpi)
{
    int is_inter = 0, size = 1;
    if (mpi == MPI_COMM_NULL ||
        (key == MPI_KEYVAL_INVALID &&
         PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_attribute, &key, NULL)))
        return NULL;
    hl_mpi_hook *self = hl_mpi_hook_find(mpi);
    if (self)
        return self;
    (void)PMPI_Comm_test_inter(mpi, &is_inter);
    (void)PMPI_Comm_size(mpi, &size);
    self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->is_left = self->is_apart = is_inter || size < 2;
    self->size = size;
    (void)PMPI_Comm_set_attr(mpi, key, self);
    return self;
}

hl_mpi_hook *hl_mpi_hook_look_up(MPI_Comm mpi)
{
    hl_mpi_last = (hl_mpi_last_hook){mpi, find_or_make(mpi), hl_mpi_hooks_freed};
    return hl_mpi_last.of;
}

void hl_mpi_hook_drop(MPI_Comm mpi)
{
    if (hl_mpi_hook_find(mpi))
        (void)PMPI_Comm_delete_attr(mpi, key);
}
