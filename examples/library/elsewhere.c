/* The time that a recorded program would take on another machine.
 * usage: elsewhere PROFILE MACHINE */
#include <haul/analysis.h>
#include <haul/project.h>
#include <haul/trace.h>
#include <stdio.h>

static double milliseconds(int64_t ns)
{
    return (double)ns / 1e6;
}

static void print(const haul_analysis *analysis, const haul_machine *machine,
                  const haul_projection *projection)
{
    const haul_estimate *copies = &projection->copies;
    printf("recorded: copies %.3g ms, kernels %.3g ms, in all %.3g ms\n",
           milliseconds(analysis->copies.time_ns), milliseconds(analysis->kernels.time_ns),
           milliseconds(analysis->span_ns));
    printf("%s: copies %.3g ms (%.3g to %.3g), %s\n", machine->name, 1e3 * copies->seconds,
           1e3 * copies->low_s, 1e3 * copies->high_s, haul_provenance_text(copies->weakest));
    if (projection->timeline)
        printf("%s: in all %.3g ms (%.3g to %.3g)\n", machine->name,
               milliseconds(projection->timeline->makespan_ns), milliseconds(projection->low_ns),
               milliseconds(projection->high_ns));
    else
        printf("%s: %s\n", machine->name, projection->run_missing);
    for (size_t i = 0; i < projection->note_count; i++)
        printf("note: %s\n", projection->notes[i]);
}

int main(int argc, char **argv)
{
    haul_error error = {0};
    haul_workload *workload = NULL;
    haul_analysis *analysis = NULL;
    haul_machine *machine = NULL;
    haul_projection *projection = NULL;
    if (argc != 3) {
        fputs("usage: elsewhere PROFILE MACHINE\n", stderr);
        return 2;
    }
    haul_status status = haul_trace_load(argv[1], &workload, &error);
    if (!status)
        status = haul_analysis_make(workload, &analysis, &error);
    if (!status)
        status = haul_machine_load(argv[2], &machine, &error);
    if (!status) {
        const haul_projection_options options = {.to = machine};
        status = haul_projection_make(workload, &options, &projection, &error);
    }
    if (status) {
        char text[1200];
        fprintf(stderr, "elsewhere: %s\n", haul_error_format(&error, text, sizeof text));
    } else {
        print(analysis, machine, projection);
    }
    haul_projection_free(projection);
    haul_machine_free(machine);
    haul_analysis_free(analysis);
    haul_workload_free(workload);
    return haul_status_exit_code(status);
}
