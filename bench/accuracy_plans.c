/* Plans of tile programs beside recordings, measured by bench/plans_followed: like advice that was
 * followed, figures of programs that ran here. */
#include "accuracy.h"

/* Two runs of the script on two cores of a Xeon with PoCL 3.1, 22 November 2026. */
static const struct {
    const char *program;
    double predicted_ms;
    double recorded_ms;
    double took_ms;
} rows[] = {
    {"128^3, 96, all", 134.6, 147.2, 149.5},   {"128^3, 96, 12 MB", 134.2, 245.3, 247.4},
    {"192^3, 64, 40 MB", 300.4, 457.0, 461.9}, {"128^3, 96, all", 202.3, 149.0, 151.2},
    {"128^3, 96, 12 MB", 201.8, 221.3, 223.2}, {"192^3, 64, 40 MB", 450.7, 412.6, 417.4},
};

enum { ROWS = sizeof rows / sizeof *rows };

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    (void)data;
    (void)error;
    fprintf(
        out,
        "## Plans of tile programs: heat on PoCL\n\n"
        "The plan that `haul_context_plan_write` writes, simulated by `haul simulate` on the "
        "machine that `haul measure` has just measured, beside a recording of the same program "
        "(`haul record`): the second of two rounds, medians of five, by bench/plans_followed, "
        "twice, on two cores of a Xeon. The last time is the program's own clock's.\n\n"
        "| cells, steps, device memory | predicted, ms | recorded, ms | by its clock, ms | error "
        "|\n| --- | ---: | ---: | ---: | ---: |\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "| %s | %.1f | %.1f | %.1f | %+.1f %% |\n", rows[i].program,
                rows[i].predicted_ms, rows[i].recorded_ms, rows[i].took_ms,
                100 * (rows[i].predicted_ms / rows[i].recorded_ms - 1));
    fprintf(
        out,
        "\n- The plan takes a kernel's time as its bytes at the measured memory bandwidth. On "
        "this virtual machine two measurements a minute apart differ by a factor of 1.5, and so "
        "do all predictions; recordings of one program differ by 1 to 11 %%.\n"
        "- The plan leaves out the time of API calls: in a recording of the last program the "
        "device waits for 52 of 487 ms, 28 us for each of 1868 launches, while PoCL enqueues "
        "the next.\n"
        "- It also leaves out that kernels and copies share the cores: of 42 ms of copies in "
        "that recording 36 run beside kernels.\n");
    return HAUL_OK;
}

const accuracy_section accuracy_plans = {"plans", write};
