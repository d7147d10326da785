/* Launches as they are read: counters that a table does not have are NaN, which no profiler
 * prints. */
#include "kernel/kernel_records.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"

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

haul_kernel_plain_name haul_kernel_plain_name_of(const char *name)
{
    const char *start = strncmp(name, "void ", 5) != 0 ? name : name + 5;
    size_t length = strcspn(start, "(<[");
    for (size_t more; (more = nameless(start + length));) {
        length += more;
        length += strcspn(start + length, "(<[");
    }
    while (length && start[length - 1] == ' ')
        length--;
    return (haul_kernel_plain_name){start, length};
}

bool haul_kernel_plain_name_is(const char *plain, const char *name)
{
    const haul_kernel_plain_name of = haul_kernel_plain_name_of(name);
    return strlen(plain) == of.length && !memcmp(plain, of.start, of.length);
}

/* Behind the last "::". */
haul_kernel_plain_name haul_kernel_bare_name_of(const char *name)
{
    const haul_kernel_plain_name plain = haul_kernel_plain_name_of(name);
    size_t at = plain.length;
    while (at && plain.start[at - 1] != ':')
        at--;
    return (haul_kernel_plain_name){plain.start + at, plain.length - at};
}

bool haul_kernel_record_tells(const haul_kernel_record *record)
{
    for (int i = HAUL_COUNTER_SECONDS; i < HAUL_COUNTER_COUNT; i++)
        if (!isnan(record->counters.values[i]))
            return true;
    return false;
}

haul_kernel_record *haul_kernel_records_new(haul_kernel_records *records)
{
    if (!haul_grow(&records->items, &records->capacity, records->count + 1, sizeof *records->items))
        return NULL;
    haul_kernel_record *made = &records->items[records->count++];
    *made = (haul_kernel_record){0};
    haul_counters_clear(&made->counters);
    return made;
}
