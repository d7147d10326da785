/* Ways by all cores of an owner's team: the messages are dealt out whole, peer j's to member
 * j % team, at both ends, so that each is one message between two members. By `extra-message` the
 * owner hands its helpers the data (Bienz et al., HPEC 2021, section IV), by `duplicate-pointer` it
 * tells them where in device memory it lies. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* A message that a member makes. */
typedef struct task {
    uint64_t rank, bytes;
    uint64_t offset; /* in the owner's buffer */
} task;

/* An owner's orders to a member of its team. */
typedef struct orders {
    uint64_t sends, receives;           /* tasks, in that order */
    uint64_t send_bytes, receive_bytes; /* that come packed */
    haul_buffer_handle from, to;        /* of duplicate-pointer */
} orders;

typedef struct share {
    orders orders;
    task *tasks;
    hl_mpi_scratch scratch; /* sends packed, and behind them receives */
} share;

static char *receives_of(const share *self)
{
    return self->scratch.at + self->orders.send_bytes;
}

/* The tasks of member `place` out of one side. */
static uint64_t deal_items(const haul_comm *self, const haul_comm_message *items, size_t count,
                           int place, task *tasks, uint64_t *bytes)
{
    const hl_mpi_layout *layout = &self->layout;
    const int team = hl_mpi_team_size(layout, self->owner);
    uint64_t dealt = 0;
    for (size_t i = 0; i < count; i++) {
        const int peer = items[i].peer, there = hl_mpi_team_size(layout, peer);
        if (peer == self->owner || peer % team != place || !items[i].bytes)
            continue;
        tasks[dealt++] =
            (task){(uint64_t)layout->team[layout->team_start[peer] + self->owner % there],
                   items[i].bytes, items[i].offset};
        *bytes += items[i].bytes;
    }
    return dealt;
}

static haul_status share_make(haul_comm *self, const haul_comm_messages *of, int place, share *made,
                              haul_error *error)
{
    made->tasks = malloc((of->send_count + of->receive_count + 1) * sizeof *made->tasks);
    if (!made->tasks)
        return hl_base_fail_no_memory(error);
    orders *told = &made->orders;
    told->sends =
        deal_items(self, of->sends, of->send_count, place, made->tasks, &told->send_bytes);
    told->receives = deal_items(self, of->receives, of->receive_count, place,
                                made->tasks + told->sends, &told->receive_bytes);
    return hl_mpi_scratch_take(self, told->send_bytes + told->receive_bytes + 1, &made->scratch,
                               error);
}

static void share_release(haul_comm *self, share *of)
{
    if (of->scratch.at)
        hl_mpi_scratch_give(self, &of->scratch);
    free(of->tasks);
}

/* The messages between members, from and to packed memory. */
static haul_status exchange_share(haul_comm *self, const share *of, haul_error *error)
{
    const size_t sends = of->orders.sends, receives = of->orders.receives;
    hl_mpi_block *blocks = malloc((sends + receives + 1) * sizeof *blocks);
    if (!blocks)
        return hl_base_fail_no_memory(error);
    char *at = of->scratch.at;
    for (size_t i = 0; i < sends + receives; at += of->tasks[i++].bytes)
        blocks[i] = (hl_mpi_block){(int)of->tasks[i].rank, of->tasks[i].bytes, at, false};
    const haul_status status = hl_mpi_deliver(self, blocks, sends, blocks + sends, receives, error);
    free(blocks);
    return status;
}

/* Owner: packs the share's sends, or unpacks its receives. */
static void pack(const share *of, char *base, bool is_receive)
{
    const task *tasks = of->tasks + (is_receive ? of->orders.sends : 0);
    const uint64_t count = is_receive ? of->orders.receives : of->orders.sends;
    char *at = is_receive ? receives_of(of) : of->scratch.at;
    for (uint64_t i = 0; i < count; at += tasks[i++].bytes)
        if (is_receive)
            memcpy(base + tasks[i].offset, at, tasks[i].bytes);
        else
            memcpy(at, base + tasks[i].offset, tasks[i].bytes);
}

/* Owner: orders, tasks and, for extra-message, data to all helpers. */
static haul_status tell_team(haul_comm *self, share *shares, int team, bool with_data,
                             haul_error *error)
{
    hl_mpi_block *blocks = malloc(3 * (size_t)team * sizeof *blocks);
    size_t n = 0;
    if (!blocks)
        return hl_base_fail_no_memory(error);
    for (int place = 1; place < team; place++) {
        share *of = &shares[place];
        const int rank = self->layout.team[self->layout.team_start[self->owner] + place];
        blocks[n++] = (hl_mpi_block){rank, sizeof of->orders, (char *)&of->orders, false};
        blocks[n++] =
            (hl_mpi_block){rank, (of->orders.sends + of->orders.receives) * sizeof *of->tasks,
                           (char *)of->tasks, false};
        if (with_data)
            blocks[n++] = (hl_mpi_block){rank, of->orders.send_bytes, of->scratch.at, false};
    }
    const haul_status status = hl_mpi_deliver(self, blocks, n, NULL, 0, error);
    free(blocks);
    return status;
}

/* Takes from each helper its part of the blocks, or, without shares, a byte: that it has sent all.
 */
static haul_status take_from_team(haul_comm *self, share *shares, int team, haul_error *error)
{
    hl_mpi_block *blocks = malloc((size_t)team * (sizeof *blocks + 1));
    if (!blocks)
        return hl_base_fail_no_memory(error);
    for (int place = 1; place < team; place++) {
        hl_mpi_block *block = &blocks[place - 1];
        *block = (hl_mpi_block){self->layout.team[self->layout.team_start[self->owner] + place], 1,
                                (char *)(blocks + team) + place, false};
        if (shares) {
            block->bytes = shares[place].orders.receive_bytes;
            block->at = receives_of(&shares[place]);
        }
    }
    const haul_status status = hl_mpi_deliver(self, NULL, 0, blocks, (size_t)team - 1, error);
    free(blocks);
    return status;
}

/* Helper: what its owner tells it. */
static haul_status listen_owner(haul_comm *self, share *of, bool with_data, haul_error *error)
{
    const int owner = self->layout.rank_of[self->team_of];
    hl_mpi_block block = {owner, sizeof of->orders, (char *)&of->orders, false};
    HAUL_TRY(hl_mpi_deliver(self, NULL, 0, &block, 1, error));
    const uint64_t size = (of->orders.sends + of->orders.receives) * sizeof *of->tasks;
    of->tasks = malloc(size + 1);
    if (!of->tasks)
        return hl_base_fail_no_memory(error);
    HAUL_TRY(hl_mpi_scratch_take(self, of->orders.send_bytes + of->orders.receive_bytes + 1,
                                 &of->scratch, error));
    hl_mpi_block blocks[] = {{owner, size, (char *)of->tasks, false},
                             {owner, of->orders.send_bytes, of->scratch.at, false}};
    return hl_mpi_deliver(self, NULL, 0, blocks, with_data ? 2 : 1, error);
}

static haul_status help_owner(haul_comm *self, haul_error *error)
{
    share of = {.tasks = NULL};
    haul_status status = listen_owner(self, &of, true, error);
    if (!status)
        status = exchange_share(self, &of, error);
    if (!status) {
        hl_mpi_block back = {self->layout.rank_of[self->team_of], of.orders.receive_bytes,
                             receives_of(&of), false};
        status = hl_mpi_deliver(self, &back, 1, NULL, 0, error);
    }
    share_release(self, &of);
    return status;
}

haul_status hl_mpi_extra_message(haul_comm *self, const hl_mpi_sides *sides, haul_error *error)
{
    if (!sides)
        return self->team_of < 0 ? HAUL_OK : help_owner(self, error);
    const int team = hl_mpi_team_size(&self->layout, self->owner);
    const haul_comm_messages of = {.sends = sides->send.items,
                                   .send_count = sides->send.count,
                                   .receives = sides->receive.items,
                                   .receive_count = sides->receive.count};
    share *shares = calloc((size_t)team, sizeof *shares);
    if (!shares)
        return hl_base_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (int place = 0; !status && place < team; place++) {
        status = share_make(self, &of, place, &shares[place], error);
        if (!status)
            pack(&shares[place], sides->send.at, false);
    }
    if (!status)
        status = tell_team(self, shares, team, true, error);
    if (!status)
        status = exchange_share(self, &shares[0], error);
    if (!status)
        status = take_from_team(self, shares, team, error);
    if (!status)
        status = hl_mpi_copy_own(self, sides, error);
    for (int place = 0; place < team; place++) {
        if (!status)
            pack(&shares[place], sides->receive.at, true);
        share_release(self, &shares[place]);
    }
    free(shares);
    return status;
}

/* --- duplicate-pointer */

/* A member's copies and messages, in the owner's device memory. */
static haul_status work_share(haul_comm *self, const share *of, haul_buffer *from, haul_buffer *to,
                              haul_error *error)
{
    const uint64_t sends = of->orders.sends, tasks = sends + of->orders.receives;
    haul_comm_message *items = calloc(tasks + 1, sizeof *items);
    if (!items)
        return hl_base_fail_no_memory(error);
    for (uint64_t i = 0; i < tasks; i++)
        items[i] = (haul_comm_message){0, of->tasks[i].bytes, of->tasks[i].offset};
    const hl_mpi_copying out = {from, items, sends, of->scratch.at, false};
    const hl_mpi_copying in = {to, items + sends, tasks - sends, receives_of(of), true};
    haul_status status = hl_mpi_copy(self, &out, error);
    if (!status)
        status = exchange_share(self, of, error);
    if (!status)
        status = hl_mpi_copy(self, &in, error);
    free(items);
    return status;
}

static haul_status help_duplicate(haul_comm *self, haul_error *error)
{
    share of = {.tasks = NULL};
    haul_buffer *from = NULL, *to = NULL;
    haul_status status = listen_owner(self, &of, false, error);
    if (!status)
        status = haul_buffer_import(self->device, &of.orders.from, &from, error);
    if (!status)
        status = haul_buffer_import(self->device, &of.orders.to, &to, error);
    if (!status)
        status = work_share(self, &of, from, to, error);
    haul_buffer_free(from);
    haul_buffer_free(to);
    if (!status) { /* the owner's buffers are its again */
        char done = 1;
        hl_mpi_block back = {self->layout.rank_of[self->team_of], 1, &done, false};
        status = hl_mpi_deliver(self, &back, 1, NULL, 0, error);
    }
    share_release(self, &of);
    return status;
}

haul_status hl_mpi_duplicate_pointer(haul_comm *self, const haul_comm_messages *of,
                                     haul_error *error)
{
    if (!of)
        return self->team_of < 0 ? HAUL_OK : help_duplicate(self, error);
    const int team = hl_mpi_team_size(&self->layout, self->owner);
    share *shares = calloc((size_t)team, sizeof *shares);
    if (!shares)
        return hl_base_fail_no_memory(error);
    orders names = {0};
    haul_status status = haul_buffer_export(of->send.buffer, &names.from, error);
    if (!status)
        status = haul_buffer_export(of->receive.buffer, &names.to, error);
    for (int place = 0; !status && place < team; place++) {
        shares[place].orders = names;
        status = share_make(self, of, place, &shares[place], error);
        for (uint64_t i = 0; !status && i < shares[place].orders.sends; i++)
            shares[place].tasks[i].offset += of->send.offset;
        for (uint64_t i = 0; !status && i < shares[place].orders.receives; i++)
            shares[place].tasks[shares[place].orders.sends + i].offset += of->receive.offset;
    }
    if (!status)
        status = tell_team(self, shares, team, false, error);
    if (!status)
        status = work_share(self, &shares[0], of->send.buffer, of->receive.buffer, error);
    if (!status)
        status = take_from_team(self, NULL, team, error);
    for (int place = 0; place < team; place++)
        share_release(self, &shares[place]);
    free(shares);
    return status;
}
