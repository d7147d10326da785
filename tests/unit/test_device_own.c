/* A device of a program's own, without a shared object: the one of examples/device. */
#include "check.h"

#include <string.h>

#include "haul/device_backend.h"

static haul_error error;

static void must_do(haul_status status)
{
    if (status)
        fail_msg("%s", error.text);
}

static void a_backend_is_opened_as_a_device(void **state)
{
    (void)state;
    haul_device *device;
    haul_stream *stream;
    haul_buffer *buffer;
    char there[8] = "as sent", back[8] = "";
    must_do(haul_device_open_with(haul_device_entry(), "", NULL, &device, &error));
    assert_string_equal(haul_device_describe(device)->name, "plain memory");
    must_do(haul_stream_new(device, &stream, &error));
    must_do(haul_buffer_new(device, HAUL_BUFFER_DEVICE, sizeof there, &buffer, &error));
    const haul_transfer in = {
        .to = haul_in_buffer(buffer, 0), .from = haul_in_host(there), .size = {sizeof there}};
    const haul_transfer out = {
        .to = haul_in_host(back), .from = haul_in_buffer(buffer, 0), .size = {sizeof there}};
    must_do(haul_stream_copy(stream, &in, NULL, &error));
    must_do(haul_stream_copy(stream, &out, NULL, &error));
    must_do(haul_stream_wait(stream, &error));
    assert_string_equal(back, "as sent");
    haul_buffer_free(buffer);
    haul_stream_free(stream);
    haul_device_close(device);
}

/* The compiled-in devices refuse in the same words: the kind's text is part of them. */
static void a_kind_that_it_lacks_is_named(void **state)
{
    (void)state;
    haul_device_backend without = *haul_device_entry();
    haul_device *device;
    haul_buffer *buffer;
    without.buffer_new = NULL;
    must_do(haul_device_open_with(&without, "", NULL, &device, &error));
    assert_int_equal(haul_buffer_new(device, HAUL_BUFFER_MAPPED, 1, &buffer, &error),
                     HAUL_STATUS_ABSENT);
    assert_non_null(strstr(error.text, haul_buffer_kind_text(HAUL_BUFFER_MAPPED)));
    haul_device_close(device);
}

/* Pinned, write-combined and mapped memory is the host's, managed memory the device's. */
static void directions_follow_the_kinds_of_memory(void **state)
{
    (void)state;
    haul_device one = {0}, other = {0};
    char host[1];
    for (int kind = 0; kind < HAUL_BUFFER_KINDS; kind++) {
        haul_buffer buffer = {.device = &one, .kind = (haul_buffer_kind)kind};
        haul_buffer same = {.device = &one}, far = {.device = &other};
        const bool is_devices = kind == HAUL_BUFFER_DEVICE || kind == HAUL_BUFFER_MANAGED;
        haul_transfer transfer = {.to = haul_in_buffer(&buffer, 0), .from = haul_in_host(host)};
        assert_int_equal(haul_transfer_direction(&transfer),
                         is_devices ? HAUL_DIRECTION_HTOD : HAUL_DIRECTION_HTOH);
        transfer.from = haul_in_buffer(&same, 0);
        assert_int_equal(haul_transfer_direction(&transfer),
                         is_devices ? HAUL_DIRECTION_DTOD : HAUL_DIRECTION_DTOH);
        transfer.from = haul_in_buffer(&far, 0);
        assert_int_equal(haul_transfer_direction(&transfer),
                         is_devices ? HAUL_DIRECTION_PTOP : HAUL_DIRECTION_DTOH);
    }
}

static void one_run_of_bytes_is_flat(void **state)
{
    (void)state;
    assert_true(haul_transfer_is_flat(&(haul_transfer){.size = {100, 1, 1}}));
    assert_false(haul_transfer_is_flat(&(haul_transfer){.size = {100, 2, 1}}));
    assert_false(haul_transfer_is_flat(&(haul_transfer){.size = {100, 1, 2}}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backend_is_opened_as_a_device),
        cmocka_unit_test(a_kind_that_it_lacks_is_named),
        cmocka_unit_test(directions_follow_the_kinds_of_memory),
        cmocka_unit_test(one_run_of_bytes_is_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
