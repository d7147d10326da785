/* Advice on the public profiles, and on measured programs without overlap that were measured with
 * it as well. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "base/stats.h"
#include "haul/project.h"
#include "haul/trace.h"
#include "profile_files.h"
#include "serial_rows.h"

static char paths[MOST_PROFILES][LONGEST_PATH];
static int path_count;

static const char *data_folder(void)
{
    const char *data = getenv("HAUL_DATA");
    return data && *data ? data : "../shared/data";
}

static void check_list(const char *path, const haul_advice_list *list)
{
    const hl_advise_advisor *advisor = (const hl_advise_advisor *)list;
    if (advisor->beyond_ns)
        fail_msg("%s: a change saves %ld ns more than its bound", path, (long)advisor->beyond_ns);
    const int64_t least_ns = list->threshold_ns;
    for (size_t i = 0; i < list->count; i++) {
        const haul_advice *advice = &list->items[i];
        if (advice->saved_ns < least_ns || advice->saved_ns > list->baseline_ns)
            fail_msg("%s: '%s' saves %ld ns of %ld", path, advice->change, (long)advice->saved_ns,
                     (long)list->baseline_ns);
        if (!advice->call_count || !advice->calls[0].count)
            fail_msg("%s: '%s' concerns nothing", path, advice->change);
        if (advice->certainty != HAUL_CERTAINTY_SAFE && !advice->assumes)
            fail_msg("%s: '%s' assumes nothing", path, advice->change);
    }
    if (list->together.saved_ns < 0 || list->with_speculative.saved_ns < list->together.saved_ns)
        fail_msg("%s: together %ld ns, with suspects %ld", path, (long)list->together.saved_ns,
                 (long)list->with_speculative.saved_ns);
    /* the run after is there to be drawn wherever something is advised, and says what it is */
    if (!list->changed != !list->with_speculative.changes ||
        list->is_speculative != (list->changed && !list->together.changes))
        fail_msg("%s: no run after the changes, or one that hides what it is", path);
}

/* The run before changes is the one that is projected. */
static void check_projected(const char *path, const haul_workload *workload,
                            const haul_machine *machine, const haul_advice_list *list)
{
    haul_error error = {0};
    haul_projection *projection = NULL;
    const haul_projection_options options = {.to = machine};
    if (haul_projection_make(workload, &options, &projection, &error))
        fail_msg("%s: %s", path, error.text);
    assert_non_null(projection->timeline);
    if (projection->timeline->makespan_ns != list->baseline_ns)
        fail_msg("%s: the run takes %ld ns, projected %ld", path, (long)list->baseline_ns,
                 (long)projection->timeline->makespan_ns);
    haul_projection_free(projection);
}

static void profiles_get_advice(void **state)
{
    (void)state;
    static const char *const targets[] = {NULL, "gh200", "v100-pcie3", "k40"};
    for (int i = 0; i < path_count; i++)
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            haul_error error = {0};
            haul_workload *workload = NULL;
            haul_machine *machine = NULL;
            haul_advice_list *list = NULL;
            if (haul_trace_load(paths[i], &workload, &error) ||
                (targets[t] && haul_machine_load(targets[t], &machine, &error)))
                fail_msg("%s: %s", paths[i], error.text);
            /* a slower host holds copies longer */
            const haul_advise_options options = {
                .on = machine, .most_ops = 1000000, .host_speed = t == 3 ? 0.5 : 0};
            if (haul_advice_make(workload, &options, &list, &error))
                fail_msg("%s: %s", paths[i], error.text);
            check_list(paths[i], list);
            if (machine && !options.host_speed)
                check_projected(paths[i], workload, machine, list);
            haul_advice_free(list);
            haul_machine_free(machine);
            haul_workload_free(workload);
        }
}

/* See docs/accuracy/overlap.md, "Advice". */
static void what_is_advised_was_measured(void **state)
{
    (void)state;
    double off[SERIAL_RUNS_MOST];
    haul_error error = {0};
    haul_machine *machine = NULL, *busy = NULL;
    serial_runs *runs = NULL;
    if (haul_machine_load("k40", &machine, &error) ||
        serial_busy_machine(data_folder(), machine, &busy, &error) ||
        serial_runs_read(data_folder(), &runs, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < runs->count; i++) {
        haul_workload *workload = NULL;
        haul_advice_list *list = NULL;
        const haul_advise_options options = {.from = busy};
        if (serial_run_workload(&runs->items[i], &workload, &error) ||
            haul_advice_make(workload, &options, &list, &error))
            fail_msg("%s", error.text);
        assert_true(list->count > 0);
        assert_string_equal(list->items[0].change, "split");
        const double after_s = 1e-9 * (double)(list->baseline_ns - list->together.saved_ns);
        off[i] = 100 * fabs(after_s / runs->items[i].overlapped_s - 1);
        haul_advice_free(list);
        haul_workload_free(workload);
    }
    assert_int_equal(runs->count, 28);
    if (hl_base_median(off, runs->count) > 3 || off[runs->count - 1] > 27)
        fail_msg("%.1f %% off at the median, %.1f at worst", hl_base_median(off, runs->count),
                 off[runs->count - 1]);
    free(runs);
    haul_machine_free(busy);
    haul_machine_free(machine);
}

int main(void)
{
    path_count = find_profiles(paths);
    if (!path_count)
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(profiles_get_advice),
                                       cmocka_unit_test(what_is_advised_was_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
