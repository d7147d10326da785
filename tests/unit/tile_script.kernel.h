/* Loops for test_tile_scripts. Which neighbours a loop reads is a value that the program draws, so
 * that each direction and distance comes up. Numbers are whole, also those of doubles, so that
 * every device gets the same bits. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_script)

typedef unsigned char b1;
typedef struct b3 {
    unsigned char parts[3];
} b3;
typedef unsigned w4;
typedef double f8;
typedef struct q16 {
    unsigned long parts[2];
} q16;

/* d: the neighbour; n, lo: of an array that is read anywhere, its sizes and first indices. */
typedef struct script_value {
    int d[3];
    int n[3];
    int lo[3];
    unsigned k;
} script_value;

#define SCRIPT_WHOLE(cell, mask)                                                                   \
    HAUL_FUNCTION cell mix_##cell(cell a, cell b, unsigned k)                                      \
    {                                                                                              \
        return (cell)((5 * (unsigned long)a + 3 * (unsigned long)b + k) & mask);                   \
    }                                                                                              \
    HAUL_FUNCTION w4 narrow_##cell(cell a)                                                         \
    {                                                                                              \
        return (w4)(unsigned long)a;                                                               \
    }                                                                                              \
    HAUL_FUNCTION cell widen_##cell(w4 a)                                                          \
    {                                                                                              \
        return (cell)((unsigned long)a & mask);                                                    \
    }
#define SCRIPT_PARTS(cell, part, count)                                                            \
    HAUL_FUNCTION cell mix_##cell(cell a, cell b, unsigned k)                                      \
    {                                                                                              \
        cell made;                                                                                 \
        for (int i = 0; i < count; i++)                                                            \
            made.parts[i] =                                                                        \
                (part)(5 * (unsigned long)a.parts[i] +                                             \
                       3 * (unsigned long)b.parts[(i + 1) % count] + k + (unsigned long)i);        \
        return made;                                                                               \
    }                                                                                              \
    HAUL_FUNCTION w4 narrow_##cell(cell a)                                                         \
    {                                                                                              \
        return (w4)a.parts[0] + 9 * (w4)a.parts[count - 1];                                        \
    }                                                                                              \
    HAUL_FUNCTION cell widen_##cell(w4 a)                                                          \
    {                                                                                              \
        cell made;                                                                                 \
        for (int i = 0; i < count; i++)                                                            \
            made.parts[i] = (part)(a + 77 * (w4)i);                                                \
        return made;                                                                               \
    }
SCRIPT_WHOLE(b1, 0xff)
SCRIPT_PARTS(b3, unsigned char, 3)
SCRIPT_WHOLE(w4, 0xffffffff)
SCRIPT_WHOLE(f8, 0xffff)
SCRIPT_PARTS(q16, unsigned long, 2)

HAUL_FUNCTION int script_step(int d)
{
    return d > 1 ? 1 : d < -1 ? -1 : d;
}

HAUL_FUNCTION int script_any(script_value a, int i, int x)
{
    return (int)((3u * (unsigned)x + a.k) % (unsigned)a.n[i]) + a.lo[i];
}

/* By the loop's dimensions: its kinds, its cell, and cells `s` times the drawn distance from it. */
#define SCRIPT_KERNEL_1 HAUL_KERNEL_1D
#define SCRIPT_KERNEL_2 HAUL_KERNEL_2D
#define SCRIPT_KERNEL_3 HAUL_KERNEL_3D
#define SCRIPT_STENCIL_1 HAUL_KERNEL_1D
#define SCRIPT_STENCIL_2 HAUL_STENCIL_2D
#define SCRIPT_STENCIL_3 HAUL_STENCIL_3D
#define SCRIPT_FOR_1 HAUL_FOR1 (x)
#define SCRIPT_FOR_2 HAUL_FOR2 (x, y)
#define SCRIPT_FOR_3 HAUL_FOR3 (x, y, z)
#define SCRIPT_SUM_1 (x)
#define SCRIPT_SUM_2 (x + y)
#define SCRIPT_SUM_3 (x + y + z)
#define SCRIPT_PLACE_1 (3 * x)
#define SCRIPT_PLACE_2 (3 * x + 5 * y)
#define SCRIPT_PLACE_3 (3 * x + 5 * y + 7 * z)
#define HERE_1(u) HAUL_AT1(u, x)
#define HERE_2(u) HAUL_AT2(u, x, y)
#define HERE_3(u) HAUL_AT(u, x, y, z)
#define NEAR_1(u, s) HAUL_AT1(u, x + s a.d[0])
#define NEAR_2(u, s) HAUL_AT2(u, x + s a.d[0], y + s a.d[1])
#define NEAR_3(u, s) HAUL_AT(u, x + s a.d[0], y + s a.d[1], z + s a.d[2])
#define STEP_1(u) HAUL_AT1(u, x - script_step(a.d[0]))
#define STEP_2(u) HAUL_AT2(u, x - script_step(a.d[0]), y - script_step(a.d[1]))
#define STEP_3(u)                                                                                  \
    HAUL_AT(u, x - script_step(a.d[0]), y - script_step(a.d[1]), z - script_step(a.d[2]))
#define ANY_1(u) HAUL_AT1(u, script_any(a, 0, x))
#define ANY_2(u) HAUL_AT2(u, script_any(a, 0, x), script_any(a, 1, y))
#define ANY_3(u) HAUL_AT(u, script_any(a, 0, x), script_any(a, 1, y), script_any(a, 2, z))

/* shift: may be fused; far: two arrays, or one twice; acc: in place; pair: writes two; chess: in
 * place, from cells of the other colour; down, up: to and from another type; edge: a boundary. */
#define SCRIPT_LOOPS(dims, cell)                                                                   \
    SCRIPT_STENCIL_##dims(shift_##dims##_##cell, tile_script, HAUL_READ(cell, u, 1),               \
                          HAUL_WRITE(cell, v), HAUL_VALUE(script_value, a))                        \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(v) = mix_##cell(HERE_##dims(u), NEAR_##dims(u, +), a.k);     \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(far_##dims##_##cell, tile_script, HAUL_READ(cell, u, 2),                  \
                         HAUL_READ(cell, w, 1), HAUL_WRITE(cell, v), HAUL_VALUE(script_value, a))  \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(v) =                                                         \
            mix_##cell(mix_##cell(NEAR_##dims(u, +), STEP_##dims(w), a.k), NEAR_##dims(u, -), 1);  \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(acc_##dims##_##cell, tile_script, HAUL_READ(cell, u, 1),                  \
                         HAUL_UPDATE(cell, v, 0), HAUL_VALUE(script_value, a))                     \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(v) = mix_##cell(HERE_##dims(v), NEAR_##dims(u, +), a.k);     \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(pair_##dims##_##cell, tile_script, HAUL_READ(cell, u, 1),                 \
                         HAUL_UPDATE(cell, w, 0), HAUL_WRITE(cell, v),                             \
                         HAUL_VALUE(script_value, a))                                              \
    {                                                                                              \
        SCRIPT_FOR_##dims                                                                          \
        {                                                                                          \
            HERE_##dims(v) = mix_##cell(NEAR_##dims(u, +), HERE_##dims(w), a.k);                   \
            HERE_##dims(w) = mix_##cell(HERE_##dims(w), NEAR_##dims(u, -), 1);                     \
        }                                                                                          \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(chess_##dims##_##cell, tile_script, HAUL_UPDATE(cell, u, 1),              \
                         HAUL_VALUE(script_value, a))                                              \
    {                                                                                              \
        SCRIPT_FOR_##dims if (((unsigned)SCRIPT_SUM_##dims + a.k) & 1u) HERE_##dims(u) =           \
            mix_##cell(HERE_##dims(u), NEAR_##dims(u, +), a.k);                                    \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(down_##dims##_##cell, tile_script, HAUL_READ(cell, u, 1),                 \
                         HAUL_WRITE(w4, v), HAUL_VALUE(script_value, a))                           \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(v) = narrow_##cell(NEAR_##dims(u, +)) + a.k;                 \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(up_##dims##_##cell, tile_script, HAUL_READ(w4, u, 1),                     \
                         HAUL_UPDATE(cell, v, 0), HAUL_VALUE(script_value, a))                     \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(v) =                                                         \
            mix_##cell(HERE_##dims(v), widen_##cell(NEAR_##dims(u, +)), a.k);                      \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(edge_##dims##_##cell, tile_script, HAUL_UPDATE(cell, u, 0))               \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(u) = widen_##cell((w4)SCRIPT_PLACE_##dims);                  \
    }
SCRIPT_LOOPS(1, b1)
SCRIPT_LOOPS(2, b1)
SCRIPT_LOOPS(3, b1)
SCRIPT_LOOPS(1, b3)
SCRIPT_LOOPS(2, b3)
SCRIPT_LOOPS(3, b3)
SCRIPT_LOOPS(1, w4)
SCRIPT_LOOPS(2, w4)
SCRIPT_LOOPS(3, w4)
SCRIPT_LOOPS(1, f8)
SCRIPT_LOOPS(2, f8)
SCRIPT_LOOPS(3, f8)
SCRIPT_LOOPS(1, q16)
SCRIPT_LOOPS(2, q16)
SCRIPT_LOOPS(3, q16)

/* look: any cell of an array; fill: no array is read; total: three reductions beside a loop; sum:
 * one of doubles. */
#define SCRIPT_ROWS_1 HAUL_REDUCE_1D
#define SCRIPT_ROWS_2 HAUL_REDUCE_2D
#define SCRIPT_ROWS_3 HAUL_REDUCE_3D
#define SCRIPT_ROW_1 HAUL_ROW1(x)
#define SCRIPT_ROW_2 HAUL_ROW2(x, y)
#define SCRIPT_ROW_3 HAUL_ROW3(x, y, z)
#define SCRIPT_OTHERS(dims)                                                                        \
    SCRIPT_KERNEL_##dims(look_##dims, tile_script, HAUL_ALL(w4, u), HAUL_UPDATE(w4, v, 0),         \
                         HAUL_VALUE(script_value, a))                                              \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(v) = mix_w4(HERE_##dims(v), ANY_##dims(u), a.k);             \
    }                                                                                              \
    SCRIPT_KERNEL_##dims(fill_##dims, tile_script, HAUL_WRITE(w4, v), HAUL_VALUE(script_value, a)) \
    {                                                                                              \
        SCRIPT_FOR_##dims HERE_##dims(v) = (w4)SCRIPT_PLACE_##dims + a.k;                          \
    }                                                                                              \
    SCRIPT_ROWS_##dims(total_##dims, tile_script, HAUL_READ(w4, u, 1), HAUL_WRITE(w4, v),          \
                       HAUL_SUM(unsigned, sum), HAUL_MIN(int, least), HAUL_MAX(unsigned, most),    \
                       HAUL_VALUE(script_value, a))                                                \
    {                                                                                              \
        SCRIPT_ROW_##dims                                                                          \
        {                                                                                          \
            HAUL_ADD(sum, NEAR_##dims(u, +));                                                      \
            HAUL_LEAST(least, (int)(HERE_##dims(u) & 0xffff));                                     \
            HAUL_MOST(most, NEAR_##dims(u, -) ^ a.k);                                              \
            HERE_##dims(v) = HERE_##dims(u) + a.k;                                                 \
        }                                                                                          \
    }                                                                                              \
    SCRIPT_ROWS_##dims(sum_##dims, tile_script, HAUL_READ(f8, u, 0), HAUL_SUM(double, sum))        \
    {                                                                                              \
        SCRIPT_ROW_##dims HAUL_ADD(sum, HERE_##dims(u));                                           \
    }
SCRIPT_OTHERS(1)
SCRIPT_OTHERS(2)
SCRIPT_OTHERS(3)

/* table: an array of one dimension, or of one cell, in loops of more. */
HAUL_KERNEL_2D(table_2, tile_script, HAUL_READ(w4, u, 0), HAUL_UPDATE(w4, v, 0),
               HAUL_VALUE(script_value, a))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = mix_w4(HAUL_AT2(v, x, y), HAUL_AT1(u, script_any(a, 0, x + y)), a.k);
}
HAUL_KERNEL_3D(table_3, tile_script, HAUL_READ(w4, u, 0), HAUL_UPDATE(w4, v, 0),
               HAUL_VALUE(script_value, a))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) =
            mix_w4(HAUL_AT(v, x, y, z), HAUL_AT1(u, script_any(a, 0, x + y + z)), a.k);
}

/* Loops of fewer dimensions than their arrays: rows, planes' rows, and planes. */
HAUL_KERNEL_1D(lines_2, tile_script, HAUL_READ(w4, u, 1), HAUL_UPDATE(w4, v, 0),
               HAUL_VALUE(script_value, a))
{
    HAUL_FOR1 (y)
        for (int x = 0; x < a.n[0]; x++)
            HAUL_AT2(v, x, y) =
                mix_w4(HAUL_AT2(v, x, y), HAUL_AT2(u, a.n[0] - 1 - x, y + a.d[1]), a.k);
}
HAUL_KERNEL_2D(lines_3, tile_script, HAUL_READ(w4, u, 1), HAUL_UPDATE(w4, v, 0),
               HAUL_VALUE(script_value, a))
{
    HAUL_FOR2 (y, z)
        for (int x = 0; x < a.n[0]; x++)
            HAUL_AT(v, x, y, z) = mix_w4(HAUL_AT(v, x, y, z),
                                         HAUL_AT(u, a.n[0] - 1 - x, y + a.d[1], z + a.d[2]), a.k);
}
HAUL_KERNEL_1D(sheets_3, tile_script, HAUL_READ(w4, u, 1), HAUL_UPDATE(w4, v, 0),
               HAUL_VALUE(script_value, a))
{
    HAUL_FOR1 (z)
        for (int y = 0; y < a.n[1]; y++)
            for (int x = 0; x < a.n[0]; x++)
                HAUL_AT(v, x, y, z) =
                    mix_w4(HAUL_AT(v, x, y, z), HAUL_AT(u, x, a.n[1] - 1 - y, z + a.d[2]), a.k);
}

/* mirror: a boundary's kernel that reads cells, of arrays of 6, 6 and 12 cells with one cell beyond
 * each edge; it reads what is in the array, or what an earlier face has set, for the later face
 * takes the corners. */
HAUL_KERNEL_1D(mirror_1, tile_script, HAUL_UPDATE(w4, u, 1))
{
    HAUL_FOR1 (x)
        HAUL_AT1(u, x) = mix_w4(HAUL_AT1(u, x < 0 ? x + 1 : x - 1), 5, 1);
}
HAUL_KERNEL_2D(mirror_2, tile_script, HAUL_UPDATE(w4, u, 1))
{
    HAUL_FOR2 (x, y)
        if (y < 0 || y >= 12)
            HAUL_AT2(u, x, y) = mix_w4(HAUL_AT2(u, x, y < 0 ? y + 1 : y - 1), 5, 2);
        else
            HAUL_AT2(u, x, y) = mix_w4(HAUL_AT2(u, x < 0 ? x + 1 : x - 1, y > 0 ? y - 1 : y), 5, 1);
}
HAUL_KERNEL_3D(mirror_3, tile_script, HAUL_UPDATE(w4, u, 1))
{
    HAUL_FOR3 (x, y, z)
        if (z < 0 || z >= 12)
            HAUL_AT(u, x, y, z) = mix_w4(HAUL_AT(u, x, y, z < 0 ? z + 1 : z - 1), 5, 3);
        else if (y < 0 || y >= 6)
            HAUL_AT(u, x, y, z) =
                mix_w4(HAUL_AT(u, x, y < 0 ? y + 1 : y - 1, z < 11 ? z + 1 : z), 5, 2);
        else
            HAUL_AT(u, x, y, z) =
                mix_w4(HAUL_AT(u, x < 0 ? x + 1 : x - 1, y, z > 0 ? z - 1 : z), 5, 1);
}
