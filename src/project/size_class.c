#include "project/size_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/stats.h"
#include "workload/tally.h"

static haul_op key_of(const haul_op *op, const bool *any_memory)
{
    haul_op key = *op;
    if (any_memory && any_memory[op->direction])
        key.detail = HAUL_MEMORIES;
    return key;
}

/* Counts each class; class_of[k] becomes the class of the k-th copy. */
static bool count_classes(const haul_workload *workload, const bool *any_memory,
                          haul_tally *classes, uint32_t *class_of)
{
    size_t copies = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        if (workload->ops[i].kind != HAUL_OP_COPY)
            continue;
        const haul_op key = key_of(&workload->ops[i], any_memory);
        const haul_tally_row *row = haul_tally_add(classes, &key);
        if (!row)
            return false;
        class_of[copies++] = (uint32_t)(row - classes->rows);
    }
    return true;
}

/* The rows as classes; `first` is the row's number until they are placed. */
static haul_size_class_key *make_classes(const haul_tally *tally)
{
    haul_size_class_key *classes = calloc(tally->count + 1, sizeof *classes);
    for (size_t i = 0; classes && i < tally->count; i++) {
        const haul_tally_row *row = &tally->rows[i];
        classes[i] = (haul_size_class_key){.bytes = row->bytes,
                                           .time_ns = (double)row->time_ns,
                                           .first = (uint32_t)i,
                                           .count = (uint32_t)row->count,
                                           .direction = row->direction,
                                           .memory = row->memory};
    }
    return classes;
}

static int compare_classes(const void *a, const void *b)
{
    const haul_size_class_key *x = a, *y = b;
    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Orders the classes and says where each begins: next[row] becomes the first place of its copies.
 */
static void place_classes(haul_size_class_key *classes, size_t count, uint32_t *next)
{
    qsort(classes, count, sizeof *classes, compare_classes);
    uint32_t first = 0;
    for (size_t i = 0; i < count; i++) {
        next[classes[i].first] = first;
        classes[i].first = first;
        first += classes[i].count;
    }
}

static void place_copies(const haul_workload *workload, const uint32_t *class_of, uint32_t *next,
                         uint32_t *ops)
{
    size_t copies = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_COPY)
            ops[next[class_of[copies++]]++] = (uint32_t)i;
}

static size_t count_copies(const haul_workload *workload)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        count += workload->ops[i].kind == HAUL_OP_COPY;
    return count;
}

haul_status haul_size_class_make(const haul_workload *workload, const bool *any_memory,
                                 haul_size_class *alike, haul_error *error)
{
    const size_t count = count_copies(workload);
    haul_tally tally = {0};
    haul_size_class made = {.op_count = count, .ops = malloc((count + 1) * sizeof *made.ops)};
    uint32_t *class_of = calloc(count + 1, sizeof *class_of);
    uint32_t *next = NULL;
    if (made.ops && class_of && count_classes(workload, any_memory, &tally, class_of)) {
        made.class_count = tally.count;
        made.classes = make_classes(&tally);
        next = calloc(tally.count + 1, sizeof *next);
    }
    haul_tally_release(&tally);
    const bool ready = made.classes && next;
    if (ready) {
        place_classes(made.classes, made.class_count, next);
        place_copies(workload, class_of, next, made.ops);
        *alike = made;
    } else {
        haul_size_class_release(&made);
    }
    free(next);
    free(class_of);
    return ready ? HAUL_OK : haul_fail_no_memory(error);
}

void haul_size_class_release(haul_size_class *alike)
{
    free(alike->classes);
    free(alike->ops);
    *alike = (haul_size_class){0};
}

haul_class_range haul_size_class_group(const haul_size_class *alike, size_t begin)
{
    size_t end = begin;
    while (end < alike->class_count &&
           alike->classes[end].direction == alike->classes[begin].direction &&
           alike->classes[end].memory == alike->classes[begin].memory)
        end++;
    return (haul_class_range){begin, end};
}

double haul_size_class_median_ns(const haul_workload *workload, const haul_size_class *alike,
                                 const haul_size_class_key *alike_class, double *scratch)
{
    for (uint32_t i = 0; i < alike_class->count; i++)
        scratch[i] = (double)workload->ops[alike->ops[alike_class->first + i]].dur_ns;
    return haul_median_of_many(scratch, alike_class->count);
}

size_t haul_size_class_copies(const haul_size_class *alike, haul_class_range range)
{
    if (range.begin >= range.end)
        return 0;
    const haul_size_class_key *last = &alike->classes[range.end - 1];
    return (size_t)last->first + last->count - alike->classes[range.begin].first;
}

haul_size_class_stride haul_size_class_thin(const haul_size_class *alike, haul_class_range range,
                                            size_t limit)
{
    return (haul_size_class_stride){.classes = 1 + (range.end - range.begin) / limit,
                                    .copies = 1 + haul_size_class_copies(alike, range) / limit};
}

size_t haul_size_class_largest(const haul_size_class *alike)
{
    size_t largest = 0;
    for (size_t i = 0; i < alike->class_count; i++)
        if (alike->classes[i].count > largest)
            largest = alike->classes[i].count;
    return largest;
}

void haul_size_class_blame(const haul_size_class_key *alike_class, haul_error *error)
{
    if (!error)
        return;
    const size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, ", for the trace's copies %s %s",
             haul_direction_text((haul_direction)alike_class->direction),
             haul_memory_text((haul_memory)alike_class->memory));
}
