/* Advice on random programs and on random workloads. */
#include "check.h"

#include "advise/advisor.h"
#include "advised_program.h"
#include "drawn_workload.h"

static uint64_t bytes_of(const haul_workload *of)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < of->op_count; i++)
        bytes += of->ops[i].kind == HAUL_OP_COPY ? of->ops[i].bytes : 0;
    return bytes;
}

/* Copies that are pinned, moved, divided or joined bring the same bytes. */
static void check_bytes(unsigned seed)
{
    static const char *const keepers[] = {"pin", "stream", "split", "batch"};
    /* the run after speculative changes has fewer */
    bool kept = list->changed && !list->is_speculative;
    for (size_t i = 0; i < list->count; i++) {
        const haul_advice *advice = &list->items[i];
        bool keeps = advice->apart || advice->certainty == HAUL_CERTAINTY_SPECULATIVE;
        for (size_t k = 0; k < sizeof keepers / sizeof *keepers; k++)
            keeps |= !strcmp(advice->change, keepers[k]);
        kept &= keeps;
    }
    if (kept && bytes_of(list->changed) != bytes_of(workload))
        fail_msg("seed %u: %lu bytes become %lu", seed, (unsigned long)bytes_of(workload),
                 (unsigned long)bytes_of(list->changed));
}

/* No change saves more than the time in which the host waits and that of its calls. */
static void check_waits(unsigned seed)
{
    hl_advise_advisor of = {.workload = workload};
    of.baselines[HL_TIMELINE_LIKELY] =
        (hl_advise_baseline){.host_time = 1,
                             .run_ns = list->before->makespan_ns,
                             .began_ns = list->before->origin_ns + list->before->start_ns};
    assert_int_equal(hl_advise_waits_find(&of, NULL), HAUL_OK);
    int64_t most_ns = of.waits_ns;
    for (size_t i = 0; i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) && !(workload->ops[i].flags & HAUL_OP_BLOCKS))
            most_ns = hl_base_add_ns(most_ns, workload->ops[i].call_dur_ns);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].saved_ns > most_ns)
            fail_msg("seed %u: '%s' saves %ld ns of %ld that the host waits", seed,
                     list->items[i].change, (long)list->items[i].saved_ns, (long)most_ns);
}

/* No change saves more than the bound that it was tried for. */
static void check_bounds(unsigned seed)
{
    const int64_t beyond_ns = ((const hl_advise_advisor *)list)->beyond_ns;
    if (beyond_ns)
        fail_msg("seed %u: a change saves %ld ns more than its bound", seed, (long)beyond_ns);
}

/* The same GPU behind a slower link, whose directions slow each other. */
static haul_machine *slower_machine(void)
{
    static const char text[] =
        "haul: 1\n"
        "name: slower\n"
        "summary: the same GPU elsewhere\n"
        "from: measured\n"
        "gpu: {name: By Hand, copy_engines: 2}\n"
        "copies:\n"
        "  - {direction: HtoD, memory: pinned, latency: 20 us, rate: 4 GB/s, busy_rate: 3 GB/s}\n"
        "  - {direction: DtoH, memory: pinned, latency: 20 us, rate: 4 GB/s, busy_rate: 2 GB/s}\n"
        "  - {direction: HtoD, memory: pageable, latency: 10 us, rate: 1 GB/s}\n"
        "  - {direction: DtoH, memory: pageable, latency: 10 us, rate: 1.5 GB/s}\n";
    haul_machine *made = NULL;
    haul_error error = {0};
    if (haul_machine_parse(text, sizeof text - 1, "slower", &made, &error))
        fail_msg("%s", error.text);
    return made;
}

/* Random programs: whatever is advised, the draft is one that the engine takes, and each saving is
 * positive and no more than the run. */
static void any_program_gets_advice(void **state)
{
    (void)state;
    static const char *const names[] = {"cudaMemcpy_v3020", "cudaMemcpyAsync_v3020",
                                        "cudaMemcpyToSymbol_v3020"};
    haul_machine *slower = slower_machine();
    for (unsigned seed = 0; seed < SWEEP(3000); seed++) {
        srand(seed);
        begin();
        for (int i = 0, count = 1 + rand() % 40; i < count; i++)
            switch (rand() % 6) {
            case 0:
                kernel(1000 * (rand() % 3000));
                break;
            case 1:
                copy_async((haul_direction)(rand() % 2), 1 + (uint64_t)(rand() % 3) * 100000);
                break;
            case 2:
                synchronize();
                break;
            default:
                copy(names[rand() % 3], (haul_direction)(rand() % 2),
                     rand() % 2 ? HAUL_MEMORY_PINNED : HAUL_MEMORY_PAGEABLE,
                     (uint64_t[]){0, 8, 4096, MB, 20 * MB}[rand() % 5]);
            }
        haul_error error = {0};
        haul_advise_options options = {.from = machine};
        if (seed % 2) { /* elsewhere calls wait longer */
            options.on = slower;
            options.host_speed = 0.5;
        }
        workload = finish();
        if (haul_advice_make(workload, &options, &list, &error))
            fail_msg("seed %u: %s", seed, error.text);
        const int64_t end_ns = list->before->start_ns + list->before->makespan_ns;
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i].saved_ns <= 0 || list->items[i].saved_ns > end_ns)
                fail_msg("seed %u: '%s' saves %ld ns of %ld", seed, list->items[i].change,
                         (long)list->items[i].saved_ns, (long)end_ns);
        check_bytes(seed);
        if (!options.on)
            check_waits(seed);
        check_bounds(seed);
        forget();
    }
    haul_machine_free(slower);
}

/* The same as a workload that a reader made: its strings, of which it has none, are its own. */
static hl_workload_owned_workload own_drawn(drawn_workload *drawn)
{
    uint32_t last[DRAWN_STREAMS];
    memset(last, 0xff, sizeof last);
    for (uint32_t i = 0; i < drawn->workload.op_count; i++) {
        haul_op *op = &drawn->ops[i];
        op->dur_ns *= 1000;
        op->call_dur_ns *= 1000;
        op->start_ns *= 1000;
        op->call_ns *= 1000;
        op->detail = (uint8_t)draw(HAUL_MEMORIES);
        if (op->kind == HAUL_OP_COPY)
            op->bytes = draw(4) * 100000;
        if (op->kind == HAUL_OP_KERNEL)
            op->shape = HAUL_NONE;
        if (!haul_op_on_device(op) || op->stream == HAUL_NONE)
            continue;
        op->stream_prev = last[op->stream];
        last[op->stream] = i;
    }
    return (hl_workload_owned_workload){.seen = drawn->workload};
}

static haul_timeline *schedule(const haul_workload *of, const int64_t *durations_ns,
                               const int64_t *calls_ns)
{
    const haul_timeline_options options = {
        .device = {.copy_engines = 2, .kernels = 2, .busy_speed = {1, 0.5}, .issue_ns = {3, 1, 2}},
        .durations_ns = durations_ns,
        .call_durations_ns = calls_ns};
    haul_timeline *timeline = NULL;
    haul_error error = {0};
    if (haul_timeline_run(of, &options, &timeline, &error) && !*error.text)
        fail_msg("no timeline and no error");
    return timeline;
}

static void what_is_not_edited_stays(void **state)
{
    (void)state;
    static drawn_workload drawn;
    for (unsigned seed = 0; seed < SWEEP(500); seed++) {
        srand(seed);
        draw_workload(&drawn, 1 + draw(60), draw(3));
        const hl_workload_owned_workload owned = own_drawn(&drawn);
        hl_advise_rewrite rewrite;
        hl_advise_rewritten same;
        haul_error error;
        assert_int_equal(hl_advise_rewrite_init(&rewrite, &owned.seen, NULL, NULL, &error),
                         HAUL_OK);
        assert_int_equal(hl_advise_rewrite_build(&rewrite, &same, &error), HAUL_OK);
        haul_timeline *before = schedule(&owned.seen, NULL, NULL);
        haul_timeline *after = schedule(same.workload, same.durations_ns, same.call_durations_ns);
        assert_int_equal(same.workload->op_count, owned.seen.op_count);
        assert_int_equal(before != NULL, after != NULL);
        if (before)
            assert_memory_equal(before->ops, after->ops, owned.seen.op_count * sizeof *before->ops);
        haul_timeline_free(before);
        haul_timeline_free(after);
        hl_advise_rewritten_release(&same);
        hl_advise_rewrite_release(&rewrite);
    }
}

/* Any order, streams, threads and edges, right or wrong: advice or an error, and changes that would
 * wait for themselves are left out. */
static void any_workload_is_survived(void **state)
{
    (void)state;
    static drawn_workload drawn;
    size_t advised = 0;
    for (unsigned seed = 0; seed < SWEEP(1500); seed++) {
        srand(seed);
        draw_workload(&drawn, 1 + draw(60), draw(3));
        const hl_workload_owned_workload owned = own_drawn(&drawn);
        const haul_advise_options options = {.from = machine, .most_ops = 100000};
        haul_error error = {0};
        const haul_status status = haul_advice_make(&owned.seen, &options, &list, &error);
        if (status && !*error.text)
            fail_msg("seed %u: no word for status %d", seed, status);
        if (status)
            continue;
        advised += list->count;
        for (size_t i = 0; i < list->count; i++)
            assert_true(list->items[i].saved_ns >= list->threshold_ns);
        haul_advice_free(list);
        list = NULL;
    }
    assert_true(advised > 0);
}

int main(void)
{
    if (!read_machine())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_program_gets_advice),
        cmocka_unit_test(what_is_not_edited_stays),
        cmocka_unit_test(any_workload_is_survived),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    haul_machine_free(machine);
    return failed;
}
