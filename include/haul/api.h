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

#if defined(__GNUC__)
#define HAUL_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define HAUL_PRINTF(format_at, first_at)
#endif

#endif
