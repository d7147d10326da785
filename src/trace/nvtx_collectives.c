#include "trace/nvtx_collectives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "haul/collective.h"
#include "workload/collective_name.h"

/* A payload as Nsight Systems exports it: domain (4 bytes), 4 unused, schema (4), 4 unused, the
 * size of the fields (8), the size of all (8), the fields. Numbers are little-endian. */
enum { DOMAIN_AT = 0, SCHEMA_AT = 8, HEADER = 32 };

/* --- the payloads' layout */

static hl_trace_nvtx_layout *find_layout(hl_trace_nvtx_collectives *self, int64_t domain,
                                         int64_t schema)
{
    for (size_t i = 0; i < self->layout_count; i++)
        if (self->layouts[i].domain == domain && self->layouts[i].schema == schema)
            return &self->layouts[i];
    return NULL;
}

/* Processes repeat each other's rows. A first field has no offset in the table. */
void hl_trace_nvtx_take_field(hl_trace_nvtx_collectives *self, const hl_trace_rows *rows)
{
    const int64_t domain = hl_trace_rows_int(rows, 0), schema = hl_trace_rows_int(rows, 1);
    const int64_t at = hl_trace_rows_int(rows, 2);
    size_t length;
    const char *name = hl_trace_rows_text(rows, 3, &length);
    hl_trace_nvtx_layout *layout = find_layout(self, domain, schema);
    if (!name || at < 0)
        return;
    if (!layout) {
        if (self->layout_count == HL_TRACE_NVTX_LAYOUTS)
            return;
        layout = &self->layouts[self->layout_count++];
        *layout = (hl_trace_nvtx_layout){domain, schema, -1, -1, -1};
    }
    if (!strcmp(name, "Message size [bytes]"))
        layout->size_at = at;
    else if (!strcmp(name, "No. of ranks"))
        layout->ranks_at = at;
    else if (!strcmp(name, "NCCL communicator ID"))
        layout->communicator_at = at;
}

/* A number of `bytes` bytes at `at` of the fields; false where they end before. */
static bool number_at(const char *payload, size_t length, int64_t at, size_t bytes, uint64_t *value)
{
    if (at < 0 || length < HEADER || (uint64_t)at > length - HEADER ||
        length - HEADER - (uint64_t)at < bytes)
        return false;
    *value = 0;
    for (size_t i = bytes; i-- > 0;)
        *value = *value << 8 | (unsigned char)payload[HEADER + (size_t)at + i];
    return true;
}

/* Of the header, whose places are below 0 of the fields. */
static int64_t word_of_header(const char *payload, int at)
{
    uint32_t value = 0;
    for (int i = 3; i >= 0; i--)
        value = value << 8 | (unsigned char)payload[at + i];
    return value;
}

void hl_trace_nvtx_take_payload(hl_trace_nvtx_collectives *self, hl_trace_builder *builder,
                                const haul_named_range *range, const char *payload, size_t length)
{
    hl_workload_builder *const built = &builder->built;
    uint64_t communicator = 0, ranks = 0, bytes = 0;
    const hl_trace_nvtx_layout *layout = length < HEADER
                                             ? NULL
                                             : find_layout(self, word_of_header(payload, DOMAIN_AT),
                                                           word_of_header(payload, SCHEMA_AT));
    if (!layout || !number_at(payload, length, layout->communicator_at, 8, &communicator))
        return;
    if (number_at(payload, length, layout->ranks_at, 4, &ranks) &&
        hl_workload_builder_grow(built, &self->communicators, &self->communicator_capacity,
                                 self->communicator_count + 1, sizeof *self->communicators))
        self->communicators[self->communicator_count++] =
            (hl_trace_nvtx_communicator){communicator, (uint32_t)ranks};
    if (number_at(payload, length, layout->size_at, 8, &bytes) &&
        hl_workload_builder_grow(built, &self->messages, &self->message_capacity,
                                 self->message_count + 1, sizeof *self->messages))
        self->messages[self->message_count++] =
            (hl_trace_nvtx_message){.start_ns = range->start_ns,
                                    .bytes = bytes,
                                    .communicator = communicator,
                                    .name = range->name,
                                    .thread = range->thread};
}

/* --- the join */

typedef struct launch {
    int64_t call_ns;
    uint32_t op;
    uint32_t thread;
} launch;

static int compare_places(uint32_t thread_a, int64_t a, uint32_t thread_b, int64_t b)
{
    if (thread_a != thread_b)
        return thread_a < thread_b ? -1 : 1;
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b)
{
    const hl_trace_nvtx_message *x = a, *y = b;
    return compare_places(x->thread, x->start_ns, y->thread, y->start_ns);
}

static int by_call(const void *a, const void *b)
{
    const launch *x = a, *y = b;
    return compare_places(x->thread, x->call_ns, y->thread, y->call_ns);
}

static int by_id(const void *a, const void *b)
{
    const hl_trace_nvtx_communicator *x = a, *y = b;
    return hl_base_compare_unsigned(x->id, y->id);
}

/* The kernels of collectives that have no arguments yet, by thread and call. */
static launch *list_launches(hl_trace_builder *builder, size_t *count)
{
    hl_workload_builder *const built = &builder->built;
    launch *launches = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < built->op_count && !built->failed; i++) {
        const haul_op *op = &built->ops[i];
        if (op->kind == HAUL_OP_KERNEL && op->flags & HAUL_OP_HAS_CALL && op->name != HAUL_NONE &&
            op->shape != HAUL_NONE &&
            hl_workload_is_collective_name(hl_trace_text_of(builder, op->name)) &&
            hl_workload_builder_grow(built, &launches, &capacity, *count + 1, sizeof *launches))
            launches[(*count)++] = (launch){op->call_ns, (uint32_t)i, op->thread};
    }
    if (*count)
        qsort(launches, *count, sizeof *launches, by_call);
    return launches;
}

/* NCCL tells what one rank puts in or gets from one: an all-gather's result has the parts of all,
 * as what goes into a reduce-scatter has. 0 where the number of ranks is not known, or absurd. */
static uint64_t of_all_ranks(uint64_t bytes, uint32_t ranks)
{
    return ranks && bytes <= (UINT64_C(1) << 53) / ranks ? bytes * ranks : 0;
}

static haul_collective describe(const hl_trace_nvtx_collectives *self, hl_workload_builder *built,
                                const hl_trace_nvtx_message *first, haul_collective_kind kind,
                                const uint64_t moved[2])
{
    const hl_trace_nvtx_communicator key = {.id = first->communicator};
    const hl_trace_nvtx_communicator *found =
        self->communicator_count
            ? bsearch(&key, self->communicators, self->communicator_count, sizeof key, by_id)
            : NULL;
    const uint32_t ranks = found ? found->ranks : 0;
    char group[40];
    const int length = snprintf(group, sizeof group, "communicator %" PRIx64, first->communicator);
    const bool gathers = kind == HAUL_COLLECTIVE_ALL_GATHER || kind == HAUL_COLLECTIVE_ALL_TO_ALL;
    const bool scatters =
        kind == HAUL_COLLECTIVE_REDUCE_SCATTER || kind == HAUL_COLLECTIVE_ALL_TO_ALL;
    return (haul_collective){
        .name = first->name,
        .data_type = hl_workload_builder_string(built, "bytes", strlen("bytes")),
        .group = hl_workload_builder_string(built, group, (size_t)length),
        .group_size = ranks,
        .elements_in = scatters ? of_all_ranks(moved[0], ranks) : moved[0],
        .elements_out = gathers ? of_all_ranks(moved[1], ranks) : moved[1],
    };
}

/* Calls between ncclGroupStart and ncclGroupEnd become one kernel of each kind. */
static void take_messages(hl_trace_nvtx_collectives *self, hl_trace_builder *builder, haul_op *op,
                          size_t first, size_t end)
{
    hl_workload_builder *const built = &builder->built;
    const haul_collective_kind kind =
        hl_workload_collective_named(hl_trace_text_of(builder, op->name));
    const hl_trace_nvtx_message *taken = NULL;
    uint64_t moved[2] = {0, 0}; /* in, out */
    for (size_t i = first; i < end; i++) {
        hl_trace_nvtx_message *message = &self->messages[i];
        const char *name = hl_trace_text_of(builder, message->name);
        if (message->is_taken || hl_workload_collective_named(name) != kind)
            continue;
        const bool one_way = kind == HAUL_COLLECTIVE_SEND_RECEIVE,
                   receives = strstr(name, "Recv") != NULL;
        message->is_taken = true;
        taken = taken ? taken : message;
        for (int way = 0; way < 2; way++)
            if ((!one_way || receives == (way == 1)) && moved[way] <= UINT64_MAX - message->bytes)
                moved[way] += message->bytes;
    }
    if (!taken)
        return;
    const haul_collective collective = describe(self, built, taken, kind, moved);
    haul_shape shape = ((const haul_shape *)built->shapes.items)[op->shape];
    shape.collective = hl_workload_builder_collective(built, &collective);
    op->shape = hl_workload_builder_shape(built, &shape);
}

/* Both in order of thread and time: a launch gets the messages since the launch before it. */
void hl_trace_nvtx_join(hl_trace_nvtx_collectives *self, hl_trace_builder *builder)
{
    size_t count, first = 0, next = 0;
    if (!self->message_count || builder->built.failed)
        return;
    launch *launches = list_launches(builder, &count);
    qsort(self->messages, self->message_count, sizeof *self->messages, by_start);
    if (self->communicator_count)
        qsort(self->communicators, self->communicator_count, sizeof *self->communicators, by_id);
    for (size_t i = 0; i < count && !builder->built.failed; i++) {
        const launch *now = &launches[i];
        const size_t before = next;
        while (next < self->message_count &&
               compare_places(self->messages[next].thread, self->messages[next].start_ns,
                              now->thread, now->call_ns) <= 0)
            next++;
        first = next > before ? before : first;
        while (first < next && self->messages[first].thread != now->thread)
            first++;
        take_messages(self, builder, &builder->built.ops[now->op], first, next);
    }
    free(launches);
}

void hl_trace_nvtx_release(hl_trace_nvtx_collectives *self)
{
    free(self->communicators);
    free(self->messages);
}
