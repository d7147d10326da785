/* Times of a machine's messages over their size and number, as Bienz, Olson, Gropp and Lockhart
 * (HPEC 2021) draw them in their Figures 2 to 5.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_MESSAGE_FIGURES_H
#define HAUL_MESSAGE_FIGURES_H

#include "haul/exchange.h"

HAUL_BEGIN

enum { HAUL_FIGURE_LINES = 6, HAUL_FIGURE_POINTS = 23 };

/* Over the size of a message, 1 B to 4 MiB, but SPLIT. */
typedef enum haul_message_figure_kind {
    HAUL_FIGURE_PAIRS, /* Fig. 2: a message between hosts and between GPUs, by reach: seconds */
    HAUL_FIGURE_WAYS,  /* Fig. 3: a message between GPUs of two nodes, GPUDirect and 3-step */
    HAUL_FIGURE_SPLIT, /* Fig. 4: so many bytes to another node, over the processes that send them:
                        * seconds */
    HAUL_FIGURE_GAIN,  /* Fig. 5: GPUDirect's time by 3-step's, of so many messages */
    HAUL_FIGURES
} haul_message_figure_kind;

typedef struct haul_message_figure {
    size_t lines, points;
    uint64_t x[HAUL_FIGURE_POINTS]; /* bytes; of SPLIT processes */
    char names[HAUL_FIGURE_LINES][32];
    double y[HAUL_FIGURE_LINES][HAUL_FIGURE_POINTS]; /* NaN: not known */
} haul_message_figure;

/* All of a machine's figures. Returns MISSING where it has no message between nodes. */
HAUL_API haul_status haul_message_figures_make(const haul_machine *machine,
                                               haul_message_figure figures[HAUL_FIGURES],
                                               haul_error *error);

HAUL_END

#endif
