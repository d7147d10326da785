/* Time and memory of a benchmark. */
#ifndef HAUL_BENCH_TOOK_H
#define HAUL_BENCH_TOOK_H

#include "haul/status.h"

HAUL_BEGIN

/* Seconds: of the processor, by all threads of the process; and as they pass. */
double cpu_s(void);
double wall_s(void);

/* The most memory that the process has had. */
double peak_bytes(void);

/* Ends the program with the error's text. */
void stop(const haul_error *error);

/* The same where `status` is a failure; as a skipped test where something is absent. */
void stop_at(haul_status status, const haul_error *error);

HAUL_END

#endif
