/* One event of a Kineto trace, and the keys and categories that haul reads. For kineto.c. */
#ifndef HAUL_TRACE_KINETO_EVENT_H
#define HAUL_TRACE_KINETO_EVENT_H

#include "base/json_in.h"
#include "haul/workload.h"

typedef enum hl_trace_kineto_category {
    HL_TRACE_KINETO_OTHER, /* of no use here */
    HL_TRACE_KINETO_COPY,  /* the first three in the order of haul_op_kind */
    HL_TRACE_KINETO_MEMSET,
    HL_TRACE_KINETO_KERNEL,
    HL_TRACE_KINETO_CALL,
    HL_TRACE_KINETO_SYNC,
    HL_TRACE_KINETO_RANGE,
    HL_TRACE_KINETO_FLOW,
    HL_TRACE_KINETO_LINK,     /* a flow from a forward operator to its gradient's */
    HL_TRACE_KINETO_OPERATOR, /* of those whose sizes tell what its kernels do */
    HL_TRACE_KINETO_FRAME,    /* a function of Python that a thread ran */
} hl_trace_kineto_category;

/* Numbers of an event. The first group are its own, the others of its "args". */
typedef enum hl_trace_kineto_field {
    HL_TRACE_KINETO_START, /* the first three are times */
    HL_TRACE_KINETO_DUR,
    HL_TRACE_KINETO_REACHED, /* of the args: haul's own, when an event was */
    HL_TRACE_KINETO_PID,
    HL_TRACE_KINETO_TID,
    HL_TRACE_KINETO_ID, /* of a flow */
    HL_TRACE_KINETO_DEVICE,
    HL_TRACE_KINETO_CONTEXT,
    HL_TRACE_KINETO_STREAM,
    HL_TRACE_KINETO_CORRELATION,
    HL_TRACE_KINETO_BYTES,
    HL_TRACE_KINETO_REGISTERS,
    HL_TRACE_KINETO_SHARED,
    HL_TRACE_KINETO_WAIT_STREAM,
    HL_TRACE_KINETO_WAIT_RECORD,
    HL_TRACE_KINETO_WAIT_EVENT,
    HL_TRACE_KINETO_WAIT_DEVICE, /* these four are haul's own */
    HL_TRACE_KINETO_WAIT_CONTEXT,
    HL_TRACE_KINETO_OWNER, /* the process of a stream or context, from 1 on; 0: not written */
    HL_TRACE_KINETO_WAIT_OWNER,
    HL_TRACE_KINETO_IN_ELEMENTS,
    HL_TRACE_KINETO_OUT_ELEMENTS,
    HL_TRACE_KINETO_GROUP_SIZE,
    HL_TRACE_KINETO_NUMBERS
} hl_trace_kineto_field;

/* Texts of an event. */
typedef enum hl_trace_kineto_word {
    HL_TRACE_KINETO_NAME,
    HL_TRACE_KINETO_COLLECTIVE,
    HL_TRACE_KINETO_DATA_TYPE,
    HL_TRACE_KINETO_GROUP,
    HL_TRACE_KINETO_WAIT_KIND,
    HL_TRACE_KINETO_STACK,
    HL_TRACE_KINETO_CALLED_BY, /* the operator of a call; haul's own */
    HL_TRACE_KINETO_WORDS
} hl_trace_kineto_word;

enum { HL_TRACE_KINETO_KEYS = 256 }; /* ten times the keys: few others meet one of haul's */

/* Which key stands for what, found by a hash without collisions to speak of. */
typedef struct hl_trace_kineto_keys {
    unsigned char slots[HL_TRACE_KINETO_KEYS]; /* 1 + the number of a key, or 0 */
} hl_trace_kineto_keys;

/* Tensors of an operator that are looked at, and their dimensions. */
enum { HL_TRACE_KINETO_INPUTS = 4, HL_TRACE_KINETO_RANK = 5, HL_TRACE_KINETO_VALUES = 15 };

typedef struct hl_trace_kineto_list {
    int64_t items[HL_TRACE_KINETO_RANK];
    int count; /* of all, those beyond the room among them */
} hl_trace_kineto_list;

/* A tensor that an operator was given. */
typedef struct hl_trace_kineto_input {
    hl_trace_kineto_list sizes;
    hl_trace_kineto_list strides;
    int element_bytes; /* 0: not known */
} hl_trace_kineto_input;

typedef enum hl_trace_kineto_form {
    HL_TRACE_KINETO_TENSORS,   /* as many of the first one's size as `passes`, read or written */
    HL_TRACE_KINETO_PRODUCT,   /* of the first two */
    HL_TRACE_KINETO_CONVOLVED, /* the first by the second */
    HL_TRACE_KINETO_GRADIENTS, /* of a convolution: its result's, then its two operands */
    HL_TRACE_KINETO_BY_TOKENS, /* attention of batch x tokens x heads x width: query, key, value */
    HL_TRACE_KINETO_BY_HEADS,  /* of batch x heads x tokens x width */
} hl_trace_kineto_form;

/* Operators whose sizes are read: `first` is the tensor to begin with. */
typedef struct hl_trace_kineto_operator {
    const char *name;
    size_t length;
    int first;
    hl_trace_kineto_form form;
    int passes; /* of attention: 2 for its gradients */
    int at[3];  /* places of values: of a convolution padding, stride and dilation; of gradients
                 * whether it is a transposed one; of attention whether tokens see those before them
                 * alone */
} hl_trace_kineto_operator;

/* Zero is an empty one; its storage serves the next event again. */
typedef struct hl_trace_kineto_event {
    hl_trace_kineto_category category;
    bool has_category;
    bool has_arguments;
    bool has_inputs;
    bool is_lost;   /* a key that came twice made it of use when a part of it had been skipped */
    char phase;     /* X: with a start and a duration; s, f: of a flow */
    uint32_t given; /* bit i: number i is there, and a number that fits */
    int64_t numbers[HL_TRACE_KINETO_NUMBERS];       /* those that are given; times in nanoseconds */
    hl_base_json_memo ids[HL_TRACE_KINETO_NUMBERS]; /* of those that mostly repeat */
    int64_t grid[3];
    int64_t block[3];
    int64_t operands[6]; /* haul's own: the fields of haul_operands in their order */
    bool has_operands;
    const hl_trace_kineto_operator *is_operator;          /* by its name; NULL: none of those */
    hl_trace_kineto_input inputs[HL_TRACE_KINETO_INPUTS]; /* of an operator */
    hl_trace_kineto_list values[HL_TRACE_KINETO_VALUES];  /* of its arguments that are no tensors:
                                                           * numbers, "True" 1, "False" 0 */
    bool has_values;
    struct {
        size_t at; /* in `text` */
        size_t length;
    } words[HL_TRACE_KINETO_WORDS];
    unsigned without_stack; /* operators so far whose arguments have no call stack, up to a few */
    char *text;
    size_t text_length;
    size_t text_capacity;
} hl_trace_kineto_event;

void hl_trace_kineto_keys_init(hl_trace_kineto_keys *self);

/* Reads the event that comes: a slice, or the two ends of a flow where those are asked for. Of one
 * that is of no use the rest is skipped as soon as that is seen. A key that comes twice counts as
 * it was last. */
void hl_trace_kineto_event_read(hl_trace_kineto_event *self, const hl_trace_kineto_keys *known,
                                hl_base_json_in *in, bool flows);

/* The sizes of what an operator reads and writes, in kineto_sizes.c. Needs is_operator; zero where
 * they are not told, or do not fit together. */
haul_operands hl_trace_kineto_operands(const hl_trace_kineto_event *self);

void hl_trace_kineto_event_release(hl_trace_kineto_event *self);

static inline bool hl_trace_kineto_has(const hl_trace_kineto_event *self,
                                       hl_trace_kineto_field field)
{
    return self->given >> field & 1;
}

/* A text of the event, of length 0 where it has none. Good until the next event. */
static inline hl_base_json_text hl_trace_kineto_text(const hl_trace_kineto_event *self,
                                                     hl_trace_kineto_word word)
{
    const size_t length = self->words[word].length;
    return (hl_base_json_text){length ? self->text + self->words[word].at : "", length};
}

#endif
