/* Statuses and located errors: every function that can fail returns a haul_status and fills a
 * haul_error where the cause is known.
 *
 * For all headers: outputs are set on success alone. An object that a function sets through a
 * pointer to a pointer is the caller's, unless its comment says more: freed with its type's
 * haul_..._free or haul_..._close, which take NULL. haul_..._text and haul_..._word give the word
 * that reports print for a value of an enumeration: static, never NULL.
 *
 * Threads, for all headers: functions may be called by several threads at once. An object that a
 * function takes as const may be in use by many of them; one that it changes or frees by that call
 * alone. Nobody may change the environment or the locale meanwhile: files are found by the one. */
#ifndef HAUL_STATUS_H
#define HAUL_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "haul/api.h"

HAUL_BEGIN

/* The statuses of failures: name, description, exit code of the program. */
#define HAUL_STATUS_LIST(X)                                                                        \
    X(USAGE, "wrong use", 2)                                                                       \
    X(BAD_INPUT, "bad input", 3)                                                                   \
    X(MISSING, "the evidence is missing", 3)                                                       \
    X(IO, "cannot read or write", 3)                                                               \
    X(ABSENT, "a device or feature is absent", 4)                                                  \
    X(DEVICE_FULL, "out of device memory", 4)                                                      \
    X(DEVICE_FAILED, "the device failed", 4)                                                       \
    X(TIMED_OUT, "the time limit has passed", 4)                                                   \
    X(NO_MEMORY, "out of memory", 70)                                                              \
    X(INTERNAL, "internal error", 70)

typedef enum haul_status {
    HAUL_OK,
#define HAUL_STATUS_ENUM(name, text, code) HAUL_STATUS_##name,
    HAUL_STATUS_LIST(HAUL_STATUS_ENUM)
#undef HAUL_STATUS_ENUM
} haul_status;

/* Where and why a call failed. Zero is the empty error. `line` and `column` start at 1 and are 0
 * where they mean nothing; `table` and `row` (from 1) locate errors in databases. */
typedef struct haul_error {
    haul_status status;
    int line;
    int column;
    int64_t row;
    char table[64];
    char file[512];
    char text[512];
} haul_error;

/* Names a status in lower case; never NULL. */
HAUL_API const char *haul_status_text(haul_status status);

/* The exit code that the program uses for a status. */
HAUL_API int haul_status_exit_code(haul_status status);

/* Writes "file:line:column: text" (or "file: table T, row R: text") into `buffer`, cut to `size`
 * bytes with its terminator, and returns `buffer`. */
HAUL_API char *haul_error_format(const haul_error *error, char *buffer, unsigned size);

/* Fills `error`, which may be NULL, and returns `status`, so that a caller writes
 * `return haul_error_set(error, HAUL_STATUS_MISSING, "...")`. Wording: lower case, no full stop,
 * cause first, subject in quotes. */
HAUL_API haul_status haul_error_set(haul_error *error, haul_status status, const char *format, ...)
    HAUL_PRINTF(3, 4);

/* Goes on where a call succeeds; else the function returns its status. For functions that have
 * nothing to release. */
#define HAUL_TRY(call)                                                                             \
    do {                                                                                           \
        const haul_status tried = (call);                                                          \
        if (tried)                                                                                 \
            return tried;                                                                          \
    } while (0)

/* For an error about a word that is not known: writes "; did you mean 'NAME'?" with the nearest of
 * `count` names, in any case, or "" where none is near. Returns `buffer`. */
HAUL_API char *haul_name_suggest(const char *word, const char *const *names, size_t count,
                                 char *buffer, size_t size);

HAUL_END

#endif
