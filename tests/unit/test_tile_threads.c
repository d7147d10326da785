/* Threads that each have a context of their own: nothing of haul is shared, and what drivers share
 * unguarded is guarded by haul. */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "tile_kernels.h"

enum { THREADS = 6, ROUNDS = 3, SIZE = 40, STEPS = 6 };

typedef struct worker {
    const char *device;
    pthread_barrier_t *start;
    unsigned k;
    unsigned cells[SIZE];
    haul_status status;
    haul_error error;
} worker;

static haul_status run_loops(haul_context *context, worker *self)
{
    const haul_array_spec spec = {.size = {SIZE}, .element_bytes = sizeof(unsigned), .ghost = {1}};
    haul_array *u = NULL, *v = NULL;
    haul_status status = haul_array_new(context, &spec, &u, &self->error);
    if (!status)
        status = haul_array_new(context, &spec, &v, &self->error);
    for (int i = 0; i < STEPS && !status; i++) {
        status = HAUL_LOOP(context, &self->error, &near_1, u, v, &self->k);
        if (!status)
            status = haul_array_swap(u, v, &self->error);
    }
    if (!status)
        status = haul_array_read(u, self->cells, &self->error);
    haul_array_free(u);
    haul_array_free(v);
    return status;
}

static void *work(void *state)
{
    worker *self = state;
    pthread_barrier_wait(self->start);
    haul_context *context = NULL;
    char **names;
    size_t count;
    self->status = haul_device_list(&names, &count, &self->error);
    if (!self->status)
        haul_names_free(names, count);
    if (!self->status)
        self->status = haul_context_open(self->device, NULL, &context, &self->error);
    if (!self->status)
        self->status = run_loops(context, self);
    haul_context_close(context);
    return NULL;
}

static void compute(unsigned k, unsigned cells[SIZE])
{
    unsigned from[SIZE + 2] = {0}, to[SIZE + 2] = {0};
    for (int i = 0; i < STEPS; i++) {
        for (int x = 1; x <= SIZE; x++)
            to[x] = 3 * from[x] + 5 * from[x - 1] + 7 * from[x + 1] + k;
        memcpy(from, to, sizeof from);
    }
    memcpy(cells, from + 1, SIZE * sizeof *cells);
}

static void check_device(const char *device)
{
    worker workers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    unsigned right[SIZE];
    pthread_barrier_init(&start, NULL, THREADS);
    for (unsigned t = 0; t < THREADS; t++) {
        workers[t] = (worker){.device = device, .start = &start, .k = t};
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    for (unsigned t = 0; t < THREADS; t++) {
        if (workers[t].status == HAUL_STATUS_ABSENT && workers[0].status == HAUL_STATUS_ABSENT)
            continue;
        if (workers[t].status)
            fail_msg("thread %u on %s: %s", t, device, workers[t].error.text);
        compute(t, right);
        assert_memory_equal(workers[t].cells, right, sizeof right);
    }
}

/* OpenCL first: its loader begins with the first call. */
static void test_contexts(void **state)
{
    (void)state;
    static const char *const devices[] = {"opencl:0", "sim:k40", "host"};
    for (int round = 0; round < ROUNDS; round++)
        for (size_t d = 0; d < sizeof devices / sizeof(char *); d++)
            check_device(devices[d]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contexts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
