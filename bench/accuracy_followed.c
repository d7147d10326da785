/* Advice followed by hand, measured by bench/advice_followed: not made from public measurements,
 * since a saving is predicted of a profile and measured of a program. */
#include "accuracy.h"

#include <math.h>

/* Two runs of the script on two cores of a Xeon (Skylake) with PoCL 3.1, 22 November 2026. */
static const struct {
    int pixels; /* a side of the picture */
    double plain_ms;
    double overlapped_ms;
    double predicted; /* percent of the run */
    double least;     /* of its nine recordings */
    double most;
    double measured;
} rows[] = {
    {1024, 159.4, 96.27, 35.3, 28.0, 38.5, 39.6}, {2048, 287.6, 180.4, 28.7, 26.8, 33.0, 37.3},
    {4096, 497.0, 400.4, 26.7, 23.3, 28.8, 19.4}, {1024, 150.9, 87.63, 36.8, 13.7, 38.3, 41.9},
    {2048, 286.1, 184.1, 31.3, 25.9, 34.0, 35.6}, {4096, 493.4, 364.4, 28.6, 24.9, 29.8, 26.1},
};

enum { ROWS = sizeof rows / sizeof *rows, GOAL_PERCENT = 20 };

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    int within = 0;
    (void)data;
    (void)error;
    fprintf(
        out,
        "## Advice followed by hand: examples/convolution\n\n"
        "`haul advise` on recordings of `convolution --way plain`, of 3 x 3 filters and 24, 12 and "
        "6 frames, "
        "on PoCL with the machine that `haul measure` wrote; then the example's own `--way "
        "overlapped`, which makes the change `stream`: pinned memory, asynchronous copies, streams "
        "of their own. Medians of nine recordings and of nine runs of each way, in turns, by "
        "bench/advice_followed, twice; of the nine predictions also the least and the most. The "
        "change `map` is proposed, too, as another way of the same copies; the example has no way "
        "that makes it. Savings in percent of the run, error in percent of the measured saving.\n\n"
        "| picture | plain, ms | overlapped, ms | advised | predicted saving | of nine recordings "
        "| "
        "measured saving | error |\n| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |\n");
    for (int i = 0; i < ROWS; i++) {
        const double off = 100 * (rows[i].predicted / rows[i].measured - 1);
        within += fabs(off) <= GOAL_PERCENT;
        fprintf(out, "| %d x %d | %.1f | %.1f | stream | %.1f | %.1f to %.1f | %.1f | %+.1f |\n",
                rows[i].pixels, rows[i].pixels, rows[i].plain_ms, rows[i].overlapped_ms,
                rows[i].predicted, rows[i].least, rows[i].most, rows[i].measured, off);
    }
    fprintf(out,
            "\n- Within %d %% of the measured saving: %d of %d. The measured saving itself differs "
            "by as "
            "much between equal runs of the script: two more, with 6 frames of each size, measured "
            "22.3 and 46.2 %% for the smallest picture, 31.7 and 30.5, 26.2 and 27.3 %%. At the "
            "median of the four the predictions are 15 and 11 %% below the measured savings of the "
            "two smaller pictures and 7 %% above that of the largest: two cores, on which kernels "
            "and copies run and the host's threads, too.\n",
            GOAL_PERCENT, within, ROWS);
    return HAUL_OK;
}

const accuracy_section accuracy_followed = {"followed", write};
