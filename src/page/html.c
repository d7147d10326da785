/* Text made harmless, and scales of charts. Names in a profile are any bytes: whoever made the
 * profile must not be able to run a script in the page of who reads it, or to hide what it shows.
 */
#include "page/html.h"
#include <math.h>
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

/* What stands for a character of ASCII, by its code; NULL: itself. */
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
        const int length = haul_utf8_length(text);
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

void haul_html_text(const char *text, FILE *out)
{
    print_escaped(text, SIZE_MAX, entities, out);
}

void haul_html_text_cut(const char *text, size_t most, FILE *out)
{
    print_escaped(text, most, entities, out);
}

void haul_html_json_text(const char *text, size_t most, FILE *out)
{
    fputc('"', out);
    print_escaped(text, most, json_escapes, out);
    fputc('"', out);
}

double haul_scale_at(const haul_axis *scale, double value)
{
    const double share = scale->is_log ? log(value / scale->low) / log(scale->high / scale->low)
                                       : (value - scale->low) / (scale->high - scale->low);
    return scale->at_low + share * (scale->at_high - scale->at_low);
}

void haul_html_level(const haul_axis *across, double y, const char *text, FILE *out)
{
    fprintf(out,
            "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
            "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
            across->at_low, across->at_high, y, y, across->at_low - 8, y + 4, text);
}

void haul_html_mark(double x, int bottom, const char *text, FILE *out)
{
    fprintf(out,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
            "<text class=\"mid\" x=\"%.1f\" y=\"%d\">%s</text>\n",
            x, x, bottom, bottom + 5, x, bottom + 19, text);
}

double haul_nice_step(double span, int most)
{
    double step = pow(10, floor(log10(span / most)));
    static const double factors[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (span / (factors[i] * step) <= most * (1 + 1e-9))
            return factors[i] * step;
    return 10 * step;
}
