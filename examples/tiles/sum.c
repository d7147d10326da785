/* The sum of an array, a row at a time on the device: sum [DEVICE [MEGABYTES]] */
#include "example.h"
#include "loops.kernel.h"

enum { NX = 100, NY = 60, NZ = 80, CELLS = NX * NY * NZ };

int main(int argc, char **argv)
{
    haul_context *context = open_context(argc, argv);
    haul_array *u = make_array(context, (haul_array_spec){.size = {NX, NY, NZ}});
    haul_array *sums = make_array(context, (haul_array_spec){.size = {NY, NZ}});
    double *cells = malloc(CELLS * sizeof *cells), rows[NY * NZ], plain = 0, sum = 0;
    const row_length length = {NX};
    if (!cells)
        return 1;
    for (int i = 0; i < CELLS; i++)
        plain += cells[i] = i % 1013;
    must(haul_array_write(u, cells, &error));
    must(HAUL_LOOP(context, &error, &sum_rows, u, sums, &length));
    must(haul_array_read(sums, rows, &error));
    for (int i = 0; i < NY * NZ; i++)
        sum += rows[i];
    free(cells);
    haul_array_free(u);
    haul_array_free(sums);
    return report(context, "sum", fabs(sum - plain), 0);
}
