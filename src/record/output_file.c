/* Nothing is lost by a recording that fails: the old file keeps its name until the new one is
 * complete, and both are decided on before the program runs. */
#include "record/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

/* --- the name */

// NOLINTBEGIN(concurrency-mt-unsafe): the environment is read before the program is started

/* The variables are those of Open MPI, of MPICH, Intel MPI and PMIx's launchers, of MVAPICH and of
 * Slurm's srun. */
const char *hl_record_mpi_rank(void)
{
    static const struct {
        const char *rank, *size;
    } launchers[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
        {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    };
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = getenv(launchers[i].rank), *size = getenv(launchers[i].size);
        if (rank && *rank && size && strtol(size, NULL, 10) > 1 &&
            strspn(rank, "0123456789") == strlen(rank))
            return rank;
    }
    return NULL;
}

typedef struct name_text {
    char *text; /* HL_RECORD_LONGEST_PATH bytes */
    size_t length;
} name_text;

/* `length` goes on past the room, so that one check at the end is enough. */
static void append(name_text *self, const char *text, size_t length)
{
    if (self->length < HL_RECORD_LONGEST_PATH && length < HL_RECORD_LONGEST_PATH - self->length)
        memcpy(self->text + self->length, text, length);
    self->length += length;
}

/* The mark at `at`, which is moved to its last letter. */
static haul_status append_mark(name_text *self, const char **at, long process, haul_error *error)
{
    char text[256] = "";
    const char *value = text, *end = *at + 1;
    const char mark = *end;
    if (mark == 'q') {
        const char *begin = *at + 3;
        end = (*at)[2] == '{' ? strchr(begin, '}') : NULL;
        if (!end || end == begin || (size_t)(end - begin) >= sizeof text)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "no variable in '%.100s': write %%q{NAME}", *at);
        snprintf(text, sizeof text, "%.*s", (int)(end - begin), begin);
        value = getenv(text);
        if (!value)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "no variable '%s' in the environment", text);
    } else if (mark == 'p') {
        snprintf(text, sizeof text, "%ld", process);
    } else if (mark == 'h' && !gethostname(text, sizeof text)) {
        text[sizeof text - 1] = '\0';
    } else if (mark == '%') {
        snprintf(text, sizeof text, "%%");
    } else {
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "no mark '%.2s': a profile's name takes %%p, %%h, %%q{NAME} and %%%%",
                              *at);
    }
    append(self, value, strlen(value));
    *at = end;
    return HAUL_OK;
}

// NOLINTEND(concurrency-mt-unsafe)

/* "dir/prof.sqlite" and rank 3: "dir/prof-3.sqlite". */
static void insert_rank(name_text *self, const char *rank)
{
    char ending[256] = "";
    const char *slash = strrchr(self->text, '/');
    const char *name = slash ? slash + 1 : self->text;
    const char *dot = strrchr(name, '.');
    if (dot && dot > name && strlen(dot) < sizeof ending) {
        snprintf(ending, sizeof ending, "%s", dot);
        self->length = (size_t)(dot - self->text);
    }
    append(self, "-", 1);
    append(self, rank, strlen(rank));
    append(self, ending, strlen(ending));
}

haul_status hl_record_output_name(const char *pattern, long process,
                                  char name[HL_RECORD_LONGEST_PATH], bool *ranked,
                                  haul_error *error)
{
    name_text made = {.text = name};
    bool distinct = false;
    for (const char *at = pattern; *at; at++) {
        haul_status status = HAUL_OK;
        if (*at != '%') {
            append(&made, at, 1);
        } else {
            distinct |= at[1] == 'p' || at[1] == 'q';
            status = append_mark(&made, &at, process, error);
        }
        if (status)
            return status;
    }
    if (made.length < HL_RECORD_LONGEST_PATH)
        name[made.length] = '\0';
    const char *rank =
        distinct || made.length >= HL_RECORD_LONGEST_PATH ? NULL : hl_record_mpi_rank();
    if (rank)
        insert_rank(&made, rank);
    if (made.length >= HL_RECORD_LONGEST_PATH - 64) /* with what is put behind it */
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "the profile's name is too long");
    name[made.length] = '\0';
    *ranked = rank != NULL;
    return HAUL_OK;
}

/* --- what is there already */

/* Decided by the content, not by the ending: a user's database is never replaced, whatever it is
 * called. */
static haul_status check_replaceable(const hl_record_output_file *self, bool replace,
                                     haul_error *error)
{
    struct stat facts;
    if (fstat(self->lock, &facts))
        return hl_base_fail_open(error, self->name);
    if (!S_ISREG(facts.st_mode))
        return haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.300s': not a file",
                              self->name);
    if (!facts.st_size)
        return HAUL_OK;
    /* An empty file costs nobody anything, and programs like mktemp make one. */
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    bool ours = false;
    if (sqlite3_open_v2(self->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db,
                           "SELECT 1 FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_NAME' AND"
                           " value = 'haul record'",
                           -1, &statement, NULL) == SQLITE_OK)
        ours = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    if (!ours)
        return haul_error_set(error, HAUL_STATUS_IO,
                              "will not replace '%.300s': it is no profile of haul record",
                              self->name);
    if (!replace)
        return haul_error_set(
            error, HAUL_STATUS_IO,
            "will not replace '%.300s': it is there already (--force replaces it)", self->name);
    return HAUL_OK;
}

/* --- the lock: of the file itself, so that none is left over when haul is killed */

/* SQLite gets an absolute path, which it cannot take for a URI or for ":memory:". */
static haul_status resolve(hl_record_output_file *self, haul_error *error)
{
    char here[HL_RECORD_LONGEST_PATH] = "", *real = realpath(self->name, NULL);
    if (real) { /* through links */
        const size_t length = strlen(real);
        if (length < sizeof self->path - 64)
            memcpy(self->path, real, length + 1);
        free(real);
        return length < sizeof self->path - 64
                   ? HAUL_OK
                   : haul_error_set(error, HAUL_STATUS_BAD_INPUT, "the profile's path is too long");
    }
    if (self->name[0] != '/' && !getcwd(here, sizeof here))
        return hl_base_fail_open(error, ".");
    const int length =
        snprintf(self->path, sizeof self->path, "%s%s%s", here, here[0] ? "/" : "", self->name);
    if (length < 0 || (size_t)length >= sizeof self->path - 64)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "the profile's path is too long");
    return HAUL_OK;
}

/* The name may have been given to another file between its opening and its locking. */
static bool is_current(const hl_record_output_file *self)
{
    struct stat locked, named;
    return !fstat(self->lock, &locked) && !stat(self->path, &named) &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

/* O_NONBLOCK: a pipe or a device of that name must not make haul wait. A folder is opened for
 * reading, so that the refusal can say what it is. */
static haul_status lock(hl_record_output_file *self, haul_error *error)
{
    self->lock = open(self->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NONBLOCK, 0666);
    self->made = self->lock >= 0;
    if (!self->made && errno == EEXIST)
        self->lock = open(self->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (self->lock < 0)
        self->lock = errno == EISDIR ? open(self->path, O_RDONLY | O_CLOEXEC) : -1;
    if (self->lock < 0)
        return hl_base_fail_open(error, self->name);
    if (!flock(self->lock, LOCK_EX | LOCK_NB) ? !is_current(self) : errno == EWOULDBLOCK) {
        self->made = false; /* it is the other's by now */
        return haul_error_set(error, HAUL_STATUS_IO, "another recording writes '%.300s'",
                              self->name);
    }
    return HAUL_OK;
}

/* Both paths were made with 64 bytes to spare. */
static void with_ending(char *text, const char *path, const char *ending)
{
    snprintf(text, HL_RECORD_LONGEST_PATH, "%.4080s%s", path, ending);
}

static bool has_log(const hl_record_output_file *self)
{
    char log[HL_RECORD_LONGEST_PATH];
    with_ending(log, self->path, "-wal");
    return !access(log, F_OK);
}

static int64_t changed_ns(const struct stat *facts)
{
    return facts->st_mtim.tv_sec * INT64_C(1000000000) + facts->st_mtim.tv_nsec;
}

/* Remembers what is at the name. A log beside no profile is another program's file. */
static haul_status take_facts(hl_record_output_file *self, haul_error *error)
{
    struct stat facts;
    if (fstat(self->lock, &facts))
        return hl_base_fail_open(error, self->name);
    self->bytes = facts.st_size;
    self->changed_ns = changed_ns(&facts);
    self->had_log = has_log(self);
    if (self->had_log && !facts.st_size)
        return haul_error_set(error, HAUL_STATUS_IO,
                              "will not write '%.300s': '%.300s-wal' is there, which SQLite would "
                              "take for a part of it",
                              self->name, self->name);
    return HAUL_OK;
}

/* Whether nobody has put another file at the name, or written into it. */
static bool is_untouched(const hl_record_output_file *self)
{
    struct stat facts;
    return is_current(self) && !fstat(self->lock, &facts) && facts.st_size == self->bytes &&
           changed_ns(&facts) == self->changed_ns && has_log(self) == self->had_log;
}

/* The temporary file lies beside the name, on the same file system, so that the rename replaces in
 * one step; it gets the mode of the file that it replaces. */
haul_status hl_record_output_open(hl_record_output_file *self, bool replace, haul_error *error)
{
    self->lock = -1;
    self->made = false;
    haul_status status = resolve(self, error);
    if (!status)
        status = lock(self, error);
    if (!status)
        status = check_replaceable(self, replace, error);
    if (!status)
        status = take_facts(self, error);
    struct stat facts;
    snprintf(self->temporary, sizeof self->temporary, "%.4030s.part-XXXXXX", self->path);
    const int file = status ? -1 : mkstemp(self->temporary);
    if (file < 0) {
        status = status ? status : hl_base_fail_open(error, self->name);
        self->temporary[0] = '\0';
        hl_record_output_drop(self);
        return status;
    }
    if (!fstat(self->lock, &facts))
        fchmod(file, facts.st_mode & 0777);
    close(file);
    return HAUL_OK;
}

/* --- the end */

/* A log beside the file is part of it: SQLite reads the two as one. */
haul_status hl_record_output_keep(hl_record_output_file *self, haul_error *error)
{
    char from[HL_RECORD_LONGEST_PATH], to[HL_RECORD_LONGEST_PATH];
    haul_status status = HAUL_OK;
    if (!is_untouched(self)) {
        status = haul_error_set(error, HAUL_STATUS_IO,
                                "'%.300s' was changed during the recording and is left as it is: "
                                "the profile is in '%.500s'",
                                self->name, self->temporary);
        self->temporary[0] = '\0', self->made = false;
        hl_record_output_drop(self);
        return status;
    }
    with_ending(from, self->temporary, "-wal"); /* a full disk had no room for it in the file */
    with_ending(to, self->path, "-wal");
    if (rename(from, to) && errno == ENOENT)
        unlink(to); /* an older one is none of the new file's */
    if (rename(self->temporary, self->path))
        status = hl_base_fail_open(error, self->name);
    else
        self->temporary[0] = '\0', self->made = false;
    hl_record_output_drop(self);
    return status;
}

/* An empty file of ours goes only while the name still is that file's, and nobody has written to
 * it. */
void hl_record_output_drop(hl_record_output_file *self)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char name[HL_RECORD_LONGEST_PATH];
    for (size_t i = 0; self->temporary[0] && i < sizeof endings / sizeof *endings; i++) {
        with_ending(name, self->temporary, endings[i]);
        unlink(name);
    }
    self->temporary[0] = '\0';
    if (self->made && is_untouched(self))
        unlink(self->path);
    if (self->lock >= 0)
        close(self->lock);
    self->lock = -1;
}
