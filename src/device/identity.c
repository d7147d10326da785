#include "device/identity.h"

#include <stdbool.h>
#include <stdio.h>

void hl_device_uuid_format(const hl_device_uuid *uuid, char text[HL_DEVICE_IDENTITY_BYTES])
{
    size_t used = (size_t)snprintf(text, HL_DEVICE_IDENTITY_BYTES, "GPU");
    bool is_given = false;
    for (int i = 0; i < HL_DEVICE_UUID_BYTES; i++) {
        const bool is_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        is_given = is_given || uuid->bytes[i];
        used += (size_t)snprintf(text + used, HL_DEVICE_IDENTITY_BYTES - used, "%s%02x",
                                 is_group ? "-" : "", (unsigned)uuid->bytes[i]);
    }
    if (!is_given)
        text[0] = '\0';
}
