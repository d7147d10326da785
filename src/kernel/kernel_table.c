/* Rows of launches, and their joining, so that counters of one run get the times of another. */
#include "kernel/kernel_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/records.h"

/* --- names */

/* Bytes of a namespace without a name as demanglers write it, Nsight Compute's at last; 0: it is
 * none. */
static size_t nameless(const char *text)
{
    static const char *const forms[] = {"(anonymous namespace)", "<unnamed>"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strncmp(text, forms[i], strlen(forms[i])))
            return strlen(forms[i]);
    return 0;
}

hl_kernel_plain_name hl_kernel_plain_name_of(const char *name)
{
    const char *start = strncmp(name, "void ", 5) != 0 ? name : name + 5;
    size_t length = strcspn(start, "(<[");
    for (size_t more; (more = nameless(start + length));) {
        length += more;
        length += strcspn(start + length, "(<[");
    }
    while (length && start[length - 1] == ' ')
        length--;
    return (hl_kernel_plain_name){start, length};
}

bool hl_kernel_plain_name_is(const char *plain, const char *name)
{
    const hl_kernel_plain_name of = hl_kernel_plain_name_of(name);
    return strlen(plain) == of.length && !memcmp(plain, of.start, of.length);
}

/* --- rows */

const char *hl_kernel_table_name(hl_kernel_table *table, const char *name)
{
    const hl_kernel_plain_name plain = hl_kernel_plain_name_of(name);
    const uint32_t number = hl_base_strings_add(&table->names, plain.start, plain.length);
    return number == UINT32_MAX ? NULL : table->names.texts[number];
}

hl_kernel_row *hl_kernel_table_add(hl_kernel_table *table)
{
    if (!hl_base_grow(&table->rows, &table->capacity, table->count + 1, sizeof *table->rows))
        return NULL;
    hl_kernel_row *made = &table->rows[table->count++];
    *made = (hl_kernel_row){0};
    for (int i = 0; i < HL_KERNEL_COUNTER_COUNT; i++)
        made->counters[i] = (double)NAN;
    return made;
}

void hl_kernel_row_add(hl_kernel_row *row, const hl_kernel_column_rule *rule, double value)
{
    double *at = &row->counters[rule->counter];
    value *= rule->scale > 0 ? rule->scale : 1;
    if (isnan(*at))
        *at = value;
    else if (rule->part == HL_KERNEL_FACTOR)
        *at *= value;
    else if (rule->part == HL_KERNEL_SUMMAND)
        *at += value;
}

bool hl_kernel_row_has_counters(const hl_kernel_row *row)
{
    for (int i = HL_KERNEL_COUNTER_SECONDS; i < HL_KERNEL_COUNTER_COUNT; i++)
        if (!isnan(row->counters[i]))
            return true;
    return false;
}

/* --- joining */

/* Counters without a time take the mean of those launches of the same kernel, size and GPU that
 * were timed, and their grid; nothing where these are of more than one grid, for then they are of
 * more than one size. A name or a GPU that one side lacks fits all of the other's, so each timed
 * launch stands in four groups: by its own kernel and by any, by its own GPU and by any. */
enum { WAYS = 4 };

static const char any_name[] = "";

typedef struct group_key {
    double size; /* -1: not known */
    const char *kernel;
    const char *gpu;
} group_key;

/* Timed launches of one key. */
typedef struct launch_group {
    double seconds; /* the sum */
    size_t count;
    size_t last;   /* the row that came last */
    bool is_mixed; /* of more than one grid or block, and so of more than one size or shape */
    bool is_used;
} launch_group;

typedef struct row_joiner {
    hl_kernel_table *table;
    hl_base_records keys;
    launch_group *groups; /* by key */
    size_t count;
    size_t capacity;
} row_joiner;

static const hl_kernel_counter launch_counters[] = {
    HL_KERNEL_COUNTER_GRID, HL_KERNEL_COUNTER_BLOCK, HL_KERNEL_COUNTER_BLOCK_X,
    HL_KERNEL_COUNTER_BLOCK_Y, HL_KERNEL_COUNTER_BLOCK_Z};
enum { LAUNCH_COUNTERS = sizeof launch_counters / sizeof *launch_counters };

/* Of one grid and block. */
static bool is_same_launch(const hl_kernel_row *a, const hl_kernel_row *b)
{
    for (int i = 0; i < LAUNCH_COUNTERS; i++) {
        const double x = a->counters[launch_counters[i]], y = b->counters[launch_counters[i]];
        if (x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}

/* The number of a key's group, added where there was none; UINT32_MAX without memory. */
static uint32_t group_of(row_joiner *self, double size, const char *kernel, const char *gpu)
{
    const group_key key = {isnan(size) ? -1 : size, kernel, gpu};
    const uint32_t number = hl_base_records_add(&self->keys, &key);
    if (number == UINT32_MAX ||
        !hl_base_grow(&self->groups, &self->capacity, (size_t)number + 1, sizeof *self->groups))
        return UINT32_MAX;
    for (; self->count <= number; self->count++)
        self->groups[self->count] = (launch_group){0};
    return number;
}

/* One of the groups of a timed row. */
static uint32_t group_of_timed(row_joiner *self, const hl_kernel_row *row, int way)
{
    return group_of(self, row->counters[HL_KERNEL_COUNTER_SIZE], way & 1 ? any_name : row->kernel,
                    way & 2 ? any_name : row->gpu);
}

/* Adds a timed launch to all four groups, so that a lookup needs no search. */
static bool add_timed(row_joiner *self, size_t at)
{
    const hl_kernel_row *row = &self->table->rows[at];
    for (int way = 0; way < WAYS; way++) {
        const uint32_t number = group_of_timed(self, row, way);
        if (number == UINT32_MAX)
            return false;
        launch_group *to = &self->groups[number];
        to->is_mixed |= to->count && !is_same_launch(&self->table->rows[to->last], row);
        to->seconds += row->counters[HL_KERNEL_COUNTER_SECONDS];
        to->last = at;
        to->count++;
    }
    return true;
}

/* The groups of launches that may be those of the counters, no two with a launch in common; -1
 * without memory. */
static int groups_of_counters(row_joiner *self, const hl_kernel_row *row, uint32_t out[WAYS])
{
    const double size = row->counters[HL_KERNEL_COUNTER_SIZE];
    int count = 0;
    for (int k = 0; k < (row->kernel ? 2 : 1); k++)
        for (int g = 0; g < (row->gpu ? 2 : 1); g++) {
            out[count] = group_of(self, size,
                                  k             ? NULL
                                  : row->kernel ? row->kernel
                                                : any_name,
                                  g          ? NULL
                                  : row->gpu ? row->gpu
                                             : any_name);
            if (out[count++] == UINT32_MAX)
                return -1;
        }
    return count;
}

/* Gives the counters the mean time of the groups that fit. Looks at all groups first: a launch of
 * another grid in any of them means that none of the times can be trusted. */
static bool take_time(row_joiner *self, hl_kernel_row *row)
{
    uint32_t numbers[WAYS];
    const int count = groups_of_counters(self, row, numbers);
    const hl_kernel_row *rows = self->table->rows, *launch = NULL, *first = NULL;
    double seconds = 0, launches = 0;
    bool is_mixed = false;
    for (int i = 0; i < count; i++) {
        const launch_group *at = &self->groups[numbers[i]];
        if (!at->count)
            continue;
        is_mixed |= at->is_mixed || (launch && !is_same_launch(launch, &rows[at->last]));
        launch = &rows[at->last];
        first = !first || launch < first ? launch : first;
        seconds += at->seconds;
        launches += (double)at->count;
    }
    if (!first || is_mixed)
        return count >= 0;
    for (int i = 0; i < count; i++)
        self->groups[numbers[i]].is_used = true;
    row->counters[HL_KERNEL_COUNTER_SECONDS] = seconds / launches;
    for (int i = 0; i < LAUNCH_COUNTERS; i++)
        if (isnan(row->counters[launch_counters[i]]))
            row->counters[launch_counters[i]] = first->counters[launch_counters[i]];
    row->gpu = row->gpu ? row->gpu : first->gpu;
    return true;
}

/* Counters first need all timed launches in their groups; whether a launch was used is known only
 * when all counters have been served. A row that took a time was not timed in its file, which
 * `is_used` holds until then. */
static bool join_rows(row_joiner *self, bool *is_used)
{
    hl_kernel_table *table = self->table;
    bool *is_timed = is_used;
    for (size_t i = 0; i < table->count; i++) {
        is_timed[i] = !isnan(table->rows[i].counters[HL_KERNEL_COUNTER_SECONDS]);
        if (is_timed[i] && !add_timed(self, i))
            return false;
    }
    for (size_t i = 0; i < table->count; i++)
        if (!is_timed[i] && hl_kernel_row_has_counters(&table->rows[i]) &&
            !take_time(self, &table->rows[i]))
            return false;
    for (size_t i = 0; i < table->count; i++) {
        bool used = false;
        for (int way = 0; is_timed[i] && way < WAYS; way++)
            used |= self->groups[group_of_timed(self, &table->rows[i], way)].is_used;
        is_used[i] = used;
    }
    return true;
}

/* Only memory can fail: counters that find no time are no error here, but where they are fitted. */
haul_status hl_kernel_table_join(hl_kernel_table *table, bool *is_used, haul_error *error)
{
    row_joiner self = {.table = table, .keys.size = sizeof(group_key)};
    const bool is_joined = join_rows(&self, is_used);
    hl_base_records_release(&self.keys);
    free(self.groups);
    return is_joined ? HAUL_OK : hl_base_fail_no_memory(error);
}
