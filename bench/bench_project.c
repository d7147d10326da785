/* Projecting a whole run: seconds and memory of haul_projection_make, beside what reading the
 * profile and one replay of it take in the same run. Times are of the processor, one thread.
 *
 * bench_project [MILLIONS [MACHINE [FOLDER]]]: so many operations (5), a copy to three kernels with
 * their calls; the file is made in the folder (/tmp). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "haul/project.h"
#include "haul/trace.h"
#include "synthetic.h"
#include "took.h"

static void print_row(const char *what, double seconds, double ops)
{
    printf("%-24s %8.2f s %8.2f Mops/s %6.1f B/op\n", what, seconds, 1e-6 * ops / seconds,
           peak_bytes() / ops);
}

static void measure(const char *path, const char *machine)
{
    haul_error error;
    haul_machine *to = NULL;
    haul_workload *workload = NULL;
    haul_projection *projection = NULL;
    haul_replay replay;
    if (haul_machine_load(machine, &to, &error))
        stop(&error);
    const double begin_s = cpu_s();
    if (haul_trace_load(path, &workload, &error))
        stop(&error);
    const double ops = (double)workload->op_count, read_s = cpu_s();
    print_row("reading", read_s - begin_s, ops);
    if (haul_timeline_replay(workload, HAUL_RELEASE_HOST, &replay, &error))
        stop(&error);
    const double replayed_s = cpu_s();
    print_row("one replay", replayed_s - read_s, ops);
    const haul_projection_options options = {.to = to};
    if (haul_projection_make(workload, &options, &projection, &error))
        stop(&error);
    print_row("projecting", cpu_s() - replayed_s, ops);
    haul_projection_free(projection);
    haul_workload_free(workload);
    haul_machine_free(to);
}

int main(int argc, char **argv)
{
    const int64_t ops = (int64_t)((argc > 1 ? atof(argv[1]) : 5) * 1e6);
    const synthetic_mix mix = {"1 copy to 3 kernels", ops / 4, ops - ops / 4, true};
    char path[1024];
    snprintf(path, sizeof path, "%s/haul-bench-%ld.sqlite", argc > 3 ? argv[3] : "/tmp",
             (long)getpid());
    if (!synthetic_write(path, &mix))
        return 1;
    measure(path, argc > 2 ? argv[2] : "h100-pcie5");
    remove(path);
    return 0;
}
