#include "project/notes.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/grow.h"

void haul_notes_add(haul_notes *notes, haul_arena *arena, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = haul_arena_string(arena, text);
    if (!kept ||
        !haul_grow(&notes->items, &notes->capacity, notes->count + 1, sizeof *notes->items)) {
        notes->failed = true;
        return;
    }
    notes->items[notes->count++] = kept;
}
