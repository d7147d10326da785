/* haul_machine_set: a machine with another value, and what changes with it. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "machine_text.h"

/* One parameter is changed, and with the link's peak the rates over it. */
static void a_parameter_is_set(void **state)
{
    (void)state;
    haul_machine *machine =
        parsed(MEASURED "link: {kind: pcie, generation: 3, lanes: 16}\n"
                        "copies:\n"
                        "  - {direction: HtoD, memory: pinned, latency: 1 us, "
                        "rate: 12 GB/s}\n"
                        "  - {direction: HtoD, memory: pageable, latency: 1 us, "
                        "rate: 6 GB/s}\n");
    haul_machine *made = NULL;
    haul_error error;
    assert_int_equal(haul_machine_set(machine, "link.generation=4", &made, &error), HAUL_OK);
    const double ratio = haul_link_peak(&made->link).value / haul_link_peak(&machine->link).value;
    assert_true(made->link.generation.value == 4 && ratio > 1.9 && ratio < 2.1);
    assert_int_equal(made->link.generation.provenance, HAUL_PROVENANCE_ASSUMED);
    assert_true(haul_parameter_is_set(&made->link.generation));
    assert_false(haul_parameter_is_set(&made->link.lanes));
    assert_false(haul_parameter_is_set(&machine->link.generation));
    assert_true(fabs(made->copies[0].rate_Bps.value - 12e9 * ratio) < 1);
    assert_int_equal(made->copies[0].rate_Bps.provenance, HAUL_PROVENANCE_SCALED);
    assert_true(made->copies[1].rate_Bps.value == 6e9); /* the host's, not the link's */
    haul_machine_free(made);
    assert_int_equal(haul_machine_set(machine, "link.generation=1", &made, &error), HAUL_OK);
    assert_true(made->copies[1].rate_Bps.value < 4.1e9); /* now the link's */
    haul_machine_free(made);
    assert_int_equal(haul_machine_set(machine, "copies[HtoD pinned].rate=13 GB/s", &made, &error),
                     HAUL_OK);
    assert_true(made->copies[0].rate_Bps.value == 13e9 &&
                machine->copies[0].rate_Bps.value == 12e9);
    haul_machine_free(made);
    made = NULL;
    assert_int_equal(haul_machine_set(machine, "link.lane=8", &made, &error), HAUL_STATUS_USAGE);
    assert_non_null(strstr(error.text, "did you mean 'link.lanes'?"));
    assert_int_equal(haul_machine_set(machine, "link.lanes", &made, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_machine_set(machine, "link.generation=99", &made, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_machine_set(machine, "link.generation=four", &made, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_null(made);
    haul_machine_free(machine);
}

/* Kernels that stream are predicted by what they reach of the memory, which grows with it. */
static void a_faster_memory_is_reached_as_far(void **state)
{
    (void)state;
    haul_machine *machine = parsed(MEASURED "gpu: {memory_bandwidth: 2000 GB/s, stream_bandwidth: "
                                            "1800 GB/s}\n");
    haul_machine *made = NULL;
    haul_error error;
    assert_int_equal(haul_machine_set(machine, "gpu.memory_bandwidth=3000 GB/s", &made, &error),
                     HAUL_OK);
    assert_true(fabs(made->gpu.stream_Bps.value - 2700e9) < 1);
    assert_int_equal(made->gpu.stream_Bps.provenance, HAUL_PROVENANCE_SCALED);
    haul_machine_free(made);
    assert_int_equal(haul_machine_set(machine, "gpu.clock=1 GHz", &made, &error), HAUL_OK);
    assert_int_equal(made->gpu.stream_Bps.provenance, HAUL_PROVENANCE_MEASURED);
    haul_machine_free(made);
    haul_machine_free(machine);
}

/* A GPU with NVLink is given a slot: nothing that was measured over NVLink stays. */
static void a_generation_replaces_another_link(void **state)
{
    (void)state;
    haul_machine *machine = parsed(
        MEASURED "link: {kind: nvlink, links: 2, link_rate: 25 GB/s, payload: 256 B}\n"
                 "copies:\n"
                 "  - {direction: HtoD, memory: pinned, latency: 1 us, rate: 45 GB/s, busy_rate: "
                 "40 GB/s, points: [[1, 1 us], [1024, 2 us]]}\n"
                 "  - {direction: HtoD, memory: pinned, locality: far, rate: 36 GB/s}\n"
                 "  - {direction: DtoH, memory: pageable, latency: 1 us, rate: 6 GB/s}\n"
                 "  - {direction: DtoD, memory: device, rate: 300 GB/s}\n");
    haul_machine *slot = NULL, *narrow = NULL;
    haul_error error;
    assert_int_equal(haul_machine_set(machine, "link.lanes=8", &slot, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "which has 'links' and 'link_rate'"));
    assert_int_equal(haul_machine_set(machine, "link.generation=3", &slot, &error), HAUL_OK);
    assert_int_equal(slot->replaced_link, HAUL_LINK_NVLINK);
    assert_true(slot->link.lanes.value == 16 && !slot->link.links.provenance);
    assert_true(!slot->copies[0].rate_Bps.provenance && !slot->copies[0].busy_rate_Bps.provenance);
    assert_true(!slot->copies[0].points_from.provenance && slot->copies[0].latency_s.value == 1e-6);
    assert_true(slot->copies[1].rate_Bps.value < 16e9);
    assert_true(slot->copies[2].rate_Bps.value == 6e9 && slot->copies[3].rate_Bps.value == 300e9);
    assert_int_equal(haul_machine_set(slot, "link.lanes=8", &narrow, &error), HAUL_OK);
    assert_int_equal(narrow->replaced_link, HAUL_LINK_NVLINK);
    haul_machine_free(narrow);
    haul_machine_free(slot);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_is_set),
        cmocka_unit_test(a_faster_memory_is_reached_as_far),
        cmocka_unit_test(a_generation_replaces_another_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
