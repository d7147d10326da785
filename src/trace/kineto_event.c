#include "trace/kineto_event.h"

#include <stdlib.h>

#include "base/grow.h"

/* The meaning of a key's value: a number by its field, then these. */
enum {
    KEY_END = -3, /* of the object */
    KEY_UNKNOWN = -1,
    KEY_WORD = HL_TRACE_KINETO_NUMBERS,
    KEY_PHASE = KEY_WORD + HL_TRACE_KINETO_WORDS,
    KEY_CATEGORY,
    KEY_ARGUMENTS,
    KEY_GRID,
    KEY_BLOCK,
    KEY_SIZES,
    KEY_STRIDES,
    KEY_TYPES,
    KEY_OPERANDS,
    KEY_VALUES
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
    KEY("name", KEY_WORD + HL_TRACE_KINETO_NAME),
    KEY("pid", HL_TRACE_KINETO_PID),
    KEY("tid", HL_TRACE_KINETO_TID),
    KEY("id", HL_TRACE_KINETO_ID),
    KEY("ts", HL_TRACE_KINETO_START),
    KEY("dur", HL_TRACE_KINETO_DUR),
    KEY("args", KEY_ARGUMENTS),
    KEY("device", HL_TRACE_KINETO_DEVICE),
    KEY("context", HL_TRACE_KINETO_CONTEXT),
    KEY("stream", HL_TRACE_KINETO_STREAM),
    KEY("correlation", HL_TRACE_KINETO_CORRELATION),
    KEY("bytes", HL_TRACE_KINETO_BYTES),
    KEY("size", HL_TRACE_KINETO_BYTES),
    KEY("grid", KEY_GRID),
    KEY("block", KEY_BLOCK),
    KEY("Concrete Inputs", KEY_VALUES),
    KEY("Input Dims", KEY_SIZES),
    KEY("Input Strides", KEY_STRIDES),
    KEY("Input type", KEY_TYPES),
    KEY("registers per thread", HL_TRACE_KINETO_REGISTERS),
    KEY("shared memory", HL_TRACE_KINETO_SHARED),
    KEY("cuda_sync_kind", KEY_WORD + HL_TRACE_KINETO_WAIT_KIND),
    KEY("wait_on_stream", HL_TRACE_KINETO_WAIT_STREAM),
    KEY("wait_on_cuda_event_record_corr_id", HL_TRACE_KINETO_WAIT_RECORD),
    KEY("wait_on_cuda_event_id", HL_TRACE_KINETO_WAIT_EVENT),
    KEY("haul wait_on_device", HL_TRACE_KINETO_WAIT_DEVICE),
    KEY("haul wait_on_context", HL_TRACE_KINETO_WAIT_CONTEXT),
    KEY("haul process", HL_TRACE_KINETO_OWNER),
    KEY("haul wait_on_process", HL_TRACE_KINETO_WAIT_OWNER),
    KEY("haul event reached", HL_TRACE_KINETO_REACHED),
    KEY("haul operands", KEY_OPERANDS),
    KEY("Collective name", KEY_WORD + HL_TRACE_KINETO_COLLECTIVE),
    KEY("In msg nelems", HL_TRACE_KINETO_IN_ELEMENTS),
    KEY("Out msg nelems", HL_TRACE_KINETO_OUT_ELEMENTS),
    KEY("Group size", HL_TRACE_KINETO_GROUP_SIZE),
    KEY("dtype", KEY_WORD + HL_TRACE_KINETO_DATA_TYPE),
    KEY("Process Group Name", KEY_WORD + HL_TRACE_KINETO_GROUP),
    KEY("Call stack", KEY_WORD + HL_TRACE_KINETO_STACK),
    KEY("haul operator", KEY_WORD + HL_TRACE_KINETO_CALLED_BY),
};

enum { KEYS = sizeof keys / sizeof *keys };

/* Kineto's categories, those that a trace has most of first, then those of its first years. */
static const struct key categories[] = {
    KEY("cpu_op", HL_TRACE_KINETO_OPERATOR),
    KEY("python_function", HL_TRACE_KINETO_FRAME),
    KEY("cuda_runtime", HL_TRACE_KINETO_CALL),
    KEY("kernel", HL_TRACE_KINETO_KERNEL),
    KEY("ac2g", HL_TRACE_KINETO_FLOW),
    KEY("gpu_memcpy", HL_TRACE_KINETO_COPY),
    KEY("gpu_memset", HL_TRACE_KINETO_MEMSET),
    KEY("cuda_driver", HL_TRACE_KINETO_CALL),
    KEY("hip_runtime", HL_TRACE_KINETO_CALL),
    KEY("cuda_sync", HL_TRACE_KINETO_SYNC),
    KEY("user_annotation", HL_TRACE_KINETO_RANGE),
    KEY("Kernel", HL_TRACE_KINETO_KERNEL),
    KEY("Memcpy", HL_TRACE_KINETO_COPY),
    KEY("Memset", HL_TRACE_KINETO_MEMSET),
    KEY("Runtime", HL_TRACE_KINETO_CALL),
    KEY("Operator", HL_TRACE_KINETO_OPERATOR),
    KEY("async_cpu_to_gpu", HL_TRACE_KINETO_FLOW),
    KEY("fwdbwd", HL_TRACE_KINETO_LINK),
    KEY("forward_backward", HL_TRACE_KINETO_LINK),
};

/* Lengths are kept with the names: most keys differ in them, and need no comparison. */
static bool is_key(const struct key *key, hl_base_json_text text)
{
    return key->length == text.length && !memcmp(key->name, text.bytes, text.length);
}

/* Length, first and last byte tell haul's keys apart but for a few; those take the next slot. */
static size_t slot_of(const char *bytes, size_t length)
{
    const size_t first = (unsigned char)bytes[0], last = (unsigned char)bytes[length - 1];
    return (length * 7 + first * 3 + last) % HL_TRACE_KINETO_KEYS;
}

/* Open addressing, less than half full, made once for a file. */
void hl_trace_kineto_keys_init(hl_trace_kineto_keys *self)
{
    *self = (hl_trace_kineto_keys){0};
    for (unsigned i = 0; i < KEYS; i++) {
        size_t slot = slot_of(keys[i].name, keys[i].length);
        while (self->slots[slot])
            slot = (slot + 1) % HL_TRACE_KINETO_KEYS;
        self->slots[slot] = (unsigned char)(i + 1);
    }
}

static __attribute__((noinline)) int look_up(const hl_trace_kineto_keys *self,
                                             hl_base_json_text key)
{
    if (!key.length)
        return KEY_UNKNOWN;
    size_t slot = slot_of(key.bytes, key.length);
    for (; self->slots[slot]; slot = (slot + 1) % HL_TRACE_KINETO_KEYS) {
        const struct key *const found = &keys[self->slots[slot] - 1];
        if (is_key(found, key))
            return found->target;
    }
    return KEY_UNKNOWN;
}

/* KEY_END is -1, KEY_UNKNOWN 1; 0 is none. */
enum { FIRST_TAG = 2, TAGS = FIRST_TAG + KEY_VALUES + 1 };

_Static_assert(TAGS <= 64, "hl_base_json_in_key_but takes no more");

/* The meaning of the last key that was met, or KEY_UNKNOWN. */
static inline int target_of(const hl_trace_kineto_keys *self, hl_base_json_in *in,
                            hl_base_json_text key)
{
    uint8_t *const tag = hl_base_json_in_tag(in);
    if (!*tag)
        *tag = (uint8_t)(FIRST_TAG + look_up(self, key));
    return *tag - FIRST_TAG;
}

/* The meaning of the next member's key. */
static inline int next_target(const hl_trace_kineto_keys *self, hl_base_json_in *in)
{
    hl_base_json_text key;
    const int tag = hl_base_json_in_tagged(in, &key);
    return tag ? tag - FIRST_TAG : target_of(self, in, key);
}

static inline void note_given(hl_trace_kineto_event *self, hl_trace_kineto_field field, bool given)
{
    const uint32_t bit = UINT32_C(1) << field;
    self->given = given ? self->given | bit : self->given & ~bit;
}

/* Numbers may be written as strings: correlation ids of some versions are. Times are taken in
 * nanoseconds, exactly. */
static void read_number(hl_trace_kineto_event *self, hl_base_json_in *in,
                        hl_trace_kineto_field field)
{
    enum { MICROSECONDS = 3 };
    note_given(self, field,
               hl_base_json_in_scaled(in, field <= HL_TRACE_KINETO_REACHED ? MICROSECONDS : 0,
                                      &self->numbers[field]));
}

/* Most processes, threads, streams and sizes are those of the event before. */
static void read_repeated(hl_trace_kineto_event *self, hl_base_json_in *in,
                          hl_trace_kineto_field field)
{
    note_given(self, field,
               hl_base_json_in_repeated(in, 0, &self->ids[field], &self->numbers[field]));
}

/* Words are copied, since the reader's buffer moves on; their room serves the next event again. */
static void keep_word(hl_trace_kineto_event *self, hl_base_json_in *in, hl_trace_kineto_word word,
                      hl_base_json_text text)
{
    if (!hl_base_grow(&self->text, &self->text_capacity, self->text_length + text.length, 1)) {
        hl_base_json_in_no_memory(in);
        return;
    }
    memcpy(self->text + self->text_length, text.bytes, text.length);
    self->words[word].at = self->text_length;
    self->words[word].length = text.length;
    self->text_length += text.length;
}

static void read_word(hl_trace_kineto_event *self, hl_base_json_in *in, hl_trace_kineto_word word)
{
    hl_base_json_text text;
    self->words[word].length = 0;
    if (hl_base_json_in_scalar(in, &text) == HL_JSON_STRING && text.length)
        keep_word(self, in, word, text);
}

/* A few numbers; whatever else is there is passed over. */
static void read_numbers(hl_base_json_in *in, int64_t *numbers, int count)
{
    if (!hl_base_json_in_enter(in, HL_JSON_ARRAY))
        return;
    for (int i = 0; hl_base_json_in_item(in); i++) {
        int64_t value = 0;
        const bool known = hl_base_json_in_scaled(in, 0, &value);
        if (i < count)
            numbers[i] = known ? value : 0;
    }
}

#define OPERATOR(name) "aten::" name, sizeof("aten::" name) - 1

/* As PyTorch's ATen/native/native_functions.yaml declares them. Of operators within one another
 * those that launch the kernels. */
static const hl_trace_kineto_operator operators[] = {
    {OPERATOR("mm"), 0, HL_TRACE_KINETO_PRODUCT, 0, {0}},
    {OPERATOR("bmm"), 0, HL_TRACE_KINETO_PRODUCT, 0, {0}},
    {OPERATOR("addmm"), 1, HL_TRACE_KINETO_PRODUCT, 0, {0}},
    {OPERATOR("baddbmm"), 1, HL_TRACE_KINETO_PRODUCT, 0, {0}},
    {OPERATOR("_addmm_activation"), 1, HL_TRACE_KINETO_PRODUCT, 0, {0}},
    {OPERATOR("_scaled_mm"), 0, HL_TRACE_KINETO_PRODUCT, 0, {0}},
    {OPERATOR("_int_mm"), 0, HL_TRACE_KINETO_PRODUCT, 0, {0}},
    {OPERATOR("_softmax"), 0, HL_TRACE_KINETO_TENSORS, 2, {0}},
    {OPERATOR("_log_softmax"), 0, HL_TRACE_KINETO_TENSORS, 2, {0}},
    {OPERATOR("_softmax_backward_data"), 0, HL_TRACE_KINETO_TENSORS, 3, {0}},
    {OPERATOR("_log_softmax_backward_data"), 0, HL_TRACE_KINETO_TENSORS, 3, {0}},
    {OPERATOR("native_layer_norm"), 0, HL_TRACE_KINETO_TENSORS, 2, {0}},
    {OPERATOR("native_layer_norm_backward"), 0, HL_TRACE_KINETO_TENSORS, 3, {0}},
    {OPERATOR("cudnn_convolution"), 0, HL_TRACE_KINETO_CONVOLVED, 1, {2, 3, 4}},
    {OPERATOR("cudnn_convolution_relu"), 0, HL_TRACE_KINETO_CONVOLVED, 1, {4, 3, 5}},
    {OPERATOR("cudnn_convolution_add_relu"), 0, HL_TRACE_KINETO_CONVOLVED, 1, {6, 5, 7}},
    {OPERATOR("miopen_convolution"), 0, HL_TRACE_KINETO_CONVOLVED, 1, {3, 4, 5}},
    {OPERATOR("miopen_depthwise_convolution"), 0, HL_TRACE_KINETO_CONVOLVED, 1, {3, 4, 5}},
    {OPERATOR("_conv_depthwise2d"), 0, HL_TRACE_KINETO_CONVOLVED, 1, {5, 4, 6}},
    {OPERATOR("convolution_backward"), 0, HL_TRACE_KINETO_GRADIENTS, 1, {7}},
    {OPERATOR("_flash_attention_forward"), 0, HL_TRACE_KINETO_BY_TOKENS, 1, {8}},
    {OPERATOR("_flash_attention_backward"), 1, HL_TRACE_KINETO_BY_TOKENS, 2, {11}},
    {OPERATOR("_efficient_attention_forward"), 0, HL_TRACE_KINETO_BY_TOKENS, 1, {9}},
    {OPERATOR("_efficient_attention_backward"), 1, HL_TRACE_KINETO_BY_TOKENS, 2, {14}},
    {OPERATOR("_scaled_dot_product_cudnn_attention"), 0, HL_TRACE_KINETO_BY_HEADS, 1, {6}},
    {OPERATOR("_scaled_dot_product_cudnn_attention_backward"),
     1,
     HL_TRACE_KINETO_BY_HEADS,
     2,
     {14}},
};

/* The one of that name, or NULL. Most names are none of them, which their beginnings tell. */
static const hl_trace_kineto_operator *operator_of(hl_base_json_text name)
{
    static const char prefix[] = "aten::";
    const size_t skipped = sizeof prefix - 1;
    if (name.length <= skipped || memcmp(name.bytes, prefix, skipped) != 0 ||
        !strchr("mba_nc", name.bytes[skipped]))
        return NULL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].length == name.length &&
            !memcmp(operators[i].name, name.bytes, name.length))
            return &operators[i];
    return NULL;
}

/* Numbers, of which the first few are kept; a list within is an operand that is many tensors. */
static void read_list(hl_base_json_in *in, hl_trace_kineto_list *list)
{
    *list = (hl_trace_kineto_list){0};
    if (!hl_base_json_in_enter(in, HL_JSON_ARRAY))
        return;
    while (hl_base_json_in_item(in)) {
        hl_base_json_text text;
        int64_t value = 0;
        const bool known = hl_base_json_in_scalar(in, &text) == HL_JSON_NUMBER &&
                           hl_base_json_scaled(text, 0, &value);
        if (list->count < HL_TRACE_KINETO_RANK)
            list->items[list->count] = known ? value : 0;
        list->count += list->count <= HL_TRACE_KINETO_RANK;
    }
}

/* A list for each tensor. */
static void read_lists(hl_trace_kineto_event *self, hl_base_json_in *in, bool strides)
{
    self->has_inputs = true;
    if (!hl_base_json_in_enter(in, HL_JSON_ARRAY))
        return;
    for (int i = 0; hl_base_json_in_item(in); i++)
        if (i < HL_TRACE_KINETO_INPUTS)
            read_list(in, strides ? &self->inputs[i].strides : &self->inputs[i].sizes);
        else
            hl_base_json_in_skip(in);
}

/* Types as C++ names them, which is how the profiler writes them. */
static void read_types(hl_trace_kineto_event *self, hl_base_json_in *in)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"float", 4},
                 {"double", 8},
                 {"c10::Half", 2},
                 {"c10::BFloat16", 2},
                 {"c10::Float8_e4m3fn", 1},
                 {"c10::Float8_e5m2", 1},
                 {"c10::Float8_e4m3fnuz", 1},
                 {"c10::Float8_e5m2fnuz", 1},
                 {"signed char", 1}};
    self->has_inputs = true;
    if (!hl_base_json_in_enter(in, HL_JSON_ARRAY))
        return;
    for (int i = 0; hl_base_json_in_item(in); i++) {
        hl_base_json_text text;
        if (hl_base_json_in_scalar(in, &text) != HL_JSON_STRING || i >= HL_TRACE_KINETO_INPUTS)
            continue;
        if (!i && text.length)
            keep_word(self, in, HL_TRACE_KINETO_DATA_TYPE, text);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            if (hl_base_json_is(text, types[t].name))
                self->inputs[i].element_bytes = types[t].bytes;
    }
}

/* Values are written as strings: "True", "2", "[14, 14]". */
static void read_value(hl_base_json_text text, hl_trace_kineto_list *list)
{
    *list = (hl_trace_kineto_list){0};
    if (hl_base_json_is(text, "True") || hl_base_json_is(text, "False")) {
        list->items[list->count++] = text.length == strlen("True");
        return;
    }
    for (size_t at = text.length && text.bytes[0] == '[', end; at < text.length; at = end + 1) {
        for (end = at; end < text.length && !strchr(", ]", text.bytes[end]);)
            end++;
        int64_t value = 0;
        if (end == at || list->count >= HL_TRACE_KINETO_RANK)
            continue;
        (void)hl_base_json_scaled((hl_base_json_text){text.bytes + at, end - at}, 0, &value);
        list->items[list->count++] = value;
    }
}

static void read_values(hl_trace_kineto_event *self, hl_base_json_in *in)
{
    self->has_values = true;
    if (!hl_base_json_in_enter(in, HL_JSON_ARRAY))
        return;
    for (int i = 0; hl_base_json_in_item(in); i++) {
        hl_base_json_text text;
        if (hl_base_json_in_scalar(in, &text) == HL_JSON_STRING && i < HL_TRACE_KINETO_VALUES)
            read_value(text, &self->values[i]);
    }
}

/* Operators and functions of Python are most of a trace, and the arguments of few tell anything. */
static bool has_useless_arguments(const hl_trace_kineto_event *self)
{
    return self->words[HL_TRACE_KINETO_NAME].length &&
           (self->category == HL_TRACE_KINETO_FRAME ||
            (self->category == HL_TRACE_KINETO_OPERATOR && !self->is_operator));
}

/* PyTorch 1.8 to 1.10 wrote a call stack with every operator, be it empty, and later versions write
 * none: a few operators tell whether to look at the others. */
static void read_stack_alone(hl_trace_kineto_event *self, hl_base_json_in *in)
{
    enum { LOOKED_AT = 16 };
    bool found = false;
    if (self->category != HL_TRACE_KINETO_OPERATOR || self->without_stack >= LOOKED_AT) {
        hl_base_json_in_skip(in);
        return;
    }
    if (!hl_base_json_in_enter(in, HL_JSON_OBJECT))
        return;
    for (hl_base_json_text key; hl_base_json_in_key(in, &key);)
        if (hl_base_json_is(key, "Call stack")) {
            found = true;
            read_word(self, in, HL_TRACE_KINETO_STACK);
        } else {
            hl_base_json_in_skip(in);
        }
    self->without_stack = found ? 0 : self->without_stack + 1;
}

static void read_category(hl_trace_kineto_event *self, hl_base_json_in *in)
{
    hl_base_json_text text;
    self->category = HL_TRACE_KINETO_OTHER;
    self->has_category = true;
    if (hl_base_json_in_scalar(in, &text) != HL_JSON_STRING)
        return;
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (is_key(&categories[i], text)) {
            self->category = (hl_trace_kineto_category)categories[i].target;
            return;
        }
}

/* Of some thirty arguments of a kernel haul takes the launch, the stream and the collective, of an
 * operator its tensors' sizes. */
static void read_arguments(hl_trace_kineto_event *self, const hl_trace_kineto_keys *known,
                           hl_base_json_in *in)
{
    if (!hl_base_json_in_enter(in, HL_JSON_OBJECT))
        return;
    self->has_arguments = true;
    for (int target; (target = next_target(known, in)) != KEY_END;) {
        if (target == HL_TRACE_KINETO_REACHED || target == HL_TRACE_KINETO_CORRELATION)
            read_number(self, in, (hl_trace_kineto_field)target);
        else if (target >= HL_TRACE_KINETO_DEVICE && target < KEY_WORD)
            read_repeated(self, in, (hl_trace_kineto_field)target);
        else if (target > KEY_WORD && target < KEY_PHASE)
            read_word(self, in, (hl_trace_kineto_word)(target - KEY_WORD));
        else if (target == KEY_GRID || target == KEY_BLOCK)
            read_numbers(in, target == KEY_GRID ? self->grid : self->block, 3);
        else if (target == KEY_OPERANDS) {
            self->has_operands = true;
            read_numbers(in, self->operands, sizeof self->operands / sizeof *self->operands);
        } else if (target == KEY_SIZES || target == KEY_STRIDES)
            read_lists(self, in, target == KEY_STRIDES);
        else if (target == KEY_TYPES)
            read_types(self, in);
        else if (target == KEY_VALUES)
            read_values(self, in);
        else
            hl_base_json_in_skip(in);
    }
}

/* Whether what is known of the event so far leaves a use for it. Flows of calls are read apart from
 * all else, those of gradients with it. */
static bool is_of_use(const hl_trace_kineto_event *self, bool flows)
{
    const bool is_flow = self->phase == 's' || self->phase == 'f';
    if (self->phase && !is_flow && (flows || self->phase != 'X'))
        return false;
    if (!self->has_category)
        return true;
    if (flows)
        return self->category == HL_TRACE_KINETO_FLOW;
    if (self->category == HL_TRACE_KINETO_LINK)
        return !self->phase || is_flow;
    return self->category != HL_TRACE_KINETO_OTHER && !is_flow;
}

/* Empties what the last event has filled: all of it would take as long as reading a short one. */
static void reset(hl_trace_kineto_event *self)
{
    for (int i = 0; i < HL_TRACE_KINETO_WORDS; i++)
        self->words[i].length = 0;
    self->is_operator = NULL;
    if (self->has_arguments) {
        memset(self->grid, 0, sizeof self->grid);
        memset(self->block, 0, sizeof self->block);
        memset(self->operands, 0, sizeof self->operands);
    }
    if (self->has_inputs)
        memset(self->inputs, 0, sizeof self->inputs);
    if (self->has_values)
        memset(self->values, 0, sizeof self->values);
    self->has_arguments = false;
    self->has_inputs = false;
    self->has_values = false;
    self->has_category = false;
    self->has_operands = false;
    self->category = HL_TRACE_KINETO_OTHER;
    self->phase = 0;
    self->given = 0;
    self->text_length = 0;
}

static void read_phase(hl_trace_kineto_event *self, hl_base_json_in *in)
{
    hl_base_json_text text;
    if (hl_base_json_in_letter(in, &self->phase))
        return;
    const bool is_one = hl_base_json_in_scalar(in, &text) == HL_JSON_STRING && text.length == 1;
    self->phase = '?';
    if (is_one)
        self->phase = text.bytes[0];
}

/* Phase and category may tell that the event is of no use. */
static inline bool read_deciding(hl_trace_kineto_event *self, hl_base_json_in *in, int target,
                                 bool flows)
{
    if (target == KEY_PHASE)
        read_phase(self, in);
    else
        read_category(self, in);
    return is_of_use(self, flows);
}

/* Skips what follows in an event of no use but what could still tell otherwise: the last of a key
 * that comes twice counts. Returns whether it was of use after all, and sets *skipped where members
 * were passed over until then. */
static bool pass_useless(hl_trace_kineto_event *self, const hl_trace_kineto_keys *known,
                         hl_base_json_in *in, bool flows, bool *skipped)
{
    static const uint64_t deciding =
        UINT64_C(1) << (FIRST_TAG + KEY_PHASE) | UINT64_C(1) << (FIRST_TAG + KEY_CATEGORY);
    hl_base_json_text key;
    while (hl_base_json_in_key_but(in, &key, deciding, skipped)) {
        const int target = target_of(known, in, key);
        if (target == KEY_PHASE || target == KEY_CATEGORY) {
            if (read_deciding(self, in, target, flows))
                return true;
        } else {
            *skipped = true;
            hl_base_json_in_skip(in);
        }
    }
    return false;
}

/* Most events are of no use. Members that were skipped before one turned out to be of use are lost,
 * and the event with them. */
void hl_trace_kineto_event_read(hl_trace_kineto_event *self, const hl_trace_kineto_keys *known,
                                hl_base_json_in *in, bool flows)
{
    bool useless = false, skipped = false, without_arguments = false;
    reset(self);
    (void)hl_base_json_in_object(in);
    for (int target; !useless && (target = next_target(known, in)) != KEY_END;)
        switch (target) {
        case HL_TRACE_KINETO_START:
        case HL_TRACE_KINETO_DUR:
        case HL_TRACE_KINETO_ID:
            read_number(self, in, (hl_trace_kineto_field)target);
            break;
        case HL_TRACE_KINETO_PID:
        case HL_TRACE_KINETO_TID:
            read_repeated(self, in, (hl_trace_kineto_field)target);
            break;
        case KEY_PHASE:
        case KEY_CATEGORY:
            useless = !read_deciding(self, in, target, flows) &&
                      !pass_useless(self, known, in, flows, &skipped);
            break;
        case KEY_WORD + HL_TRACE_KINETO_NAME:
            read_word(self, in, HL_TRACE_KINETO_NAME);
            self->is_operator = operator_of(hl_trace_kineto_text(self, HL_TRACE_KINETO_NAME));
            break;
        case KEY_ARGUMENTS:
            if (has_useless_arguments(self)) {
                without_arguments = true;
                read_stack_alone(self, in);
            } else {
                read_arguments(self, known, in);
            }
            break;
        default:
            hl_base_json_in_skip(in);
        }
    skipped |= without_arguments && !has_useless_arguments(self);
    self->is_lost = skipped && !useless;
    if (useless || skipped)
        self->category = HL_TRACE_KINETO_OTHER;
}

/* The text's room is the only storage that an event has. */
void hl_trace_kineto_event_release(hl_trace_kineto_event *self)
{
    free(self->text);
    *self = (hl_trace_kineto_event){0};
}
