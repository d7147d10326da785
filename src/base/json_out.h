/* Writing JSON: indented, valid whatever the strings hold, no NaN. */
#ifndef HAUL_BASE_JSON_OUT_H
#define HAUL_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { HL_JSON_DEPTH = 32 };

typedef struct hl_base_json {
    FILE *out;
    int depth;
    bool has_items[HL_JSON_DEPTH];
    bool after_key;
} hl_base_json;

hl_base_json hl_base_json_begin(FILE *out);

/* Closes the document with a newline. Returns false where the stream has failed. */
bool hl_base_json_end(hl_base_json *json);

void hl_base_json_open_object(hl_base_json *json);
void hl_base_json_close_object(hl_base_json *json);
void hl_base_json_open_array(hl_base_json *json);
void hl_base_json_close_array(hl_base_json *json);

/* The key of the next value. */
void hl_base_json_key(hl_base_json *json, const char *key);

/* Bytes that are not UTF-8 are written as U+FFFD; NULL as null. */
void hl_base_json_string(hl_base_json *json, const char *text);

/* 9 significant digits; null where not finite. */
void hl_base_json_number(hl_base_json *json, double value);
void hl_base_json_unsigned(hl_base_json *json, uint64_t value);
void hl_base_json_null(hl_base_json *json);
void hl_base_json_bool(hl_base_json *json, bool value);

/* Seconds from nanoseconds, which are not negative, with all their digits. */
void hl_base_json_ns(hl_base_json *json, int64_t ns);

/* A key with its value. */
void hl_base_json_put_string(hl_base_json *json, const char *key, const char *text);

#endif
