/* Holds a recorder against what a program knows that it made.
 *
 * usage: compare_profile [--least BYTES] PROFILE <MADE
 *
 * MADE are lines "operation,memory,count,bytes,time_ns", as examples/convolution --count and
 * tests/device/known_copies print them. Counts and bytes have to be equal; times, sums over the
 * lines' operations, within 5 % and a microsecond an operation; a sum of 0, or one of which a line
 * has -1, is not compared. With --least only copies of at least so many bytes count. Lines of maps
 * are not compared: whether a map copies is the device's affair. Exit codes: 0 the same, 1 not, 3 a
 * profile that cannot be read. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double time_tolerance = 0.05;
static const double time_floor_ns = 1000; /* an operation */

/* The rows of the profile that a line is about. */
static const struct {
    const char *operation, *memory, *table, *where;
    bool has_bytes;
} lines[] = {
    {"HtoD", "pageable", "MEMCPY", "copyKind = 1 AND srcKind = 0", true},
    {"HtoD", "pinned", "MEMCPY", "copyKind = 1 AND srcKind = 1", true},
    {"DtoH", "pageable", "MEMCPY", "copyKind = 2 AND dstKind = 0", true},
    {"DtoH", "pinned", "MEMCPY", "copyKind = 2 AND dstKind = 1", true},
    {"DtoD", "", "MEMCPY", "copyKind = 8", true},
    {"PtoP", "", "MEMCPY", "copyKind = 10", true},
    {"memset", "", "MEMSET", "1", true},
    {"kernel", "", "KERNEL", "1", false},
    {"stream wait", "", "SYNCHRONIZATION", "syncType = 2", false},
    {"stream sync", "", "SYNCHRONIZATION", "syncType = 3", false},
};

enum { LINES = sizeof lines / sizeof *lines };

typedef struct sums {
    int64_t count, bytes, time_ns;
} sums;

typedef struct made_sums {
    sums made[LINES];
    bool told[LINES];
    bool untimed[LINES]; /* a time is not known */
} made_sums;

static int fail(sqlite3 *db)
{
    fprintf(stderr, "compare_profile: %s\n", sqlite3_errmsg(db));
    return 3;
}

static int recorded(sqlite3 *db, int line, int64_t least, sums *out)
{
    char sql[512];
    sqlite3_stmt *statement = NULL;
    snprintf(sql, sizeof sql,
             "SELECT count(*), sum(%s), sum(end - start) FROM CUPTI_ACTIVITY_KIND_%s WHERE %s AND "
             "%s >= %" PRId64,
             lines[line].has_bytes ? "bytes" : "0", lines[line].table, lines[line].where,
             lines[line].has_bytes ? "bytes" : "1", lines[line].has_bytes ? least : 0);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        return fail(db);
    out->count = sqlite3_column_int64(statement, 0);
    out->bytes = sqlite3_column_int64(statement, 1);
    out->time_ns = sqlite3_column_int64(statement, 2);
    sqlite3_finalize(statement);
    return 0;
}

/* The number of the table's line that an operation adds to, or -1. */
static int line_of(const char *operation, const char *memory)
{
    if (!strcmp(operation, "map"))
        operation = "DtoH";
    else if (!strcmp(operation, "unmap"))
        operation = "HtoD";
    for (int i = 0; i < LINES; i++)
        if (!strcmp(operation, lines[i].operation) && !strcmp(memory, lines[i].memory))
            return i;
    return -1;
}

/* Adds one line's fields, split at its commas; one that tells of nothing known is passed over. */
static void add_line(char *text, made_sums *all)
{
    char *fields[5] = {0};
    for (int i = 0; i < 5 && text; i++) {
        fields[i] = text;
        text = strchr(text, ',');
        if (text)
            *text++ = '\0';
    }
    const int line = fields[4] ? line_of(fields[0], fields[1]) : -1;
    if (line < 0)
        return;
    all->told[line] = true;
    all->made[line].count += strtoll(fields[2], NULL, 10);
    all->made[line].bytes += strtoll(fields[3], NULL, 10);
    const int64_t time_ns = strtoll(fields[4], NULL, 10);
    all->untimed[line] |= time_ns < 0;
    all->made[line].time_ns = all->untimed[line] ? 0 : all->made[line].time_ns + time_ns;
}

static bool times_agree(const sums *made, const sums *found)
{
    const double off = fabs((double)(found->time_ns - made->time_ns));
    return !made->time_ns ||
           off <= time_tolerance * (double)made->time_ns + time_floor_ns * (double)made->count;
}

static bool agree(int line, const sums *made, const sums *found)
{
    const bool same_bytes = !lines[line].has_bytes || made->bytes == found->bytes;
    const bool same = made->count == found->count && same_bytes && times_agree(made, found);
    printf("%-11s %-8s %8" PRId64 " of %8" PRId64 "  %14" PRId64 " of %14" PRId64
           " bytes  %12.3f of %12.3f ms  %s\n",
           lines[line].operation, lines[line].memory, found->count, made->count, found->bytes,
           made->bytes, 1e-6 * (double)found->time_ns, 1e-6 * (double)made->time_ns,
           same ? "the same" : "DIFFERENT");
    return same;
}

static int compare(sqlite3 *db, int64_t least)
{
    char text[256];
    made_sums all = {0};
    int compared = 0;
    bool same = true;
    while (fgets(text, sizeof text, stdin))
        add_line(text, &all);
    for (int i = 0; i < LINES; i++) {
        sums found;
        if (!all.told[i])
            continue;
        if (recorded(db, i, least, &found))
            return 3;
        same &= agree(i, &all.made[i], &found);
        compared++;
    }
    return same && compared ? 0 : 1;
}

int main(int argc, char **argv)
{
    int64_t least = 0;
    if (argc == 4 && !strcmp(argv[1], "--least")) {
        least = strtoll(argv[2], NULL, 10);
        argv += 2;
        argc -= 2;
    }
    if (argc != 2) {
        fputs("usage: compare_profile [--least BYTES] PROFILE <MADE\n", stderr);
        return 2;
    }
    sqlite3 *db = NULL;
    const int status = sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
                           ? compare(db, least)
                           : fail(db);
    sqlite3_close(db);
    return status;
}
