/* A program of somebody else: uses an installed libhaul. */
#include <haul/report.h>
#include <haul/simulate.h>
#include <haul/timeline.h>
#include <haul/trace.h>
#include <haul/units.h>
#include <stdio.h>
#include <string.h>

/* The profile's timeline, rebuilt from its own durations. */
static haul_status replay(const char *path, haul_error *error)
{
    haul_workload *workload;
    haul_replay found;
    haul_status status = haul_trace_load(path, &workload, error);
    if (status)
        return status;
    status = haul_timeline_replay(workload, HAUL_RELEASE_RECORDED, &found, error);
    if (!status)
        printf("%zu operations, %.3g %% off\n", workload->op_count, found.error);
    haul_workload_free(workload);
    return status;
}

/* A copy and a kernel behind it, on a machine of the catalogue. */
static haul_status simulate(haul_error *error)
{
    static const char text[] = "haul_workload: 1\n"
                               "operations:\n"
                               "  - {op: HtoD, bytes: 64 MiB}\n"
                               "  - {name: scale, op: kernel, duration: 2 ms}\n";
    haul_machine *machine;
    haul_schedule *schedule = NULL;
    haul_simulation *simulation = NULL;
    haul_status status = haul_machine_load("a100-pcie4", &machine, error);
    if (status)
        return status;
    status = haul_schedule_parse(text, strlen(text), "text", &schedule, error);
    if (!status)
        status = haul_simulate(schedule, machine, NULL, &simulation, error);
    if (!status)
        status = haul_report_simulation(simulation, 100, HAUL_CSV, stdout, error);
    haul_simulation_free(simulation);
    haul_schedule_free(schedule);
    haul_machine_free(machine);
    return status;
}

int main(int argc, char **argv)
{
    double rate = 0;
    haul_error error;
    char text[1200];
    if (haul_quantity_parse("12.5 GB/s", HAUL_DIM_RATE, &rate, &error) || rate != 12.5e9)
        return 1;
    if (simulate(&error) || (argc > 1 && replay(argv[1], &error))) {
        printf("%s\n", haul_error_format(&error, text, sizeof text));
        return haul_status_exit_code(error.status);
    }
    return 0;
}
