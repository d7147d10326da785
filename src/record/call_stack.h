/* The C call stack of a call that the program makes, as a text for hl_record_profile_name: a line
 * for each frame, the innermost first, of the frame's file, its function where the file names it,
 * and its address in the file, with tabs between them. */
#ifndef HAUL_RECORD_CALL_STACK_H
#define HAUL_RECORD_CALL_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Frames beyond are left out: a recursion would go on. */
enum { HL_RECORD_STACK_FRAMES = 32, HL_RECORD_STACK_BYTES = 4000 };

typedef struct hl_record_call_stack {
    void *frames[HL_RECORD_STACK_FRAMES];
    int count;
} hl_record_call_stack;

/* Takes the caller's stack; the first time loads the library that walks it. Returns a key for
 * hl_record_handle_map, made of the frames, that tells it from others. */
const void *hl_record_call_stack_take(hl_record_call_stack *self);

/* The text, of frames outside of this library. Asks the loader: no lock may be held that a library
 * being loaded might wait for. */
void hl_record_call_stack_text(const hl_record_call_stack *self, char *text, size_t size);

#endif
