/* A simulated workload: where its time goes, and what its operations wait for. */
#include "page/html.h"
#include "page/page_parts.h"
#include "report/report_simulation.h"

void haul_page_simulation(haul_page_writer *self)
{
    haul_simulation_tables tables;
    if (!haul_fill_simulation(&tables, self->page->simulation)) {
        self->failed = true;
        return;
    }
    fputs("<div class=\"beside\">\n", self->out);
    haul_page_table(self, &tables.run, NULL);
    haul_page_table(self, &tables.resources, NULL);
    fputs("</div>\n", self->out);
    const size_t shown = tables.first_operations.count / tables.first_operations.columns - 1;
    const bool all = shown == self->page->simulation->schedule->workload->op_count;
    haul_page_table(self, &tables.first_operations,
                    all ? "What each operation started behind"
                        : "What the first operations started behind");
}
