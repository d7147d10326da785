/* One block beyond 2^31 bytes, in little memory: its pages are the same ones again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "haul/mpi.h"

static const size_t page_bytes = 1 << 24;

/* `bytes` of address space over one file of page_bytes. */
static char *map_again(size_t bytes)
{
    FILE *file = tmpfile();
    const int fd = file ? fileno(file) : -1;
    char *at = mmap(NULL, bytes + page_bytes, PROT_NONE, MAP_PRIVATE, fd, 0);
    if (!file || at == MAP_FAILED || ftruncate(fd, (off_t)page_bytes))
        return NULL;
    for (size_t i = 0; i < bytes; i += page_bytes)
        if (mmap(at + i, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED)
            return NULL;
    return at;
}

int main(int argc, char **argv)
{
    const size_t bytes = ((size_t)1 << 31) + 12345;
    int rank, size, status = 1;
    haul_comm *comm = NULL;
    haul_error error;
    const haul_comm_options options = {.way = HAUL_WAY_DIRECT};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *at = map_again(bytes);
    size_t counts[2][2] = {{0, rank ? 0 : bytes}, {rank ? bytes : 0, 0}};
    if (at && size == 2 && !haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error)) {
        for (size_t i = 0; i < page_bytes; i++)
            at[i] = (char)(rank ? 0 : i * 11 + (i >> 9));
        const haul_alltoallv_blocks blocks = {
            haul_in_host(at), {counts[0], NULL}, haul_in_host(at), {counts[1], NULL}, 1};
        status = (int)haul_comm_alltoallv(comm, &blocks, &error);
        if (status)
            fprintf(stderr, "rank %d: %s\n", rank, error.text);
        for (size_t i = 0; !status && i < page_bytes; i++)
            if (at[i] != (char)(i * 11 + (i >> 9)))
                status = 1;
        haul_comm_free(comm);
    }
    int all = 0;
    MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!rank)
        printf("%zu bytes: %s\n", bytes, all ? "wrong" : "as sent");
    MPI_Finalize();
    return all;
}
