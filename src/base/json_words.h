/* Eight bytes of JSON looked at together, as one word. A NUL or a
 * quote must stand behind what is looked at. For json_in.c and json_scalars.c. */
#ifndef HAUL_BASE_JSON_WORDS_H
#define HAUL_BASE_JSON_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HL_JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The first byte is the lowest, so that counting trailing zeros finds the first match. */
static inline uint64_t hl_base_json_word(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Which byte of a word the lowest bit of `marks`, which is not 0, lies in. */
static inline int hl_base_json_first(uint64_t marks)
{
    return __builtin_ctzll(marks) / 8;
}

/* How many digits stand at `p`, of eight. */
static inline int hl_base_json_digits(const char *p)
{
    const uint64_t word = hl_base_json_word(p);
    /* each byte's high bit: above '9', below '0', or, wrongly, behind one that is */
    const uint64_t others =
        ((word + HL_JSON_EACH(0x7f - '9')) | (word - HL_JSON_EACH('0')) | word) &
        HL_JSON_EACH(0x80);
    return others ? hl_base_json_first(others) : 8;
}

/* The first byte that is no plain text: a quote, a backslash, a control character or beyond ASCII.
 * A byte's high bit is set in `special` where it is one of those, or stands behind one of those. */
static inline const char *hl_base_json_plain(const char *p)
{
    for (;; p += 8) {
        const uint64_t word = hl_base_json_word(p);
        const uint64_t special =
            (word | (word - HL_JSON_EACH(' ')) | ((word ^ HL_JSON_EACH('"')) - HL_JSON_EACH(1)) |
             ((word ^ HL_JSON_EACH('\\')) - HL_JSON_EACH(1))) &
            HL_JSON_EACH(0x80);
        if (special)
            return p + hl_base_json_first(special);
    }
}

/* The end of a value like nearly all: a text without escapes, a number without a sign or an
 * exponent, which stands before `end`; else NULL. */
static inline const char *hl_base_json_simple(const char *end, const char *p)
{
    if (*p == '"') {
        p = hl_base_json_plain(p + 1);
        return *p == '"' ? p + 1 : NULL;
    }
    const char *const first = p;
    int count = hl_base_json_digits(p);
    p += count;
    if (!count || (*first == '0' && count > 1))
        return NULL;
    while (count == 8)
        p += count = hl_base_json_digits(p);
    if (*p == '.') {
        p += 1 + (count = hl_base_json_digits(p + 1));
        if (!count || count == 8)
            return NULL;
    }
    return p < end && (*p | 0x20) != 'e' ? p : NULL;
}

#endif
