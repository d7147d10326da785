/* The database of a profile: its tables, and rows of the records of many processes. One thread at a
 * time. */
#ifndef HAUL_RECORD_PROFILE_TABLES_H
#define HAUL_RECORD_PROFILE_TABLES_H

#include <sqlite3.h>

#include "record/profile_writer.h"

/* What is inserted beside records, numbered behind their kinds. */
enum {
    HAUL_TABLE_STRING = HAUL_RECORD_KINDS,
    HAUL_TABLE_PROCESS,
    HAUL_TABLE_DEVICE,
    HAUL_TABLE_DEVICE_MAP,
    HAUL_TABLE_STREAM,
    HAUL_TABLE_NOTE,
    HAUL_TABLE_STATEMENTS,
};

typedef struct haul_profile_tables {
    sqlite3 *db; /* NULL: not open */
    sqlite3_stmt *insert[HAUL_TABLE_STATEMENTS];
    const char *path;
    int64_t start_ns; /* subtracted from times */
} haul_profile_tables;

/* The process that a row is of. */
typedef struct haul_profile_process {
    int64_t id; /* globalPid */
    int64_t pid;
} haul_profile_process;

/* Makes the tables in the empty file at `path`, an absolute one that must outlive them. */
haul_status haul_profile_tables_open(haul_profile_tables *self, const char *path, int64_t start_ns,
                                     haul_error *error);

/* Puts the write-ahead log into the file. Where the disk has no room for that, the log stays beside
 * it. */
void haul_profile_tables_close(haul_profile_tables *self);

/* A process of a pid that `before` others had: two recorders of one process, of OpenCL and of CUDA,
 * and programs that it became by exec are told apart by what is above the pid. */
haul_profile_process haul_profile_process_of(int64_t pid, unsigned before);

/* Each returns an SQLite result code. */
int haul_profile_tables_run(haul_profile_tables *self, const char *sql);
int haul_profile_tables_add(haul_profile_tables *self, haul_profile_process process,
                            const haul_record *record);
int haul_profile_tables_process(haul_profile_tables *self, haul_profile_process process,
                                const char *program);
int haul_profile_tables_string(haul_profile_tables *self, uint32_t id, const char *text);

/* A device, and under which number a process has it. */
int haul_profile_tables_device(haul_profile_tables *self, const haul_profile_device *device);
int haul_profile_tables_device_of(haul_profile_tables *self, haul_profile_process process,
                                  const haul_profile_device *device);
int haul_profile_tables_stream(haul_profile_tables *self, haul_profile_process process,
                               uint32_t context, uint32_t stream);

/* A row of META_DATA_CAPTURE, in place of one of the same name; a value of NULL takes it away. */
int haul_profile_tables_note(haul_profile_tables *self, const char *name, const char *value);

/* Fills `error` from what the database said last. */
haul_status haul_profile_tables_fail(haul_profile_tables *self, int code, haul_error *error);

#endif
