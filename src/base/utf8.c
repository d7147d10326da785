/* Names of kernels and files come from profiles and may hold any bytes: each function copes. */
#include "base/utf8.h"

#include <stdbool.h>

/* No overlong forms, no surrogates, nothing above U+10FFFF. */
int hl_base_utf8_length(const char *text)
{
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x80)
        return 1;
    /* RFC 3629, section 4: what the second byte may be after a first byte */
    const unsigned char second = (unsigned char)text[1];
    /* E0 and F0 would allow overlong forms, ED surrogates, F4 what lies above U+10FFFF. */
    const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    /* C0 and C1 begin overlong forms alone. */
    if (first < 0xc2 || first > 0xf4 || second < low || second > high)
        return 0;
    const int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (int i = 2; i < length; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

size_t hl_base_utf8_count(const char *text)
{
    size_t count = 0;
    while (*text) {
        const int length = hl_base_utf8_length(text);
        /* An invalid byte is passed alone: the next may begin a valid character. */
        text += length ? length : 1;
        count++;
    }
    return count;
}

void hl_base_utf8_print(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length && text[i];) {
        /* `length` may end within a character of a cut text: it is then printed whole, not
         * halved. */
        const int bytes = hl_base_utf8_length(text + i);
        /* C1 control characters too, U+0080 to U+009F: some terminals obey U+009B as the start of
         * a sequence. */
        const unsigned char first = (unsigned char)text[i];
        const bool is_control =
            first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)text[i + 1] < 0xa0);
        if (!bytes || is_control)
            fputc('?', out);
        else
            fwrite(text + i, 1, (size_t)bytes, out);
        i += bytes ? (size_t)bytes : 1;
    }
}
