/* Cells that a loop declares to write, and does not: in the checked mode they hold a pattern before
 * the loop, which is looked for after it. */
#include <string.h>

#include "tile/tile_host.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* PIECE: cells of a long row that a thread takes at once. FEW: rows that take less time than
 * threads take to begin. */
enum { PIECE = 1 << 12, FEW = 64 };

/* Not where a thread has a part of the loop. */
static inline bool is_for_threads(int64_t rows)
{
#ifdef _OPENMP
    return rows > FEW && !omp_in_parallel();
#else
    return rows > FEW;
#endif
}

/* A boundary's kernel of HAUL_WRITE sets all of a face. */
static bool sets_all(const hl_tile_step *step, unsigned use)
{
    const hl_tile_field_use *of = &step->uses[use];
    const bool is_face = step->source == of->field->boundary_kernel &&
                         step->source->parameters[0].access == HAUL_ACCESS_OUT;
    return of->writes && (!of->reads || is_face) && !of->reduction &&
           of->field->dims == step->outer + 1;
}

/* Rows of a box, or pieces of the one row that a loop of one dimension has: threads take
 * them. */
static int64_t count_rows(const haul_box *box, int outer)
{
    const int64_t cells = (int64_t)box->hi[0] - box->lo[0];
    int64_t rows = outer ? cells > 0 : (cells + PIECE - 1) / PIECE;
    for (int d = 1; d <= outer; d++)
        rows *= box->hi[d] - box->lo[d];
    return rows;
}

/* The first cell of a row; returns how many it has. */
static int row_at(const haul_box *box, int outer, int64_t row, int at[3])
{
    for (int d = 0; d < 3; d++)
        at[d] = box->lo[d];
    if (!outer) {
        at[0] += (int)(row * PIECE);
        return box->hi[0] - at[0] < PIECE ? box->hi[0] - at[0] : PIECE;
    }
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
        if (!sets_all(step, u))
            continue;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (is_for_threads(rows))
#endif
        for (int64_t row = 0; row < rows; row++) {
            int at[3];
            const int cells = row_at(box, step->outer, row, at);
            memset(hl_tile_field_cell(field, at), byte, (size_t)cells * field->element);
        }
    }
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
    const char *before = poison.before;
    int64_t first = rows;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) reduction(min : first) if (is_for_threads(rows))
#endif
    for (int64_t row = 0; row < rows; row++) {
        int at[3];
        const int cells = row_at(box, step->outer, row, at);
        const char *of = hl_tile_field_cell(field, at),
                   *old = before ? before + (of - field->host) : NULL;
        if (row < first && find_in_row(of, old, cells, field->element, poison.byte) < cells)
            first = row;
    }
    if (first == rows)
        return false;
    const int cells = row_at(box, step->outer, first, found);
    const char *of = hl_tile_field_cell(field, found),
               *old = before ? before + (of - field->host) : NULL;
    found[0] += find_in_row(of, old, cells, field->element, poison.byte);
    return true;
}
