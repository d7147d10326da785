/* Headers of .npy files: a dictionary of three entries as Python writes it. */
#include "tile/tile_npy.h"

#include <string.h>

/* The rest of the line. */
typedef struct cursor {
    const char *at;
    const char *end;
} cursor;

static void skip_blanks(cursor *self)
{
    while (self->at < self->end && (*self->at == ' ' || *self->at == '\n' || *self->at == '\t'))
        self->at++;
}

/* Takes the word, with blanks before it. */
static bool take_word(cursor *self, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(self);
    if ((size_t)(self->end - self->at) < length || memcmp(self->at, word, length) != 0)
        return false;
    self->at += length;
    return true;
}

static bool take_number(cursor *self, uint64_t *value)
{
    const char *first;
    skip_blanks(self);
    first = self->at;
    *value = 0;
    while (self->at < self->end && *self->at >= '0' && *self->at <= '9') {
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, (uint64_t)(*self->at++ - '0'), value))
            return false;
    }
    return self->at > first;
}

/* '<f8' */
static bool take_type(cursor *self, hl_tile_npy *header)
{
    if (!take_word(self, "'") || self->end - self->at < 3 || !strchr("<>|=", *self->at) ||
        !strchr("biufcVSU", self->at[1]) || !self->at[0] || !self->at[1])
        return false;
    header->order = *self->at++;
    header->letter = *self->at++;
    return take_number(self, &header->bytes) && header->bytes && take_word(self, "'");
}

/* (3, 2,) */
static bool take_shape(cursor *self, hl_tile_npy *header)
{
    if (!take_word(self, "("))
        return false;
    header->dims = 0;
    while (!take_word(self, ")")) {
        if (header->dims == HL_TILE_NPY_DIMS || !take_number(self, &header->size[header->dims++]))
            return false;
        if (!take_word(self, ","))
            return take_word(self, ")");
    }
    return true;
}

bool hl_tile_npy_open(const unsigned char *preamble, size_t *begin, size_t *length)
{
    const unsigned version = preamble[6];
    if (memcmp(preamble, "\x93NUMPY", 6) != 0 || version < 1 || version > 3)
        return false;
    *begin = version == 1 ? 10 : 12;
    *length = preamble[8] | (size_t)preamble[9] << 8;
    if (version > 1)
        *length |= (size_t)preamble[10] << 16 | (size_t)preamble[11] << 24;
    return *length <= HL_TILE_NPY_LINE;
}

bool hl_tile_npy_parse(const char *line, size_t length, hl_tile_npy *header)
{
    cursor self = {line, line + length};
    bool has_type = false, has_order = false, has_shape = false;
    *header = (hl_tile_npy){.dims = 0};
    if (!take_word(&self, "{"))
        return false;
    while (!take_word(&self, "}")) {
        bool *has = take_word(&self, "'descr':")           ? &has_type
                    : take_word(&self, "'fortran_order':") ? &has_order
                    : take_word(&self, "'shape':")         ? &has_shape
                                                           : NULL;
        if (!has || *has ||
            !(has == &has_type ? take_type(&self, header)
              : has == &has_order
                  ? (header->is_fortran = take_word(&self, "True")) || take_word(&self, "False")
                  : take_shape(&self, header)))
            return false;
        *has = true;
        if (!take_word(&self, ",")) {
            if (!take_word(&self, "}"))
                return false;
            break;
        }
    }
    skip_blanks(&self);
    return has_type && has_order && has_shape && self.at == self.end;
}
