/* A 5 x 5 filter, four times over an image of 300 x 500: convolution [DEVICE [MEGABYTES]] */
#include "example.h"
#include "loops.kernel.h"

enum { WIDTH = 300, HEIGHT = 500, CELLS = WIDTH * HEIGHT, TIMES = 4 };

static float at(const float *image, int x, int y)
{
    return image[(y + HEIGHT) % HEIGHT * WIDTH + (x + WIDTH) % WIDTH];
}

static void convolve_plainly(const float *from, float *to, const weights *filter)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float sum = 0;
            for (int j = -2; j <= 2; j++)
                for (int i = -2; i <= 2; i++)
                    sum += filter->at[j + 2][i + 2] * at(from, x + i, y + j);
            to[y * WIDTH + x] = sum;
        }
}

int main(int argc, char **argv)
{
    haul_context *context = open_context(argc, argv);
    const haul_array_spec spec = {
        .size = {WIDTH, HEIGHT},
        .element_bytes = sizeof(float),
        .ghost = {2, 2},
        .boundary = {HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC},
    };
    haul_array *from = make_array(context, spec), *to = make_array(context, spec);
    float *images[2] = {malloc(CELLS * sizeof(float)), malloc(CELLS * sizeof(float))};
    float *got = malloc(CELLS * sizeof *got);
    weights filter;
    double difference = 0;
    if (!images[0] || !images[1] || !got)
        return 1;
    for (int i = 0; i < 25; i++)
        filter.at[i / 5][i % 5] = (float)(i % 7) / 75;
    for (int i = 0; i < CELLS; i++)
        images[0][i] = (float)(i * 7919 % 1000) / 1000;
    must(haul_array_write(from, images[0], &error));
    for (int i = 0; i < TIMES; i++) {
        must(HAUL_LOOP(context, &error, &convolve, from, to, &filter));
        must(haul_swap(from, to, &error));
        convolve_plainly(images[i % 2], images[1 - i % 2], &filter);
    }
    must(haul_array_read(from, got, &error));
    for (int i = 0; i < CELLS; i++)
        difference = fmax(difference, fabs((double)(got[i] - images[TIMES % 2][i])));
    free(images[0]);
    free(images[1]);
    free(got);
    haul_array_free(from);
    haul_array_free(to);
    return report(context, "convolution", difference, 1e-5);
}
