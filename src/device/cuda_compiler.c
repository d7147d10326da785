#include "device/cuda_compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/library.h"
#include "device/compile_log.h"

enum { TARGETS = 64 };

static const struct {
    const char *nvidia, *amd;
    size_t offset; /* in hl_device_cu_compiler */
} names[] = {
#define NAME(member, name, parameters)                                                             \
    {"nvrtc" #name, "hiprtc" #name, offsetof(hl_device_cu_compiler, member)},
    HL_DEVICE_RTC_FUNCTIONS(NAME)
#undef NAME
#define NAME(member, nvidia, amd, parameters)                                                      \
    {nvidia, amd, offsetof(hl_device_cu_compiler, member)},
        HL_DEVICE_RTC_OWN_FUNCTIONS(NAME)
#undef NAME
};

/* The newest first; the last two where no version says which they are. */
static const char *const nvidia_libraries[] = {
    "libnvrtc.so.13",
    "/usr/local/cuda-13/lib64/libnvrtc.so.13",
    "libnvrtc.so.12",
    "/usr/local/cuda-12/lib64/libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "/usr/local/cuda-11/lib64/libnvrtc.so.11.2",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
};

/* Older ones have it in HIP's own library. */
static const char *const amd_libraries[] = {
    "libhiprtc.so.7",   "libhiprtc.so.6", "libhiprtc.so.5", "/opt/rocm/lib/libhiprtc.so",
    "libamdhip64.so.5",
};

static const char *find_functions(hl_device_cu_compiler *self, void *library)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = self->is_hip ? names[i].amd : names[i].nvidia;
        if (name && !hl_base_library_function(library, name, (char *)self + names[i].offset))
            return name;
    }
    return NULL;
}

static bool try_library(hl_device_cu_compiler *self, const char *path, int most_major,
                        haul_error *error)
{
    void *library = hl_base_library_open((const char *const[]){path, NULL});
    if (!library)
        return false;
    const char *lacks = find_functions(self, library);
    if (lacks) {
        haul_error_set(error, HAUL_STATUS_ABSENT, "'%s' has no %s: it is too old", path, lacks);
        return false;
    }
    if (self->version(&self->major, &self->minor))
        return false;
    if (most_major && self->major > most_major) {
        haul_error_set(error, HAUL_STATUS_ABSENT, "'%s' is of CUDA %d, the driver of CUDA %d", path,
                       self->major, most_major);
        return false;
    }
    /* Versions are the same for releases of one minor version, whose code differs. */
    const char *const file = hl_base_library_file(library);
    struct stat is = {.st_size = 0};
    (void)stat(file ? file : path, &is);
    (void)snprintf(self->file, sizeof self->file, "%.240s %lld %lld", file ? file : path,
                   (long long)is.st_size, (long long)is.st_mtime);
    return true;
}

haul_status hl_device_cu_compiler_load(hl_device_cu_compiler *self, bool is_hip, int most_major,
                                       haul_error *error)
{
    const char *const *paths = is_hip ? amd_libraries : nvidia_libraries;
    const size_t count = is_hip ? sizeof amd_libraries / sizeof *amd_libraries
                                : sizeof nvidia_libraries / sizeof *nvidia_libraries;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is read, as every library does
    const char *given = getenv(is_hip ? "HIPRTC_PATH" : "NVRTC_PATH");
    /* a * b + c is rounded twice, as on the host: fma() is written where it is meant */
    *self = (hl_device_cu_compiler){
        .is_hip = is_hip,
        .rounding = is_hip ? "-ffp-contract=off" : "--fmad=false",
    };
    haul_error_set(
        error, HAUL_STATUS_ABSENT,
        is_hip ? "no libhiprtc.so, which compiles kernels: AMD's ROCm brings it"
               : "no libnvrtc.so, which compiles kernels: the CUDA toolkit brings it, or the "
                 "Python package nvidia-cuda-nvrtc; NVRTC_PATH may name it");
    if (is_hip)
        most_major = 0;
    if (given && *given)
        return try_library(self, given, most_major, error) ? HAUL_OK : HAUL_STATUS_ABSENT;
    for (size_t i = 0; i < count; i++)
        if (try_library(self, paths[i], most_major, error))
            return HAUL_OK;
    return HAUL_STATUS_ABSENT;
}

haul_status hl_device_cu_compiler_aim(hl_device_cu_compiler *self, int capability,
                                      haul_error *error)
{
    int known[TARGETS], count = 0, best = 0;
    if (self->is_hip)
        return HAUL_OK;
    if (self->target_count(&count) || count > TARGETS || self->targets(known))
        return haul_error_set(error, HAUL_STATUS_ABSENT, "NVRTC does not tell which GPUs it knows");
    for (int i = 0; i < count; i++)
        if (known[i] <= capability && known[i] > best)
            best = known[i];
    if (!best)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "NVRTC %d.%d does not know GPUs of compute capability %d.%d any more",
                              self->major, self->minor, capability / 10, capability % 10);
    self->is_ptx = best != capability;
    snprintf(self->option, sizeof self->option, "--gpu-architecture=%s_%d",
             self->is_ptx ? "compute" : "sm", best);
    return HAUL_OK;
}

static haul_status fail_compile(const hl_device_cu_compiler *self, hl_device_rtc program,
                                const haul_kernel_source *source, haul_error *error)
{
    size_t size = 0;
    char *log = self->log_size(program, &size) || !size ? NULL : malloc(size);
    if (log && self->log(program, log))
        log[0] = '\0';
    const haul_status status = hl_device_fail_compile(source, log ? log : "it says nothing", error);
    free(log);
    return status;
}

static haul_status take_image(const hl_device_cu_compiler *self, hl_device_rtc program,
                              hl_device_cu_image *image, haul_error *error)
{
    hl_device_cu_image made = {.size = 0};
    if ((self->is_ptx ? self->ptx_size : self->code_size)(program, &made.size) || !made.size)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "the compiler gives no code");
    made.bytes = malloc(made.size);
    if (!made.bytes)
        return hl_base_fail_no_memory(error);
    if ((self->is_ptx ? self->ptx : self->code)(program, made.bytes)) {
        free(made.bytes);
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "the compiler gives no code");
    }
    *image = made;
    return HAUL_OK;
}

haul_status hl_device_cu_compile(const hl_device_cu_compiler *self,
                                 const haul_kernel_source *source, const char *text,
                                 hl_device_cu_image *image, haul_error *error)
{
    const char *const options[] = {self->rounding, self->option};
    hl_device_rtc program;
    haul_status status;
    if (self->create(&program, text, source->file, 0, NULL, NULL))
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "the compiler takes no kernel '%s'",
                              source->name);
    if (self->compile(program, self->is_hip ? 1 : 2, options))
        status = fail_compile(self, program, source, error);
    else
        status = take_image(self, program, image, error);
    self->destroy(&program);
    return status;
}
