// Declarations in src/device of HIP, held against AMD's header as it compiles; cuda_declarations.cc.
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1 // templates of the same names
#include <hip/hip_runtime_api.h>

#include "device/cuda_api.h"
#include "same_declaration.h"

#define CHECK(member, cuda, hip, parameters)                                                       \
    static_assert(same_declaration<decltype(hl_device_cu_api::member), decltype(&hip)>::value,     \
                  #hip);
HL_DEVICE_CU_FUNCTIONS(CHECK)
#undef CHECK
#define CHECK(member, name, result, parameters)                                                    \
    static_assert(same_declaration<decltype(hl_device_cu_api::member), decltype(&name)>::value,    \
                  #name);
HL_DEVICE_HIP_ONLY(CHECK)
#undef CHECK

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(HL_DEVICE_CU_OUT_OF_MEMORY, hipErrorOutOfMemory);
SAME(HL_DEVICE_CU_NO_DEVICE, hipErrorNoDevice);
SAME(HL_DEVICE_CU_NOT_READY, hipErrorNotReady);
SAME(HL_DEVICE_CU_PEER_ALREADY_ENABLED, hipErrorPeerAccessAlreadyEnabled);
SAME(HL_DEVICE_CU_STREAM_NON_BLOCKING, hipStreamNonBlocking);
SAME(HL_DEVICE_CU_HOST_PORTABLE, hipHostMallocPortable);
SAME(HL_DEVICE_CU_HOST_PORTABLE, hipHostRegisterPortable);
SAME(HL_DEVICE_CU_HOST_MAPPED, hipHostMallocMapped);
SAME(HL_DEVICE_CU_HOST_WRITE_COMBINED, hipHostMallocWriteCombined);
SAME(HL_DEVICE_CU_ATTACH_GLOBAL, hipMemAttachGlobal);
SAME(HL_DEVICE_CU_CPU, hipCpuDeviceId);
SAME(HL_DEVICE_HIP_COPY_DEFAULT, hipMemcpyDefault);

enum {
#define NUMBER(name, cuda, hip) OURS_##name = hip,
    HL_DEVICE_CU_ATTRIBUTES(NUMBER)
#undef NUMBER
};
SAME(OURS_CLOCK_KHZ, hipDeviceAttributeClockRate);
SAME(OURS_MULTIPROCESSORS, hipDeviceAttributeMultiprocessorCount);
SAME(OURS_INTEGRATED, hipDeviceAttributeIntegrated);
SAME(OURS_MAPS_HOST, hipDeviceAttributeCanMapHostMemory);
SAME(OURS_MEMORY_CLOCK_KHZ, hipDeviceAttributeMemoryClockRate);
SAME(OURS_MEMORY_BUS_BITS, hipDeviceAttributeMemoryBusWidth);
SAME(OURS_L2_BYTES, hipDeviceAttributeL2CacheSize);
SAME(OURS_COPY_ENGINES, hipDeviceAttributeAsyncEngineCount);
SAME(OURS_MAJOR, hipDeviceAttributeComputeCapabilityMajor);
SAME(OURS_MINOR, hipDeviceAttributeComputeCapabilityMinor);
SAME(OURS_MANAGED_MEMORY, hipDeviceAttributeManagedMemory);
SAME(OURS_MANAGED_AT_ONCE, hipDeviceAttributeConcurrentManagedAccess);
SAME(OURS_MULTIPROCESSOR_BYTES, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
SAME(OURS_GROUP_BYTES, hipDeviceAttributeMaxSharedMemoryPerBlock);
