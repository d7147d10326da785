/* A timeline in characters. A cell stands for an equal part of the time and shows what took most of
 * it; one that is mostly idle while several operations ran in it has a sign of its own, so that
 * many short copies do not look like one long one. */
#include "report/timeline_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/wording.h"

enum { ROWS_MOST = 32, LABEL_MOST = 20, CELLS_LEAST = 20 };

/* The contents of a cell: a sign, and its meaning. */
typedef enum mark { HTOD, DTOH, OTHER_COPY, KERNEL, MEMSET, HOST_WAIT, HOST_WORK, MARKS } mark;

static const struct {
    char sign;
    const char *text;
} marks[MARKS] = {
    [HTOD] = {'>', "HtoD"},      [DTOH] = {'<', "DtoH"},     [OTHER_COPY] = {'=', "copy"},
    [KERNEL] = {'#', "kernel"},  [MEMSET] = {'o', "memset"}, [HOST_WAIT] = {'w', "wait"},
    [HOST_WORK] = {'h', "host"},
};

static const char sparse = ':';

typedef struct cell {
    int64_t busy_ns[MARKS];
    uint32_t ops;
} cell;

/* Rows are streams, then threads; those without anything to show are left out. */
typedef struct canvas {
    const haul_workload *workload;
    const haul_span *spans;
    uint32_t *row_of; /* of each stream and thread; HAUL_NONE: not drawn */
    uint32_t rows;
    uint32_t drawn;
    unsigned cells;
    int64_t start_ns;
    int64_t end_ns;
    cell *at; /* row by row */
    bool used[MARKS];
    bool has_sparse;
} canvas;

static mark mark_of(const haul_op *op)
{
    switch ((haul_op_kind)op->kind) {
    case HAUL_OP_COPY:
        /* Copies on the device, between devices and on the host have one sign. */
        if (!haul_op_crosses_link(op))
            return OTHER_COPY;
        return op->direction == HAUL_DIRECTION_HTOD ? HTOD : DTOH;
    case HAUL_OP_KERNEL:
        return KERNEL;
    case HAUL_OP_MEMSET:
        return MEMSET;
    case HAUL_OP_MESSAGE:
        return OTHER_COPY;
    case HAUL_OP_SYNC:
        return HOST_WAIT;
    case HAUL_OP_CALL:
        break;
    }
    return HOST_WORK;
}

static size_t actor_of(const canvas *self, const haul_op *op)
{
    /* Threads are numbered behind the streams. */
    return haul_op_on_device(op) ? op->stream : self->workload->stream_count + op->thread;
}

static void find_rows(canvas *self)
{
    const haul_workload *workload = self->workload;
    const size_t actors = workload->stream_count + workload->thread_count;
    /* All ones are HAUL_NONE: no operation yet. */
    memset(self->row_of, 0xff, (actors + 1) * sizeof *self->row_of);
    self->start_ns = INT64_MAX;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_span span = self->spans[i];
        self->row_of[actor_of(self, &workload->ops[i])] = 0;
        self->start_ns = span.start_ns < self->start_ns ? span.start_ns : self->start_ns;
        self->end_ns = span.end_ns > self->end_ns ? span.end_ns : self->end_ns;
    }
    for (size_t a = 0; a < actors; a++)
        if (self->row_of[a] != HAUL_NONE)
            self->row_of[a] = self->rows++;
    /* More rows than a screen has lines are counted below the drawing. */
    self->drawn = self->rows < ROWS_MOST ? self->rows : ROWS_MOST;
}

/* Where cell `at` begins: of equal parts, to the nanosecond. */
static int64_t cell_start_ns(const canvas *self, unsigned at)
{
    /* As doubles: the product of two 64-bit numbers may overflow. */
    const double share = (double)at / self->cells;
    return self->start_ns + (int64_t)((double)(self->end_ns - self->start_ns) * share);
}

static unsigned cell_at(const canvas *self, int64_t time_ns)
{
    const double whole = (double)(self->end_ns - self->start_ns);
    double at = (double)(time_ns - self->start_ns) / (whole > 0 ? whole : 1) * self->cells;
    /* The end of the last operation lies on the edge behind the last cell. */
    at = at < self->cells ? at : self->cells - 1;
    return (unsigned)at;
}

/* An operation that took less than a nanosecond of a cell still counts for one: nothing that ran is
 * invisible. */
static void add_op(canvas *self, size_t i)
{
    const haul_op *op = &self->workload->ops[i];
    const haul_span span = self->spans[i];
    const uint32_t row = self->row_of[actor_of(self, op)];
    if (row >= self->drawn || span.end_ns == span.start_ns)
        return;
    const mark shown = mark_of(op);
    const unsigned last = cell_at(self, span.end_ns - 1);
    self->used[shown] = true;
    for (unsigned c = cell_at(self, span.start_ns); c <= last; c++) {
        const int64_t from_ns = cell_start_ns(self, c), to_ns = cell_start_ns(self, c + 1);
        const int64_t begin_ns = span.start_ns > from_ns ? span.start_ns : from_ns;
        const int64_t end_ns = span.end_ns < to_ns ? span.end_ns : to_ns;
        const int64_t busy_ns = end_ns - begin_ns;
        cell *at = &self->at[(size_t)row * self->cells + c];
        at->busy_ns[shown] += busy_ns > 1 ? busy_ns : 1;
        at->ops++;
    }
}

/* The kind of work that took most of a cell: nothing that ran is hidden, and many that are short do
 * not look like one that is long. */
static char sign_of(canvas *self, const cell *at)
{
    const int64_t cell_ns = (self->end_ns - self->start_ns) / self->cells;
    int64_t busy_ns = 0;
    int most = 0;
    for (int m = 0; m < MARKS; m++) {
        busy_ns += at->busy_ns[m];
        if (at->busy_ns[m] > at->busy_ns[most])
            most = m;
    }
    if (!busy_ns)
        return '.';
    /* One operation alone is drawn as it is, however short: only several can mislead. */
    const bool is_sparse = at->ops > 1 && busy_ns < cell_ns / 2;
    self->has_sparse |= is_sparse;
    if (is_sparse)
        return sparse;
    return marks[most].sign;
}

/* "0: stream 7": the device where there are several, and the name or number. */
static void label_row(const canvas *self, size_t actor, char *text, size_t size)
{
    const haul_workload *workload = self->workload;
    const bool is_stream = actor < workload->stream_count;
    const size_t thread = actor - workload->stream_count;
    const haul_workload_stream *stream = is_stream ? &workload->streams[actor] : NULL;
    const char *name = is_stream ? stream->name : workload->threads[thread].name;
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64,
             is_stream ? stream->id : workload->threads[thread].id);
    char short_name[4 * LABEL_MOST + 8];
    name =
        hl_report_shorten_name(name ? name : number, LABEL_MOST - 4, short_name, sizeof short_name);
    if (is_stream && workload->device_count > 1 && stream->device < workload->device_count)
        snprintf(text, size, "%" PRIu64 ": %s", workload->devices[stream->device].id, name);
    else
        snprintf(text, size, "%s", name);
}

/* Rows that are left out, both ends of the time, and the signs that occur. */
static void print_legend(const canvas *self, size_t indent, FILE *out)
{
    const hl_report_words from = hl_report_say_time(self->start_ns),
                          to = hl_report_say_time(self->end_ns);
    /* Both ends of the time stand under the first and the last cell. */
    const int gap = (int)self->cells - (int)strlen(from.text) - (int)strlen(to.text);
    if (self->rows > self->drawn)
        fprintf(out, "and %s more\n", hl_report_say_count(self->rows - self->drawn).text);
    fprintf(out, "%*s%s%*s%s\n%*s", (int)indent + 2, "", from.text, gap > 1 ? gap : 1, "", to.text,
            (int)indent + 2, "");
    const char *before = "";
    for (int m = 0; m < MARKS; m++) {
        if (!self->used[m])
            continue;
        fprintf(out, "%s%c %s", before, marks[m].sign, marks[m].text);
        before = "   ";
    }
    if (self->has_sparse)
        fprintf(out, "%s%c several, idle for more than half", before, sparse);
    fputc('\n', out);
}

bool hl_report_timeline_draw(const haul_workload *workload, const haul_span *spans, unsigned width,
                             FILE *out)
{
    canvas self = {.workload = workload, .spans = spans};
    const size_t actors = workload->stream_count + workload->thread_count;
    char label[128];
    size_t indent = 0; /* the widest label */
    self.row_of = malloc((actors + 1) * sizeof *self.row_of);
    if (!self.row_of)
        return false;
    find_rows(&self);
    for (size_t a = 0; a < actors; a++) {
        if (self.row_of[a] >= self.drawn)
            continue;
        label_row(&self, a, label, sizeof label);
        indent = hl_base_utf8_count(label) > indent ? hl_base_utf8_count(label) : indent;
    }
    /* Fewer cells than this show nothing: on a narrow terminal the lines are longer than it. */
    self.cells = width > indent + 2 + CELLS_LEAST ? width - (unsigned)indent - 2 : CELLS_LEAST;
    /* One more, so that a timeline without rows does not look like one without memory. */
    cell *cells = self.at = calloc((size_t)self.drawn * self.cells + 1, sizeof *cells);
    for (size_t i = 0; cells && i < workload->op_count; i++)
        add_op(&self, i);
    for (size_t a = 0; cells && a < actors; a++) {
        if (self.row_of[a] >= self.drawn)
            continue;
        label_row(&self, a, label, sizeof label);
        hl_base_utf8_print(label, strlen(label), out);
        fprintf(out, "%*s", (int)(indent - hl_base_utf8_count(label)) + 2, "");
        for (unsigned c = 0; c < self.cells; c++)
            fputc(sign_of(&self, &cells[(size_t)self.row_of[a] * self.cells + c]), out);
        fputc('\n', out);
    }
    if (cells)
        print_legend(&self, indent, out);
    free(self.row_of);
    free(cells);
    return cells != NULL;
}
