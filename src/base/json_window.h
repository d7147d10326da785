/* The window of a reader of JSON into its document, and its errors. For json_in.c. */
#ifndef HAUL_BASE_JSON_WINDOW_H
#define HAUL_BASE_JSON_WINDOW_H

#include "base/json_in.h"

enum {
    HL_JSON_WINDOW_BYTES = 256 * 1024, /* fits the second cache */
    HL_JSON_PADDING = 64, /* behind the end, so that words and gaps can be looked at anywhere */
};

/* The offset of a place of the window in the document. */
static inline uint64_t hl_base_json_offset(const hl_base_json_in *self, const char *place)
{
    return self->offset + (uint64_t)(place - self->buffer);
}

/* Room for `size` bytes and padding; false where there is none. */
bool hl_base_json_make_buffer(hl_base_json_in *self, size_t size);

/* Brings more bytes behind those that are held. False at the end of the document, and after a
 * failure. All pointers into the buffer but the reader's own are void afterwards. */
bool hl_base_json_fill(hl_base_json_in *self);

/* Makes at least `count` bytes follow `p`, where the document has so many. Returns its new place.
 */
const char *hl_base_json_look_ahead(hl_base_json_in *self, const char *p, size_t count);

/* Fails at a place of the window. Return NULL. */
const char *hl_base_json_fail_at(hl_base_json_in *self, const char *place, const char *text);
const char *hl_base_json_fail_expected(hl_base_json_in *self, const char *p, const char *expected);

#endif
