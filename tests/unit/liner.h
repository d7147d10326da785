/* A machine whose copies lie on lines, what it records, and projections of that. */
#ifndef HAUL_TESTS_LINER_H
#define HAUL_TESTS_LINER_H

#include <math.h>
#include <string.h>

#include "by_hand.h"
#include "check.h"
#include "haul/project.h"

#define MEASURED(number)                                                                           \
    {                                                                                              \
        .value = (number), .provenance = HAUL_PROVENANCE_MEASURED                                  \
    }
#define DATASHEET(number)                                                                          \
    {                                                                                              \
        .value = (number), .provenance = HAUL_PROVENANCE_DATASHEET                                 \
    }

/* A machine whose copies lie on lines: 10 us + n / 10 GB/s in, 8 us + n / 12 GB/s out, pinned, and
 * 20 us + n / 4 GB/s, pageable. */
static const haul_copy_curve lines[] = {
    {.direction = HAUL_DIRECTION_HTOD,
     .memory = HAUL_MEMORY_PINNED,
     .latency_s = MEASURED(10e-6),
     .rate_Bps = MEASURED(10e9)},
    {.direction = HAUL_DIRECTION_DTOH,
     .memory = HAUL_MEMORY_PINNED,
     .latency_s = MEASURED(8e-6),
     .rate_Bps = MEASURED(12e9)},
    {.direction = HAUL_DIRECTION_HTOD,
     .memory = HAUL_MEMORY_PAGEABLE,
     .latency_s = MEASURED(20e-6),
     .rate_Bps = MEASURED(4e9)},
};

static const haul_machine liner = {
    .name = "liner",
    .host = {.memory_bandwidth_Bps = DATASHEET(100e9), .copy_rate_Bps = MEASURED(8e9)},
    .gpu = {.name = "Liner 1", .memory_bandwidth_Bps = DATASHEET(1e12), .clock_Hz = DATASHEET(1e9)},
    .link = {.kind = HAUL_LINK_PCIE, .generation = DATASHEET(3), .lanes = DATASHEET(16)},
    .copies = lines,
    .copy_count = sizeof lines / sizeof *lines,
};

static const haul_machine bare = {
    .name = "bare",
    .gpu = {.name = "Bare 1"},
    .link = {.kind = HAUL_LINK_PCIE, .generation = DATASHEET(4), .lanes = DATASHEET(16)},
};

static inline const haul_copy_curve *line_of(haul_direction direction, haul_memory memory)
{
    return haul_machine_curve(&liner, direction, memory, HAUL_LOCALITY_NEAR);
}

static inline void add_on_line(by_hand *hand, haul_direction direction, haul_memory memory,
                               uint64_t bytes)
{
    const haul_copy_curve *line = line_of(direction, memory);
    const double seconds = line->latency_s.value + (double)bytes / line->rate_Bps.value;
    const int64_t start = (int64_t)hand->workload.op_count * 1000000000;
    by_hand_copy(hand, direction, memory, bytes, start, (int64_t)llround(1e9 * seconds));
}

/* The profile that the liner would record. */
static inline const haul_workload *record(by_hand *hand)
{
    for (uint64_t bytes = 1000; bytes <= 1000000000; bytes *= 10)
        for (int i = 0; i < 3; i++) {
            add_on_line(hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, bytes);
            add_on_line(hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 2 * bytes);
            add_on_line(hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 3 * bytes);
        }
    by_hand_add(hand, HAUL_OP_KERNEL, 0, 1000000);
    by_hand_add(hand, HAUL_OP_MEMSET, 0, 5000);
    return by_hand_finish(hand);
}

static inline haul_projection *project(const haul_workload *workload,
                                       const haul_projection_options *options)
{
    haul_projection *projection = NULL;
    haul_error error = {0};
    if (haul_projection_make(workload, options, &projection, &error))
        fail_msg("%s", error.text);
    return projection;
}

static inline bool has_note(const haul_projection *projection, const char *part)
{
    for (size_t i = 0; i < projection->note_count; i++)
        if (strstr(projection->notes[i], part))
            return true;
    return false;
}

#endif
