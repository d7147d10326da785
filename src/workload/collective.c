/* Collective operations of a profile, by what Kineto or NVTX recorded of them, else by the names of
 * their kernels: "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclKernel_SendRecv_RING_SIMPLE". */
#include "haul/collective.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "workload/collective_name.h"

enum { WORD_BYTES = 96 };

bool hl_workload_is_collective_name(const char *name)
{
    static const char *const marks[] = {"nccl", "rccl", "nvshmem", "cross_device_reduce"};
    /* a template's arguments may name anything */
    char head[WORD_BYTES];
    const size_t length = strcspn(name, "<(");
    (void)snprintf(head, sizeof head, "%.*s", length < WORD_BYTES ? (int)length : WORD_BYTES - 1,
                   name);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(head, marks[i]))
            return true;
    return false;
}

haul_collective_kind hl_workload_collective_named(const char *name)
{
    /* "reduce" is a part of others, which come before it */
    static const struct {
        const char *word;
        haul_collective_kind kind;
    } words[] = {
        {"allreduce", HAUL_COLLECTIVE_ALL_REDUCE},
        {"reducescatter", HAUL_COLLECTIVE_REDUCE_SCATTER},
        {"allgather", HAUL_COLLECTIVE_ALL_GATHER},
        {"alltoall", HAUL_COLLECTIVE_ALL_TO_ALL},
        {"broadcast", HAUL_COLLECTIVE_BROADCAST},
        {"sendrecv", HAUL_COLLECTIVE_SEND_RECEIVE},
        {"ncclsend", HAUL_COLLECTIVE_SEND_RECEIVE},
        {"ncclrecv", HAUL_COLLECTIVE_SEND_RECEIVE},
        {"devicereduce", HAUL_COLLECTIVE_ALL_REDUCE},
        {"reduce", HAUL_COLLECTIVE_REDUCE},
    };
    char word[WORD_BYTES];
    size_t length = 0;
    for (; *name && length + 1 < WORD_BYTES; name++)
        if (isalpha((unsigned char)*name))
            word[length++] = (char)tolower((unsigned char)*name);
    word[length] = '\0';
    if (!strcmp(word, "send") || !strcmp(word, "recv"))
        return HAUL_COLLECTIVE_SEND_RECEIVE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(word, words[i].word))
            return words[i].kind;
    return HAUL_COLLECTIVE_OTHER;
}

/* Bytes of an element by PyTorch's and C++'s names: "Float", "c10::BFloat16", "unsigned char",
 * "Float8_e4m3fn". */
static uint64_t element_bytes(const char *type)
{
    static const struct {
        const char *word;
        uint64_t bytes;
    } types[] = {{"float8", 1},  {"bfloat16", 2}, {"half", 2}, {"float16", 2}, {"double", 8},
                 {"float64", 8}, {"float", 4},    {"long", 8}, {"int64", 8},   {"short", 2},
                 {"int16", 2},   {"char", 1},     {"byte", 1}, {"bool", 1},    {"int8", 1},
                 {"uint8", 1},   {"int", 4}};
    char word[WORD_BYTES];
    size_t length = 0;
    for (; *type && length + 1 < WORD_BYTES; type++)
        word[length++] = (char)tolower((unsigned char)*type);
    word[length] = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strstr(word, types[i].word))
            return types[i].bytes;
    return 0;
}

const char *haul_collective_text(haul_collective_kind kind)
{
    static const char *const texts[] = {HAUL_COLLECTIVE_LIST(HAUL_ROW_TEXT)};
    return (unsigned)kind < HAUL_COLLECTIVES ? texts[kind] : "collective";
}

haul_communication haul_communication_of(const haul_workload *workload, const haul_op *kernel)
{
    const char *name = haul_workload_string(workload, kernel->name);
    haul_communication of = {
        .kind = hl_workload_collective_named(name), .data_type = HAUL_NONE, .group = HAUL_NONE};
    const uint32_t number =
        kernel->shape < workload->shape_count ? workload->shapes[kernel->shape].collective : 0;
    if (!number || number > workload->collective_count)
        return of;
    const haul_collective *recorded = &workload->collectives[number - 1];
    const haul_collective_kind kind =
        hl_workload_collective_named(haul_workload_string(workload, recorded->name));
    if (kind != HAUL_COLLECTIVE_OTHER)
        of.kind = kind;
    const uint64_t each = element_bytes(haul_workload_string(workload, recorded->data_type));
    /* A rank's input counts where a collective takes one part from each, else its output. */
    const uint64_t in = recorded->elements_in, out = recorded->elements_out;
    const uint64_t elements = of.kind == HAUL_COLLECTIVE_ALL_GATHER                   ? out
                              : of.kind == HAUL_COLLECTIVE_REDUCE_SCATTER || in > out ? in
                                                                                      : out;
    if (each && elements <= (UINT64_C(1) << 53) / each)
        of.bytes = elements * each;
    of.ranks = recorded->group_size;
    of.data_type = recorded->data_type;
    of.group = recorded->group;
    return of;
}

double haul_communication_moved(const haul_communication *of)
{
    const double ranks = of->ranks > 1 ? of->ranks : 2;
    const double share = (ranks - 1) / ranks;
    switch (of->kind) {
    case HAUL_COLLECTIVE_ALL_REDUCE:
        return 2 * share * (double)of->bytes;
    case HAUL_COLLECTIVE_REDUCE_SCATTER:
    case HAUL_COLLECTIVE_ALL_GATHER:
    case HAUL_COLLECTIVE_ALL_TO_ALL:
        return share * (double)of->bytes;
    default:
        return (double)of->bytes;
    }
}

/* --- sums */

typedef struct one_use {
    haul_communication of;
    int64_t dur_ns;
} one_use;

/* 0 for operations that are alike. */
static int compare_operations(const haul_communication *a, const haul_communication *b)
{
    const uint64_t x[] = {a->kind, a->ranks, a->group, a->data_type, a->bytes};
    const uint64_t y[] = {b->kind, b->ranks, b->group, b->data_type, b->bytes};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int by_kind(const void *a, const void *b)
{
    const one_use *x = a, *y = b;
    const int order = compare_operations(&x->of, &y->of);
    return order ? order : hl_base_compare_signed(x->dur_ns, y->dur_ns);
}

static int by_time(const void *a, const void *b)
{
    const haul_communication_use *x = a, *y = b;
    return hl_base_compare_signed(y->time_ns, x->time_ns);
}

haul_status haul_communication_uses(const haul_workload *workload, haul_communication_use **uses,
                                    size_t *count, haul_error *error)
{
    size_t found = 0, made = 0, filled = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        found += haul_op_is_collective(&workload->ops[i]);
    one_use *all = malloc((found + 1) * sizeof *all);
    haul_communication_use *sums = calloc(found + 1, sizeof *sums);
    if (!all || !sums) {
        free(all);
        free(sums);
        return hl_base_fail_no_memory(error);
    }
    for (size_t i = 0; i < workload->op_count; i++)
        if (haul_op_is_collective(&workload->ops[i]))
            all[filled++] = (one_use){haul_communication_of(workload, &workload->ops[i]),
                                      workload->ops[i].dur_ns};
    qsort(all, found, sizeof *all, by_kind);
    for (size_t first = 0, end = 0; first < found; first = end, made++) {
        haul_communication_use *sum = &sums[made];
        *sum = (haul_communication_use){.of = all[first].of, .shortest_ns = all[first].dur_ns};
        for (; end < found && !compare_operations(&all[end].of, &all[first].of); end++)
            sum->time_ns += all[end].dur_ns;
        sum->count = end - first;
        sum->median_ns = all[first + (end - first) / 2].dur_ns;
    }
    free(all);
    qsort(sums, made, sizeof *sums, by_time);
    *uses = sums;
    *count = made;
    return HAUL_OK;
}
