/* Runs the kernels at some sizes, checks each against the CPU, and prints their times as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "problem.h"

enum { KERNELS = MATMULS + 1, SIZES_MOST = 64, REPETITIONS_MOST = 1000 };

static const char usage[] =
    "usage: %s [options]\n"
    "\n"
    "Runs four matrix multiplications and the maximum subarray problem on a device, checks each\n"
    "result and prints the times as CSV.\n"
    "\n"
    "  --device NAME      host, opencl:0, cuda:0, ... (the fastest kind)\n"
    "  --kernel NAME      one of them: matmul-global-uncoalesced, matmul-global,\n"
    "                     matmul-shared-uncoalesced, matmul-shared or max-subarray\n"
    "  --size N[,N...]    sizes (128,256,512 and 2^20 for max-subarray)\n"
    "  --repeat N         launches that are timed (10)\n"
    "  --gpu NAME         the device's name in the table\n"
    "\n"
    "exit code: 0 all results are right, 1 one is not, 2 wrong use, 4 no device\n";

static const char *const names[KERNELS] = {"matmul-global-uncoalesced", "matmul-global",
                                           "matmul-shared-uncoalesced", "matmul-shared",
                                           "max-subarray"};

typedef struct job {
    const char *device;
    const char *gpu;
    int kernel; /* KERNELS: all */
    int sizes[SIZES_MOST];
    int size_count;
    int repetitions;
} job;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const job *self, int kernel, int n, double *seconds)
{
    const int count = self->repetitions;
    const int tiles = (n + BOARD_TILE - 1) / BOARD_TILE;
    const int is_matmul = kernel < MATMULS;
    qsort(seconds, (size_t)count, sizeof *seconds, by_value);
    const double median = (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
    printf("\"%s\",%s,%d,%d,%d,%d,%d,%d,%.6g,%.6g,%.6g\n", self->gpu, names[kernel], n,
           is_matmul ? tiles : BOARD_BLOCKS, is_matmul ? tiles : 1,
           is_matmul ? BOARD_TILE : BOARD_WIDTH, is_matmul ? BOARD_TILE : 1, count, median * 1e3,
           seconds[0] * 1e3, seconds[count - 1] * 1e3);
    fflush(stdout);
}

static void *allocate(size_t count, size_t size)
{
    void *made = calloc(count, size);
    if (made)
        return made;
    fputs("kernels: out of memory\n", stderr);
    exit(1);
}

static bool run_matmul(const job *self, int variant, int n, double *seconds)
{
    const size_t count = (size_t)n * (size_t)n;
    float *a = allocate(count, sizeof *a), *b = allocate(count, sizeof *b);
    float *c = allocate(count, sizeof *c);
    problem_fill(a, count, 1);
    problem_fill(b, count, 2);
    board_matmul(variant, n, a, b, c, self->repetitions, seconds);
    const bool right = problem_check_matmul(n, a, b, c);
    free(a);
    free(b);
    free(c);
    return right;
}

static bool run_max_subarray(const job *self, int n, double *seconds)
{
    const int intervals = BOARD_BLOCKS * BOARD_WIDTH;
    int *x = allocate((size_t)n, sizeof *x);
    int *results = allocate((size_t)intervals * BOARD_RESULTS, sizeof *results);
    problem_fill_whole(x, (size_t)n, 3);
    board_max_subarray(n, x, results, self->repetitions, seconds);
    const bool right = problem_check_max_subarray(n, x, results, intervals);
    free(x);
    free(results);
    return right;
}

static bool run(const job *self, int kernel)
{
    static const int usual[] = {128, 256, 512}, long_one[] = {1 << 20};
    double seconds[REPETITIONS_MOST];
    const bool is_matmul = kernel < MATMULS;
    const int *sizes = self->size_count ? self->sizes : is_matmul ? usual : long_one;
    const int count = self->size_count ? self->size_count : is_matmul ? 3 : 1;
    for (int i = 0; i < count; i++) {
        if (is_matmul ? !run_matmul(self, kernel, sizes[i], seconds)
                      : !run_max_subarray(self, sizes[i], seconds)) {
            fprintf(stderr, "kernels: %s of size %d is wrong\n", names[kernel], sizes[i]);
            return false;
        }
        print_row(self, kernel, sizes[i], seconds);
    }
    return true;
}

static bool read_number(const char *text, int most, int *out, const char **rest)
{
    char *end;
    const long value = strtol(text, &end, 10);
    *rest = end;
    *out = (int)value;
    return end != text && value >= 1 && value <= most;
}

static bool read_option(job *self, const char *name, const char *value)
{
    const char *rest = value;
    if (!strcmp(name, "--gpu") && !strchr(value, '"')) {
        self->gpu = value;
        return true;
    }
    if (!strcmp(name, "--device")) {
        self->device = value;
        return true;
    }
    if (!strcmp(name, "--repeat"))
        return read_number(value, REPETITIONS_MOST, &self->repetitions, &rest) && !*rest;
    if (!strcmp(name, "--kernel")) {
        for (self->kernel = 0; self->kernel < KERNELS; self->kernel++)
            if (!strcmp(value, names[self->kernel]))
                return true;
        return false;
    }
    if (strcmp(name, "--size") != 0)
        return false;
    self->size_count = 0;
    do {
        if (self->size_count == SIZES_MOST ||
            !read_number(value, 1 << 30, &self->sizes[self->size_count++], &rest))
            return false;
        value = rest + 1;
    } while (*rest == ',');
    return !*rest;
}

int main(int argc, char **argv)
{
    job self = {.kernel = KERNELS, .repetitions = 10};
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        printf(usage, argv[0]);
        return 0;
    }
    for (int i = 1; i < argc; i += 2)
        if (i + 1 == argc || !read_option(&self, argv[i], argv[i + 1])) {
            fprintf(stderr, "kernels: not understood: '%s'\n", argv[i]);
            fprintf(stderr, usage, argv[0]);
            return 2;
        }
    const char *name = board_open(self.device);
    if (!self.gpu)
        self.gpu = name;
    puts("gpu,kernel,n,grid_x,grid_y,block_x,block_y,repetitions,median_ms,min_ms,max_ms");
    bool right = true;
    for (int i = 0; i < KERNELS && right; i++)
        if (self.kernel == KERNELS || self.kernel == i)
            right = run(&self, i);
    board_close();
    return right ? 0 : 1;
}
