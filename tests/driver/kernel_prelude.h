/* CUDA C++ for the host's compiler: what stands before a kernel's text that NVRTC's stand-in
 * compiles, and how the driver's runs it, block by block and last block first. A thread is a
 * step of a loop, or, in a kernel with __syncthreads, a thread of the host. */
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define __device__
#define __host__
#define __forceinline__ inline
#define __constant__
#define __launch_bounds__(...)

/* As in driver.h. */
struct driver_grid {
    unsigned grid[3], block[3], shared_bytes;
    uint64_t seed;
};

struct driver_index {
    unsigned x, y, z;
};

#ifdef DRIVER_BARRIERS
#define DRIVER_OWN static thread_local
#else
#define DRIVER_OWN static
#endif

DRIVER_OWN driver_index threadIdx, blockIdx;
static driver_index blockDim, gridDim;
static const int warpSize = 32;

/* A block's; blocks are run one after the other. */
#define __shared__ static

static pthread_barrier_t driver_barrier;

static inline void __syncthreads()
{
    pthread_barrier_wait(&driver_barrier);
}

template <class T> static inline T atomicAdd(T *at, T value)
{
    T before = *at;
    while (!__atomic_compare_exchange_n(at, &before, before + value, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
    return before;
}

/* --- calling a kernel with pointers to its values */

template <size_t... I> struct driver_places {
};
template <size_t N, size_t... I> struct driver_count : driver_count<N - 1, N - 1, I...> {
};
template <size_t... I> struct driver_count<0, I...> {
    typedef driver_places<I...> places;
};

template <class... T, size_t... I>
static inline void driver_call(void (*kernel)(T...), void **values, driver_places<I...>)
{
    (void)values;
    kernel(*(T *)values[I]...);
}

template <class... T> static const size_t *driver_bytes(void (*)(T...))
{
    static const size_t bytes[] = {sizeof(T)..., 0};
    return bytes;
}

/* --- the order of blocks: backwards, or in steps of a length that comes to each */

static inline driver_index driver_place(uint64_t i, const driver_index &of)
{
    driver_index at = {(unsigned)(i % of.x), (unsigned)(i / of.x % of.y),
                       (unsigned)(i / of.x / of.y)};
    return at;
}

static inline uint64_t driver_common(uint64_t a, uint64_t b)
{
    return b ? driver_common(b, a % b) : a;
}

static inline uint64_t driver_step(const driver_grid *grid, uint64_t blocks)
{
    uint64_t step = grid->seed % blocks;
    while (step && driver_common(step, blocks) != 1)
        step++;
    return step ? step % blocks : 1;
}

template <class Block> static void driver_each_block(const driver_grid *grid, const Block &run)
{
    const uint64_t blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
    const uint64_t step = blocks > 1 ? driver_step(grid, blocks) : 1;
    for (uint64_t i = 0, at = blocks - 1; i < blocks; i++) {
        blockIdx = driver_place(at, gridDim);
        run();
        at = grid->seed ? (at + step) % blocks : at - 1;
    }
}

#ifdef DRIVER_BARRIERS

template <class... T> struct driver_thread {
    const driver_grid *grid;
    void (*kernel)(T...);
    void **values;
    unsigned number;
    pthread_t thread;
};

template <class... T> static void *driver_run_thread(void *argument)
{
    const driver_thread<T...> *self = (const driver_thread<T...> *)argument;
    threadIdx = driver_place(self->number, blockDim);
    driver_each_block(self->grid, [self] {
        driver_call(self->kernel, self->values, typename driver_count<sizeof...(T)>::places());
        pthread_barrier_wait(&driver_barrier);
    });
    return NULL;
}

template <class... T>
static void driver_threads(const driver_grid *grid, void (*kernel)(T...), void **values)
{
    const unsigned count = blockDim.x * blockDim.y * blockDim.z;
    driver_thread<T...> *threads = new driver_thread<T...>[count];
    pthread_barrier_init(&driver_barrier, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        driver_thread<T...> made = {grid, kernel, values, i, 0};
        threads[i] = made;
        if (pthread_create(&threads[i].thread, NULL, driver_run_thread<T...>, &threads[i]))
            abort();
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    pthread_barrier_destroy(&driver_barrier);
    delete[] threads;
}

#else

template <class... T>
static void driver_threads(const driver_grid *grid, void (*kernel)(T...), void **values)
{
    const typename driver_count<sizeof...(T)>::places places;
    driver_each_block(grid, [=] {
        for (threadIdx.z = blockDim.z; threadIdx.z-- > 0;)
            for (threadIdx.y = blockDim.y; threadIdx.y-- > 0;)
                for (threadIdx.x = blockDim.x; threadIdx.x-- > 0;)
                    driver_call(kernel, values, places);
    });
}

#endif

template <class... T>
static void driver_run(const driver_grid *grid, void (*kernel)(T...), void **values)
{
    const driver_index blocks = {grid->grid[0], grid->grid[1], grid->grid[2]};
    const driver_index threads = {grid->block[0], grid->block[1], grid->block[2]};
    gridDim = blocks;
    blockDim = threads;
    driver_threads(grid, kernel, values);
}
