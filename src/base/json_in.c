/* Eight bytes are looked at together, as one word: profiles are gigabytes of JSON, most of it plain
 * text and digits. A NUL and padding stand behind the last byte, so that no loop asks for the end.
 */
#include "base/json_in.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/json_scalars.h"
#include "base/json_window.h"
#include "base/json_words.h"
#include "base/utf8.h"

/* The token that a byte begins outside strings. */
enum { OTHER, SPACE, QUOTE, DIGIT, WORD, OPEN };

static const unsigned char classes[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE, ['"'] = QUOTE, ['-'] = DIGIT,
    ['0'] = DIGIT, ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,  ['4'] = DIGIT, ['5'] = DIGIT,
    ['6'] = DIGIT, ['7'] = DIGIT,  ['8'] = DIGIT,  ['9'] = DIGIT,  ['t'] = WORD,  ['f'] = WORD,
    ['n'] = WORD,  ['{'] = OPEN,   ['['] = OPEN,
};

/* The functions below pass something from the place `p` on and return the place behind it, or NULL
 * after a failure. */

/* The white space that is in the window: mostly none, one blank, or a line break and many blanks.
 */
static inline const char *pass_space_here(const char *p)
{
    if ((unsigned char)*p > ' ')
        return p;
    if (*p == ' ' && (unsigned char)p[1] > ' ')
        return p + 1;
    while (classes[(unsigned char)*p] == SPACE) {
        const uint64_t others = hl_base_json_word(++p) ^ HL_JSON_EACH(' ');
        p += others ? hl_base_json_first(others) : 8;
    }
    return p;
}

static inline const char *pass_space(hl_base_json_in *self, const char *p)
{
    for (;;) {
        p = pass_space_here(p);
        if (p < self->end)
            return p;
        self->at = self->end;
        const bool filled = hl_base_json_fill(self);
        p = self->at;
        if (!filled)
            return p;
    }
}

/* One character of a string that is not plain. Escapes are checked here and decoded only where the
 * caller takes the text. */
static const char *pass_special(hl_base_json_in *self, const char *p)
{
    enum { LONGEST_ESCAPE = 12 };
    int length = 0;
    p = hl_base_json_look_ahead(self, p, LONGEST_ESCAPE);
    /* The NUL at the end looks like a control character: only the place tells them apart. */
    if (p == self->end)
        return hl_base_json_fail_expected(self, p, "the end of a string");
    if (*p == '\\') {
        if (hl_base_json_escaped(p, &length) < 0)
            return hl_base_json_fail_expected(self, p, "an escape of JSON");
    } else if ((unsigned char)*p < ' ') {
        return hl_base_json_fail_expected(self, p, "no control character in a string");
    } else if (!(length = hl_base_utf8_length(p))) {
        return hl_base_json_fail_at(self, p, "invalid UTF-8");
    }
    return p + length;
}

/* The rest of a string behind its quote. Sets *plain to false where it has escapes. */
static inline const char *pass_string(hl_base_json_in *self, const char *p, bool *plain)
{
    while (*(p = hl_base_json_plain(p)) != '"') {
        *plain &= *p != '\\';
        /* Text without a closing quote stops at the NUL padding, whose bytes count as special. */
        if (p == self->end) {
            self->at = p;
            if (hl_base_json_fill(self)) {
                p = self->at;
                continue;
            }
            p = self->at;
        }
        if (!(p = pass_special(self, p)))
            return NULL;
    }
    return p + 1;
}

/* At least one digit. */
static inline const char *pass_digits(hl_base_json_in *self, const char *p)
{
    bool some = false;
    for (;;) {
        const int count = hl_base_json_digits(p);
        some |= count > 0;
        p += count;
        if (count == 8)
            continue;
        if (p < self->end)
            return some ? p : hl_base_json_fail_expected(self, p, "a digit");
        self->at = p;
        const bool filled = hl_base_json_fill(self);
        p = self->at;
        if (!filled)
            return some ? p : hl_base_json_fail_expected(self, p, "a digit");
    }
}

/* The byte at hand within a token is at the place that is returned. */
static inline const char *peek(hl_base_json_in *self, const char *p)
{
    return p < self->end ? p : hl_base_json_look_ahead(self, p, 1);
}

/* Behind digits there is always a byte to look at, if only the NUL at the end. */
static inline const char *pass_number(hl_base_json_in *self, const char *p)
{
    if (*p == '-')
        p = peek(self, p + 1);
    /* JSON allows no digits behind a leading 0: one that follows is refused at the next step. */
    if (*p == '0')
        p = peek(self, p + 1);
    else if (!(p = pass_digits(self, p)))
        return NULL;
    if (*p == '.' && !(p = pass_digits(self, p + 1)))
        return NULL;
    /* Folds 'E' to 'e'; no other byte that may follow a number becomes an 'e' by it. */
    if ((*p | 0x20) != 'e')
        return p;
    p = peek(self, p + 1);
    p += *p == '+' || *p == '-';
    return pass_digits(self, p);
}

static const char *pass_word(hl_base_json_in *self, const char *p)
{
    static const char *const words[] = {"true", "false", "null"};
    /* As long as "false". Letters directly behind the word fail at the next comma or bracket. */
    p = hl_base_json_look_ahead(self, p, 5);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(p, words[i], strlen(words[i])))
            return p + strlen(words[i]);
    return hl_base_json_fail_expected(self, p, "true, false or null");
}

static inline const char *push(hl_base_json_in *self, const char *p)
{
    if (self->depth == HL_JSON_IN_DEPTH)
        return hl_base_json_fail_at(self, p, "JSON nested deeper than 2048");
    /* A bit a level: all 2048 take 256 bytes of the reader. */
    const uint64_t bit = UINT64_C(1) << self->depth % 64;
    uint64_t *const word = &self->in_object[self->depth / 64];
    *word = *p == '{' ? *word | bit : *word & ~bit;
    self->depth++;
    self->fresh = true;
    return p + 1;
}

static inline bool in_object(const hl_base_json_in *self)
{
    const int level = self->depth - 1;
    return self->in_object[level / 64] >> level % 64 & 1;
}

/* Leaves the object where its end comes, which is found within the window; else NULL. */
static inline const char *pass_close(hl_base_json_in *self, const char *p)
{
    p = pass_space_here(p);
    if (*p != '}')
        return NULL;
    self->depth--;
    self->fresh = false;
    return p + 1;
}

/* Comes to the next member or item; leaves the object or array where there is none. */
static inline __attribute__((always_inline)) const char *step(hl_base_json_in *self, const char *p,
                                                              char close, bool *more)
{
    p = pass_space(self, p);
    *more = *p != close;
    if (!*more) {
        self->depth--;
        self->fresh = false;
        return p + 1;
    }
    if (self->fresh) {
        self->fresh = false;
        return p;
    }
    /* JSON has no comma before the first member and none behind the last. */
    if (*p != ',')
        return hl_base_json_fail_expected(self, p, close == '}' ? "',' or '}'" : "',' or ']'");
    return pass_space(self, p + 1);
}

static inline const char *pass_colon(hl_base_json_in *self, const char *p)
{
    p = pass_space(self, p);
    return *p == ':' ? p + 1 : hl_base_json_fail_expected(self, p, "':'");
}

/* Keeps the gap from `from` in the document to the colon at `colon`, and a blank behind it. */
static void learn_gap(hl_base_json_in *self, uint64_t from, bool opens, const char *key,
                      const char *colon)
{
    const char *const to = colon + 1 + (colon[1] == ' ');
    /* its beginning has left the window, or its end is not there yet */
    if (from < self->offset || colon + 1 >= self->end) {
        hl_base_json_gaps_forget(&self->gaps);
        return;
    }
    const char *const begin = self->buffer + (from - self->offset);
    hl_base_json_gaps_learn(&self->gaps, begin, (size_t)(to - begin), key,
                            (size_t)(colon - 1 - key), opens);
}

static bool take_long_key(hl_base_json_in *self, hl_base_json_text *key);

/* The next member's name, where `key` is asked for, and colon, which were not expected; leaves
 * where there is none. */
static const char *pass_new_member(hl_base_json_in *self, const char *p, bool *more,
                                   hl_base_json_text *key)
{
    const uint64_t from = hl_base_json_offset(self, p);
    const bool opens = self->fresh;
    p = step(self, p, '}', more);
    if (!p || !*more)
        return p;
    if (*p != '"')
        return hl_base_json_fail_expected(self, p, "a member's name");
    const char *const name = p + 1, *const end = hl_base_json_plain(name);
    /* The name and its colon in one look, without a check for the window's end: a NUL is
     * neither. */
    if (end[0] == '"' && end[1] == ':') { /* nearly all names */
        learn_gap(self, from, opens, name, end + 1);
        if (key)
            *key = (hl_base_json_text){name, (size_t)(end - name)};
        return end + 2;
    }
    hl_base_json_gaps_forget(&self->gaps);
    self->at = p;
    if (key)
        return take_long_key(self, key) ? self->at : NULL;
    bool plain = true;
    p = pass_string(self, name, &plain);
    return p ? pass_colon(self, p) : NULL;
}

/* Members whose names are expected and whose values are simple, and the name and colon of one
 * whose value is not: then *more. */
static inline const char *pass_expected(hl_base_json_in *self, const char *p, bool *more)
{
    bool opens = self->fresh;
    *more = true;
    for (const hl_base_json_gap *gap; (gap = hl_base_json_gaps_pass(&self->gaps, p, opens));) {
        self->fresh = opens = false;
        p += gap->length;
        const char *const end = hl_base_json_simple(self->end, p);
        if (!end)
            return p;
        p = end;
    }
    *more = false;
    return p;
}

/* A value; of an object or array its beginning alone. */
static inline const char *pass_value(hl_base_json_in *self, const char *p)
{
    bool plain = true;
    p = pass_space(self, p);
    switch (classes[(unsigned char)*p]) {
    case QUOTE:
        return pass_string(self, p + 1, &plain);
    case DIGIT:
        return pass_number(self, p);
    case OPEN:
        return push(self, p);
    case WORD:
        return pass_word(self, p);
    default:
        return hl_base_json_fail_expected(self, p, "a value");
    }
}

/* All that stands above `depth`. */
static const char *pass_down_to(hl_base_json_in *self, const char *p, int depth)
{
    /* A loop and no recursion: a document nested 2048 deep must not need 2048 frames of the
     * stack. */
    while (p && self->depth > depth) {
        bool more;
        if (in_object(self)) {
            p = pass_expected(self, p, &more);
            const char *const closed = more ? NULL : pass_close(self, p);
            if (closed) {
                p = closed;
                continue;
            }
            p = more ? p : pass_new_member(self, p, &more, NULL);
        } else {
            p = step(self, p, ']', &more);
        }
        p = p && more ? pass_value(self, p) : p;
    }
    return p;
}

/* Goes on behind what was passed. */
static bool passed(hl_base_json_in *self, const char *p)
{
    if (p)
        self->at = p;
    return p != NULL;
}

static __attribute__((noinline)) void skip_any(hl_base_json_in *self)
{
    const int depth = self->depth;
    const char *p = self->status ? NULL : pass_value(self, self->at);
    if (p)
        p = pass_down_to(self, p, depth);
    (void)passed(self, p);
}

void hl_base_json_in_skip(hl_base_json_in *self)
{
    const char *const end = hl_base_json_simple(self->end, self->at + (*self->at == ' '));
    if (!end || self->status) {
        skip_any(self);
        return;
    }
    self->at = end;
}

void hl_base_json_in_leave(hl_base_json_in *self)
{
    if (self->depth && !self->status)
        (void)passed(self, pass_down_to(self, self->at, self->depth - 1));
}

static inline hl_base_json_kind find_kind(hl_base_json_in *self)
{
    if (self->status)
        return HL_JSON_NONE;
    self->at = pass_space(self, self->at);
    self->value_at = hl_base_json_offset(self, self->at);
    switch (classes[(unsigned char)*self->at]) {
    case QUOTE:
        return HL_JSON_STRING;
    case DIGIT:
        return HL_JSON_NUMBER;
    case OPEN:
        return *self->at == '{' ? HL_JSON_OBJECT : HL_JSON_ARRAY;
    case WORD:
        return *self->at == 't' ? HL_JSON_TRUE : *self->at == 'f' ? HL_JSON_FALSE : HL_JSON_NULL;
    default:
        (void)hl_base_json_fail_expected(self, self->at, "a value");
        return HL_JSON_NONE;
    }
}

hl_base_json_kind hl_base_json_in_kind(hl_base_json_in *self)
{
    return find_kind(self);
}

/* Whether a value of that kind comes; another is a failure. */
static bool expect(hl_base_json_in *self, hl_base_json_kind kind, const char *otherwise)
{
    const hl_base_json_kind found = find_kind(self);
    /* HL_JSON_NONE means that a failure is kept already; a second one would hide it. */
    if (found && found != kind)
        (void)hl_base_json_in_fail_at(self, self->value_at, otherwise);
    return found == kind;
}

/* Enters where `open`, a bracket, is the next byte. */
static inline bool enter_here(hl_base_json_in *self, char open)
{
    if (*self->at != open || self->status)
        return false;
    self->value_at = hl_base_json_offset(self, self->at);
    return passed(self, push(self, self->at));
}

bool hl_base_json_in_object(hl_base_json_in *self)
{
    if (enter_here(self, '{'))
        return true;
    return expect(self, HL_JSON_OBJECT, "expected an object") && passed(self, push(self, self->at));
}

bool hl_base_json_in_array(hl_base_json_in *self)
{
    return expect(self, HL_JSON_ARRAY, "expected an array") && passed(self, push(self, self->at));
}

bool hl_base_json_in_enter(hl_base_json_in *self, hl_base_json_kind kind)
{
    self->at += *self->at == ' ';
    if (enter_here(self, kind == HL_JSON_OBJECT ? '{' : '['))
        return true;
    if (find_kind(self) != kind) {
        hl_base_json_in_skip(self);
        return false;
    }
    return passed(self, push(self, self->at));
}

/* Takes a string like nearly all, which has no escapes and ends within the window. */
static inline bool take_plain_string(hl_base_json_in *self, hl_base_json_text *text)
{
    const char *const p = self->at + (*self->at == ' ');
    if (*p != '"')
        return false;
    const char *const end = hl_base_json_plain(p + 1);
    if (*end != '"')
        return false;
    *text = (hl_base_json_text){p + 1, (size_t)(end - p - 1)};
    self->value_at = hl_base_json_offset(self, p);
    self->at = end + 1;
    return true;
}

/* Takes the string at hand, whose quote is the next byte. */
static bool take_string(hl_base_json_in *self, hl_base_json_text *text)
{
    bool plain = true;
    self->hold = self->at + 1;
    const bool whole = passed(self, pass_string(self, self->hold, &plain));
    /* While `hold` was set the window may have moved, so the start is read from there again. */
    *text = (hl_base_json_text){self->hold, whole ? (size_t)(self->at - 1 - self->hold) : 0};
    self->hold = NULL;
    if (!whole || plain)
        return whole;
    if (!hl_base_grow(&self->decoded, &self->decoded_capacity, text->length + 1, 1)) {
        self->status = hl_base_fail_no_memory(&self->error);
        return false;
    }
    *text = hl_base_json_unescape(*text, self->decoded);
    return true;
}

/* A name that has escapes, or whose colon stands elsewhere: it may move with the buffer until the
 * colon is there. */
static bool take_long_key(hl_base_json_in *self, hl_base_json_text *key)
{
    if (!take_string(self, key))
        return false;
    const bool here = key->bytes != self->decoded;
    self->hold = here ? key->bytes : NULL;
    const bool whole = passed(self, pass_colon(self, self->at));
    key->bytes = here ? self->hold : key->bytes;
    self->hold = NULL;
    return whole;
}

/* Takes the name in a gap that was passed. */
static inline bool take_known_key(hl_base_json_in *self, const hl_base_json_gap *gap,
                                  hl_base_json_text *key)
{
    *key = (hl_base_json_text){self->at + gap->key_at, gap->key_length};
    self->at += gap->length;
    self->fresh = false;
    return true;
}

/* The object's end, or a name that was not the most expected one. Apart from the function below,
 * which would else save many registers. */
static __attribute__((noinline)) bool take_other_key(hl_base_json_in *self, hl_base_json_text *key)
{
    bool more = false;
    if (self->status)
        return false;
    const char *const closed = pass_close(self, self->at);
    if (closed)
        return !passed(self, closed);
    const hl_base_json_gap *const gap =
        hl_base_json_gaps_pass_other(&self->gaps, self->at, self->fresh);
    if (gap)
        return take_known_key(self, gap, key);
    return passed(self, pass_new_member(self, self->at, &more, key)) && more;
}

static inline bool take_key(hl_base_json_in *self, hl_base_json_text *key)
{
    const hl_base_json_gap *const gap =
        self->status ? NULL
                     : hl_base_json_gaps_pass_first(&self->gaps, self->at, self->fresh, false);
    return gap ? take_known_key(self, gap, key) : take_other_key(self, key);
}

bool hl_base_json_in_key(hl_base_json_in *self, hl_base_json_text *key)
{
    return take_key(self, key);
}

/* Objects end on a line of their own or behind a value: gaps but the first begin with a comma. */
int hl_base_json_in_tagged_other(hl_base_json_in *self, hl_base_json_text *key)
{
    const char *const closed = *self->at == ',' || self->status ? NULL : pass_close(self, self->at);
    if (closed) {
        self->at = closed;
        return -1;
    }
    const hl_base_json_gap *const gap =
        self->status ? NULL : hl_base_json_gaps_pass_other(&self->gaps, self->at, self->fresh);
    if (gap)
        (void)take_known_key(self, gap, key);
    else if (!take_key(self, key))
        return -1;
    return *hl_base_json_in_tag(self);
}

bool hl_base_json_in_key_but(hl_base_json_in *self, hl_base_json_text *key, uint64_t wanted,
                             bool *skipped)
{
    for (int tag; (tag = hl_base_json_in_tagged(self, key)) >= 0;) {
        if (!tag || tag > 63 || wanted >> tag & 1)
            return true;
        *skipped = true;
        const char *const end = hl_base_json_simple(self->end, self->at);
        if (end)
            self->at = end;
        else
            hl_base_json_in_skip(self);
    }
    return false;
}

static __attribute__((noinline)) bool step_to_item(hl_base_json_in *self)
{
    bool more = false;
    return !self->status && passed(self, step(self, self->at, ']', &more)) && more;
}

bool hl_base_json_in_item(hl_base_json_in *self)
{
    const char *const p = self->at;
    if (*p != ',' || self->fresh || self->status)
        return step_to_item(self);
    const char *const next = pass_space_here(p + 1);
    if (next >= self->end)
        return step_to_item(self);
    self->at = next; /* a value, which a bracket is none of */
    return true;
}

static __attribute__((noinline)) hl_base_json_kind take_scalar(hl_base_json_in *self,
                                                               hl_base_json_text *text)
{
    const hl_base_json_kind kind = find_kind(self);
    *text = (hl_base_json_text){0};
    if (kind == HL_JSON_STRING)
        return take_string(self, text) ? kind : HL_JSON_NONE;
    if (kind == HL_JSON_NUMBER) {
        self->hold = self->at;
        const bool whole = passed(self, pass_number(self, self->at));
        *text = (hl_base_json_text){self->hold, whole ? (size_t)(self->at - self->hold) : 0};
        self->hold = NULL;
        return whole ? kind : HL_JSON_NONE;
    }
    hl_base_json_in_skip(self);
    return self->status ? HL_JSON_NONE : kind;
}

hl_base_json_kind hl_base_json_in_scalar(hl_base_json_in *self, hl_base_json_text *text)
{
    return !self->status && take_plain_string(self, text) ? HL_JSON_STRING
                                                          : take_scalar(self, text);
}

haul_status hl_base_json_in_end(hl_base_json_in *self, haul_error *error)
{
    if (!self->status) {
        self->at = pass_space(self, self->at);
        if (self->at < self->end)
            (void)hl_base_json_fail_at(self, self->at, "not JSON: something behind the document");
    }
    if (self->status && error)
        *error = self->error;
    return self->status;
}
