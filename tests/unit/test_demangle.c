/* Mangled names of kernels, made readable by whatever C++ runtime is installed. */
#include "check.h"

#include <string.h>

#include "base/demangle.h"

static void names_become_readable(void **state)
{
    (void)state;
    hl_base_arena arena = {0};
    const char *texts[] = {"_Z9histogramPKfPji", "plain", "_Znot a name", ""};
    hl_base_demangle(texts, 4, &arena);
    if (!strcmp(texts[0], "_Z9histogramPKfPji")) {
        hl_base_arena_release(&arena);
        skip(); /* no C++ runtime */
    }
    assert_string_equal(texts[0], "histogram(float const*, unsigned int*, int)");
    assert_string_equal(texts[1], "plain");
    assert_string_equal(texts[2], "_Znot a name");
    assert_string_equal(texts[3], "");
    hl_base_arena_release(&arena);
}

/* Each "S_" may double what it refers to. */
static void a_name_that_would_not_end_stays(void **state)
{
    (void)state;
    hl_base_arena arena = {0};
    char bomb[400] = "_Z1fI";
    for (int i = 0; i < 60; i++)
        strcat(bomb, "S_S0_");
    const char *texts[] = {bomb};
    hl_base_demangle(texts, 1, &arena);
    assert_ptr_equal(texts[0], bomb);
    hl_base_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_readable),
        cmocka_unit_test(a_name_that_would_not_end_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
