/* Reading JSON (RFC 8259): a pull reader whose memory does not grow with the document.
 *
 *     haul_json_in_object(in);
 *     for (haul_json_text key; haul_json_in_key(in, &key);)
 *         if (haul_json_is(key, "bytes"))
 *             haul_json_in_scalar(in, &bytes);
 *         else
 *             haul_json_in_skip(in);
 *     status = haul_json_in_end(in, error);
 *
 * The caller takes the values that it wants and skips the others; both check the whole syntax and
 * the UTF-8. The first failure is kept: from then on keys and items end and values are none, so
 * that only the end need be asked. A byte-order mark before the document is passed over. Nesting
 * beyond 2048 is refused, as is a text of more than 16 MiB that is not skipped.
 *
 * Duplicate keys are the caller's: each is met in turn, so that the last one counts as it does in
 * Python and JavaScript. */
#ifndef HAUL_BASE_JSON_IN_H
#define HAUL_BASE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json_gaps.h"
#include "haul/status.h"

typedef enum haul_json_kind {
    HAUL_JSON_NONE, /* after a failure */
    HAUL_JSON_OBJECT,
    HAUL_JSON_ARRAY,
    HAUL_JSON_STRING,
    HAUL_JSON_NUMBER,
    HAUL_JSON_TRUE,
    HAUL_JSON_FALSE,
    HAUL_JSON_NULL,
} haul_json_kind;

/* Good until the next call. Some byte stands behind it, which is no part of it. */
typedef struct haul_json_text {
    const char *bytes;
    size_t length;
} haul_json_text;

enum { HAUL_JSON_IN_DEPTH = 2048 };

/* Puts up to `size` bytes into `buffer`, *got of them; none only at the end of the document. */
typedef haul_status haul_json_read(void *source, char *buffer, size_t size, size_t *got,
                                   haul_error *error);

typedef struct haul_json_in {
    const char *file;
    haul_json_read *read; /* NULL where all bytes are here */
    void *source;
    char *buffer;
    size_t capacity;
    const char *at;
    const char *end;   /* a NUL stands there, which no token may hold, and some bytes of padding */
    const char *hold;  /* what must stay in the buffer from here on, or NULL */
    uint64_t offset;   /* of the buffer's first byte in the document */
    uint64_t value_at; /* offset of the last value */
    char *decoded;     /* the last text that had escapes */
    size_t decoded_capacity;
    uint64_t in_object[HAUL_JSON_IN_DEPTH / 64]; /* a bit a level */
    haul_json_gaps gaps;
    int depth;
    bool fresh; /* nothing has been met in the innermost object or array */
    haul_status status;
    haul_error error;
} haul_json_in;

/* Reads what `read` gives, or a copy of `size` bytes; `file` names them in errors and must outlive
 * the reader. Free with haul_json_in_close, after a failure too. */
haul_status haul_json_in_open(haul_json_in *self, const char *file, haul_json_read *read,
                              void *source, haul_error *error);
haul_status haul_json_in_open_memory(haul_json_in *self, const char *file, const char *text,
                                     size_t size, haul_error *error);
void haul_json_in_close(haul_json_in *self);

/* The kind of the value that comes. */
haul_json_kind haul_json_in_kind(haul_json_in *self);

/* Enter an object or array; false, and a failure, where another value comes. */
bool haul_json_in_object(haul_json_in *self);
bool haul_json_in_array(haul_json_in *self);

/* Enters the object or array that comes; skips a value of another kind and returns false. */
bool haul_json_in_enter(haul_json_in *self, haul_json_kind kind);

/* Steps to the next member or item, or leaves: then false. Its value must be taken or skipped. */
bool haul_json_in_key(haul_json_in *self, haul_json_text *key);
bool haul_json_in_item(haul_json_in *self);

/* A number that the caller may keep with the name that haul_json_in_key gave last, 0 at first: it
 * may be there when the same name comes again, which spares looking it up. */
static inline uint8_t *haul_json_in_tag(haul_json_in *self)
{
    haul_json_gap *const gap = &self->gaps.items[self->gaps.last];
    if (!gap->length) /* it stands for all that are not kept */
        gap->tag = 0;
    return &gap->tag;
}

/* Skips the value that comes; the rest of the innermost object or array, which is left. */
void haul_json_in_skip(haul_json_in *self);
void haul_json_in_leave(haul_json_in *self);

/* Takes a number, or a string that holds one, times 10^places, of which there are 3 at most; skips
 * other values. Like haul_json_scaled, but fast. */
bool haul_json_in_scaled(haul_json_in *self, int places, int64_t *value);

/* Takes a number or a string, skips other values. Returns the kind. */
haul_json_kind haul_json_in_scalar(haul_json_in *self, haul_json_text *text);

/* The value of a number's text times 10^places, rounded half away from zero, exactly; false where
 * it is no number of JSON or does not fit. */
bool haul_json_scaled(haul_json_text text, int places, int64_t *value);

/* The value of a number's text, in the numerals of the C locale; false where it is no number of
 * JSON or not finite as a double. */
bool haul_json_double(haul_json_text text, double *value);

/* Fails with `text` at a place, such as that of the last value, `value_at`, unless there is a
 * failure already. Returns false. */
bool haul_json_in_fail_at(haul_json_in *self, uint64_t offset, const char *text);

/* Fails for lack of the caller's memory. */
void haul_json_in_no_memory(haul_json_in *self);

/* Checks that nothing but white space follows the document, and gives the first failure. */
haul_status haul_json_in_end(haul_json_in *self, haul_error *error);

static inline bool haul_json_is(haul_json_text text, const char *word)
{
    return strlen(word) == text.length && !memcmp(text.bytes, word, text.length);
}

#endif
