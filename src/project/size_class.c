/* Copies sorted into classes by one pass that numbers the classes as they come and one that puts
 * the copies into their places: no sort of all copies. */
#include "project/size_class.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/records.h"
#include "base/stats.h"
#include "workload/op_class.h"

/* Hashed as bytes, so it has no padding. */
typedef struct class_key {
    uint64_t bytes;
    uint32_t name;
    uint16_t direction;
    uint16_t memory;
} class_key;

/* Numbers the classes as they come; class_of[k] is the number of the k-th copy. */
static bool number_copies(const haul_workload *workload, const hl_project_size_options *options,
                          hl_base_records *keys, uint32_t *class_of)
{
    size_t copies = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_COPY)
            continue;
        const bool any = options->any_memory && options->any_memory[op->direction];
        /* a copy whose bytes are not known is like one whose direction is not: it has no model */
        const uint8_t direction =
            op->flags & HAUL_OP_NO_BYTES ? HAUL_DIRECTION_UNKNOWN : op->direction;
        const class_key key = {op->bytes, options->by_call ? op->name : HAUL_NONE, direction,
                               any ? HAUL_MEMORIES : op->detail};
        class_of[copies] = hl_base_records_add(keys, &key);
        if (class_of[copies++] == UINT32_MAX)
            return false;
    }
    return true;
}

int hl_project_size_class_compare(const void *a, const void *b)
{
    const hl_project_size_class *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return hl_base_compare_unsigned(x->bytes, y->bytes);
}

/* Sorts the classes; place_of[number] becomes the place of the class that had the number. */
static void sort_classes(const hl_base_records *keys, hl_project_size_classes *classes,
                         uint32_t *place_of)
{
    const class_key *key = keys->items;
    classes->count = keys->count;
    for (uint32_t c = 0; c < keys->count; c++)
        classes->items[c] = (hl_project_size_class){.bytes = key[c].bytes,
                                                    .name = key[c].name,
                                                    .first = c,
                                                    .direction = (uint8_t)key[c].direction,
                                                    .memory = (uint8_t)key[c].memory};
    if (classes->count)
        qsort(classes->items, classes->count, sizeof *classes->items,
              hl_project_size_class_compare);
    for (uint32_t c = 0; c < classes->count; c++)
        place_of[classes->items[c].first] = c;
}

/* Counts the copies of each class, then puts them in its places. */
static void place_copies(const haul_workload *workload, const uint32_t *class_of,
                         const uint32_t *place_of, hl_project_size_classes *classes)
{
    for (size_t i = 0, k = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_COPY) {
            hl_project_size_class *one = &classes->items[place_of[class_of[k++]]];
            one->count++;
            one->time_ns += (double)workload->ops[i].dur_ns;
        }
    for (size_t c = 0; c < classes->count; c++) {
        classes->items[c].first = (uint32_t)classes->op_count;
        classes->op_count += classes->items[c].count;
        classes->items[c].count = 0;
    }
    for (size_t i = 0, k = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_COPY) {
            hl_project_size_class *one = &classes->items[place_of[class_of[k++]]];
            classes->ops[one->first + one->count++] = (uint32_t)i;
        }
}

haul_status hl_project_size_classes_make(const haul_workload *workload,
                                         const hl_project_size_options *options,
                                         hl_project_size_classes *classes, haul_error *error)
{
    static const hl_project_size_options usual = {0};
    size_t copies = 1;
    for (size_t i = 0; i < workload->op_count; i++)
        copies += workload->ops[i].kind == HAUL_OP_COPY;
    hl_base_records keys = {.size = sizeof(class_key)};
    uint32_t *class_of = malloc(copies * sizeof *class_of), *place_of = NULL;
    hl_project_size_classes made = {.ops = malloc(copies * sizeof *made.ops)};
    bool ready = class_of && made.ops &&
                 number_copies(workload, options ? options : &usual, &keys, class_of);
    if (ready) {
        made.items = malloc((keys.count + 1) * sizeof *made.items);
        place_of = malloc((keys.count + 1) * sizeof *place_of);
        ready = made.items && place_of;
    }
    if (ready) {
        sort_classes(&keys, &made, place_of);
        place_copies(workload, class_of, place_of, &made);
        *classes = made;
    } else {
        hl_project_size_classes_release(&made);
    }
    hl_base_records_release(&keys);
    free(class_of);
    free(place_of);
    return ready ? HAUL_OK : hl_base_fail_no_memory(error);
}

void hl_project_size_classes_release(hl_project_size_classes *classes)
{
    free(classes->items);
    free(classes->ops);
    *classes = (hl_project_size_classes){0};
}

/* The classes are sorted by these three first. */
hl_project_class_range hl_project_size_group(const hl_project_size_classes *classes, size_t begin)
{
    const hl_project_size_class *first = &classes->items[begin];
    size_t end = begin;
    while (end < classes->count && classes->items[end].name == first->name &&
           classes->items[end].direction == first->direction &&
           classes->items[end].memory == first->memory)
        end++;
    return (hl_project_class_range){begin, end};
}

/* Only copies over the link to the host can be told impossible: a rate within a device may be huge.
 */
static bool is_marked_kind(const hl_project_size_class *one)
{
    return one->direction <= HAUL_DIRECTION_DTOH && one->bytes && one->memory < HAUL_MEMORIES;
}

/* Of one copy on average, in bytes per second. */
static double mean_rate(const hl_project_size_class *one)
{
    const double tick_s = 1e-6;
    return (double)one->bytes / (1e-9 * one->time_ns / one->count + tick_s);
}

/* The least mean rate of a kind of memory among copies like those of a class: fast copies that
 * moved nothing may be most of their own kind, but not of all. */
static double least_mean_rate(const hl_project_size_classes *classes,
                              const hl_project_size_class *like)
{
    double bytes[HAUL_MEMORIES] = {0}, seconds[HAUL_MEMORIES] = {0}, least = (double)INFINITY;
    for (size_t c = 0; c < classes->count; c++) {
        const hl_project_size_class *one = &classes->items[c];
        if (!is_marked_kind(one) || one->direction != like->direction ||
            hl_workload_decade_of(one->bytes) != hl_workload_decade_of(like->bytes))
            continue;
        bytes[one->memory] += (double)one->bytes * one->count;
        seconds[one->memory] += (double)one->bytes / mean_rate(one) * one->count;
    }
    for (int m = 0; m < HAUL_MEMORIES; m++)
        if (bytes[m] > 0)
            least = fmin(least, bytes[m] / seconds[m]);
    return least;
}

uint64_t hl_project_size_classes_mark_impossible(hl_project_size_classes *classes, double link_Bps)
{
    static const double most_rate = 1e12, times_the_others = 10;
    uint64_t copies = 0;
    for (size_t c = 0; c < classes->count; c++) {
        hl_project_size_class *one = &classes->items[c];
        if (!is_marked_kind(one))
            continue;
        const double rate = mean_rate(one);
        one->impossible = rate > most_rate || (link_Bps > 0 && rate > link_Bps);
        /* the others are looked at only for what is suspiciously fast */
        if (!one->impossible && rate > most_rate / 100)
            one->impossible = rate > times_the_others * least_mean_rate(classes, one);
        copies += one->impossible ? one->count : 0;
    }
    return copies;
}

double hl_project_size_class_median_ns(const haul_workload *workload,
                                       const hl_project_size_classes *classes,
                                       const hl_project_size_class *one, double *scratch)
{
    for (uint32_t i = 0; i < one->count; i++)
        scratch[i] = (double)workload->ops[classes->ops[one->first + i]].dur_ns;
    return hl_base_median_of_many(scratch, one->count);
}

size_t hl_project_size_copies(const hl_project_size_classes *classes, hl_project_class_range range)
{
    if (range.begin >= range.end)
        return 0;
    const hl_project_size_class *last = &classes->items[range.end - 1];
    return (size_t)last->first + last->count - classes->items[range.begin].first;
}

/* Evenly over classes and over the copies of each: a prefix would be the program's start alone. */
hl_project_size_stride hl_project_size_thin(const hl_project_size_classes *classes,
                                            hl_project_class_range range, size_t limit)
{
    return (hl_project_size_stride){.classes = 1 + (range.end - range.begin) / limit,
                                    .copies = 1 + hl_project_size_copies(classes, range) / limit};
}

size_t hl_project_size_largest(const hl_project_size_classes *classes)
{
    size_t largest = 0;
    for (size_t c = 0; c < classes->count; c++)
        if (classes->items[c].count > largest)
            largest = classes->items[c].count;
    return largest;
}

/* The error names what the model lacks; the reader needs to know for which copies. */
void hl_project_size_class_blame(const hl_project_size_class *one, haul_error *error)
{
    if (!error)
        return;
    const size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, ", for the profile's copies %s %s",
             haul_direction_text((haul_direction)one->direction),
             haul_memory_text((haul_memory)one->memory));
}
