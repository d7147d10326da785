/* Compaction on a device: each group takes GROUP cells, each of its threads RUN of them, one after
 * another. The first kernel counts those that are kept, of each group; the second finds a cell's
 * place from the kept ones of the groups and threads before. Elements are moved as `units` numbers
 * of 4 or 1 bytes. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_tile_scan_file)

#define RUN 32
#define LANES 64
#define GROUP 2048

/* Where an array has its cells, in elements. An array of one dimension is one row. */
typedef struct scan_place {
    long first;
    long plane;
    long row;
    int length; /* of a row */
    int rows;   /* of a plane */
} scan_place;

typedef struct scan_shape {
    scan_place flags;
    scan_place from;
    scan_place to;
    long cells;
    int flag_units; /* an element */
    int units;
} scan_shape;

/* A cell: its element, and its place in row and plane. */
typedef struct scan_walk {
    long at;
    int x;
    int y;
} scan_walk;

HAUL_FUNCTION scan_walk scan_start(scan_place place, long number)
{
    scan_walk walk;
    const long row = number / place.length;
    walk.x = (int)(number % place.length);
    walk.y = (int)(row % place.rows);
    walk.at = place.first + row / place.rows * place.plane + walk.y * place.row + walk.x;
    return walk;
}

/* Goes on by cells that are in the row. */
HAUL_FUNCTION scan_walk scan_next(scan_place place, scan_walk walk, int cells)
{
    walk.at += cells;
    walk.x += cells;
    if (walk.x == place.length) {
        walk.x = 0;
        walk.y++;
        walk.at += place.row - place.length;
    }
    if (walk.y == place.rows) {
        walk.y = 0;
        walk.at += place.plane - place.rows * place.row;
    }
    return walk;
}

/* Cells from there on in the row, at most so many. */
HAUL_FUNCTION int scan_ahead(scan_place place, scan_walk walk, long most)
{
    return place.length - walk.x < most ? place.length - walk.x : (int)most;
}

HAUL_FUNCTION long scan_end(scan_shape shape, long first)
{
    return first + RUN < shape.cells ? first + RUN : shape.cells;
}

#define HL_TILE_SCAN_COUNT(name, type)                                                             \
    HAUL_FUNCTION int name##_keeps(HAUL_GLOBAL const type *flags, long at, int units)              \
    {                                                                                              \
        int is_kept = flags[at * units] != 0;                                                      \
        for (int i = 1; i < units; i++)                                                            \
            is_kept = is_kept || flags[at * units + i];                                            \
        return is_kept;                                                                            \
    }                                                                                              \
    HAUL_FUNCTION int name##_run(HAUL_GLOBAL const type *flags, scan_shape shape, long first)      \
    {                                                                                              \
        int kept = 0;                                                                              \
        scan_walk flag = scan_start(shape.flags, first);                                           \
        for (long left = scan_end(shape, first) - first; left > 0;) {                              \
            const int ahead = scan_ahead(shape.flags, flag, left);                                 \
            for (int x = 0; shape.flag_units == 1 && x < ahead; x++)                               \
                kept += flags[flag.at + x] != 0;                                                   \
            for (int x = 0; shape.flag_units != 1 && x < ahead; x++)                               \
                kept += name##_keeps(flags, flag.at + x, shape.flag_units);                        \
            flag = scan_next(shape.flags, flag, ahead);                                            \
            left -= ahead;                                                                         \
        }                                                                                          \
        return kept;                                                                               \
    }                                                                                              \
    HAUL_KERNEL_GROUPS(name, hl_tile_scan_file, LANES, 1, HAUL_IN(type, flags),                    \
                       HAUL_OUT(long, counts), HAUL_VALUE(scan_shape, shape),                      \
                       HAUL_SHARED(int, lanes, LANES))                                             \
    {                                                                                              \
        const int group = HAUL_GROUP(0);                                                           \
        HAUL_THREADS (t, LANES, u, 1)                                                              \
            lanes[t] = name##_run(flags, shape, (long)group * GROUP + (long)t * RUN);              \
        HAUL_BARRIER;                                                                              \
        HAUL_THREADS (t, LANES, u, 1) {                                                            \
            long sum = 0;                                                                          \
            for (int n = 0; !t && n < LANES; n++)                                                  \
                sum += lanes[n];                                                                   \
            if (!t)                                                                                \
                counts[group] = sum;                                                               \
        }                                                                                          \
    }

/* `places` has the kept cells of the groups before each. */
#define HL_TILE_SCAN_MOVE(name, count, flag_type, type)                                            \
    HAUL_FUNCTION void name##_run(HAUL_GLOBAL const flag_type *flags,                              \
                                  HAUL_GLOBAL const type *from, HAUL_GLOBAL type *to,              \
                                  scan_shape shape, long first, long place)                        \
    {                                                                                              \
        scan_walk flag = scan_start(shape.flags, first);                                           \
        scan_walk source = scan_start(shape.from, first);                                          \
        scan_walk kept = scan_start(shape.to, place);                                              \
        for (long left = scan_end(shape, first) - first; left > 0;) {                              \
            const int ahead = scan_ahead(shape.flags, flag, left);                                 \
            for (int x = 0; x < ahead; x++) {                                                      \
                if (!count##_keeps(flags, flag.at + x, shape.flag_units))                          \
                    continue;                                                                      \
                for (int k = 0; k < shape.units; k++)                                              \
                    to[kept.at * shape.units + k] = from[(source.at + x) * shape.units + k];       \
                kept = scan_next(shape.to, kept, 1);                                               \
            }                                                                                      \
            flag = scan_next(shape.flags, flag, ahead);                                            \
            source = scan_next(shape.from, source, ahead);                                         \
            left -= ahead;                                                                         \
        }                                                                                          \
    }                                                                                              \
    HAUL_KERNEL_GROUPS(name, hl_tile_scan_file, LANES, 1, HAUL_IN(flag_type, flags),               \
                       HAUL_IN(type, from), HAUL_OUT(type, to), HAUL_IN(long, places),             \
                       HAUL_VALUE(scan_shape, shape), HAUL_SHARED(int, lanes, LANES))              \
    {                                                                                              \
        const int group = HAUL_GROUP(0);                                                           \
        HAUL_THREADS (t, LANES, u, 1)                                                              \
            lanes[t] = count##_run(flags, shape, (long)group * GROUP + (long)t * RUN);             \
        HAUL_BARRIER;                                                                              \
        HAUL_THREADS (t, LANES, u, 1) {                                                            \
            long place = places[group];                                                            \
            for (int n = 0; n < t; n++)                                                            \
                place += lanes[n];                                                                 \
            name##_run(flags, from, to, shape, (long)group *GROUP + (long)t * RUN, place);         \
        }                                                                                          \
    }

// NOLINTBEGIN(readability-function-size): the parameters are the kernels' own
HL_TILE_SCAN_COUNT(hl_tile_scan_count_4, unsigned)
HL_TILE_SCAN_COUNT(hl_tile_scan_count_1, unsigned char)
HL_TILE_SCAN_MOVE(hl_tile_scan_move_4_4, hl_tile_scan_count_4, unsigned, unsigned)
HL_TILE_SCAN_MOVE(hl_tile_scan_move_4_1, hl_tile_scan_count_4, unsigned, unsigned char)
HL_TILE_SCAN_MOVE(hl_tile_scan_move_1_4, hl_tile_scan_count_1, unsigned char, unsigned)
HL_TILE_SCAN_MOVE(hl_tile_scan_move_1_1, hl_tile_scan_count_1, unsigned char, unsigned char)
// NOLINTEND(readability-function-size)
