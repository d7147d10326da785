/* The machines of the catalogue, one a line. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "haul/units.h"
#include "report/report_fields.h"
#include "report/wording.h"

/* "PCIe 4 x16, 31.5 GB/s" for people. */
static void describe_link(const haul_link *link, char *buffer, size_t size)
{
    static const char *const kinds[] = {"", "PCIe", "NVLink", "C2C", "fabric"};
    char rate[32];
    const haul_parameter peak = haul_link_peak(link);
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

/* What one line says of a machine, or why it cannot be read. */
typedef struct entry {
    char link[96];
    char gpu[100];
    char text[1200];
} entry;

static void describe(const char *name, entry *out)
{
    haul_machine *machine = NULL;
    haul_error wrong;
    *out = (entry){.link = ""};
    if (haul_machine_load(name, &machine, &wrong)) {
        char text[1100];
        snprintf(out->text, sizeof out->text, "error: %s",
                 haul_error_format(&wrong, text, sizeof text));
        return;
    }
    describe_link(&machine->link, out->link, sizeof out->link);
    snprintf(out->gpu, sizeof out->gpu, "%s", machine->gpu.name ? machine->gpu.name : "");
    snprintf(out->text, sizeof out->text, "%s", machine->summary);
    haul_machine_free(machine);
}

static haul_status print_csv(char *const *names, size_t count, FILE *out, haul_error *error)
{
    static const char *const heads[] = {"name", "gpu", "link", "summary"};
    haul_table table;
    haul_table_begin(&table, heads, 4);
    for (size_t i = 0; i < count; i++) {
        entry machine;
        describe(names[i], &machine);
        haul_table_cell(&table, "%s", names[i]);
        haul_table_cell(&table, "%s", machine.gpu);
        haul_table_cell(&table, "%s", machine.link);
        haul_table_cell(&table, "%s", machine.text);
    }
    return haul_report_finish(&table, HAUL_CSV, out, error);
}

enum { LINK_WIDTH = 22, NAME_WIDTH = 40 /* at most */ };

/* For people: the summary, which names the GPU, wrapped. */
static haul_status print_page(char *const *names, size_t count, FILE *out, haul_error *error)
{
    int width = 4;
    for (size_t i = 0; i < count; i++) {
        const int length = (int)strlen(names[i]);
        width = length > width && length <= NAME_WIDTH ? length : width;
    }
    fprintf(out, "%-*s  %-*s  summary\n", width, "name", LINK_WIDTH, "link");
    for (size_t i = 0; i < count; i++) {
        char first[400];
        entry machine;
        describe(names[i], &machine);
        snprintf(first, sizeof first, "%-*.250s  %-*s  ", width, names[i], LINK_WIDTH,
                 machine.link);
        haul_print_wrapped(first, machine.text, out);
    }
    return ferror(out) ? haul_fail(error, HAUL_IO, "cannot write the report") : HAUL_OK;
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
        const haul_parameter peak = haul_link_peak(&machine->link);
        haul_json_put_string(json, "summary", machine->summary);
        haul_json_put_string(json, "gpu", machine->gpu.name);
        haul_json_key(json, "link_peak_Bps");
        haul_report_put_parameter(json, &peak);
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
    HAUL_PLAIN_NUMERALS;
    char **names = NULL;
    size_t count = 0;
    haul_status status = haul_catalogue_list(&names, &count, error);
    if (status)
        return status;
    status = format == HAUL_JSON  ? print_json(names, count, out, error)
             : format == HAUL_CSV ? print_csv(names, count, out, error)
                                  : print_page(names, count, out, error);
    haul_names_free(names, count);
    return status;
}
