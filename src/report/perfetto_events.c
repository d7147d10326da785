/* Events of Chrome's Trace Event Format. The bytes of each are counted from above before any is
 * written: names as they are escaped, numbers by their digits, the rest by its longest form. */
#include "report/perfetto_events.h"
#include <inttypes.h>
#include <stdlib.h>

#include "base/chrome_events.h"
#include "base/utf8.h"
#include "report/wording.h"

enum {
    NAME_WIDTH = 80,
    NAMES_MOST = 1 << 26,
    FIXED_BYTES = 140, /* of a slice: every key that it can have, without names and digits */
    KIND_BYTES = 32,   /* of kind_name, and quotes */
    SHAPE_BYTES = 100,
};

/* Names are kept by string id: millions of operations have few names. */
bool hl_report_drawn_names_init(hl_report_drawn_names *self, const haul_drawn *drawn)
{
    *self = (hl_report_drawn_names){.drawn = drawn};
    const haul_workload *const workload = drawn->workload;
    for (size_t i = 0; i < workload->op_count + workload->range_count; i++) {
        const uint32_t name = i < workload->op_count
                                  ? workload->ops[i].name
                                  : workload->ranges[i - workload->op_count].name;
        /* A damaged profile may have ids far beyond its strings; the table must not grow with
         * them. */
        if (name < NAMES_MOST && name >= self->count)
            self->count = name + 1;
    }
    /* One more, so that a profile without names does not look like a lack of memory. */
    self->items = calloc((size_t)self->count + 1, sizeof *self->items);
    return self->items != NULL;
}

void hl_report_drawn_names_release(hl_report_drawn_names *self)
{
    free(self->items);
    hl_base_arena_release(&self->arena);
}

/* Shortened once, when it is first drawn. NULL where the operation has no name. */
static const hl_report_drawn_name *find_name(hl_report_drawn_names *self, uint32_t id)
{
    if (id >= self->count)
        return NULL;
    hl_report_drawn_name *name = &self->items[id];
    if (!name->text) {
        char buffer[4 * NAME_WIDTH + 8];
        const char *text = haul_workload_string(self->drawn->workload, id);
        text = hl_report_shorten_name(text, NAME_WIDTH, buffer, sizeof buffer);
        name->text = hl_base_arena_string(&self->arena, text);
        /* Without memory the name is left out: a trace without it is still of use. */
        if (!name->text)
            name->text = "";
        /* The quotes. */
        name->bytes = 2;
        for (const char *at = name->text; *at;) {
            const int length = hl_base_utf8_length(at);
            const bool plain = length > 1 || (*at >= 0x20 && *at < 0x7f);
            name->bytes += plain && length ? 2 + (uint32_t)length : 6; /* at most \uXXXX */
            at += length ? length : 1;
        }
    }
    return *name->text ? name : NULL;
}

/* NULL for a range. */
static const haul_op *op_of(const hl_report_drawn_names *names, const hl_report_slice *slice)
{
    return slice->is_range ? NULL : &names->drawn->workload->ops[slice->op];
}

/* The title of a slice by its operation's name, or NULL: a kernel's is its own, a copy's that of
 * the call which issued it. */
static const hl_report_drawn_name *own_name(hl_report_drawn_names *names,
                                            const hl_report_slice *slice)
{
    const haul_op *op = op_of(names, slice);
    /* Several slices drawn as one have no one name. */
    bool known = slice->count == 1;
    if (!op)
        return known ? find_name(names, names->drawn->workload->ranges[slice->op].name) : NULL;
    if (op->kind == HAUL_OP_KERNEL)
        known = known && !slice->is_call;
    else if (haul_op_has_bytes(op))
        known = known && (slice->is_call || names->drawn->named);
    return known ? find_name(names, op->name) : NULL;
}

/* Where there is no name: the kind, with the direction and memory of a copy. `op` is NULL for a
 * range. */
static hl_report_words kind_name(const haul_op *op, const hl_report_slice *slice)
{
    const char *kind = op ? haul_op_kind_text((haul_op_kind)op->kind) : "range";
    hl_report_words words = {""};
    if (slice->count > 1)
        snprintf(words.text, sizeof words.text, "%" PRIu32 " %s", slice->count,
                 !op                                     ? "ranges"
                 : slice->is_call || haul_op_on_host(op) ? "calls"
                                                         : "operations");
    else if (op && slice->is_call)
        snprintf(words.text, sizeof words.text, "call of a %s", kind);
    else if (op && op->kind == HAUL_OP_COPY)
        words = hl_report_say_copies((haul_direction)op->direction, (haul_memory)op->detail);
    else
        snprintf(words.text, sizeof words.text, "%s", kind);
    return words;
}

/* Several slices drawn as one say how long they were busy, for their length includes the gaps. */
void hl_report_perfetto_slice(hl_report_drawn_names *names, const hl_report_slice *slice,
                              hl_report_track at, bool shape, FILE *out)
{
    const haul_workload *workload = names->drawn->workload;
    const haul_op *op = op_of(names, slice);
    const hl_report_drawn_name *name = own_name(names, slice);
    const char *category = !op              ? "range"
                           : slice->is_call ? "call"
                                            : haul_op_kind_text((haul_op_kind)op->kind);
    if (slice->count > 1)
        category = "merged";
    const hl_report_words words = kind_name(op, slice);
    hl_base_chrome_slice_open(&(hl_base_chrome_slice){category, name ? name->text : words.text,
                                                      at.pid, at.tid, slice->start_ns,
                                                      slice->end_ns - slice->start_ns},
                              out);
    /* Numbered from 1, as reports number operations. */
    fprintf(out, "\"%s\":%" PRIu32, op ? "op" : "range", slice->op + 1);
    if (slice->count > 1)
        hl_base_chrome_us("busy_us", slice->busy_ns, out);
    if (slice->bytes)
        fprintf(out, ",\"bytes\":%" PRIu64, slice->bytes);
    if (shape && op && slice->count == 1 && !slice->is_call && op->kind == HAUL_OP_KERNEL &&
        op->shape < workload->shape_count) {
        const uint32_t *grid = workload->shapes[op->shape].grid;
        const uint32_t *block = workload->shapes[op->shape].block;
        fprintf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", grid[0], grid[1], grid[2],
                block[0], block[1], block[2]);
    }
    fputs("}},\n", out);
}

/* No logarithm, which may round to the wrong side at a power of ten. */
static uint32_t digits_of(uint64_t value)
{
    uint32_t digits = 1;
    for (uint64_t power = 10; value >= power && digits < 20; power *= 10)
        digits++;
    return digits;
}

/* From above: every key, the digits of each number, and the name as it is escaped. */
uint64_t hl_report_perfetto_slice_bytes(hl_report_drawn_names *names, const hl_report_slice *slice,
                                        hl_report_track at)
{
    const hl_report_drawn_name *name = own_name(names, slice);
    const haul_op *op = op_of(names, slice);
    /* Counted even where it is not written: the size is an upper bound. */
    const bool shape = op && op->kind == HAUL_OP_KERNEL && op->shape != HAUL_NONE;
    const uint32_t of_times = digits_of((uint64_t)slice->start_ns) +
                              digits_of((uint64_t)slice->busy_ns) +
                              digits_of((uint64_t)(slice->end_ns - slice->start_ns));
    return FIXED_BYTES + of_times + digits_of(slice->op) + digits_of(at.pid) + digits_of(at.tid) +
           (slice->bytes ? digits_of(slice->bytes) : 0) + (name ? name->bytes : KIND_BYTES) +
           (shape ? SHAPE_BYTES : 0);
}

/* An arrow is two events with one id: "s" where it starts, "f" where it ends; "bp" "e" binds its
 * end to the slice around it, not to the next one. */
static void write_end(const hl_report_arrow *arrow, char phase, hl_report_track at, FILE *out)
{
    fprintf(out,
            "{\"ph\":\"%c\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%" PRIu32
            ",\"tid\":%" PRIu32 "%s",
            phase, arrow->what, arrow->what, arrow->id, at.pid, at.tid,
            phase == 'f' ? ",\"bp\":\"e\"" : "");
    hl_base_chrome_us("ts", phase == 'f' ? arrow->to_ns : arrow->from_ns, out);
    fputs("},\n", out);
}

void hl_report_perfetto_arrow(const hl_report_arrow *arrow, FILE *out)
{
    write_end(arrow, 's', arrow->from, out);
    write_end(arrow, 'f', arrow->to, out);
}

/* Viewers sort by the index; without one they sort by name, where "stream 10" is before "stream 2".
 */
void hl_report_perfetto_name(hl_report_track at, bool of_thread, uint32_t rank, const char *name,
                             FILE *out)
{
    const char *what = of_thread ? "thread" : "process";
    fprintf(out,
            "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"name\":",
            what, at.pid, at.tid);
    hl_base_chrome_text(name, out);
    fprintf(out,
            "}},\n{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"args\":{\"sort_index\":%" PRIu32 "}},\n",
            what, at.pid, at.tid, rank);
}
