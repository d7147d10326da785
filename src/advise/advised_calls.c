/* The calls that a piece of advice concerns, in words: by the name of the API call, the direction
 * and the memory, for so a programmer finds them in the source. */
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "base/compare.h"

enum { ROWS = 64, SAID = 3 };

typedef struct calls {
    haul_advised_calls rows[ROWS];
    uint32_t names[ROWS];
    size_t count;
    hl_advise_effect effect;
    uint32_t *row_of; /* of each operation */
} calls;

/* The row of a kind of call, which is new at the first; NULL for kinds beyond ROWS, which no
 * program was seen to have. */
static haul_advised_calls *row_of(calls *self, const haul_op *op)
{
    for (size_t r = 0; r < self->count; r++)
        if (self->names[r] == op->name &&
            self->rows[r].direction == (haul_direction)op->direction &&
            self->rows[r].memory == (haul_memory)op->detail)
            return &self->rows[r];
    if (self->count == ROWS)
        return NULL;
    self->names[self->count] = op->name;
    self->rows[self->count] = (haul_advised_calls){.direction = (haul_direction)op->direction,
                                                   .memory = (haul_memory)op->detail,
                                                   .least_bytes = op->bytes,
                                                   .first_ns = op->start_ns};
    return &self->rows[self->count++];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_op(calls *self, const hl_advise_advisor *advisor, uint32_t i)
{
    const haul_op *op = &advisor->workload->ops[i];
    const hl_advise_edit *edit = &advisor->plan.edits[i];
    const int64_t dur_ns = hl_advise_study_dur(&advisor->study, i);
    hl_advise_effect *effect = &self->effect;
    effect->count++;
    effect->bytes += op->bytes;
    effect->largest = larger(effect->largest, op->bytes);
    effect->before_ns = hl_base_add_ns(effect->before_ns, dur_ns);
    for (unsigned part = 0; part < edit->parts; part++)
        effect->after_ns = hl_base_add_ns(effect->after_ns, edit->dur_ns);
    effect->calls_ns =
        hl_base_add_ns(effect->calls_ns, hl_advise_study_said_ns(&advisor->study, i));
    effect->left_out += (edit->marks & HL_ADVISE_EDIT_GONE) != 0;
    if (edit->marks & HL_ADVISE_EDIT_PINNED) {
        effect->pinned++;
        effect->pinned_bytes += op->bytes;
        effect->pinned_largest = larger(effect->pinned_largest, op->bytes);
    }
    haul_advised_calls *row = row_of(self, op);
    if (!row)
        return;
    self->row_of[i] = (uint32_t)(row - self->rows);
    row->count++;
    row->bytes += op->bytes;
    row->time_ns = hl_base_add_ns(row->time_ns, dur_ns);
    row->least_bytes = op->bytes < row->least_bytes ? op->bytes : row->least_bytes;
    row->most_bytes = larger(row->most_bytes, op->bytes);
}

/* CUPTI ends names with the version of the interface: "cudaMemcpy_v3020". */
static const char *bare_name(hl_advise_advisor *self, uint32_t id)
{
    const char *name = haul_workload_string(self->workload, id);
    const char *end = strrchr(name, '_');
    if (!end || end[1] != 'v' || !end[2] || strspn(end + 2, "0123456789") != strlen(end + 2))
        return name;
    const char *kept = hl_base_arena_text(&self->arena, name, (size_t)(end - name));
    self->study.failed |= !kept;
    return kept ? kept : "";
}

/* The kinds of calls with the most time first: only the first few are said. */
static int compare_rows(const void *a, const void *b)
{
    const haul_advised_calls *x = a, *y = b;
    return hl_base_compare_signed(y->time_ns, x->time_ns);
}

/* "240 cudaMemcpy HtoD of 4 MiB, pageable (train.py:42 in step)" */
static const char *say_row(hl_advise_study *study, const haul_advised_calls *row)
{
    const char *range = row->least_bytes == row->most_bytes
                            ? hl_advise_study_bytes(study, row->most_bytes)
                            : hl_advise_study_text(study, "%s to %s",
                                                   hl_advise_study_bytes(study, row->least_bytes),
                                                   hl_advise_study_bytes(study, row->most_bytes));
    const char *const line = row->place.line;
    return hl_advise_study_text(
        study, "%llu %.100s %s of %s, %s%s%.200s%s", (unsigned long long)row->count,
        *row->name        ? row->name
        : row->count == 1 ? "copy"
                          : "copies",
        haul_direction_text(row->direction), range, haul_memory_text(row->memory), line ? " (" : "",
        line ? line : "", line ? ")" : "");
}

/* Where in the program the rows' operations were called for, before the rows are sorted. */
static bool find_places(hl_advise_advisor *self, calls *of)
{
    haul_place places[ROWS];
    if (hl_workload_places_find(&self->origins, of->row_of, of->count, places, NULL))
        return false;
    for (size_t r = 0; r < of->count; r++)
        of->rows[r].place = places[r];
    return true;
}

/* Rows are gathered on the stack and kept in the arena at their final size. The change itself says
 * what, why, what it assumes and needs, for only it knows. */
bool hl_advise_advisor_describe(hl_advise_advisor *self, hl_advise_found *found)
{
    calls of = {.count = 0, .row_of = self->row_of};
    const haul_workload *workload = self->workload;
    /* of a device, which pages begin with, and --from-time counts from */
    int64_t first_ns = INT64_MAX;
    memset(of.row_of, 0xff, workload->op_count * sizeof *of.row_of); /* HAUL_NONE */
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const hl_advise_edit *edit = &self->plan.edits[i];
        if (!haul_op_on_host(&workload->ops[i]) && workload->ops[i].start_ns < first_ns)
            first_ns = workload->ops[i].start_ns;
        if (edit->marks & HL_ADVISE_EDIT_TOUCHED)
            add_op(&of, self, i);
        else if (workload->ops[i].kind == HAUL_OP_SYNC && edit->marks & HL_ADVISE_EDIT_GONE)
            of.effect.waits_ns =
                hl_base_add_ns(of.effect.waits_ns, hl_advise_study_said_ns(&self->study, i));
    }
    of.effect.locks_ns = self->plan.lock_ns;
    for (size_t r = 0; r < of.count; r++) {
        of.rows[r].name = bare_name(self, of.names[r]);
        of.rows[r].first_ns -= first_ns < INT64_MAX ? first_ns : self->before->origin_ns;
    }
    if (!find_places(self, &of))
        return false;
    qsort(of.rows, of.count, sizeof *of.rows, compare_rows);
    haul_advised_calls *kept = hl_base_arena_alloc(&self->arena, (of.count + 1) * sizeof *kept);
    if (!kept)
        return false;
    memcpy(kept, of.rows, of.count * sizeof *kept);
    found->advice.calls = kept;
    found->advice.call_count = of.count;
    const char *text = of.count ? say_row(&self->study, &kept[0]) : "no copies";
    for (size_t r = 1; r < of.count && r < SAID; r++)
        text = hl_advise_study_text(&self->study, "%s; %s", text, say_row(&self->study, &kept[r]));
    if (of.count > SAID)
        text = hl_advise_study_text(&self->study, "%s; %zu other kind%s", text, of.count - SAID,
                                    of.count - SAID == 1 ? "" : "s");
    of.effect.calls = text;
    found->candidate.change->tell(&self->study, &found->candidate, &of.effect, &found->advice);
    return !self->study.failed;
}
