/* Finding models by name and in shared objects, and checking what they give. */
#include "check.h"

#include <string.h>

#include "haul/backend.h"

static haul_error refused(const char *name, haul_status status)
{
    haul_model_ref ref = {.model = (const haul_copy_model *)&ref};
    haul_error error = {0};
    assert_int_equal(haul_model_find(name, &ref, &error), status);
    assert_ptr_equal(ref.model, &ref);
    return error;
}

static void every_model_is_found_by_its_name(void **state)
{
    (void)state;
    assert_true(haul_copy_model_count() >= 8);
    assert_null(haul_copy_model_at(haul_copy_model_count()));
    for (size_t i = 0; i < haul_copy_model_count(); i++) {
        const haul_copy_model *model = haul_copy_model_at(i);
        assert_int_equal(model->abi, HAUL_MODEL_ABI);
        assert_true(strlen(model->summary) > 0);
        haul_model_ref ref = {0};
        assert_int_equal(haul_model_find(model->name, &ref, NULL), HAUL_OK);
        assert_ptr_equal(ref.model, model);
        haul_model_release(&ref);
        assert_null(ref.model);
        const haul_error error = refused("lggp", HAUL_STATUS_USAGE);
        assert_non_null(strstr(error.text, model->name));
    }
}

static haul_machine pcie_machine(void)
{
    return (haul_machine){
        .name = "m",
        .link = {.kind = HAUL_LINK_PCIE,
                 .generation = {3, HAUL_PROVENANCE_DATASHEET, NULL},
                 .lanes = {16, HAUL_PROVENANCE_DATASHEET, NULL}},
    };
}

static void the_example_is_a_model(void **state)
{
    (void)state;
    haul_model_ref ref = {0};
    haul_error error = {0};
    if (haul_model_find(EXAMPLE_MODEL, &ref, &error))
        fail_msg("%s", error.text);
    assert_string_equal(ref.model->name, "far-line");
    const haul_machine machine = pcie_machine();
    haul_copy copy = {
        .bytes = 1 << 26, .direction = HAUL_DIRECTION_HTOD, .memory = HAUL_MEMORY_PINNED};
    haul_estimate near, far;
    assert_int_equal(haul_copy_time(&machine, ref.model, &copy, &near, &error), HAUL_OK);
    copy.locality = HAUL_LOCALITY_FAR;
    assert_int_equal(haul_copy_time(&machine, ref.model, &copy, &far, &error), HAUL_OK);
    CHECK_NEAR(near.seconds, 10e-6 + 0x1p26 / (16 * 7.877e9 / 8), 1e-12);
    CHECK_NEAR(far.seconds - 10e-6, 2.5 * (near.seconds - 10e-6), 1e-12);
    copy.direction = HAUL_DIRECTION_DTOD;
    assert_int_equal(haul_copy_time(&machine, ref.model, &copy, &far, &error), HAUL_STATUS_MISSING);
    assert_non_null(strstr(error.text, "between host and device"));
    haul_model_release(&ref);
    assert_null(ref.handle);
}

static void objects_that_are_no_models_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *why;
    } rows[] = {
        {MODELS_DIR "/broken-0.so", "exports no haul_model_entry"},
        {MODELS_DIR "/broken-1.so", "gave no model"},
        {MODELS_DIR "/broken-2.so", "abi 77"},
        {MODELS_DIR "/broken-3.so", "no name, summary or time"},
        {MODELS_DIR "/broken-4.so", "one of haul's own"},
        {"/nowhere/x.so", "cannot load"},
        {"nowhere.so", "cannot load"},
        {"tests/unit/test_registry.c", "cannot load"},
        {"", "no model ''"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const haul_status status = rows[i].path[0] ? HAUL_STATUS_BAD_INPUT : HAUL_STATUS_USAGE;
        const haul_error error = refused(rows[i].path, status);
        if (!strstr(error.text, rows[i].why))
            fail_msg("%s: %s", rows[i].path, error.text);
        assert_string_equal(error.file, rows[i].path);
    }
}

static void bad_times_are_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {MODELS_DIR "/broken-5.so", MODELS_DIR "/broken-6.so",
                                        MODELS_DIR "/broken-7.so"};
    const haul_machine machine = pcie_machine();
    const haul_copy copy = {.bytes = 4096};
    haul_estimate estimate = {.seconds = -7};
    haul_error error = {0};
    haul_model_ref ref = {0};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(haul_model_find(paths[i], &ref, NULL), HAUL_OK);
        assert_int_equal(haul_copy_time(&machine, ref.model, &copy, &estimate, &error),
                         HAUL_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.text, "model 'broken' gave"));
        assert_true(estimate.seconds == -7);
        haul_model_release(&ref);
    }
    /* a model that says nothing is spoken for, not with what was said before */
    assert_int_equal(haul_model_find(MODELS_DIR "/broken-8.so", &ref, NULL), HAUL_OK);
    assert_int_equal(haul_copy_time(&machine, ref.model, &copy, &estimate, &error),
                     HAUL_STATUS_MISSING);
    assert_non_null(strstr(error.text, "gives no time"));
    haul_model_release(&ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_found_by_its_name),
        cmocka_unit_test(the_example_is_a_model),
        cmocka_unit_test(objects_that_are_no_models_are_refused),
        cmocka_unit_test(bad_times_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
