/* A note that finds no memory fails the whole result, later: no caller checks each. */
#include "project/notes.h"

#include "base/grow.h"

void hl_project_notes_add(hl_project_notes *notes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = hl_base_arena_vformat(notes->arena, format, args);
    va_end(args);
    if (text &&
        hl_base_grow(&notes->items, &notes->capacity, notes->count + 1, sizeof *notes->items))
        notes->items[notes->count++] = text;
    else
        notes->failed = true;
}
