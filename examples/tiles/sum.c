/* The sum and the largest cell of an array, and the sum of each of its rows: tiles_sum [-s SIZE]
 * [-n STEPS] [-o PICTURE.pgm] [DEVICE [MEGABYTES]] */
#include "example.h"
#include "loops.kernel.h"

int main(int argc, char **argv)
{
    const example self = begin(argc, argv, 64, 1);
    const int n = self.size;
    const size_t rows = (size_t)n * (size_t)n, cells = rows * (size_t)n;
    haul_array *u = make_array(self.context, (haul_array_spec){.size = {n, n, n}});
    haul_array *sums = make_array(self.context, (haul_array_spec){.size = {n, n}});
    haul_array *sum = make_array(self.context, (haul_array_spec){.size = {1}});
    haul_array *most = make_array(self.context, (haul_array_spec){.size = {1}});
    double *plain = make_cells(cells, sizeof(double)), *got = make_cells(rows, sizeof(double));
    double plain_sum = 0, plain_most = 0, got_sum = 0, got_most = 0, difference = 0;
    const row_length length = {n};
    for (size_t i = 0; i < cells; i++) {
        const size_t row = i / (size_t)n;
        const double y = (double)(row % (size_t)n), z = floor((double)row / n);
        plain[i] = floor(100 + 50 * sin(y / 5) * cos(z / 9)) + (double)(i % 7); /* sums are exact */
        plain_sum += plain[i];
        plain_most = fmax(plain_most, plain[i]);
    }
    must(haul_array_write(u, plain, &error));
    for (int step = 0; step < self.steps; step++) {
        must(HAUL_LOOP(self.context, &error, &total, u, sum, most));
        must(HAUL_LOOP(self.context, &error, &sum_rows, u, sums, &length));
        show_progress(&self, step + 1);
    }
    if (self.steps) {
        must(haul_array_read(sum, &got_sum, &error));
        must(haul_array_read(most, &got_most, &error));
        must(haul_array_read(sums, got, &error));
        difference = fmax(fabs(got_sum - plain_sum), fabs(got_most - plain_most));
    }
    for (size_t i = 0; i < rows && self.steps; i++) {
        double row = 0;
        for (size_t x = 0; x < (size_t)n; x++)
            row += plain[i * (size_t)n + x];
        difference = fmax(difference, fabs(got[i] - row));
    }
    draw(&self, got, n, n, (size_t)n);
    free(plain);
    free(got);
    haul_array_free(u);
    haul_array_free(sums);
    haul_array_free(sum);
    haul_array_free(most);
    return report(&self, "sum", difference, 0);
}
