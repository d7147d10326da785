/* Commas and indents are written before a value, by whether one stands before it: no caller keeps
 * count. */
#include "base/json_out.h"

#include <inttypes.h>
#include <math.h>

#include "base/utf8.h"

/* A writer is a value: nothing has to be freed, and pieces can be written around it. */
hl_base_json hl_base_json_begin(FILE *out)
{
    return (hl_base_json){.out = out};
}

bool hl_base_json_end(hl_base_json *json)
{
    fputc('\n', json->out);
    /* Asked once at the end: stdio keeps the first failure. */
    return !ferror(json->out);
}

static void indent(hl_base_json *json)
{
    fprintf(json->out, "\n%*s", 2 * json->depth, "");
}

/* Writes the comma, line and indent between this value and the one before. */
static void separate(hl_base_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (!json->depth)
        return;
    /* `has_items` of the level, and not a count of the caller's, decides about the comma. */
    if (json->has_items[json->depth])
        fputc(',', json->out);
    json->has_items[json->depth] = true;
    indent(json);
}

static void open_level(hl_base_json *json, char bracket)
{
    separate(json);
    fputc(bracket, json->out);
    json->depth++;
    json->has_items[json->depth] = false;
}

static void close_level(hl_base_json *json, char bracket)
{
    const bool had_items = json->has_items[json->depth];
    json->depth--;
    /* An empty object or array stays on one line: {} and []. */
    if (had_items)
        indent(json);
    fputc(bracket, json->out);
}

void hl_base_json_open_object(hl_base_json *json)
{
    open_level(json, '{');
}

void hl_base_json_close_object(hl_base_json *json)
{
    close_level(json, '}');
}

void hl_base_json_open_array(hl_base_json *json)
{
    open_level(json, '[');
}

void hl_base_json_close_array(hl_base_json *json)
{
    close_level(json, ']');
}

/* Runs of ASCII are written as they are. */
static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        size_t plain = 0;
        while (text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' &&
               text[plain] != '\\')
            plain++;
        fwrite(text, 1, plain, out);
        text += plain;
        if (!*text)
            break;
        const int length = hl_base_utf8_length(text);
        if (!length)
            /* An escape, so that the output stays valid UTF-8 whatever a kernel's name holds. */
            fputs("\\ufffd", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        /* DEL needs no escape in JSON, but moves the cursor where the output is shown in a
         * terminal. */
        else if ((unsigned char)*text < 0x20 || *text == 0x7f)
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length ? length : 1;
    }
    fputc('"', out);
}

void hl_base_json_key(hl_base_json *json, const char *key)
{
    separate(json);
    write_text(json->out, key);
    fputs(": ", json->out);
    json->after_key = true;
}

void hl_base_json_string(hl_base_json *json, const char *text)
{
    separate(json);
    if (text)
        write_text(json->out, text);
    else
        fputs("null", json->out);
}

void hl_base_json_number(hl_base_json *json, double value)
{
    separate(json);
    /* Nine digits: times below a second keep their nanoseconds; JSON knows neither NaN nor
     * infinity. */
    if (isfinite(value))
        fprintf(json->out, "%.9g", value);
    else
        fputs("null", json->out);
}

void hl_base_json_unsigned(hl_base_json *json, uint64_t value)
{
    separate(json);
    fprintf(json->out, "%" PRIu64, value);
}

void hl_base_json_null(hl_base_json *json)
{
    separate(json);
    fputs("null", json->out);
}

void hl_base_json_put_string(hl_base_json *json, const char *key, const char *text)
{
    hl_base_json_key(json, key);
    hl_base_json_string(json, text);
}

void hl_base_json_bool(hl_base_json *json, bool value)
{
    separate(json);
    fputs(value ? "true" : "false", json->out);
}

void hl_base_json_ns(hl_base_json *json, int64_t ns)
{
    /* From the integer: "%.9g" of a double would lose the nanoseconds of all times above one
     * second. */
    char digits[24];
    snprintf(digits, sizeof digits, "%09" PRId64, ns % 1000000000);
    for (int end = 9; end && digits[end - 1] == '0'; end--)
        digits[end - 1] = '\0';
    separate(json);
    fprintf(json->out, "%" PRId64 "%s%s", ns / 1000000000, *digits ? "." : "", digits);
}
