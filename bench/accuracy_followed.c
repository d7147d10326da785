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
    {1024, 60.41, 39.5, 30.9, 26.5, 39.4, 34.6},  {2048, 187.4, 130.9, 27.0, 26.6, 30.9, 30.2},
    {4096, 649.6, 444.2, 25.3, 25.1, 27.7, 31.6}, {1024, 58.31, 40.39, 32.1, 27.9, 37.5, 30.7},
    {2048, 193.0, 133.8, 28.8, 26.2, 30.6, 30.7}, {4096, 647.8, 502.5, 26.3, 25.4, 28.2, 22.4},
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
        "`haul advise` on recordings of `convolution --way plain`, of 3 x 3 filters and 6 frames, "
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
            "\n- Within %d %% of the measured saving: %d of %d. Single recordings and single runs "
            "differ by more than that: the kernels share two cores with the host, so that the "
            "fastest of a few of each, as this table had it before, was up to 43 %% off.\n",
            GOAL_PERCENT, within, ROWS);
    return HAUL_OK;
}

const accuracy_section accuracy_followed = {"followed", write};
