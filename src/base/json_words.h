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

/* The value of the first `count` bytes, 1 to 8 digits, of a word: neighbours are joined to numbers
 * of two digits, those to four, and those to eight. */
static inline uint64_t hl_base_json_value_of_digits(uint64_t word, int count)
{
    word = (word - HL_JSON_EACH('0')) << (64 - 8 * count);
    word = (10 * word + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    word = (100 * word + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (10000 * word + (word >> 32)) & UINT64_C(0xffffffff);
}

/* Appends the digits at `p` to *value. Returns how many. */
static inline int hl_base_json_add_digits(const char *p, uint64_t *value)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const int count = hl_base_json_digits(p);
    if (count)
        *value = *value * powers[count] + hl_base_json_value_of_digits(hl_base_json_word(p), count);
    return count;
}

/* The end of the number at `p`, and its value times 10^places, if it is like nearly every number of
 * a profile: no sign, no exponent, at most 15 digits before the point and `places`, of which there
 * are 3 at most, behind it; else NULL. 32 bytes may be looked at. */
static inline const char *hl_base_json_short_number(const char *p, int places, int64_t *value)
{
    static const uint32_t powers[] = {1, 10, 100, 1000};
    if ((unsigned char)(*p - '0') < 10 && (p[1] == ',' || p[1] == ']')) { /* one digit: many are */
        *value = (*p - '0') * (int64_t)powers[places];
        return p + 1;
    }
    uint64_t digits = 0;
    const char *end = p;
    int count = hl_base_json_add_digits(p, &digits), behind = 0;
    end += count;
    if (count == 8)
        end += count = hl_base_json_add_digits(end, &digits);
    /* JSON forbids leading zeros */
    if (end == p || count == 8 || (*p == '0' && end > p + 1))
        return NULL;
    if (*end == '.') {
        behind = hl_base_json_add_digits(++end, &digits);
        end += behind;
        if (!behind || behind > places)
            return NULL;
    }
    if ((*end | 0x20) == 'e')
        return NULL;
    *value = (int64_t)(digits * powers[places - behind]);
    return end;
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
