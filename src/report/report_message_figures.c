/* Times of a machine's messages over their size and number, a table for each figure of
 * Bienz et al. */
#include <math.h>

#include "base/numerals.h"
#include "haul/report.h"
#include "report/wording.h"

/* A table's key, and its columns: the first is the figure's x. */
static const struct {
    const char *key;
    haul_column columns[HAUL_FIGURE_LINES + 2];
} parts[HAUL_FIGURES] = {
    [HAUL_FIGURE_PAIRS] = {"pairs",
                           {{"bytes", HAUL_UNIT_BYTES, .head = "A message of"},
                            {"host_socket_s", HAUL_UNIT_SECONDS, .head = "host socket"},
                            {"host_node_s", HAUL_UNIT_SECONDS, .head = "host node"},
                            {"host_network_s", HAUL_UNIT_SECONDS, .head = "host network"},
                            {"device_socket_s", HAUL_UNIT_SECONDS, .head = "device socket"},
                            {"device_node_s", HAUL_UNIT_SECONDS, .head = "device node"},
                            {"device_network_s", HAUL_UNIT_SECONDS, .head = "device network"}}},
    [HAUL_FIGURE_WAYS] = {"direct",
                          {{"bytes", HAUL_UNIT_BYTES, .head = "Between GPUs of two nodes"},
                           {"gpudirect_s", HAUL_UNIT_SECONDS, .head = "gpudirect"},
                           {"three_step_s", HAUL_UNIT_SECONDS, .head = "3-step"}}},
    [HAUL_FIGURE_SPLIT] = {"split",
                           {{"processes", HAUL_UNIT_COUNT,
                             .head = "To another node, split over processes"},
                            {"4_kib_s", HAUL_UNIT_SECONDS, .head = "4 KiB"},
                            {"64_kib_s", HAUL_UNIT_SECONDS, .head = "64 KiB"},
                            {"512_kib_s", HAUL_UNIT_SECONDS, .head = "512 KiB"},
                            {"4_mib_s", HAUL_UNIT_SECONDS, .head = "4 MiB"}}},
    [HAUL_FIGURE_GAIN] = {"gain",
                          {{"bytes", HAUL_UNIT_BYTES, .head = "GPUDirect by 3-step, each"},
                           {"messages_1", HAUL_UNIT_FACTOR, .head = "1 message"},
                           {"messages_2", HAUL_UNIT_FACTOR, .head = "2"},
                           {"messages_4", HAUL_UNIT_FACTOR, .head = "4"},
                           {"messages_8", HAUL_UNIT_FACTOR, .head = "8"},
                           {"messages_16", HAUL_UNIT_FACTOR, .head = "16"},
                           {"messages_64", HAUL_UNIT_FACTOR, .head = "64"}}},
};

/* The most that data gain by more processes, and the most that 3-step gains. */
static void say_answer(haul_report *report, const haul_message_figure *figures)
{
    enum { EIGHT_BYTES = 3, HALF_MIB = 2, ONE = 0 };
    const haul_message_figure *pairs = &figures[HAUL_FIGURE_PAIRS];
    const haul_message_figure *split = &figures[HAUL_FIGURE_SPLIT];
    const haul_message_figure *gain = &figures[HAUL_FIGURE_GAIN];
    const double *half = split->y[HALF_MIB];
    size_t best = 0, line = 0, size = 0;
    for (size_t i = 0; i < split->points; i++)
        best = half[i] < half[best] ? i : best;
    for (size_t l = 0; l < gain->lines; l++)
        for (size_t i = 0; i < gain->points; i++)
            if (gain->y[l][i] > gain->y[line][size] || isnan(gain->y[line][size])) {
                line = l;
                size = i;
            }
    const double gpus_s = pairs->y[5][EIGHT_BYTES];
    haul_report_say(report, "8 B between hosts of two nodes take %s%s%s",
                    hl_report_say_seconds(pairs->y[2][EIGHT_BYTES]).text,
                    isnan(gpus_s) ? "" : ", between GPUs ",
                    isnan(gpus_s) ? "" : hl_report_say_seconds(gpus_s).text);
    const hl_report_words half_s = hl_report_say_seconds(half[ONE]);
    if (best)
        haul_report_line(report, "split", "512 KiB to another node: %s from 1 process, %s from %s",
                         half_s.text, hl_report_say_seconds(half[best]).text,
                         hl_report_say_number_of(split->x[best], "process", "processes").text);
    else
        haul_report_line(
            report, "split", "512 KiB to another node: %s from 1 process; %s", half_s.text,
            split->points > 1 ? "more take no less" : "more are not known without host.cores");
    if (!isnan(gain->y[line][size]))
        haul_report_line(report, "3-step", "at best %.2f times as fast as GPUDirect, with %s of %s",
                         gain->y[line][size], gain->names[line],
                         hl_report_say_bytes(gain->x[size]).text);
}

haul_report *haul_report_message_figures(const haul_machine *machine,
                                         const haul_message_figure figures[HAUL_FIGURES])
{
    static const haul_column head[] = {{"machine", .unit = HAUL_UNIT_TEXT}, {0}};
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("message figures");
    haul_report_object(report, NULL, head, HAUL_CELLS(haul_cell_text(machine->name)));
    say_answer(report, figures);
    haul_report_section(report, "curves", "Messages over their size and number");
    for (int f = 0; f < HAUL_FIGURES; f++) {
        const haul_message_figure *of = &figures[f];
        haul_table *table = haul_report_table(report, parts[f].key, parts[f].columns);
        if (f == HAUL_FIGURE_PAIRS)
            haul_table_csv(table);
        for (size_t i = 0; i < of->points; i++) {
            haul_cell cells[HAUL_FIGURE_LINES + 1] = {haul_cell_count(of->x[i])};
            for (size_t l = 0; l < of->lines; l++)
                cells[l + 1] = haul_cell_number(of->y[l][i]);
            haul_table_row(table, cells, of->lines + 1);
        }
    }
    return report;
}
