/* The words for operations, directions and kinds of memory. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "haul/analysis.h"
#include "haul/workload.h"

static const char *const kinds[] = {
#define KIND_ROW(name, text, place, has_bytes) text,
    HAUL_OP_KIND_LIST(KIND_ROW)
#undef KIND_ROW
};

static const char *const directions[] = {HAUL_DIRECTION_LIST(HAUL_ROW_TEXT)};

static const char *const memories[] = {HAUL_MEMORY_LIST(HAUL_ROW_TEXT)};

/* A number that is none of the kinds comes of a damaged file: it is shown, not refused. */
const char *haul_op_kind_text(haul_op_kind kind)
{
    return (unsigned)kind < HAUL_OP_KINDS ? kinds[kind] : "unknown";
}

/* Words of reports and of machine files are the same. */
const char *haul_direction_text(haul_direction direction)
{
    return (unsigned)direction < HAUL_DIRECTIONS ? directions[direction] : "unknown";
}

const char *haul_memory_text(haul_memory memory)
{
    return (unsigned)memory < HAUL_MEMORIES ? memories[memory] : "unknown";
}

/* Whether `text` is the name in any case, or, if `is_short`, its first letters, two or more; with
 * "2" for "to". */
static bool is_name(const char *text, const char *name, bool is_short)
{
    size_t taken = 0;
    for (; *text && *name; text++, taken++) {
        const size_t to = *text == '2' && !strncasecmp(name, "to", 2) ? 2 : 1;
        if (to == 1 && tolower((unsigned char)*text) != tolower((unsigned char)*name))
            return false;
        name += to;
    }
    return !*text && (!*name || (is_short && taken > 1));
}

/* The index of `text` among `count` names, or -1 with the names in `error`. */
static int find_name(const char *text, const char *const *names, int count, haul_error *error)
{
    int found = -1, alike = 0;
    for (int i = 0; i < count; i++) {
        if (is_name(text, names[i], false))
            return i;
        if (is_name(text, names[i], true)) {
            found = i;
            alike++;
        }
    }
    if (alike == 1)
        return found;
    char list[128];
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        const size_t room = sizeof list - used;
        const int added = snprintf(list + used, room, "%s%s", i ? ", " : "", names[i]);
        used += added > 0 && (size_t)added < room ? (size_t)added : 0;
    }
    char meant[64];
    haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected one of %s, not '%.100s'%s", list, text,
                   haul_name_suggest(text, names, (size_t)count, meant, sizeof meant));
    return -1;
}

haul_status haul_direction_parse(const char *text, haul_direction *direction, haul_error *error)
{
    const int found = find_name(text, directions, HAUL_DIRECTIONS, error);
    *direction = found < 0 ? *direction : (haul_direction)found;
    return found < 0 ? HAUL_STATUS_BAD_INPUT : HAUL_OK;
}

/* *memory stays as it was where the text names none. */
haul_status haul_memory_parse(const char *text, haul_memory *memory, haul_error *error)
{
    const int found = find_name(text, memories, HAUL_MEMORIES, error);
    *memory = found < 0 ? *memory : (haul_memory)found;
    return found < 0 ? HAUL_STATUS_BAD_INPUT : HAUL_OK;
}

const char *haul_idle_text(haul_idle_kind kind)
{
    static const char *const texts[] = {
#define IDLE_TEXT(name, text, phrase) text,
        HAUL_IDLE_LIST(IDLE_TEXT)
#undef IDLE_TEXT
    };
    return (unsigned)kind < HAUL_IDLE_KINDS ? texts[kind] : "unknown";
}
