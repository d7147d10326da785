/* Reads GOAL schedules by the rules of LogGOPSim's txt2bin (src/LogGOPSim/txt2bin.re) and replays
 * them: each message as a rendezvous, so that a send that its receiver never asks for is found. */
#ifndef HAUL_TESTS_GOAL_READER_H
#define HAUL_TESTS_GOAL_READER_H

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOAL_LABEL = 32 };

typedef struct goal_op {
    char label[GOAL_LABEL];
    char kind; /* 's', 'r' or 'c' */
    uint64_t size;
    uint32_t rank, peer, tag, cpu;
    bool is_started, is_done;
    size_t first_edge;
    double end_ns;
} goal_op;

typedef struct goal_edge {
    size_t op, before;
} goal_edge;

typedef struct goal {
    goal_op *ops;
    size_t count, capacity;
    goal_edge *edges;
    size_t edge_count, edge_capacity;
    size_t *rank_first; /* of ranks, and one more */
    uint64_t ranks, ranks_read, messages, calc_ns, bytes;
    double end_ns;
    char error[200];
} goal;

/* A word of letters, digits and underscores, or one other character; NULL: none is left. */
static const char *goal_word(const char **at, char word[GOAL_LABEL])
{
    size_t length = 0;
    *at += strspn(*at, " \t\r");
    while (length + 1 < GOAL_LABEL && (isalnum((unsigned char)**at) || **at == '_'))
        word[length++] = *(*at)++;
    if (!length && **at)
        word[length++] = *(*at)++;
    word[length] = '\0';
    return length ? word : NULL;
}

static bool goal_is(const char **at, const char *expected)
{
    char word[GOAL_LABEL];
    const char *before = *at;
    if (goal_word(at, word) && !strcmp(word, expected))
        return true;
    *at = before;
    return false;
}

static bool goal_number(const char **at, uint64_t most, uint64_t *number)
{
    char *end = NULL;
    *at += strspn(*at, " \t");
    if (!isdigit((unsigned char)**at))
        return false;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return *number <= most;
}

static size_t goal_find(const goal *self, const char *label)
{
    for (size_t i = self->count; i-- > self->rank_first[self->ranks_read];)
        if (!strcmp(self->ops[i].label, label))
            return i;
    return SIZE_MAX;
}

static void *goal_more(void *items, size_t *capacity, size_t size)
{
    *capacity = *capacity ? 2 * *capacity : 64;
    items = realloc(items, *capacity * size);
    return items ? items : (abort(), NULL);
}

/* "label requires label": both are defined above, in the same rank. */
static bool goal_requires(goal *self, const char **at, const char *label)
{
    char other[GOAL_LABEL];
    const size_t op = goal_find(self, label);
    const size_t before = goal_word(at, other) ? goal_find(self, other) : SIZE_MAX;
    if (op == SIZE_MAX || before == SIZE_MAX)
        return false;
    if (self->edge_count == self->edge_capacity)
        self->edges = (goal_edge *)goal_more(self->edges, &self->edge_capacity, sizeof(goal_edge));
    self->edges[self->edge_count++] = (goal_edge){op, before};
    return true;
}

/* "label: send 8b to 1 tag 3 cpu 2", "label: calc 100 cpu 1". A message of 0 bytes is accepted by
 * txt2bin, but LogGOPSim takes one byte off each. */
static bool goal_operation(goal *self, const char **at, const char *label)
{
    goal_op op = {.kind = 'c', .rank = (uint32_t)self->ranks_read};
    uint64_t peer = 0, number = 0;
    (void)snprintf(op.label, sizeof op.label, "%s", label);
    if (goal_find(self, label) != SIZE_MAX)
        return false;
    if (goal_is(at, "calc")) {
        if (!goal_number(at, UINT64_MAX, &op.size))
            return false;
        self->calc_ns += op.size;
    } else {
        op.kind = goal_is(at, "send") ? 's' : goal_is(at, "recv") ? 'r' : '?';
        if (op.kind == '?' || !goal_number(at, UINT64_MAX, &op.size) || !op.size ||
            !goal_is(at, "b") || !goal_is(at, op.kind == 's' ? "to" : "from") ||
            !goal_number(at, self->ranks - 1, &peer) || peer == self->ranks_read)
            return false;
        if (goal_is(at, "tag") && !goal_number(at, UINT32_MAX - 1, &number))
            return false;
        op.peer = (uint32_t)peer;
        op.tag = (uint32_t)number;
        self->messages += op.kind == 's';
        self->bytes += op.kind == 's' ? op.size : 0;
    }
    number = 0;
    if (goal_is(at, "cpu") && !goal_number(at, 255, &number))
        return false;
    op.cpu = (uint32_t)number;
    if (op.kind != 'c' && goal_is(at, "nic") && !goal_number(at, 255, &number))
        return false;
    if (self->count == self->capacity)
        self->ops = (goal_op *)goal_more(self->ops, &self->capacity, sizeof(goal_op));
    op.first_edge = SIZE_MAX;
    self->ops[self->count++] = op;
    return true;
}

/* `inside`: between a rank's brackets. */
static bool goal_line(goal *self, const char *at, bool *inside)
{
    char word[GOAL_LABEL];
    uint64_t rank = 0;
    if (!strncmp(at, "//", 2) || !goal_word(&at, word))
        return true;
    if (!*inside && !strcmp(word, "num_ranks")) {
        if (self->ranks || !goal_number(&at, 1 << 16, &self->ranks) || !self->ranks)
            return false;
        self->rank_first = (size_t *)calloc(self->ranks + 1, sizeof *self->rank_first);
    } else if (!*inside && !strcmp(word, "rank")) {
        /* txt2bin makes its file when it comes to rank 0, and ends it behind the last */
        *inside = self->rank_first && goal_number(&at, self->ranks - 1, &rank) &&
                  rank == self->ranks_read && goal_is(&at, "{");
        if (!*inside)
            return false;
    } else if (*inside && !strcmp(word, "}")) {
        *inside = false;
        self->rank_first[++self->ranks_read] = self->count;
    } else if (!*inside || !isalpha((unsigned char)*word)) {
        return false;
    } else if (goal_is(&at, ":") ? !goal_operation(self, &at, word)
                                 : !goal_is(&at, "requires") || !goal_requires(self, &at, word)) {
        return false;
    }
    return !goal_word(&at, word);
}

/* The send that a receive gets: the first of its source and tag, as MPI matches. */
static goal_op *goal_send_of(const goal *self, const goal_op *receive)
{
    for (size_t i = self->rank_first[receive->peer]; i < self->rank_first[receive->peer + 1]; i++) {
        goal_op *op = &self->ops[i];
        if (op->kind == 's' && op->is_started && !op->is_done && op->peer == receive->rank &&
            op->tag == receive->tag)
            return op;
    }
    return NULL;
}

static bool goal_can_start(const goal *self, size_t op, double *ns)
{
    *ns = 0;
    for (size_t e = self->ops[op].first_edge; e < self->edge_count && self->edges[e].op == op;
         e++) {
        const goal_op *before = &self->ops[self->edges[e].before];
        if (!before->is_done)
            return false;
        *ns = before->end_ns > *ns ? before->end_ns : *ns;
    }
    return true;
}

/* A send hands its bytes over, and they arrive a latency later. */
static bool goal_step(goal *self, goal_op *op, size_t i, double latency_ns, double byte_ns)
{
    double ns;
    if (!op->is_started) {
        if (!goal_can_start(self, i, &ns))
            return false;
        op->is_started = true;
        op->end_ns = ns + (op->kind == 'c'   ? (double)op->size
                           : op->kind == 's' ? (double)op->size * byte_ns
                                             : 0);
        op->is_done = op->kind == 'c';
        return true;
    }
    goal_op *sent = op->kind == 'r' ? goal_send_of(self, op) : NULL;
    if (!sent)
        return false;
    if (sent->size != op->size)
        (void)snprintf(self->error, sizeof self->error, "rank %u: %s receives another size",
                       op->rank, op->label);
    op->end_ns = sent->end_ns + latency_ns > op->end_ns ? sent->end_ns + latency_ns : op->end_ns;
    op->is_done = sent->is_done = true;
    return true;
}

static int goal_by_op(const void *a, const void *b)
{
    const goal_edge *x = (const goal_edge *)a, *y = (const goal_edge *)b;
    return (x->op > y->op) - (x->op < y->op);
}

/* Runs what can run until nothing can; what is then left waits for ever. */
static void goal_replay(goal *self, double latency_ns, double byte_ns)
{
    if (self->edge_count)
        qsort(self->edges, self->edge_count, sizeof *self->edges, goal_by_op);
    for (size_t e = self->edge_count; e-- > 0;)
        self->ops[self->edges[e].op].first_edge = e;
    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (size_t i = 0; i < self->count; i++)
            if (!self->ops[i].is_done)
                is_moving |= goal_step(self, &self->ops[i], i, latency_ns, byte_ns);
    }
    for (size_t i = 0; i < self->count; i++) {
        const goal_op *op = &self->ops[i];
        if (!op->is_done && !*self->error)
            (void)snprintf(self->error, sizeof self->error, "rank %u: %s never ends", op->rank,
                           op->label);
        self->end_ns = op->end_ns > self->end_ns ? op->end_ns : self->end_ns;
    }
}

/* `error` says what is wrong. The caller frees by goal_free. */
static goal *goal_read(const char *text, double latency_ns, double byte_ns)
{
    goal *self = (goal *)calloc(1, sizeof *self);
    bool inside = false;
    char line[256];
    if (!self)
        abort();
    while (*text && !*self->error) {
        const size_t length = strcspn(text, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (!goal_line(self, line, &inside))
            (void)snprintf(self->error, sizeof self->error, "'%.150s' is no line of a schedule",
                           line);
        text += length + (text[length] == '\n');
    }
    if (!*self->error && (!self->ranks || self->ranks_read != self->ranks || inside))
        (void)snprintf(self->error, sizeof self->error, "%" PRIu64 " of %" PRIu64 " ranks",
                       self->ranks_read, self->ranks);
    if (!*self->error)
        goal_replay(self, latency_ns, byte_ns);
    return self;
}

static void goal_free(goal *self)
{
    free(self->ops);
    free(self->edges);
    free(self->rank_first);
    free(self);
}

#endif
