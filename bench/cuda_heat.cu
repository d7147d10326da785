/* The heat equation of bench_tiles in CUDA written by hand, to compare the tile runtime with: the
 * same values, steps and checksum. Not built by CMake: nvcc -O3 -arch=native -Xcompiler -fopenmp.
 *
 * cuda_heat core SIZE STEPS                         both arrays on the device
 * cuda_heat streams SIZE STEPS MEGABYTES            out of core, a time step a pass
 * cuda_heat blocked SIZE STEPS MEGABYTES A_PASS     A_PASS steps a pass, on slabs with wide halos
 * cuda_heat ring SIZE STEPS MEGABYTES A_PASS        the same in a ring, nothing computed twice
 * cuda_heat managed|prefetched SIZE STEPS           managed memory, without and with prefetches
 *
 * Out of core a slab of planes goes through three streams: copy in, kernels, copy out. Times are
 * from the host's array to the host's array, the least of three. Exit code 3 where managed arrays
 * would take more than half of the device's free memory: a card can hang when they do not fit. */
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

static void must(cudaError_t result, const char *call, int line)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "cuda_heat: line %d: %s: %s\n", line, call, cudaGetErrorString(result));
    exit(1);
}

#define MUST(call) must(call, #call, __LINE__)

/* Cells -1 to n in each dimension. Rows begin on a line of 128 bytes; the cells right of a row and
 * left of the next one share the gap between them. */
struct shape {
    int n;
    int row; /* elements */
    size_t plane;

    explicit shape(int size)
        : n(size), row((size + LINE - 1) / LINE * LINE + LINE), plane((size_t)row * (size + 3))
    {
    }

    __host__ __device__ size_t at(int x, int y, int z) const
    {
        return (size_t)(z + 1) * plane + (size_t)(y + 1) * row + LINE + x;
    }

    size_t bytes(int planes) const
    {
        return planes * plane * sizeof(double);
    }

    static const int LINE = 16;
};

static double seconds()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static void fill(double *cells, const shape &s)
{
#pragma omp parallel for
    for (int z = -1; z <= s.n; z++)
        for (int y = -1; y <= s.n; y++)
            for (int x = -1; x <= s.n; x++)
                cells[s.at(x, y, z)] = ((z + 1) * 31 + (y + 1) * 17 + x * 7) % 101 / 101.0;
}

static double checksum(const double *cells, const shape &s)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int z = 0; z < s.n; z++)
        for (int y = 0; y < s.n; y++)
            for (int x = 0; x < s.n; x++)
                sum += cells[s.at(x, y, z)] * (((z + 1) * 7 + (y + 1) * 3 + x) % 13);
    return sum;
}

/* One step of planes [from, to) of a buffer. A thread goes along z with three cells in registers;
 * the neighbours in x and y come from the cache. `edges`: the cells beyond the edges in x and y
 * are copied too, for buffers that do not have them. `is_ring`: buffers are rings of planes. */
template <bool edges, bool is_ring>
__global__ void step(const double *__restrict__ in, double *__restrict__ out, shape s, int from,
                     int to, int depth, int ring)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= s.n || y >= s.n)
        return;
    from += blockIdx.z * depth;
    to = min(to, from + depth);
    const size_t first = s.at(x, y, -1);
    size_t at = first + (size_t)(is_ring ? (from + 1) % ring : from + 1) * s.plane;
    double below = in[is_ring ? first + (size_t)(from % ring) * s.plane : at - s.plane];
    double here = in[at];
    for (int z = from; z < to; z++) {
        const size_t next = is_ring ? first + (size_t)((z + 2) % ring) * s.plane : at + s.plane;
        const double above = in[next];
        out[at] = here + 0.1 * ((in[at - 1] + in[at + 1]) + (in[at - s.row] + in[at + s.row]) +
                                (below + above) - 6.0 * here);
        if (edges && x == 0)
            out[at - 1] = in[at - 1];
        if (edges && x == s.n - 1)
            out[at + 1] = in[at + 1];
        if (edges && y == 0)
            out[at - s.row] = in[at - s.row];
        if (edges && y == s.n - 1)
            out[at + s.row] = in[at + s.row];
        below = here;
        here = above;
        at = next;
    }
}

/* A block's threads and the planes that each goes along. */
struct block {
    int x, y, depth;
};

static block best_block = {32, 8, 16};

template <bool edges, bool is_ring = false>
static void run_step(const double *in, double *out, const shape &s, int from, int to,
                     cudaStream_t stream, int ring = 0)
{
    const block &b = best_block;
    const dim3 grid((s.n + b.x - 1) / b.x, (s.n + b.y - 1) / b.y,
                    (to - from + b.depth - 1) / b.depth);
    step<edges, is_ring><<<grid, dim3(b.x, b.y), 0, stream>>>(in, out, s, from, to, b.depth, ring);
    MUST(cudaGetLastError());
}

/* Device seconds of `steps` steps; the last result is in `a` where their number is even. */
static double run_steps(double *a, double *b, const shape &s, int steps)
{
    cudaEvent_t begin, end;
    float ms;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    MUST(cudaEventRecord(begin));
    for (int i = 0; i < steps; i++, std::swap(a, b))
        run_step<false>(a, b, s, 0, s.n, 0);
    MUST(cudaEventRecord(end));
    MUST(cudaEventSynchronize(end));
    MUST(cudaEventElapsedTime(&ms, begin, end));
    MUST(cudaEventDestroy(begin));
    MUST(cudaEventDestroy(end));
    return ms * 1e-3;
}

/* As one would by hand: the fastest of a few, on the problem itself. */
static void choose_block(double *a, double *b, const shape &s)
{
    const block tried[] = {{32, 4, 8},  {32, 8, 16}, {32, 8, 64},  {64, 4, 16},
                           {64, 8, 32}, {128, 2, 8}, {128, 4, 32}, {256, 1, 16}};
    double best = 1e9;
    block chosen = best_block;
    for (const block &one : tried) {
        best_block = one;
        run_steps(a, b, s, 2);
        const double took = run_steps(a, b, s, 6);
        if (took < best) {
            best = took;
            chosen = one;
        }
    }
    best_block = chosen;
}

static void report(const char *how, const shape &s, int steps, double took, double sum)
{
    printf("%s %d^3, %d steps: %.4f s  %.2f Gcell/s  checksum %.9e", how, s.n, steps, took,
           (double)s.n * s.n * s.n * steps / took * 1e-9, sum);
}

static void core(const shape &s, int steps)
{
    double *host, *a, *b, best = 1e9, alone = 1e9;
    MUST(cudaMallocHost(&host, s.bytes(s.n + 2)));
    MUST(cudaMalloc(&a, s.bytes(s.n + 2)));
    MUST(cudaMalloc(&b, s.bytes(s.n + 2)));
    MUST(cudaMemset(a, 0, s.bytes(s.n + 2)));
    MUST(cudaMemset(b, 0, s.bytes(s.n + 2)));
    choose_block(a, b, s);
    for (int round = 0; round < 3; round++) {
        fill(host, s);
        const double begin = seconds();
        MUST(cudaMemcpyAsync(a, host, s.bytes(s.n + 2), cudaMemcpyHostToDevice));
        MUST(cudaMemcpyAsync(b, a, s.bytes(s.n + 2), cudaMemcpyDeviceToDevice)); /* the edges */
        alone = std::min(alone, run_steps(a, b, s, steps));
        MUST(cudaMemcpyAsync(host, steps % 2 ? b : a, s.bytes(s.n + 2), cudaMemcpyDeviceToHost));
        MUST(cudaDeviceSynchronize());
        best = std::min(best, seconds() - begin);
    }
    report("core", s, steps, best, checksum(host, s));
    printf("  steps alone %.4f s  block %dx%d, %d planes\n", alone, best_block.x, best_block.y,
           best_block.depth);
}

/* The edges lie in both arrays, so no kernel copies them. */
static int managed(const shape &s, int steps, bool is_prefetched)
{
    double *a, *b, best = 1e9, sum = 0;
    size_t room, all;
    MUST(cudaMemGetInfo(&room, &all));
    if (2 * s.bytes(s.n + 2) > room / 2) {
        fprintf(stderr, "cuda_heat: managed arrays of %.1f GB: more than half of %.1f GB free\n",
                2e-9 * s.bytes(s.n + 2), 1e-9 * room);
        return 3;
    }
    MUST(cudaMallocManaged(&a, s.bytes(s.n + 2)));
    MUST(cudaMallocManaged(&b, s.bytes(s.n + 2)));
    cudaMemLocation device = {}, host = {};
    device.type = cudaMemLocationTypeDevice;
    host.type = cudaMemLocationTypeHost;
    for (int round = 0; round < 3; round++) {
        fill(a, s);
        fill(b, s);
        const double begin = seconds();
        if (is_prefetched) {
            MUST(cudaMemPrefetchAsync(a, s.bytes(s.n + 2), device, 0, 0));
            MUST(cudaMemPrefetchAsync(b, s.bytes(s.n + 2), device, 0, 0));
        }
        run_steps(a, b, s, steps);
        const double *result = steps % 2 ? b : a;
        if (is_prefetched)
            MUST(cudaMemPrefetchAsync(result, s.bytes(s.n + 2), host, 0, 0));
        MUST(cudaDeviceSynchronize());
        for (size_t i = 0; i < s.bytes(s.n + 2) / sizeof(double); i += 512) /* each page */
            sum += ((volatile const double *)result)[i];
        best = std::min(best, seconds() - begin);
        sum = checksum(result, s);
    }
    report(is_prefetched ? "prefetched" : "managed", s, steps, best, sum);
    puts("");
    return 0;
}

/* Two buffers that slabs come into, one for steps between, two that slabs leave from: so the copies
 * of the slabs before and after go on while one is computed. Buffers begin with the plane that is
 * `halo` planes before the slab. */
struct slabs {
    shape s;
    int planes, halo, count;
    double *in[2], *between, *out[2];
    cudaStream_t up, run, down;
    cudaEvent_t arrived[2], computed[2], drained[2];
    std::vector<cudaEvent_t> left;
    size_t bytes_up, bytes_down;

    slabs(const shape &size, size_t budget, int steps)
        : s(size), planes(0), halo(steps), bytes_up(0), bytes_down(0)
    {
        const bool is_one = steps == 1;
        const long room = (long)(budget / s.bytes(1));
        planes = (int)(is_one ? (room - 4) / 4 : (room - 6 * (long)steps) / 5);
        planes = std::min(planes, s.n);
        if (planes < 1) {
            fprintf(stderr, "cuda_heat: no room for slabs with %d steps\n", steps);
            exit(2);
        }
        count = (s.n + planes - 1) / planes;
        for (int i = 0; i < 2; i++) {
            MUST(cudaMalloc(&in[i], s.bytes(planes + 2 * halo)));
            MUST(cudaMalloc(&out[i], s.bytes(planes)));
            for (cudaEvent_t *event : {&arrived[i], &computed[i], &drained[i]})
                MUST(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
        }
        MUST(cudaMalloc(&between, is_one ? 1 : s.bytes(planes + 2 * halo)));
        for (cudaStream_t *stream : {&up, &run, &down})
            MUST(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
        left.resize(count);
        for (cudaEvent_t &event : left)
            MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }

    /* The plane z of a buffer whose slab begins at `first`, such that s.at() finds its cells. */
    double *origin(double *buffer, int first, int before) const
    {
        return buffer - (ptrdiff_t)s.plane * (first - before + 1);
    }

    /* Planes that the slab needs before the pass's step `step`, and has after it; edges too. */
    int lowest(int first, int step) const
    {
        return std::max(first - (halo - step), step ? 0 : -1);
    }
    int highest(int last, int step) const
    {
        return std::min(last + (halo - step), step ? s.n : s.n + 1);
    }

    void compute(int j, int first, int last)
    {
        double *buffers[] = {origin(in[j % 2], first, halo), origin(between, first, halo)};
        for (int edge : {-1, s.n})
            if (halo > 1 && edge >= lowest(first, 0) && edge < highest(last, 0))
                MUST(cudaMemcpyAsync(buffers[1] + s.plane * (edge + 1),
                                     buffers[0] + s.plane * (edge + 1), s.bytes(1),
                                     cudaMemcpyDeviceToDevice, run));
        for (int i = 1; i <= halo; i++) {
            double *to = i == halo ? origin(out[j % 2], first, 0) : buffers[i % 2];
            run_step<true>(buffers[(i - 1) % 2], to, s, lowest(first, i), highest(last, i), run);
        }
    }

    /* All planes, `halo` steps on. Copies in wait for those out of the last pass that reach as far
     * as this slab's halo; events that were never recorded hold nothing up. */
    void pass(const double *from, double *to)
    {
        for (int j = 0; j < count; j++) {
            const int first = j * planes, last = std::min(first + planes, s.n), k = j % 2;
            const int low = lowest(first, 0), high = highest(last, 0);
            MUST(cudaStreamWaitEvent(up, left[(std::min(high, s.n) - 1) / planes], 0));
            MUST(cudaStreamWaitEvent(up, computed[k], 0)); /* of the slab before the last */
            MUST(cudaMemcpyAsync(origin(in[k], first, halo) + s.plane * (low + 1),
                                 from + s.plane * (low + 1), s.bytes(high - low),
                                 cudaMemcpyHostToDevice, up));
            MUST(cudaEventRecord(arrived[k], up));
            MUST(cudaStreamWaitEvent(run, arrived[k], 0));
            MUST(cudaStreamWaitEvent(run, drained[k], 0));
            compute(j, first, last);
            MUST(cudaEventRecord(computed[k], run));
            MUST(cudaStreamWaitEvent(down, computed[k], 0));
            MUST(cudaMemcpyAsync(to + s.plane * (first + 1), out[k], s.bytes(last - first),
                                 cudaMemcpyDeviceToHost, down));
            MUST(cudaEventRecord(drained[k], down));
            MUST(cudaEventRecord(left[j], down));
            bytes_up += s.bytes(high - low);
            bytes_down += s.bytes(last - first);
        }
    }

    size_t device_bytes() const
    {
        return s.bytes(2 * planes + (halo > 1 ? 3 : 2) * (planes + 2 * halo));
    }
};

static void out_of_core(const shape &s, int steps, size_t budget, int a_pass)
{
    double *a, *b, best = 1e9;
    const int rounds = s.bytes(s.n) > 4000000000 ? 1 : 3;
    MUST(cudaMallocHost(&a, s.bytes(s.n + 2)));
    MUST(cudaMallocHost(&b, s.bytes(s.n + 2)));
    slabs all(s, budget, a_pass);
    const double *result = a;
    for (int round = 0; round < rounds; round++) {
        fill(a, s);
        fill(b, s);
        all.bytes_up = all.bytes_down = 0;
        const double begin = seconds();
        double *from = a, *to = b;
        for (int i = 0; i < steps; i += a_pass, std::swap(from, to))
            all.pass(from, to);
        MUST(cudaDeviceSynchronize());
        best = std::min(best, seconds() - begin);
        result = from;
    }
    report(a_pass > 1 ? "blocked" : "streams", s, steps, best, checksum(result, s));
    printf(
        "  %d steps a pass, slabs of %d planes, %.1f MB on the device  %.2f GB up  %.2f GB down\n",
        a_pass, all.planes, 1e-6 * all.device_bytes(), 1e-9 * all.bytes_up, 1e-9 * all.bytes_down);
}

/* Two rings of planes, even steps in one and odd ones in the other. Step i goes i planes behind the
 * front, so that it finds what it reads and nothing is computed twice; the host's array is its own
 * result. Planes count with the edges, from 0. */
struct skewed {
    shape s;
    int slab, steps, ring, count;
    double *even, *odd;
    cudaStream_t up, run, down;
    std::vector<cudaEvent_t> arrived, computed, left;
    size_t bytes_up, bytes_down;

    skewed(const shape &size, size_t budget, int a_pass)
        : s(size), steps(a_pass), bytes_up(0), bytes_down(0)
    {
        slab = std::min((int)(budget / s.bytes(2)) - steps - 1, 3 * (s.n + 2)) / 3;
        if (slab < 1 || steps % 2) {
            fprintf(stderr, "cuda_heat: no room for a ring with %d steps, or they are odd\n",
                    steps);
            exit(2);
        }
        ring = 3 * slab + steps + 1;
        count = (s.n + 2 + steps - 1 + slab - 1) / slab;
        MUST(cudaMalloc(&even, s.bytes(ring)));
        MUST(cudaMalloc(&odd, s.bytes(ring)));
        for (cudaStream_t *stream : {&up, &run, &down})
            MUST(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
        for (std::vector<cudaEvent_t> *events : {&arrived, &computed, &left}) {
            events->resize(count);
            for (cudaEvent_t &event : *events)
                MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        }
    }

    void copy(double *host, int first, int last, cudaMemcpyKind kind, cudaStream_t stream)
    {
        for (int some; first < last; first += some) {
            double *device = even + s.plane * (first % ring), *at = host + s.plane * first;
            some = std::min(last - first, ring - first % ring);
            const bool is_up = kind == cudaMemcpyHostToDevice;
            MUST(cudaMemcpyAsync(is_up ? device : at, is_up ? at : device, s.bytes(some), kind,
                                 stream));
            (is_up ? bytes_up : bytes_down) += s.bytes(some);
        }
    }

    void compute(int j)
    {
        double *from = even, *to = odd;
        for (int i = 0; i < steps; i++) {
            const int first = std::max(j * slab - i, 0);
            const int last = std::min((j + 1) * slab - i, s.n + 2);
            for (int edge : {0, s.n + 1})
                if (first <= edge && edge < last)
                    MUST(cudaMemcpyAsync(to + s.plane * (edge % ring),
                                         from + s.plane * (edge % ring), s.bytes(1),
                                         cudaMemcpyDeviceToDevice, run));
            const int low = std::max(first, 1) - 1, high = std::min(last, s.n + 1) - 1;
            if (low < high)
                run_step<true, true>(from, to, s, low, high, run, ring);
            std::swap(from, to);
        }
    }

    /* A slab's last step reads the first plane of the next. */
    void pass(double *host)
    {
        for (int u = 0; u <= count; u++) {
            const int j = u - 1, all = s.n + 2;
            if (u < count) {
                if (u >= 3)
                    MUST(cudaStreamWaitEvent(up, left[u - 3], 0)); /* of the ring's planes */
                copy(host, u ? std::min(u * slab + 1, all) : 0, std::min((u + 1) * slab + 1, all),
                     cudaMemcpyHostToDevice, up);
                MUST(cudaEventRecord(arrived[u], up));
            }
            if (j < 0)
                continue;
            MUST(cudaStreamWaitEvent(run, arrived[j], 0));
            compute(j);
            MUST(cudaEventRecord(computed[j], run));
            MUST(cudaStreamWaitEvent(down, computed[j], 0));
            copy(host, std::max(j * slab - steps + 1, 0), std::min((j + 1) * slab - steps + 1, all),
                 cudaMemcpyDeviceToHost, down);
            MUST(cudaEventRecord(left[j], down));
        }
        MUST(cudaDeviceSynchronize());
    }
};

static void in_a_ring(const shape &s, int steps, size_t budget, int a_pass)
{
    double *host, best = 1e9;
    MUST(cudaMallocHost(&host, s.bytes(s.n + 2)));
    skewed all(s, budget, a_pass);
    for (int round = 0; round < 3; round++) {
        fill(host, s);
        all.bytes_up = all.bytes_down = 0;
        const double begin = seconds();
        for (int i = 0; i < steps; i += a_pass)
            all.pass(host);
        best = std::min(best, seconds() - begin);
    }
    report("ring", s, steps, best, checksum(host, s));
    printf(
        "  %d steps a pass, slabs of %d planes, %.1f MB on the device  %.2f GB up  %.2f GB down\n",
        a_pass, all.slab, 2e-6 * s.bytes(all.ring), 1e-9 * all.bytes_up, 1e-9 * all.bytes_down);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const int size = argc > 2 ? atoi(argv[2]) : 0, steps = argc > 3 ? atoi(argv[3]) : 0;
    const double megabytes = argc > 4 ? atof(argv[4]) : 0;
    const int a_pass = !strcmp(how, "streams") ? 1 : argc > 5 ? atoi(argv[5]) : 0;
    const bool is_managed = !strcmp(how, "managed") || !strcmp(how, "prefetched");
    const bool is_ring = !strcmp(how, "ring");
    const bool is_slabs = !strcmp(how, "streams") || !strcmp(how, "blocked") || is_ring;
    const bool is_known = is_managed || !strcmp(how, "core") ||
                          (is_slabs && megabytes > 0 && a_pass > 0 && steps % a_pass == 0);
    if (!is_known || size < 1 || size > 4096 || steps < 1) {
        fputs("usage: cuda_heat core|managed|prefetched SIZE STEPS\n"
              "       cuda_heat streams SIZE STEPS MEGABYTES\n"
              "       cuda_heat blocked|ring SIZE STEPS MEGABYTES A_PASS (STEPS is a multiple)\n",
              stderr);
        return 2;
    }
    const shape s(size);
    if (is_managed)
        return managed(s, steps, !strcmp(how, "prefetched"));
    if (is_ring)
        in_a_ring(s, steps, (size_t)(megabytes * 1e6), a_pass);
    else if (is_slabs)
        out_of_core(s, steps, (size_t)(megabytes * 1e6), a_pass);
    else
        core(s, steps);
    return 0;
}
