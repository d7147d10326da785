/* Which calls of MPI met. Messages do not overtake each other: of those from one process to another
 * by one communicator and tag the first that was sent is the first that was asked for. Collectives
 * of a communicator are called in one order by all its processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/intervals.h"
#include "base/order.h"
#include "workload/mpi_calls.h"

enum { SIZE_CLASSES = 65 };

/* An operation of a thread by its times. */
typedef struct host_op {
    hl_workload_mpi_moment at;
    uint32_t op;
    bool is_taken; /* as the call that began something */
} host_op;

typedef struct matcher {
    hl_workload_builder *builder;
    host_op *hosts;
    size_t host_count;
    uint32_t *sends, *receives, *collectives; /* numbers of calls, in order of what they meet by */
    size_t send_count, receive_count, collective_count;
    int64_t *last_ns; /* of each operation: when the last message that it waited for could go on */
    int64_t shortest_ns[SIZE_CLASSES]; /* of a message of so many bits of bytes; 0: none */
    uint32_t entry_name;
    int32_t pair[2]; /* of the last message, and its stream */
    uint32_t pair_stream;
    bool is_changed;
} matcher;

/* --- operations by their times */

static int compare_moments(const hl_workload_mpi_moment *a, const hl_workload_mpi_moment *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return hl_base_compare_signed(a->dur_ns, b->dur_ns);
}

static int compare_hosts(const void *a, const void *b)
{
    const host_op *x = a, *y = b;
    const int order = compare_moments(&x->at, &y->at);
    return order ? order : hl_base_compare_unsigned(x->op, y->op);
}

static int compare_to_host(const void *host, const void *moment)
{
    return compare_moments(&((const host_op *)host)->at, moment);
}

static bool list_hosts(matcher *self)
{
    const hl_workload_builder *const of = self->builder;
    self->hosts = malloc((of->op_count + 1) * sizeof *self->hosts);
    for (uint32_t i = 0; self->hosts && i < of->op_count; i++)
        if (of->ops[i].kind == HAUL_OP_CALL || of->ops[i].kind == HAUL_OP_SYNC)
            self->hosts[self->host_count++] = (host_op){
                .at = {of->ops[i].start_ns, of->ops[i].dur_ns, of->ops[i].thread}, .op = i};
    if (self->hosts)
        hl_base_order_items(self->hosts, self->host_count, sizeof *self->hosts, compare_hosts);
    return self->hosts;
}

/* The operation of a call, HAUL_NONE where it is not there; of equal ones, one after another. */
static uint32_t op_at(matcher *self, const hl_workload_mpi_moment *moment, bool takes)
{
    const hl_base_sorted in = {self->hosts, self->host_count, sizeof *self->hosts, compare_to_host};
    for (size_t i = hl_base_sorted_before(in, moment, false);
         i < self->host_count && !compare_moments(&self->hosts[i].at, moment); i++) {
        if (takes && self->hosts[i].is_taken)
            continue;
        self->hosts[i].is_taken |= takes;
        return self->hosts[i].op;
    }
    return HAUL_NONE;
}

/* --- what meets */

static int compare_keys(const hl_workload_mpi_call *a, const hl_workload_mpi_call *b)
{
    const bool a_sends = a->way == HL_WORKLOAD_MPI_SENDS, b_sends = b->way == HL_WORKLOAD_MPI_SENDS;
    int order = hl_base_compare_signed(a->comm, b->comm);
    if (!order)
        order = hl_base_compare_signed(a_sends ? a->rank : a->peer, b_sends ? b->rank : b->peer);
    if (!order)
        order = hl_base_compare_signed(a_sends ? a->peer : a->rank, b_sends ? b->peer : b->rank);
    return order ? order : hl_base_compare_signed(a->tag, b->tag);
}

/* A call to sort; numbers of calls alone would need the array they are of. */
typedef struct sorted_call {
    const hl_workload_mpi_call *of;
    uint32_t number;
} sorted_call;

static int compare_messages(const void *a, const void *b)
{
    const sorted_call *x = a, *y = b;
    int order = compare_keys(x->of, y->of);
    if (!order)
        order = hl_base_compare_signed(x->of->post.start_ns, y->of->post.start_ns);
    return order ? order : hl_base_compare_signed(x->number, y->number);
}

static int compare_collectives(const void *a, const void *b)
{
    const sorted_call *x = a, *y = b;
    int order = hl_base_compare_signed(x->of->comm, y->of->comm);
    if (!order)
        order = hl_base_compare_signed(x->of->rank, y->of->rank);
    if (!order)
        order = hl_base_compare_signed(x->of->post.start_ns, y->of->post.start_ns);
    return order ? order : hl_base_compare_signed(x->number, y->number);
}

static bool is_of(const hl_workload_mpi_call *call, int kind)
{
    const int of = call->way <= HL_WORKLOAD_MPI_RECEIVES ? (int)call->way : HL_WORKLOAD_MPI_ALL;
    return of == kind && call->comm_size && !call->is_matched;
}

/* The numbers of the calls of a kind in order; NULL without memory. */
static uint32_t *list_calls(matcher *self, int kind, int (*compare)(const void *, const void *),
                            size_t *count)
{
    const hl_workload_builder *const of = self->builder;
    sorted_call *const calls = malloc((of->mpi_call_count + 1) * sizeof *calls);
    uint32_t *const numbers = malloc((of->mpi_call_count + 1) * sizeof *numbers);
    *count = 0;
    for (uint32_t i = 0; calls && i < of->mpi_call_count; i++)
        if (is_of(&of->mpi_calls[i], kind))
            calls[(*count)++] = (sorted_call){&of->mpi_calls[i], i};
    if (calls)
        hl_base_order_items(calls, *count, sizeof *calls, compare);
    for (size_t i = 0; calls && numbers && i < *count; i++)
        numbers[i] = calls[i].number;
    self->builder->failed |= !calls || !numbers;
    free(calls);
    return numbers;
}

/* --- messages */

static int64_t end_of(const hl_workload_mpi_moment *moment)
{
    return hl_base_end_of(moment->start_ns, moment->dur_ns);
}

static unsigned size_class(uint64_t bytes)
{
    unsigned bits = 0;
    for (; bytes; bytes >>= 1)
        bits++;
    return bits;
}

/* From when a message could go on: it is sent, and where the sender still waited in its call, asked
 * for too. */
static int64_t begin_of(const hl_workload_mpi_call *send, const hl_workload_mpi_call *receive)
{
    const int64_t sent_ns = send->post.start_ns, asked_ns = receive->post.start_ns;
    const bool sender_waits = send->blocks && asked_ns > sent_ns && end_of(&send->post) > asked_ns;
    return sender_waits ? asked_ns : sent_ns;
}

/* Each pair that met, in turn; a receive that ended before its message was sent is none of it. */
typedef void each_pair(matcher *self, hl_workload_mpi_call *send, hl_workload_mpi_call *receive);

static void for_pairs(matcher *self, each_pair *act)
{
    hl_workload_mpi_call *const calls = self->builder->mpi_calls;
    size_t s = 0, r = 0;
    while (s < self->send_count && r < self->receive_count) {
        hl_workload_mpi_call *const send = &calls[self->sends[s]];
        hl_workload_mpi_call *const receive = &calls[self->receives[r]];
        const int order = compare_keys(send, receive);
        s += order <= 0;
        r += order >= 0;
        if (!order && receive->done.thread != HAUL_NONE &&
            end_of(&receive->done) >= send->post.start_ns)
            act(self, send, receive);
    }
}

static void note_shortest(matcher *self, hl_workload_mpi_call *send, hl_workload_mpi_call *receive)
{
    const int64_t took_ns = end_of(&receive->done) - begin_of(send, receive);
    int64_t *const shortest_ns = &self->shortest_ns[size_class(send->bytes)];
    if (took_ns > 0 && (!*shortest_ns || took_ns < *shortest_ns))
        *shortest_ns = took_ns;
    const uint32_t wait = op_at(self, &receive->done, false);
    if (wait != HAUL_NONE && begin_of(send, receive) > self->last_ns[wait])
        self->last_ns[wait] = begin_of(send, receive);
}

/* When a message went on and had come. Where the receiver waited for nothing but this one, that is
 * the end of its wait. Of several that one call waited for the last one held it up; of the others,
 * and of those that were there when the receiver looked, it is not told, and they are taken to have
 * been as quick as the quickest of their size. A message that came while the receiver waited,
 * though sent before, went on when it began to: MPIs move data in calls of theirs. */
typedef struct passage {
    int64_t begin_ns, end_ns;
    bool began_with_wait;
} passage;

static passage passage_of(const matcher *self, const hl_workload_mpi_call *send,
                          const hl_workload_mpi_call *receive, uint32_t wait)
{
    const int64_t begin_ns = begin_of(send, receive), end_ns = end_of(&receive->done);
    const int64_t quick_ns = self->shortest_ns[size_class(send->bytes)];
    const int64_t wait_ns = receive->done.start_ns;
    passage made = {begin_ns, end_ns, false};
    if (begin_ns >= wait_ns && begin_ns >= self->last_ns[wait])
        return made;
    const bool is_last = begin_ns >= self->last_ns[wait];
    if (is_last && end_ns - wait_ns > quick_ns + quick_ns / 2) {
        made.begin_ns = wait_ns;
        made.began_with_wait = true;
    } else if (begin_ns + quick_ns < end_ns) {
        made.end_ns = begin_ns + quick_ns;
    }
    return made;
}

static uint32_t stream_named(matcher *self, uint64_t place, uint64_t id, const char *name)
{
    hl_workload_builder *const of = self->builder;
    for (uint32_t i = (uint32_t)of->streams.count; i-- > 0;) {
        const haul_workload_stream *const stream =
            &((const haul_workload_stream *)of->streams.items)[i];
        if (stream->device == HAUL_NONE && stream->context == place && stream->id == id &&
            stream->name && !strcmp(stream->name, name))
            return i;
    }
    const char *const kept = hl_base_arena_string(&of->arena, name);
    const haul_workload_stream stream = {
        .device = HAUL_NONE, .context = place, .id = id, .name = kept};
    of->failed |= !kept;
    return hl_workload_builder_stream(of, &stream);
}

static uint32_t stream_of_pair(matcher *self, const hl_workload_mpi_call *send,
                               const hl_workload_mpi_call *receive)
{
    const bool is_far = send->host != receive->host;
    if (self->pair_stream != HAUL_NONE && self->pair[0] == send->rank &&
        self->pair[1] == receive->rank)
        return self->pair_stream;
    self->pair[0] = send->rank;
    self->pair[1] = receive->rank;
    char name[96];
    (void)snprintf(name, sizeof name, "messages from rank %d to %d%s", send->rank, receive->rank,
                   is_far ? ", between nodes" : "");
    self->pair_stream =
        stream_named(self, is_far ? HL_WORKLOAD_BETWEEN_NODES : HL_WORKLOAD_WITHIN_NODE,
                     (uint64_t)(uint32_t)send->rank << 32 | (uint32_t)receive->rank, name);
    return self->pair_stream;
}

/* An entry into a call that waits: what others of it wait for. It takes no time. */
static uint32_t add_entry(matcher *self, uint32_t call)
{
    hl_workload_builder *const of = self->builder;
    const haul_op *const like = &of->ops[call];
    const haul_op entry = {.kind = HAUL_OP_CALL,
                           .flags = HAUL_OP_HAS_CALL,
                           .start_ns = like->start_ns,
                           .call_ns = like->start_ns,
                           .name = self->entry_name,
                           .stream = HAUL_NONE,
                           .thread = like->thread,
                           .stream_prev = HAUL_NONE,
                           .thread_prev = like->thread_prev};
    const uint32_t made = hl_workload_builder_op(of, &entry);
    if (!of->failed)
        of->ops[call].thread_prev = made;
    return made;
}

static void make_wait(matcher *self, uint32_t call, uint32_t message)
{
    haul_op *const op = &self->builder->ops[call];
    if (op->kind == HAUL_OP_CALL)
        op->detail = HAUL_SYNC_EVENT;
    op->kind = HAUL_OP_SYNC;
    hl_workload_builder_edge(self->builder, message, call);
    self->is_changed = true;
}

/* The call that sends becomes its message. */
static void make_message(matcher *self, hl_workload_mpi_call *send, hl_workload_mpi_call *receive)
{
    hl_workload_builder *const of = self->builder;
    const uint32_t message = op_at(self, &send->post, true);
    const uint32_t asked = op_at(self, &receive->post, true);
    const uint32_t wait = receive->blocks ? asked : op_at(self, &receive->done, false);
    if (of->failed || message == HAUL_NONE || wait == HAUL_NONE || asked == HAUL_NONE ||
        of->ops[message].kind != HAUL_OP_CALL)
        return;
    const passage way = passage_of(self, send, receive, wait);
    const int64_t begin_ns = way.begin_ns;
    const uint32_t stream = stream_of_pair(self, send, receive);
    if (way.began_with_wait)
        hl_workload_builder_edge(of, add_entry(self, wait), message);
    else if (begin_ns > send->post.start_ns)
        hl_workload_builder_edge(of, receive->blocks ? add_entry(self, asked) : asked, message);
    if (of->failed)
        return;
    haul_op *const op = &of->ops[message];
    op->kind = HAUL_OP_MESSAGE;
    op->direction = HAUL_MESSAGE_SENT;
    op->detail = HAUL_MEMORY_HOST;
    op->bytes = send->bytes;
    op->stream = stream;
    op->start_ns = begin_ns;
    op->dur_ns = way.end_ns > begin_ns ? way.end_ns - begin_ns : 0;
    /* It waited for its data to go, not for their copy alone. */
    if (send->blocks && end_of(&send->post) - begin_ns > op->dur_ns / 2)
        op->flags |= HAUL_OP_BLOCKS;
    make_wait(self, wait, message);
    send->is_matched = receive->is_matched = true;
}

/* --- collectives */

/* The calls of one collective, one of each process. */
typedef struct meeting {
    hl_workload_mpi_call **calls;
    uint32_t *posts, *waits; /* their operations */
    size_t count;
} meeting;

static bool awaits(const hl_workload_mpi_call *call)
{
    if (call->way == HL_WORKLOAD_MPI_ALL)
        return true;
    return (call->rank == call->peer) == (call->way == HL_WORKLOAD_MPI_TO_ROOT);
}

static bool is_awaited(const hl_workload_mpi_call *call)
{
    if (call->way == HL_WORKLOAD_MPI_ALL)
        return true;
    return (call->rank == call->peer) == (call->way == HL_WORKLOAD_MPI_FROM_ROOT);
}

/* When the last one had entered that others wait for, and when the first that waited had left. */
static haul_op times_of(const meeting *of)
{
    int64_t begin_ns = INT64_MIN, took_ns = INT64_MAX;
    haul_op made = {.kind = HAUL_OP_MESSAGE,
                    .direction = HAUL_MESSAGE_SENT,
                    .detail = HAUL_MEMORY_HOST,
                    .thread = HAUL_NONE,
                    .thread_prev = HAUL_NONE};
    for (size_t i = 0; i < of->count; i++) {
        const hl_workload_mpi_call *const call = of->calls[i];
        const int64_t in_ns = call->blocks ? call->post.start_ns : end_of(&call->post);
        if (is_awaited(call) && in_ns > begin_ns)
            begin_ns = in_ns;
        made.bytes = call->bytes > made.bytes ? call->bytes : made.bytes;
    }
    for (size_t i = 0; i < of->count; i++) {
        const hl_workload_mpi_call *const call = of->calls[i];
        const int64_t since_ns = call->post.start_ns > begin_ns ? call->post.start_ns : begin_ns;
        const int64_t left_ns = end_of(&call->done) - since_ns;
        if (awaits(call) && left_ns < took_ns)
            took_ns = left_ns;
    }
    made.start_ns = begin_ns;
    made.dur_ns = took_ns > 0 && took_ns != INT64_MAX ? took_ns : 0;
    return made;
}

static uint32_t stream_of_meeting(matcher *self, const meeting *of)
{
    bool is_far = false;
    char name[96];
    for (size_t i = 1; i < of->count; i++)
        is_far |= of->calls[i]->host != of->calls[0]->host;
    (void)snprintf(name, sizeof name, "collectives of %zu ranks from rank %d on%s", of->count,
                   of->calls[0]->rank, is_far ? ", between nodes" : "");
    return stream_named(self, is_far ? HL_WORKLOAD_BETWEEN_NODES : HL_WORKLOAD_WITHIN_NODE,
                        of->calls[0]->comm, name);
}

/* Where the root is none of them, as where roots and ranks are numbered differently, no call waits,
 * or for none. */
static bool has_both_sides(const meeting *of)
{
    bool some_await = false, some_are_awaited = false;
    for (size_t i = 0; i < of->count; i++) {
        some_await |= awaits(of->calls[i]);
        some_are_awaited |= is_awaited(of->calls[i]);
    }
    return some_await && some_are_awaited;
}

static void make_collective(matcher *self, const meeting *of)
{
    hl_workload_builder *const builder = self->builder;
    if (!has_both_sides(of))
        return;
    for (size_t i = 0; i < of->count; i++) {
        of->posts[i] = op_at(self, &of->calls[i]->post, true);
        of->waits[i] = of->calls[i]->blocks ? of->posts[i]
                       : of->calls[i]->done.thread == HAUL_NONE
                           ? HAUL_NONE
                           : op_at(self, &of->calls[i]->done, false);
        if (of->posts[i] == HAUL_NONE || of->waits[i] == HAUL_NONE)
            return;
    }
    haul_op made = times_of(of);
    made.stream = stream_of_meeting(self, of);
    made.name = builder->ops[of->posts[0]].name;
    const uint32_t message = hl_workload_builder_op(builder, &made);
    for (size_t i = 0; i < of->count && !builder->failed; i++) {
        const hl_workload_mpi_call *const call = of->calls[i];
        if (is_awaited(call))
            hl_workload_builder_edge(
                builder, call->blocks ? add_entry(self, of->posts[i]) : of->posts[i], message);
        if (awaits(call) && !builder->failed)
            make_wait(self, of->waits[i], message);
        of->calls[i]->is_matched = true;
    }
}

/* Calls of a communicator lie in runs of one rank: the n-th of each run are of one collective. */
static void make_collectives_of(matcher *self, const uint32_t *numbers, size_t count)
{
    hl_workload_mpi_call *const calls = self->builder->mpi_calls;
    const size_t ranks = calls[numbers[0]].comm_size;
    size_t *const begins = malloc((ranks + 1) * sizeof *begins);
    meeting of = {.calls = malloc(ranks * sizeof(hl_workload_mpi_call *)),
                  .posts = malloc(ranks * sizeof *of.posts),
                  .waits = malloc(ranks * sizeof *of.waits),
                  .count = ranks};
    size_t runs = 0, fewest = count;
    self->builder->failed |= !begins || !of.calls || !of.posts || !of.waits;
    for (size_t i = 0; i < count && !self->builder->failed; i++)
        if (!i || calls[numbers[i]].rank != calls[numbers[i - 1]].rank) {
            if (runs < ranks)
                begins[runs] = i;
            runs++;
        }
    if (!self->builder->failed && runs == ranks) {
        begins[ranks] = count;
        for (size_t k = 0; k < ranks; k++)
            fewest = begins[k + 1] - begins[k] < fewest ? begins[k + 1] - begins[k] : fewest;
        for (size_t n = 0; n < fewest; n++) {
            bool is_one = true;
            for (size_t k = 0; k < ranks; k++) {
                of.calls[k] = &calls[numbers[begins[k] + n]];
                is_one &= of.calls[k]->way == of.calls[0]->way;
            }
            if (is_one)
                make_collective(self, &of);
        }
    }
    free(begins);
    free(of.calls);
    free(of.posts);
    free(of.waits);
}

static void make_collectives(matcher *self)
{
    const hl_workload_mpi_call *const calls = self->builder->mpi_calls;
    for (size_t i = 0, end; i < self->collective_count && !self->builder->failed; i = end) {
        const uint32_t comm = calls[self->collectives[i]].comm;
        for (end = i + 1; end < self->collective_count;)
            if (calls[self->collectives[end]].comm == comm)
                end++;
            else
                break;
        if (calls[self->collectives[i]].comm_size > 1 &&
            calls[self->collectives[i]].comm_size <= end - i)
            make_collectives_of(self, self->collectives + i, end - i);
    }
}

/* --- the order of operations */

/* Messages of a stream go one after another: one begins when the one before it has come. */
static void line_up(hl_workload_builder *of, const uint32_t *order)
{
    int64_t *const until_ns = malloc((of->streams.count + 1) * sizeof *until_ns);
    of->failed |= !until_ns;
    for (size_t s = 0; until_ns && s < of->streams.count; s++)
        until_ns[s] = INT64_MIN;
    for (size_t i = 0; until_ns && i < of->op_count; i++) {
        haul_op *const op = &of->ops[order[i]];
        if (op->kind != HAUL_OP_MESSAGE || op->stream == HAUL_NONE)
            continue;
        const int64_t end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
        if (op->start_ns < until_ns[op->stream]) {
            op->start_ns = until_ns[op->stream];
            op->dur_ns = end_ns > op->start_ns ? end_ns - op->start_ns : 0;
        }
        until_ns[op->stream] = hl_base_end_of(op->start_ns, op->dur_ns);
    }
    free(until_ns);
}

static bool order_ops(const hl_workload_builder *of, uint32_t *order)
{
    const hl_base_keys keys = {&of->ops[0].start_ns, sizeof *of->ops, HL_KEYS_SIGNED};
    for (uint32_t i = 0; i < of->op_count; i++)
        order[i] = i;
    return hl_base_order_sort(order, of->op_count, &keys);
}

static void move_origins(hl_workload_builder *of, const uint32_t *order, size_t known)
{
    for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++) {
        if (!of->origins[k])
            continue;
        uint32_t *const moved = malloc((of->op_count + 1) * sizeof(uint32_t));
        of->failed |= !moved;
        for (size_t i = 0; moved && i < of->op_count; i++)
            moved[i] = order[i] < known ? of->origins[k][order[i]] : HAUL_NONE;
        if (moved) {
            free(of->origins[k]);
            of->origins[k] = moved;
        }
    }
}

/* `known`: operations that have origins. */
static void put_in_order(hl_workload_builder *of, size_t known)
{
    uint32_t *const order = malloc((of->op_count + 1) * sizeof *order);
    uint32_t *const places = malloc((of->op_count + 1) * sizeof *places);
    haul_op *const moved = malloc((of->op_count + 1) * sizeof *moved);
    of->failed |= !order || !places || !moved || !order_ops(of, order);
    if (!of->failed)
        line_up(of, order);
    of->failed |= of->failed || !order_ops(of, order);
    if (!of->failed) {
        for (uint32_t i = 0; i < of->op_count; i++)
            places[order[i]] = i;
        for (size_t i = 0; i < of->op_count; i++) {
            moved[i] = of->ops[order[i]];
            if (moved[i].thread_prev != HAUL_NONE)
                moved[i].thread_prev = places[moved[i].thread_prev];
        }
        memcpy(of->ops, moved, of->op_count * sizeof *moved);
        for (size_t i = 0; i < of->edge_count; i++)
            of->edges[i] = (haul_edge){places[of->edges[i].before], places[of->edges[i].after]};
        move_origins(of, order, known);
    }
    free(order);
    free(places);
    free(moved);
}

void hl_workload_mpi_match(hl_workload_builder *builder)
{
    matcher self = {.builder = builder, .pair_stream = HAUL_NONE};
    const size_t known = builder->op_count;
    if (builder->failed || !builder->mpi_call_count)
        return;
    self.last_ns = malloc((known + 1) * sizeof *self.last_ns);
    builder->failed |= !self.last_ns || !list_hosts(&self);
    for (size_t i = 0; self.last_ns && i < known; i++)
        self.last_ns[i] = INT64_MIN;
    self.sends = list_calls(&self, HL_WORKLOAD_MPI_SENDS, compare_messages, &self.send_count);
    self.receives =
        list_calls(&self, HL_WORKLOAD_MPI_RECEIVES, compare_messages, &self.receive_count);
    self.collectives =
        list_calls(&self, HL_WORKLOAD_MPI_ALL, compare_collectives, &self.collective_count);
    if (!builder->failed) {
        self.entry_name = hl_workload_builder_string(builder, "(enters)", strlen("(enters)"));
        for_pairs(&self, note_shortest);
        for_pairs(&self, make_message);
        make_collectives(&self);
    }
    if (!builder->failed && self.is_changed)
        put_in_order(builder, known);
    free(self.hosts);
    free(self.last_ns);
    free(self.sends);
    free(self.receives);
    free(self.collectives);
}
