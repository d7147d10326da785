/* The recorders as bytes of the program, where the build puts them inside. */
#include "cli/recorders_inside.h"

/* The portable build defines the paths of the recorders' files, whose bytes the assembler takes. */
#define FILE_INSIDE(symbol, path)                                                                  \
    __asm__(".section .rodata\n.balign 8\n" #symbol ":\n.incbin \"" path "\"\n" #symbol            \
            "_end:\n.previous\n");                                                                 \
    extern const unsigned char symbol[];                                                           \
    extern const unsigned char symbol##_end[]

#ifdef HAUL_OPENCL_RECORDER
FILE_INSIDE(hl_cli_opencl_recorder_bytes, HAUL_OPENCL_RECORDER);
#endif
#ifdef HAUL_CUDA_RECORDER
FILE_INSIDE(hl_cli_cuda_recorder_bytes, HAUL_CUDA_RECORDER);
#endif

haul_recorder_image hl_cli_opencl_recorder_inside(void)
{
#ifdef HAUL_OPENCL_RECORDER
    return (haul_recorder_image){
        hl_cli_opencl_recorder_bytes,
        (size_t)(hl_cli_opencl_recorder_bytes_end - hl_cli_opencl_recorder_bytes)};
#else
    return (haul_recorder_image){0};
#endif
}

haul_recorder_image hl_cli_cuda_recorder_inside(void)
{
#ifdef HAUL_CUDA_RECORDER
    return (haul_recorder_image){
        hl_cli_cuda_recorder_bytes,
        (size_t)(hl_cli_cuda_recorder_bytes_end - hl_cli_cuda_recorder_bytes)};
#else
    return (haul_recorder_image){0};
#endif
}
