#include "base/json_gaps.h"

/* The number of the gap at `p`, which is added where it is new. */
static uint8_t find_gaps(hl_base_json_gaps *self, const char *p, size_t length, bool opens)
{
    /* Gaps differ in the ends of their names. */
    size_t hash = length;
    for (size_t i = length > 12 ? length - 12 : 0; i < length; i++)
        hash = hash * 31 + (unsigned char)p[i];
    size_t slot = hash % HL_JSON_GAPS;
    for (; !slot || self->items[slot].length; slot = (slot + 1) % HL_JSON_GAPS)
        if (self->items[slot].length == length && hl_base_json_gap_is(&self->items[slot], p, opens))
            return (uint8_t)slot;
    self->items[slot].length = (uint8_t)length;
    self->items[slot].opens = opens;
    memcpy(self->items[slot].bytes, p, length);
    self->count++;
    return (uint8_t)slot;
}

/* A document with many more names than a program's events have begins anew when they are full. */
void hl_base_json_gaps_learn(hl_base_json_gaps *self, const char *p, size_t length, const char *key,
                             size_t key_length, bool opens)
{
    const uint8_t before = self->last;
    hl_base_json_gaps_forget(self);
    if (length < HL_JSON_GAP_LEAST || length > HL_JSON_GAP_BYTES)
        return;
    if (self->count == (size_t)HL_JSON_GAPS / 4 * 3)
        *self = (hl_base_json_gaps){0};
    self->last = find_gaps(self, p, length, opens);
    hl_base_json_gap *const gap = &self->items[self->last];
    gap->key_at = (uint8_t)(key - p);
    gap->key_length = (uint8_t)key_length;
    uint8_t *const next = self->items[before].next;
    memmove(next + 1, next, HL_JSON_GAP_NEXT - 1);
    next[0] = self->last;
}

const hl_base_json_gap *hl_base_json_gaps_pass_other(hl_base_json_gaps *self, const char *p,
                                                     bool opens)
{
    const uint8_t *const next = self->items[self->last].next;
    for (int i = 1; i < HL_JSON_GAP_NEXT && next[i]; i++)
        if (hl_base_json_gap_is(&self->items[next[i]], p, opens)) {
            self->last = next[i];
            return &self->items[self->last];
        }
    return NULL;
}
