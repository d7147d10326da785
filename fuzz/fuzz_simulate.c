/* Workload files, YAML and CSV: what is read can be simulated, keeps its promises and is drawn in
 * order; what is refused has a place and a reason. The first byte says which form it is. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/goal.h"
#include "haul/report.h"
#include "haul/simulate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static haul_machine *machine;

static const char machine_text[] =
    "haul: 1\nname: node\nsummary: a node that is not\nfrom: measured\nsource: this test\n"
    "gpu: {name: Test GPU, count: 2, copy_engines: 2, implicit_sync: 1}\n"
    "link: {kind: pcie, generation: 3, lanes: 16}\n"
    "copies:\n"
    "  - {direction: HtoD, memory: pinned, latency: 9 us, rate: 10 GB/s, gap: 2 us,"
    " busy_rate: 8 GB/s}\n"
    "  - {direction: DtoH, memory: pinned, latency: 9 us, rate: 10 GB/s}\n"
    "messages:\n"
    "  - {memory: host, reach: network, above: 0 B, latency: 20 us, rate: 2.5 GB/s, gap: 3 us}\n";

static void check_simulation(const haul_simulation *simulation)
{
    const haul_workload *workload = simulation->schedule->workload;
    const haul_timeline *timeline = simulation->timeline;
    assert(timeline->op_count == workload->op_count);
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const haul_span span = timeline->ops[i];
        const uint32_t before = workload->ops[i].stream_prev;
        uint32_t cause = 0;
        assert(span.start_ns >= 0 && span.end_ns >= span.start_ns);
        assert(before == HAUL_NONE || timeline->ops[before].end_ns <= span.start_ns);
        const haul_waited waited = haul_simulation_waited(simulation, i, &cause);
        assert((waited == HAUL_SIMULATION_WAITED_NOTHING) == (cause == HAUL_NONE));
        assert(cause == HAUL_NONE || cause < workload->op_count);
    }
    for (size_t r = 0; r < timeline->resource_count; r++)
        assert(timeline->resources[r].busy_ns + timeline->resources[r].idle_ns ==
               timeline->makespan_ns);
    assert(simulation->low_ns <= timeline->makespan_ns);
    assert(simulation->high_ns >= timeline->makespan_ns);
}

static void report(const haul_simulation *simulation)
{
    haul_error error;
    FILE *out = fopen("/dev/null", "w");
    assert(out);
    haul_report *made = haul_report_simulation(simulation, 80);
    for (int format = HAUL_FORMAT_TABLE; format <= HAUL_FORMAT_CSV; format++) {
        const haul_report_options options = {.format = (haul_format)format, .verbose = true};
        assert(!haul_report_write(made, &options, out, &error));
    }
    haul_report_free(made);
    const haul_drawn drawn = {.workload = simulation->schedule->workload,
                              .spans = simulation->timeline->ops,
                              .named = true};
    assert(!haul_report_perfetto(&drawn, 1, 0, out, NULL, &error));
    uint64_t kept;
    if (haul_goal_write_workload(simulation->schedule->workload, out, &kept, &error))
        assert(error.text[0]);
    (void)fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    haul_error error = {0};
    if (!machine)
        assert(!haul_machine_parse(machine_text, sizeof machine_text - 1, "node.yaml", &machine,
                                   &error));
    if (!size)
        return 0;
    const char *file = data[0] == 'o' || data[0] == 'n' ? "input.csv" : "input.yaml";
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    haul_schedule *schedule = NULL;
    haul_simulation *simulation = NULL;
    if (haul_schedule_parse(text, size, file, &schedule, &error)) {
        assert(!schedule && error.status == HAUL_STATUS_BAD_INPUT && error.text[0]);
        assert(!strcmp(error.file, file));
    } else if (schedule->workload->op_count > 20000) {
        haul_schedule_free(schedule); /* read in time, and that is enough */
    } else {
        if (haul_simulation_make(schedule, machine, NULL, &simulation, &error)) {
            assert(!simulation && error.text[0]);
        } else {
            check_simulation(simulation);
            report(simulation);
        }
        haul_simulation_free(simulation);
        haul_schedule_free(schedule);
    }
    free(text);
    return 0;
}
