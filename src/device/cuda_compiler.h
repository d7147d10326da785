/* The compilers of kernels at run time: NVRTC, and HIP's hiprtc, of which the names differ and
 * little else. They run without a GPU. */
#ifndef HAUL_DEVICE_CUDA_COMPILER_H
#define HAUL_DEVICE_CUDA_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/device.h"

typedef struct hl_device_rtc_program *hl_device_rtc;

/* X(member, name, parameters); "nvrtc" or "hiprtc" comes before the name */
#define HL_DEVICE_RTC_FUNCTIONS(X)                                                                 \
    X(version, Version, (int *major, int *minor))                                                  \
    X(create, CreateProgram,                                                                       \
      (hl_device_rtc * program, const char *text, const char *name, int header_count,              \
       const char *const *headers, const char *const *header_names))                               \
    X(compile, CompileProgram,                                                                     \
      (hl_device_rtc program, int option_count, const char *const *options))                       \
    X(destroy, DestroyProgram, (hl_device_rtc * program))                                          \
    X(log_size, GetProgramLogSize, (hl_device_rtc program, size_t * bytes))                        \
    X(log, GetProgramLog, (hl_device_rtc program, char *log))

/* X(member, NVRTC's name, hiprtc's or NULL, parameters) */
#define HL_DEVICE_RTC_OWN_FUNCTIONS(X)                                                             \
    X(code_size, "nvrtcGetCUBINSize", "hiprtcGetCodeSize",                                         \
      (hl_device_rtc program, size_t * bytes))                                                     \
    X(code, "nvrtcGetCUBIN", "hiprtcGetCode", (hl_device_rtc program, char *code))                 \
    X(ptx_size, "nvrtcGetPTXSize", NULL, (hl_device_rtc program, size_t * bytes))                  \
    X(ptx, "nvrtcGetPTX", NULL, (hl_device_rtc program, char *ptx))                                \
    X(target_count, "nvrtcGetNumSupportedArchs", NULL, (int *count))                               \
    X(targets, "nvrtcGetSupportedArchs", NULL, (int *targets))

typedef struct hl_device_cu_compiler {
    bool is_hip;
    int major, minor;
    char file[300];       /* that it was loaded from, with size and time where that is a path */
    char option[40];      /* the GPU that is compiled for */
    const char *rounding; /* the option that keeps a * b + c from being rounded once */
    bool is_ptx;          /* PTX for one before it, which the driver compiles further */
#define HL_DEVICE_RTC_MEMBER(member, name, parameters) int(*member) parameters;
    HL_DEVICE_RTC_FUNCTIONS(HL_DEVICE_RTC_MEMBER)
#undef HL_DEVICE_RTC_MEMBER
#define HL_DEVICE_RTC_MEMBER(member, nvidia, amd, parameters) int(*member) parameters;
    HL_DEVICE_RTC_OWN_FUNCTIONS(HL_DEVICE_RTC_MEMBER)
#undef HL_DEVICE_RTC_MEMBER
} hl_device_cu_compiler;

/* Loads $NVRTC_PATH or $HIPRTC_PATH, else the newest that is found, of CUDA's major version
 * `most_major` or an older one where that is not 0: a driver takes nothing newer. Returns ABSENT,
 * with what would bring it. */
haul_status hl_device_cu_compiler_load(hl_device_cu_compiler *self, bool is_hip, int most_major,
                                       haul_error *error);

/* Says for which GPU: `capability` is 10 times its compute capability. hiprtc takes the one that is
 * current. Returns ABSENT for a GPU older than the compiler knows. */
haul_status hl_device_cu_compiler_aim(hl_device_cu_compiler *self, int capability,
                                      haul_error *error);

typedef struct hl_device_cu_image {
    char *bytes; /* the heap's */
    size_t size;
} hl_device_cu_image;

/* Compiles `text`, of haul_kernel_text. The caller frees image->bytes. Returns BAD_INPUT as
 * hl_device_fail_compile does. */
haul_status hl_device_cu_compile(const hl_device_cu_compiler *self,
                                 const haul_kernel_source *source, const char *text,
                                 hl_device_cu_image *image, haul_error *error);

#endif
