/* CUDA C++ for the host's compiler: what stands before a kernel's text that NVRTC's stand-in
 * compiles, and how the driver's runs it, block by block and last block first. A thread is a step
 * of a loop; where the first comes to a barrier, each of its block gets a stack of its own. */
#undef _FORTIFY_SOURCE /* its longjmp keeps to one stack */
#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

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

static driver_index threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

/* Of the launch; of the largest GPU. */
enum { DRIVER_DYNAMIC = 227 << 10, DRIVER_POISON = 0xff };
extern "C" {
alignas(16) __attribute__((visibility("hidden"))) unsigned char driver_dynamic[DRIVER_DYNAMIC];
}

/* --- threads that wait for each other; each is made once, and then changes by _longjmp, which
 * calls the system no more */

struct driver_fiber {
    jmp_buf here;
    bool made, done;
    char stack[1 << 16];
};

static driver_fiber *driver_fibers, *driver_running;
static jmp_buf driver_scheduler;
static void (*driver_body)(void *values);
static void *driver_values;

__attribute__((noinline)) static void driver_change(jmp_buf from, jmp_buf to)
{
    if (!_setjmp(from))
        _longjmp(to, 1);
}

static inline void __syncthreads()
{
    const driver_index mine = threadIdx;
    if (!driver_running) /* the block's first thread came to no barrier */
        abort();
    driver_change(driver_running->here, driver_scheduler);
    threadIdx = mine;
}

static void driver_fiber_run()
{
    for (;;) {
        driver_body(driver_values);
        driver_running->done = true;
        driver_change(driver_running->here, driver_scheduler);
    }
}

__attribute__((noinline)) static void driver_make(driver_fiber *fiber)
{
    ucontext_t context;
    fiber->made = true;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber->stack;
    context.uc_stack.ss_size = sizeof fiber->stack;
    context.uc_link = NULL;
    makecontext(&context, driver_fiber_run, 0);
    if (!_setjmp(driver_scheduler))
        setcontext(&context);
}

/* Goes on with the thread until its next barrier or its end. */
static inline void driver_resume(driver_fiber *fiber)
{
    driver_running = fiber;
    fiber->done = false;
    if (fiber->made)
        driver_change(driver_scheduler, fiber->here);
    else
        driver_make(fiber);
    driver_running = NULL;
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

/* The last thread tells for its block whether there are barriers. */
static inline void driver_run_block()
{
    const unsigned count = blockDim.x * blockDim.y * blockDim.z;
    threadIdx = driver_place(count - 1, blockDim);
    driver_resume(&driver_fibers[count - 1]);
    const bool has_barriers = !driver_fibers[count - 1].done;
    for (unsigned i = count - 1; i-- > 0;) {
        threadIdx = driver_place(i, blockDim);
        if (has_barriers)
            driver_resume(&driver_fibers[i]);
        else
            driver_body(driver_values);
    }
    for (bool waits = has_barriers; waits;) {
        waits = false;
        for (unsigned i = count; i-- > 0;) {
            if (!driver_fibers[i].done)
                driver_resume(&driver_fibers[i]);
            waits |= !driver_fibers[i].done;
        }
    }
}

static void driver_each_block(const driver_grid *grid)
{
    const uint64_t blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
    const uint64_t step = blocks > 1 ? driver_step(grid, blocks) : 1;
    for (uint64_t i = 0, at = blocks - 1; i < blocks; i++) {
        blockIdx = driver_place(at, gridDim);
        driver_run_block();
        at = grid->seed ? (at + step) % blocks : at - 1;
    }
}

template <class... T> struct driver_kernel {
    static void (*kernel)(T...);
    static void body(void *values)
    {
        driver_call(kernel, (void **)values, typename driver_count<sizeof...(T)>::places());
    }
};
template <class... T> void (*driver_kernel<T...>::kernel)(T...);

template <class... T>
static void driver_run(const driver_grid *grid, void (*kernel)(T...), void **values)
{
    const driver_index blocks = {grid->grid[0], grid->grid[1], grid->grid[2]};
    const driver_index threads = {grid->block[0], grid->block[1], grid->block[2]};
    gridDim = blocks;
    blockDim = threads;
    driver_kernel<T...>::kernel = kernel;
    driver_body = driver_kernel<T...>::body;
    driver_values = values;
    if (driver_running) { /* a kernel that failed left its threads where they were */
        free(driver_fibers);
        driver_fibers = driver_running = NULL;
    }
    if (!driver_fibers)
        driver_fibers = (driver_fiber *)calloc(1024, sizeof *driver_fibers);
    if (!driver_fibers)
        abort();
    memset(driver_dynamic, DRIVER_POISON, DRIVER_DYNAMIC);
    driver_each_block(grid);
    for (unsigned i = grid->shared_bytes; i < DRIVER_DYNAMIC; i++)
        if (driver_dynamic[i] != DRIVER_POISON) {
            fputs("driver: a kernel writes beyond the shared memory of its launch\n", stderr);
            abort();
        }
}
