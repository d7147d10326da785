/* The tables of a simulation, for the terminal and for a page. */
#ifndef HAUL_REPORT_REPORT_SIMULATION_H
#define HAUL_REPORT_REPORT_SIMULATION_H

#include "base/table.h"
#include "haul/simulate.h"

typedef struct haul_simulation_tables {
    haul_table run;
    haul_table resources;
    haul_table first_operations; /* at most 40 */
} haul_simulation_tables;

/* Begins all; returns false, with none begun, without memory. */
bool haul_fill_simulation(haul_simulation_tables *tables, const haul_simulation *simulation);

#endif
