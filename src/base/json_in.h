/* Reading JSON (RFC 8259): a pull reader whose memory does not grow with the document.
 *
 *     hl_base_json_in_object(in);
 *     for (hl_base_json_text key; hl_base_json_in_key(in, &key);)
 *         if (hl_base_json_is(key, "bytes"))
 *             hl_base_json_in_scalar(in, &bytes);
 *         else
 *             hl_base_json_in_skip(in);
 *     status = hl_base_json_in_end(in, error);
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

typedef enum hl_base_json_kind {
    HL_JSON_NONE, /* after a failure */
    HL_JSON_OBJECT,
    HL_JSON_ARRAY,
    HL_JSON_STRING,
    HL_JSON_NUMBER,
    HL_JSON_TRUE,
    HL_JSON_FALSE,
    HL_JSON_NULL,
} hl_base_json_kind;

/* Good until the next call. Some byte stands behind it, which is no part of it. */
typedef struct hl_base_json_text {
    const char *bytes;
    size_t length;
} hl_base_json_text;

enum { HL_JSON_IN_DEPTH = 2048 };

/* Puts up to `size` bytes into `buffer`, *got of them; none only at the end of the document. */
typedef haul_status hl_base_json_read(void *source, char *buffer, size_t size, size_t *got,
                                      haul_error *error);

typedef struct hl_base_json_in {
    const char *file;
    hl_base_json_read *read; /* NULL where all bytes are here */
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
    uint64_t in_object[HL_JSON_IN_DEPTH / 64]; /* a bit a level */
    hl_base_json_gaps gaps;
    int depth;
    bool fresh; /* nothing has been met in the innermost object or array */
    haul_status status;
    haul_error error;
} hl_base_json_in;

/* Reads what `read` gives, or a copy of `size` bytes; `file` names them in errors and must outlive
 * the reader. Free with hl_base_json_in_close, after a failure too. */
haul_status hl_base_json_in_open(hl_base_json_in *self, const char *file, hl_base_json_read *read,
                                 void *source, haul_error *error);
haul_status hl_base_json_in_open_memory(hl_base_json_in *self, const char *file, const char *text,
                                        size_t size, haul_error *error);
void hl_base_json_in_close(hl_base_json_in *self);

/* The kind of the value that comes. */
hl_base_json_kind hl_base_json_in_kind(hl_base_json_in *self);

/* Enter an object or array; false, and a failure, where another value comes. */
bool hl_base_json_in_object(hl_base_json_in *self);
bool hl_base_json_in_array(hl_base_json_in *self);

/* Enters the object or array that comes; skips a value of another kind and returns false. */
bool hl_base_json_in_enter(hl_base_json_in *self, hl_base_json_kind kind);

/* Steps to the next member or item, or leaves: then false. Its value must be taken or skipped. */
bool hl_base_json_in_key(hl_base_json_in *self, hl_base_json_text *key);
bool hl_base_json_in_item(hl_base_json_in *self);

/* A number that the caller may keep with the name that hl_base_json_in_key gave last, 0 at first:
 * it may be there when the same name comes again, which spares looking it up. */
static inline uint8_t *hl_base_json_in_tag(hl_base_json_in *self)
{
    return &self->gaps.items[self->gaps.last].tag;
}

/* As hl_base_json_in_key, but gives that number: -1 where there is no member, and 0 where the name
 * has none, whose text alone is set. */
static inline int hl_base_json_in_tagged(hl_base_json_in *self, hl_base_json_text *key);

/* As hl_base_json_in_key, past all members whose names have a tag from 1 to 63 but those whose bits
 * are in `wanted`: their values are skipped, and *skipped is set where there are any. */
bool hl_base_json_in_key_but(hl_base_json_in *self, hl_base_json_text *key, uint64_t wanted,
                             bool *skipped);

/* Skips the value that comes; the rest of the innermost object or array, which is left. */
void hl_base_json_in_skip(hl_base_json_in *self);
void hl_base_json_in_leave(hl_base_json_in *self);

/* Takes a number, or a string that holds one, times 10^places, of which there are 3 at most; skips
 * other values. Like hl_base_json_scaled, but fast. */
bool hl_base_json_in_scaled(hl_base_json_in *self, int places, int64_t *value);

/* A number of few digits as it was written, with the byte behind it. Zero is none. */
typedef struct hl_base_json_memo {
    char text[8];
    int64_t value;
    uint8_t length;
} hl_base_json_memo;

/* As hl_base_json_in_scaled for numbers of one kind, always with the same places, many of which
 * repeat the last one: `memo` is theirs. */
static inline bool hl_base_json_in_repeated(hl_base_json_in *self, int places,
                                            hl_base_json_memo *memo, int64_t *value);

/* Takes a number or a string, skips other values. Returns the kind. */
hl_base_json_kind hl_base_json_in_scalar(hl_base_json_in *self, hl_base_json_text *text);

/* Takes a string of one letter; else takes nothing, and returns false. */
static inline bool hl_base_json_in_letter(hl_base_json_in *self, char *letter)
{
    const char *const p = self->at;
    if (p[0] != '"' || p[2] != '"' || (unsigned char)((p[1] | 0x20) - 'a') >= 26 || self->status)
        return false;
    self->value_at = self->offset + (uint64_t)(p - self->buffer);
    self->at = p + 3;
    *letter = p[1];
    return true;
}

/* The value of a number's text times 10^places, rounded half away from zero, exactly; false where
 * it is no number of JSON or does not fit. */
bool hl_base_json_scaled(hl_base_json_text text, int places, int64_t *value);

/* The value of a number's text, in the numerals of the C locale; false where it is no number of
 * JSON or not finite as a double. */
bool hl_base_json_double(hl_base_json_text text, double *value);

/* Fails with `text` at a place, such as that of the last value, `value_at`, unless there is a
 * failure already. Returns false. */
bool hl_base_json_in_fail_at(hl_base_json_in *self, uint64_t offset, const char *text);

/* Fails for lack of the caller's memory. */
void hl_base_json_in_no_memory(hl_base_json_in *self);

/* Checks that nothing but white space follows the document, and gives the first failure. */
haul_status hl_base_json_in_end(hl_base_json_in *self, haul_error *error);

int hl_base_json_in_tagged_other(hl_base_json_in *self, hl_base_json_text *key);

static inline int hl_base_json_in_tagged(hl_base_json_in *self, hl_base_json_text *key)
{
    const hl_base_json_gap *const gap =
        self->status ? NULL
                     : hl_base_json_gaps_pass_first(&self->gaps, self->at, self->fresh, true);
    if (!gap)
        return hl_base_json_in_tagged_other(self, key);
    self->at += gap->length;
    self->fresh = false;
    return gap->tag;
}

/* The one that differs is read, and kept where it is short. */
bool hl_base_json_in_remembered(hl_base_json_in *self, int places, hl_base_json_memo *memo,
                                int64_t *value);

static inline bool hl_base_json_in_repeated(hl_base_json_in *self, int places,
                                            hl_base_json_memo *memo, int64_t *value)
{
    if (hl_base_json_differ(memo->text, self->at) || !memo->length || self->status)
        return hl_base_json_in_remembered(self, places, memo, value);
    self->value_at = self->offset + (uint64_t)(self->at - self->buffer);
    self->at += memo->length;
    *value = memo->value;
    return true;
}

static inline bool hl_base_json_is(hl_base_json_text text, const char *word)
{
    return strlen(word) == text.length && !memcmp(text.bytes, word, text.length);
}

#endif
