/* Measured messages: what is read can be fitted, with figures that are finite and not negative;
 * what is refused has a reason. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/counts.h"
#include "comm/message_samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FITTED_MOST = 256 }; /* samples: the fuzzer is about the reader */

static void check_fit(const haul_message_samples *samples)
{
    const haul_message_fit_options options = {.breaks = 3};
    haul_message_fit fit;
    haul_error error;
    if (haul_message_fit_make(samples, &options, &fit, &error))
        return;
    for (size_t i = 0; i < fit.count; i++)
        for (size_t k = 0; k < fit.curves[i].count; k++) {
            const haul_message_piece *piece = &fit.curves[i].pieces[k];
            assert(isfinite(piece->latency_s) && piece->latency_s >= 0);
            assert(isfinite(piece->per_byte_s) && piece->per_byte_s >= 0);
            assert(isnan(piece->gap_s) || piece->gap_s >= 0);
        }
    haul_message_fit_free(&fit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const haul_message_source source = {.memory = HAUL_MEMORY_UNKNOWN,
                                        .reach = HAUL_REACH_BETWEEN_NODES};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    haul_message_samples samples = {0};
    haul_error error = {0};
    if (hl_comm_message_samples_parse(text, size, "fuzz", &source, &samples, &error))
        assert(error.status && error.text[0] && !strcmp(error.file, "fuzz"));
    else if (samples.count <= FITTED_MOST)
        check_fit(&samples);
    haul_message_samples_free(&samples);
    uint64_t counts[9];
    error = (haul_error){0};
    if (hl_comm_counts_parse(text, "fuzz", 3, counts, &error))
        assert(error.line > 0 && error.column > 0 && error.text[0]);
    free(text);
    return 0;
}
