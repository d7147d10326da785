#include "kineto_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAMES = 40, STEP = 1 << 20 };

/* One operator of PyTorch with what it calls and what runs for it, as Kineto spells it: the mix of
 * a training step of public traces, four events of the host to one of the GPU. */
static void put_operator(FILE *out, long i)
{
    const long us = 4458676000000 + 40 * i;
    for (int k = 0; k < 2; k++)
        fprintf(
            out,
            "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::operator_%ld_%d\", "
            "\"pid\": 2910249, \"tid\": 2919752,\n    \"ts\": %ld.%03ld, \"dur\": %ld.449,\n    "
            "\"args\": {\n      \"External id\": %ld,\"Record function id\": %ld, \"Sequence "
            "number\": %ld, \"Fwd thread id\": 1, \"Ev Idx\": %ld\n    }\n  },\n",
            i % NAMES, k, us + k, i % 1000, 30L - k, 2 * i + k, i, i % 9999, 2 * i + k);
    fprintf(
        out,
        "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
        "\"pid\": 2910249, \"tid\": 2919752,\n    \"ts\": %ld.%03ld, \"dur\": 4.577,\n    "
        "\"args\": {\n      \"External id\": %ld, \"cbid\": 211, \"correlation\": %ld\n    }\n  "
        "},\n  {\n    \"ph\": \"s\", \"id\": %ld, \"pid\": 2910249, \"tid\": 2919752, \"ts\": "
        "%ld.%03ld,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n",
        us + 5, i % 1000, i, i + 1, i + 1, us + 5, i % 1000);
    if (i % 16)
        fprintf(
            out,
            "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::"
            "vectorized_elementwise_kernel<4, at::native::CUDAFunctor_%ld<float>, "
            "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_%ld<float>, "
            "at::detail::Array<char*, 3>)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": %ld.%03ld, "
            "\"dur\": 21.344,\n    \"args\": {\n      \"External id\": %ld, \"queued\": 0, "
            "\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %ld, \"registers per "
            "thread\": 40, \"shared memory\": 400, \"blocks per SM\": 4.740741, \"warps per SM\": "
            "75.851852, \"grid\": [%ld, 1, 1], \"block\": [512, 1, 1], \"est. achieved occupancy "
            "%%\": 75\n    }\n  },\n",
            i % NAMES, i % NAMES, us + 12, i % 1000, i, i + 1, 1 + i % 64);
    else
        fprintf(
            out,
            "  {\n    \"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> "
            "Device)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": %ld.%03ld, \"dur\": 12.5,\n    "
            "\"args\": {\n      \"External id\": %ld, \"device\": 0, \"context\": 1, \"stream\": "
            "7, \"correlation\": %ld, \"bytes\": %ld, \"memory bandwidth (GB/s)\": 7.744\n    }\n"
            "  },\n",
            us + 12, i % 1000, i, i + 1, 4096 + i % 999);
    fprintf(out,
            "  {\n    \"ph\": \"f\", \"id\": %ld, \"pid\": 0, \"tid\": 7, \"ts\": %ld.%03ld,\n    "
            "\"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  },\n",
            i + 1, us + 12, i % 1000);
}

void kineto_trace_write(const char *path, double megabytes, long rank)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        exit(2);
    }
    fputs("{\n  \"schemaVersion\": 1,\n", out);
    if (rank >= 0)
        fprintf(out, "  \"distributedInfo\": {\"rank\": %ld},\n", rank);
    fputs("  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA A100\", \"totalGlobalMem\": "
          "42297524224, \"numSms\": 108}],\n  \"traceEvents\": [\n",
          out);
    for (long i = 0; (double)ftell(out) < 1e6 * megabytes; i++)
        put_operator(out, i);
    fputs("  {\"ph\": \"i\", \"name\": \"end\", \"ts\": 0}\n  ]\n}\n", out);
    fflush(out);
    fsync(fileno(out)); /* else the kernel writes it out while it is read */
    fclose(out);
}

void kineto_trace_cache(const char *path)
{
    static char buffer[STEP];
    FILE *in = fopen(path, "r");
    while (in && fread(buffer, 1, sizeof buffer, in))
        ;
    if (in)
        fclose(in);
}
