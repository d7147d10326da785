#include "workload/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/intervals.h"

static haul_tally_row key_of(const haul_op *op)
{
    const bool is_copy = op->kind == HAUL_OP_COPY, is_kernel = op->kind == HAUL_OP_KERNEL;
    return (haul_tally_row){.kind = op->kind,
                            .direction = is_copy ? op->direction : 0,
                            .memory = is_copy ? op->detail : 0,
                            .name = is_kernel ? op->name : HAUL_NONE,
                            .bytes = is_kernel ? 0 : op->bytes,
                            .shortest_ns = INT64_MAX};
}

static bool is_same(const haul_tally_row *a, const haul_tally_row *b)
{
    return a->bytes == b->bytes && a->name == b->name && a->kind == b->kind &&
           a->direction == b->direction && a->memory == b->memory;
}

/* Mixes as the finaliser of MurmurHash3 does, so that sizes of whole pages spread too. */
static size_t hash_key(const haul_tally_row *key)
{
    uint64_t hash = key->bytes ^ (uint64_t)key->name << 32;
    hash ^=
        (uint64_t)key->kind << 56 ^ (uint64_t)key->direction << 48 ^ (uint64_t)key->memory << 40;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdU;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53U;
    return (size_t)(hash ^ hash >> 33);
}

static size_t find_slot(const haul_tally *tally, const haul_tally_row *key)
{
    size_t at = hash_key(key) & (tally->slot_count - 1);
    while (tally->slots[at] && !is_same(&tally->rows[tally->slots[at] - 1], key))
        at = (at + 1) & (tally->slot_count - 1);
    return at;
}

static bool grow_slots(haul_tally *tally)
{
    const size_t new_count = tally->slot_count ? tally->slot_count * 2 : 256;
    uint32_t *slots = calloc(new_count, sizeof *slots);
    if (!slots)
        return false;
    free(tally->slots);
    tally->slots = slots;
    tally->slot_count = new_count;
    for (size_t i = 0; i < tally->count; i++)
        slots[find_slot(tally, &tally->rows[i])] = (uint32_t)(i + 1);
    return true;
}

haul_tally_row *haul_tally_add(haul_tally *tally, const haul_op *op)
{
    if (tally->count * 2 >= tally->slot_count && !grow_slots(tally))
        return NULL;
    const haul_tally_row key = key_of(op);
    const size_t slot = find_slot(tally, &key);
    if (!tally->slots[slot]) {
        if (tally->count >= UINT32_MAX - 1 ||
            !haul_grow(&tally->rows, &tally->capacity, tally->count + 1, sizeof *tally->rows))
            return NULL;
        tally->rows[tally->count++] = key;
        tally->slots[slot] = (uint32_t)tally->count;
    }
    haul_tally_row *row = &tally->rows[tally->slots[slot] - 1];
    row->count++;
    row->time_ns = haul_add_ns(row->time_ns, op->dur_ns);
    if (op->dur_ns > 0 && op->dur_ns < row->shortest_ns)
        row->shortest_ns = op->dur_ns;
    return row;
}

static haul_cost_row cost_row(const haul_tally_row *row)
{
    return (haul_cost_row){
        .kind = row->kind,
        .direction = row->direction,
        .memory = row->memory,
        .name = row->name,
        .bytes = row->bytes,
        .count = row->count,
        .time_ns = row->time_ns,
        .shortest_ns = row->time_ns ? row->shortest_ns : 0,
    };
}

/* By insertion. */
size_t haul_tally_largest(const haul_tally *tally, haul_cost_row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < tally->count; i++) {
        size_t at = count;
        while (at && rows[at - 1].time_ns < tally->rows[i].time_ns)
            at--;
        if (at == HAUL_LARGEST)
            continue;
        if (count < HAUL_LARGEST)
            count++;
        memmove(&rows[at + 1], &rows[at], (count - at - 1) * sizeof *rows);
        rows[at] = cost_row(&tally->rows[i]);
    }
    return count;
}

void haul_tally_release(haul_tally *tally)
{
    free(tally->rows);
    free(tally->slots);
    *tally = (haul_tally){0};
}
