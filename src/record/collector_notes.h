/* How a recording went, in its profile. */
#ifndef HAUL_RECORD_COLLECTOR_NOTES_H
#define HAUL_RECORD_COLLECTOR_NOTES_H

#include "record/collector.h"

/* When all parts have ended: notes what was lost, and fills the recording's counts and text.
 * Returns an SQLite result code. */
int hl_record_collector_note(hl_record_collector *self, const char *cause,
                             haul_recording *recording);

#endif
