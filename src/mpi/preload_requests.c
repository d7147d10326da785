/* Calls with copies that are started and finished. The program's request is MPI's own, of the call
 * with the copies' addresses: it may be mixed with others in any function of MPI. Functions that
 * may end requests look whether one of them has copies to bring up. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/preload_parts.h"

struct hl_mpi_pending {
    hl_mpi_pending *next;
    hl_mpi_staged call;
    MPI_Request request;
    void *kept;        /* that MPI reads; NULL: none */
    int index;         /* among the requests of the function that has taken it */
    bool is_under_way; /* what it receives is still to be copied up */
};

/* The calls that no function has taken: the MPI may give an ended request's handle to another
 * thread's new one before the function that ended it is back. */
static _Atomic(hl_mpi_pending *) all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

bool hl_mpi_has_pending(void)
{
    return atomic_load(&all) != NULL;
}

static void put_back(hl_mpi_pending *one)
{
    (void)pthread_mutex_lock(&all_lock);
    one->next = atomic_load(&all);
    atomic_store(&all, one);
    (void)pthread_mutex_unlock(&all_lock);
}

hl_mpi_pending *hl_mpi_pending_take(int count, const MPI_Request *requests)
{
    hl_mpi_pending *taken = NULL, *left = NULL;
    if (!hl_mpi_has_pending())
        return NULL;
    (void)pthread_mutex_lock(&all_lock);
    for (hl_mpi_pending *one = atomic_load(&all), *next; one; one = next) {
        next = one->next;
        one->index = 0;
        while (one->index < count && requests[one->index] != one->request)
            one->index++;
        hl_mpi_pending **const list = one->index < count ? &taken : &left;
        one->next = *list;
        *list = one;
    }
    atomic_store(&all, left);
    (void)pthread_mutex_unlock(&all_lock);
    return taken;
}

static void close_pending(hl_mpi_pending *self)
{
    hl_mpi_staged_close(&self->call);
    free(self->kept);
    free(self);
}

/* One that is over already has no entry. */
void hl_mpi_pending_keep(MPI_Request request, void *memory)
{
    hl_mpi_pending *one = hl_mpi_pending_take(1, &request);
    if (one) {
        one->kept = memory;
        put_back(one);
    } else {
        free(memory);
    }
}

static bool is_complete(MPI_Request request)
{
    int is_over = request == MPI_REQUEST_NULL;
    if (!is_over)
        (void)PMPI_Request_get_status(request, &is_over, MPI_STATUS_IGNORE);
    return is_over;
}

/* A request that is complete is copied up, whether or not the program has been told yet. */
int hl_mpi_pending_give(hl_mpi_pending *taken, const MPI_Request *requests, int code)
{
    for (hl_mpi_pending *one = taken, *next; one; one = next) {
        MPI_Request now = requests[one->index];
        next = one->next;
        if (one->is_under_way && is_complete(now)) {
            const int copied = hl_mpi_staged_up(&one->call);
            code = code ? code : copied;
            one->is_under_way = false;
        }
        if (now != MPI_REQUEST_NULL) {
            put_back(one);
            continue;
        }
        close_pending(one);
    }
    return code;
}

int hl_mpi_pending_start(hl_mpi_pending *taken)
{
    int code = MPI_SUCCESS;
    for (; taken && !code; taken = taken->next) {
        code = hl_mpi_staged_down(&taken->call);
        taken->is_under_way = !code;
    }
    return code;
}

/* A call that is complete at once needs no more: an MPI may have one handle for all of those. */
int hl_mpi_staged_started(hl_mpi_staged *self, int code, MPI_Request *request, bool is_persistent)
{
    if (!self->request || code || (!is_persistent && is_complete(*request)))
        return hl_mpi_staged_end(self, code);
    hl_mpi_pending *one = malloc(sizeof *one);
    if (one) {
        *one = (hl_mpi_pending){.call = *self, .request = *request, .is_under_way = !is_persistent};
        put_back(one);
        return code;
    }
    /* without memory it is finished here, where it can be */
    code = is_persistent ? MPI_ERR_NO_MEM : PMPI_Wait(request, MPI_STATUS_IGNORE);
    if (is_persistent)
        (void)PMPI_Request_free(request);
    return hl_mpi_staged_end(self, code);
}

void hl_mpi_pending_forget(void)
{
    for (hl_mpi_pending *one = atomic_exchange(&all, NULL), *next; one; one = next) {
        next = one->next;
        close_pending(one);
    }
}

/* --- MPI's functions */

HAUL_API int MPI_Start(MPI_Request *request)
{
    hl_mpi_pending *taken = hl_mpi_pending_take(1, request);
    const int code = hl_mpi_pending_start(taken);
    return hl_mpi_pending_give(taken, request, code ? code : PMPI_Start(request));
}

HAUL_API int MPI_Startall(int count, MPI_Request requests[])
{
    hl_mpi_pending *taken = hl_mpi_pending_take(count, requests);
    const int code = hl_mpi_pending_start(taken);
    return hl_mpi_pending_give(taken, requests, code ? code : PMPI_Startall(count, requests));
}

// NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments come in parentheses

#define ENDS(name, count, requests, parameters, arguments)                                         \
    HAUL_API int MPI_##name parameters                                                             \
    {                                                                                              \
        hl_mpi_pending *taken = hl_mpi_pending_take(count, requests);                              \
        return hl_mpi_pending_give(taken, requests, PMPI_##name arguments);                        \
    }

ENDS(Request_free, 1, request, (MPI_Request * request), (request))
ENDS(Wait, 1, request, (MPI_Request * request, MPI_Status *status), (request, status))
ENDS(Test, 1, request, (MPI_Request * request, int *flag, MPI_Status *status),
     (request, flag, status))
ENDS(Request_get_status, 1, &request, (MPI_Request request, int *flag, MPI_Status *status),
     (request, flag, status))
ENDS(Waitall, count, requests, (int count, MPI_Request requests[], MPI_Status statuses[]),
     (count, requests, statuses))
ENDS(Testall, count, requests,
     (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
     (count, requests, flag, statuses))
ENDS(Waitany, count, requests, (int count, MPI_Request requests[], int *index, MPI_Status *status),
     (count, requests, index, status))
ENDS(Testany, count, requests,
     (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
     (count, requests, index, flag, status))
ENDS(Waitsome, count, requests,
     (int count, MPI_Request requests[], int *done, int *indices, MPI_Status statuses[]),
     (count, requests, done, indices, statuses))
ENDS(Testsome, count, requests,
     (int count, MPI_Request requests[], int *done, int *indices, MPI_Status statuses[]),
     (count, requests, done, indices, statuses))

// NOLINTEND(bugprone-macro-parentheses)
