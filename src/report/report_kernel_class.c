/* Classes of kernels, with what tells them. */
#include <stdio.h>

#include "haul/report.h"

static const char *source_of(const haul_kernel_kind *kind)
{
    /* A pattern of the user's own file may have no source; then the file is its source. */
    return kind->is_users && !*kind->source ? "the classes file" : kind->source;
}

/* A pattern's source stands once. Patterns are few, so that an equal one is near. */
static bool is_told_before(const haul_kernel_classified *items, size_t at)
{
    for (size_t i = at; i-- > 0;)
        if (items[i].kind.pattern == items[at].kind.pattern)
            return true;
    return false;
}

haul_report *haul_report_kernel_classes(const haul_kernel_classified *items, size_t count)
{
    static const haul_column columns[] = {
        {"kernel", HAUL_UNIT_NAME, .head = "Kernel"},
        {"class", HAUL_UNIT_TEXT, .head = "class"},
        {"precision", HAUL_UNIT_TEXT, .head = "precision", .optional = true},
        {"tile", HAUL_UNIT_TEXT, .head = "tile", .optional = true},
        {"pattern", HAUL_UNIT_TEXT, .head = "because of", .optional = true},
        {"precision_pattern", HAUL_UNIT_TEXT, .optional = true},
        {"source", HAUL_UNIT_TEXT, .optional = true},
        {0},
    };
    haul_report *report = haul_report_new("kernel classes");
    haul_table *table = haul_report_table(report, "kernels", columns);
    haul_table_csv(table);
    for (size_t i = 0; i < count; i++) {
        const haul_kernel_kind *kind = &items[i].kind;
        char tile[32]; /* "128x64" */
        (void)snprintf(tile, sizeof tile, "%ux%u", kind->tile[0], kind->tile[1]);
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(items[i].name), haul_cell_text(haul_kernel_class_text(kind->kind)),
                haul_cell_text(kind->precision ? haul_precision_text(kind->precision) : NULL),
                haul_cell_text(kind->tile[0] ? tile : NULL), haul_cell_text(kind->pattern),
                haul_cell_text(kind->precision_pattern),
                haul_cell_text(kind->pattern ? source_of(kind) : NULL)));
    }
    /* Sources stand below the table: they are sentences. */
    for (size_t i = 0; i < count; i++)
        if (items[i].kind.pattern && !is_told_before(items, i))
            haul_report_line(report, items[i].kind.pattern, "%s", source_of(&items[i].kind));
    return report;
}
