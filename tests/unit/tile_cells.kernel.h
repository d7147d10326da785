/* Loops for random programs over elements of 1 to 16 bytes: each reads as far as it says, and no
 * two cells alike. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_cells)

typedef unsigned char cell_1;
typedef unsigned short cell_2;
typedef struct cell_3 {
    unsigned char parts[3];
} cell_3;
typedef unsigned cell_4;
typedef unsigned long cell_8;
typedef struct cell_12 {
    unsigned parts[3];
} cell_12;
typedef struct cell_16 {
    unsigned long parts[2];
} cell_16;

/* Every bit of both cells counts, and so does their order. */
#define CELL_NUMBERS(cell)                                                                         \
    HAUL_FUNCTION cell mix_##cell(cell a, cell b, unsigned k)                                      \
    {                                                                                              \
        return (cell)(31 * (unsigned long)a + 7 * (unsigned long)b + k);                           \
    }                                                                                              \
    HAUL_FUNCTION unsigned narrow_##cell(cell a)                                                   \
    {                                                                                              \
        return (unsigned)a;                                                                        \
    }                                                                                              \
    HAUL_FUNCTION cell widen_##cell(unsigned a)                                                    \
    {                                                                                              \
        return (cell)a;                                                                            \
    }
#define CELL_STRUCTS(cell, part, count)                                                            \
    HAUL_FUNCTION cell mix_##cell(cell a, cell b, unsigned k)                                      \
    {                                                                                              \
        cell made;                                                                                 \
        for (int i = 0; i < count; i++)                                                            \
            made.parts[i] = (part)(31 * (unsigned long)a.parts[i] +                                \
                                   7 * (unsigned long)b.parts[count - 1 - i] + k);                 \
        return made;                                                                               \
    }                                                                                              \
    HAUL_FUNCTION unsigned narrow_##cell(cell a)                                                   \
    {                                                                                              \
        unsigned sum = 0;                                                                          \
        for (int i = 0; i < count; i++)                                                            \
            sum = 3 * sum + (unsigned)a.parts[i];                                                  \
        return sum;                                                                                \
    }                                                                                              \
    HAUL_FUNCTION cell widen_##cell(unsigned a)                                                    \
    {                                                                                              \
        cell made;                                                                                 \
        for (int i = 0; i < count; i++)                                                            \
            made.parts[i] = (part)(a * (2u * (unsigned)i + 1u));                                   \
        return made;                                                                               \
    }

CELL_NUMBERS(cell_1)
CELL_NUMBERS(cell_2)
CELL_STRUCTS(cell_3, unsigned char, 3)
CELL_NUMBERS(cell_4)
CELL_NUMBERS(cell_8)
CELL_STRUCTS(cell_12, unsigned, 3)
CELL_STRUCTS(cell_16, unsigned long, 2)

/* near: a stencil, whose steps may be fused; wide: two arrays that are read, one of them further;
 * add: an update; down and up: from and to an array of 4-byte elements. */
#define CELL_LOOPS_1(cell)                                                                         \
    HAUL_KERNEL_1D(near_1_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell, v),          \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR1 (x)                                                                              \
            HAUL_AT1(v, x) = mix_##cell(mix_##cell(HAUL_AT1(u, x - 1), HAUL_AT1(u, x), k),         \
                                        HAUL_AT1(u, x + 1), 1);                                    \
    }                                                                                              \
    HAUL_KERNEL_1D(wide_1_##cell, tile_cells, HAUL_READ(cell, u, 2), HAUL_READ(cell, w, 0),        \
                   HAUL_WRITE(cell, v), HAUL_VALUE(unsigned, k))                                   \
    {                                                                                              \
        HAUL_FOR1 (x)                                                                              \
            HAUL_AT1(v, x) = mix_##cell(mix_##cell(HAUL_AT1(u, x - 2), HAUL_AT1(w, x), k),         \
                                        HAUL_AT1(u, x + 2), 1);                                    \
    }                                                                                              \
    HAUL_KERNEL_1D(add_1_##cell, tile_cells, HAUL_READ(cell, u, 0), HAUL_UPDATE(cell, v, 0),       \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR1 (x)                                                                              \
            HAUL_AT1(v, x) = mix_##cell(HAUL_AT1(v, x), HAUL_AT1(u, x), k + (unsigned)x);          \
    }                                                                                              \
    HAUL_KERNEL_1D(down_1_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell_4, v),        \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR1 (x)                                                                              \
            HAUL_AT1(v, x) = narrow_##cell(mix_##cell(HAUL_AT1(u, x - 1), HAUL_AT1(u, x + 1), k)); \
    }                                                                                              \
    HAUL_KERNEL_1D(up_1_##cell, tile_cells, HAUL_READ(cell_4, u, 1), HAUL_UPDATE(cell, v, 0),      \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR1 (x)                                                                              \
            HAUL_AT1(v, x) = mix_##cell(HAUL_AT1(v, x), widen_##cell(HAUL_AT1(u, x + 1)),          \
                                        k + HAUL_AT1(u, x - 1));                                   \
    }                                                                                              \
    HAUL_KERNEL_1D(edge_1_##cell, tile_cells, HAUL_UPDATE(cell, u, 0))                             \
    {                                                                                              \
        HAUL_FOR1 (x)                                                                              \
            HAUL_AT1(u, x) = widen_##cell((unsigned)(7 * x));                                      \
    }
#define CELL_LOOPS_2(cell)                                                                         \
    HAUL_STENCIL_2D(near_2_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell, v),         \
                    HAUL_VALUE(unsigned, k))                                                       \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(v, x, y) =                                                                    \
                mix_##cell(mix_##cell(HAUL_AT2(u, x - 1, y - 1), HAUL_AT2(u, x + 1, y), k),        \
                           mix_##cell(HAUL_AT2(u, x, y), HAUL_AT2(u, x - 1, y + 1), 2),            \
                           (unsigned)(x + 5 * y));                                                 \
    }                                                                                              \
    HAUL_KERNEL_2D(wide_2_##cell, tile_cells, HAUL_READ(cell, u, 2), HAUL_READ(cell, w, 0),        \
                   HAUL_WRITE(cell, v), HAUL_VALUE(unsigned, k))                                   \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(v, x, y) =                                                                    \
                mix_##cell(mix_##cell(HAUL_AT2(u, x - 2, y - 2), HAUL_AT2(w, x, y), k),            \
                           mix_##cell(HAUL_AT2(u, x + 2, y), HAUL_AT2(u, x + 1, y + 2), 2), 1);    \
    }                                                                                              \
    HAUL_KERNEL_2D(add_2_##cell, tile_cells, HAUL_READ(cell, u, 0), HAUL_UPDATE(cell, v, 0),       \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(v, x, y) =                                                                    \
                mix_##cell(HAUL_AT2(v, x, y), HAUL_AT2(u, x, y), k + (unsigned)(x + 3 * y));       \
    }                                                                                              \
    HAUL_KERNEL_2D(down_2_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell_4, v),        \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(v, x, y) = narrow_##cell(                                                     \
                mix_##cell(HAUL_AT2(u, x - 1, y + 1), HAUL_AT2(u, x + 1, y - 1), k));              \
    }                                                                                              \
    HAUL_KERNEL_2D(up_2_##cell, tile_cells, HAUL_READ(cell_4, u, 1), HAUL_UPDATE(cell, v, 0),      \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(v, x, y) =                                                                    \
                mix_##cell(HAUL_AT2(v, x, y), widen_##cell(HAUL_AT2(u, x + 1, y + 1)),             \
                           k + HAUL_AT2(u, x, y - 1));                                             \
    }                                                                                              \
    HAUL_KERNEL_2D(look_2_##cell, tile_cells, HAUL_READ(cell_4, t, 0), HAUL_UPDATE(cell, v, 0),    \
                   HAUL_VALUE(int, n))                                                             \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(v, x, y) = mix_##cell(                                                        \
                HAUL_AT2(v, x, y),                                                                 \
                widen_##cell(HAUL_AT1(t, (int)((unsigned)(x + 5 * y) % (unsigned)n))), 3);         \
    }                                                                                              \
    HAUL_KERNEL_2D(edge_2_##cell, tile_cells, HAUL_UPDATE(cell, u, 0))                             \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(u, x, y) = widen_##cell((unsigned)(7 * x + 11 * y));                          \
    }
#define CELL_LOOPS_3(cell)                                                                         \
    HAUL_STENCIL_3D(near_3_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell, v),         \
                    HAUL_VALUE(unsigned, k))                                                       \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(v, x, y, z) = mix_##cell(                                                      \
                mix_##cell(HAUL_AT(u, x - 1, y - 1, z + 1), HAUL_AT(u, x + 1, y, z), k),           \
                mix_##cell(HAUL_AT(u, x, y, z - 1), HAUL_AT(u, x - 1, y + 1, z), 2),               \
                (unsigned)(x + 5 * y + 9 * z));                                                    \
    }                                                                                              \
    HAUL_KERNEL_3D(wide_3_##cell, tile_cells, HAUL_READ(cell, u, 2), HAUL_READ(cell, w, 0),        \
                   HAUL_WRITE(cell, v), HAUL_VALUE(unsigned, k))                                   \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(v, x, y, z) = mix_##cell(                                                      \
                mix_##cell(HAUL_AT(u, x - 2, y - 2, z + 2), HAUL_AT(w, x, y, z), k),               \
                mix_##cell(HAUL_AT(u, x + 2, y, z - 2), HAUL_AT(u, x + 1, y + 2, z), 2), 1);       \
    }                                                                                              \
    HAUL_KERNEL_3D(add_3_##cell, tile_cells, HAUL_READ(cell, u, 0), HAUL_UPDATE(cell, v, 0),       \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(v, x, y, z) = mix_##cell(HAUL_AT(v, x, y, z), HAUL_AT(u, x, y, z),             \
                                             k + (unsigned)(x + 3 * y + 7 * z));                   \
    }                                                                                              \
    HAUL_KERNEL_3D(down_3_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell_4, v),        \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(v, x, y, z) = narrow_##cell(                                                   \
                mix_##cell(HAUL_AT(u, x - 1, y + 1, z + 1), HAUL_AT(u, x, y - 1, z - 1), k));      \
    }                                                                                              \
    HAUL_KERNEL_3D(up_3_##cell, tile_cells, HAUL_READ(cell_4, u, 1), HAUL_UPDATE(cell, v, 0),      \
                   HAUL_VALUE(unsigned, k))                                                        \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(v, x, y, z) =                                                                  \
                mix_##cell(HAUL_AT(v, x, y, z), widen_##cell(HAUL_AT(u, x + 1, y + 1, z)),         \
                           k + HAUL_AT(u, x, y - 1, z - 1));                                       \
    }                                                                                              \
    HAUL_KERNEL_3D(look_3_##cell, tile_cells, HAUL_READ(cell_4, t, 0), HAUL_UPDATE(cell, v, 0),    \
                   HAUL_VALUE(int, n))                                                             \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(v, x, y, z) = mix_##cell(                                                      \
                HAUL_AT(v, x, y, z),                                                               \
                widen_##cell(HAUL_AT1(t, (int)((unsigned)(x + 5 * y + z) % (unsigned)n))), 3);     \
    }                                                                                              \
    HAUL_KERNEL_3D(edge_3_##cell, tile_cells, HAUL_UPDATE(cell, u, 0))                             \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(u, x, y, z) = widen_##cell((unsigned)(7 * x + 11 * y + 13 * z));               \
    }
#define CELL_LOOPS(cell) CELL_LOOPS_1(cell) CELL_LOOPS_2(cell) CELL_LOOPS_3(cell)

/* beside: a stencil with an array that is read beside, whose steps may be fused. */
#define CELL_BESIDES(cell)                                                                         \
    HAUL_STENCIL_2D(beside_2_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell, v),       \
                    HAUL_READ(cell, w, 1), HAUL_VALUE(unsigned, k))                                \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_AT2(v, x, y) =                                                                    \
                mix_##cell(mix_##cell(HAUL_AT2(u, x - 1, y - 1), HAUL_AT2(w, x + 1, y), k),        \
                           mix_##cell(HAUL_AT2(u, x, y + 1), HAUL_AT2(w, x, y - 1), 2),            \
                           (unsigned)(x + 5 * y));                                                 \
    }                                                                                              \
    HAUL_STENCIL_3D(beside_3_##cell, tile_cells, HAUL_READ(cell, u, 1), HAUL_WRITE(cell, v),       \
                    HAUL_READ(cell, w, 1), HAUL_VALUE(unsigned, k))                                \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_AT(v, x, y, z) = mix_##cell(                                                      \
                mix_##cell(HAUL_AT(u, x - 1, y - 1, z + 1), HAUL_AT(w, x + 1, y, z), k),           \
                mix_##cell(HAUL_AT(u, x, y, z - 1), HAUL_AT(w, x, y + 1, z - 1), 2),               \
                (unsigned)(x + 5 * y + 9 * z));                                                    \
    }
CELL_BESIDES(cell_3)
CELL_BESIDES(cell_4)
CELL_BESIDES(cell_16)

/* far: from the other end of an array, and beyond it where it has cells there. */
typedef struct cell_ends {
    int size[3];
    int last[3];
} cell_ends;

HAUL_KERNEL_1D(far_1, tile_cells, HAUL_ALL(cell_4, u), HAUL_UPDATE(cell_4, v, 0),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = mix_cell_4(HAUL_AT1(v, x), HAUL_AT1(u, n.last[0] - x), 3);
}
HAUL_KERNEL_2D(far_2, tile_cells, HAUL_ALL(cell_4, u), HAUL_UPDATE(cell_4, v, 0),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) =
            mix_cell_4(HAUL_AT2(v, x, y), HAUL_AT2(u, n.last[0] - x, n.last[1] - y), 3);
}
HAUL_KERNEL_3D(far_3, tile_cells, HAUL_ALL(cell_4, u), HAUL_UPDATE(cell_4, v, 0),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = mix_cell_4(
            HAUL_AT(v, x, y, z), HAUL_AT(u, n.last[0] - x, n.last[1] - y, n.last[2] - z), 3);
}

/* counts: how many cells have a remainder, weighted. */
#define CELL_COUNTS(cell)                                                                          \
    HAUL_KERNEL_1D(counts_1_##cell, tile_cells, HAUL_READ(cell, u, 0), HAUL_SCATTER(unsigned, t),  \
                   HAUL_VALUE(int, n))                                                             \
    {                                                                                              \
        HAUL_FOR1 (x)                                                                              \
            HAUL_ADD_AT1(t, (int)(narrow_##cell(HAUL_AT1(u, x)) % (unsigned)n), 3 * x + 1);        \
    }                                                                                              \
    HAUL_KERNEL_2D(counts_2_##cell, tile_cells, HAUL_READ(cell, u, 0), HAUL_SCATTER(unsigned, t),  \
                   HAUL_VALUE(int, n))                                                             \
    {                                                                                              \
        HAUL_FOR2 (x, y)                                                                           \
            HAUL_ADD_AT1(t, (int)(narrow_##cell(HAUL_AT2(u, x, y)) % (unsigned)n), 3 * x + y);     \
    }                                                                                              \
    HAUL_KERNEL_3D(counts_3_##cell, tile_cells, HAUL_READ(cell, u, 0), HAUL_SCATTER(unsigned, t),  \
                   HAUL_VALUE(int, n))                                                             \
    {                                                                                              \
        HAUL_FOR3 (x, y, z)                                                                        \
            HAUL_ADD_AT1(t, (int)(narrow_##cell(HAUL_AT(u, x, y, z)) % (unsigned)n),               \
                         3 * x + y - z);                                                           \
    }
CELL_COUNTS(cell_3)
CELL_COUNTS(cell_4)
CELL_COUNTS(cell_16)

/* masses: sums of numbers that have no end in binary, in the order of cells. */
HAUL_KERNEL_1D(masses_1, tile_cells, HAUL_READ(cell_4, u, 0), HAUL_SCATTER(double, t),
               HAUL_VALUE(int, n))
{
    HAUL_FOR1 (x)
        HAUL_ADD_AT1(t, (int)(HAUL_AT1(u, x) % (unsigned)n), HAUL_AT1(u, x) / 3.0);
}
HAUL_KERNEL_2D(masses_2, tile_cells, HAUL_READ(cell_4, u, 0), HAUL_SCATTER(double, t),
               HAUL_VALUE(int, n))
{
    HAUL_FOR2 (x, y)
        HAUL_ADD_AT1(t, (int)(HAUL_AT2(u, x, y) % (unsigned)n), HAUL_AT2(u, x, y) / 3.0);
}
HAUL_KERNEL_3D(masses_3, tile_cells, HAUL_READ(cell_4, u, 0), HAUL_SCATTER(double, t),
               HAUL_VALUE(int, n))
{
    HAUL_FOR3 (x, y, z)
        HAUL_ADD_AT1(t, (int)(HAUL_AT(u, x, y, z) % (unsigned)n), HAUL_AT(u, x, y, z) / 3.0);
}

/* spread: an array to which each cell adds as far from the start as it is from the end. */
HAUL_KERNEL_1D(spread_1, tile_cells, HAUL_READ(cell_4, u, 0), HAUL_SCATTER(unsigned, v),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR1 (x)
        HAUL_ADD_AT1(v, (n.size[0] - 1 - x) / 2, HAUL_AT1(u, x));
}
HAUL_KERNEL_2D(spread_2, tile_cells, HAUL_READ(cell_4, u, 0), HAUL_SCATTER(unsigned, v),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR2 (x, y)
        HAUL_ADD_AT2(v, (n.size[0] - 1 - x) / 2, n.size[1] - 1 - y, HAUL_AT2(u, x, y));
}
HAUL_KERNEL_3D(spread_3, tile_cells, HAUL_READ(cell_4, u, 0), HAUL_SCATTER(unsigned, v),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR3 (x, y, z)
        HAUL_ADD_AT(v, n.size[0] - 1 - x, y / 2, n.size[2] - 1 - z, HAUL_AT(u, x, y, z));
}

/* lines and sheets: loops of one dimension less than their arrays, or of two less; each index has
 * the cells of the first dimensions, one after another. */
HAUL_KERNEL_1D(lines_2, tile_cells, HAUL_READ(cell_4, u, 1), HAUL_UPDATE(cell_4, v, 0),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR1 (y)
        for (int x = 0; x < n.size[0]; x++)
            HAUL_AT2(v, x, y) =
                mix_cell_4(HAUL_AT2(v, x, y), HAUL_AT2(u, n.size[0] - 1 - x, y - 1),
                           HAUL_AT2(u, x, y + 1) + HAUL_AT2(v, x > 0 ? x - 1 : x, y));
}
HAUL_KERNEL_2D(lines_3, tile_cells, HAUL_READ(cell_4, u, 1), HAUL_UPDATE(cell_4, v, 0),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR2 (y, z)
        for (int x = 0; x < n.size[0]; x++)
            HAUL_AT(v, x, y, z) =
                mix_cell_4(HAUL_AT(v, x, y, z), HAUL_AT(u, n.size[0] - 1 - x, y + 1, z - 1),
                           HAUL_AT(u, x, y - 1, z + 1) + HAUL_AT(v, x > 0 ? x - 1 : x, y, z));
}
HAUL_KERNEL_1D(sheets_3, tile_cells, HAUL_READ(cell_4, u, 1), HAUL_UPDATE(cell_4, v, 0),
               HAUL_VALUE(cell_ends, n))
{
    HAUL_FOR1 (z)
        for (int y = 0; y < n.size[1]; y++)
            for (int x = 0; x < n.size[0]; x++)
                HAUL_AT(v, x, y, z) =
                    mix_cell_4(HAUL_AT(v, x, y, z), HAUL_AT(u, x, n.size[1] - 1 - y, z - 1),
                               HAUL_AT(u, x, y, z + 1) + HAUL_AT(v, x, y > 0 ? y - 1 : y, z));
}

CELL_LOOPS(cell_1)
CELL_LOOPS(cell_2)
CELL_LOOPS(cell_3)
CELL_LOOPS(cell_4)
CELL_LOOPS(cell_8)
CELL_LOOPS(cell_12)
CELL_LOOPS(cell_16)
