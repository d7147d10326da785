/* Call stacks as texts: "train.py:42 in step <- train.py:80 in main", of the program's own frames
 * alone. Those of interpreters, of PyTorch, of drivers and of the C library are passed over: every
 * copy is called for there. */
#ifndef HAUL_TRACE_FRAMES_H
#define HAUL_TRACE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Callers beyond these are left out: a recursion would go on. */
enum { HL_TRACE_STACK_BYTES = 2000, HL_TRACE_STACK_FRAMES = 32 };

/* Stands between a frame and its caller. */
#define HL_TRACE_STACK_JOINT " <- "

/* Made from the innermost frame out. Begin with hl_trace_stack_begin. */
typedef struct hl_trace_stack {
    char text[HL_TRACE_STACK_BYTES];
    size_t length;
    size_t line_length; /* of the innermost frame */
    int frames;
    bool is_full;
} hl_trace_stack;

/* A stack is made for millions of events: its text is not cleared. */
static inline void hl_trace_stack_begin(hl_trace_stack *self)
{
    self->text[0] = '\0';
    self->length = self->line_length = 0;
    self->frames = 0;
    self->is_full = false;
}

/* Adds a frame, or a whole stack of callers, by its text. */
void hl_trace_stack_add(hl_trace_stack *self, const char *text, size_t length);

/* Adds a frame as PyTorch writes it, "train.py(42): step", where it is the program's own. Returns
 * false where the text has another form. */
bool hl_trace_stack_add_python(hl_trace_stack *self, const char *frame, size_t length);

/* Adds frames with ';' between them, the innermost first, as PyTorch writes them with an operator;
 * those that haul wrote come as they are. */
void hl_trace_stack_add_list(hl_trace_stack *self, const char *list, size_t length);

/* Adds a function of a file of machine code, or of Python's, where it is the program's own. "" is
 * not known. */
void hl_trace_stack_add_function(hl_trace_stack *self, const char *function, const char *module);

#endif
