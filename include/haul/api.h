/* What every public header needs: the export mark and the C++ guard. */
#ifndef HAUL_API_H
#define HAUL_API_H

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
