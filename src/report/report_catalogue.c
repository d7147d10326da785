/* The machines of the catalogue, one a line. */
#include <stdio.h>

#include "haul/units.h"
#include "report/report_fields.h"

/* "PCIe 4 x16, 31.5 GB/s" for people. */
static void describe_link(const haul_link *link, char *buffer, size_t size)
{
    static const char *const kinds[] = {"", "PCIe", "NVLink", "C2C", "fabric"};
    char rate[32];
    const haul_figure peak = haul_link_peak(link);
    buffer[0] = '\0';
    if (!peak.provenance)
        return;
    haul_quantity_format(peak.value, HAUL_DIM_RATE, 3, rate, sizeof rate);
    if (link->kind == HAUL_LINK_PCIE)
        snprintf(buffer, size, "PCIe %.0f x%.0f, %s", link->generation.value, link->lanes.value,
                 rate);
    else
        snprintf(buffer, size, "%s x%.0f, %s", kinds[link->kind], link->links.value, rate);
}

static void add_machine(haul_table *table, const haul_machine *machine)
{
    char link[96];
    describe_link(&machine->link, link, sizeof link);
    haul_table_cell(table, "%s", machine->name);
    haul_table_cell(table, "%s", machine->gpu.name ? machine->gpu.name : "");
    haul_table_cell(table, "%s", link);
    haul_table_cell(table, "%s", machine->summary);
}

static void add_error(haul_table *table, const char *name, const haul_error *error)
{
    char text[1200];
    haul_table_cell(table, "%s", name);
    haul_table_cell(table, "%s", "");
    haul_table_cell(table, "%s", "");
    haul_table_cell(table, "error: %s", haul_error_format(error, text, sizeof text));
}

static haul_status print_table(char *const *names, size_t count, haul_format format, FILE *out,
                               haul_error *error)
{
    static const char *const heads[] = {"<name", "<gpu", "<link", "<summary"};
    static const char *const csv_heads[] = {"name", "gpu", "link", "summary"};
    haul_table table;
    haul_table_begin(&table, format == HAUL_CSV ? csv_heads : heads, 4);
    for (size_t i = 0; i < count; i++) {
        haul_machine *machine = NULL;
        haul_error wrong;
        if (haul_machine_load(names[i], &machine, &wrong))
            add_error(&table, names[i], &wrong);
        else
            add_machine(&table, machine);
        haul_machine_free(machine);
    }
    return haul_report_finish(&table, format, out, error);
}

static void put_machine(haul_json *json, const char *name)
{
    haul_machine *machine = NULL;
    haul_error wrong;
    char text[1200];
    haul_json_open_object(json);
    haul_json_put_string(json, "name", name);
    if (haul_machine_load(name, &machine, &wrong)) {
        haul_json_put_string(json, "error", haul_error_format(&wrong, text, sizeof text));
    } else {
        const haul_figure peak = haul_link_peak(&machine->link);
        haul_json_put_string(json, "summary", machine->summary);
        haul_json_put_string(json, "gpu", machine->gpu.name);
        haul_json_key(json, "link_peak_Bps");
        haul_report_put_figure(json, &peak);
    }
    haul_json_close_object(json);
    haul_machine_free(machine);
}

static haul_status print_json(char *const *names, size_t count, FILE *out, haul_error *error)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_key(&json, "machines");
    haul_json_open_array(&json);
    for (size_t i = 0; i < count; i++)
        put_machine(&json, names[i]);
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

haul_status haul_report_catalogue(haul_format format, FILE *out, haul_error *error)
{
    char **names = NULL;
    size_t count = 0;
    haul_status status = haul_catalogue_list(&names, &count, error);
    if (status)
        return status;
    status = format == HAUL_JSON ? print_json(names, count, out, error)
                                 : print_table(names, count, format, out, error);
    haul_names_free(names, count);
    return status;
}
