/* The collector of the recorded processes' rings: it reads them while the program runs and writes
 * one profile, in which devices, names and processes have numbers of their own. */
#ifndef HAUL_RECORD_COLLECTOR_H
#define HAUL_RECORD_COLLECTOR_H

#include "base/strings.h"
#include "haul/record.h"
#include "record/profile_messages.h"
#include "record/profile_tables.h"
#include "record/shared_ring.h"

/* The records of one writer. */
typedef struct hl_record_ring_part {
    char *file;          /* its name in the folder; NULL once it is removed */
    hl_record_ring ring; /* not mapped any more then */
    bool closed;         /* likewise: how its recorder ended */
    int64_t moved_ns;    /* when it was last seen to write */
    bool damaged;
    bool has_calls_only; /* as of hl_record_profile_options */
    hl_record_profile_process process;
    uint32_t *names; /* numbers in the profile, by the writer's */
    size_t name_capacity;
    uint32_t *devices; /* likewise, plus 1; 0 for one that was not described */
    size_t device_capacity;
} hl_record_ring_part;

typedef struct hl_record_collector {
    const char *folder; /* of the rings */
    const char *path;   /* of the profile: an empty file */
    int64_t start_ns;
    hl_record_profile_tables tables; /* opened when there is a part */
    hl_record_ring_part *parts;
    size_t part_count, part_capacity;
    hl_record_message_device *devices; /* of the profile, with its numbers */
    size_t device_count, device_capacity;
    hl_base_strings names;
    uint64_t bytes_read;                   /* in the last round */
    uint64_t records;                      /* in the profile */
    uint64_t adding;                       /* in the transaction that is open */
    hl_record_lost lost[HL_RECORD_LOSSES]; /* of all parts that are gone */
    int64_t unfetched_ns;                  /* likewise: the longest */
    int64_t waited_ns;                     /* likewise, for room */
    int64_t read_ns;                       /* when that was */
    int64_t swept_ns;                      /* when parts were last asked whether they have ended */
    bool folder_gone;                      /* somebody removed it */
    unsigned causes;                       /* rows that say why the profile is incomplete */
    haul_error failure;                    /* what stopped the writing */
} hl_record_collector;

/* Reads what there is, once: what is little waits for more, up to 100 ms from one reading to the
 * next, unless `at_once`. After a failure nothing is read any more, which the writers are told. */
void hl_record_collector_read(hl_record_collector *self, bool at_once);

/* Whether some writer still runs that has not ended its recording; *pid is one of its process. */
bool hl_record_collector_has_writer(const hl_record_collector *self, long *pid);

/* Whether a process's recorder has said that it is through. `collector` is a hl_record_collector.
 */
bool hl_record_collector_has_finished(const void *collector, long pid);

/* Reads the rest, notes what each part lost, ends the profile and releases all. `cause` says why
 * the profile is incomplete beside what was lost, "" for nothing; `ended_ns` when the program
 * ended. Fills the recording's counts, and its texts. */
void hl_record_collector_finish(hl_record_collector *self, const char *cause, int64_t ended_ns,
                                haul_recording *recording);

#endif
