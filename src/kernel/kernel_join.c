/* Counters without a time take that of the launches that were timed. A name or a GPU that one side
 * does not say fits all of the other's, so each timed launch stands in four groups: by its own
 * kernel and by any, by its own GPU and by any. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "kernel/kernel_keys.h"
#include "kernel/kernel_records.h"

enum { WAYS = 4 };

/* Timed launches of one size. */
typedef struct group {
    double seconds; /* the sum */
    size_t count;
    size_t last;                 /* the record that came last */
    const haul_counters *launch; /* the last one's */
    bool is_mixed; /* of more than one grid or block, and so of more than one size or shape */
    bool is_used;
} group;

typedef struct joining {
    haul_kernel_records *records;
    haul_kernel_keys keys;
    group *groups; /* by key */
    size_t count;
    size_t capacity;
    uint32_t (*keys_of)[WAYS]; /* of each timed record */
} joining;

static const haul_counter launch_counters[] = {HAUL_COUNTER_GRID, HAUL_COUNTER_BLOCK,
                                               HAUL_COUNTER_BLOCK_X, HAUL_COUNTER_BLOCK_Y,
                                               HAUL_COUNTER_BLOCK_Z};
enum { LAUNCH_COUNTERS = sizeof launch_counters / sizeof *launch_counters };

/* Of one grid and block. */
static bool same_launch(const haul_counters *a, const haul_counters *b)
{
    for (int i = 0; i < LAUNCH_COUNTERS; i++) {
        const double x = a->values[launch_counters[i]], y = b->values[launch_counters[i]];
        if (x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}

/* A group's number; new ones are added. "any" is a part of its own: names that are known have
 * another before them. */
static uint32_t key_of(joining *self, double size, const char *kernel, bool any_kernel,
                       const char *gpu, bool any_gpu)
{
    char number[32];
    snprintf(number, sizeof number, "%a", isnan(size) ? -1 : size);
    const char *const parts[] = {number, any_kernel ? "any" : "one", any_kernel ? NULL : kernel,
                                 any_gpu ? "any" : "one", any_gpu ? NULL : gpu};
    const uint32_t key = haul_kernel_keys_of(&self->keys, parts, sizeof parts / sizeof *parts);
    if (key == UINT32_MAX ||
        !haul_grow(&self->groups, &self->capacity, (size_t)key + 1, sizeof *self->groups))
        return UINT32_MAX;
    for (; self->count <= key; self->count++)
        self->groups[self->count] = (group){0};
    return key;
}

/* Adds a timed launch to all four groups, so that a lookup needs no search. */
static bool add_timed(joining *self, size_t record)
{
    const haul_kernel_record *at = &self->records->items[record];
    for (uint32_t way = 0; way < WAYS; way++) {
        const uint32_t key = key_of(self, at->counters.values[HAUL_COUNTER_SIZE], at->kernel,
                                    way & 1, at->gpu, way & 2);
        if (key == UINT32_MAX)
            return false;
        self->keys_of[record][way] = key;
        group *to = &self->groups[key];
        to->is_mixed |= to->launch && !same_launch(to->launch, &at->counters);
        to->launch = &at->counters;
        to->seconds += at->counters.values[HAUL_COUNTER_SECONDS];
        to->last = record;
        to->count++;
    }
    return true;
}

/* The groups of launches that may be those of the counters: no two share a launch. */
static int groups_of(joining *self, const haul_kernel_record *record, uint32_t out[WAYS])
{
    const double size = record->counters.values[HAUL_COUNTER_SIZE];
    int count = 0;
    for (int k = 0; k < (record->kernel ? 2 : 1); k++)
        for (int g = 0; g < (record->gpu ? 2 : 1); g++) {
            out[count] = key_of(self, size, k ? NULL : record->kernel, !record->kernel,
                                g ? NULL : record->gpu, !record->gpu);
            if (out[count++] == UINT32_MAX)
                return -1;
        }
    return count;
}

/* Gives the counters the mean time of the groups that fit. Looks at all groups first: a launch of
 * another grid in any of them means that none of the times can be trusted. */
static bool take_time(joining *self, haul_kernel_record *record)
{
    uint32_t keys[WAYS];
    const int count = groups_of(self, record, keys);
    if (count < 0)
        return false;
    group all = {0};
    for (int i = 0; i < count; i++) {
        const group *at = &self->groups[keys[i]];
        if (!at->count)
            continue;
        all.is_mixed |= at->is_mixed || (all.launch && !same_launch(all.launch, at->launch));
        all.launch = at->launch;
        all.last = all.count && all.last > at->last ? all.last : at->last;
        all.seconds += at->seconds;
        all.count += at->count;
    }
    if (!all.count || all.is_mixed)
        return true;
    for (int i = 0; i < count; i++)
        self->groups[keys[i]].is_used = true;
    const haul_kernel_record *one = &self->records->items[all.last];
    record->counters.values[HAUL_COUNTER_SECONDS] = all.seconds / (double)all.count;
    for (int i = 0; i < LAUNCH_COUNTERS; i++)
        if (isnan(record->counters.values[launch_counters[i]]))
            record->counters.values[launch_counters[i]] = one->counters.values[launch_counters[i]];
    record->gpu = record->gpu ? record->gpu : one->gpu;
    return true;
}

/* Counters first need all timed launches in their groups; whether a launch was used is known only
 * when all counters have been served. */
static bool join_all(joining *self, bool *is_used)
{
    haul_kernel_records *records = self->records;
    bool *timed = is_used; /* until the end: whether it was timed in its file */
    for (size_t i = 0; i < records->count; i++) {
        timed[i] = !isnan(records->items[i].counters.values[HAUL_COUNTER_SECONDS]);
        if (timed[i] && !add_timed(self, i))
            return false;
    }
    for (size_t i = 0; i < records->count; i++)
        if (!timed[i] && haul_kernel_record_tells(&records->items[i]) &&
            !take_time(self, &records->items[i]))
            return false;
    for (size_t i = 0; i < records->count; i++) {
        bool used = false;
        for (int way = 0; timed[i] && way < WAYS; way++)
            used |= self->groups[self->keys_of[i][way]].is_used;
        is_used[i] = used;
    }
    return true;
}

/* Only memory can fail: counters that find no time are no error here, but where they are fitted. */
haul_status haul_kernel_records_join(haul_kernel_records *records, bool *is_used, haul_error *error)
{
    joining self = {.records = records};
    self.keys_of = calloc(records->count + 1, sizeof *self.keys_of);
    const bool done = self.keys_of && join_all(&self, is_used);
    haul_kernel_keys_release(&self.keys);
    free(self.groups);
    free(self.keys_of);
    return done ? HAUL_OK : haul_fail_no_memory(error);
}
