/* With the preloaded library a loop's calls ask seldom whether a GPU's driver has been loaded,
 * wherever its buffers lie: beside each other, or each at the beginning of a page. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum { CALLS = 640, OFTEN = 64, PAGE = 4096 };

static unsigned long asked;

/* The program's own stands before the C library's. */
int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *of)
{
    static int (*own)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    asked++;
    return own(each, of);
}

static int is_seldom(const char *what, int *send, int *receive)
{
    MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* sets up what MPI needs */
    const unsigned long before = asked;
    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce(send, receive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!asked)
        fprintf(stderr, "the library never asks\n");
    if (asked && asked - before <= 2 * CALLS / OFTEN)
        return 1;
    fprintf(stderr, "%s: %lu times in %d calls\n", what, asked - before, CALLS);
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) { /* then all addresses are looked at */
        MPI_Finalize();
        return 77;
    }
    int near[2] = {1, 0}, is_right = is_seldom("beside each other", &near[0], &near[1]);
    char *pages = aligned_alloc(PAGE, (size_t)32 * PAGE);
    for (int i = 1; i < 32 && pages; i++) {
        int *send = (int *)pages, *receive = (int *)(pages + (size_t)i * PAGE);
        *send = 1;
        is_right &= is_seldom("pages", send, receive);
    }
    free(pages);
    MPI_Finalize();
    return !is_right;
}
