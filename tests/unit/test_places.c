/* Where in the program groups of operations were called for. */
#include "check.h"

#include <stdlib.h>

#include "haul/analysis.h"
#include "workload/builder.h"

enum { OPS = 5 };

static haul_workload *made(void)
{
    static const int64_t durations[OPS] = {40, 40, 20, 50, 7};
    static const char *const texts[HL_WORKLOAD_ORIGINS][OPS] = {
        [HL_WORKLOAD_OPERATOR] = {"aten::add", "aten::mul", "aten::add", NULL, "aten::mul"},
        [HL_WORKLOAD_LINE] = {"a.py:1 in f", "a.py:1 in f", "b.py:2 in g", NULL, NULL},
        [HL_WORKLOAD_STACK] = {"a.py:1 in f <- b.py:2 in g", "a.py:1 in f", "b.py:2 in g", NULL,
                               NULL},
    };
    hl_workload_builder builder;
    hl_workload_builder_init(&builder);
    const uint32_t device = hl_workload_builder_device(&builder, 0);
    hl_workload_builder_stream(&builder, &(haul_workload_stream){.device = device, .process = 1});
    hl_workload_builder_thread(&builder, &(haul_workload_thread){.process = 1});
    hl_workload_builder_shape(&builder, &(haul_shape){.grid = {1, 1, 1}});
    for (int i = 0; i < OPS; i++) {
        hl_workload_builder_op(&builder, &(haul_op){.kind = HAUL_OP_KERNEL,
                                                    .flags = HAUL_OP_HAS_CALL,
                                                    .start_ns = 100 * i,
                                                    .call_ns = 10 * i,
                                                    .dur_ns = durations[i],
                                                    .name = HAUL_NONE});
    }
    for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++) {
        uint32_t *const origins = hl_workload_builder_origins(&builder, k);
        for (int i = 0; i < OPS; i++)
            if (texts[k][i])
                origins[i] = hl_workload_builder_string(&builder, texts[k][i], strlen(texts[k][i]));
    }
    hl_workload_builder_range(
        &builder,
        &(haul_named_range){.dur_ns = 25, .name = hl_workload_builder_string(&builder, "step", 4)});
    haul_workload *workload = NULL;
    haul_error error;
    assert_int_equal(hl_workload_builder_finish(&builder, "test", "none", &workload, &error),
                     HAUL_OK);
    return workload;
}

/* Of the first group aten::add has 60 of 100 ns, all in one range; the second has neither. */
static void places_name_what_took_most(void **state)
{
    (void)state;
    static const uint32_t groups[OPS] = {0, 0, 0, 1, HAUL_NONE};
    haul_workload *workload = made();
    haul_place places[2];
    haul_error error;
    assert_int_equal(haul_places_find(workload, groups, 2, places, &error), HAUL_OK);
    assert_string_equal(places[0].operator_name, "aten::add");
    assert_true(places[0].operator_share > 0.599 && places[0].operator_share < 0.601);
    assert_string_equal(places[0].range, "step");
    assert_true(places[0].range_share > 0.999);
    assert_string_equal(places[0].line, "a.py:1 in f");
    assert_true(places[0].line_share > 0.799 && places[0].line_share < 0.801);
    assert_string_equal(places[0].stack, "a.py:1 in f <- b.py:2 in g");
    assert_null(places[1].operator_name);
    assert_null(places[1].range);
    assert_null(places[1].line);
    assert_null(places[1].stack);
    haul_workload_free(workload);
}

/* A profile that tells neither has no places, however its groups are. */
static void no_operators_no_places(void **state)
{
    (void)state;
    static const uint32_t groups[OPS] = {2, 1, 0, 1, 2};
    haul_workload *workload = made();
    haul_workload bare = *workload;
    haul_place places[3];
    haul_error error;
    bare.operators = bare.lines = bare.stacks = NULL;
    bare.range_count = 0;
    assert_int_equal(haul_places_find(&bare, groups, 3, places, &error), HAUL_OK);
    for (int g = 0; g < 3; g++)
        assert_true(!places[g].operator_name && !places[g].range && !places[g].line);
    haul_workload_free(workload);
}

static haul_work_group *groups_by(const haul_workload *workload, haul_group_by by, size_t *count)
{
    haul_work_group *groups = NULL;
    haul_error error;
    assert_int_equal(haul_work_groups(workload, by, &groups, count, &error), HAUL_OK);
    return groups;
}

/* aten::add has 40 + 20 ns, the operation without an operator 50, aten::mul 40 + 7; the range has
 * the first three operations, 100 ns, which were called in it. */
static void work_is_grouped_by_where_it_came_from(void **state)
{
    (void)state;
    static const int64_t by_operator[] = {60, 50, 47}, by_range[] = {100, 57};
    haul_workload *workload = made();
    size_t count;
    haul_work_group *groups = groups_by(workload, HAUL_GROUP_BY_OPERATOR, &count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(groups[i].kernels_ns, by_operator[i]);
    assert_string_equal(haul_workload_string(workload, groups[0].name), "aten::add");
    assert_int_equal(groups[0].kernels, 2);
    assert_int_equal(groups[1].name, HAUL_NONE);
    free(groups);
    groups = groups_by(workload, HAUL_GROUP_BY_RANGE, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(groups[i].kernels_ns, by_range[i]);
    assert_string_equal(haul_workload_string(workload, groups[0].name), "step");
    free(groups);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_name_what_took_most),
        cmocka_unit_test(no_operators_no_places),
        cmocka_unit_test(work_is_grouped_by_where_it_came_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
