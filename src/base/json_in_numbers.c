/* Numbers of the document at hand, most of them in one look at eight bytes. */
#include <string.h>

#include "base/json_in.h"
#include "base/json_window.h"
#include "base/json_words.h"

static __attribute__((noinline)) bool take_scaled(hl_base_json_in *self, int places, int64_t *value)
{
    hl_base_json_text text;
    const hl_base_json_kind kind = hl_base_json_in_scalar(self, &text);
    return (kind == HL_JSON_NUMBER || kind == HL_JSON_STRING) &&
           hl_base_json_scaled(text, places, value);
}

bool hl_base_json_in_scaled(hl_base_json_in *self, int places, int64_t *value)
{
    const char *const p = self->at + (*self->at == ' ');
    int64_t number;
    const char *const end = self->status ? NULL : hl_base_json_short_number(p, places, &number);
    if (!end || end >= self->end)
        return take_scaled(self, places, value);
    self->value_at = hl_base_json_offset(self, p);
    self->at = end;
    *value = number;
    return true;
}

bool hl_base_json_in_remembered(hl_base_json_in *self, int places, hl_base_json_memo *memo,
                                int64_t *value)
{
    const uint64_t from = hl_base_json_offset(self, self->at);
    memo->length = 0;
    if (!hl_base_json_in_scaled(self, places, value))
        return false;
    const uint64_t length = hl_base_json_offset(self, self->at) - from;
    /* it is in the window still, and begins there */
    if (from >= self->offset && from == self->value_at && length < sizeof memo->text) {
        memcpy(memo->text, self->buffer + (from - self->offset), sizeof memo->text);
        memo->length = (uint8_t)length;
        memo->value = *value;
    }
    return true;
}
