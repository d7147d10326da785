/* Node-aware: one message between each two nodes, through one process of each. Processes of a node
 * first hand what is for another node to the process that sends there, then that is handed on to
 * where it belongs: 2 (q - 1) messages within the node and N / q beyond it, where all to all by
 * themselves send P - q there. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* Before each message in a bundle; messages of nothing are in none. */
typedef struct entry {
    uint32_t from, to; /* owners */
    uint64_t bytes;
} entry;

/* Entries with their bytes, behind their size. */
typedef struct bundle {
    char *at;
    uint64_t capacity;
} bundle;

static uint64_t size_of(const bundle *self)
{
    uint64_t size;
    memcpy(&size, self->at, sizeof size);
    return size;
}

static void empty(bundle *self)
{
    const uint64_t size = sizeof size;
    memcpy(self->at, &size, sizeof size);
}

static void add_entry(bundle *self, const entry *head, const char *bytes)
{
    uint64_t size = size_of(self);
    memcpy(self->at + size, head, sizeof *head);
    memcpy(self->at + size + sizeof *head, bytes, head->bytes);
    size += sizeof *head + head->bytes;
    memcpy(self->at, &size, sizeof size);
}

/* Steps through a bundle; NULL at its end. */
static const char *next_entry(const bundle *self, uint64_t *at, entry *head)
{
    if (!*at)
        *at = sizeof(uint64_t);
    if (*at >= size_of(self))
        return NULL;
    memcpy(head, self->at + *at, sizeof *head);
    const char *bytes = self->at + *at + sizeof *head;
    *at += sizeof *head + head->bytes;
    return bytes;
}

typedef struct aggregation {
    haul_comm *comm;
    const hl_mpi_layout *layout;
    int node, place, here; /* own node, own place in it, owners of it */
    hl_mpi_scratch scratch;
    bundle *mates[2];    /* to and from each owner of the node */
    bundle *nodes[2];    /* to and from each node that this process sends to */
    uint64_t *next_from; /* of each owner: the receive that its next message is for */
} aggregation;

/* Which place of `node` talks to `other`. */
static int talker(const hl_mpi_layout *layout, int node, int other)
{
    return other % (layout->node_start[node + 1] - layout->node_start[node]);
}

static uint64_t side_size(const hl_mpi_side *side)
{
    uint64_t size = sizeof size;
    for (size_t i = 0; i < side->count; i++)
        size += sizeof(entry) + side->items[i].bytes;
    return size;
}

/* Rooms for what may come: of a process what it may send, of a node that of all its processes. */
static haul_status make_rooms(aggregation *self, const hl_mpi_sides *sides,
                              const hl_mpi_shape *shape, haul_error *error)
{
    const uint64_t one = sizeof(uint64_t) + shape->bytes + (shape->messages + 1) * sizeof(entry);
    const uint64_t own = side_size(&sides->receive) + side_size(&sides->send);
    const uint64_t mate = one > own ? one : own;
    const uint64_t node = (uint64_t)self->layout->most * one;
    const size_t nodes = (size_t)self->layout->nodes, here = (size_t)self->here;
    uint64_t rooms = 0;
    for (size_t n = 0; n < nodes; n++)
        rooms += talker(self->layout, self->node, (int)n) == self->place;
    bundle *bundles = calloc(2 * (nodes + here), sizeof *bundles);
    self->next_from = calloc((size_t)self->layout->owners, sizeof *self->next_from);
    self->mates[0] = bundles;
    if (!bundles || !self->next_from)
        return hl_base_fail_no_memory(error);
    /* what is handed to a mate may be for it from all mates and nodes, or from this for others */
    const uint64_t room = mate + rooms * node + here * one;
    HAUL_TRY(hl_mpi_scratch_take(self->comm, 2 * (here * room + rooms * node) + 1, &self->scratch,
                                 error));
    char *at = self->scratch.at;
    for (int way = 0; way < 2; way++) {
        self->mates[way] = bundles + (size_t)way * (here + nodes);
        self->nodes[way] = self->mates[way] + here;
        for (size_t i = 0; i < here; i++, at += room)
            self->mates[way][i] = (bundle){at, room};
        for (size_t n = 0; n < nodes; n++)
            if (talker(self->layout, self->node, (int)n) == self->place) {
                self->nodes[way][n] = (bundle){at, node};
                at += node;
            }
    }
    return HAUL_OK;
}

/* Swaps a bundle with each mate or node whose rank is not negative. */
static haul_status swap(aggregation *self, bundle *const both[2], const int *ranks, size_t count,
                        haul_error *error)
{
    hl_mpi_block *blocks = malloc(2 * (count + 1) * sizeof *blocks);
    size_t n = 0;
    if (!blocks)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] < 0)
            continue;
        blocks[n] = (hl_mpi_block){ranks[i], size_of(&both[0][i]), both[0][i].at, false};
        blocks[count + n++] = (hl_mpi_block){ranks[i], both[1][i].capacity, both[1][i].at, true};
    }
    const haul_status status = hl_mpi_deliver(self->comm, blocks, n, blocks + count, n, error);
    free(blocks);
    return status;
}

static haul_status swap_mates(aggregation *self, haul_error *error)
{
    int *ranks = calloc((size_t)self->here, sizeof *ranks);
    if (!ranks)
        return hl_base_fail_no_memory(error);
    const hl_mpi_layout *layout = self->layout;
    const int first = layout->node_start[self->node];
    for (int i = 0; i < self->here; i++)
        ranks[i] = i == self->place ? -1 : layout->rank_of[layout->by_node[first + i]];
    const haul_status status = swap(self, self->mates, ranks, (size_t)self->here, error);
    free(ranks);
    return status;
}

static haul_status swap_nodes(aggregation *self, haul_error *error)
{
    const hl_mpi_layout *layout = self->layout;
    int *ranks = calloc((size_t)layout->nodes, sizeof *ranks);
    if (!ranks)
        return hl_base_fail_no_memory(error);
    for (int n = 0; n < layout->nodes; n++) {
        const int there = layout->node_start[n] + talker(layout, n, self->node);
        ranks[n] =
            n == self->node || !self->nodes[0][n].at ? -1 : layout->rank_of[layout->by_node[there]];
    }
    const haul_status status = swap(self, self->nodes, ranks, (size_t)layout->nodes, error);
    free(ranks);
    return status;
}

/* Puts what has arrived where it belongs: each source's messages in the order of the receives. */
static haul_status land(aggregation *self, const hl_mpi_side *side, const entry *head,
                        const char *bytes, haul_error *error)
{
    uint64_t *at = &self->next_from[head->from];
    while (*at < side->count &&
           (side->items[*at].peer != (int)head->from || !side->items[*at].bytes))
        ++*at;
    if (*at == side->count || side->items[*at].bytes != head->bytes)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "rank %d: owner %u sent %llu bytes, which are not expected",
                              self->comm->rank, head->from, (unsigned long long)head->bytes);
    memcpy(side->at + side->items[(*at)++].offset, bytes, head->bytes);
    return HAUL_OK;
}

/* Step 3: what came from other nodes, and what is for the own one, to the mates. */
static void scatter(aggregation *self, const hl_mpi_side *side)
{
    for (int i = 0; i < self->here; i++)
        empty(&self->mates[0][i]);
    for (size_t i = 0; i < side->count; i++) {
        const haul_comm_message *item = &side->items[i];
        const entry head = {(uint32_t)self->comm->owner, (uint32_t)item->peer, item->bytes};
        if (self->layout->node_of[item->peer] == self->node && item->bytes)
            add_entry(&self->mates[0][self->layout->place_of[item->peer]], &head,
                      side->at + item->offset);
    }
    for (int n = 0; n < self->layout->nodes; n++) {
        entry head;
        uint64_t at = 0;
        if (n == self->node || !self->nodes[1][n].at)
            continue;
        for (const char *bytes; (bytes = next_entry(&self->nodes[1][n], &at, &head));)
            add_entry(&self->mates[0][self->layout->place_of[head.to]], &head, bytes);
    }
}

static haul_status in_three_steps(aggregation *self, const hl_mpi_sides *sides, haul_error *error)
{
    /* Step 1: to the mate that talks to the node it is for; what is for the own node stays. */
    for (int i = 0; i < self->here; i++)
        empty(&self->mates[0][i]);
    for (size_t i = 0; i < sides->send.count; i++) {
        const haul_comm_message *item = &sides->send.items[i];
        const int node = self->layout->node_of[item->peer];
        const entry head = {(uint32_t)self->comm->owner, (uint32_t)item->peer, item->bytes};
        if (node != self->node && item->bytes)
            add_entry(&self->mates[0][talker(self->layout, self->node, node)], &head,
                      sides->send.at + item->offset);
    }
    HAUL_TRY(swap_mates(self, error));
    /* Step 2: by node. What this process has for itself is in no message. */
    for (int n = 0; n < self->layout->nodes; n++)
        if (self->nodes[0][n].at)
            empty(&self->nodes[0][n]);
    for (int i = 0; i < self->here; i++) {
        const bundle *from = &self->mates[i == self->place ? 0 : 1][i];
        entry head;
        uint64_t at = 0;
        for (const char *bytes; (bytes = next_entry(from, &at, &head));)
            add_entry(&self->nodes[0][self->layout->node_of[head.to]], &head, bytes);
    }
    HAUL_TRY(swap_nodes(self, error));
    scatter(self, &sides->send);
    HAUL_TRY(swap_mates(self, error));
    haul_status status = HAUL_OK;
    for (int i = 0; i < self->here; i++) {
        const bundle *from = &self->mates[i == self->place ? 0 : 1][i];
        entry head;
        uint64_t at = 0;
        for (const char *bytes; !status && (bytes = next_entry(from, &at, &head));)
            status = land(self, &sides->receive, &head, bytes, error);
    }
    return status;
}

haul_status hl_mpi_aggregated(haul_comm *self, const hl_mpi_sides *sides, const hl_mpi_shape *shape,
                              haul_error *error)
{
    const hl_mpi_layout *layout = &self->layout;
    const int node = layout->node_of[self->owner];
    aggregation now = {.comm = self,
                       .layout = layout,
                       .node = node,
                       .place = layout->place_of[self->owner],
                       .here = layout->node_start[node + 1] - layout->node_start[node]};
    haul_status status = make_rooms(&now, sides, shape, error);
    if (!status && now.mates[1])
        status = in_three_steps(&now, sides, error);
    hl_mpi_scratch_give(self, &now.scratch);
    free(now.mates[0]);
    free(now.next_from);
    return status;
}
