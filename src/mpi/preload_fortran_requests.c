/* Fortran's entry points of calls that are started, persistent ones, and the functions that end
 * them. The program has the MPI's own request here too; where none has copies the MPI's own entry
 * point is called with the arguments as they are. */
#include <dlfcn.h>
#include <stdlib.h>

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "mpi/neighbours.h"
#include "mpi/preload_parts.h"

typedef MPI_Fint fint; /* handles, counts and logical values */

// NOLINTBEGIN(readability-function-size,readability-identifier-naming): MPI's parameters, and
// names that Fortran's compilers make
// NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments come in parentheses

static void set_code(fint *code, int found)
{
    if (code) /* optional in mpi_f08 */
        *code = found;
}

/* --- functions that end requests */

/* Around the MPI's function: requests as C has them. */
typedef struct ending {
    hl_mpi_pending *taken;
    MPI_Request *requests; /* NULL: none has copies */
    bool failed;           /* for want of memory */
} ending;

static void convert(const ending *self, fint count, const fint *requests)
{
    for (fint i = 0; i < count; i++)
        self->requests[i] = PMPI_Request_f2c(requests[i]);
}

static ending take(fint count, const fint *requests)
{
    ending self = {NULL, NULL, false};
    if (count <= 0 || !hl_mpi_has_pending())
        return self;
    self.requests = malloc((size_t)count * sizeof(MPI_Request));
    self.failed = !self.requests;
    if (self.failed)
        return self;
    convert(&self, count, requests);
    self.taken = hl_mpi_pending_take(count, self.requests);
    return self;
}

static void give(ending *self, fint count, const fint *requests, int found, fint *code)
{
    if (self->taken) {
        convert(self, count, requests);
        found = hl_mpi_pending_give(self->taken, self->requests, found);
    }
    free((void *)self->requests);
    set_code(code, found);
}

#define UNWRAP(...) __VA_ARGS__

/* One of the names of a function: each goes on to the MPI's of the same name. `first` is done in
 * between. */
#define ENDS_AS(symbol, count, requests, first, parameters, arguments)                             \
    HAUL_API void symbol(UNWRAP parameters, fint *code);                                           \
    void symbol(UNWRAP parameters, fint *code)                                                     \
    {                                                                                              \
        static void (*own)(UNWRAP parameters, fint * code);                                        \
        if (!own)                                                                                  \
            *(void **)&own = dlsym(RTLD_NEXT, #symbol);                                            \
        ending self = take(count, requests);                                                       \
        fint found = self.failed ? MPI_ERR_NO_MEM : (first);                                       \
        if (!found)                                                                                \
            own(UNWRAP arguments, &found);                                                         \
        give(&self, count, requests, found, code);                                                 \
    }

/* The names that compilers give, and Open MPI's module mpi_f08, whose handles are structures of one
 * integer. */
#define ENDS(lower, upper, ...)                                                                    \
    ENDS_AS(mpi_##lower##_, __VA_ARGS__)                                                           \
    ENDS_AS(mpi_##lower, __VA_ARGS__)                                                              \
    ENDS_AS(mpi_##lower##__, __VA_ARGS__)                                                          \
    ENDS_AS(MPI_##upper, __VA_ARGS__)                                                              \
    ENDS_AS(mpi_##lower##_f08_, __VA_ARGS__)

ENDS(start, START, 1, request, hl_mpi_pending_start(self.taken), (fint * request), (request))
ENDS(startall, STARTALL, *count, requests, hl_mpi_pending_start(self.taken),
     (fint * count, fint *requests), (count, requests))
ENDS(request_free, REQUEST_FREE, 1, request, 0, (fint * request), (request))
ENDS(wait, WAIT, 1, request, 0, (fint * request, void *status), (request, status))
ENDS(test, TEST, 1, request, 0, (fint * request, fint *flag, void *status), (request, flag, status))
ENDS(request_get_status, REQUEST_GET_STATUS, 1, request, 0,
     (fint * request, fint *flag, void *status), (request, flag, status))
ENDS(waitall, WAITALL, *count, requests, 0, (fint * count, fint *requests, void *statuses),
     (count, requests, statuses))
ENDS(testall, TESTALL, *count, requests, 0,
     (fint * count, fint *requests, fint *flag, void *statuses), (count, requests, flag, statuses))
ENDS(waitany, WAITANY, *count, requests, 0,
     (fint * count, fint *requests, fint *index, void *status), (count, requests, index, status))
ENDS(testany, TESTANY, *count, requests, 0,
     (fint * count, fint *requests, fint *index, fint *flag, void *status),
     (count, requests, index, flag, status))
ENDS(waitsome, WAITSOME, *count, requests, 0,
     (fint * count, fint *requests, fint *done, fint *indices, void *statuses),
     (count, requests, done, indices, statuses))
ENDS(testsome, TESTSOME, *count, requests, 0,
     (fint * count, fint *requests, fint *done, fint *indices, void *statuses),
     (count, requests, done, indices, statuses))

/* --- functions that make them */

/* A call of Fortran: what it sends, NULL where that is not told apart, and where it receives.
 * `made` is C's function with the program's arguments. */
#define MADE_AS(symbol, sent, parameters, arguments, made)                                         \
    HAUL_API void symbol(UNWRAP parameters, fint *request, fint *code);                            \
    void symbol(UNWRAP parameters, fint *request, fint *code)                                      \
    {                                                                                              \
        static void (*own)(UNWRAP parameters, fint * request, fint * code);                        \
        MPI_Request now = MPI_REQUEST_NULL;                                                        \
        void *from = sent;                                                                         \
        if (!own)                                                                                  \
            *(void **)&own = dlsym(RTLD_NEXT, #symbol);                                            \
        if (!hl_mpi_needs_staging(from, receive) || (from && !hl_mpi_fortran_address(&from))) {    \
            own(UNWRAP arguments, request, code);                                                  \
            return;                                                                                \
        }                                                                                          \
        set_code(code, made);                                                                      \
        *request = PMPI_Request_c2f(now);                                                          \
    }

#define MAKES(begin, BEGIN, lower, upper, ...)                                                     \
    MADE_AS(begin##lower##_, __VA_ARGS__)                                                          \
    MADE_AS(begin##lower, __VA_ARGS__)                                                             \
    MADE_AS(begin##lower##__, __VA_ARGS__)                                                         \
    MADE_AS(BEGIN##upper, __VA_ARGS__)                                                             \
    MADE_AS(begin##lower##_f08_, __VA_ARGS__)

#define STARTED(lower, upper, sent, parameters, arguments, given)                                  \
    MAKES(mpi_i, MPI_I, lower, upper, sent, parameters, arguments,                                 \
          MPI_I##lower(UNWRAP given, MPI_Comm_f2c(*comm), &now))

#define PERSISTS(begin, BEGIN, name, lower, upper, sent, parameters, arguments, given)             \
    MAKES(begin, BEGIN, lower##_init, upper##_INIT, sent, (UNWRAP parameters, fint * info),        \
          (UNWRAP arguments, info),                                                                \
          BEGIN##name##_init(UNWRAP given, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &now))

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT(...) PERSISTS(mpi_, MPI_, __VA_ARGS__)
#define PERSISTENT_W(...) PERSISTS_W(mpi_, MPI_, __VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(...) PERSISTS(mpix_, MPIX_, __VA_ARGS__)
#define PERSISTENT_W(...) PERSISTS_W(mpix_, MPIX_, __VA_ARGS__)
#else
#define PERSISTENT(...)
#define PERSISTENT_W(...)
#endif

#define LATER(name, lower, upper, ...)                                                             \
    STARTED(lower, upper, __VA_ARGS__) PERSISTENT(name, lower, upper, __VA_ARGS__)

/* In place nothing is told of what is sent. */
static MPI_Datatype type_sent(const void *from, const fint *send_type, const fint *receive_type)
{
    return MPI_Type_f2c(from == MPI_IN_PLACE ? *receive_type : *send_type);
}

#define BLOCKS                                                                                     \
    send,                                                                                          \
        (void *send, fint *send_count, fint *send_type, void *receive, fint *receive_count,        \
         fint *receive_type, fint *comm),                                                          \
        (send, send_count, send_type, receive, receive_count, receive_type, comm),                 \
        (from, from == MPI_IN_PLACE ? 0 : *send_count, type_sent(from, send_type, receive_type),   \
         receive, *receive_count, MPI_Type_f2c(*receive_type))

#define BLOCKS_V                                                                                   \
    send,                                                                                          \
        (void *send, fint *send_counts, fint *send_places, fint *send_type, void *receive,         \
         fint *receive_counts, fint *receive_places, fint *receive_type, fint *comm),              \
        (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,       \
         receive_type, comm),                                                                      \
        (from, from == MPI_IN_PLACE ? NULL : send_counts,                                          \
         from == MPI_IN_PLACE ? NULL : send_places, type_sent(from, send_type, receive_type),      \
         receive, receive_counts, receive_places, MPI_Type_f2c(*receive_type))

LATER(Alltoall, alltoall, ALLTOALL, BLOCKS)
LATER(Alltoallv, alltoallv, ALLTOALLV, BLOCKS_V)
LATER(Allgather, allgather, ALLGATHER, BLOCKS)
LATER(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, BLOCKS)
LATER(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, BLOCKS_V)

LATER(Allgatherv, allgatherv, ALLGATHERV, send,
      (void *send, fint *send_count, fint *send_type, void *receive, fint *receive_counts,
       fint *receive_places, fint *receive_type, fint *comm),
      (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, comm),
      (from, from == MPI_IN_PLACE ? 0 : *send_count, type_sent(from, send_type, receive_type),
       receive, receive_counts, receive_places, MPI_Type_f2c(*receive_type)))

LATER(Allreduce, allreduce, ALLREDUCE, send,
      (void *send, void *receive, fint *count, fint *type, fint *op, fint *comm),
      (send, receive, count, type, op, comm),
      (from, receive, *count, MPI_Type_f2c(*type), MPI_Op_f2c(*op)))

LATER(Bcast, bcast, BCAST, NULL, (void *receive, fint *count, fint *type, fint *root, fint *comm),
      (receive, count, type, root, comm), (receive, *count, MPI_Type_f2c(*type), *root))

/* --- of datatypes of their own, which MPI reads until the request is freed */

/* The two sides' datatypes as C has them; NULL without memory. In place nothing is told of what is
 * sent. */
static MPI_Datatype *types_of(const fint *sent, int out, const fint *received, int in)
{
    MPI_Datatype *types = malloc(((size_t)out + (size_t)in + 1) * sizeof(MPI_Datatype));
    for (int i = 0; types && i < out; i++)
        types[i] = MPI_Type_f2c(sent[i]);
    for (int i = 0; types && i < in; i++)
        types[out + i] = MPI_Type_f2c(received[i]);
    return types;
}

static bool count_processes(MPI_Comm mpi, int *in, int *out)
{
    *in = 0;
    const int code = PMPI_Comm_size(mpi, in);
    *out = *in;
    return !code;
}

/* Around MPI's function of C, `own`. */
#define MAKES_W(name, place, count, own)                                                           \
    static int name(void *from, const fint *send_counts, const place *send_places,                 \
                    const fint *send_types, void *receive, const fint *receive_counts,             \
                    const place *receive_places, const fint *receive_types, MPI_Comm mpi,          \
                    MPI_Info info, MPI_Request *now)                                               \
    {                                                                                              \
        int out = 0, in = 0;                                                                       \
        void *to = receive;                                                                        \
        MPI_Datatype *types = NULL;                                                                \
        (void)info;                                                                                \
        if (hl_mpi_fortran_address(&to) && count(mpi, &in, &out))                                  \
            types = types_of(from == MPI_IN_PLACE ? receive_types : send_types, out,               \
                             receive_types, in);                                                   \
        if (!types)                                                                                \
            return MPI_ERR_NO_MEM;                                                                 \
        const int code = own;                                                                      \
        hl_mpi_pending_keep(code ? MPI_REQUEST_NULL : *now, (void *)types);                        \
        return code;                                                                               \
    }

#define GIVEN_W                                                                                    \
    from, send_counts, send_places, types, to, receive_counts, receive_places, types + out, mpi

#define PARAMETERS_W(place)                                                                        \
    void *send, fint *send_counts, place *send_places, fint *send_types, void *receive,            \
        fint *receive_counts, place *receive_places, fint *receive_types, fint *comm

#define ARGUMENTS_W                                                                                \
    send, send_counts, send_places, send_types, receive, receive_counts, receive_places,           \
        receive_types, comm

#define MADE_W(name, info)                                                                         \
    name(from, send_counts, send_places, send_types, receive, receive_counts, receive_places,      \
         receive_types, MPI_Comm_f2c(*comm), info, &now)

#define PERSISTS_W(begin, BEGIN, name, lower, upper, place, count)                                 \
    MAKES_W(make_##lower, place, count, BEGIN##name##_init(GIVEN_W, info, now))                    \
    MAKES(begin, BEGIN, lower##_init, upper##_INIT, send, (PARAMETERS_W(place), fint * info),      \
          (ARGUMENTS_W, info), MADE_W(make_##lower, MPI_Info_f2c(*info)))

#define LATER_W(name, lower, upper, place, count)                                                  \
    MAKES_W(start_##lower, place, count, MPI_I##lower(GIVEN_W, now))                               \
    MAKES(mpi_i, MPI_I, lower, upper, send, (PARAMETERS_W(place)), (ARGUMENTS_W),                  \
          MADE_W(start_##lower, MPI_INFO_NULL))                                                    \
    PERSISTENT_W(name, lower, upper, place, count)

LATER_W(Alltoallw, alltoallw, ALLTOALLW, fint, count_processes)
LATER_W(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, MPI_Aint, hl_mpi_neighbours)

// NOLINTEND(bugprone-macro-parentheses)
// NOLINTEND(readability-function-size,readability-identifier-naming)
