#include "trace/kineto_event.h"

#include <stdlib.h>

#include "base/grow.h"

/* What a key's value is: a number by its field, then these. */
enum {
    KEY_WORD = HAUL_KINETO_NUMBERS,
    KEY_PHASE = KEY_WORD + HAUL_KINETO_WORDS,
    KEY_CATEGORY,
    KEY_ARGUMENTS,
    KEY_GRID,
    KEY_BLOCK,
    KEY_SIZES,
    KEY_STRIDES,
    KEY_TYPES
};

/* Newest spellings first. "size" is what roctracer's calls copy. */
#define KEY(name, target)                                                                          \
    {                                                                                              \
        name, sizeof(name) - 1, target                                                             \
    }

static const struct key {
    const char *name;
    size_t length;
    int target;
} keys[] = {
    KEY("ph", KEY_PHASE),
    KEY("cat", KEY_CATEGORY),
    KEY("name", KEY_WORD + HAUL_KINETO_NAME),
    KEY("pid", HAUL_KINETO_PID),
    KEY("tid", HAUL_KINETO_TID),
    KEY("id", HAUL_KINETO_ID),
    KEY("ts", HAUL_KINETO_START),
    KEY("dur", HAUL_KINETO_DUR),
    KEY("args", KEY_ARGUMENTS),
    KEY("device", HAUL_KINETO_DEVICE),
    KEY("context", HAUL_KINETO_CONTEXT),
    KEY("stream", HAUL_KINETO_STREAM),
    KEY("correlation", HAUL_KINETO_CORRELATION),
    KEY("bytes", HAUL_KINETO_BYTES),
    KEY("size", HAUL_KINETO_BYTES),
    KEY("grid", KEY_GRID),
    KEY("block", KEY_BLOCK),
    KEY("Input Dims", KEY_SIZES),
    KEY("Input Strides", KEY_STRIDES),
    KEY("Input type", KEY_TYPES),
    KEY("registers per thread", HAUL_KINETO_REGISTERS),
    KEY("shared memory", HAUL_KINETO_SHARED),
    KEY("cuda_sync_kind", KEY_WORD + HAUL_KINETO_WAIT_KIND),
    KEY("wait_on_stream", HAUL_KINETO_WAIT_STREAM),
    KEY("wait_on_cuda_event_record_corr_id", HAUL_KINETO_WAIT_RECORD),
    KEY("wait_on_cuda_event_id", HAUL_KINETO_WAIT_EVENT),
    KEY("haul wait_on_device", HAUL_KINETO_WAIT_DEVICE),
    KEY("haul wait_on_context", HAUL_KINETO_WAIT_CONTEXT),
    KEY("haul event reached", HAUL_KINETO_REACHED),
    KEY("Collective name", KEY_WORD + HAUL_KINETO_COLLECTIVE),
    KEY("In msg nelems", HAUL_KINETO_IN_ELEMENTS),
    KEY("Out msg nelems", HAUL_KINETO_OUT_ELEMENTS),
    KEY("Group size", HAUL_KINETO_GROUP_SIZE),
    KEY("dtype", KEY_WORD + HAUL_KINETO_DATA_TYPE),
    KEY("Process Group Name", KEY_WORD + HAUL_KINETO_GROUP),
};

enum { KEYS = sizeof keys / sizeof *keys };

/* Kineto's categories, those that a trace has most of first, then those of its first years. */
static const struct key categories[] = {
    KEY("cpu_op", HAUL_KINETO_OPERATOR),   KEY("cuda_runtime", HAUL_KINETO_CALL),
    KEY("kernel", HAUL_KINETO_KERNEL),     KEY("gpu_memcpy", HAUL_KINETO_COPY),
    KEY("gpu_memset", HAUL_KINETO_MEMSET), KEY("cuda_driver", HAUL_KINETO_CALL),
    KEY("hip_runtime", HAUL_KINETO_CALL),  KEY("ac2g", HAUL_KINETO_FLOW),
    KEY("cuda_sync", HAUL_KINETO_SYNC),    KEY("user_annotation", HAUL_KINETO_RANGE),
    KEY("Kernel", HAUL_KINETO_KERNEL),     KEY("Memcpy", HAUL_KINETO_COPY),
    KEY("Memset", HAUL_KINETO_MEMSET),     KEY("Runtime", HAUL_KINETO_CALL),
    KEY("Operator", HAUL_KINETO_OPERATOR), KEY("async_cpu_to_gpu", HAUL_KINETO_FLOW),
};

/* Lengths are kept with the names: most keys differ in them, and need no comparison. */
static bool is_key(const struct key *key, haul_json_text text)
{
    return key->length == text.length && !memcmp(key->name, text.bytes, text.length);
}

/* Length, first and last byte tell haul's keys apart but for a few; those take the next slot. */
static size_t slot_of(const char *bytes, size_t length)
{
    const size_t first = (unsigned char)bytes[0], last = (unsigned char)bytes[length - 1];
    return (length * 7 + first * 3 + last) % HAUL_KINETO_KEYS;
}

/* Open addressing, less than half full, made once for a file. */
void haul_kineto_keys_init(haul_kineto_keys *self)
{
    *self = (haul_kineto_keys){0};
    for (unsigned i = 0; i < KEYS; i++) {
        size_t slot = slot_of(keys[i].name, keys[i].length);
        while (self->slots[slot])
            slot = (slot + 1) % HAUL_KINETO_KEYS;
        self->slots[slot] = (unsigned char)(i + 1);
    }
}

static int look_up(const haul_kineto_keys *self, haul_json_text key)
{
    if (!key.length)
        return -1;
    size_t slot = slot_of(key.bytes, key.length);
    for (; self->slots[slot]; slot = (slot + 1) % HAUL_KINETO_KEYS) {
        const struct key *const found = &keys[self->slots[slot] - 1];
        if (is_key(found, key))
            return found->target;
    }
    return -1;
}

/* What the key, the last that was met, stands for, or -1. */
static int target_of(const haul_kineto_keys *self, haul_json_in *in, haul_json_text key)
{
    enum { FIRST_TAG = 2 }; /* of target -1 below it; 0 is no tag */
    uint8_t *const tag = haul_json_in_tag(in);
    if (!*tag)
        *tag = (uint8_t)(FIRST_TAG + look_up(self, key));
    return *tag - FIRST_TAG;
}

/* Numbers may be written as strings: correlation ids of some versions are. Times are taken in
 * nanoseconds, exactly. */
static void read_number(haul_kineto_event *self, haul_json_in *in, haul_kineto_field field)
{
    enum { MICROSECONDS = 3 };
    int64_t value;
    const bool known =
        haul_json_in_scaled(in, field <= HAUL_KINETO_REACHED ? MICROSECONDS : 0, &value);
    self->numbers[field] = known ? value : 0;
    self->given = known ? self->given | 1U << field : self->given & ~(1U << field);
}

/* Words are copied, since the reader's buffer moves on; their room serves the next event again. */
static void keep_word(haul_kineto_event *self, haul_json_in *in, haul_kineto_word word,
                      haul_json_text text)
{
    if (!haul_grow(&self->text, &self->text_capacity, self->text_length + text.length, 1)) {
        haul_json_in_no_memory(in);
        return;
    }
    memcpy(self->text + self->text_length, text.bytes, text.length);
    self->words[word].at = self->text_length;
    self->words[word].length = text.length;
    self->text_length += text.length;
}

static void read_word(haul_kineto_event *self, haul_json_in *in, haul_kineto_word word)
{
    haul_json_text text;
    self->words[word].length = 0;
    if (haul_json_in_scalar(in, &text) == HAUL_JSON_STRING && text.length)
        keep_word(self, in, word, text);
}

/* Three numbers; whatever else is there is passed over. */
static void read_triple(haul_json_in *in, int64_t *numbers)
{
    if (!haul_json_in_enter(in, HAUL_JSON_ARRAY))
        return;
    for (int i = 0; haul_json_in_item(in); i++) {
        int64_t value = 0;
        const bool known = haul_json_in_scaled(in, 0, &value);
        if (i < 3)
            numbers[i] = known ? value : 0;
    }
}

#define OPERATOR(name) "aten::" name, sizeof("aten::" name) - 1

/* As PyTorch's ATen/native/native_functions.yaml declares them. */
static const haul_kineto_operator operators[] = {
    {OPERATOR("mm"), 0, true, 0},
    {OPERATOR("bmm"), 0, true, 0},
    {OPERATOR("addmm"), 1, true, 0},
    {OPERATOR("baddbmm"), 1, true, 0},
    {OPERATOR("_softmax"), 0, false, 2},
    {OPERATOR("_log_softmax"), 0, false, 2},
    {OPERATOR("_softmax_backward_data"), 0, false, 3},
    {OPERATOR("_log_softmax_backward_data"), 0, false, 3},
    {OPERATOR("native_layer_norm"), 0, false, 2},
    {OPERATOR("native_layer_norm_backward"), 0, false, 3},
};

const haul_kineto_operator *haul_kineto_operator_of(haul_json_text name)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].length == name.length &&
            !memcmp(operators[i].name, name.bytes, name.length))
            return &operators[i];
    return NULL;
}

/* Numbers, of which the first few are kept; a list within is an operand that is many tensors. */
static void read_list(haul_json_in *in, haul_kineto_list *list)
{
    *list = (haul_kineto_list){0};
    if (!haul_json_in_enter(in, HAUL_JSON_ARRAY))
        return;
    while (haul_json_in_item(in)) {
        haul_json_text text;
        int64_t value = 0;
        const bool known =
            haul_json_in_scalar(in, &text) == HAUL_JSON_NUMBER && haul_json_scaled(text, 0, &value);
        if (list->count < HAUL_KINETO_RANK)
            list->items[list->count] = known ? value : 0;
        list->count += list->count <= HAUL_KINETO_RANK;
    }
}

/* A list for each tensor. */
static void read_lists(haul_kineto_event *self, haul_json_in *in, bool strides)
{
    if (!haul_json_in_enter(in, HAUL_JSON_ARRAY))
        return;
    for (int i = 0; haul_json_in_item(in); i++)
        if (i < HAUL_KINETO_INPUTS)
            read_list(in, strides ? &self->inputs[i].strides : &self->inputs[i].sizes);
        else
            haul_json_in_skip(in);
}

/* Types as C++ names them, which is how the profiler writes them. */
static void read_types(haul_kineto_event *self, haul_json_in *in)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"float", 4}, {"double", 8}, {"c10::Half", 2}, {"c10::BFloat16", 2}};
    if (!haul_json_in_enter(in, HAUL_JSON_ARRAY))
        return;
    for (int i = 0; haul_json_in_item(in); i++) {
        haul_json_text text;
        if (haul_json_in_scalar(in, &text) != HAUL_JSON_STRING || i >= HAUL_KINETO_INPUTS)
            continue;
        if (!i && text.length)
            keep_word(self, in, HAUL_KINETO_DATA_TYPE, text);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            if (haul_json_is(text, types[t].name))
                self->inputs[i].element_bytes = types[t].bytes;
    }
}

/* Operators are most of a trace, and few of them tell anything: the others end the event's reading.
 */
static bool is_wanted(const haul_kineto_event *self)
{
    const haul_json_text name = haul_kineto_text(self, HAUL_KINETO_NAME);
    return self->category != HAUL_KINETO_OPERATOR || !name.length || haul_kineto_operator_of(name);
}

/* Categories that haul does not know end the event's reading. */
static void read_category(haul_kineto_event *self, haul_json_in *in)
{
    haul_json_text text;
    self->category = HAUL_KINETO_OTHER;
    if (haul_json_in_scalar(in, &text) != HAUL_JSON_STRING)
        return;
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (is_key(&categories[i], text)) {
            self->category = (haul_kineto_category)categories[i].target;
            return;
        }
}

/* Of some thirty arguments of a kernel haul takes the launch, the stream and the collective, of an
 * operator its tensors' sizes. */
static void read_arguments(haul_kineto_event *self, const haul_kineto_keys *known, haul_json_in *in)
{
    if (!haul_json_in_enter(in, HAUL_JSON_OBJECT))
        return;
    self->has_arguments = true;
    for (haul_json_text key; haul_json_in_key(in, &key);) {
        const int target = target_of(known, in, key);
        if (target == HAUL_KINETO_REACHED || (target >= HAUL_KINETO_DEVICE && target < KEY_WORD))
            read_number(self, in, (haul_kineto_field)target);
        else if (target > KEY_WORD && target < KEY_PHASE)
            read_word(self, in, (haul_kineto_word)(target - KEY_WORD));
        else if (target == KEY_GRID || target == KEY_BLOCK)
            read_triple(in, target == KEY_GRID ? self->grid : self->block);
        else if (target == KEY_SIZES || target == KEY_STRIDES)
            read_lists(self, in, target == KEY_STRIDES);
        else if (target == KEY_TYPES)
            read_types(self, in);
        else
            haul_json_in_skip(in);
    }
}

/* Returns false where the event is of no use. */
static bool read_member(haul_kineto_event *self, const haul_kineto_keys *known, haul_json_in *in,
                        int target, bool flows)
{
    haul_json_text text;
    switch (target) {
    case KEY_PHASE:
        if (haul_json_in_scalar(in, &text) != HAUL_JSON_STRING || text.length != 1)
            return false;
        self->phase = text.bytes[0];
        return flows ? self->phase == 's' || self->phase == 'f' : self->phase == 'X';
    case KEY_CATEGORY:
        read_category(self, in);
        return flows ? self->category == HAUL_KINETO_FLOW
                     : self->category != HAUL_KINETO_OTHER && is_wanted(self);
    case KEY_ARGUMENTS:
        read_arguments(self, known, in);
        return true;
    case KEY_WORD + HAUL_KINETO_NAME:
        read_word(self, in, HAUL_KINETO_NAME);
        return flows || is_wanted(self);
    case HAUL_KINETO_START:
    case HAUL_KINETO_DUR:
    case HAUL_KINETO_PID:
    case HAUL_KINETO_TID:
    case HAUL_KINETO_ID:
        read_number(self, in, (haul_kineto_field)target);
        return true;
    default:
        haul_json_in_skip(in);
        return true;
    }
}

/* Empties what the last event has filled: all of it would take as long as reading a short one. */
static void reset(haul_kineto_event *self)
{
    for (uint32_t given = self->given; given; given &= given - 1)
        self->numbers[__builtin_ctz(given)] = 0;
    for (int i = 0; i < HAUL_KINETO_WORDS; i++)
        self->words[i].length = 0;
    if (self->has_arguments) {
        self->input_elements = 0;
        memset(self->grid, 0, sizeof self->grid);
        memset(self->block, 0, sizeof self->block);
        memset(self->inputs, 0, sizeof self->inputs);
    }
    self->has_arguments = false;
    self->category = HAUL_KINETO_OTHER;
    self->phase = 0;
    self->given = 0;
    self->text_length = 0;
}

void haul_kineto_event_read(haul_kineto_event *self, const haul_kineto_keys *known,
                            haul_json_in *in, bool flows)
{
    reset(self);
    (void)haul_json_in_object(in);
    for (haul_json_text key; haul_json_in_key(in, &key);)
        if (!read_member(self, known, in, target_of(known, in, key), flows)) {
            /* a trace with the same key twice is read to its end */
            self->category = HAUL_KINETO_OTHER;
            haul_json_in_leave(in);
            return;
        }
}

/* The text's room is the only storage that an event has. */
void haul_kineto_event_release(haul_kineto_event *self)
{
    free(self->text);
    *self = (haul_kineto_event){0};
}
