/* Notes of a profile on its own recording: each cause of a loss once, however many processes had
 * it, with its share of all that the program is known to have done. */
#include "record/collector_notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define INCOMPLETE "HAUL:INCOMPLETE" /* readers know it */

/* A query that fails, as on a full disk, has the value `none`. */
static int64_t ask_number(sqlite3 *db, const char *sql, int64_t none)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = none;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* One cause: appended to the recording's text, and a row of its own, by which readers know that the
 * profile is incomplete. */
static int HAUL_PRINTF(3, 4)
    add_cause(hl_record_collector *self, haul_recording *recording, const char *format, ...)
{
    char text[600], name[64] = INCOMPLETE;
    const size_t at = strlen(recording->incomplete), size = sizeof recording->incomplete;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(recording->incomplete + at, size - at, "%s%s", at ? "; " : "", text);
    if (++self->causes > 1)
        snprintf(name, sizeof name, INCOMPLETE ":%u", self->causes);
    return hl_record_profile_tables_note(&self->tables, name, text);
}

/* How much of all that the program did, as far as that is known, one cause took. */
static int add_loss(hl_record_collector *self, haul_recording *recording, hl_record_loss loss)
{
    const hl_record_loss_words *words = &hl_record_loss_says[loss];
    const hl_record_lost *lost = &self->lost[loss];
    const bool of_records = words->unit == HL_RECORD_LOSS_OF_RECORDS;
    char name[64], share[64] = "", number[32];
    uint64_t all = of_records ? self->records : recording->operations;
    if (!lost->count)
        return SQLITE_OK;
    for (int i = 0; i < HL_RECORD_LOSSES; i++)
        if (hl_record_loss_says[i].unit == words->unit)
            all += self->lost[i].count;
    if (words->unit != HL_RECORD_LOSS_OF_RECORDERS)
        snprintf(share, sizeof share, " (%.3g %% of %" PRIu64 ")",
                 100 * (double)lost->count / (double)all, all);
    int code = add_cause(self, recording, "%" PRIu64 " %s%s", lost->count,
                         lost->count == 1 ? words->one : words->many, share);
    snprintf(name, sizeof name, "HAUL:%s", words->note);
    snprintf(number, sizeof number, "%" PRIu64, lost->count);
    if (code == SQLITE_OK)
        code = hl_record_profile_tables_note(&self->tables, name, number);
    snprintf(name, sizeof name, "HAUL:SINCE_NS:%s", words->note);
    snprintf(number, sizeof number, "%" PRId64, lost->since_ns - self->start_ns);
    if (code == SQLITE_OK && lost->since_ns)
        code = hl_record_profile_tables_note(&self->tables, name, number);
    return code;
}

/* The order is that of what the user wants to know first: why, then how much. */
static int add_causes(hl_record_collector *self, const char *cause, haul_recording *recording)
{
    char number[32];
    int code = hl_record_profile_tables_note(&self->tables, INCOMPLETE, NULL);
    if (code == SQLITE_OK && cause[0])
        code = add_cause(self, recording, "%s", cause);
    if (code == SQLITE_OK && self->folder_gone)
        code = add_cause(self, recording,
                         "the folder of the recorders was removed: a process that began to use a "
                         "device after that is missing");
    if (code == SQLITE_OK && self->unfetched_ns) {
        code = add_cause(self, recording, "CUDA's last %.0f ms are missing",
                         1e-6 * (double)self->unfetched_ns);
        snprintf(number, sizeof number, "%" PRId64, self->unfetched_ns);
        if (code == SQLITE_OK)
            code = hl_record_profile_tables_note(&self->tables, "HAUL:UNFETCHED_NS", number);
    }
    for (int i = 0; code == SQLITE_OK && i < HL_RECORD_LOSSES; i++)
        code = add_loss(self, recording, (hl_record_loss)i);
    if (code == SQLITE_OK && self->waited_ns) {
        snprintf(number, sizeof number, "%" PRId64, self->waited_ns);
        code = hl_record_profile_tables_note(&self->tables, "HAUL:WAITED_FOR_ROOM_NS", number);
    }
    if (code == SQLITE_OK && self->failure.status)
        code = add_cause(self, recording, "%.300s", self->failure.text);
    return code;
}

int hl_record_collector_note(hl_record_collector *self, const char *cause,
                             haul_recording *recording)
{
    int code = hl_record_profile_tables_run(&self->tables, "BEGIN");
    sqlite3 *db = self->tables.db;
    const hl_record_lost *lost = self->lost;
    recording->operations =
        (uint64_t)ask_number(db,
                             "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY) +"
                             " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET) +"
                             " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL)",
                             0);
    recording->processes = (unsigned)ask_number(db, "SELECT count(*) FROM PROCESSES", 0);
    recording->clock_error_ns =
        ask_number(db,
                   "SELECT max(CAST(value AS INTEGER)) FROM META_DATA_CAPTURE"
                   " WHERE name GLOB 'HAUL:CLOCK_ERROR_NS:*'",
                   -1);
    recording->dropped = lost[HL_RECORD_LOSS_DROPPED_RECORDS].count +
                         lost[HL_RECORD_LOSS_DROPPED_COMMANDS].count +
                         lost[HL_RECORD_LOSS_DROPPED_BY_CUPTI].count;
    recording->in_flight = lost[HL_RECORD_LOSS_IN_FLIGHT].count;
    recording->unfetched_ns = self->unfetched_ns;
    recording->beyond_limits = lost[HL_RECORD_LOSS_BEYOND_LIMITS].count;
    recording->damaged_parts = (unsigned)lost[HL_RECORD_LOSS_DAMAGED_RECORDERS].count;
    if (code == SQLITE_OK)
        code = add_causes(self, cause, recording);
    return code == SQLITE_OK ? hl_record_profile_tables_run(&self->tables, "COMMIT") : code;
}
