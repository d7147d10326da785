/* Numbers are read exactly, in integers: times of profiles are microseconds with three decimals,
 * which a double cannot hold. */
#include "base/json_scalars.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* The value of four hexadecimal digits, or -1. */
static int hex4(const char *p)
{
    char digits[5] = "";
    for (int i = 0; i < 4; i++) {
        /* Digit by digit, since strtol would also take blanks, a sign or "0x". */
        if (!isxdigit((unsigned char)p[i]))
            return -1;
        digits[i] = p[i];
    }
    return (int)strtol(digits, NULL, 16);
}

long hl_base_json_escaped(const char *p, int *length)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    *length = 2;
    if (p[1] != 'u') {
        const char *const name = p[1] ? strchr(names, p[1]) : NULL;
        return name ? values[name - names] : -1;
    }
    const int first = hex4(p + 2);
    *length = 6;
    /* Above U+FFFF a character is two escapes, a high half and then a low one (RFC 8259, section
     * 7). A half alone stands for no character, and UTF-8 has no bytes for it. */
    if (first < 0 || (first >= 0xdc00 && first < 0xe000))
        return -1;
    if (first < 0xd800 || first >= 0xe000)
        return first;
    const int second = p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
    *length = 12;
    return second >= 0xdc00 && second < 0xe000
               ? 0x10000 + ((first - 0xd800L) << 10) + (second - 0xdc00L)
               : -1;
}

static size_t put_utf8(char *to, unsigned long code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    /* As many bytes as UTF-8 needs; surrogates were joined before. */
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(heads[length] | code);
    return length;
}

/* No escape is shorter than what it stands for. */
hl_base_json_text hl_base_json_unescape(hl_base_json_text text, char *to)
{
    const char *from = text.bytes, *const end = from + text.length;
    char *at = to;
    while (from < end) {
        int length = 1;
        if (*from == '\\')
            at += put_utf8(at, (unsigned long)hl_base_json_escaped(from, &length));
        else
            *at++ = *from;
        from += length;
    }
    *at = '\0';
    return (hl_base_json_text){to, (size_t)(at - to)};
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* The significant digits of a number, as far as 64 bits hold them, and the power of ten of the
 * last.
 */
typedef struct decimal {
    uint64_t digits;
    int power;
    bool negative;
} decimal;

/* Reads digits, of which those behind the point lower the power. */
static const char *read_digits(const char *p, const char *end, bool fraction, decimal *number)
{
    for (; p < end && is_digit(*p); p++) {
        /* Once a digit does not fit, `digits` stays and all later ones are dropped too: they lie
         * behind the 19th. */
        const bool kept = number->digits < UINT64_MAX / 10;
        if (kept)
            number->digits = 10 * number->digits + (uint64_t)(*p - '0');
        number->power += !kept && !fraction;
        number->power -= kept && fraction;
    }
    return p;
}

static const char *read_power(const char *p, const char *end, int *power)
{
    /* Far beyond any double or 64-bit number, and far below what could overflow an int. */
    enum { LARGEST = 1000000 };
    const bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end)
        return NULL;
    int value = 0;
    for (; p < end && is_digit(*p); p++)
        value = value < LARGEST ? 10 * value + (*p - '0') : value;
    *power += negative ? -value : value;
    return p;
}

static bool read_decimal(hl_base_json_text text, decimal *number)
{
    const char *p = text.bytes, *const end = p + text.length;
    *number = (decimal){.negative = p < end && *p == '-'};
    p += number->negative;
    /* JSON forbids leading zeros; "0" and "0.5" are fine. */
    if (p == end || !is_digit(*p) || (*p == '0' && p + 1 < end && is_digit(p[1])))
        return false;
    p = read_digits(p, end, false, number);
    if (p < end && *p == '.') {
        if (p + 1 == end || !is_digit(p[1]))
            return false;
        p = read_digits(p + 1, end, true, number);
    }
    if (p < end && (*p == 'e' || *p == 'E'))
        p = read_power(p + 1, end, &number->power);
    return p == end;
}

bool hl_base_json_scaled(hl_base_json_text text, int places, int64_t *value)
{
    decimal number;
    if (!read_decimal(text, &number))
        return false;
    uint64_t digits = number.digits;
    int power = number.power + places;
    /* Rounded by the last digit that is cut off. The loop goes on with 0 digits until `up` belongs
     * to that last one: 0.09 with no places is 0, not 1. */
    bool up = false;
    for (; power < 0 && (digits || up); power++) {
        up = digits % 10 >= 5;
        digits /= 10;
    }
    digits += up;
    /* 0 stays 0 for any power: "0e999999" is valid and must neither overflow nor take long. */
    for (; power > 0 && digits; power--) {
        if (digits > INT64_MAX / 10)
            return false;
        digits *= 10;
    }
    if (digits > INT64_MAX)
        return false;
    *value = number.negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

bool hl_base_json_double(hl_base_json_text text, double *value)
{
    /* strtod alone would take "inf", hexadecimal and a leading '+', which are no numbers of
     * JSON. */
    decimal checked;
    if (!read_decimal(text, &checked))
        return false;
    char *end;
    const double number = strtod(text.bytes, &end);
    /* Some byte that is no part of the number stands behind it, so that strtod stops there. */
    if (end != text.bytes + text.length || !isfinite(number))
        return false;
    *value = number;
    return true;
}
