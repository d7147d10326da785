/* Writing JSON: indented, valid whatever the strings hold, no NaN. */
#ifndef HAUL_BASE_JSON_OUT_H
#define HAUL_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { HAUL_JSON_DEPTH = 32 };

typedef struct haul_json {
    FILE *out;
    int depth;
    bool has_items[HAUL_JSON_DEPTH];
    bool after_key;
} haul_json;

haul_json haul_json_begin(FILE *out);

/* Closes the document with a newline. Returns false where the stream has failed. */
bool haul_json_end(haul_json *json);

void haul_json_open_object(haul_json *json);
void haul_json_close_object(haul_json *json);
void haul_json_open_array(haul_json *json);
void haul_json_close_array(haul_json *json);

/* The key of the next value. */
void haul_json_key(haul_json *json, const char *key);

/* Bytes that are not UTF-8 are written as U+FFFD; NULL as null. */
void haul_json_string(haul_json *json, const char *text);

/* 9 significant digits; null where not finite. */
void haul_json_number(haul_json *json, double value);
void haul_json_unsigned(haul_json *json, uint64_t value);
void haul_json_null(haul_json *json);
void haul_json_bool(haul_json *json, bool value);

/* Seconds from nanoseconds, which are not negative, with all their digits. */
void haul_json_ns(haul_json *json, int64_t ns);

/* A key with its value. */
void haul_json_put_string(haul_json *json, const char *key, const char *text);

#endif
