/* The export mark, the C++ guard and the rule for structs that grow, for every public header. */
#ifndef HAUL_API_H
#define HAUL_API_H

/* Structs that a program fills, options and specs, end with `reserved`: a later version takes its
 * members from there, so that the size stays. Initialise them whole, as {.member = value} or {0}
 * do: zero is the default of each member, also of those to come. */

#include <stdint.h>

#ifdef __cplusplus
#define HAUL_BEGIN extern "C" {
#define HAUL_END }
#else
#define HAUL_BEGIN
#define HAUL_END
#endif

#define HAUL_API __attribute__((visibility("default")))

/* Of a list's rows, X(name, text): the texts, for a table of them. */
#define HAUL_ROW_TEXT(name, text) text,

#if defined(__GNUC__)
#define HAUL_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define HAUL_PRINTF(format_at, first_at)
#endif

#endif
