/* A program of somebody else: uses an installed libhaul. */
#include <haul/report.h>
#include <haul/trace.h>
#include <haul/units.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double rate = 0;
    haul_error error;
    haul_workload *workload = NULL;
    char text[1200];
    if (haul_quantity_parse("12.5 GB/s", HAUL_DIM_RATE, &rate, &error) || rate != 12.5e9)
        return 1;
    if (argc > 1 && haul_trace_load(argv[1], &workload, &error)) {
        printf("%s\n", haul_error_format(&error, text, sizeof text));
        return haul_status_exit_code(error.status);
    }
    if (workload)
        printf("%zu operations\n", workload->op_count);
    haul_workload_free(workload);
    return 0;
}
