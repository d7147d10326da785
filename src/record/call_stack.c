#include "record/call_stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Which file this library is. */
static const char here;

const void *hl_record_call_stack_take(hl_record_call_stack *self)
{
    const void *key = &here;                        /* where all bits would be 0 */
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a, of words in place of bytes */
    self->count = backtrace(self->frames, HL_RECORD_STACK_FRAMES);
    for (int i = 0; i < self->count; i++) {
        hash = (hash ^ (uint64_t)(uintptr_t)self->frames[i]) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    if (hash)
        memcpy(&key, &hash, sizeof key);
    return key;
}

/* The loader has the program itself under the name that it was called by, or none. */
static const char *file_of(const struct link_map *map, const Dl_info *found, char *buffer,
                           size_t size)
{
    if (map->l_name && strchr(map->l_name, '/'))
        return map->l_name;
    const ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
    if (length <= 0)
        return found->dli_fname ? found->dli_fname : "";
    buffer[length] = '\0';
    return buffer;
}

/* A frame's address is behind its call: the byte before is of the call's line. Returns the bytes
 * of its line, 0 where it is left out. */
static int frame_text(char *frame, const void *own, char *to, size_t size)
{
    Dl_info found;
    struct link_map *map = NULL;
    char program[1024];
    if (!dladdr1(frame - 1, &found, (void **)&map, RTLD_DL_LINKMAP) || !map ||
        found.dli_fbase == own)
        return 0;
    const int made =
        snprintf(to, size, "%s\t%s\t%" PRIx64 "\n", file_of(map, &found, program, sizeof program),
                 found.dli_sname ? found.dli_sname : "",
                 (uint64_t)((uintptr_t)(frame - 1) - (uintptr_t)map->l_addr));
    return made > 0 && (size_t)made < size ? made : 0;
}

void hl_record_call_stack_text(const hl_record_call_stack *self, char *text, size_t size)
{
    Dl_info own = {0};
    size_t length = 0;
    text[0] = '\0';
    (void)dladdr(&here, &own);
    for (int i = 0; i < self->count; i++)
        length += (size_t)frame_text(self->frames[i], own.dli_fbase, text + length, size - length);
    text[length] = '\0';
}
