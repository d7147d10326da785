/* Calls of libhaul-mpi are MPI's own until another way has been faster in trials; trials cost
 * little. The program stands before the MPI: it counts what haul calls, and makes ways slow. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "haul/mpi.h"

enum { BYTES = 64, PROCESSES_MOST = 8, QUIET_CALLS = 255, CALLS_MOST = 400, SLOW_MS = 10 };

static int rank, size;
static unsigned long failures, own_calls, agreements, messages;
static bool own_is_slow, message_is_slow;

static void fail(const char *what, unsigned long number)
{
    failures++;
    fprintf(stderr, "rank %d: %s: %lu\n", rank, what, number);
}

static void slow_down(bool is_slow)
{
    if (is_slow)
        nanosleep(&(struct timespec){.tv_nsec = SLOW_MS * 1000000L}, NULL);
}

int MPI_Isend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    messages++;
    slow_down(message_is_slow);
    return PMPI_Isend(at, count, type, to, tag, comm, request);
}

int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    agreements++;
    return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
int PMPI_Alltoallv(const void *send, const int *sends, const int *from, MPI_Datatype send_type,
                   void *receive, const int *receives, const int *to, MPI_Datatype receive_type,
                   MPI_Comm comm)
{
    static int (*own)(const void *, const int *, const int *, MPI_Datatype, void *, const int *,
                      const int *, MPI_Datatype, MPI_Comm);
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "PMPI_Alltoallv");
    own_calls++;
    slow_down(own_is_slow);
    return own(send, sends, from, send_type, receive, receives, to, receive_type, comm);
}

static haul_comm *open_with(haul_comm_options options)
{
    haul_comm *comm = NULL;
    haul_error error;
    if (haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error)) {
        fprintf(stderr, "%s\n", error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    own_calls = agreements = messages = 0;
    return comm;
}

static haul_comm *open_comm(double trial_share)
{
    return open_with((haul_comm_options){.trial_share = trial_share});
}

static void exchange(haul_comm *comm, bool is_v)
{
    static char sent[PROCESSES_MOST * BYTES], got[PROCESSES_MOST * BYTES];
    size_t counts[PROCESSES_MOST];
    haul_error error;
    for (int i = 0; i < PROCESSES_MOST; i++)
        counts[i] = BYTES;
    const haul_alltoallv_blocks blocks = {
        haul_in_host(sent), {counts, NULL}, haul_in_host(got), {counts, NULL}, 1};
    const haul_status status =
        is_v ? haul_comm_alltoallv(comm, &blocks, &error)
             : haul_comm_alltoall(comm, haul_in_host(sent), haul_in_host(got), BYTES, &error);
    if (status)
        fail(error.text, status);
}

/* A short program is MPI's own calls, and no others. */
static void short_programs_pay_nothing(void)
{
    haul_comm *comm = open_comm(0);
    for (int i = 0; i < QUIET_CALLS; i++)
        for (int is_v = 0; is_v < 2; is_v++)
            exchange(comm, is_v);
    if (own_calls != QUIET_CALLS)
        fail("MPI's own all-to-all-vs of a short program", own_calls);
    if (agreements || messages)
        fail("further messages of a short program", agreements + messages);
    haul_comm_free(comm);
}

/* A way that is slow is tried once, and then not before the program has earned it. */
static void slow_ways_are_rare(void)
{
    enum { CALLS = 2000 };
    haul_comm *comm = open_comm(0);
    message_is_slow = true;
    for (int i = 0; i < CALLS; i++)
        exchange(comm, true);
    message_is_slow = false;
    if (!messages || messages > 3UL * (unsigned long)(size - 1))
        fail("messages of a slow way", messages);
    haul_comm_free(comm);
}

/* Calls until `wanted` is the way of five in a row, trials of others among them. */
static void call_kind_until(haul_comm *comm, bool is_v, haul_way wanted)
{
    enum { RUN = 5 };
    int run = 0, calls = 0;
    while (run < RUN && calls++ < CALLS_MOST) {
        exchange(comm, is_v);
        run = haul_comm_way(comm) == wanted ? run + 1 : 0;
    }
    if (run < RUN)
        fail(haul_way_text(wanted, HAUL_MEMORY_HOST), (unsigned long)calls);
}

static void call_until(haul_comm *comm, haul_way wanted)
{
    call_kind_until(comm, true, wanted);
}

/* Once a way is proven it runs, and when times change it goes again. */
static void faster_ways_run(void)
{
    haul_comm *comm = open_comm(1);
    own_is_slow = true;
    call_until(comm, HAUL_WAY_DIRECT);
    own_is_slow = false;
    message_is_slow = true;
    call_until(comm, HAUL_WAY_PLAIN);
    message_is_slow = false;
    haul_comm_free(comm);
}

/* Calls that go to MPI at once are told of like others. */
static void left_calls_are_explained(void)
{
    haul_comm *comm = open_comm(0);
    char expected[80];
    (void)snprintf(expected, sizeof expected, " %d bytes in %d messages of this one: plain",
                   (size - 1) * BYTES, size - 1);
    for (int i = 0; i < 3; i++) {
        exchange(comm, false);
        exchange(comm, true);
        if (!strstr(haul_comm_explain(comm), expected))
            fail(haul_comm_explain(comm), (unsigned long)i);
    }
    exchange(comm, false);
    if (!strstr(haul_comm_explain(comm), "of one: plain"))
        fail(haul_comm_explain(comm), 3);
    haul_comm_free(comm);
}

/* A library before the MPI asks whether the next call is left to it. */
static void own_calls_are_left(void)
{
    enum { CALLS = 250 };
    haul_comm *comm = open_comm(0);
    unsigned long left = 0;
    for (int i = 0; i < CALLS; i++) {
        const bool leaves = haul_comm_leaves_next(comm, HAUL_EXCHANGE_ALL_V, 0);
        left += leaves;
        if (!leaves)
            exchange(comm, true);
    }
    if (left + own_calls != CALLS || left < CALLS * 3 / 4)
        fail("calls that were left", left);
    haul_comm_free(comm);
}

/* --- proofs in a file, which the first process reads and writes */

enum { FILE_MOST = 1 << 16 };

static const char *proofs = "proofs";

static size_t read_file(char *text)
{
    FILE *in = fopen(proofs, "rb");
    const size_t length = in ? fread(text, 1, FILE_MOST - 1, in) : 0;
    text[length] = '\0';
    if (in)
        (void)fclose(in);
    return length;
}

static void write_file(const char *text, size_t length)
{
    if (rank)
        return;
    FILE *out = fopen(proofs, "wb");
    if (!out || fwrite(text, 1, length, out) != length || fclose(out))
        fail("cannot write the file of proofs", length);
}

static haul_comm *open_proofs(double trial_share)
{
    /* the first process's counts */
    return open_with((haul_comm_options){.trial_share = trial_share,
                                         .proofs = rank ? "elsewhere/none" : proofs});
}

/* The ways of the first call of each kind of a new run, and whether the reason tells `said`. */
static void expect_first(haul_way all, haul_way all_v, const char *said)
{
    haul_comm *comm = open_proofs(0);
    for (int is_v = 0; is_v < 2; is_v++) {
        exchange(comm, is_v);
        if (haul_comm_way(comm) != (is_v ? all_v : all))
            fail(haul_comm_explain(comm), (unsigned long)is_v);
    }
    if (said && !strstr(haul_comm_explain(comm), said))
        fail(haul_comm_explain(comm), 2);
    if (!said && strstr(haul_comm_explain(comm), "not used"))
        fail(haul_comm_explain(comm), 3);
    haul_comm_free(comm);
}

/* Writes `with` in the place of the first `what`. */
static void replace_text(const char *text, const char *what, const char *with)
{
    char changed[FILE_MOST];
    const char *at = strstr(text, what);
    if (rank)
        return;
    if (!at) {
        fail(what, 0);
        return;
    }
    const int length = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, with,
                                at + strlen(what));
    write_file(changed, (size_t)length);
}

/* The next run begins with what one has proven. */
static void proofs_are_kept(char *text)
{
    write_file("", 0);
    expect_first(HAUL_WAY_PLAIN, HAUL_WAY_PLAIN, NULL);
    haul_comm *comm = open_proofs(1);
    own_is_slow = true;
    call_until(comm, HAUL_WAY_DIRECT);
    own_is_slow = false;
    haul_comm_free(comm);
    const size_t length = rank ? 0 : read_file(text);
    if (!rank && !length)
        fail("no proofs were written", length);
    expect_first(HAUL_WAY_PLAIN, HAUL_WAY_DIRECT, NULL);
    /* of two programs at a time each keeps its part */
    replace_text(text, "window 16", "window 17");
    comm = open_proofs(1);
    message_is_slow = true;
    call_until(comm, HAUL_WAY_PLAIN);
    for (int i = 0; i < CALLS_MOST; i++)
        exchange(comm, true);
    message_is_slow = false;
    haul_comm_free(comm);
    char both[FILE_MOST];
    if (!rank && (read_file(both), !strstr(both, "window 16") || !strstr(both, "window 17")))
        fail("a part was lost", 0);
}

/* Proofs of something else, or damaged ones, are told, and change nothing. */
static void other_proofs_are_ignored(const char *text)
{
    enum { DAMAGES = 60 };
    static const char *const others[][3] = {
        {"haul-proofs 1 ", "haul-proofs 1 9", "another version"},
        {" mpi ", " mpi Other_", "another MPI"},
        {" hosts ", " hosts another", "other hosts"},
        {"proof all-to-all-v ", "proof all-to-all-w ", "no proofs"},
        {"proof all-to-all-v ", "proof all-to-all-v 99999999999999999999", "no proofs"},
        {" plain ", " faster ", "no proofs"},
        {" plain ", " plain 4000000000 ", "no proofs"},
        {"haul-proofs", "proofs", "not kept"},
    };
    char now[FILE_MOST];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        replace_text(text, others[i][0], others[i][1]);
        expect_first(HAUL_WAY_PLAIN, HAUL_WAY_PLAIN, others[i][2]);
    }
    if (!rank && (read_file(now), strncmp(now, "proofs 1", 8) != 0))
        fail("another's file was written to", 0);
    for (size_t i = 0, length = strlen(text); i < DAMAGES; i++) {
        char damaged[FILE_MOST];
        memcpy(damaged, text, length + 1);
        if (length)
            damaged[i * length / DAMAGES] = (char)(i % 3 ? ' ' + 7 * i % 90 : 0);
        write_file(damaged, i % 2 ? length : i * length / DAMAGES);
        haul_comm *comm = open_proofs(1);
        exchange(comm, true);
        exchange(comm, false);
        haul_comm_free(comm);
    }
}

int main(int argc, char **argv)
{
    static char text[FILE_MOST];
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    short_programs_pay_nothing();
    slow_ways_are_rare();
    faster_ways_run();
    left_calls_are_explained();
    own_calls_are_left();
    proofs = argc > 1 ? argv[1] : proofs;
    proofs_are_kept(text);
    other_proofs_are_ignored(text);
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Finalize();
    return all > 0;
}
