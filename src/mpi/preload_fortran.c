/* Fortran's entry points, of mpif.h, `use mpi` and mpi_f08: the MPI's own go past the C functions
 * that stand before them. Handles are converted, and the two addresses that mean something else. */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "mpi/preload_parts.h"

// NOLINTNEXTLINE(misc-redundant-expression): not of every MPI
static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's integers are not the MPI's");

/* MPI_IN_PLACE and MPI_BOTTOM are variables in Fortran, told by their addresses: Open MPI's common
 * blocks, by compiler, and where MPICH keeps the addresses of its own. Looked for once, for that
 * takes longer than a short call. */
enum { COMPILERS = 4 };

typedef struct place {
    const char *names[COMPILERS], *kept;
    const void *found[COMPILERS + 1];
    atomic_bool is_known;
} place;

static place place_of_same = {.names = {"mpi_fortran_in_place_", "mpi_fortran_in_place",
                                        "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"},
                              .kept = "MPIR_F_MPI_IN_PLACE"};
static place place_of_bottom = {.names = {"mpi_fortran_bottom_", "mpi_fortran_bottom",
                                          "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"},
                                .kept = "MPIR_F_MPI_BOTTOM"};
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

/* False where this MPI has no such variable that haul knows. */
static bool find_place(place *of)
{
    if (atomic_load(&of->is_known))
        return true;
    bool is_known = false;
    (void)pthread_mutex_lock(&places_lock);
    for (int i = 0; i < COMPILERS; i++) {
        of->found[i] = dlsym(RTLD_DEFAULT, of->names[i]);
        is_known |= of->found[i] != NULL;
    }
    void *const *kept = dlsym(RTLD_DEFAULT, of->kept);
    if (kept)
        of->found[COMPILERS] = *kept;
    atomic_store(&of->is_known, is_known || kept);
    (void)pthread_mutex_unlock(&places_lock);
    return is_known || kept;
}

static bool lies_at(const place *of, const void *at)
{
    bool is_it = false;
    for (int i = 0; i <= COMPILERS; i++)
        is_it |= at && of->found[i] == at;
    return is_it;
}

bool hl_mpi_fortran_address(void **at)
{
    if (!find_place(&place_of_same) || !find_place(&place_of_bottom))
        return false;
    if (lies_at(&place_of_same, *at))
        *at = MPI_IN_PLACE;
    else if (lies_at(&place_of_bottom, *at))
        *at = MPI_BOTTOM;
    return true;
}

typedef void fortran_alltoall(void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
                              MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *comm,
                              MPI_Fint *code);

typedef void fortran_alltoallv(void *send, MPI_Fint *send_counts, MPI_Fint *send_places,
                               MPI_Fint *send_type, void *receive, MPI_Fint *receive_counts,
                               MPI_Fint *receive_places, MPI_Fint *receive_type, MPI_Fint *comm,
                               MPI_Fint *code);

typedef void fortran_finalize(MPI_Fint *code);

// NOLINTBEGIN(readability-identifier-naming): names that Fortran's compilers make
HAUL_API fortran_alltoall mpi_alltoall_;
HAUL_API fortran_alltoallv mpi_alltoallv_;
HAUL_API fortran_finalize mpi_finalize_;

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
void mpi_alltoall_(void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
                   MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *code)
{
    void *from = send, *to = receive;
    if (!hl_mpi_fortran_address(&from) || !hl_mpi_fortran_address(&to)) {
        fortran_alltoall *own;
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_alltoall_");
        own(send, send_count, send_type, receive, receive_count, receive_type, comm, code);
        return;
    }
    /* in place nothing is told of what is sent */
    const bool in_place = from == MPI_IN_PLACE;
    const int found = MPI_Alltoall(
        from, in_place ? 0 : *send_count, MPI_Type_f2c(in_place ? *receive_type : *send_type), to,
        *receive_count, MPI_Type_f2c(*receive_type), MPI_Comm_f2c(*comm));
    if (code) /* optional in mpi_f08 */
        *code = found;
}

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
void mpi_alltoallv_(void *send, MPI_Fint *send_counts, MPI_Fint *send_places, MPI_Fint *send_type,
                    void *receive, MPI_Fint *receive_counts, MPI_Fint *receive_places,
                    MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *code)
{
    void *from = send, *to = receive;
    if (!hl_mpi_fortran_address(&from) || !hl_mpi_fortran_address(&to)) {
        fortran_alltoallv *own;
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_alltoallv_");
        own(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
            receive_type, comm, code);
        return;
    }
    const bool in_place = from == MPI_IN_PLACE;
    const int found =
        MPI_Alltoallv(from, in_place ? NULL : send_counts, in_place ? NULL : send_places,
                      MPI_Type_f2c(in_place ? *receive_type : *send_type), to, receive_counts,
                      receive_places, MPI_Type_f2c(*receive_type), MPI_Comm_f2c(*comm));
    if (code)
        *code = found;
}

void mpi_finalize_(MPI_Fint *code)
{
    const int found = MPI_Finalize();
    if (code)
        *code = found;
}

/* The names that compilers give them, and Open MPI's module mpi_f08, whose handles are structures
 * of one integer. */
HAUL_API fortran_alltoall mpi_alltoall __attribute__((alias("mpi_alltoall_"))),
    mpi_alltoall__ __attribute__((alias("mpi_alltoall_"))),
    MPI_ALLTOALL __attribute__((alias("mpi_alltoall_"))),
    mpi_alltoall_f08_ __attribute__((alias("mpi_alltoall_")));
HAUL_API fortran_alltoallv mpi_alltoallv __attribute__((alias("mpi_alltoallv_"))),
    mpi_alltoallv__ __attribute__((alias("mpi_alltoallv_"))),
    MPI_ALLTOALLV __attribute__((alias("mpi_alltoallv_"))),
    mpi_alltoallv_f08_ __attribute__((alias("mpi_alltoallv_")));
HAUL_API fortran_finalize mpi_finalize __attribute__((alias("mpi_finalize_"))),
    mpi_finalize__ __attribute__((alias("mpi_finalize_"))),
    MPI_FINALIZE __attribute__((alias("mpi_finalize_"))),
    mpi_finalize_f08_ __attribute__((alias("mpi_finalize_")));
// NOLINTEND(readability-identifier-naming)
