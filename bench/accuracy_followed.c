/* Advice followed by hand, measured by bench/advice_followed: the only figures here that are not
 * made from public measurements, since a saving is predicted of a profile and measured of a
 * program. */
#include "accuracy.h"

#include <math.h>

/* Two runs of the script on two cores of a Xeon (Skylake) with PoCL 3.1, 22 November 2026. */
static const struct {
    int pixels; /* a side of the picture */
    double plain_ms;
    double overlapped_ms;
    double predicted; /* percent of the run */
    double measured;
} rows[] = {
    {1024, 62.03, 34.92, 37.0, 43.7}, {2048, 178.2, 127.2, 27.7, 28.6},
    {4096, 679.3, 493.6, 25.9, 27.3}, {1024, 59.88, 37.3, 21.3, 37.7},
    {2048, 194.8, 130.3, 28.4, 33.1}, {4096, 667.7, 461.4, 26.0, 30.9},
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
        "`haul advise` on a recording of `convolution --way plain`, of 3 x 3 filters and 6 frames, "
        "on PoCL with the machine that `haul measure` wrote; then the example's own `--way "
        "overlapped`, which makes the change `stream`: pinned memory, asynchronous copies, streams "
        "of their own. Fastest of nine runs each, prediction of the fastest of three recordings, "
        "by bench/advice_followed, twice. The change `map` is proposed, too, as another way of "
        "the same copies; the example has no way that makes it. Savings in percent of the run, "
        "error in percent of the measured saving.\n\n"
        "| picture | plain, ms | overlapped, ms | advised | predicted saving | measured saving | "
        "error |\n| --- | ---: | ---: | --- | ---: | ---: | ---: |\n");
    for (int i = 0; i < ROWS; i++) {
        const double off = 100 * (rows[i].predicted / rows[i].measured - 1);
        within += fabs(off) <= GOAL_PERCENT;
        fprintf(out, "| %d x %d | %.1f | %.1f | stream | %.1f | %.1f | %+.1f |\n", rows[i].pixels,
                rows[i].pixels, rows[i].plain_ms, rows[i].overlapped_ms, rows[i].predicted,
                rows[i].measured, off);
    }
    fprintf(
        out,
        "\n- Within %d %% of the measured saving: %d of %d. Recordings of the smallest picture "
        "differ from run to run by more than that: its kernels share two cores with the host.\n",
        GOAL_PERCENT, within, ROWS);
    return HAUL_OK;
}

const accuracy_section accuracy_followed = {"followed", write};
