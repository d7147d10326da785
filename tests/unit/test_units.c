#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "haul/units.h"

static double parsed(const char *text, haul_dimension dimension)
{
    double value = NAN;
    haul_error error = {0};
    assert_int_equal(haul_quantity_parse(text, dimension, &value, &error), HAUL_OK);
    return value;
}

static void quantities_are_read(void **state)
{
    (void)state;
    CHECK_NEAR(parsed("12.3 GB/s", HAUL_DIM_RATE), 12.3e9, 1e-15);
    CHECK_NEAR(parsed(" 1.5GiB/s ", HAUL_DIM_RATE), 1.5 * 1073741824, 1e-15);
    CHECK_NEAR(parsed("9.42 us", HAUL_DIM_SECONDS), 9.42e-6, 1e-15);
    CHECK_NEAR(parsed("4.8 %", HAUL_DIM_NUMBER), 0.048, 1e-15);
    CHECK_NEAR(parsed("64MiB", HAUL_DIM_BYTES), 67108864, 0);
    CHECK_NEAR(parsed("4096", HAUL_DIM_BYTES), 4096, 0);
    CHECK_NEAR(parsed("1.41 GHz", HAUL_DIM_HERTZ), 1.41e9, 1e-15);
    CHECK_NEAR(parsed("19.5 Tflop/s", HAUL_DIM_FLOPS), 19.5e12, 1e-15);
}

static void other_words_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        haul_dimension dimension;
    } wrong[] = {
        {"", HAUL_DIM_NUMBER},        {"inf", HAUL_DIM_NUMBER},      {"nan", HAUL_DIM_NUMBER},
        {"0x10", HAUL_DIM_BYTES},     {"12 GB", HAUL_DIM_RATE},      {"12", HAUL_DIM_RATE},
        {"12", HAUL_DIM_SECONDS},     {"1e400 GB/s", HAUL_DIM_RATE}, {"1e308 TB", HAUL_DIM_BYTES},
        {"twelve", HAUL_DIM_BYTES},   {"5 gb/s", HAUL_DIM_RATE},     {"5 us us", HAUL_DIM_SECONDS},
        {"- 5 us", HAUL_DIM_SECONDS},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value = 7;
        haul_error error = {0};
        assert_int_equal(haul_quantity_parse(wrong[i].text, wrong[i].dimension, &value, &error),
                         HAUL_STATUS_BAD_INPUT);
        assert_true(value == 7);
        assert_non_null(strstr(error.text, "expected"));
    }
}

static void bytes_are_whole(void **state)
{
    (void)state;
    uint64_t bytes = 1;
    haul_error error;
    assert_int_equal(haul_bytes_parse("1.5 GB", &bytes, &error), HAUL_OK);
    assert_int_equal(bytes, 1500000000);
    assert_int_equal(haul_bytes_parse("0", &bytes, &error), HAUL_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(haul_bytes_parse("-1", &bytes, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_bytes_parse("0.5 B", &bytes, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_bytes_parse("9e18 TB", &bytes, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(bytes, 0);
}

static void formatting_reads_back(void **state)
{
    (void)state;
    char text[64];
    assert_string_equal(haul_quantity_format(12.3e9, HAUL_DIM_RATE, 4, text, sizeof text),
                        "12.3 GB/s");
    assert_string_equal(haul_quantity_format(64 << 20, HAUL_DIM_BYTES, 4, text, sizeof text),
                        "64 MiB");
    assert_string_equal(haul_quantity_format(0, HAUL_DIM_SECONDS, 4, text, sizeof text), "0 s");
    assert_string_equal(haul_quantity_format(86315, HAUL_DIM_SECONDS, 3, text, sizeof text),
                        "86315 s");
    assert_string_equal(haul_quantity_format(9.42e-6, HAUL_DIM_SECONDS, 4, text, sizeof text),
                        "9.42 us");
    srand(1);
    for (int i = 0; i < 20000; i++) {
        const haul_dimension dimension = (haul_dimension)(i % (HAUL_DIM_FLOPS + 1));
        const double value = (double)rand() * pow(10, rand() % 20 - 15);
        haul_quantity_format(value, dimension, 17, text, sizeof text);
        CHECK_NEAR(parsed(text, dimension), value, 1e-15);
    }
}

static void counts_have_commas(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(haul_count_format(0, text, sizeof text), "0");
    assert_string_equal(haul_count_format(999, text, sizeof text), "999");
    assert_string_equal(haul_count_format(1234567, text, sizeof text), "1,234,567");
    assert_string_equal(haul_count_format(UINT64_MAX, text, sizeof text),
                        "18,446,744,073,709,551,615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_read), cmocka_unit_test(other_words_are_refused),
        cmocka_unit_test(bytes_are_whole),     cmocka_unit_test(formatting_reads_back),
        cmocka_unit_test(counts_have_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
