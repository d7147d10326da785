/* A workload as arrays that NumPy loads: numpy.load("run.npz")["ops"]. Each array of the workload
 * is one of the archive, its fields named as in haul/workload.h; texts are ids into `string_ends`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/npz.h"
#include "haul/trace.h"
#include "workload/builder.h"

/* A field of a table that is made for the file: 8 bytes, whatever its type. */
typedef union cell {
    uint64_t u;
    int64_t i;
    double d;
} cell;

typedef struct writer {
    const haul_workload *workload;
    hl_base_npz npz;
    /* All texts one behind another without their NULs, and where each ends: those of the workload's
     * ids first, then those that only streams, threads and devices name. */
    const char **texts;
    size_t text_count;
    cell *cells;
} writer;

static size_t string_count(const haul_workload *workload)
{
    return ((const hl_workload_owned_workload *)workload)->strings.count;
}

/* The id of a text that is not one of the workload's, or HAUL_NONE for NULL. */
static uint64_t text_id(writer *self, const char *text)
{
    if (!text)
        return HAUL_NONE;
    self->texts[self->text_count] = text;
    return self->text_count++;
}

static void put_streams(writer *self)
{
    static const char type[] = "device:u8 name:u8 process:u8 context:u8 id:u8 is_default:u8";
    const haul_workload *of = self->workload;
    enum { FIELDS = 6 };
    for (size_t i = 0; i < of->stream_count; i++) {
        const haul_workload_stream *s = &of->streams[i];
        const uint64_t row[FIELDS] = {s->device, text_id(self, s->name), s->process, s->context,
                                      s->id,     s->is_default};
        for (int k = 0; k < FIELDS; k++)
            self->cells[i * FIELDS + (size_t)k].u = row[k];
    }
    hl_base_npz_put(&self->npz, "streams", type, self->cells, FIELDS * sizeof(cell),
                    of->stream_count);
}

static void put_threads(writer *self)
{
    static const char type[] = "process:u8 id:u8 name:u8";
    const haul_workload *of = self->workload;
    enum { FIELDS = 3 };
    for (size_t i = 0; i < of->thread_count; i++) {
        cell *row = &self->cells[i * FIELDS];
        row[0].u = of->threads[i].process;
        row[1].u = of->threads[i].id;
        row[2].u = text_id(self, of->threads[i].name);
    }
    hl_base_npz_put(&self->npz, "threads", type, self->cells, FIELDS * sizeof(cell),
                    of->thread_count);
}

static void put_devices(writer *self)
{
    static const char type[] = "id:u8 name:u8 rank:i8 memory_bandwidth_Bps:f8 clock_Hz:f8 "
                               "memory_bytes:u8 l2_bytes:u8 multiprocessors:u8 host:u8";
    const haul_workload *of = self->workload;
    enum { FIELDS = 9 };
    for (size_t i = 0; i < of->device_count; i++) {
        const haul_workload_device *device = &of->devices[i];
        const cell row[FIELDS] = {{.u = device->id},
                                  {.u = text_id(self, device->name)},
                                  {.i = device->rank},
                                  {.d = device->memory_bandwidth_Bps},
                                  {.d = device->clock_Hz},
                                  {.u = device->memory_bytes},
                                  {.u = device->l2_bytes},
                                  {.u = device->multiprocessors},
                                  {.u = text_id(self, device->host)}};
        memcpy(&self->cells[i * FIELDS], row, sizeof row);
    }
    hl_base_npz_put(&self->npz, "devices", type, self->cells, FIELDS * sizeof(cell),
                    of->device_count);
}

/* Writes arrays that lie in the workload in the form of the file. */
static void put_arrays(writer *self)
{
    static const char ops[] = "start_ns:i8 dur_ns:i8 value:u8 call_ns:i8 call_dur_ns:i8 name:u4 "
                              "stream:u4 thread:u4 stream_prev:u4 thread_prev:u4 kind:u1 "
                              "direction:u1 detail:u1 flags:u1";
    static const char shapes[] =
        "grid:3u4 block:3u4 registers_per_thread:u4 shared_bytes:u4 collective:u4 operands:u4";
    static const char ranges[] = "start_ns:i8 dur_ns:i8 name:u4 thread:u4";
    static const char edges[] = "before:u4 after:u4";
    const haul_workload *of = self->workload;
    _Static_assert(sizeof(haul_op) == 64 && sizeof(haul_shape) == 40 &&
                       sizeof(haul_named_range) == 24 && sizeof(haul_edge) == 8,
                   "the fields above are the structs'");
    hl_base_npz_put(&self->npz, "ops", ops, of->ops, sizeof *of->ops, of->op_count);
    const struct {
        const char *name;
        const uint32_t *ids;
    } origins[] = {{"operators", of->operators}, {"lines", of->lines}, {"stacks", of->stacks}};
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++)
        hl_base_npz_put(&self->npz, origins[i].name, "u4", origins[i].ids, sizeof(uint32_t),
                        origins[i].ids ? of->op_count : 0);
    hl_base_npz_put(&self->npz, "shapes", shapes, of->shapes, sizeof *of->shapes, of->shape_count);
    hl_base_npz_put(&self->npz, "ranges", ranges, of->ranges, sizeof *of->ranges, of->range_count);
    hl_base_npz_put(&self->npz, "edges", edges, of->edges, sizeof *of->edges, of->edge_count);
}

/* Returns false without memory. */
static bool put_texts(writer *self)
{
    uint64_t *ends = malloc((self->text_count + 1) * sizeof *ends);
    uint64_t total = 0;
    for (size_t i = 0; ends && i < self->text_count; i++)
        ends[i] = total += strlen(self->texts[i]);
    char *bytes = ends ? malloc(total + 1) : NULL;
    for (size_t i = 0; bytes && i < self->text_count; i++) {
        const size_t length = strlen(self->texts[i]);
        memcpy(bytes + ends[i] - length, self->texts[i], length);
    }
    if (bytes) {
        hl_base_npz_put(&self->npz, "string_bytes", "u1", bytes, 1, total);
        hl_base_npz_put(&self->npz, "string_ends", "u8", ends, sizeof *ends, self->text_count);
    }
    free(bytes);
    free(ends);
    return bytes != NULL;
}

static bool write_all(writer *self)
{
    const haul_workload *of = self->workload;
    for (size_t i = 0; i < string_count(of); i++)
        (void)text_id(self, haul_workload_string(of, (uint32_t)i));
    put_arrays(self);
    put_streams(self);
    put_threads(self);
    put_devices(self);
    for (size_t i = 0; i < of->loss_count; i++) {
        self->cells[2 * i].u = text_id(self, of->losses[i].text);
        self->cells[2 * i + 1].u = of->losses[i].count;
    }
    hl_base_npz_put(&self->npz, "losses", "text:u8 count:u8", self->cells, 2 * sizeof(cell),
                    of->loss_count);
    /* Writes the names of small enumerations' numbers. */
    for (int i = 0; i < HAUL_OP_KINDS; i++)
        self->cells[i].u = text_id(self, haul_op_kind_text((haul_op_kind)i));
    hl_base_npz_put(&self->npz, "kinds", "u8", self->cells, sizeof(cell), HAUL_OP_KINDS);
    for (int i = 0; i < HAUL_DIRECTIONS; i++)
        self->cells[i].u = text_id(self, haul_direction_text((haul_direction)i));
    hl_base_npz_put(&self->npz, "directions", "u8", self->cells, sizeof(cell), HAUL_DIRECTIONS);
    for (int i = 0; i < HAUL_MEMORIES; i++)
        self->cells[i].u = text_id(self, haul_memory_text((haul_memory)i));
    hl_base_npz_put(&self->npz, "memories", "u8", self->cells, sizeof(cell), HAUL_MEMORIES);
    self->cells[0].u = text_id(self, of->format);
    self->cells[1].u = text_id(self, of->source);
    self->cells[2].i = of->epoch_ns;
    hl_base_npz_put(&self->npz, "about", "format:u8 source:u8 epoch_ns:i8", self->cells,
                    3 * sizeof(cell), 1);
    return put_texts(self);
}

haul_status haul_trace_write_npz(const haul_workload *workload, FILE *out, haul_error *error)
{
    const size_t named = workload->stream_count + workload->thread_count +
                         2 * workload->device_count + workload->loss_count + 2 + HAUL_OP_KINDS +
                         HAUL_DIRECTIONS + HAUL_MEMORIES;
    enum { MOST_FIELDS = 9 };
    writer self = {.workload = workload,
                   .npz = {.out = out},
                   .texts = malloc((string_count(workload) + named) * sizeof *self.texts),
                   .cells = malloc(named * MOST_FIELDS * sizeof *self.cells)};
    const bool done = self.texts && self.cells && write_all(&self);
    if (done)
        hl_base_npz_finish(&self.npz);
    free(self.texts);
    free(self.cells);
    if (!done)
        return hl_base_fail_no_memory(error);
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the arrays") : HAUL_OK;
}
