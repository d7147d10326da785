/* A filter of 5 x 5 over a periodic image, again and again: tiles_convolution [-s SIZE] [-n STEPS]
 * [-o PICTURE.pgm] [DEVICE [MEGABYTES]] */
#include "example.h"
#include "loops.kernel.h"

static float at(const float *image, int n, int x, int y)
{
    return image[(size_t)((y + n) % n) * (size_t)n + (size_t)((x + n) % n)];
}

static void convolve_plainly(const float *from, float *to, int n, const weights *filter)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int j = -2; j <= 2; j++)
                for (int i = -2; i <= 2; i++)
                    sum += filter->at[j + 2][i + 2] * at(from, n, x + i, y + j);
            *to++ = sum;
        }
}

/* Rings, that get closer, with noise. */
static void fill(float *image, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const double r = hypot(x - n / 2.0, y - n / 2.0) / n;
            *image++ = (float)(cos(100 * r * r) + (x * 7919 + y * 104729) % 1000 / 1000.0);
        }
}

int main(int argc, char **argv)
{
    const example self = begin(argc, argv, 400, 4);
    const int n = self.size;
    const size_t cells = (size_t)n * (size_t)n;
    const haul_array_spec spec = {
        .size = {n, n},
        .element_bytes = sizeof(float),
        .ghost = {2, 2},
        .boundary = {HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC},
    };
    haul_array *from = make_array(self.context, spec), *to = make_array(self.context, spec);
    float *images[2] = {make_cells(cells, sizeof(float)), make_cells(cells, sizeof(float))};
    float *got = make_cells(cells, sizeof(float));
    double *shown = make_cells(cells, sizeof(double)), difference = 0;
    weights filter;
    const float binomial[5] = {1, 4, 6, 4, 1};
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++)
            filter.at[j][i] = binomial[j] * binomial[i] / 256;
    fill(images[0], n);
    must(haul_array_write(from, images[0], &error));
    for (int i = 0; i < self.steps; i++) {
        must(HAUL_LOOP(self.context, &error, &convolve, from, to, &filter));
        must(haul_array_swap(from, to, &error));
        show_progress(&self, i + 1);
    }
    must(haul_array_read(from, got, &error));
    for (int i = 0; i < self.steps; i++)
        convolve_plainly(images[i % 2], images[1 - i % 2], n, &filter);
    for (size_t i = 0; i < cells; i++) {
        shown[i] = (double)got[i];
        difference = fmax(difference, fabs((double)(got[i] - images[self.steps % 2][i])));
    }
    draw(&self, shown, n, n, (size_t)n);
    free(images[0]);
    free(images[1]);
    free(got);
    free(shown);
    haul_array_free(from);
    haul_array_free(to);
    return report(&self, "convolution", difference, 1e-5);
}
