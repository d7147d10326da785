/* The reader of JSON against jansson: the same documents are accepted, with the same values,
 * however their bytes arrive.
 *
 * Exceptions, each tested in test_json_in.c: a byte-order mark is passed over, as RFC 8259 allows;
 * numbers that a double or a 64-bit integer cannot hold are a matter of who asks for them, and
 * jansson refuses them; jansson counts the value within the innermost array as a level of its own,
 * and takes a NUL between values for the end of the document.
 */
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes that arrive in pieces of a few. */
typedef struct pieces {
    const uint8_t *at;
    size_t left;
    size_t most;
} pieces;

static haul_status read_piece(void *source, char *buffer, size_t size, size_t *got,
                              haul_error *error)
{
    (void)error;
    pieces *self = source;
    *got = self->left < self->most ? self->left : self->most;
    *got = *got < size ? *got : size;
    if (*got)
        memcpy(buffer, self->at, *got);
    self->at += *got;
    self->left -= *got;
    return HAUL_OK;
}

static json_t *number_of(hl_base_json_text text)
{
    int64_t integer;
    double real = 0;
    bool is_integer = true;
    for (size_t i = 0; i < text.length; i++)
        is_integer &= text.bytes[i] == '-' || (text.bytes[i] >= '0' && text.bytes[i] <= '9');
    if (is_integer && hl_base_json_scaled(text, 0, &integer))
        return json_integer(integer);
    assert(hl_base_json_double(text, &real) || is_integer || memchr(text.bytes, 'e', text.length) ||
           memchr(text.bytes, 'E', text.length) || text.length > 300);
    return json_real(real);
}

static json_t *value_of(hl_base_json_in *in);

/* A name's tag must not be met at another. */
static uint8_t tag_of(hl_base_json_text key)
{
    unsigned sum = 1;
    for (size_t i = 0; i < key.length; i++)
        sum = sum * 31 + (unsigned char)key.bytes[i];
    return (uint8_t)(sum % 255 + 1);
}

static json_t *object_of(hl_base_json_in *in)
{
    json_t *object = json_object();
    (void)hl_base_json_in_object(in);
    for (hl_base_json_text key; hl_base_json_in_key(in, &key);) {
        char *name = malloc(key.length + 1);
        assert(name);
        const uint8_t sum = tag_of(key);
        uint8_t *const tag = hl_base_json_in_tag(in);
        assert(!*tag || *tag == sum);
        *tag = sum;
        if (key.length)
            memcpy(name, key.bytes, key.length);
        json_t *value = value_of(in);
        if (value)
            json_object_setn_new_nocheck(object, name, key.length, value);
        free(name);
    }
    return object;
}

static json_t *array_of(hl_base_json_in *in)
{
    json_t *array = json_array();
    (void)hl_base_json_in_array(in);
    while (hl_base_json_in_item(in)) {
        json_t *value = value_of(in);
        if (value)
            json_array_append_new(array, value);
    }
    return array;
}

static json_t *value_of(hl_base_json_in *in)
{
    hl_base_json_text text;
    switch (hl_base_json_in_kind(in)) {
    case HL_JSON_OBJECT:
        return object_of(in);
    case HL_JSON_ARRAY:
        return array_of(in);
    case HL_JSON_STRING:
        return hl_base_json_in_scalar(in, &text) == HL_JSON_STRING
                   ? json_stringn_nocheck(text.bytes, text.length)
                   : NULL;
    case HL_JSON_NUMBER:
        return hl_base_json_in_scalar(in, &text) == HL_JSON_NUMBER ? number_of(text) : NULL;
    case HL_JSON_TRUE:
        hl_base_json_in_skip(in);
        return json_true();
    case HL_JSON_FALSE:
        hl_base_json_in_skip(in);
        return json_false();
    case HL_JSON_NULL:
        hl_base_json_in_skip(in);
        return json_null();
    default:
        return NULL;
    }
}

/* Returns the document that is read value by value, or NULL where it is refused. */
static json_t *read_values(pieces from)
{
    hl_base_json_in in;
    haul_error error = {0};
    assert(!hl_base_json_in_open(&in, "fuzz", read_piece, &from, &error));
    json_t *value = value_of(&in);
    if (hl_base_json_in_end(&in, &error)) {
        assert(error.status == HAUL_STATUS_BAD_INPUT && strstr(error.text, "at byte"));
        json_decref(value);
        value = NULL;
    }
    hl_base_json_in_close(&in);
    return value;
}

static bool is_accepted(pieces from)
{
    hl_base_json_in in;
    haul_error error = {0};
    assert(!hl_base_json_in_open(&in, "fuzz", read_piece, &from, &error));
    hl_base_json_in_skip(&in);
    const bool accepted = !hl_base_json_in_end(&in, &error);
    hl_base_json_in_close(&in);
    return accepted;
}

/* The first byte says how large the pieces are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const pieces small = {data + 1, size - 1, 1 + data[0] % 32};
    const pieces whole = {data + 1, size - 1, SIZE_MAX};
    const bool marked = size > 3 && !memcmp(data + 1, "\xEF\xBB\xBF", 3);
    const size_t from = marked ? 4 : 1;
    json_error_t error;
    json_t *expected = json_loadb((const char *)data + from, size - from,
                                  JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    json_t *found = read_values(small);
    const bool accepted = is_accepted(whole);
    assert(accepted == is_accepted(small) && accepted == (found != NULL));
    const enum json_error_code code = expected ? json_error_unknown : json_error_code(&error);
    /* Jansson takes a NUL in strings alone, not in members' names. */
    if (code != json_error_numeric_overflow && code != json_error_stack_overflow &&
        code != json_error_null_byte_in_key && !memchr(data + 1, 0, size - 1)) {
        assert(!expected == !found);
        assert(!expected || json_equal(expected, found));
    }
    json_decref(expected);
    json_decref(found);
    return 0;
}
