/* The words of enumerations, as a program prints them beside haul's own reports and JSON. */
#include "check.h"

#include "haul/analysis.h"
#include "haul/breakdown.h"
#include "haul/device.h"
#include "haul/machine.h"

static void values_have_their_words(void **state)
{
    (void)state;
    const struct {
        const char *word;
        const char *expected;
    } rows[] = {
        {haul_status_text(HAUL_OK), "success"},
        {haul_status_text(HAUL_STATUS_MISSING), "the evidence is missing"},
        {haul_status_text(HAUL_STATUS_INTERNAL), "internal error"},
        {haul_op_kind_text(HAUL_OP_COPY), "copy"},
        {haul_op_kind_text(HAUL_OP_SYNC), "wait"},
        {haul_op_kind_text(HAUL_OP_MESSAGE), "message"},
        {haul_idle_text(HAUL_IDLE_HOST), "host"},
        {haul_idle_text(HAUL_IDLE_START), "start"},
        {haul_driver_work_text(HAUL_DRIVER_WORK_PAGE_LOCK), "page-locking"},
        {haul_driver_work_text(HAUL_DRIVER_WORK_SLOW), "slow calls"},
        {haul_buffer_kind_text(HAUL_BUFFER_DEVICE), "device"},
        {haul_buffer_kind_text(HAUL_BUFFER_WRITE_COMBINED), "write-combined"},
        {haul_buffer_kind_text(HAUL_BUFFER_MANAGED), "managed"},
        {haul_link_kind_text(HAUL_LINK_NONE), ""},
        {haul_link_kind_text(HAUL_LINK_PCIE), "PCIe"},
        {haul_link_kind_text(HAUL_LINK_FABRIC), "fabric"},
        {haul_locality_text(HAUL_LOCALITY_NEAR), "near"},
        {haul_locality_text(HAUL_LOCALITY_FAR), "far"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(rows[i].word, rows[i].expected);
}

/* Numbers of a damaged file, or of a later version: shown, not refused. */
static void numbers_beyond_them_have_one_too(void **state)
{
    (void)state;
    const unsigned beyond = 1000;
    assert_string_equal(haul_status_text((haul_status)beyond), "unknown status");
    assert_string_equal(haul_op_kind_text((haul_op_kind)beyond), "unknown");
    assert_string_equal(haul_idle_text((haul_idle_kind)beyond), "unknown");
    assert_string_equal(haul_driver_work_text((haul_driver_work)beyond), "unknown");
    assert_string_equal(haul_buffer_kind_text((haul_buffer_kind)beyond), "unknown");
    assert_string_equal(haul_link_kind_text((haul_link_kind)beyond), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_words),
        cmocka_unit_test(numbers_beyond_them_have_one_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
