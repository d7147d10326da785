/* The list of measured messages, whatever the form that they are read from. */
#include <stdlib.h>

#include "base/fail.h"
#include "comm/message_samples.h"

enum { SAMPLES_FIRST = 64 };

haul_status hl_comm_message_sample_add(haul_message_samples *samples,
                                       const haul_message_sample *sample, haul_error *error)
{
    if (!(sample->seconds > 0 && sample->seconds <= 1e9))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected a duration above 0 and at most 1e9 seconds");
    if (sample->bytes > UINT64_C(1) << 53)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected at most 2^53 bytes");
    if (!sample->processes || sample->processes > HL_COMM_PROCESSES_MOST || !sample->messages ||
        sample->messages > HL_COMM_PROCESSES_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected 1 to %d processes and messages", HL_COMM_PROCESSES_MOST);
    /* the array doubles whenever its number is a power of two */
    if (!samples->count ||
        (samples->count >= SAMPLES_FIRST && !(samples->count & (samples->count - 1)))) {
        const size_t room = samples->count ? 2 * samples->count : SAMPLES_FIRST;
        haul_message_sample *items = realloc(samples->items, room * sizeof *items);
        if (!items)
            return hl_base_fail_no_memory(error);
        samples->items = items;
    }
    samples->items[samples->count++] = *sample;
    return HAUL_OK;
}

void haul_message_samples_free(haul_message_samples *samples)
{
    if (!samples)
        return;
    free(samples->items);
    *samples = (haul_message_samples){0};
}
