/* Prefetches of unified memory, which no row ties to their calls: a profile of Nsight Systems in
 * which each round prefetches an array, launches a kernel on it, prefetches it back and waits. */
#include "haul/timeline.h"
#include "nsys_tables.h"

#define MIGRATIONS                                                                                 \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, "    \
    "streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, "       \
    "dstKind INT, migrationCause INT);"
#define NAMES                                                                                      \
    STRINGS "INSERT INTO StringIds VALUES(1, 'cudaMemPrefetchAsync'), (2, 'cudaLaunchKernel'), "   \
            "(3, 'cudaStreamSynchronize'), (4, 'step(float*)');"

enum {
    ROUNDS = 10,
    PIECES = 4,
    PIECE_NS = 100000, /* of 2 MiB */
    KERNEL_NS = 300000,
    CALL_NS = 5000,
    LAG_NS = 20000, /* from a prefetch's return to its first piece */
    SYNC_NS = 10000,
    HOST_NS = 50000,
    USER = 1,  /* the causes of migrations: the program's prefetch, */
    FAULT = 2, /* a page fault */
};

typedef struct program {
    sqlite3 *db;
    int64_t now_ns; /* of the host */
    int correlation;
    int stream; /* of migrations */
    int cause;
} program;

static void run_sql(program *self, const char *sql)
{
    char *message = NULL;
    sqlite3_exec(self->db, sql, NULL, NULL, &message);
    if (message)
        fail_msg("%s: %s", message, sql);
}

static void add_call(program *self, int name, int64_t dur_ns)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(%lld, %lld, 0, " PID "+7, %d, %d)",
             (long long)self->now_ns, (long long)(self->now_ns + dur_ns), ++self->correlation,
             name);
    run_sql(self, sql);
    self->now_ns += dur_ns;
}

/* Pieces one after another from a time on; returns when the last ends. */
static int64_t add_pieces(program *self, int kind, int64_t start_ns)
{
    for (int i = 0; i < PIECES; i++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(%lld, %lld, 0, 1, %d, 0, " PID
                 ", 2097152, %d, 4, 2, %d)",
                 (long long)start_ns, (long long)(start_ns + PIECE_NS), self->stream, kind,
                 self->cause);
        run_sql(self, sql);
        start_ns += PIECE_NS;
    }
    return start_ns;
}

static int64_t add_kernel(program *self, int64_t ready_ns)
{
    char sql[256];
    add_call(self, 2, CALL_NS);
    snprintf(sql, sizeof sql,
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(%lld, %lld, 0, 1, 7, %d, " PID
             ", 4, 4, 32, 1, 1, 1, 256, 1, 1, 0, 0)",
             (long long)(ready_ns + 1000), (long long)(ready_ns + 1000 + KERNEL_NS),
             self->correlation);
    run_sql(self, sql);
    return ready_ns + 1000 + KERNEL_NS;
}

static haul_workload *recording(int stream, int cause)
{
    program self = {.db = profile_make(NAMES MIGRATIONS KERNEL RUNTIME),
                    .now_ns = 1000000,
                    .stream = stream,
                    .cause = cause};
    for (int r = 0; r < ROUNDS; r++) {
        add_call(&self, 1, CALL_NS);
        int64_t end_ns = add_pieces(&self, 11, self.now_ns + LAG_NS);
        end_ns = add_kernel(&self, end_ns);
        add_call(&self, 1, CALL_NS);
        end_ns = add_pieces(&self, 12, end_ns + 2000);
        add_call(&self, 3, end_ns + SYNC_NS - self.now_ns);
        self.now_ns += HOST_NS;
    }
    return profile_read(self.db);
}

/* On a stream of their own, on the kernels', and on none that is known. */
static void replays_keep_the_time(void **state)
{
    (void)state;
    static const int streams[] = {0, 7, 16777214};
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++) {
        haul_workload *workload = recording(streams[s], USER);
        haul_replay replay;
        haul_error error;
        assert_int_equal(haul_timeline_replay(workload, HAUL_RELEASE_HOST, &replay, &error),
                         HAUL_OK);
        printf("stream %d: %+.2f %%\n", streams[s], replay.error);
        assert_true(replay.error > -2 && replay.error < 2);
        haul_workload_free(workload);
    }
}

/* Each piece has the call of the last prefetch before it. */
static void pieces_have_their_calls(void **state)
{
    (void)state;
    haul_workload *workload = recording(0, USER);
    size_t pieces = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const char *name = haul_workload_string(workload, op->name);
        if (op->kind != HAUL_OP_COPY)
            continue;
        assert_true(op->flags & HAUL_OP_HAS_CALL);
        assert_string_equal(name, "cudaMemPrefetchAsync");
        assert_int_equal(op->call_dur_ns, CALL_NS);
        assert_int_equal(op->flags & ~(HAUL_OP_HAS_CALL | HAUL_OP_BLOCKS), 0);
        pieces++;
    }
    assert_int_equal(pieces, 2 * ROUNDS * PIECES);
    haul_workload_free(workload);
    workload = recording(0, FAULT);
    for (size_t i = 0; i < workload->op_count; i++)
        assert_false(workload->ops[i].kind == HAUL_OP_COPY &&
                     workload->ops[i].flags & HAUL_OP_HAS_CALL);
    haul_workload_free(workload);
}

/* Pieces of half the time, as over a link twice as fast: the kernels move up with them. */
static void a_faster_link_moves_the_kernels(void **state)
{
    (void)state;
    haul_workload *workload = recording(0, USER);
    enum { MOST = 256 };
    int64_t durations_ns[MOST];
    assert_true(workload->op_count <= MOST);
    haul_replay replay;
    haul_error error;
    assert_int_equal(haul_timeline_replay(workload, HAUL_RELEASE_HOST, &replay, &error), HAUL_OK);
    for (size_t i = 0; i < workload->op_count; i++)
        durations_ns[i] = workload->ops[i].dur_ns / (workload->ops[i].kind == HAUL_OP_COPY ? 2 : 1);
    const haul_timeline_options options = {.device = replay.device, .durations_ns = durations_ns};
    haul_timeline *timeline = NULL;
    assert_int_equal(haul_timeline_run(workload, &options, &timeline, &error), HAUL_OK);
    const int64_t saved_ns = replay.replayed_ns - timeline->makespan_ns;
    const int64_t expected_ns = (int64_t)ROUNDS * PIECES * PIECE_NS;
    assert_true(llabs(saved_ns - expected_ns) < expected_ns / 20);
    haul_timeline_free(timeline);
    haul_workload_free(workload);
}

/* Faults that a kernel met on its own stream run beside it, not behind it. */
static void faults_beside_their_kernel(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        NAMES MIGRATIONS KERNEL RUNTIME
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(0, 10000, 0, " PID "+7, 1, 2);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(12000, 2012000, 0, 1, 7, 1, " PID
        ", 4, 4, 32, 1, 1, 1, 256, 1, 1, 0, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        "(20000, 920000, 0, 1, 7, 0, " PID ", 2097152, 11, 4, 2, 2),"
        "(920000, 1900000, 0, 1, 7, 0, " PID ", 2097152, 11, 4, 2, 2);");
    haul_replay replay;
    haul_error error;
    assert_int_equal(haul_timeline_replay(workload, HAUL_RELEASE_HOST, &replay, &error), HAUL_OK);
    printf("faults: %+.2f %%\n", replay.error);
    assert_true(replay.error > -2 && replay.error < 2);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_keep_the_time),
        cmocka_unit_test(pieces_have_their_calls),
        cmocka_unit_test(a_faster_link_moves_the_kernels),
        cmocka_unit_test(faults_beside_their_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
