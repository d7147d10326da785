/* The database of a profile: its tables, and rows of the records of many processes. One thread at a
 * time. */
#ifndef HAUL_RECORD_PROFILE_TABLES_H
#define HAUL_RECORD_PROFILE_TABLES_H

#include <sqlite3.h>

#include "record/profile_writer.h"

/* Rows inserted beside records, numbered behind their kinds. */
enum {
    HL_RECORD_TABLE_STRING = HL_RECORD_KINDS,
    HL_RECORD_TABLE_PROCESS,
    HL_RECORD_TABLE_DEVICE,
    HL_RECORD_TABLE_DEVICE_MAP,
    HL_RECORD_TABLE_STREAM,
    HL_RECORD_TABLE_NOTE,
    HL_RECORD_TABLE_STATEMENTS,
};

typedef struct hl_record_profile_tables {
    sqlite3 *db; /* NULL: not open */
    sqlite3_stmt *insert[HL_RECORD_TABLE_STATEMENTS];
    const char *path;
    int64_t start_ns; /* subtracted from times */
} hl_record_profile_tables;

/* The process that a row is of. */
typedef struct hl_record_profile_process {
    int64_t id; /* globalPid */
    int64_t pid;
} hl_record_profile_process;

/* Makes the tables in the empty file at `path`, an absolute one that must outlive them. */
haul_status hl_record_profile_tables_open(hl_record_profile_tables *self, const char *path,
                                          int64_t start_ns, haul_error *error);

/* Puts the write-ahead log into the file. Where the disk has no room for that, the log stays beside
 * it. */
void hl_record_profile_tables_close(hl_record_profile_tables *self);

/* A process of a pid that `before` others had: two recorders of one process, of OpenCL and of CUDA,
 * and programs that it became by exec are told apart by what is above the pid. */
hl_record_profile_process hl_record_profile_process_of(int64_t pid, unsigned before);

/* Each returns an SQLite result code. */
int hl_record_profile_tables_run(hl_record_profile_tables *self, const char *sql);
int hl_record_profile_tables_add(hl_record_profile_tables *self, hl_record_profile_process process,
                                 const hl_record *record);
int hl_record_profile_tables_process(hl_record_profile_tables *self,
                                     hl_record_profile_process process, const char *program);
int hl_record_profile_tables_string(hl_record_profile_tables *self, uint32_t id, const char *text);

/* A device, and under which number a process has it. */
int hl_record_profile_tables_device(hl_record_profile_tables *self,
                                    const hl_record_profile_device *device);
int hl_record_profile_tables_device_of(hl_record_profile_tables *self,
                                       hl_record_profile_process process,
                                       const hl_record_profile_device *device);
int hl_record_profile_tables_stream(hl_record_profile_tables *self,
                                    hl_record_profile_process process, uint32_t context,
                                    uint32_t stream);

/* A row of META_DATA_CAPTURE, in place of one of the same name; a value of NULL takes it away. */
int hl_record_profile_tables_note(hl_record_profile_tables *self, const char *name,
                                  const char *value);

/* Fills `error` from what the database said last. */
haul_status hl_record_profile_tables_fail(hl_record_profile_tables *self, int code,
                                          haul_error *error);

#endif
