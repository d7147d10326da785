/* A timeline as a trace for Perfetto and Chrome, within a number of bytes: a viewer in a browser
 * holds the whole trace in memory, and one of a long profile would not fit.
 *
 * Passes that only count choose the events to draw, by the same code that then writes them. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/json_out.h"
#include "base/numerals.h"
#include "haul/version.h"
#include "report/perfetto_rows.h"
#include "report/wording.h"

enum { HEAD_BYTES = 16384 /* what is not an event */ };

typedef struct perfetto {
    hl_report_perfetto_rows *rows;
    size_t count;
    uint64_t limit_bytes;
} perfetto;

static void draw_all(perfetto *self, hl_report_drawing *drawing)
{
    for (size_t i = 0; i < self->count; i++)
        hl_report_rows_draw(&self->rows[i], drawing);
    /* Kept with the counts, for the sentence that says what the trace leaves out. */
    drawing->thinned.shorter_than_ns = drawing->merge_ns;
    drawing->thinned.without_arrows = !drawing->full;
}

/* Steps of a quarter of a power of two: 1, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, ... */
enum { MERGE_STEPS = 4 * 61 };

static int64_t merge_ns_of(int step)
{
    /* (4 + k) / 4 times a power of two: the step taken is at most 25 % above the least that
     * fits. */
    return (int64_t)((uint64_t)(4 + step % 4) << (step / 4) >> 2);
}

static bool fits(perfetto *self, hl_report_drawing tried)
{
    /* `tried` is a copy: counting must not change the drawing that is chosen. */
    draw_all(self, &tried);
    return tried.bytes + HEAD_BYTES < self->limit_bytes;
}

/* As much as there is room for: all; all without arrows; then the least that has to be merged, by
 * bisection over the steps. */
static bool choose_drawing(perfetto *self, hl_report_drawing *drawing)
{
    *drawing = (hl_report_drawing){.full = true};
    if (fits(self, *drawing))
        return true;
    drawing->full = false;
    if (fits(self, *drawing))
        return true;
    /* More merging draws less, as a rule; whether the last step fits is tried again at the end. */
    int low = 0, high = MERGE_STEPS;
    while (low < high) {
        const int middle = (low + high) / 2;
        drawing->merge_ns = merge_ns_of(middle);
        if (fits(self, *drawing))
            high = middle;
        else
            low = middle + 1;
    }
    /* The last try may have been one that did not fit. */
    drawing->merge_ns = merge_ns_of(high);
    return fits(self, *drawing);
}

/* A trace that leaves something out says so, for it looks complete. Also for the page and for
 * stderr, which say the same. */
char *haul_thinned_text(const haul_thinned *thinned, char *buffer, size_t size)
{
    HL_PLAIN_NUMERALS;
    int length = 0;
    *buffer = '\0';
    if (thinned->merged)
        length = snprintf(buffer, size,
                          "%s of %s operations and calls, shorter than %s, are drawn together with "
                          "others close to them; ",
                          hl_report_say_count(thinned->merged).text,
                          hl_report_say_count(thinned->operations).text,
                          hl_report_say_time(thinned->shorter_than_ns).text);
    if (thinned->without_arrows && (size_t)length < size)
        length += snprintf(buffer + length, size - (size_t)length, "arrows are left out; ");
    if (thinned->hidden && (size_t)length < size)
        length += snprintf(buffer + length, size - (size_t)length,
                           "%s that overlap %d others of their stream are left out; ",
                           hl_report_say_number_of(thinned->hidden, "operation", NULL).text,
                           HL_REPORT_LANES);
    /* The last "; " is cut off. */
    if (length > 1 && (size_t)length < size)
        buffer[length - 2] = '\0';
    return buffer;
}

static void write_trace(perfetto *self, hl_report_drawing *drawing, const haul_thinned *thinned,
                        FILE *out)
{
    const haul_workload *workload = self->rows[0].drawn->workload;
    char left_out[512];
    haul_thinned_text(thinned, left_out, sizeof left_out);
    /* Written by hand around json_out, which indents: millions of events are one line each. */
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":", out);
    hl_base_json json = hl_base_json_begin(out);
    hl_base_json_open_object(&json);
    hl_base_json_put_string(&json, "haul", haul_version());
    hl_base_json_put_string(&json, "source", workload->source);
    hl_base_json_put_string(&json, "format", workload->format);
    hl_base_json_put_string(&json, "left_out", *left_out ? left_out : NULL);
    hl_base_json_close_object(&json);
    fputs(",\n\"traceEvents\":[\n", out);
    /* as an event too, where whoever looks at the trace can see it */
    if (*left_out) {
        fputs("{\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":", out);
        json = hl_base_json_begin(out);
        hl_base_json_string(&json, left_out);
        fputs("},\n", out);
    }
    drawing->out = out;
    draw_all(self, drawing);
    /* the last event has no comma behind it: what the trace is of */
    fputs("{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":", out);
    json = hl_base_json_begin(out);
    hl_base_json_string(&json, workload->source);
    fputs("}}\n]}\n", out);
}

haul_status haul_report_perfetto(const haul_drawn *timelines, size_t count, uint64_t limit_bytes,
                                 FILE *out, haul_thinned *thinned, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    if (!count || count > HAUL_REPORT_DRAWN_MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a trace is of 1 to %d timelines",
                              HAUL_REPORT_DRAWN_MOST);
    perfetto self = {
        .rows = calloc(count, sizeof *self.rows),
        .count = count,
        /* 0: the usual limit. */
        .limit_bytes = limit_bytes ? limit_bytes : HAUL_TRACE_BYTES,
    };
    if (!self.rows)
        return hl_base_fail_no_memory(error);
    haul_status status = HAUL_OK;
    hl_report_track next = {1, 1};
    /* Numbers of tracks start behind those of processes, so that no thread shares an id with
     * one. */
    for (size_t i = 0; i < count; i++)
        next.tid += (uint32_t)timelines[i].workload->device_count + 2;
    for (size_t i = 0; !status && i < count; i++)
        status = hl_report_rows_init(&self.rows[i], &timelines[i], &next, error);
    hl_report_drawing drawing;
    if (!status && !choose_drawing(&self, &drawing))
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                "the names of the streams alone take more than the %" PRIu64
                                " bytes that a trace may have",
                                self.limit_bytes);
    if (!status) {
        /* The sentence about what is left out stands before the events: it is counted in one more
         * pass. */
        hl_report_drawing counted = drawing;
        draw_all(&self, &counted);
        write_trace(&self, &drawing, &counted.thinned, out);
        if (ferror(out))
            status = haul_error_set(error, HAUL_STATUS_IO, "cannot write the trace");
        else if (thinned)
            *thinned = counted.thinned;
    }
    for (size_t i = 0; i < count; i++)
        hl_report_rows_release(&self.rows[i]);
    free(self.rows);
    return status;
}
