/* Text made harmless. Names in a profile are any bytes: whoever made the
 * profile must not be able to run a script in the page of who reads it, or to hide what it shows.
 */
#include "page/html.h"

#include <stdbool.h>

#include "base/utf8.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Controls of ASCII and of ISO 8859-1, what turns the direction of writing (U+202A to U+202E,
 * U+2066 to U+2069), ends of lines that are none in HTML (U+2028, U+2029), and what is no
 * character. */
static bool is_harmful(const char *text, int length)
{
    const unsigned char *c = (const unsigned char *)text;
    if (length == 1)
        return *c < 0x20 || *c == 0x7f;
    if (length == 2)
        return *c == 0xc2 && c[1] < 0xa0;
    if (length == 3 && *c == 0xe2 && c[1] == 0x80)
        return c[2] >= 0xa8 && c[2] <= 0xae;
    if (length == 3 && *c == 0xe2 && c[1] == 0x81)
        return c[2] >= 0xa6 && c[2] <= 0xa9;
    return length == 3 && *c == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
}

/* Replacements of ASCII's characters, by code; NULL: itself. */
typedef const char *escapes[128];

static const escapes entities = {
    ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
static const escapes json_escapes = {
    ['"'] = "\\\"", ['\\'] = "\\\\", ['<'] = "\\u003c", ['>'] = "\\u003e", ['&'] = "\\u0026"};

static void print_escaped(const char *text, size_t most, const escapes table, FILE *out)
{
    for (size_t count = 0; *text; count++) {
        if (count == most) {
            fputs("\xe2\x80\xa6", out); /* U+2026 */
            return;
        }
        const int length = hl_base_utf8_length(text);
        const char *escape = length == 1 ? table[(unsigned char)*text] : NULL;
        if (!length || is_harmful(text, length))
            fputs(replacement, out);
        else if (escape)
            fputs(escape, out);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length ? length : 1;
    }
}

void hl_page_html_text(const char *text, FILE *out)
{
    print_escaped(text, SIZE_MAX, entities, out);
}

void hl_page_html_text_cut(const char *text, size_t most, FILE *out)
{
    print_escaped(text, most, entities, out);
}

void hl_page_html_json_text(const char *text, size_t most, FILE *out)
{
    fputc('"', out);
    print_escaped(text, most, json_escapes, out);
    fputc('"', out);
}
