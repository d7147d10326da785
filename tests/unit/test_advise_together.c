/* Advice as a whole: changes made together, the machine that is known or lent, how far a replay is
 * to be trusted. Programs are small enough that savings are known. */
#include "check.h"

#include "advised_program.h"
#include "haul/project.h"

static void together_is_scheduled_not_added(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 10 * MB);
        kernel(MS);
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 10 * MB);
    }
    advise();
    int64_t sum_ns = 0;
    size_t taken = 0;
    for (size_t i = 0; i < list->count; i++) {
        sum_ns += list->items[i].saved_ns;
        taken += !list->items[i].apart;
    }
    assert_true(list->together.changes >= 1);
    assert_int_equal(list->with_speculative.changes, taken);
    assert_true(list->together.saved_ns <= sum_ns);
    assert_true(list->together.saved_ns < list->baseline_ns);
    assert_true(list->together.saved_ns >= list->items[0].saved_ns ||
                list->items[0].certainty == HAUL_CERTAINTY_SPECULATIVE);
    /* the run that is drawn is the one that is told */
    assert_non_null(list->changed);
    assert_false(list->is_speculative);
    const int64_t before_ns = list->before->start_ns + list->before->makespan_ns;
    const int64_t after_ns = list->after->start_ns + list->after->makespan_ns;
    assert_true(llabs(before_ns - after_ns - list->together.saved_ns) <= 2);
    forget();
}

static void missing_figures_are_named(void **state)
{
    (void)state;
    static const char poor[] =
        "haul: 1\n"
        "name: poor\n"
        "summary: knows pageable copies alone\n"
        "from: measured\n"
        "gpu: {name: Poor}\n"
        "copies:\n"
        "  - {direction: HtoD, memory: pageable, latency: 10 us, rate: 2.5 GB/s}\n";
    haul_error error = {0};
    haul_machine *of_poor = NULL;
    if (haul_machine_parse(poor, sizeof poor - 1, "poor", &of_poor, &error))
        fail_msg("%s", error.text);
    begin();
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB);
    kernel(5 * MS);
    const haul_advise_options options = {.from = of_poor};
    advise_with(&options);
    assert_null(find("pin"));
    assert_int_equal(list->not_tried_count, 1);
    const haul_advice_untried *untried = &list->not_tried[0];
    assert_non_null(strstr(untried->changes, "pin"));
    assert_int_equal(untried->copies, 1);
    assert_int_equal(untried->direction, HAUL_DIRECTION_HTOD);
    assert_int_equal(untried->memory, HAUL_MEMORY_PINNED);
    assert_non_null(strstr(untried->why, "HtoD pinned"));
    forget();
    haul_machine_free(of_poor);
}

/* Pinned copies that the profile does not have are predicted as on the catalogue's machine of the
 * GPU, and wider; without one, what was not tried says why. */
static void rates_are_lent_by_the_catalogue(void **state)
{
    (void)state;
    static const struct {
        const char *gpu;
        const char *why; /* NULL: lent */
    } cases[] = {
        {"Tesla T4", NULL},
        {"GeForce GTX 980", "'gtx-980' of the catalogue, which has that GPU, has no rates"},
        {NULL, "does not name its GPU"},
        {"A GPU of next year", "no machine of the catalogue has the GPU"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        begin();
        written.builder.built.devices[0].name =
            cases[c].gpu ? hl_base_arena_string(&written.builder.built.arena, cases[c].gpu) : NULL;
        for (int i = 0; i < 10; i++) {
            copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 25 * MB);
            kernel(5 * MS);
            synchronize();
        }
        advise_with(NULL);
        const haul_advice *pin = find("pin");
        assert_int_equal(pin == NULL, cases[c].why != NULL);
        assert_int_equal(list->not_tried_count > 0, cases[c].why != NULL);
        if (cases[c].why) {
            assert_non_null(strstr(list->not_tried[0].why, cases[c].why));
        } else {
            assert_true(pin->low_ns < pin->saved_ns && pin->saved_ns < pin->high_ns);
            assert_true(list->safe.low_ns < list->safe.high_ns);
            assert_non_null(strstr(list->notes[0], "'t4' of the catalogue"));
        }
        forget();
    }
}

/* Many pauses, each too short to be told from the spread of launches and too irregular to be the
 * gap between kernels, are the replay's error; changes that save less are hidden. */
static void less_than_the_replay_error_is_hidden(void **state)
{
    (void)state;
    begin();
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, MB);
    for (int i = 0; i < 400; i++) {
        kernel(25 * 1000);
        written.stream_ns += i % 9 < 2 ? 11 * 1000 : 0;
    }
    const haul_advise_options options = {.from = machine};
    haul_error error = {0};
    workload = finish();
    assert_int_equal(haul_advice_make(workload, &options, &list, &error), HAUL_OK);
    assert_true(list->threshold_ns > 800 * 1000);
    assert_int_equal(list->count, 0);
    assert_true(list->below > 0);
    assert_null(list->changed);
    forget();
}

/* A compiler at the first launch: nothing in the profile explains the kernel's delay, which the
 * replay keeps and a projection too. */
static void unexplained_delays_are_kept(void **state)
{
    (void)state;
    begin();
    copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, MB);
    written.stream_ns = written.host_ns + 100 * MS;
    for (int i = 0; i < 3; i++) {
        kernel(5 * MS);
        synchronize();
    }
    const haul_advise_options options = {.from = machine};
    advise_with(&options);
    assert_int_equal(list->replay.delayed, 1);
    CHECK_NEAR((double)list->replay.delays_ns, 100.0 * MS, 0.01);
    assert_true(fabs(list->replay.error) < 0.1);
    const haul_projection_options to = {.to = machine, .from = machine};
    haul_projection *projection = NULL;
    assert_int_equal(haul_projection_make(workload, &to, &projection, NULL), HAUL_OK);
    assert_true(projection->target_run.makespan_ns > 110 * MS);
    assert_null(projection->unsound);
    haul_projection_free(projection);
    forget();
}

/* A replay that misses by more than 10 % leaves no headline, no command goes on, and the interval
 * holds its error. */
static void a_run_that_the_replay_misses_is_not_predicted(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 400; i++) {
        kernel(25 * 1000);
        written.stream_ns += i % 9 < 4 ? 11 * 1000 : 0;
    }
    workload = finish();
    const haul_projection_options to = {.to = machine, .from = machine};
    haul_projection *projection = NULL;
    assert_int_equal(haul_projection_make(workload, &to, &projection, NULL), HAUL_OK);
    assert_non_null(projection->unsound);
    assert_true(projection->low_ns >= 400 * 25 * 1000); /* one stream is busy so long */
    assert_true((double)projection->high_ns > 0.95 * (double)projection->replay.recorded_ns);
    const haul_machine *const on[] = {NULL, machine};
    for (int i = 0; i < 2; i++) {
        const haul_advise_options options = {.from = machine, .on = on[i]};
        assert_int_equal(haul_advice_make(workload, &options, &list, NULL), HAUL_OK);
        assert_string_equal(list->unsound, projection->unsound);
        assert_int_equal(list->count + list->tried, 0);
        assert_null(list->before);
        haul_advice_free(list);
    }
    haul_soundness judged;
    assert_int_equal(haul_soundness_check(workload, &judged, NULL), HAUL_OK);
    assert_false(judged.is_sound);
    assert_string_equal(judged.why, projection->unsound);
    haul_projection_free(projection);
    list = NULL;
    forget();
}

/* Kernels that the host launches 10 ms apart: a host twice as fast halves the run. */
static void a_faster_host_shortens_its_own_time(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 5; i++) {
        kernel(10 * 1000);
        written.host_ns += 10 * MS;
    }
    kernel(10 * 1000);
    workload = finish();
    haul_projection_options to = {.to = machine};
    int64_t runs_ns[2];
    for (int speed = 1; speed <= 2; speed++) {
        haul_projection *projection = NULL;
        to.host_speed = speed == 1 ? 0 : speed;
        assert_int_equal(haul_projection_make(workload, &to, &projection, NULL), HAUL_OK);
        runs_ns[speed - 1] = projection->target_run.makespan_ns;
        assert_int_equal(projection->host.is_assumed, speed == 1);
        CHECK_NEAR((double)projection->low_ns,
                   (double)runs_ns[speed - 1] * projection->host.low * speed, 0.01);
        CHECK_NEAR((double)projection->high_ns,
                   (double)runs_ns[speed - 1] * projection->host.high * speed, 0.01);
        haul_projection_free(projection);
    }
    CHECK_NEAR((double)runs_ns[0], 50.0 * MS, 0.01);
    CHECK_NEAR((double)runs_ns[1], 25.0 * MS, 0.01);
    list = NULL;
    forget();
}

/* Calls of a host half as fast take twice as long, in the runs after changes as well. */
static void a_slower_host_has_more_calls_to_save(void **state)
{
    (void)state;
    int64_t saved_ns[2];
    for (int slower = 0; slower < 2; slower++) {
        begin();
        for (int i = 0; i < 20; i++) {
            for (int k = 0; k < 5; k++)
                copy_async(HAUL_DIRECTION_HTOD, 8);
            kernel(1000);
            written.host_ns += 100 * 1000;
        }
        synchronize();
        const haul_advise_options options = {
            .from = machine, .on = machine, .host_speed = slower ? 0.5 : 1};
        advise_with(&options);
        saved_ns[slower] = list->together.saved_ns;
        assert_null(find("stream"));
        forget();
    }
    CHECK_NEAR((double)saved_ns[1], 2.0 * (double)saved_ns[0], 0.1);
}

static void what_is_not_tried_is_counted(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 10; i++) {
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, MB);
        kernel(MS);
        copy("cudaMemcpy_v3020", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, MB);
    }
    const haul_advise_options options = {.from = machine, .most_ops = 100};
    advise_with(&options);
    assert_true(list->untried > 0);
    assert_true(list->note_count > 0);
    forget();
}

static void nothing_is_advised_of_nothing(void **state)
{
    (void)state;
    begin();
    advise();
    assert_int_equal(list->count, 0);
    assert_int_equal(list->baseline_ns, 0);
    forget();
    begin();
    kernel(MS);
    synchronize();
    advise();
    assert_int_equal(list->count, 0);
    forget();
}

static void the_same_workload_gets_the_same_advice(void **state)
{
    (void)state;
    int64_t saved_ns[2] = {0};
    for (int k = 0; k < 2; k++) {
        begin();
        for (int i = 0; i < 5; i++) {
            copy("cudaMemcpy_v3020", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, MB);
            kernel(MS);
        }
        advise();
        for (size_t i = 0; i < list->count; i++)
            saved_ns[k] = saved_ns[k] * 7 + list->items[i].saved_ns;
        forget();
    }
    assert_int_equal(saved_ns[0], saved_ns[1]);
}

static void every_change_says_what_it_is(void **state)
{
    (void)state;
    assert_int_equal(haul_change_count(), 9);
    for (size_t i = 0; i < haul_change_count(); i++) {
        assert_true(strlen(haul_change_word(i)) > 0);
        assert_true(strlen(haul_change_summary(i)) > 0);
    }
    assert_string_equal(haul_change_word(haul_change_count()), "");
    assert_string_equal(haul_certainty_text(HAUL_CERTAINTY_SPECULATIVE), "speculative");
}

int main(void)
{
    if (!read_machine())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together_is_scheduled_not_added),
        cmocka_unit_test(missing_figures_are_named),
        cmocka_unit_test(rates_are_lent_by_the_catalogue),
        cmocka_unit_test(less_than_the_replay_error_is_hidden),
        cmocka_unit_test(unexplained_delays_are_kept),
        cmocka_unit_test(a_run_that_the_replay_misses_is_not_predicted),
        cmocka_unit_test(a_faster_host_shortens_its_own_time),
        cmocka_unit_test(a_slower_host_has_more_calls_to_save),
        cmocka_unit_test(what_is_not_tried_is_counted),
        cmocka_unit_test(nothing_is_advised_of_nothing),
        cmocka_unit_test(the_same_workload_gets_the_same_advice),
        cmocka_unit_test(every_change_says_what_it_is),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    haul_machine_free(machine);
    return failed;
}
