#include "base/json_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum {
    LONGEST_TEXT = 16 << 20,
    LARGEST_BUFFER = LONGEST_TEXT + HL_JSON_WINDOW_BYTES,
};

/* Where the document's beginning is still here, line and column can be told too. */
static const char *fail_offset(hl_base_json_in *self, uint64_t offset, const char *text)
{
    if (self->status)
        return NULL;
    self->status = haul_error_set(&self->error, HAUL_STATUS_BAD_INPUT, "%s at byte %llu", text,
                                  (unsigned long long)offset);
    hl_base_error_in_file(&self->error, self->file);
    /* Lines were not counted on the way, which would cost every byte for an error that seldom
     * comes. */
    int line = 1, column = 1;
    for (uint64_t i = 0; !self->offset && i < offset; i++) {
        const bool is_break = self->buffer[i] == '\n';
        line += is_break;
        column = is_break ? 1 : column + 1;
    }
    if (!self->offset)
        hl_base_error_at(&self->error, (hl_base_place){self->file, line, column});
    return NULL;
}

const char *hl_base_json_fail_at(hl_base_json_in *self, const char *place, const char *text)
{
    return fail_offset(self, hl_base_json_offset(self, place), text);
}

bool hl_base_json_in_fail_at(hl_base_json_in *self, uint64_t offset, const char *text)
{
    (void)fail_offset(self, offset, text);
    return false;
}

void hl_base_json_in_no_memory(hl_base_json_in *self)
{
    if (!self->status)
        self->status = hl_base_fail_no_memory(&self->error);
}

bool hl_base_json_fill(hl_base_json_in *self)
{
    if (!self->read || self->status)
        return false;
    /* A token that is being read starts at `hold`, so its first bytes stay through the move. */
    const char *const keep = self->hold ? self->hold : self->at;
    const size_t kept = (size_t)(self->end - keep), at = (size_t)(self->at - keep);
    if (kept > LONGEST_TEXT) {
        (void)hl_base_json_fail_at(self, keep, "a text of more than 16 MiB");
        return false;
    }
    self->offset += (uint64_t)(keep - self->buffer);
    memmove(self->buffer, keep, kept);
    /* Small rests are moved within the same buffer; only a text longer than half of it lets it
     * grow. */
    if (kept > self->capacity / 2 && self->capacity < LARGEST_BUFFER) {
        const size_t doubled = 2 * self->capacity;
        const size_t capacity = doubled < LARGEST_BUFFER ? doubled : LARGEST_BUFFER;
        char *const larger = realloc(self->buffer, capacity + HL_JSON_PADDING);
        if (!larger) {
            self->status = hl_base_fail_no_memory(&self->error);
            return false;
        }
        self->buffer = larger;
        self->capacity = capacity;
    }
    size_t got = 0;
    self->status =
        self->read(self->source, self->buffer + kept, self->capacity - kept, &got, &self->error);
    memset(self->buffer + kept + got, 0, HL_JSON_PADDING);
    self->at = self->buffer + at;
    self->end = self->buffer + kept + got;
    if (self->hold)
        self->hold = self->buffer;
    return got && !self->status;
}

const char *hl_base_json_look_ahead(hl_base_json_in *self, const char *p, size_t count)
{
    self->at = p;
    while ((size_t)(self->end - self->at) < count && hl_base_json_fill(self))
        ;
    return self->at;
}

const char *hl_base_json_fail_expected(hl_base_json_in *self, const char *p, const char *expected)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: expected %s",
                   p == self->end ? "JSON cut short" : "not JSON", expected);
    return hl_base_json_fail_at(self, p, text);
}

bool hl_base_json_make_buffer(hl_base_json_in *self, size_t size)
{
    self->capacity = size;
    self->buffer = malloc(size + HL_JSON_PADDING);
    if (!self->buffer)
        return false;
    memset(self->buffer, 0, HL_JSON_PADDING);
    self->at = self->end = self->buffer;
    return true;
}

void hl_base_json_in_close(hl_base_json_in *self)
{
    free(self->buffer);
    free(self->decoded);
    *self = (hl_base_json_in){0};
}

/* The byte-order mark, which RFC 8259 lets readers pass over. */
static haul_status pass_mark(hl_base_json_in *self, haul_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF";
    (void)hl_base_json_look_ahead(self, self->at, sizeof mark - 1);
    if (self->status && error)
        *error = self->error;
    /* The padding makes three bytes readable even in an empty document. */
    if (!memcmp(self->at, mark, sizeof mark - 1))
        self->at += sizeof mark - 1;
    return self->status;
}

haul_status hl_base_json_in_open(hl_base_json_in *self, const char *file, hl_base_json_read *read,
                                 void *source, haul_error *error)
{
    *self = (hl_base_json_in){.file = file, .read = read, .source = source};
    return hl_base_json_make_buffer(self, HL_JSON_WINDOW_BYTES) ? pass_mark(self, error)
                                                                : hl_base_fail_no_memory(error);
}

haul_status hl_base_json_in_open_memory(hl_base_json_in *self, const char *file, const char *text,
                                        size_t size, haul_error *error)
{
    *self = (hl_base_json_in){.file = file};
    if (!hl_base_json_make_buffer(self, size))
        return hl_base_fail_no_memory(error);
    /* memcpy must not be given NULL, which an empty document may be. */
    if (size)
        memcpy(self->buffer, text, size);
    memset(self->buffer + size, 0, HL_JSON_PADDING);
    self->end += size;
    return pass_mark(self, error);
}
