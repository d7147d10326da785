/* Advice on a large profile: seconds and memory of haul_advice_make, beside what reading the
 * profile and one replay of it take in the same run. Times are of the processor, one thread.
 *
 * bench_advise [MILLIONS [FOLDER]]: so many operations (10), a copy to three kernels with their
 * calls; the file is made in the folder (/tmp). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "haul/advise.h"
#include "haul/trace.h"
#include "synthetic.h"
#include "took.h"

static const double to_beat_s = 5; /* for 10 million operations */

static double print_row(const char *what, double begin_s, double ops)
{
    const double now_s = cpu_s();
    printf("%-24s %8.2f s %8.2f Mops/s %6.1f B/op\n", what, now_s - begin_s,
           1e-6 * ops / (now_s - begin_s), peak_bytes() / ops);
    return now_s;
}

static void measure(const char *path)
{
    haul_error error;
    haul_workload *workload = NULL;
    haul_advice_list *list = NULL;
    haul_replay replay;
    double now_s = cpu_s();
    if (haul_trace_load(path, &workload, &error))
        stop(&error);
    const double ops = (double)workload->op_count;
    now_s = print_row("reading", now_s, ops);
    if (haul_timeline_replay(workload, HAUL_RELEASE_HOST, &replay, &error))
        stop(&error);
    now_s = print_row("one replay", now_s, ops);
    if (haul_advice_make(workload, NULL, &list, &error))
        stop(&error);
    (void)print_row("advice", now_s, ops);
    printf("%llu changes tried, %llu not; %zu advised\n", (unsigned long long)list->tried,
           (unsigned long long)list->untried, list->count);
    printf("to beat: %.0f s for 10 million operations\n", to_beat_s);
    haul_advice_free(list);
    haul_workload_free(workload);
}

int main(int argc, char **argv)
{
    const int64_t ops = (int64_t)((argc > 1 ? atof(argv[1]) : 10) * 1e6);
    const synthetic_mix mix = {"1 copy to 3 kernels", ops / 4, ops - ops / 4, true};
    char path[1024];
    snprintf(path, sizeof path, "%s/haul-bench-%ld.sqlite", argc > 2 ? argv[2] : "/tmp",
             (long)getpid());
    if (!synthetic_write(path, &mix))
        return 1;
    measure(path);
    remove(path);
    return 0;
}
