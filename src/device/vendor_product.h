/* Matrix products by the library of the device's vendor: cuBLAS, hipBLAS; of OpenCL CLBlast. Loaded
 * where they are installed, declared here. */
#ifndef HAUL_DEVICE_VENDOR_PRODUCT_H
#define HAUL_DEVICE_VENDOR_PRODUCT_H

#include "haul/device.h"

typedef struct haul_vendor haul_vendor;

typedef struct haul_vendor_product {
    haul_precision precision; /* FP64, FP32 or FP16 */
    int side; /* of the matrices, which are square and lie from their buffer's start */
    haul_buffer *a, *b, *c; /* c = a b, by rows */
} haul_vendor_product;

/* Returns ABSENT, naming the library, where the device has none or it is not installed. Free with
 * haul_vendor_close. */
haul_status haul_vendor_open(haul_device *device, haul_vendor **vendor, haul_error *error);
void haul_vendor_close(haul_vendor *vendor);

/* "cuBLAS" */
const char *haul_vendor_name(const haul_vendor *vendor);

/* Queues a product. Returns ABSENT for a precision that the library or the device lacks. */
haul_status haul_vendor_multiply(haul_vendor *vendor, haul_stream *stream,
                                 const haul_vendor_product *product, haul_error *error);

#endif
