/* The ranks of a job, each a generated trace of PyTorch's profiler, read, joined and analyzed on
 * one core and on all that the process may use, in alternation, each time in a process of its own.
 *
 * usage: bench_ranks [RANKS [MEGABYTES [FOLDER]]] */
#define _GNU_SOURCE /* sched_setaffinity */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "haul/analysis.h"
#include "haul/trace.h"
#include "kineto_trace.h"
#include "took.h"

enum { ROUNDS = 7, MOST_RANKS = 4096, PATH_BYTES = 1024 };

typedef struct reading {
    double load_s, analysis_s, cpu_s, peak_bytes;
} reading;

static reading read_job(const char *const *paths, size_t count)
{
    haul_workload *job;
    haul_analysis *analysis;
    haul_error error = {0};
    const double begin_s = wall_s();
    if (haul_trace_load_ranks(paths, count, &job, &error))
        stop(&error);
    const double loaded_s = wall_s();
    if (haul_analysis_make(job, &analysis, &error))
        stop(&error);
    const reading took = {loaded_s - begin_s, wall_s() - loaded_s, cpu_s(), peak_bytes()};
    haul_analysis_free(analysis);
    haul_workload_free(job);
    return took;
}

/* In a process that may use the `cores`. */
static reading read_on(const cpu_set_t *cores, const char *const *paths, size_t count)
{
    reading took = {0};
    int ends[2];
    if (pipe(ends)) {
        perror("pipe");
        exit(2);
    }
    const pid_t child = fork();
    if (!child) {
        sched_setaffinity(0, sizeof *cores, cores);
        took = read_job(paths, count);
        exit(write(ends[1], &took, sizeof took) != sizeof took);
    }
    int status = 1;
    close(ends[1]);
    const bool is_whole = read(ends[0], &took, sizeof took) == sizeof took;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (!is_whole || status)
        exit(1);
    return took;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare_numbers);
    return values[ROUNDS / 2];
}

static void compare(const char *const *paths, size_t count)
{
    cpu_set_t all, one;
    double load[ROUNDS], whole[ROUNDS];
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET((size_t)i, &all))
            CPU_SET((size_t)i, &one);
    printf("                    one core                    %d cores\n"
           "round   load s  analysis  cpu s    load s  analysis  cpu s     load  whole\n",
           CPU_COUNT(&all));
    for (int r = 0; r < ROUNDS; r++) {
        const reading x = read_on(&one, paths, count), y = read_on(&all, paths, count);
        load[r] = x.load_s / y.load_s;
        whole[r] = (x.load_s + x.analysis_s) / (y.load_s + y.analysis_s);
        printf("%5d %8.2f %9.2f %6.2f %9.2f %9.2f %6.2f %8.2fx %5.2fx  %.0f and %.0f MB\n", r + 1,
               x.load_s, x.analysis_s, x.cpu_s, y.load_s, y.analysis_s, y.cpu_s, load[r], whole[r],
               1e-6 * x.peak_bytes, 1e-6 * y.peak_bytes);
    }
    printf("median ratio: %.2f of the load, %.2f of load and analysis; to beat: 1.8 on two cores\n",
           median(load), median(whole));
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 64;
    const double megabytes = argc > 2 ? strtod(argv[2], NULL) : 10;
    const char *folder = argc > 3 ? argv[3] : "/tmp";
    static char names[MOST_RANKS][PATH_BYTES];
    static const char *paths[MOST_RANKS];
    char home[PATH_BYTES - 32];
    if (count < 2 || count > MOST_RANKS)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(home, sizeof home, "%s/haul-bench-ranks", folder);
    mkdir(home, 0700);
    for (long i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "%s/rank%ld.json", home, i);
        paths[i] = names[i];
        kineto_trace_write(paths[i], megabytes, i);
        kineto_trace_cache(paths[i]);
    }
    if (argc > 4)
        return 0;
    compare(paths, (size_t)count);
    for (long i = 0; i < count; i++)
        unlink(paths[i]);
    rmdir(home);
    return 0;
}
