/* Matrix products by the library of the device's vendor: cuBLAS, hipBLAS; of OpenCL CLBlast. Loaded
 * where they are installed, declared here. */
#ifndef HAUL_DEVICE_VENDOR_PRODUCT_H
#define HAUL_DEVICE_VENDOR_PRODUCT_H

#include "haul/device.h"

typedef struct hl_device_vendor hl_device_vendor;

typedef struct hl_device_vendor_product {
    haul_precision precision; /* FP64, FP32 or FP16 */
    int rows, columns, inner;
    haul_buffer *a, *b, *c; /* c = a b, by rows, rows x inner by inner x columns; each lies from its
                             * buffer's start */
} hl_device_vendor_product;

/* Returns ABSENT, naming the library, where the device has none or it is not installed. Free with
 * hl_device_vendor_close. */
haul_status hl_device_vendor_open(haul_device *device, hl_device_vendor **vendor,
                                  haul_error *error);
void hl_device_vendor_close(hl_device_vendor *vendor);

/* "cuBLAS" */
const char *hl_device_vendor_name(const hl_device_vendor *vendor);

/* Queues a product. Returns ABSENT for a precision that the library or the device lacks. */
haul_status hl_device_vendor_multiply(hl_device_vendor *vendor, haul_stream *stream,
                                      const hl_device_vendor_product *product, haul_error *error);

#endif
