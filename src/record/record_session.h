/* A recording that `haul record` set up, as an injection library sees it: what is in the
 * environment, one writer a process, forks, and the end of the process.
 *
 *   HAUL_RECORD_OUTPUT    path of the profile; the first process that opens a writer makes it,
 * others write PATH-PID beside it, which `haul record` joins to it at the end HAUL_RECORD_START
 * CLOCK_MONOTONIC's nanoseconds at time 0 HAUL_RECORD_DURATION  nanoseconds HAUL_RECORD_MAX_OPS   a
 * process HAUL_RECORD_REPORT    a file to which each process adds a line at its end; without it
 * what is to be said goes to stderr
 *
 * An injection library keeps one session, a static of its own. */
#ifndef HAUL_RECORD_RECORD_SESSION_H
#define HAUL_RECORD_RECORD_SESSION_H

#include <stdbool.h>

#include "record/profile_writer.h"

#define HAUL_RECORD_OUTPUT "HAUL_RECORD_OUTPUT"
#define HAUL_RECORD_START "HAUL_RECORD_START"
#define HAUL_RECORD_DURATION "HAUL_RECORD_DURATION"
#define HAUL_RECORD_MAX_OPS "HAUL_RECORD_MAX_OPS"
#define HAUL_RECORD_REPORT "HAUL_RECORD_REPORT"

/* What a process says at its end, one line of the report: "PROCESS operations dropped beyond_limits
 * failure". */
typedef struct haul_session_report {
    long process;
    uint64_t operations;
    uint64_t dropped;
    uint64_t beyond_limits;
    char failure[600]; /* "" where nothing stopped the recording */
} haul_session_report;

/* Opens the writer that the environment asks for. Returns NULL where it asks for none, or where the
 * file cannot be made, which is reported. */
haul_profile_writer *haul_session_open(void (*collect)(void *context, bool last), void *context);

/* Reports that a runtime was loaded, so that `haul record` can tell a program without a device from
 * one that looks for none. */
void haul_session_loaded(void);

/* Closes the writer and reports how it went. */
void haul_session_close(haul_profile_writer *writer);

/* Reads one line of a report. Returns false where it is none. */
bool haul_session_report_parse(const char *line, haul_session_report *report);

#endif
