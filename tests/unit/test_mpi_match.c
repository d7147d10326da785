/* Which calls of MPI met, of made programs whose messages all have different sizes, so that a wait
 * for another's message is seen; waits for late ranks by their definition. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "haul/analysis.h"
#include "workload/join.h"
#include "workload/mpi_calls.h"
#include "workload_check.h"

enum { RANKS = 4, TAGS = 3, COMMS = 2, MESSAGES = 400, ROUNDS = 60 };

/* A program being made: each rank calls on when it has returned. */
typedef struct program {
    hl_workload_builder builder;
    uint32_t threads[RANKS];
    int64_t now_ns[RANKS];
    int64_t late_ns; /* that receives waited for sends */
    uint64_t received;
} program;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)rand() % limit;
}

static hl_workload_mpi_moment call(program *self, int rank, const char *name, int64_t start_ns,
                                   int64_t dur_ns)
{
    const haul_op op = {.kind = HAUL_OP_CALL,
                        .flags = HAUL_OP_HAS_CALL,
                        .start_ns = start_ns,
                        .dur_ns = dur_ns,
                        .call_ns = start_ns,
                        .call_dur_ns = dur_ns,
                        .name = hl_workload_builder_string(&self->builder, name, strlen(name)),
                        .stream = HAUL_NONE,
                        .thread = self->threads[rank]};
    (void)hl_workload_builder_op(&self->builder, &op);
    self->now_ns[rank] = start_ns + dur_ns;
    return (hl_workload_mpi_moment){start_ns, dur_ns, self->threads[rank]};
}

static void begin(program *self)
{
    *self = (program){.late_ns = 0};
    hl_workload_builder_init(&self->builder);
    for (int i = 0; i < RANKS; i++) {
        const haul_workload_thread thread = {.process = (uint64_t)i + 1, .id = 1};
        self->threads[i] = hl_workload_builder_thread(&self->builder, &thread);
    }
}

/* Sends that are buffered, and receives that wait for the message's arrival. */
static void add_message(program *self, uint64_t bytes)
{
    const int from = (int)below(RANKS), to = (int)below(RANKS);
    const hl_workload_mpi_call both = {.bytes = bytes,
                                       .comm = 1 + below(COMMS),
                                       .comm_size = RANKS,
                                       .tag = (int32_t)below(TAGS),
                                       .host = HAUL_NONE,
                                       .blocks = true};
    hl_workload_mpi_call send = both, receive = both;
    send.way = HL_WORKLOAD_MPI_SENDS;
    send.rank = receive.peer = from;
    send.peer = receive.rank = to;
    receive.way = HL_WORKLOAD_MPI_RECEIVES;
    const int64_t sent_ns = self->now_ns[from] + below(50);
    send.post = send.done = call(self, from, "MPI_Send", sent_ns, 1);
    const int64_t asked_ns = self->now_ns[to] + below(50);
    const int64_t come_ns = (asked_ns > sent_ns + 1 ? asked_ns : sent_ns + 1) + 10 + below(5);
    receive.post = receive.done = call(self, to, "MPI_Recv", asked_ns, come_ns - asked_ns);
    self->late_ns += sent_ns > asked_ns ? sent_ns - asked_ns : 0;
    self->received += bytes;
    hl_workload_mpi_call_add(&self->builder, &send);
    hl_workload_mpi_call_add(&self->builder, &receive);
}

static haul_workload *finish(program *self)
{
    haul_workload *made = NULL, *matched = NULL;
    haul_error error = {0};
    uint64_t orphaned;
    assert_int_equal(hl_workload_builder_finish(&self->builder, "made", "made", &made, &error),
                     HAUL_OK);
    const hl_workload_part whole = {.of = made, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
    assert_int_equal(hl_workload_join_one(&whole, &orphaned, &matched, &error), HAUL_OK);
    haul_workload_free(made);
    return matched;
}

static haul_mpi_use use_named(const haul_workload *of, const char *name)
{
    haul_mpi_use *uses = NULL, found = {0};
    size_t count = 0;
    assert_int_equal(haul_mpi_uses(of, &uses, &count, NULL), HAUL_OK);
    for (size_t i = 0; i < count; i++)
        if (uses[i].rank < 0 && !strcmp(haul_workload_string(of, uses[i].name), name))
            found = uses[i];
    free(uses);
    return found;
}

static void messages_meet_their_receives(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        srand(round);
        program made;
        begin(&made);
        for (uint64_t i = 0; i < MESSAGES; i++)
            add_message(&made, 100 + i);
        haul_workload *const of = finish(&made);
        workload_check(of);
        assert_int_equal(of->edge_count, MESSAGES);
        const haul_mpi_use sends = use_named(of, "MPI_Send"), receives = use_named(of, "MPI_Recv");
        assert_int_equal(sends.calls, MESSAGES);
        assert_int_equal(sends.bytes, made.received);
        assert_int_equal(receives.bytes, made.received);
        assert_int_equal(receives.late_ns, made.late_ns);
        assert_int_equal(receives.late_ns + receives.transfer_ns, receives.time_ns);
        haul_workload_free(of);
    }
}

/* All of a sum wait for the last; the root of a reduction alone, all but the root of a broadcast.
 */
static void collectives_wait_for_the_last(void **state)
{
    (void)state;
    static const struct {
        hl_workload_mpi_way way;
        const char *name;
        int64_t late_ns;
    } kinds[] = {
        {HL_WORKLOAD_MPI_ALL, "MPI_Allreduce", 30 + 20 + 10 + 0},
        {HL_WORKLOAD_MPI_TO_ROOT, "MPI_Reduce", 20},  /* rank 1 enters at 10, the last at 30 */
        {HL_WORKLOAD_MPI_FROM_ROOT, "MPI_Bcast", 10}, /* rank 0 enters at 0, the root at 10 */
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        program made;
        begin(&made);
        for (int rank = 0; rank < RANKS; rank++) {
            hl_workload_mpi_call one = {.bytes = 8,
                                        .comm = 5,
                                        .comm_size = RANKS,
                                        .rank = rank,
                                        .peer = k ? 1 : -1,
                                        .host = HAUL_NONE,
                                        .way = kinds[k].way,
                                        .blocks = true};
            one.post = one.done =
                call(&made, rank, kinds[k].name, INT64_C(10) * rank, 50 - INT64_C(10) * rank);
            hl_workload_mpi_call_add(&made.builder, &one);
        }
        haul_workload *const of = finish(&made);
        workload_check(of);
        assert_int_equal(use_named(of, kinds[k].name).late_ns, kinds[k].late_ns);
        haul_workload_free(of);
    }
}

/* Of a communicator one of whose ranks is missing nothing is known. */
static void what_lacks_a_side_is_left(void **state)
{
    (void)state;
    program made;
    begin(&made);
    for (int rank = 0; rank < RANKS - 1; rank++) {
        hl_workload_mpi_call one = {.comm = 5,
                                    .comm_size = RANKS,
                                    .rank = rank,
                                    .peer = -1,
                                    .host = HAUL_NONE,
                                    .way = HL_WORKLOAD_MPI_ALL,
                                    .blocks = true};
        one.post = one.done = call(&made, rank, "MPI_Barrier", rank, 10);
        hl_workload_mpi_call_add(&made.builder, &one);
        one.way = HL_WORKLOAD_MPI_RECEIVES;
        one.peer = RANKS - 1;
        one.post = one.done = call(&made, rank, "MPI_Recv", 20 + rank, 10);
        hl_workload_mpi_call_add(&made.builder, &one);
    }
    haul_workload *const of = finish(&made);
    assert_int_equal(of->edge_count, 0);
    assert_int_equal(use_named(of, "MPI_Barrier").late_ns, 0);
    assert_int_equal(use_named(of, "MPI_Recv").late_ns, 0);
    assert_int_equal(use_named(of, "MPI_Recv").time_ns, 30);
    haul_workload_free(of);
}

/* A collective whose root is none of the communicator's ranks: for a reduction none waits, and for
 * a broadcast all wait for none. */
static void a_root_elsewhere_is_none(void **state)
{
    (void)state;
    static const hl_workload_mpi_way ways[] = {HL_WORKLOAD_MPI_TO_ROOT, HL_WORKLOAD_MPI_FROM_ROOT};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        program made;
        begin(&made);
        for (int rank = 0; rank < RANKS; rank++) {
            hl_workload_mpi_call one = {.comm = 5,
                                        .comm_size = RANKS,
                                        .rank = rank,
                                        .peer = RANKS + 3,
                                        .host = HAUL_NONE,
                                        .way = ways[k],
                                        .blocks = true};
            one.post = one.done = call(&made, rank, "MPI_Reduce", rank, 10);
            hl_workload_mpi_call_add(&made.builder, &one);
        }
        haul_workload *const of = finish(&made);
        workload_check(of);
        assert_int_equal(of->edge_count, 0);
        assert_int_equal(of->op_count, RANKS);
        haul_workload_free(of);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_meet_their_receives),
        cmocka_unit_test(collectives_wait_for_the_last),
        cmocka_unit_test(what_lacks_a_side_is_left),
        cmocka_unit_test(a_root_elsewhere_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
