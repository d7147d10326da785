/* Operations that wait for each other: found before the timeline would stop at them, for here they
 * have names. */
#include <stdlib.h>

#include "base/fail.h"
#include "simulate/plan.h"
#include "workload/op_class.h"

typedef enum colour { WHITE, GREY, BLACK } colour;

/* The operations that one waits for: the one before it on its stream, then its edges, then what its
 * thread waited for before it made the call. */
typedef struct search {
    const haul_workload *workload;
    uint32_t *edge_begin;
    uint32_t *waited; /* by the thread before it came to the operation, or HAUL_NONE */
    uint8_t *colours;
    uint32_t *path; /* grey operations, each waiting for the next */
    uint32_t *next; /* of each on the path, which of what it waits for is looked at next */
    size_t depth;
} search;

/* In the order of the file each thread_prev comes first. */
static bool prepare_search(search *self)
{
    const haul_workload *workload = self->workload;
    const size_t count = workload->op_count;
    self->edge_begin = calloc(count + 2, sizeof *self->edge_begin);
    self->waited = malloc((count + 1) * sizeof *self->waited);
    self->colours = calloc(count + 1, sizeof *self->colours);
    self->path = calloc(count + 1, sizeof *self->path);
    self->next = malloc((count + 1) * sizeof *self->next);
    if (!self->edge_begin || !self->waited || !self->colours || !self->path || !self->next)
        return false;
    for (size_t e = 0; e < workload->edge_count; e++)
        self->edge_begin[workload->edges[e].after + 1]++;
    for (uint32_t i = 0; i < count; i++) {
        self->edge_begin[i + 1] += self->edge_begin[i];
        const uint32_t before = workload->ops[i].thread_prev;
        if (before == HAUL_NONE)
            self->waited[i] = HAUL_NONE;
        else
            self->waited[i] =
                hl_workload_op_holds_thread(&workload->ops[before]) ? before : self->waited[before];
    }
    return true;
}

/* The nth that `op` waits for; HAUL_NONE for one that is not, with *more false behind the last. */
static uint32_t waits_for(const search *self, uint32_t op, uint32_t n, bool *more)
{
    const uint32_t edges = self->edge_begin[op + 1] - self->edge_begin[op];
    *more = n < edges + 2;
    if (!n)
        return self->workload->ops[op].stream_prev;
    if (n <= edges)
        return self->workload->edges[self->edge_begin[op] + n - 1].before;
    return n == edges + 1 ? self->waited[op] : HAUL_NONE;
}

/* Grey: on the path. An operation met grey again closes a cycle. */
static void enter(search *self, uint32_t op)
{
    self->colours[op] = GREY;
    self->next[self->depth] = 0;
    self->path[self->depth++] = op;
}

/* Depth first from `from`: the first operation that waits for itself, or HAUL_NONE. */
static uint32_t visit(search *self, uint32_t from)
{
    enter(self, from);
    while (self->depth) {
        const size_t top = self->depth - 1;
        bool more = false;
        const uint32_t op = self->path[top];
        const uint32_t before = waits_for(self, op, self->next[top]++, &more);
        if (!more) {
            self->colours[op] = BLACK;
            self->depth--;
        } else if (before != HAUL_NONE && self->colours[before] == GREY) {
            return before;
        } else if (before != HAUL_NONE && self->colours[before] == WHITE) {
            enter(self, before);
        }
    }
    return HAUL_NONE;
}

/* "'a' waits for 'b', that for 'c', that for 'a': a cycle", at the place of 'a'. */
static haul_status fail_cycle(const search *self, const hl_simulate_owned_schedule *schedule,
                              uint32_t op, haul_error *error)
{
    enum { SHOWN = 4 };
    char text[400], name[80];
    size_t from = self->depth - 1;
    while (self->path[from] != op)
        from--;
    const size_t length = self->depth - from;
    size_t used =
        (size_t)snprintf(text, sizeof text, "operation %s",
                         hl_simulate_schedule_quote(&schedule->seen, op, name, sizeof name));
    for (size_t i = 1; i <= length; i++) {
        if (length > SHOWN && i == SHOWN) {
            used += (size_t)snprintf(text + used, sizeof text - used, ", and so on");
            i = length;
        }
        const uint32_t at = i < length ? self->path[from + i] : op;
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s for %s", i == 1 ? " waits" : ", that",
            hl_simulate_schedule_quote(&schedule->seen, at, name, sizeof name));
    }
    return hl_base_fail_at(error, hl_simulate_schedule_place(schedule, op), "%s: a cycle", text);
}

/* Iterative, since a path may be as long as the file has operations. */
haul_status hl_simulate_schedule_check_cycles(const hl_simulate_owned_schedule *self,
                                              haul_error *error)
{
    search of = {.workload = self->workload};
    haul_status status = prepare_search(&of) ? HAUL_OK : hl_base_fail_no_memory(error);
    for (uint32_t i = 0; !status && i < self->workload->op_count; i++) {
        const uint32_t found = of.colours[i] == WHITE ? visit(&of, i) : HAUL_NONE;
        if (found != HAUL_NONE)
            status = fail_cycle(&of, self, found, error);
    }
    free(of.edge_begin);
    free(of.waited);
    free(of.colours);
    free(of.path);
    free(of.next);
    return status;
}
