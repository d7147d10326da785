/* Numbers as reports print them: three digits, for times rarely repeat to more, a unit that
 * leaves one to three of them before the point, and "-" for what is not known. All are texts by
 * value, so that a sentence needs no buffers. */
#include "report/wording.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "haul/analysis.h"
#include "haul/units.h"

enum { PLACE_WIDTH = 48 };

static hl_report_words say_quantity(double value, haul_dimension dimension, int digits)
{
    hl_report_words words = {"-"};
    if (isfinite(value))
        haul_quantity_format(value, dimension, digits, words.text, sizeof words.text);
    return words;
}

/* The unit stays the second, so above 1000 the digits are grouped as those of counts are. */
static hl_report_words say_seconds(double s, int digits)
{
    hl_report_words words;
    /* From here three digits would be "1e+03", and there is no unit above the second. */
    if (!(s >= 999.5 && s < 1e15))
        return say_quantity(s, HAUL_DIM_SECONDS, digits);
    snprintf(words.text, sizeof words.text, "%.40s s",
             hl_report_say_count((uint64_t)llround(s)).text);
    return words;
}

hl_report_words hl_report_say_seconds(double s)
{
    return say_seconds(s, 3);
}

hl_report_words hl_report_say_time(int64_t ns)
{
    return hl_report_say_seconds((double)ns * 1e-9);
}

/* A fourth digit: sizes up to 1023 of a unit are exact, and most sizes are whole. */
hl_report_words hl_report_say_bytes(uint64_t bytes)
{
    return say_quantity((double)bytes, HAUL_DIM_BYTES, 4);
}

hl_report_words hl_report_say_rate(double rate_Bps)
{
    /* A rate of 0 is one that is not known: nothing moved, or it took no time. */
    return say_quantity(rate_Bps > 0 ? rate_Bps : (double)NAN, HAUL_DIM_RATE, 3);
}

hl_report_words hl_report_say_count(uint64_t count)
{
    hl_report_words words;
    haul_count_format(count, words.text, sizeof words.text);
    return words;
}

hl_report_words hl_report_say_number_of(uint64_t count, const char *one, const char *plural)
{
    hl_report_words words;
    haul_number_of(count, one, plural, words.text, sizeof words.text);
    return words;
}

/* Three digits of a factor, those behind the point where they are 0, too: a factor and the ends of
 * its interval are rounded alike. */
static hl_report_words say_factor(double factor)
{
    hl_report_words words;
    const int places = factor < 0.9995 ? 3 : factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0;
    (void)snprintf(words.text, sizeof words.text, "%.*fx", places, factor);
    return words;
}

/* Half a percent is within what runs repeat to. */
hl_report_words hl_report_say_change(int64_t from_ns, int64_t to_ns, int64_t low_ns,
                                     int64_t high_ns)
{
    const double from = (double)from_ns, to = (double)to_ns;
    const double low = (double)low_ns, high = (double)high_ns;
    const double factor = to <= from ? from / to : to / from;
    hl_report_words words = {"the same time"};
    if (factor >= 1.005)
        /* The slow end of the interval is the smaller gain. */
        (void)snprintf(words.text, sizeof words.text, "%.12s %s (%.12s to %.12s)",
                       say_factor(factor).text, to <= from ? "faster" : "slower",
                       say_factor(to <= from ? from / high : low / from).text,
                       say_factor(to <= from ? from / low : high / from).text);
    else if (low < 0.995 * from || high > 1.005 * from)
        (void)snprintf(words.text, sizeof words.text, "the same time (%+.1f to %+.1f %%)",
                       100 * (low / from - 1), 100 * (high / from - 1));
    return words;
}

/* A fourth digit where three make the ends equal, and no interval where four do; the unit stands
 * once where both have the same. */
hl_report_words hl_report_say_interval(double low_s, double high_s)
{
    hl_report_words low = hl_report_say_seconds(low_s), high = hl_report_say_seconds(high_s),
                    words = low;
    if (!strcmp(low.text, high.text)) {
        low = say_seconds(low_s, 4);
        high = say_seconds(high_s, 4);
    }
    if (!strcmp(low.text, high.text))
        return words;
    /* "9.42 to 9.61 us", not "9.42 us to 9.61 us". */
    char *unit = strrchr(low.text, ' ');
    const char *high_unit = strrchr(high.text, ' ');
    if (unit && high_unit && !strcmp(unit, high_unit))
        *unit = '\0';
    snprintf(words.text, sizeof words.text, "%.24s to %.24s", low.text, high.text);
    return words;
}

hl_report_words hl_report_say_estimate(double at_s, double low_s, double high_s)
{
    hl_report_words words = hl_report_say_seconds(at_s);
    if (!strcmp(say_seconds(low_s, 4).text, say_seconds(high_s, 4).text))
        return words;
    if (!strcmp(hl_report_say_seconds(low_s).text, hl_report_say_seconds(high_s).text))
        words = say_seconds(at_s, 4);
    const hl_report_words at = words;
    (void)snprintf(words.text, sizeof words.text, "%.16s (%.40s)", at.text,
                   hl_report_say_interval(low_s, high_s).text);
    return words;
}

hl_report_words hl_report_say_copies(haul_direction direction, haul_memory memory)
{
    hl_report_words words = {"unknown"};
    if (direction != HAUL_DIRECTION_UNKNOWN)
        snprintf(words.text, sizeof words.text, "%s %s", haul_direction_text(direction),
                 haul_memory_text(memory));
    return words;
}

/* Decades of size in decimal units, as AHEAD's Figure 1 has them. */
hl_report_words hl_report_say_decade(int decade)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static const char *const ranges[] = {"1-10", "10-100", "100-1000"};
    hl_report_words words;
    snprintf(words.text, sizeof words.text, "%s %s", decade ? ranges[decade % 3] : "0-10",
             /* Three decades to each unit. */
             units[decade / 3]);
    return words;
}

uint64_t hl_report_decade_least(int decade)
{
    uint64_t least = decade ? 1 : 0;
    for (int i = 0; i < decade; i++)
        /* Exact, which pow need not be. */
        least *= 10;
    return least;
}

uint64_t hl_report_decade_most(int decade)
{
    /* The last decade has no end. */
    return decade + 1 < HAUL_ANALYSIS_DECADES ? hl_report_decade_least(decade + 1) - 1 : UINT64_MAX;
}

double hl_report_share_of(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

hl_report_words hl_report_say_share(double share)
{
    hl_report_words words = {"-"};
    if (!isfinite(share))
        return words;
    /* It would round to 0.0 %, and something is not nothing. */
    if (share > 0 && share < 0.0005)
        return (hl_report_words){"<0.1 %"};
    snprintf(words.text, sizeof words.text, "%.1f %%", 100 * share);
    return words;
}

double hl_report_share_ns(int64_t part_ns, int64_t whole_ns)
{
    return hl_report_share_of((double)part_ns, (double)whole_ns);
}

hl_report_words hl_report_say_share_ns(int64_t part_ns, int64_t whole_ns)
{
    return hl_report_say_share(hl_report_share_ns(part_ns, whole_ns));
}

hl_report_words hl_report_say_bar(double share, int width)
{
    hl_report_words words = {""};
    const int length = isfinite(share) ? (int)lround(share * width) : 0;
    memset(words.text, '#', (size_t)length);
    words.text[length] = '\0';
    /* Something that is too little for a sign still shows. */
    return share > 0 && !length ? (hl_report_words){"."} : words;
}

const char *hl_report_say_place(const haul_place *place, char buffer[HL_REPORT_PLACE_BYTES])
{
    const struct {
        const char *name;
        const char *joint;
        double share;
    } parts[] = {{place->operator_name, "", place->operator_share},
                 {place->range, " in ", place->range_share},
                 {place->line, " at ", place->line_share}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char shown[HL_REPORT_PLACE_BYTES], share[16] = "";
        if (!parts[i].name)
            continue;
        hl_report_shorten_name(parts[i].name, PLACE_WIDTH, shown, sizeof shown);
        if (parts[i].share < 0.95)
            snprintf(share, sizeof share, " (%.0f %%)", 100 * parts[i].share);
        used += (size_t)snprintf(buffer + used, HL_REPORT_PLACE_BYTES - used, "%s%s%s",
                                 used ? parts[i].joint : "", shown, share);
    }
    return used ? buffer : NULL;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static bool is_lambda(const char *text)
{
    return (*text == '[' || *text == '{') && starts_with(text + 1, "lambda(");
}

/* How many bytes at `text` say little of a long name: casts, parameters, the names of namespaces.
 * *instead is what stands for them. A demangled name of a template in a library such as Thrust or
 * CUTLASS is thousands of characters, of which its parameters are nearly all. */
static size_t measure_clutter(const char *text, bool after_word, const char **instead)
{
    *instead = "";
    if (is_lambda(text)) /* its bracket; the number behind it tells it from others */
        return 1;
    if (*text == ')') /* the end of an instance; other parentheses go as a whole */
        return 1;
    if (starts_with(text, " (instance ")) { /* nvcc numbers the lambdas of a function so */
        *instead = "#";
        return strlen(" (instance ");
    }
    if (*text == '(') {
        /* up to its partner, or to the end where there is none: profilers cut long names off */
        size_t length = 0;
        int depth = 0;
        do {
            depth += (text[length] == '(') - (text[length] == ')');
            length++;
        } while (depth && text[length]);
        if (starts_with(text, "(anonymous namespace)::"))
            /* "::" belongs to the name of the namespace. */
            return length + 2;
        /* Before a word, parentheses are a cast in a template's argument. */
        const bool is_cast = is_word(text[length]), is_last = !text[length];
        const char *behind = text + length;
        const bool is_lambdas = *behind == '#' || starts_with(behind, " (instance ") ||
                                (starts_with(behind, "::") && is_lambda(behind + 2));
        *instead = is_cast || is_last || is_lambdas ? "" : "()";
        return length;
    }
    size_t word = 0;
    while (!after_word && is_word(text[word]))
        word++;
    if (word && starts_with(text, "void "))
        return strlen("void ");
    return word && starts_with(text + word, "::") && is_word(text[word + 2]) ? word + 2 : 0;
}

/* Without its clutter; where it fits without "void" alone, with the rest. */
static void strip_name(const char *name, bool is_short, char *buffer, size_t size)
{
    size_t used = 0;
    bool after_word = false, in_lambda = false;
    /* Room for "()", the longest replacement, and the NUL. */
    while (*name && used + 3 < size) {
        const char *instead = "";
        const bool ends_lambda = in_lambda && (*name == ']' || *name == '}');
        in_lambda = !ends_lambda && (in_lambda || is_lambda(name));
        const size_t clutter = is_short      ? 0
                               : ends_lambda ? 1
                                             : measure_clutter(name, after_word, &instead);
        after_word = !clutter && is_word(*name);
        if (!clutter) {
            buffer[used++] = *name++;
            continue;
        }
        used += (size_t)snprintf(buffer + used, size - used, "%s", instead);
        name += clutter;
    }
    buffer[used] = '\0';
}

/* A template's return type stands before its name, and is void for every kernel. */
static const char *behind_void(const char *name)
{
    return name + (starts_with(name, "void ") ? strlen("void ") : 0);
}

void hl_report_clean_name(const char *name, char *buffer, size_t size)
{
    strip_name(behind_void(name), false, buffer, size);
}

/* A source line says most without the folders of its file: "forward.py:42 in forward". */
static const char *behind_folders(const char *name)
{
    const char *slash = NULL, *at = name;
    for (; *at && *at != ' ' && *at != '('; at++)
        slash = *at == '/' ? at : slash;
    return slash && !strncmp(at, " in ", 4) && isdigit((unsigned char)at[-1]) ? slash + 1 : name;
}

char *hl_report_shorten_name(const char *name, size_t width, char *buffer, size_t size)
{
    if (hl_base_utf8_count(name) > width)
        name = behind_folders(name);
    if (hl_base_utf8_count(name) <= width) {
        snprintf(buffer, size, "%s", name);
        return buffer;
    }
    name = behind_void(name);
    strip_name(name, hl_base_utf8_count(name) <= width, buffer, size);
    if (hl_base_utf8_count(buffer) <= width)
        return buffer;
    /* the beginning says most; characters of several bytes stay whole */
    char *end = buffer;
    for (size_t i = 0; i + 2 < width; i++) {
        const int length = hl_base_utf8_length(end);
        end += length ? length : 1;
    }
    memcpy(end, "..", 3);
    return buffer;
}

/* The bytes of the next word, and in *width its characters, of which in UTF-8 there are fewer; no
 * more of them than `most`. A number and its percent sign are one word. */
static size_t next_word(const char *text, size_t most, size_t *width)
{
    size_t length = strcspn(text, " ");
    if (!strncmp(text + length, " %", 2))
        length += 2 + strcspn(text + length + 2, " ");
    const char *at = text;
    for (*width = 0; at < text + length && *width < most; ++*width) {
        const int bytes = hl_base_utf8_length(at);
        at += bytes ? bytes : 1;
    }
    return (size_t)(at - text);
}

/* A word that is longer than `longest` goes on in the next line; than a line, stands alone on one
 * and passes the margin. */
static void print_words(size_t page, size_t indent, size_t longest, const char *text, FILE *out)
{
    size_t column = indent;
    while (*text) {
        size_t width;
        const size_t length = next_word(text, longest, &width);
        const bool starts_line = column == indent;
        if (!starts_line && column + 1 + width > page) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!starts_line) {
            fputc(' ', out);
            column++;
        }
        hl_base_utf8_print(text, length, out);
        column += width;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

/* Lines are broken at spaces alone, for a path or a kernel's name has to be copied whole. */
void hl_report_print_hanging(size_t page, size_t indent, const char *text, FILE *out)
{
    print_words(page, indent, SIZE_MAX, text, out);
}

void hl_report_print_column(size_t page, size_t indent, const char *text, FILE *out)
{
    print_words(page, indent, page > indent ? page - indent : 1, text, out);
}

void hl_report_print_wrapped(size_t page, const char *first, const char *text, FILE *out)
{
    fputs(first, out);
    hl_report_print_hanging(page, strlen(first), text, out);
}
