/* Two profiles of one program: operations of one class (kind, direction, name, size) are matched in
 * order, the first of one to the first of the other, and so on. Operations that one has more of
 * than the other are left unmatched and counted, so that a difference of counts is not taken for
 * one of speed. */
#include "haul/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/records.h"
#include "base/strings.h"
#include "workload/places.h"

/* Operations with equal keys are alike; texts are numbered over both workloads. */
typedef struct alike {
    uint64_t bytes;
    uint32_t text;
    uint8_t kind;
    uint8_t direction;
    uint8_t unused[2];
} alike;

typedef struct comparer {
    hl_base_strings texts;
    hl_base_records classes; /* of operations that are alike: `alike`, a row each */
    haul_compared *rows;
    size_t capacity;
    bool failed;
} comparer;

/* The row of an operation, made when it is first asked for; NULL for one of the host, and without
 * memory. */
static haul_compared *row_of(comparer *self, const haul_workload *of, const haul_op *op)
{
    const char *const name = haul_workload_string(of, op->name);
    if (!haul_op_on_device(op))
        return NULL;
    alike key;
    memset(&key, 0, sizeof key);
    key.kind = op->kind;
    key.bytes = haul_op_has_bytes(op) ? op->bytes : 0;
    key.direction = op->kind == HAUL_OP_COPY ? op->direction : 0;
    if (op->kind == HAUL_OP_KERNEL)
        key.text = hl_base_strings_add(&self->texts, name, strlen(name));
    const size_t before = self->classes.count;
    const uint32_t number =
        key.text == UINT32_MAX ? UINT32_MAX : hl_base_records_add(&self->classes, &key);
    self->failed |= number == UINT32_MAX ||
                    !hl_base_grow(&self->rows, &self->capacity, number + 1, sizeof *self->rows);
    if (self->failed)
        return NULL;
    if (number == before)
        self->rows[number] = (haul_compared){.kind = (haul_op_kind)op->kind,
                                             .direction = (haul_direction)key.direction,
                                             .bytes = key.bytes,
                                             .name = op->kind == HAUL_OP_KERNEL ? name : NULL};
    return &self->rows[number];
}

/* Counts a's operations of each class, matches b's to those, and then sums up the times of those of
 * a that were matched: the first ones, as many as b has. */
static void match(comparer *self, const haul_workload *a, const haul_workload *b)
{
    for (size_t i = 0; !self->failed && i < a->op_count; i++) {
        haul_compared *const row = row_of(self, a, &a->ops[i]);
        if (row) {
            row->only_a++;
            row->all_a_ns += a->ops[i].dur_ns;
        }
    }
    for (size_t i = 0; !self->failed && i < b->op_count; i++) {
        haul_compared *const row = row_of(self, b, &b->ops[i]);
        if (row)
            row->all_b_ns += b->ops[i].dur_ns;
        if (row && row->matched < row->only_a) {
            row->matched++;
            row->b_ns += b->ops[i].dur_ns;
        } else if (row) {
            row->only_b++;
        }
    }
    uint64_t *const met = calloc(self->classes.count + 1, sizeof *met);
    self->failed |= !met;
    for (size_t i = 0; !self->failed && i < a->op_count; i++) {
        haul_compared *const row = row_of(self, a, &a->ops[i]);
        if (row && met[row - self->rows]++ < row->matched)
            row->a_ns += a->ops[i].dur_ns;
    }
    free(met);
}

/* The places of all rows in a workload; those that it tells replace the others. */
static void find_places(comparer *self, const haul_workload *of)
{
    const size_t count = self->classes.count;
    uint32_t *groups = NULL;
    haul_place *places = NULL;
    if (self->failed || !hl_workload_has_origins(of))
        return;
    groups = malloc((of->op_count + 1) * sizeof *groups);
    places = malloc((count + 1) * sizeof *places);
    self->failed = !groups || !places;
    for (size_t i = 0; !self->failed && i < of->op_count; i++) {
        const haul_compared *row = row_of(self, of, &of->ops[i]);
        groups[i] = row ? (uint32_t)(row - self->rows) : HAUL_NONE;
    }
    self->failed = self->failed || haul_places_find(of, groups, count, places, NULL) != HAUL_OK;
    for (size_t r = 0; !self->failed && self->rows && r < count; r++)
        if (places[r].operator_name || places[r].range || places[r].line)
            self->rows[r].place = places[r];
    free(groups);
    free(places);
}

static int64_t difference(const haul_compared *row)
{
    return row->b_ns > row->a_ns ? row->b_ns - row->a_ns : row->a_ns - row->b_ns;
}

/* By the size of the difference, whichever way it goes, then by time, so that reports are the same
 * on every machine. */
static int compare_rows(const void *x, const void *y)
{
    const haul_compared *const a = x, *const b = y;
    const int64_t p = difference(a), q = difference(b);
    if (p != q)
        return p < q ? 1 : -1;
    if (a->a_ns != b->a_ns)
        return a->a_ns < b->a_ns ? 1 : -1;
    return (a->only_b < b->only_b) - (a->only_b > b->only_b);
}

/* Rows hold what was matched and what was not; sums are over the matched ones alone. */
haul_status haul_comparison_make(const haul_workload *a, const haul_workload *b,
                                 haul_comparison *comparison, haul_error *error)
{
    comparer self = {.classes.size = sizeof(alike)};
    match(&self, a, b);
    find_places(&self, a);
    find_places(&self, b);
    haul_comparison made = {.rows = self.rows, .count = self.classes.count};
    hl_base_strings_release(&self.texts);
    hl_base_records_release(&self.classes);
    if (self.failed) {
        free(self.rows);
        return hl_base_fail_no_memory(error);
    }
    for (size_t i = 0; made.rows && i < made.count; i++) {
        haul_compared *const row = &made.rows[i];
        row->only_a -= row->matched;
        made.matched += row->matched;
        made.only_a += row->only_a;
        made.only_b += row->only_b;
        made.a_ns += row->a_ns;
        made.b_ns += row->b_ns;
    }
    if (made.rows && made.count)
        qsort(made.rows, made.count, sizeof *made.rows, compare_rows);
    *comparison = made;
    return HAUL_OK;
}

/* Names in rows are the first workload's: it must outlive the comparison. */
void haul_comparison_release(haul_comparison *comparison)
{
    free(comparison->rows);
    *comparison = (haul_comparison){0};
}
