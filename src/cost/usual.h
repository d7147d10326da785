/* Usual shares of GPUs' rates, for machines that lack them. */
#ifndef HAUL_COST_USUAL_H
#define HAUL_COST_USUAL_H

typedef struct hl_cost_usual_share {
    double median;
    double ends[2]; /* the fastest and the slowest */
} hl_cost_usual_share;

/* Of its rate alone, what a copy keeps while the other direction is busy with copies: the median of
 * both directions of a K20, a K40 and of an A100 (0.71 to 0.93). */
extern const hl_cost_usual_share hl_cost_usual_busy;

/* The same with mapped memory: the median of both of a K20 and a GTX Titan (0.54 to 0.70; CCGrid
 * 2014, Tables I and II). */
extern const hl_cost_usual_share hl_cost_usual_mapped;

#endif
