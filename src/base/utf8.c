#include "base/utf8.h"

#include <stdbool.h>

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* RFC 3629, section 4: no overlong forms, no surrogates, nothing above U+10FFFF. */
int haul_utf8_length(const char *text)
{
    const unsigned char first = (unsigned char)text[0];
    const unsigned char second = first ? (unsigned char)text[1] : 0;
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return continues(text[1]) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f))
            return 0;
        return continues(text[1]) && continues(text[2]) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
            return 0;
        return continues(text[1]) && continues(text[2]) && continues(text[3]) ? 4 : 0;
    }
    return 0;
}

size_t haul_utf8_count(const char *text)
{
    size_t count = 0;
    while (*text) {
        const int length = haul_utf8_length(text);
        text += length ? length : 1;
        count++;
    }
    return count;
}
