/* The folder of a recording: the rings of its processes, and what they say. */
#ifndef HAUL_RECORD_RING_FOLDER_H
#define HAUL_RECORD_RING_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/status.h"
#include "record/output_file.h"

/* A link in the folder to the OpenCL library. */
#define HL_RECORD_RING_FOLDER_LINK "opencl-layer.so"

typedef struct hl_record_ring_folder {
    char path[HL_RECORD_LONGEST_PATH]; /* without a colon */
    int lock;                          /* descriptor of the file of what processes say */
} hl_record_ring_folder;

/* Makes a folder that nobody else can enter, in memory (/dev/shm) where there is that, else in
 * TMPDIR or /tmp. Removes there the folders of this user's recordings whose haul was killed: nobody
 * has their lock. */
haul_status hl_record_ring_folder_make(hl_record_ring_folder *self, const char *opencl,
                                       haul_error *error);

void hl_record_ring_folder_remove(hl_record_ring_folder *self);

/* Whether an entry of /proc/PROCESS/FILE_NAME has `text` in it, where this user may read it. */
bool hl_record_process_mentions(const char *process, const char *file_name, char separator,
                                const char *text);

/* Whether that entry can be read, and has it not: also of a process that has ended. */
bool hl_record_process_lacks(const char *process, const char *file_name, char separator,
                             const char *text);

/* Whether a process is of no interest any more. */
typedef bool hl_record_process_done(const void *state, long pid);

/* Writes which processes have the folder in their environment, "" for none: they are the program's,
 * and outlived it. Leaves out those that `done` knows. */
void hl_record_ring_folder_users(const hl_record_ring_folder *self, hl_record_process_done *done,
                                 const void *state, char *text, size_t size);

#endif
