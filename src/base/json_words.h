/* Eight bytes of JSON looked at together, as one word, or sixteen. A NUL or a
 * quote must stand behind what is looked at. For json_in.c and json_scalars.c. */
#ifndef HAUL_BASE_JSON_WORDS_H
#define HAUL_BASE_JSON_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/* The high bit of each byte of a word of digits less '0' that is no digit; and, wrongly, of some
 * behind the first. */
static inline uint64_t hl_base_json_no_digits(uint64_t less_zero)
{
    return (less_zero | (less_zero + HL_JSON_EACH(0x7f - 9))) & HL_JSON_EACH(0x80);
}

/* How many digits stand at `p`, of eight. */
static inline int hl_base_json_digits(const char *p)
{
    const uint64_t others = hl_base_json_no_digits(hl_base_json_word(p) ^ HL_JSON_EACH('0'));
    return others ? hl_base_json_first(others) : 8;
}

/* The value of eight digits, each a byte, the first one lowest: neighbours are joined to numbers of
 * two digits, those to four, and those to eight. */
static inline uint64_t hl_base_json_value_of_digits(uint64_t digits)
{
    digits = (10 * digits + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (100 * digits + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(10000 * digits + (digits >> 32));
}

/* Appends the digits at `p`, eight at most, to *value. Returns how many bits of a word they are. */
static inline unsigned hl_base_json_add_digits(const char *p, uint64_t *value)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const uint64_t digits = hl_base_json_word(p) ^ HL_JSON_EACH('0');
    const uint64_t others = hl_base_json_no_digits(digits);
    const unsigned bits = others ? (unsigned)__builtin_ctzll(others) - 7 : 64;
    if (bits)
        *value = *value * powers[bits / 8] + hl_base_json_value_of_digits(digits << (64 - bits));
    return bits;
}

/* The end of the number at `p`, and its value times 10^places, if it is like nearly every number of
 * a profile: no sign, no exponent, at most 16 digits before the point (microseconds since 1970) and
 * `places`, of which there are 3 at most, behind it; else NULL. 32 bytes may be looked at. */
static inline const char *hl_base_json_short_number(const char *p, int places, int64_t *value)
{
    static const uint32_t powers[] = {1, 10, 100, 1000};
    const unsigned first = (unsigned char)*p - (unsigned)'0';
    if (first < 10 && (p[1] == ',' || p[1] == ']')) { /* one digit: many are */
        *value = (int64_t)((uint64_t)first * powers[places]);
        return p + 1;
    }
    uint64_t digits = 0;
    unsigned bits = hl_base_json_add_digits(p, &digits);
    /* JSON forbids leading zeros */
    if (!bits || (!first && bits > 8))
        return NULL;
    p += bits / 8;
    if (bits == 64) {
        bits = hl_base_json_add_digits(p, &digits);
        p += bits / 8;
        if (bits == 64 && (unsigned char)(*p - '0') < 10)
            return NULL;
    }
    uint64_t power = powers[places];
    if (*p == '.') {
        bits = hl_base_json_add_digits(++p, &digits);
        p += bits / 8;
        if (!bits || bits > 8 * (unsigned)places)
            return NULL;
        power = powers[(unsigned)places - bits / 8];
    }
    digits *= power; /* 19 digits at most */
    if ((*p | 0x20) == 'e' || digits > INT64_MAX)
        return NULL;
    *value = (int64_t)digits;
    return p;
}

/* The first byte that is no plain text: a quote, a backslash, a control character or beyond ASCII.
 */
#ifdef __SSE2__
/* Compared as signed bytes, those beyond ASCII are below a blank, too. */
static inline const char *hl_base_json_plain(const char *p)
{
    for (;; p += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)p);
        const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                      escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')),
                      others = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
        const int special = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, escapes), others));
        if (special)
            return p + __builtin_ctz((unsigned)special);
    }
}
#else
/* A byte's high bit is set in `special` where it is one of those, or stands behind one of those. */
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
#endif

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
