/* The file that a recording leaves: its name, its lock, and how it comes to stand there at once. */
#ifndef HAUL_RECORD_OUTPUT_FILE_H
#define HAUL_RECORD_OUTPUT_FILE_H

#include <stdbool.h>

#include "haul/status.h"

enum { HL_RECORD_LONGEST_PATH = 4096 };

typedef struct hl_record_output_file {
    char name[HL_RECORD_LONGEST_PATH];      /* for messages */
    char path[HL_RECORD_LONGEST_PATH];      /* absolute */
    char temporary[HL_RECORD_LONGEST_PATH]; /* beside it, an empty file: the recording writes there
                                             */
    int lock;                               /* descriptor of `path` */
    bool made;                              /* there was no file: `path` is an empty one of ours */
    bool had_log;                           /* a log lay beside the profile that was there */
    int64_t bytes, changed_ns;              /* of what was there, when the recording began */
} hl_record_output_file;

/* The rank of this process in an MPI program of several, in digits; NULL where it is in none. */
const char *hl_record_mpi_rank(void);

/* Writes the name that `pattern` gives for a program of the number `process`: %p is that, %h the
 * host, %q{NAME} the environment's, %% a %. Where the environment is that of one of several
 * processes of an MPI program and the pattern has neither %p nor %q, the rank goes before the
 * name's ending, and *ranked is set. Returns BAD_INPUT for another %, an unset variable, a name
 * that is too long. */
haul_status hl_record_output_name(const char *pattern, long process,
                                  char name[HL_RECORD_LONGEST_PATH], bool *ranked,
                                  haul_error *error);

/* Takes `self->name`, so that no other recording can, and makes the temporary file. A file that is
 * there has to be a profile of `haul record`, and only `replace` lets it be replaced. Returns IO,
 * with nothing changed; also where a file is there that SQLite would take for the profile's log. */
haul_status hl_record_output_open(hl_record_output_file *self, bool replace, haul_error *error);

/* Puts the temporary file in the place of the name, with its log where it has one. Where somebody
 * has put or written a file there meanwhile, that is left, and so is the temporary file: returns
 * IO, which names it. */
haul_status hl_record_output_keep(hl_record_output_file *self, haul_error *error);

/* Leaves everything as it was. */
void hl_record_output_drop(hl_record_output_file *self);

#endif
