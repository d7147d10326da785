/* Quantities: what is read can be written and read back as the same value. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "haul/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(double value, haul_dimension dimension)
{
    char text[64];
    haul_error error;
    double again = 0;
    haul_quantity_format(value, dimension, 17, text, sizeof text);
    assert(!haul_quantity_parse(text, dimension, &again, &error));
    assert(fabs(again - value) <= nextafter(fabs(value), HUGE_VAL) - fabs(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[128];
    if (!size || size >= sizeof text)
        return 0;
    const haul_dimension dimension = (haul_dimension)(data[0] % (HAUL_DIM_FLOPS + 1));
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    haul_error error;
    double value = 0;
    uint64_t bytes = 0;
    if (!haul_quantity_parse(text, dimension, &value, &error)) {
        assert(isfinite(value));
        check_round_trip(value, dimension);
    }
    if (!haul_bytes_parse(text, &bytes, &error))
        assert(bytes < UINT64_C(1) << 63);
    return 0;
}
