#include <cstdio>
#include <cstdlib>

#include "board.h"
#include "kernels.cu"

static cudaEvent_t start, end;

static void must(cudaError_t status, const char *call)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "kernels: %s failed: %s\n", call, cudaGetErrorString(status));
    exit(1);
}

const char *board_open(void)
{
    static cudaDeviceProp properties;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || !count) {
        fputs("kernels: no CUDA device\n", stderr);
        exit(4);
    }
    must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    must(cudaEventCreate(&start), "cudaEventCreate");
    must(cudaEventCreate(&end), "cudaEventCreate");
    return properties.name;
}

void board_close(void)
{
    cudaEventDestroy(start);
    cudaEventDestroy(end);
}

template <typename T> static T *copy_of(const T *data, size_t count)
{
    T *copy = nullptr;
    must(cudaMalloc(&copy, count * sizeof(T)), "cudaMalloc");
    if (data)
        must(cudaMemcpy(copy, data, count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return copy;
}

/* Times launches: one that does not count, then the others. */
template <typename Launch>
static void time_launches(Launch launch, int repetitions, double *seconds)
{
    for (int i = -1; i < repetitions; i++) {
        float ms = 0;
        must(cudaEventRecord(start), "cudaEventRecord");
        launch();
        must(cudaGetLastError(), "the launch");
        must(cudaEventRecord(end), "cudaEventRecord");
        must(cudaEventSynchronize(end), "cudaEventSynchronize");
        must(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
        if (i >= 0)
            seconds[i] = ms * 1e-3;
    }
}

void board_matmul(int variant, int n, const float *a, const float *b, float *c, int repetitions,
                  double *seconds)
{
    static void (*const kernels[MATMULS])(const float *, const float *, float *, int) = {
        matmul_global_uncoalesced, matmul_global, matmul_shared_uncoalesced, matmul_shared};
    const size_t count = (size_t)n * n;
    const unsigned blocks = (unsigned)(n + BOARD_TILE - 1) / BOARD_TILE;
    const dim3 grid(blocks, blocks), block(BOARD_TILE, BOARD_TILE);
    float *left = copy_of(a, count), *right = copy_of(b, count), *out = copy_of<float>(0, count);
    time_launches([&] { kernels[variant]<<<grid, block>>>(left, right, out, n); }, repetitions,
                  seconds);
    must(cudaMemcpy(c, out, count * sizeof *c, cudaMemcpyDeviceToHost), "cudaMemcpy");
    cudaFree(left);
    cudaFree(right);
    cudaFree(out);
}

void board_max_subarray(int n, const int *x, int *results, int repetitions, double *seconds)
{
    const size_t count = (size_t)BOARD_RESULTS * BOARD_BLOCKS * BOARD_WIDTH;
    int *elements = copy_of(x, n), *out = copy_of<int>(0, count);
    time_launches([&] { max_subarray<<<BOARD_BLOCKS, BOARD_WIDTH>>>(elements, out, n); },
                  repetitions, seconds);
    must(cudaMemcpy(results, out, count * sizeof *results, cudaMemcpyDeviceToHost), "cudaMemcpy");
    cudaFree(elements);
    cudaFree(out);
}
