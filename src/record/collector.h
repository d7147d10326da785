/* What haul does with the rings of the recorded processes: it reads them while the program runs and
 * writes one profile, in which devices, names and processes have numbers of their own. */
#ifndef HAUL_RECORD_COLLECTOR_H
#define HAUL_RECORD_COLLECTOR_H

#include "base/strings.h"
#include "haul/record.h"
#include "record/profile_messages.h"
#include "record/profile_tables.h"
#include "record/shared_ring.h"

/* What one writer wrote. */
typedef struct haul_ring_part {
    char *file; /* its name in the folder */
    haul_ring ring;
    bool damaged;
    haul_profile_process process;
    uint32_t *names; /* numbers in the profile, by the writer's */
    size_t name_capacity;
    uint32_t *devices; /* likewise, plus 1; 0 for one that was not described */
    size_t device_capacity;
} haul_ring_part;

typedef struct haul_collector {
    const char *folder; /* of the rings */
    const char *path;   /* of the profile: an empty file */
    int64_t start_ns;
    haul_profile_tables tables; /* opened when there is a part */
    haul_ring_part *parts;
    size_t part_count, part_capacity;
    haul_message_device *devices; /* of the profile, with its numbers */
    size_t device_count, device_capacity;
    haul_strings names;
    uint64_t bytes_read; /* in the last round */
    int64_t read_ns;     /* when that was */
    haul_error failure;  /* what stopped the writing */
} haul_collector;

/* Reads what there is, once: what is little waits for more, up to 100 ms from one reading to the
 * next, unless `at_once`. After a failure nothing is read any more, which the writers are told. */
void haul_collector_read(haul_collector *self, bool at_once);

/* Whether some writer still runs that has not ended its recording; *pid is one of its process. */
bool haul_collector_has_writer(const haul_collector *self, long *pid);

/* Whether a process's recorder has said that it is through. `collector` is a haul_collector. */
bool haul_collector_has_finished(const void *collector, long pid);

/* Reads the rest, notes what each part lost, ends the profile and releases all. `cause` says why
 * the profile is incomplete beside what was lost, "" for nothing; `ended_ns` when the program
 * ended. Fills the recording's counts, and its texts. */
void haul_collector_finish(haul_collector *self, const char *cause, int64_t ended_ns,
                           haul_recording *recording);

#endif
