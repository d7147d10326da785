/* A recording that `haul record` set up, as an injection library sees it: what is in the
 * environment, one writer a process, and what it has to say.
 *
 *   HAUL_RECORD_FOLDER    where writers make their rings, and haul reads them
 *   HAUL_RECORD_START     CLOCK_MONOTONIC's nanoseconds at time 0
 *   HAUL_RECORD_DURATION  nanoseconds
 *   HAUL_RECORD_MAX_OPS   of each process
 *   HAUL_RECORD_STACKS    1: call stacks, too
 *
 * Nothing is open between calls: the folder's file "said" gets a line by being opened, written and
 * closed. An injection library keeps one session, a static of its own. */
#ifndef HAUL_RECORD_RECORD_SESSION_H
#define HAUL_RECORD_RECORD_SESSION_H

#include <pthread.h>
#include <stdbool.h>

#include "record/profile_writer.h"

#define HAUL_RECORD_FOLDER "HAUL_RECORD_FOLDER"
#define HAUL_RECORD_START "HAUL_RECORD_START"
#define HAUL_RECORD_DURATION "HAUL_RECORD_DURATION"
#define HAUL_RECORD_MAX_OPS "HAUL_RECORD_MAX_OPS"
#define HAUL_RECORD_STACKS "HAUL_RECORD_STACKS"
#define HAUL_RECORD_LAYERS "HAUL_RECORD_LAYERS" /* OPENCL_LAYERS as haul set it */
#define HAUL_RECORD_THEIRS "HAUL_RECORD_THEIRS" /* as it was before */
#define HL_RECORD_SAID "said"

/* Opens the writer that the environment asks for, of devices or of calls alone. Returns NULL where
 * it asks for none, where haul has ended, or where the ring cannot be made, which a message tells.
 */
hl_record_profile_writer *hl_record_session_open(bool has_calls_only);

/* Whether calls are to be recorded with their stacks. */
bool hl_record_session_asks_for_stacks(void);

/* Says that a runtime was loaded, so that `haul record` can tell a program without a device from
 * one that looks for none. */
void hl_record_session_loaded(void);

/* Says why nothing of this process is recorded. */
void hl_record_session_failed(const char *why);

/* Writes the name of a process's program into `buffer`, "" where it is not known, and returns that.
 * `process` is a number, or "self". */
const char *hl_record_session_program(const char *process, char *buffer, size_t size);

/* Starts a thread of the recorder's own: it takes no signals, which are the program's. */
bool hl_record_session_start_thread(pthread_t *thread, void *(*function)(void *));

#endif
