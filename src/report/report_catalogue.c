/* The machines of the catalogue, one a line: enough to choose one, or to see which file is broken.
 */
#include <stdio.h>

#include "base/numerals.h"
#include "haul/units.h"
#include "report/report_fields.h"

/* "PCIe 4 x16, 31.5 GB/s"; "" where there is no link. */
static void describe_link(const haul_link *link, char *buffer, size_t size)
{
    char rate[32];
    const haul_parameter peak = haul_link_peak(link);
    buffer[0] = '\0';
    /* No peak: there is no link, or its parameters are incomplete. */
    if (!peak.provenance)
        return;
    haul_quantity_format(peak.value, HAUL_DIM_RATE, 3, rate, sizeof rate);
    if (link->kind == HAUL_LINK_PCIE)
        (void)snprintf(buffer, size, "PCIe %.0f x%.0f, %s", link->generation.value,
                       link->lanes.value, rate);
    else
        (void)snprintf(buffer, size, "%s x%.0f, %s", haul_link_kind_text(link->kind),
                       link->links.value, rate);
}

/* Every machine is read whole, for a file with an error has to be known before it is used. */
haul_status haul_report_catalogue(haul_report **report, haul_error *error)
{
    static const haul_column columns[] = {
        {"name", HAUL_UNIT_TEXT, .head = "Machine"},
        {"error", HAUL_UNIT_TEXT, .optional = true, .csv = ""},
        {"summary", HAUL_UNIT_TEXT, .optional = true, .csv = ""},
        {"gpu", HAUL_UNIT_TEXT, .optional = true, .csv = ""},
        {NULL, HAUL_UNIT_TEXT, .csv = "gpu"},
        {NULL, HAUL_UNIT_TEXT, .head = "link", .csv = "link"},
        {NULL, HAUL_UNIT_TEXT, .head = "summary", .csv = "summary"},
        {0},
    };
    HL_PLAIN_NUMERALS;
    char **names = NULL;
    size_t count = 0;
    HAUL_TRY(haul_catalogue_list(&names, &count, error));
    haul_report *made = haul_report_new("catalogue");
    haul_table *table = haul_report_table(made, "machines", columns);
    haul_table_csv(table);
    /* In order of names, as the catalogue gives them. */
    for (size_t i = 0; i < count; i++) {
        haul_machine *machine = NULL;
        haul_error wrong;
        char text[1200] = "error: ", link[96];
        /* a file that cannot be read is listed with its error: the others are still of use */
        if (haul_machine_load(names[i], &machine, &wrong)) {
            /* Behind "error: ", which people see in the column of summaries; JSON has a key for
             * it. */
            haul_error_format(&wrong, text + 7, sizeof text - 7);
            haul_table_row(table, HAUL_CELLS(haul_cell_text(names[i]), haul_cell_text(text + 7),
                                             haul_cell_text(NULL), haul_cell_text(NULL),
                                             haul_cell_text(NULL), haul_cell_text(""),
                                             haul_cell_text(text)));
            continue;
        }
        const haul_parameter peak = haul_link_peak(&machine->link);
        describe_link(&machine->link, link, sizeof link);
        haul_table_row(table, HAUL_CELLS(haul_cell_text(names[i]), haul_cell_text(NULL),
                                         haul_cell_text(machine->summary),
                                         haul_cell_text(machine->gpu.name),
                                         haul_cell_text(machine->gpu.name), haul_cell_text(link),
                                         haul_cell_text(machine->summary)));
        hl_report_parameter(table, "link_peak_Bps", &peak);
        haul_machine_free(machine);
    }
    haul_names_free(names, count);
    *report = made;
    return HAUL_OK;
}
