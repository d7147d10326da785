#include "device/vendor_product.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"
#include "device/cuda_device.h"
#ifdef HAUL_HAS_OPENCL
#include "device/opencl_device.h"
#endif

/* cublasOperation_t and hipblasOperation_t; Layout and Transpose of CLBlast. */
enum { CUBLAS_AS_IT_IS = 0, HIPBLAS_AS_IT_IS = 111, CLBLAST_ROWS = 101, CLBLAST_AS_IT_IS = 111 };

/* 1 and 0 in half precision. */
static const uint16_t half_one = 0x3c00, half_zero = 0;

/* <t>gemm of cuBLAS and of hipBLAS: numbers by address, of the precision. */
typedef int (*cu_multiply)(void *handle, int how_a, int how_b, int m, int n, int k,
                           const void *alpha, hl_device_cu_address a, int row_a,
                           hl_device_cu_address b, int row_b, const void *beta,
                           hl_device_cu_address c, int row_c);

#ifdef HAUL_HAS_OPENCL
/* CLBlast<T>gemm: numbers by value. */
#define CL_MULTIPLY(type)                                                                          \
    int (*)(int layout, int how_a, int how_b, size_t m, size_t n, size_t k, type alpha, cl_mem a,  \
            size_t from_a, size_t row_a, cl_mem b, size_t from_b, size_t row_b, type beta,         \
            cl_mem c, size_t from_c, size_t row_c, cl_command_queue *queue, cl_event *event)
#endif

enum { PRECISIONS = 3 };

struct hl_device_vendor {
    haul_device *device;
    const char *name;
    void *handle; /* cuBLAS's or hipBLAS's */
    int (*make)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, hl_device_cu stream);
    void (*multiply[PRECISIONS])(void); /* double, single, half; NULL: there is none */
    haul_status (*run)(hl_device_vendor *self, haul_stream *stream,
                       const hl_device_vendor_product *product, int precision, haul_error *error);
};

/* A library of BLAS: its files and its functions; the first three may be NULL. */
typedef struct library {
    const char *kind; /* of devices */
    const char *name;
    const char *files[5];
    const char *make, *destroy, *set_stream;
    const char *multiply[PRECISIONS];
    const char *package;
} library;

static const library libraries[] = {
    {"cuda",
     "cuBLAS",
     {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
      "/usr/local/cuda/lib64/libcublas.so"},
     "cublasCreate_v2",
     "cublasDestroy_v2",
     "cublasSetStream_v2",
     {"cublasDgemm_v2", "cublasSgemm_v2", "cublasHgemm"},
     "the CUDA toolkit"},
    {"hip",
     "hipBLAS",
     {"libhipblas.so.3", "libhipblas.so.2", "libhipblas.so.0", "/opt/rocm/lib/libhipblas.so"},
     "hipblasCreate",
     "hipblasDestroy",
     "hipblasSetStream",
     {"hipblasDgemm", "hipblasSgemm", "hipblasHgemm"},
     "ROCm"},
    {"opencl",
     "CLBlast",
     {"libclblast.so.1"},
     NULL,
     NULL,
     NULL,
     {"CLBlastDgemm", "CLBlastSgemm", "CLBlastHgemm"},
     "libclblast1"},
};

static haul_status failed(const hl_device_vendor *self, int code, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "%s failed with code %d", self->name,
                          code);
}

static haul_status run_cuda(hl_device_vendor *self, haul_stream *stream,
                            const hl_device_vendor_product *product, int precision,
                            haul_error *error)
{
    static const double one = 1, zero = 0;
    static const float one_single = 1, zero_single = 0;
    const void *const ones[] = {&one, &one_single, &half_one};
    const void *const zeros[] = {&zero, &zero_single, &half_zero};
    const hl_device_cu_device *device = (const hl_device_cu_device *)self->device;
    const int how = device->api.is_hip ? HIPBLAS_AS_IT_IS : CUBLAS_AS_IT_IS;
    const int m = product->columns, n = product->rows, k = product->inner;
    const cu_multiply multiply = (cu_multiply)self->multiply[precision];
    HL_DEVICE_CU_VISIT(device);
    HAUL_TRY(hl_device_cu_enter(device, error));
    /* by columns b comes first: the rows of a b are the columns of its transpose */
    int code = self->set_stream(self->handle, ((const hl_device_cu_stream *)stream)->handle);
    if (!code)
        code = multiply(self->handle, how, how, m, n, k, ones[precision],
                        ((const hl_device_cu_buffer *)product->b)->at, m,
                        ((const hl_device_cu_buffer *)product->a)->at, k, zeros[precision],
                        ((const hl_device_cu_buffer *)product->c)->at, m);
    return code ? failed(self, code, error) : HAUL_OK;
}

#ifdef HAUL_HAS_OPENCL
/* Asked before CLBlast, which writes to the program's stderr where the device has not the
 * precision. */
static bool lacks_precision(const haul_stream *stream, int precision)
{
    static const char *const needed[] = {"cl_khr_fp64", "", "cl_khr_fp16"};
    const hl_device_cl_device *device = (const hl_device_cl_device *)stream->device;
    char extensions[8192] = "";
    return device->api.clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1,
                                       extensions, NULL) == CL_SUCCESS &&
           !strstr(extensions, needed[precision]);
}

static haul_status run_opencl(hl_device_vendor *self, haul_stream *stream,
                              const hl_device_vendor_product *product, int precision,
                              haul_error *error)
{
    const size_t m = (size_t)product->rows, n = (size_t)product->columns;
    const size_t k = (size_t)product->inner;
    cl_command_queue *queue = &((hl_device_cl_stream *)stream)->queue;
    void (*const multiply)(void) = self->multiply[precision];
    cl_mem a = ((hl_device_cl_buffer *)product->a)->mem,
           b = ((hl_device_cl_buffer *)product->b)->mem;
    cl_mem c = ((hl_device_cl_buffer *)product->c)->mem;
    int code;
    if (lacks_precision(stream, precision))
        return haul_error_set(error, HAUL_STATUS_ABSENT, "the device lacks the precision");
#define CL_RUN(type, one, zero)                                                                    \
    ((CL_MULTIPLY(type))multiply)(CLBLAST_ROWS, CLBLAST_AS_IT_IS, CLBLAST_AS_IT_IS, m, n, k, one,  \
                                  a, 0, k, b, 0, n, zero, c, 0, n, queue, NULL)
    if (precision == 0)
        code = CL_RUN(double, 1, 0);
    else if (precision == 1)
        code = CL_RUN(float, 1, 0);
    else
        code = CL_RUN(uint16_t, half_one, half_zero);
#undef CL_RUN
    return code ? failed(self, code, error) : HAUL_OK;
}
#endif

static haul_status load_vendor(hl_device_vendor *self, const library *of, haul_error *error)
{
    void *loaded = hl_base_library_open(of->files);
    if (!loaded)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "no %s: %s brings it", of->name,
                              of->package);
    if (of->make && !(hl_base_library_function(loaded, of->make, &self->make) &&
                      hl_base_library_function(loaded, of->destroy, &self->destroy) &&
                      hl_base_library_function(loaded, of->set_stream, &self->set_stream)))
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "%s of another version: '%s' has not all of %s, %s, %s", of->name,
                              hl_base_library_file(loaded), of->make, of->destroy, of->set_stream);
    for (int i = 0; i < PRECISIONS; i++)
        (void)hl_base_library_function(loaded, of->multiply[i], &self->multiply[i]);
    self->name = of->name;
    if (!self->make)
        return HAUL_OK;
    HL_DEVICE_CU_VISIT((const hl_device_cu_device *)self->device);
    const haul_status status = hl_device_cu_enter((const hl_device_cu_device *)self->device, error);
    const int code = status ? 0 : self->make(&self->handle);
    return code ? haul_error_set(error, HAUL_STATUS_ABSENT,
                                 "%s does not run on this device (code %d)", self->name, code)
                : status;
}

haul_status hl_device_vendor_open(haul_device *device, hl_device_vendor **vendor, haul_error *error)
{
    const library *of = libraries;
    const library *const end = libraries + sizeof libraries / sizeof *libraries;
    while (of < end && strcmp(of->kind, device->backend->kind) != 0)
        of++;
    if (of == end)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "no vendor's library is for device '%s'",
                              device->name);
    hl_device_vendor *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->device = device;
    self->run = run_cuda;
#ifdef HAUL_HAS_OPENCL
    if (!of->make)
        self->run = run_opencl;
#endif
    const haul_status status = load_vendor(self, of, error);
    if (status) {
        free(self);
        return status;
    }
    *vendor = self;
    return HAUL_OK;
}

void hl_device_vendor_close(hl_device_vendor *vendor)
{
    if (vendor && vendor->handle) {
        HL_DEVICE_CU_VISIT((const hl_device_cu_device *)vendor->device);
        if (!hl_device_cu_enter((const hl_device_cu_device *)vendor->device, NULL))
            vendor->destroy(vendor->handle);
    }
    free(vendor);
}

const char *hl_device_vendor_name(const hl_device_vendor *vendor)
{
    return vendor->name;
}

haul_status hl_device_vendor_multiply(hl_device_vendor *vendor, haul_stream *stream,
                                      const hl_device_vendor_product *product, haul_error *error)
{
    static const haul_precision precisions[PRECISIONS] = {HAUL_PRECISION_FP64, HAUL_PRECISION_FP32,
                                                          HAUL_PRECISION_FP16};
    int i = 0;
    while (i < PRECISIONS && precisions[i] != product->precision)
        i++;
    if (i == PRECISIONS || !vendor->multiply[i])
        return haul_error_set(error, HAUL_STATUS_ABSENT, "%s has no product in this precision",
                              vendor->name);
    return vendor->run(vendor, stream, product, i, error);
}
