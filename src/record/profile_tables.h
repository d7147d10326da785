/* The database of a profile: its tables, and rows of records. One thread at a time. */
#ifndef HAUL_RECORD_PROFILE_TABLES_H
#define HAUL_RECORD_PROFILE_TABLES_H

#include <sqlite3.h>

#include "record/profile_writer.h"

typedef struct haul_profile_tables {
    sqlite3 *db;
    sqlite3_stmt *insert[HAUL_RECORD_KINDS];
    sqlite3_stmt *string, *device, *device_map, *stream, *note;
    const char *path;
    int64_t start_ns; /* subtracted from times */
    int64_t process;  /* globalPid */
    int64_t pid;
} haul_profile_tables;

/* Makes the file at `path`, which must not exist and must outlive the tables. */
haul_status haul_profile_tables_open(haul_profile_tables *self, const char *path, int64_t start_ns,
                                     const char *program, haul_error *error);

/* Ends the write-ahead log, so that the profile is one file; takes what tables_open left. */
void haul_profile_tables_close(haul_profile_tables *self);

/* Each returns an SQLite result code. */
int haul_profile_tables_begin(haul_profile_tables *self);
int haul_profile_tables_commit(haul_profile_tables *self);
void haul_profile_tables_rollback(haul_profile_tables *self);
int haul_profile_tables_add(haul_profile_tables *self, const haul_record *record);
int haul_profile_tables_string(haul_profile_tables *self, uint32_t id, const char *text);
int haul_profile_tables_device(haul_profile_tables *self, const haul_profile_device *device);
int haul_profile_tables_stream(haul_profile_tables *self, uint32_t context, uint32_t stream);
int haul_profile_tables_note(haul_profile_tables *self, const char *name, const char *value);

/* Fills `error` from what the database said last. */
haul_status haul_profile_tables_fail(haul_profile_tables *self, int code, haul_error *error);

#endif
