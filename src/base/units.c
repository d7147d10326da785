/* Powers of 1024 for sizes and of 1000 for rates are what the field writes: a link of "12 GB/s"
 * moves 12e9 bytes, a buffer of "64 MiB" has 2^26. */
#include "haul/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"

typedef struct unit {
    const char *name;
    double scale;
} unit;

/* The units of each dimension, largest first: the order in which a value is formatted. Rows
 * after `formats` are read only. The decimal units of sizes are read, and never chosen here for
 * writing. */
static const unit bytes_units[] = {{"TiB", 1099511627776.0},
                                   {"GiB", 1073741824.0},
                                   {"MiB", 1048576.0},
                                   {"KiB", 1024.0},
                                   {"B", 1},
                                   {"kB", 1e3},
                                   {"KB", 1e3},
                                   {"MB", 1e6},
                                   {"GB", 1e9},
                                   {"TB", 1e12}};
static const unit seconds_units[] = {
    {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
static const unit rate_units[] = {{"TB/s", 1e12},
                                  {"GB/s", 1e9},
                                  {"MB/s", 1e6},
                                  {"kB/s", 1e3},
                                  {"B/s", 1},
                                  {"KB/s", 1e3},
                                  {"KiB/s", 1024.0},
                                  {"MiB/s", 1048576.0},
                                  {"GiB/s", 1073741824.0},
                                  {"TiB/s", 1099511627776.0}};
static const unit hertz_units[] = {{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"Hz", 1}};
static const unit flops_units[] = {
    {"Tflop/s", 1e12}, {"Gflop/s", 1e9}, {"Mflop/s", 1e6}, {"flop/s", 1}, {"Pflop/s", 1e15}};
static const unit number_units[] = {{"", 1}, {"%", 0.01}};

static const struct dimension {
    const unit *units;
    int count;
    int formats; /* how many of them are written */
    const char *text;
} dimensions[] = {
    [HAUL_DIM_NUMBER] = {number_units, 2, 1, "a number such as 16 or 4.8 %"},
    [HAUL_DIM_BYTES] = {bytes_units, 10, 5, "a size such as 64 MiB"},
    [HAUL_DIM_SECONDS] = {seconds_units, 5, 5, "a time such as 9.4 us"},
    [HAUL_DIM_RATE] = {rate_units, 10, 5, "a rate such as 12.3 GB/s"},
    [HAUL_DIM_HERTZ] = {hertz_units, 4, 4, "a frequency such as 1.41 GHz"},
    [HAUL_DIM_FLOPS] = {flops_units, 5, 4, "a rate of operations such as 19.5 Tflop/s"},
};

enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions };

const char *haul_dimension_text(haul_dimension dimension)
{
    return (unsigned)dimension < DIMENSIONS ? dimensions[dimension].text : "unknown";
}

const char *haul_dimension_unit(haul_dimension dimension)
{
    if ((unsigned)dimension >= DIMENSIONS)
        return "";
    const struct dimension *row = &dimensions[dimension];
    int i = 0;
    while (row->units[i].scale != 1)
        i++;
    return row->units[i].name;
}

static const unit *find_unit(haul_dimension dimension, const char *name)
{
    const struct dimension *row = &dimensions[dimension];
    /* Sizes alone may lack a unit: a bare time or rate would be a guess at what the user meant. */
    const bool bare = dimension == HAUL_DIM_BYTES && !*name;
    for (int i = 0; i < row->count; i++)
        /* "4096" is bytes. */
        if (!strcmp(row->units[i].name, bare ? "B" : name))
            return &row->units[i];
    return NULL;
}

static void copy_trimmed(const char *text, char *buffer, size_t size)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    /* Too long for any unit's name: it is cut, and so is not found. */
    if (length >= size)
        length = size - 1;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
}

haul_status haul_quantity_parse(const char *text, haul_dimension dimension, double *value,
                                haul_error *error)
{
    HL_PLAIN_NUMERALS;
    char *end;
    const double number = strtod(text, &end);
    char name[16];
    copy_trimmed(end, name, sizeof name);
    /* 0 is the same in every unit */
    const bool is_zero = end != text && number == 0 && !*name;
    const unit *found =
        end == text ? NULL : find_unit(dimension, is_zero ? haul_dimension_unit(dimension) : name);
    /* strtod also reads "inf", "nan" and hexadecimal, which no machine file means */
    const bool plain = strspn(text, " \t+-.0123456789") > 0 && !strpbrk(text, "xX");
    if (!found || !plain || !isfinite(number) || !isfinite(number * found->scale))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected %s, not '%.100s'",
                              haul_dimension_text(dimension), text);
    *value = number * found->scale;
    return HAUL_OK;
}

haul_status haul_bytes_parse(const char *text, uint64_t *bytes, haul_error *error)
{
    double value = 0;
    HAUL_TRY(haul_quantity_parse(text, HAUL_DIM_BYTES, &value, error));
    /* A double beyond 2^53 is always whole: a fraction there was rounded away before this test. */
    if (value < 0 || value >= 0x1p63 || value != floor(value))
        return haul_error_set(
            error, HAUL_STATUS_BAD_INPUT,
            "expected a whole number of bytes below 2^63, as in 64 MiB, not '%.100s'", text);
    *bytes = (uint64_t)value;
    return HAUL_OK;
}

char *haul_count_format(uint64_t count, char *buffer, size_t size)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        /* Groups of three from the right. */
        if (i && (length - i) % 3 == 0)
            buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
    return buffer;
}

char *haul_number_of(uint64_t count, const char *one, const char *plural, char *buffer, size_t size)
{
    char number[32];
    (void)snprintf(buffer, size, "%s %s%s", haul_count_format(count, number, sizeof number),
                   count == 1 || !plural ? one : plural, count == 1 || plural ? "" : "s");
    return buffer;
}

char *haul_quantity_format(double value, haul_dimension dimension, int digits, char *buffer,
                           size_t size)
{
    HL_PLAIN_NUMERALS;
    const struct dimension *row = &dimensions[dimension];
    int best = row->formats - 1;
    /* 0 has no size that would choose a unit; the plain one reads best ("0 B", "0 s"). */
    if (value == 0) {
        for (int i = 0; i < row->formats; i++)
            if (row->units[i].scale == 1)
                best = i;
    } else {
        /* The last row that fits is the largest unit, as rows go down in size. The tolerance lets a
         * value that rounding left a hair below 1 GiB still be 1 GiB. */
        for (int i = row->formats - 1; i >= 0; i--)
            if (fabs(value) >= row->units[i].scale * (1 - 1e-12))
                best = i;
    }
    /* 0.9996 s with 3 digits: "1 s", not "1e+03 ms" */
    const double scaled = value / row->units[best].scale;
    snprintf(buffer, size, "%.*g", digits, scaled);
    if (best > 0 && fabs(scaled) >= 1 && strchr(buffer, 'e'))
        best--;
    const unit *chosen = &row->units[best];
    if (!*chosen->name && fabs(scaled) >= 1 && fabs(scaled) < 1e9 && strchr(buffer, 'e'))
        snprintf(buffer, size, "%.0f", scaled); /* a count: 1024, not "1.02e+03" */
    else if (dimension == HAUL_DIM_SECONDS && !best && fabs(scaled) < 1e15 && strchr(buffer, 'e'))
        snprintf(buffer, size, "%.0f s", value); /* nothing is above the second: no "8.63e+04 s" */
    else
        snprintf(buffer, size, "%.*g%s%s", digits, value / chosen->scale, *chosen->name ? " " : "",
                 chosen->name);
    return buffer;
}
