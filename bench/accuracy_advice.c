/* Advice on programs without overlap, against the same programs with it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/stats.h"
#include "haul/advise.h"
#include "serial_rows.h"

typedef struct scores {
    double errors[SERIAL_RUNS_MOST]; /* percent */
    double sizes[SERIAL_RUNS_MOST];
    double gains[SERIAL_RUNS_MOST];
    size_t count;
} scores;

/* The run after what is advised is done. */
static haul_status advise(const haul_machine *machine, const serial_run *run, double *after_s,
                          const char **change, haul_error *error)
{
    haul_workload *workload = NULL;
    haul_advice_list *list = NULL;
    haul_status status = serial_run_workload(run, &workload, error);
    const haul_advise_options options = {.from = machine};
    if (!status)
        status = haul_advise(workload, &options, &list, error);
    if (!status) {
        *after_s = 1e-9 * (double)(list->baseline_ns - list->together.saved_ns);
        *change = "none";
        for (size_t i = list->count; i-- > 0;)
            if (!list->items[i].apart && list->items[i].certainty != HAUL_SPECULATIVE)
                *change = list->items[i].change;
    }
    haul_advice_free(list);
    haul_workload_free(workload);
    return status;
}

static const char *hosts_text(const serial_run *run, char text[8])
{
    size_t length = 0;
    for (int i = 0; i < 3; i++)
        if (run->on_host[i] > 0)
            text[length++] = (char)('A' + i);
    text[length] = '\0';
    return text;
}

static haul_status print_run(const haul_machine *machine, const serial_run *run, scores *all,
                             FILE *out, haul_error *error)
{
    double after_s;
    const char *change;
    char hosts[8];
    const haul_status status = advise(machine, run, &after_s, &change, error);
    if (status)
        return status;
    const double off = 100 * (after_s / run->overlapped_s - 1);
    all->errors[all->count] = off;
    all->sizes[all->count] = fabs(off);
    all->gains[all->count++] = run->total_s / run->overlapped_s;
    fprintf(out, "| %.0f x %.0f x %.0f | %s | %.4f | %s | %.4f | %.4f | %.0f | %+.1f |\n", run->m,
            run->n, run->k, hosts_text(run, hosts), run->total_s, change, after_s,
            run->overlapped_s, run->tile, off);
    return HAUL_OK;
}

static void print_summary(scores *all, FILE *out)
{
    haul_sort_doubles(all->errors, all->count);
    haul_sort_doubles(all->sizes, all->count);
    haul_sort_doubles(all->gains, all->count);
    fprintf(out,
            "\n- %zu products; overlap gained %.2f to %.2f times, %.2f at the median.\n"
            "- The run after the change: median error %+.1f %%, |error| %.1f at the median, %.1f "
            "at the 90th percentile, %.1f at worst.\n",
            all->count, all->gains[0], all->gains[all->count - 1],
            haul_quantile_sorted(all->gains, all->count, 0.5),
            haul_quantile_sorted(all->errors, all->count, 0.5),
            haul_quantile_sorted(all->sizes, all->count, 0.5),
            haul_quantile_sorted(all->sizes, all->count, 0.9), all->sizes[all->count - 1]);
}

static haul_status print_all(const haul_machine *machine, const serial_runs *runs, FILE *out,
                             haul_error *error)
{
    scores all = {.count = 0};
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < runs->count; i++)
        status = print_run(machine, &runs->items[i], &all, out, error);
    if (!status && all.count)
        print_summary(&all, out);
    return status;
}

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    haul_machine *machine = NULL, *busy = NULL;
    serial_runs *runs = NULL;
    haul_status status = haul_machine_load("k40", &machine, error);
    if (!status)
        status = serial_busy_machine(data, machine, &busy, error);
    if (!status)
        status = serial_runs_read(data, &runs, error);
    if (!status) {
        fputs(
            "## Advice: a program without overlap, and what it took with it\n\n"
            "Matrix products on a Tesla K40, measured with the copies in, the kernel and the copy "
            "back one after the other, and again in tiles with copies overlapped (CoCoPeLia). The "
            "first as a profile for `haul advise` with the machine `k40` of the catalogue and what "
            "its copies keep of their speed while they meet "
            "(transfers/bidirectional-k40.csv); what it says the run will take with the changes "
            "made together, beside the second with its best tile. Nothing is fitted to those "
            "times. The measured program cuts C in tiles that need rows of A and columns of B, "
            "the advice cuts everything in equal parts; times in seconds, error in percent.\n\n"
            "| product | on the host | one after the other | advised | then | measured "
            "overlapped | tile | error |\n"
            "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |\n",
            out);
        status = print_all(busy, runs, out, error);
    }
    free(runs);
    haul_machine_free(busy);
    haul_machine_free(machine);
    return status;
}

const accuracy_section accuracy_advice = {"advice", write};
