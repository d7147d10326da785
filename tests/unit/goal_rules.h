/* When a GOAL schedule ends by the rules of two simulators, written from their sources: the first
 * LogGOPSim (LogGOPSim.cpp of github.com/spcl/LogGOPSim), and that of ATLAHS
 * (sim/LogGOPSim/LogGOPSim.cpp of github.com/spcl/atlahs). All messages are eager and O is 0. */
#ifndef HAUL_TESTS_GOAL_RULES_H
#define HAUL_TESTS_GOAL_RULES_H

#include <math.h>

#include "goal_reader.h"

typedef enum goal_rules { GOAL_CLASSIC, GOAL_ATLAHS } goal_rules;

typedef struct goal_parameters {
    double L, o, g, G;
} goal_parameters;

typedef struct goal_event {
    double time;
    uint64_t order;
    size_t op;
    bool is_message;
} goal_event;

enum { GOAL_CPUS = 256 };

typedef struct goal_simulator {
    const goal *of;
    goal_rules rules;
    goal_parameters with;
    goal_event *events;
    size_t count, capacity;
    uint64_t order;
    double *next_o, *next_gs, *next_gr; /* of each rank and CPU; of each rank */
    double *ends;                       /* of operations; < 0: not done */
    bool *posted, *arrived;             /* receives; messages, by their send */
} goal_simulator;

static double goal_max(double a, double b)
{
    return a > b ? a : b;
}

static double *goal_cpu(const goal_simulator *self, uint32_t rank, uint32_t cpu)
{
    return &self->next_o[(size_t)rank * GOAL_CPUS + cpu];
}

static void goal_push(goal_simulator *self, size_t op, bool is_message, double time)
{
    if (self->count == self->capacity)
        self->events = (goal_event *)goal_more(self->events, &self->capacity, sizeof(goal_event));
    self->events[self->count++] = (goal_event){time, self->order++, op, is_message};
}

static goal_event goal_pop(goal_simulator *self)
{
    size_t first = 0;
    for (size_t i = 1; i < self->count; i++)
        if (self->events[i].time < self->events[first].time ||
            (self->events[i].time == self->events[first].time &&
             self->events[i].order < self->events[first].order))
            first = i;
    const goal_event found = self->events[first];
    self->events[first] = self->events[--self->count];
    return found;
}

/* By the first one's rules an operation whose last requirement is done begins when its CPU is free,
 * by ATLAHS's at the end of the latest. */
static void goal_free_op(goal_simulator *self, size_t op)
{
    const goal_op *of = &self->of->ops[op];
    double time = 0;
    for (size_t e = of->first_edge; e < self->of->edge_count && self->of->edges[e].op == op; e++) {
        const double end = self->ends[self->of->edges[e].before];
        if (end < 0)
            return;
        time = goal_max(time, end);
    }
    if (self->rules == GOAL_CLASSIC) {
        time = *goal_cpu(self, of->rank, of->cpu);
        if (of->kind == 's')
            time = goal_max(time, self->next_gs[of->rank]);
    }
    goal_push(self, op, false, time);
}

static void goal_done(goal_simulator *self, size_t op, double end)
{
    self->ends[op] = end;
    for (size_t e = 0; e < self->of->edge_count; e++)
        if (self->of->edges[e].before == op)
            goal_free_op(self, self->of->edges[e].op);
}

/* The other end of a message that waits for it; SIZE_MAX: none. */
static size_t goal_match(const goal_simulator *self, size_t op)
{
    const goal_op *of = &self->of->ops[op];
    const bool *waits = of->kind == 's' ? self->posted : self->arrived;
    const size_t *first = &self->of->rank_first[of->peer];
    for (size_t i = first[0]; i < first[1]; i++) {
        const goal_op *other = &self->of->ops[i];
        if (waits[i] && other->peer == of->rank && other->tag == of->tag && other->kind != of->kind)
            return i;
    }
    return SIZE_MAX;
}

static void goal_send(goal_simulator *self, size_t op, double time)
{
    const goal_op *of = &self->of->ops[op];
    const double bytes_ns = ((double)of->size - 1) * self->with.G;
    double *cpu = goal_cpu(self, of->rank, of->cpu), *nic = &self->next_gs[of->rank];
    if (goal_max(*cpu, *nic) > time) {
        goal_push(self, op, false, goal_max(*cpu, *nic));
        return;
    }
    *cpu = time + self->with.o;
    *nic = time + self->with.g + bytes_ns;
    goal_push(self, op, true, *cpu + self->with.L + (self->rules == GOAL_ATLAHS ? bytes_ns : 0));
    goal_done(self, op, *cpu);
}

/* ATLAHS charges the receiver's gap before the message is there. */
static void goal_receive(goal_simulator *self, size_t op, double time)
{
    const goal_op *of = &self->of->ops[op];
    const size_t message = goal_match(self, op);
    self->posted[op] = message == SIZE_MAX;
    if (message == SIZE_MAX)
        return;
    self->arrived[message] = false;
    if (self->rules == GOAL_ATLAHS) {
        time = goal_max(self->next_gs[of->rank], time) + self->with.g;
        self->next_gr[of->rank] = time;
        time += self->with.o;
        *goal_cpu(self, of->rank, of->cpu) = time;
    }
    goal_done(self, op, time);
}

static void goal_arrive(goal_simulator *self, size_t op, double time)
{
    const goal_op *of = &self->of->ops[op];
    const size_t receive = goal_match(self, op);
    const bool is_classic = self->rules == GOAL_CLASSIC;
    if (!is_classic && receive == SIZE_MAX) {
        self->arrived[op] = true;
        return;
    }
    const double bytes_ns = ((double)of->size - 1) * self->with.G;
    double *cpu = goal_cpu(self, of->peer, is_classic ? of->cpu : self->of->ops[receive].cpu);
    double *nic = &self->next_gr[of->peer];
    if (goal_max(*cpu, *nic) > time) {
        goal_push(self, op, true, goal_max(*cpu, *nic));
        return;
    }
    *nic = time + self->with.g + (is_classic ? bytes_ns : 0);
    *cpu = is_classic ? time + self->with.o + bytes_ns : *nic + self->with.o;
    self->arrived[op] = receive == SIZE_MAX;
    if (receive != SIZE_MAX) {
        self->posted[receive] = false;
        goal_done(self, receive, *cpu);
    }
}

/* Of a schedule that goal_read has read and replayed without an error. */
static double goal_simulate(const goal *of, goal_rules rules, goal_parameters with)
{
    const size_t ranks = of->ranks;
    goal_simulator self = {.of = of, .rules = rules, .with = with};
    double end = 0;
    self.next_o = (double *)calloc(ranks * GOAL_CPUS, sizeof(double));
    self.next_gs = (double *)calloc(ranks, sizeof(double));
    self.next_gr = (double *)calloc(ranks, sizeof(double));
    self.ends = (double *)calloc(of->count + 1, sizeof(double));
    self.posted = (bool *)calloc(of->count + 1, sizeof(bool));
    self.arrived = (bool *)calloc(of->count + 1, sizeof(bool));
    for (size_t i = 0; i < of->count; i++)
        self.ends[i] = -1;
    for (size_t i = 0; i < of->count; i++)
        if (of->ops[i].first_edge == SIZE_MAX)
            goal_push(&self, i, false, 0);
    while (self.count) {
        const goal_event next = goal_pop(&self);
        const goal_op *op = &of->ops[next.op];
        double *cpu = goal_cpu(&self, op->rank, op->cpu);
        if (next.is_message) {
            goal_arrive(&self, next.op, next.time);
        } else if (op->kind == 's') {
            goal_send(&self, next.op, next.time);
        } else if (op->kind == 'r') {
            goal_receive(&self, next.op, next.time);
        } else if (*cpu > next.time) {
            goal_push(&self, next.op, false, *cpu);
        } else {
            *cpu = next.time + (double)op->size;
            goal_done(&self, next.op, *cpu);
        }
    }
    for (size_t i = 0; i < ranks * GOAL_CPUS; i++)
        end = goal_max(end, self.next_o[i]);
    for (size_t i = 0; i < of->count; i++)
        end = self.ends[i] < 0 ? (double)NAN : end;
    free(self.events);
    free(self.next_o);
    free(self.next_gs);
    free(self.next_gr);
    free(self.ends);
    free(self.posted);
    free(self.arrived);
    return end;
}

#endif
