/* libhaul-mpi's exchanges beside MPI's own, byte for byte: every way, nodes of several sizes, with
 * and without helpers. usage: collectives [as-they-are]: with the nodes that the MPI knows */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/mpi.h"

enum { TEXT = 600, CASES_OF_V = 6, CALLS = 60, GAP_MOST = 5 };

typedef struct setup {
    haul_comm *comm;
    MPI_Comm owners; /* MPI_COMM_NULL on helpers */
    int size, rank;  /* among owners; -1 */
    haul_way way;
    unsigned per_node;
    unsigned long failures;
} setup;

static unsigned long state;

/* The same numbers on all processes. */
static unsigned pick(unsigned most)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(state >> 33) % most;
}

static void fill(unsigned char *bytes, size_t count, unsigned of)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 7 + (size_t)of * 131 + (i >> 8));
}

static void fail(setup *self, const char *what, const haul_error *error)
{
    self->failures++;
    fprintf(stderr, "rank %d of %d, way %s, %u a node: %s: %s\n", self->rank, self->size,
            haul_way_text(self->way, HAUL_MEMORY_HOST), self->per_node, what,
            error ? error->text : "differs");
}

/* `error` is NULL where the call has passed. */
static void compare(setup *self, const haul_error *error, const char *what, const void *got,
                    const void *expected, size_t bytes)
{
    if (error)
        fail(self, what, error);
    else if (bytes && memcmp(got, expected, bytes) != 0)
        fail(self, what, NULL);
}

static void try_all(setup *self, size_t bytes, bool in_place)
{
    haul_error error;
    if (self->rank < 0) {
        const haul_address none = {NULL, 0, NULL};
        const haul_status status = haul_comm_alltoall(self->comm, none, none, 0, &error);
        compare(self, status ? &error : NULL, "helping", NULL, NULL, 0);
        return;
    }
    const size_t all = bytes * (size_t)self->size + 1;
    unsigned char *send = malloc(all), *got = malloc(all), *expected = malloc(all);
    fill(send, all, (unsigned)self->rank);
    memset(got, 0xee, all);
    memset(expected, 0xee, all);
    if (in_place)
        memcpy(got, send, all - 1);
    MPI_Alltoall(send, (int)bytes, MPI_BYTE, expected, (int)bytes, MPI_BYTE, self->owners);
    const haul_address from = in_place ? haul_in_place() : haul_in_host(send);
    const haul_status status =
        haul_comm_alltoall(self->comm, from, haul_in_host(got), bytes, &error);
    compare(self, status ? &error : NULL, in_place ? "all-to-all in place" : "all-to-all", got,
            expected, all);
    free(send);
    free(got);
    free(expected);
}

/* Counts of every pair, alike on all processes; zero ones among them, and gaps between blocks. */
typedef struct counts {
    size_t *sends, *receives, *to, *from;
    size_t send_end, receive_end; /* in items */
} counts;

static counts make_counts(const setup *self, unsigned most, bool is_symmetric)
{
    const size_t n = (size_t)self->size;
    size_t *matrix = calloc(n * n, sizeof *matrix);
    counts made = {malloc(n * sizeof(size_t)),
                   malloc(n * sizeof(size_t)),
                   malloc(n * sizeof(size_t)),
                   malloc(n * sizeof(size_t)),
                   0,
                   0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            matrix[i * n + j] = pick(3) ? pick(most) : 0;
            if (is_symmetric && j < i)
                matrix[i * n + j] = matrix[j * n + i];
        }
    const unsigned gap = pick(GAP_MOST);
    for (size_t i = 0; self->rank >= 0 && i < n; i++) {
        made.sends[i] = matrix[(size_t)self->rank * n + i];
        made.receives[i] = matrix[i * n + (size_t)self->rank];
        made.to[i] = made.send_end + gap;
        made.from[i] = made.receive_end;
        made.send_end = made.to[i] + made.sends[i];
        made.receive_end = made.from[i] + made.receives[i] + gap;
    }
    free(matrix);
    return made;
}

static void free_counts(counts *of)
{
    free(of->sends);
    free(of->receives);
    free(of->to);
    free(of->from);
}

static void expect_v(const setup *self, const counts *of, size_t item, const unsigned char *send,
                     unsigned char *expected)
{
    MPI_Datatype type;
    const size_t n = (size_t)self->size;
    int *numbers = malloc(4 * n * sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (int)of->sends[i];
        numbers[n + i] = (int)of->to[i];
        numbers[2 * n + i] = (int)of->receives[i];
        numbers[3 * n + i] = (int)of->from[i];
    }
    MPI_Type_contiguous((int)item, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(send, numbers, numbers + n, type, expected, numbers + 2 * n, numbers + 3 * n,
                  type, self->owners);
    MPI_Type_free(&type);
    free(numbers);
}

static void try_v(setup *self, unsigned most, size_t item, bool in_place)
{
    haul_error error;
    counts of = make_counts(self, most, in_place);
    if (self->rank < 0) {
        compare(self, haul_comm_alltoallv(self->comm, NULL, &error) ? &error : NULL, "helping",
                NULL, NULL, 0);
        free_counts(&of);
        return;
    }
    if (in_place)
        memcpy(of.to, of.from, (size_t)self->size * sizeof *of.to);
    const size_t out = (in_place ? of.receive_end : of.send_end) * item + 1;
    const size_t in = of.receive_end * item + 1;
    unsigned char *send = malloc(out), *got = malloc(in), *expected = malloc(in);
    fill(send, out, (unsigned)self->rank);
    memset(got, 0xee, in);
    memset(expected, 0xee, in);
    if (in_place) {
        memcpy(got, send, in);
        memcpy(expected, send, in);
    }
    expect_v(self, &of, item, send, expected);
    const haul_alltoallv_blocks blocks = {in_place ? haul_in_place() : haul_in_host(send),
                                          {of.sends, of.to},
                                          haul_in_host(got),
                                          {of.receives, of.from},
                                          item};
    const haul_status status = haul_comm_alltoallv(self->comm, &blocks, &error);
    compare(self, status ? &error : NULL, in_place ? "all-to-all-v in place" : "all-to-all-v", got,
            expected, in);
    free(send);
    free(got);
    free(expected);
    free_counts(&of);
}

/* Several messages between each two, in order. */
static void try_messages(setup *self, unsigned most)
{
    enum { EACH = 3 };
    haul_error error;
    const size_t n = (size_t)self->size * EACH;
    uint64_t *bytes = malloc(n * (size_t)self->size * sizeof *bytes);
    for (size_t i = 0; i < n * (size_t)self->size; i++)
        bytes[i] = pick(most);
    if (self->rank < 0) {
        compare(self, haul_comm_exchange(self->comm, NULL, &error) ? &error : NULL, "helping", NULL,
                NULL, 0);
        free(bytes);
        return;
    }
    haul_comm_message *sends = malloc(2 * n * sizeof *sends), *receives = sends + n;
    unsigned char *send = malloc(n * most), *got = calloc(n, most), *expected = calloc(n, most);
    fill(send, n * most, (unsigned)self->rank);
    for (size_t i = 0; i < n; i++) {
        const size_t peer = i % (size_t)self->size, k = i / (size_t)self->size;
        const size_t own = (size_t)self->rank;
        const uint64_t out = bytes[own * n + peer * EACH + k],
                       in = bytes[peer * n + own * EACH + k];
        sends[i] = (haul_comm_message){(int)peer, out, i * most};
        receives[i] = (haul_comm_message){(int)peer, in, i * most};
        unsigned char *theirs = malloc(n * most);
        fill(theirs, n * most, (unsigned)peer);
        memcpy(expected + i * most, theirs + (k * (size_t)self->size + own) * most, in);
        free(theirs);
    }
    const haul_comm_messages messages = {haul_in_host(send), sends,    n,
                                         haul_in_host(got),  receives, n};
    const haul_status status = haul_comm_exchange(self->comm, &messages, &error);
    compare(self, status ? &error : NULL, "messages", got, expected, n * most);
    free(sends);
    free(send);
    free(got);
    free(expected);
    free(bytes);
}

static void check_explained(setup *self)
{
    int ways[64], own = (int)haul_comm_way(self->comm);
    const char *text = haul_comm_explain(self->comm);
    if (self->rank < 0)
        return;
    if (!strstr(text, haul_way_text((haul_way)own, HAUL_MEMORY_HOST)))
        fail(self, text, NULL);
    MPI_Allgather(&own, 1, MPI_INT, ways, 1, MPI_INT, self->owners);
    for (int i = 0; i < self->size; i++)
        if (ways[i] != own)
            fail(self, "processes chose differently", NULL);
}

/* Every owner sends every other `bytes`; whether this was agreed on, for a trial. */
static bool send_each(setup *self, size_t bytes)
{
    haul_error error;
    char said[64];
    const size_t n = (size_t)self->size, all = n * bytes;
    size_t *each = malloc(n * sizeof *each);
    unsigned char *send = calloc(all, 1), *got = malloc(all);
    for (size_t i = 0; i < n; i++)
        each[i] = bytes;
    const haul_alltoallv_blocks blocks = {
        haul_in_host(send), {each, NULL}, haul_in_host(got), {each, NULL}, 1};
    const haul_status status = haul_comm_alltoallv(self->comm, &blocks, &error);
    compare(self, status ? &error : NULL, "sizes in turn", got, send, all);
    const char *text = haul_comm_explain(self->comm);
    snprintf(said, sizeof said, ", %zu bytes in %zu messages of", bytes * (n - 1), n - 1);
    if (!strstr(text, said))
        fail(self, text, NULL);
    free(each);
    free(send);
    free(got);
    return strstr(text, "messages of one:");
}

/* Sizes that take turns are both tried, and each call's own size is told. */
static unsigned long take_turns(void)
{
    enum { TURNS = 30 };
    setup self = {.per_node = 0};
    haul_error error;
    unsigned small = 0, large = 0;
    const haul_comm_options options = {.trial_share = 1};
    if (haul_comm_new(MPI_COMM_WORLD, &options, &self.comm, &error)) {
        fail(&self, "haul_comm_new", &error);
        return self.failures;
    }
    self.size = haul_comm_size(self.comm);
    self.rank = haul_comm_rank(self.comm);
    for (int turn = 0; self.size > 1 && turn < TURNS; turn++) {
        small += send_each(&self, 8);
        large += send_each(&self, 1 << 20);
    }
    if (self.size > 1 && (!small || !large))
        fail(&self, "one of two sizes in turn was never tried", NULL);
    haul_comm_free(self.comm);
    return self.failures;
}

/* As many bytes in one message and in many are two choices, with predicted times of their own. */
static unsigned long number_of_messages_counts(const haul_machine *machine)
{
    enum { BYTES = 1 << 20, MANY = 64 };
    const haul_comm_options options = {
        .machine = machine, .way = HAUL_WAY_DIRECT, .ranks_per_node = 1};
    setup self = {.per_node = 1};
    haul_error error;
    char said[2][2048];
    if (haul_comm_new(MPI_COMM_WORLD, &options, &self.comm, &error)) {
        fail(&self, "haul_comm_new", &error);
        return self.failures;
    }
    self.size = haul_comm_size(self.comm);
    self.rank = haul_comm_rank(self.comm);
    haul_comm_message items[MANY];
    unsigned char *send = calloc(BYTES, 1), *got = calloc(BYTES, 1);
    for (int many = 0; self.size > 1 && many < 2; many++) {
        const uint64_t count = many ? MANY : 1;
        for (uint64_t i = 0; i < count; i++)
            items[i] = (haul_comm_message){(self.rank + 1) % self.size, BYTES / count,
                                           i * (BYTES / count)};
        haul_comm_message from[MANY];
        memcpy(from, items, sizeof from);
        for (uint64_t i = 0; i < count; i++)
            from[i].peer = (self.rank + self.size - 1) % self.size;
        const haul_comm_messages messages = {haul_in_host(send), items, count,
                                             haul_in_host(got),  from,  count};
        compare(&self, haul_comm_exchange(self.comm, &messages, &error) ? &error : NULL,
                "one or many", got, send, BYTES);
        const char *times = strstr(haul_comm_explain(self.comm), "predicted");
        snprintf(said[many], sizeof *said, "%s", times ? times : "");
    }
    if (self.size > 1 && (!*said[0] || !strcmp(said[0], said[1])))
        fail(&self, "one message and many share a choice", NULL);
    free(send);
    free(got);
    haul_comm_free(self.comm);
    return self.failures;
}

static unsigned long try_way(const haul_comm_options *options)
{
    static const size_t sizes[] = {0, 1, 3, 8, 1000, 70000};
    const bool is_of_all = options->way != HAUL_WAY_BRUCK;
    const bool is_of_messages = is_of_all && options->way != HAUL_WAY_PLAIN;
    setup self = {.way = options->way, .per_node = options->ranks_per_node};
    haul_error error;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, options->is_helper ? MPI_UNDEFINED : 0, rank, &self.owners);
    const haul_status status = haul_comm_new(MPI_COMM_WORLD, options, &self.comm, &error);
    if (status) {
        fail(&self, "haul_comm_new", &error);
        return self.failures;
    }
    self.size = haul_comm_size(self.comm);
    self.rank = haul_comm_rank(self.comm);
    state = 12345 + options->ranks_per_node;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        try_all(&self, sizes[i], i % 2);
    for (unsigned i = 0; is_of_all && i < CASES_OF_V; i++)
        try_v(&self, 1 + i * i * i * 40, 1 + i * 4, i % 3 == 2);
    /* long enough that ways are tried and proven, among calls of other sizes */
    for (unsigned i = 0; !options->way && options->ranks_per_node < 2 && i < CALLS; i++)
        try_v(&self, i % 9 == 8 ? 50000 : 20, 1 + i % 2, i % 3 == 2);
    for (unsigned i = 1; is_of_messages && i < 3; i++)
        try_messages(&self, i * 1500);
    if (self.size > 1)
        check_explained(&self);
    if (self.owners != MPI_COMM_NULL)
        MPI_Comm_free(&self.owners);
    haul_comm_free(self.comm);
    return self.failures;
}

/* Ways that cannot run in a setup are refused, which is an answer too. */
static bool can(haul_way way, unsigned per_node, int size, bool with_helpers)
{
    const int owners = with_helpers ? (size + 1) / 2 : size;
    if (way <= HAUL_WAY_DIRECT)
        return true;
    if (way == HAUL_WAY_EXTRA_MESSAGE)
        return with_helpers && per_node != 1 && size > 1;
    if (way == HAUL_WAY_AGGREGATED)
        return !with_helpers && per_node > 1 && size > (int)per_node;
    return owners > 1; /* bruck */
}

int main(int argc, char **argv)
{
    static const haul_way ways[] = {HAUL_WAY_CHOSEN,     HAUL_WAY_PLAIN, HAUL_WAY_DIRECT,
                                    HAUL_WAY_AGGREGATED, HAUL_WAY_BRUCK, HAUL_WAY_EXTRA_MESSAGE};
    static const unsigned nodes[] = {0, 1, 2, 3};
    static const unsigned windows[] = {0, 1, 2, 256};
    unsigned long failures = 0, all = 0;
    int rank, size;
    haul_machine *machine = NULL;
    haul_error error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (haul_machine_load("lassen", &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t n = 0; n < (argc > 1 ? 1 : sizeof nodes / sizeof *nodes); n++)
            for (int helpers = 0; helpers < 2; helpers++) {
                const haul_comm_options options = {.way = ways[w],
                                                   .machine = n == 1 ? NULL : machine,
                                                   .window = windows[(w + n) % 4],
                                                   .time_limit_s = helpers ? 30 : 0,
                                                   .ranks_per_node = nodes[n],
                                                   .trial_share = 1,
                                                   .is_helper = helpers && rank % 2};
                if (can(ways[w], nodes[n], size, helpers))
                    failures += try_way(&options);
            }
    failures += number_of_messages_counts(machine);
    failures += take_turns();
    haul_machine_free(machine);
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Finalize();
    return all > 0;
}
