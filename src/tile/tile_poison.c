/* Cells that a loop declares to write, and does not: in the checked mode they hold a pattern before
 * the loop's part that is to set them, which is looked for after it. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tile/tile_host.h"

/* A boundary's kernel of HAUL_WRITE sets all of a face. */
static bool sets_all(const hl_tile_step *step, unsigned use)
{
    const hl_tile_field_use *of = &step->uses[use];
    const bool is_face = step->source == of->field->boundary_kernel &&
                         step->source->parameters[0].access == HAUL_ACCESS_OUT;
    return of->writes && (!of->reads || is_face) && !of->reduction &&
           of->field->dims == step->outer + 1;
}

/* Rows of a box. */
static int64_t count_rows(const haul_box *box, int outer)
{
    int64_t rows = 1;
    for (int d = 1; d <= outer; d++)
        rows *= box->hi[d] - box->lo[d];
    return box->hi[0] > box->lo[0] ? rows : 0;
}

/* The first cell of a row; returns how many it has. */
static int row_at(const haul_box *box, int outer, int64_t row, int at[3])
{
    for (int d = 0; d < 3; d++)
        at[d] = box->lo[d];
    for (int d = 1; d <= outer; d++) {
        const int cells = box->hi[d] - box->lo[d];
        at[d] += (int)(row % cells);
        row /= cells;
    }
    return box->hi[0] - at[0];
}

void hl_tile_poison_set(const hl_tile_step *step, const haul_box *box, int byte)
{
    const int64_t rows = count_rows(box, step->outer);
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field *field = step->uses[u].field;
        for (int64_t row = 0; row < rows && sets_all(step, u); row++) {
            int at[3];
            const int cells = row_at(box, step->outer, row, at);
            memset(hl_tile_field_cell(field, at), byte, (size_t)cells * field->element);
        }
    }
}

char *hl_tile_poison_keep(const hl_tile_step *step, unsigned use, const haul_box *box)
{
    const hl_tile_field *field = step->uses[use].field;
    const int64_t rows = count_rows(box, step->outer);
    const size_t bytes = (size_t)(box->hi[0] - box->lo[0]) * field->element;
    char *kept = malloc((size_t)rows * bytes);
    for (int64_t row = 0; row < rows && kept; row++) {
        int at[3];
        (void)row_at(box, step->outer, row, at);
        memcpy(kept + (size_t)row * bytes, hl_tile_field_cell(field, at), bytes);
    }
    return kept;
}

static bool is_poison(const char *cell, uint64_t bytes, int byte)
{
    for (uint64_t i = 0; i < bytes; i++)
        if ((unsigned char)cell[i] != byte)
            return false;
    return true;
}

/* Words of four such bytes: in most rows there are none. */
static bool has_word(const char *row, uint64_t bytes, uint32_t word)
{
    uint32_t has = 0;
#ifdef _OPENMP
#pragma omp simd reduction(| : has)
#endif
    for (uint64_t at = 0; at < bytes; at += sizeof word) {
        uint32_t one;
        memcpy(&one, row + at, sizeof one);
        has |= one == word ? 1U : 0U;
    }
    return has;
}

/* The first of `cells` that holds the poison, and in `before` another, or `cells`. Looks for the
 * byte first, which few cells have. */
static int find_in_row(const char *row, const char *before, int cells, uint64_t element, int byte)
{
    const uint64_t bytes = (uint64_t)cells * element;
    if (element % sizeof(uint32_t) == 0 && !has_word(row, bytes, (uint32_t)byte * 0x01010101U))
        return cells;
    for (uint64_t at = 0; at < bytes;) {
        const char *next = memchr(row + at, byte, bytes - at);
        const uint64_t cell = next ? (uint64_t)(next - row) / element : (uint64_t)cells;
        if (!next || (is_poison(row + cell * element, element, byte) &&
                      (!before || is_poison(before + cell * element, element, HL_TILE_POISON))))
            return (int)cell;
        at = (cell + 1) * element;
    }
    return cells;
}

bool hl_tile_poison_find(const hl_tile_step *step, unsigned use, const haul_box *box,
                         hl_tile_poison poison, int found[3])
{
    const hl_tile_field *field = step->uses[use].field;
    const int64_t rows = sets_all(step, use) ? count_rows(box, step->outer) : 0;
    for (int64_t row = 0; row < rows; row++) {
        const int cells = row_at(box, step->outer, row, found);
        const size_t bytes = (size_t)cells * field->element;
        const char *of = hl_tile_field_cell(field, found),
                   *old = poison.before ? poison.before + (size_t)row * bytes : NULL;
        const int at = find_in_row(of, old, cells, field->element, poison.byte);
        found[0] += at;
        if (at < cells)
            return true;
    }
    return false;
}

static bool is_before(unsigned use, const int at[3], const hl_tile_unset *other)
{
    if (use != other->use)
        return use < other->use;
    for (int d = 2; d > 0; d--)
        if (at[d] != other->at[d])
            return at[d] < other->at[d];
    return at[0] < other->at[0];
}

/* The first one, whichever thread finds it first. The section has no name, for gcc exports names of
 * such sections from the library. */
void hl_tile_unset_note(hl_tile_unset *self, unsigned use, const int at[3])
{
#ifdef _OPENMP
#pragma omp critical
#endif
    if (!self->is_taken || is_before(use, at, self)) {
        self->use = use;
        memcpy(self->at, at, sizeof self->at);
        self->is_taken = true;
    }
}

haul_status hl_tile_unset_tell(const hl_tile_step *step, const hl_tile_unset *self,
                               haul_error *error)
{
    const int *at = self->at;
    if (!self->is_taken)
        return self->lacks_memory ? hl_base_fail_no_memory(error) : HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "kernel '%s' declares that it writes '%.*s', but does not set cell (%d, "
                          "%d, %d): HAUL_UPDATE declares an array of which it keeps cells",
                          step->source->name, (int)hl_tile_name_length(step, self->use),
                          hl_tile_name_of(step, self->use), at[0], at[1], at[2]);
}
