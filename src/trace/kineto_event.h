/* One event of a Kineto trace, and the keys and categories that haul reads. For kineto.c. */
#ifndef HAUL_TRACE_KINETO_EVENT_H
#define HAUL_TRACE_KINETO_EVENT_H

#include "base/json_in.h"

typedef enum haul_kineto_category {
    HAUL_KINETO_OTHER, /* of no use here */
    HAUL_KINETO_COPY,  /* the first three in the order of haul_op_kind */
    HAUL_KINETO_MEMSET,
    HAUL_KINETO_KERNEL,
    HAUL_KINETO_CALL,
    HAUL_KINETO_SYNC,
    HAUL_KINETO_RANGE,
    HAUL_KINETO_FLOW,
    HAUL_KINETO_OPERATOR, /* of those whose sizes tell what its kernels do */
} haul_kineto_category;

/* Numbers of an event. The first group are its own, the others of its "args". */
typedef enum haul_kineto_field {
    HAUL_KINETO_START, /* the first three are times */
    HAUL_KINETO_DUR,
    HAUL_KINETO_REACHED, /* of the args: haul's own, when an event was */
    HAUL_KINETO_PID,
    HAUL_KINETO_TID,
    HAUL_KINETO_ID, /* of a flow */
    HAUL_KINETO_DEVICE,
    HAUL_KINETO_CONTEXT,
    HAUL_KINETO_STREAM,
    HAUL_KINETO_CORRELATION,
    HAUL_KINETO_BYTES,
    HAUL_KINETO_REGISTERS,
    HAUL_KINETO_SHARED,
    HAUL_KINETO_WAIT_STREAM,
    HAUL_KINETO_WAIT_RECORD,
    HAUL_KINETO_WAIT_EVENT,
    HAUL_KINETO_WAIT_DEVICE, /* these two are haul's own */
    HAUL_KINETO_WAIT_CONTEXT,
    HAUL_KINETO_IN_ELEMENTS,
    HAUL_KINETO_OUT_ELEMENTS,
    HAUL_KINETO_GROUP_SIZE,
    HAUL_KINETO_NUMBERS
} haul_kineto_field;

/* Texts of an event. */
typedef enum haul_kineto_word {
    HAUL_KINETO_NAME,
    HAUL_KINETO_COLLECTIVE,
    HAUL_KINETO_DATA_TYPE,
    HAUL_KINETO_GROUP,
    HAUL_KINETO_WAIT_KIND,
    HAUL_KINETO_WORDS
} haul_kineto_word;

enum { HAUL_KINETO_KEYS = 256 }; /* ten times the keys: few others meet one of haul's */

/* Which key stands for what, found by a hash without collisions to speak of. */
typedef struct haul_kineto_keys {
    unsigned char slots[HAUL_KINETO_KEYS]; /* 1 + the number of a key, or 0 */
} haul_kineto_keys;

/* Tensors of an operator that are looked at, and their dimensions. */
enum { HAUL_KINETO_INPUTS = 3, HAUL_KINETO_RANK = 4 };

typedef struct haul_kineto_list {
    int64_t items[HAUL_KINETO_RANK];
    int count; /* of all, those beyond the room among them */
} haul_kineto_list;

/* A tensor that an operator was given. */
typedef struct haul_kineto_input {
    haul_kineto_list sizes;
    haul_kineto_list strides;
    int element_bytes; /* 0: not known */
} haul_kineto_input;

/* Operators whose sizes are read: `first` is the tensor to begin with. */
typedef struct haul_kineto_operator {
    const char *name;
    size_t length;
    int first;
    bool is_product;
    int passes; /* of another: tensors of the first one's size that are read or written */
} haul_kineto_operator;

/* NULL where the name is none of them. */
const haul_kineto_operator *haul_kineto_operator_of(haul_json_text name);

/* Zero is an empty one; its storage serves the next event again. */
typedef struct haul_kineto_event {
    haul_kineto_category category;
    bool has_arguments;
    char phase;                           /* X: with a start and a duration; s, f: of a flow */
    uint32_t given;                       /* bit i: number i is there, and a number that fits */
    int64_t numbers[HAUL_KINETO_NUMBERS]; /* times in nanoseconds; 0 where not given */
    int64_t input_elements;               /* of a record_function's tensors */
    int64_t grid[3];
    int64_t block[3];
    haul_kineto_input inputs[HAUL_KINETO_INPUTS]; /* of an operator */
    struct {
        size_t at; /* in `text` */
        size_t length;
    } words[HAUL_KINETO_WORDS];
    char *text;
    size_t text_length;
    size_t text_capacity;
} haul_kineto_event;

void haul_kineto_keys_init(haul_kineto_keys *self);

/* Reads the event that comes: a slice, or the two ends of a flow where those are asked for. Of one
 * that is of no use the rest is skipped as soon as that is seen. A key that comes twice counts as
 * it was last. */
void haul_kineto_event_read(haul_kineto_event *self, const haul_kineto_keys *known,
                            haul_json_in *in, bool flows);

void haul_kineto_event_release(haul_kineto_event *self);

static inline bool haul_kineto_has(const haul_kineto_event *self, haul_kineto_field field)
{
    return self->given >> field & 1;
}

/* A text of the event, of length 0 where it has none. Good until the next event. */
static inline haul_json_text haul_kineto_text(const haul_kineto_event *self, haul_kineto_word word)
{
    const size_t length = self->words[word].length;
    return (haul_json_text){length ? self->text + self->words[word].at : "", length};
}

#endif
