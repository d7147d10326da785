/* Advice followed by hand, measured by bench/advice_followed: not made from public measurements,
 * since a saving is predicted of a profile and measured of a program. */
#include "accuracy.h"

#include <math.h>

/* A run of the script on two cores of a Xeon (Skylake) with PoCL 3.1, 22 November 2026. */
static const struct {
    int pixels; /* a side of the picture */
    double plain_ms;
    double overlapped_ms;
    double predicted; /* percent of the run */
    double least;     /* of its seven recordings */
    double most;
    double measured;
    double alike; /* with the kernels' time of the second way in both */
    double alike_least;
    double alike_most;
} rows[] = {
    {1024, 385.9, 265.1, 25.2, 22.8, 26.4, 28.9, 23.7, 15.1, 34.9},
    {2048, 795.2, 513.8, 23.1, 22.1, 24.6, 35.2, 21.6, 17.3, 24.8},
    {4096, 1264, 972.4, 21.1, 20.4, 21.8, 22.9, 16.8, 13.4, 18.0},
};

enum { ROWS = sizeof rows / sizeof *rows, GOAL_PERCENT = 20 };

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    int within[2] = {0};
    (void)data;
    (void)error;
    fprintf(
        out,
        "## Advice followed by hand: examples/convolution\n\n"
        "`haul advise` on recordings of `convolution --way plain`, of 3 x 3 filters and 48, 24 and "
        "12 frames, on PoCL with the machine that `haul measure` wrote; then the example's own "
        "`--way overlapped`, which makes the change `stream`: pinned memory, asynchronous copies, "
        "streams of their own. By bench/advice_followed: the median, and the least and the most, "
        "of seven recordings and of 16 rounds, which run both ways one after another. The kernels' "
        "work is the same in both, but they take up to 1.5 times as long in some runs of the plain "
        "way, which no profile tells: the measured saving is given as it is, and with the kernels' "
        "time of the second way in both. The change `map` is proposed, too, as another way of the "
        "same copies; the example has no way that makes it. Savings in percent of the run, errors "
        "of the prediction in percent of the measured saving.\n\n"
        "| picture | plain, ms | overlapped, ms | advised | predicted saving | of seven recordings "
        "| measured saving | error | with alike kernels | of 16 rounds | error |\n"
        "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (int i = 0; i < ROWS; i++) {
        const double off = 100 * (rows[i].predicted / rows[i].measured - 1);
        const double off_alike = 100 * (rows[i].predicted / rows[i].alike - 1);
        within[0] += fabs(off) <= GOAL_PERCENT;
        within[1] += fabs(off_alike) <= GOAL_PERCENT;
        fprintf(out,
                "| %d x %d | %.1f | %.1f | stream | %.1f | %.1f to %.1f | %.1f | %+.1f | %.1f | "
                "%.1f to %.1f | %+.1f |\n",
                rows[i].pixels, rows[i].pixels, rows[i].plain_ms, rows[i].overlapped_ms,
                rows[i].predicted, rows[i].least, rows[i].most, rows[i].measured, off,
                rows[i].alike, rows[i].alike_least, rows[i].alike_most, off_alike);
    }
    fprintf(
        out,
        "\n- Within %d %% of the measured saving: %d of %d as it is, %d of %d with alike "
        "kernels. Of the largest picture too much is promised: the timeline hides all copies "
        "beside kernels, where a recording of the overlapped way has 44 %% of their time beside "
        "them, for both share two cores. Single rounds differ by more than the goal.\n",
        GOAL_PERCENT, within[0], ROWS, within[1], ROWS);
    return HAUL_OK;
}

const accuracy_section accuracy_followed = {"followed", write};
