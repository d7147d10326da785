/* Blocks are taken in the table's order, from the scan that has the fewest ahead of its reader. The
 * reader never waits: where a helper that lost its core has the next block it steps that one
 * itself. A block that ended in an error it steps again as it comes to it: what it then finds is
 * what one thread would. */
#include "trace/sqlite_blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_ROWS = 1024, /* 150 KB: stays in a core's second cache */
    AHEAD = 8,         /* blocks of a table that are stepped before they are asked for */
    LEAST_ROWS = 64 * BLOCK_ROWS,
    MOST_HELPERS = 7, /* the reader takes a third of the time that stepping and reading take */
    ENDLESS = -1,     /* more rows than row numbers, beside SQLite's codes */
};

typedef enum block_state { FREE, STEPPING, READY } block_state;

typedef struct block {
    block_state state;
    int code; /* SQLITE_DONE, or what ended it */
    uint32_t count;
    hl_trace_row *rows; /* BLOCK_ROWS and one to spare */
} block;

struct hl_trace_blocks {
    struct hl_trace_helpers *helpers;
    hl_trace_blocks *next; /* scan of the source that has not ended */
    char *sql;
    const uint8_t *present;
    int64_t first, last; /* row numbers */
    uint64_t count;      /* blocks */
    uint64_t at;         /* the reader's block */
    uint64_t taken;      /* blocks that were begun to be stepped */
    block *reading;      /* block `at`: of the ring, or the reader's own; NULL before the first */
    uint32_t row;        /* of it, the next */
    int stepping;        /* helpers that step a block of it */
    sqlite3_stmt *stmts[MOST_HELPERS + 1];
    block own;
    block ring[AHEAD]; /* block n in place n % AHEAD */
};

typedef struct helper {
    struct hl_trace_helpers *of;
    pthread_t thread;
    int number; /* from 1: the reader is 0 */
    hl_trace_source source;
} helper;

typedef struct hl_trace_helpers {
    hl_trace_source *source;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
    hl_trace_blocks *scans;
    int count;
    helper items[MOST_HELPERS];
} helpers;

/* Steps a block of a scan, in whichever thread. The statement of another connection than the
 * reader's ends with that connection. */
static void step_block(hl_trace_blocks *scan, uint64_t number, block *made, hl_trace_source *source,
                       int stepper)
{
    sqlite3_stmt **const stmt = &scan->stmts[stepper];
    const int64_t first = scan->first + (int64_t)number * BLOCK_ROWS;
    made->count = 0;
    made->code = SQLITE_OK;
    if (!*stmt)
        made->code = sqlite3_prepare_v2(source->db, scan->sql, -1, stmt, NULL);
    if (made->code != SQLITE_OK)
        return;
    (void)sqlite3_bind_int64(*stmt, 1, first);
    (void)sqlite3_bind_int64(*stmt, 2, first + BLOCK_ROWS - 1);
    source->present = scan->present;
    do {
        source->row = &made->rows[made->count];
        made->code = sqlite3_step(*stmt);
        made->count += made->code == SQLITE_ROW;
    } while (made->code == SQLITE_ROW && made->count <= BLOCK_ROWS);
    if (made->code == SQLITE_ROW) {
        made->code = ENDLESS;
        made->count = BLOCK_ROWS;
    }
    (void)sqlite3_reset(*stmt);
}

/* With the lock held: the scan whose next block is to be stepped, NULL where none has room. */
static hl_trace_blocks *take_block(const helpers *self, uint64_t *number)
{
    hl_trace_blocks *found = NULL;
    for (hl_trace_blocks *scan = self->scans; scan; scan = scan->next)
        if (scan->taken < scan->count && scan->taken < scan->at + AHEAD &&
            scan->ring[scan->taken % AHEAD].state == FREE &&
            (!found || scan->taken - scan->at < found->taken - found->at))
            found = scan;
    if (!found)
        return NULL;
    found->ring[found->taken % AHEAD].state = STEPPING;
    *number = found->taken++;
    return found;
}

/* With the lock held, which is let go meanwhile: steps a block that was taken. The reader may have
 * gone past it. */
static void step_taken(helpers *self, hl_trace_blocks *scan, uint64_t number,
                       hl_trace_source *source, int stepper)
{
    block *const made = &scan->ring[number % AHEAD];
    scan->stepping++;
    pthread_mutex_unlock(&self->lock);
    step_block(scan, number, made, source, stepper);
    pthread_mutex_lock(&self->lock);
    scan->stepping--;
    made->state = number < scan->at ? FREE : READY;
}

static void *serve(void *helper_)
{
    helper *const self = helper_;
    helpers *const of = self->of;
    uint64_t number = 0;
    const bool is_open =
        !hl_trace_source_open(&self->source, of->source->path, of->source->path, NULL);
    pthread_mutex_lock(&of->lock);
    while (is_open && !of->ended) {
        hl_trace_blocks *const scan = take_block(of, &number);
        if (!scan) {
            pthread_cond_wait(&of->changed, &of->lock);
            continue;
        }
        step_taken(of, scan, number, &self->source, self->number);
        pthread_cond_broadcast(&of->changed);
    }
    pthread_mutex_unlock(&of->lock);
    if (is_open) {
        sqlite3_stmt *stmt;
        while ((stmt = sqlite3_next_stmt(self->source.db, NULL)))
            sqlite3_finalize(stmt);
        hl_trace_source_close(&self->source);
    }
    return NULL;
}

static void stop(helpers *self)
{
    pthread_mutex_lock(&self->lock);
    self->ended = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    for (int i = 0; i < self->count; i++)
        pthread_join(self->items[i].thread, NULL);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* A helper on each core that no other source is read on. NULL without any. */
static helpers *start(hl_trace_source *source)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const long idle = cores - hl_trace_sources_open();
    helpers *const self = idle > 0 && sqlite3_threadsafe() ? calloc(1, sizeof *self) : NULL;
    if (!self)
        return NULL;
    self->source = source;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    while (self->count < idle && self->count < MOST_HELPERS) {
        helper *const one = &self->items[self->count];
        *one = (helper){.of = self, .number = self->count + 1};
        if (pthread_create(&one->thread, NULL, serve, one))
            break;
        self->count++;
    }
    if (self->count)
        return self;
    stop(self);
    return NULL;
}

/* Row numbers from the first to the last, where there are many and they count rows: of fewer rows
 * than numbers most blocks would be empty. A column named as the number is not the number. */
static bool find_range(hl_trace_source *source, const char *table, int64_t *first, int64_t *last)
{
    char *const least = sqlite3_mprintf("SELECT min(rowid) FROM main.\"%w\"", table);
    char *const most = sqlite3_mprintf("SELECT max(rowid) FROM main.\"%w\"", table);
    *first = *last = -1;
    const bool is_found = least && most &&
                          !hl_trace_source_has_named(source, table, "rowid", strlen("rowid")) &&
                          hl_trace_source_integer(source->db, least, first) == SQLITE_OK &&
                          hl_trace_source_integer(source->db, most, last) == SQLITE_OK;
    sqlite3_free(least);
    sqlite3_free(most);
    return is_found && *first >= 0 && *last >= *first && *last - *first >= LEAST_ROWS &&
           (uint64_t)*last <= hl_trace_source_row_estimate(source, table);
}

static void free_blocks(hl_trace_blocks *self)
{
    for (int i = 0; i < AHEAD; i++)
        free(self->ring[i].rows);
    free(self->own.rows);
    sqlite3_free(self->sql);
    free(self);
}

static hl_trace_blocks *make_blocks(const char *select, int64_t first, int64_t last)
{
    hl_trace_blocks *const self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->first = first;
    self->last = last;
    self->count = (uint64_t)(last - first) / BLOCK_ROWS + 1;
    self->sql = sqlite3_mprintf("%s WHERE rowid BETWEEN ?1 AND ?2", select);
    self->own.rows = calloc(BLOCK_ROWS + 1, sizeof(hl_trace_row));
    bool enough = self->sql && self->own.rows;
    for (int i = 0; i < AHEAD; i++) {
        self->ring[i].rows = calloc(BLOCK_ROWS + 1, sizeof(hl_trace_row));
        enough &= self->ring[i].rows != NULL;
    }
    if (enough)
        return self;
    free_blocks(self);
    return NULL;
}

hl_trace_blocks *hl_trace_blocks_begin(hl_trace_source *source, const char *table,
                                       const char *select, const uint8_t *present)
{
    int64_t first, last;
    if (!source->is_file || !find_range(source, table, &first, &last))
        return NULL;
    if (!source->helpers) {
        source->helpers = start(source);
        source->stop_helpers = stop;
    }
    hl_trace_blocks *const self = source->helpers ? make_blocks(select, first, last) : NULL;
    if (!self || sqlite3_prepare_v2(source->db, self->sql, -1, &self->stmts[0], NULL)) {
        if (self)
            free_blocks(self);
        return NULL;
    }
    self->present = present;
    self->helpers = source->helpers;
    pthread_mutex_lock(&self->helpers->lock);
    self->next = self->helpers->scans;
    self->helpers->scans = self;
    pthread_cond_broadcast(&self->helpers->changed);
    pthread_mutex_unlock(&self->helpers->lock);
    return self;
}

/* Goes to the next block. While a helper steps it this thread steps those behind it, and where
 * there are none that block as well. */
static void next_block(hl_trace_blocks *self)
{
    helpers *const of = self->helpers;
    uint64_t number = 0;
    pthread_mutex_lock(&of->lock);
    if (self->reading) {
        block *const passed = &self->ring[self->at++ % AHEAD];
        passed->state = passed->state == STEPPING ? STEPPING : FREE;
        pthread_cond_broadcast(&of->changed);
    }
    block *const next = &self->ring[self->at % AHEAD];
    hl_trace_blocks *scan = NULL;
    self->row = 0;
    self->reading = NULL;
    if (self->at < self->count) {
        while (!(self->at < self->taken && next->state == READY) &&
               (scan = take_block(of, &number)))
            step_taken(of, scan, number, of->source, 0);
        self->reading = self->at < self->taken && next->state == READY ? next : &self->own;
        self->taken += self->at == self->taken;
    }
    pthread_mutex_unlock(&of->lock);
    if (self->reading == &self->own)
        step_block(self, self->at, &self->own, of->source, 0);
}

const hl_trace_row *hl_trace_blocks_next(hl_trace_blocks *self, int *code)
{
    *code = SQLITE_DONE;
    do {
        block *const at = self->reading;
        if (at && self->row < at->count)
            return &at->rows[self->row++];
        if (at && at->code != SQLITE_DONE)
            step_block(self, self->at, at, self->helpers->source, 0);
        if (at && self->row < at->count)
            continue;
        if (at && at->code != SQLITE_DONE) {
            *code = at->code == ENDLESS ? SQLITE_CORRUPT : at->code;
            return NULL;
        }
        next_block(self);
    } while (self->reading);
    return NULL;
}

void hl_trace_blocks_end(hl_trace_blocks *self)
{
    helpers *const of = self->helpers;
    pthread_mutex_lock(&of->lock);
    hl_trace_blocks **link = &of->scans;
    while (*link != self)
        link = &(*link)->next;
    *link = self->next;
    while (self->stepping)
        pthread_cond_wait(&of->changed, &of->lock);
    pthread_mutex_unlock(&of->lock);
    sqlite3_finalize(self->stmts[0]);
    free_blocks(self);
}
