// Declarations in src/device of CUDA's driver and of NVRTC, held against NVIDIA's headers as it
// compiles: each function has as many parameters, of the same sizes and kinds, and the numbers are
// the same.
#include <cuda.h>
#include <nvrtc.h>

#include "device/cuda_api.h"
#include "device/cuda_compiler.h"
#include "same_declaration.h"

// CUDA 13's header declares its successor by this name; the driver has both.
#if CUDA_VERSION >= 13000
#undef cuMemPrefetchAsync
extern "C" CUresult cuMemPrefetchAsync(CUdeviceptr at, size_t count, CUdevice to, CUstream stream);
#endif

#define CHECK(member, cuda, hip, parameters)                                                       \
    static_assert(same_declaration<decltype(hl_device_cu_api::member), decltype(&cuda)>::value,    \
                  #cuda);
HL_DEVICE_CU_FUNCTIONS(CHECK)
#undef CHECK
#define CHECK(member, name, result, parameters)                                                    \
    static_assert(same_declaration<decltype(hl_device_cu_api::member), decltype(&name)>::value,    \
                  #name);
HL_DEVICE_CUDA_ONLY(CHECK)
#if CUDA_VERSION >= 12040
HL_DEVICE_CUDA_NEW(CHECK)
#endif
#undef CHECK
#define CHECK(member, name, parameters)                                                            \
    static_assert(                                                                                 \
        same_declaration<decltype(hl_device_cu_compiler::member), decltype(&nvrtc##name)>::value,  \
        #name);
HL_DEVICE_RTC_FUNCTIONS(CHECK)
#undef CHECK

#define OWN(member, name)                                                                          \
    static_assert(                                                                                 \
        same_declaration<decltype(hl_device_cu_compiler::member), decltype(&name)>::value, #name);
OWN(code_size, nvrtcGetCUBINSize)
OWN(code, nvrtcGetCUBIN)
OWN(ptx_size, nvrtcGetPTXSize)
OWN(ptx, nvrtcGetPTX)
OWN(target_count, nvrtcGetNumSupportedArchs)
OWN(targets, nvrtcGetSupportedArchs)

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(HL_DEVICE_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(HL_DEVICE_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(HL_DEVICE_CU_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(HL_DEVICE_CU_PEER_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(HL_DEVICE_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(HL_DEVICE_CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME(HL_DEVICE_CU_HOST_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE);
SAME(HL_DEVICE_CU_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(HL_DEVICE_CU_HOST_WRITE_COMBINED, CU_MEMHOSTALLOC_WRITECOMBINED);
SAME(HL_DEVICE_CU_ATTACH_GLOBAL, CU_MEM_ATTACH_GLOBAL);
SAME(HL_DEVICE_CU_IPC_LAZY_PEER, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(HL_DEVICE_CU_CPU, CU_DEVICE_CPU);
SAME(HL_DEVICE_CU_TYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED);
SAME(HL_DEVICE_CUDA_MOST_DYNAMIC, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);

enum {
#define NUMBER(name, cuda, hip) OURS_##name = cuda,
    HL_DEVICE_CU_ATTRIBUTES(NUMBER)
#undef NUMBER
};
SAME(OURS_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(OURS_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(OURS_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME(OURS_MAPS_HOST, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
SAME(OURS_MEMORY_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(OURS_MEMORY_BUS_BITS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(OURS_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(OURS_COPY_ENGINES, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
SAME(OURS_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(OURS_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(OURS_MANAGED_MEMORY, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
SAME(OURS_MANAGED_AT_ONCE, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
SAME(OURS_MULTIPROCESSOR_BYTES, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(OURS_GROUP_BYTES, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);

#define PLACE(ours, theirs)                                                                        \
    static_assert(offsetof(hl_device_cu_copy_3d, ours) == offsetof(CUDA_MEMCPY3D, theirs), #theirs)
static_assert(sizeof(hl_device_cu_copy_3d) == sizeof(CUDA_MEMCPY3D), "CUDA_MEMCPY3D");
PLACE(from.x, srcXInBytes);
PLACE(from.type, srcMemoryType);
PLACE(from.host, srcHost);
PLACE(from.device, srcDevice);
PLACE(from.pitch, srcPitch);
PLACE(from.height, srcHeight);
PLACE(to.x, dstXInBytes);
PLACE(to.type, dstMemoryType);
PLACE(to.device, dstDevice);
PLACE(to.pitch, dstPitch);
PLACE(to.height, dstHeight);
PLACE(width, WidthInBytes);
PLACE(depth, Depth);
