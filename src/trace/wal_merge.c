/* A write-ahead log beside a database (sqlite.org/walformat.html), merged in memory: SQLite itself
 * would write to the folder of a file that is only to be read. */
#include "trace/wal_merge.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

enum {
    LOG_HEAD = 32,
    FRAME_HEAD = 24,
    WRITE_VERSION = 18, /* bytes of a database that say it has a log */
    READ_VERSION = 19,
};

typedef struct bytes {
    unsigned char *at; /* sqlite3_malloc64's */
    size_t count;
} bytes;

typedef struct wal {
    bytes log;
    size_t page_bytes;
    bool big_endian;      /* words of the checksums */
    uint32_t sums[2];     /* of all frames so far */
    size_t frames;        /* whole ones in the file */
    size_t committed;     /* frames up to the last commit */
    uint32_t pages_after; /* of the database after that */
} wal;

static uint32_t word(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Whole: a log is as long as what was written since the last checkpoint. */
static haul_status read_file(const char *path, bytes *read, haul_error *error)
{
    struct stat facts;
    FILE *file = fopen(path, "rbe");
    if (!file || fstat(fileno(file), &facts)) {
        hl_base_fail_open(error, path);
        if (file)
            fclose(file);
        return HAUL_STATUS_IO;
    }
    read->count = (size_t)facts.st_size;
    read->at = sqlite3_malloc64(read->count + 1);
    if (read->at)
        read->count = fread(read->at, 1, read->count, file);
    const bool failed = ferror(file);
    fclose(file);
    if (!read->at)
        return hl_base_fail_no_memory(error);
    return failed ? hl_base_fail_read(error, path) : HAUL_OK;
}

/* --- the log */

/* The checksum of the format, section 4.2: pairs of words, in the byte order that the head gives.
 */
static void add_sums(const wal *self, const unsigned char *at, size_t count, uint32_t sums[2])
{
    for (size_t i = 0; i + 8 <= count; i += 8) {
        uint32_t pair[2] = {word(at + i), word(at + i + 4)};
        if (!self->big_endian)
            for (int k = 0; k < 2; k++)
                pair[k] = pair[k] >> 24 | (pair[k] >> 8 & 0xff00) | (pair[k] & 0xff00) << 8 |
                          pair[k] << 24;
        sums[0] += pair[0] + sums[1];
        sums[1] += pair[1] + sums[0];
    }
}

static bool is_sum(const unsigned char *at, const uint32_t sums[2])
{
    return word(at) == sums[0] && word(at + 4) == sums[1];
}

/* The magic number tells the byte order of the checksums; the page size must be a power of two. */
static bool read_head(wal *self)
{
    const unsigned char *head = self->log.at;
    if (self->log.count < LOG_HEAD || (word(head) & ~1U) != 0x377f0682)
        return false;
    self->big_endian = word(head) & 1;
    self->page_bytes = word(head + 8);
    add_sums(self, head, 24, self->sums);
    if (!is_sum(head + 24, self->sums) || self->page_bytes < 512 || self->page_bytes > 65536 ||
        (self->page_bytes & (self->page_bytes - 1)))
        return false;
    self->frames = (self->log.count - LOG_HEAD) / (FRAME_HEAD + self->page_bytes);
    return true;
}

/* Frames are a head of 24 bytes and a page each, behind the log's own head. */
static const unsigned char *frame_of(const wal *self, size_t number)
{
    return self->log.at + LOG_HEAD + number * (FRAME_HEAD + self->page_bytes);
}

/* Finds the frames that count. Returns what is wrong behind them, NULL for nothing: frames of other
 * salts are left of an earlier round through the log. */
static const char *check_frames(wal *self)
{
    const unsigned char *salts = self->log.at + 16;
    size_t number = 0;
    const char *note = NULL;
    for (; !note && number < self->frames; number++) {
        const unsigned char *frame = frame_of(self, number);
        if (memcmp(frame + 8, salts, 8) != 0)
            break;
        add_sums(self, frame, 8, self->sums);
        add_sums(self, frame + FRAME_HEAD, self->page_bytes, self->sums);
        if (!word(frame) || !is_sum(frame + 16, self->sums)) {
            note = "the write-ahead log beside the file is damaged: what follows is left out";
        } else if (word(frame + 4)) {
            self->committed = number + 1;
            self->pages_after = word(frame + 4);
        }
    }
    const size_t rest = (self->log.count - LOG_HEAD) % (FRAME_HEAD + self->page_bytes);
    if (!note && (number > self->committed || (number == self->frames && rest)))
        note = "the write-ahead log beside the file ends within a transaction, which is left out";
    return note;
}

/* --- the image */

/* A hostile log may name any number of pages: the image has no more than the two files. */
static haul_status merge(const wal *self, bytes *image, haul_error *error)
{
    const size_t page = self->page_bytes;
    if (!self->committed)
        return HAUL_OK;
    const uint64_t most = image->count / page + 1 + self->committed;
    if (self->pages_after > most)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "corrupt write-ahead log: more pages than it has");
    const size_t count = self->pages_after * page;
    unsigned char *grown = sqlite3_realloc64(image->at, count + 1);
    if (!grown)
        return hl_base_fail_no_memory(error);
    if (count > image->count)
        memset(grown + image->count, 0, count - image->count);
    *image = (bytes){grown, count};
    for (size_t i = 0; i < self->committed; i++) {
        const unsigned char *frame = frame_of(self, i);
        const uint64_t number = word(frame) - 1;
        if (number < self->pages_after)
            memcpy(grown + number * page, frame + FRAME_HEAD, page);
    }
    return HAUL_OK;
}

/* Takes the image, also on failure. */
static haul_status open_image(bytes *image, sqlite3 **db, haul_error *error)
{
    int code = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (image->count > READ_VERSION) /* an image in memory has no log */
        image->at[WRITE_VERSION] = image->at[READ_VERSION] = 1;
    if (code == SQLITE_OK)
        code = sqlite3_deserialize(*db, "main", image->at, (sqlite3_int64)image->count,
                                   (sqlite3_int64)image->count,
                                   SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    else
        sqlite3_free(image->at);
    image->at = NULL;
    if (code == SQLITE_OK)
        return HAUL_OK;
    sqlite3_close(*db);
    *db = NULL;
    return hl_base_fail_no_memory(error);
}

/* A log that is no log, or is damaged, costs what it holds, not the database. */
haul_status hl_trace_wal_open(const char *path, sqlite3 **db, const char **note, haul_error *error)
{
    wal self = {.committed = 0};
    bytes image = {0};
    char *name = sqlite3_mprintf("%s-wal", path);
    haul_status status = name ? read_file(path, &image, error) : hl_base_fail_no_memory(error);
    if (!status)
        status = read_file(name, &self.log, error);
    *note = NULL;
    if (!status) {
        if (read_head(&self))
            *note = check_frames(&self);
        else
            *note = "the write-ahead log beside the file is none of it, and is left out";
        status = merge(&self, &image, error);
    }
    if (!status)
        status = open_image(&image, db, error);
    sqlite3_free(image.at);
    sqlite3_free(self.log.at);
    sqlite3_free(name);
    return status;
}
