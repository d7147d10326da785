/* The gaps of a JSON document: what stands between two values of an object, such as `,\n  "ts": `.
 * Programs write the same few again and again, in the same order. Each gap that was met is kept
 * with the few that followed it last, so that nearly all members' names are passed by one
 * comparison instead of byte by byte. For json_in.c. */
#ifndef HAUL_BASE_JSON_GAPS_H
#define HAUL_BASE_JSON_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    HL_JSON_GAPS = 256,     /* as many as a byte names */
    HL_JSON_GAP_LEAST = 8,  /* shorter ones are not kept, nor longer ones than the next */
    HL_JSON_GAP_BYTES = 55, /* so that a gap takes 64 */
    HL_JSON_GAP_NEXT = 4,
};

/* One gap, with the comma before it unless it opens an object. */
typedef struct hl_base_json_gap {
    uint8_t length;
    uint8_t key_at;
    uint8_t key_length;
    uint8_t tag;                    /* the caller's */
    bool opens;                     /* an object */
    uint8_t next[HL_JSON_GAP_NEXT]; /* those that followed it last, the latest first; 0: none */
    char bytes[HL_JSON_GAP_BYTES];
} hl_base_json_gap;

/* Zero is an empty one. Item 0 stands for a gap that is not kept. */
typedef struct hl_base_json_gaps {
    hl_base_json_gap items[HL_JSON_GAPS];
    size_t count;
    uint8_t last; /* the gap that was passed last */
} hl_base_json_gaps;

/* Keeps the gap of `length` bytes at `p`, as the next behind the last, and makes it the last one;
 * `key` is the member's name within it. */
void hl_base_json_gaps_learn(hl_base_json_gaps *self, const char *p, size_t length, const char *key,
                             size_t key_length, bool opens);

/* Makes item 0 the last one. */
static inline void hl_base_json_gaps_forget(hl_base_json_gaps *self)
{
    self->last = 0;
    self->items[0].tag = 0;
}

/* Which bits of two words differ. */
static inline uint64_t hl_base_json_differ(const char *a, const char *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

/* Compares by words, the last of which overlap, so that no loop is needed. The gap is one that is
 * kept. */
static inline bool hl_base_json_gap_is(const hl_base_json_gap *self, const char *p, bool opens)
{
    const char *const kept = self->bytes;
    if (hl_base_json_differ(kept, p)) /* most others differ in their first bytes */
        return false;
    const size_t length = self->length;
    if (hl_base_json_differ(kept + length - 8, p + length - 8) || self->opens != opens)
        return false;
    if (length <= 16)
        return true;
    if (hl_base_json_differ(kept + 8, p + 8) |
        hl_base_json_differ(kept + length - 16, p + length - 16))
        return false;
    return length <= 32 ||
           !(hl_base_json_differ(kept + 16, p + 16) | hl_base_json_differ(kept + 24, p + 24) |
             hl_base_json_differ(kept + length - 24, p + length - 24));
}

/* The gap at `p`, which becomes the last one, if it is the one expected first, or one of the others
 * expected there; else NULL. HL_JSON_GAP_BYTES may be looked at from `p` on. Where `tagged`, one
 * without a tag is not passed either. */
static inline const hl_base_json_gap *
hl_base_json_gaps_pass_first(hl_base_json_gaps *self, const char *p, bool opens, bool tagged)
{
    const uint8_t first = self->items[self->last].next[0];
    const hl_base_json_gap *const gap = &self->items[first];
    if (!first || !hl_base_json_gap_is(gap, p, opens) || (tagged && !gap->tag))
        return NULL;
    self->last = first;
    return gap;
}

const hl_base_json_gap *hl_base_json_gaps_pass_other(hl_base_json_gaps *self, const char *p,
                                                     bool opens);

/* Either. */
static inline const hl_base_json_gap *hl_base_json_gaps_pass(hl_base_json_gaps *self, const char *p,
                                                             bool opens)
{
    const hl_base_json_gap *const first = hl_base_json_gaps_pass_first(self, p, opens, false);
    return first ? first : hl_base_json_gaps_pass_other(self, p, opens);
}

#endif
