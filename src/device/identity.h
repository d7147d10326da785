/* Identities, which distinguish devices of one name. */
#ifndef HAUL_DEVICE_IDENTITY_H
#define HAUL_DEVICE_IDENTITY_H

enum { HL_DEVICE_UUID_BYTES = 16, HL_DEVICE_IDENTITY_BYTES = 64 };

typedef struct hl_device_uuid {
    unsigned char bytes[HL_DEVICE_UUID_BYTES];
} hl_device_uuid;

/* "GPU-01234567-89ab-cdef-0123-456789abcdef", as nvidia-smi writes it; "" for one of zeros, which a
 * driver gives where the device has none. */
void hl_device_uuid_format(const hl_device_uuid *uuid, char text[HL_DEVICE_IDENTITY_BYTES]);

#endif
