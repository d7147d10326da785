/* The files of one recording: the profile, and one beside it for each further process. */
#ifndef HAUL_RECORD_PART_FILES_H
#define HAUL_RECORD_PART_FILES_H

#include "haul/record.h"

/* Removes an earlier profile at `path` and what lies beside it, and makes sure that one can be
 * made. Returns IO where that is not so, or where `path` is something else. */
haul_status haul_parts_clear(const char *path, haul_error *error);

/* Joins what the processes wrote into one file, without a log beside it, and counts what is in it.
 * Nothing to join is no error: recording->has_profile tells. */
haul_status haul_parts_join(const char *path, haul_recording *recording, haul_error *error);

#endif
