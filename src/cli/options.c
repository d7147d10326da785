/* The options of a command: its own, and those that reports and profiles share. */
#include "cli/command.h"

/* The options that every report has. */
static const cli_option report_options[] = {
    {"format", "table|json|csv|markdown", CLI_WORD, offsetof(cli_request, results.options.format),
     .help = "how to print (table); json is described in docs/json.md"},
    {"table", "NAME", CLI_TEXT, offsetof(cli_request, results.options.table),
     .help = "print one table as CSV: the one with this key in the JSON"},
    {"output", "FILE", CLI_TEXT, offsetof(cli_request, results.output), .help = "print to a file",
     .letter = 'o'},
    {"top", "N", CLI_COUNT, offsetof(cli_request, results.options.top),
     .help = "print so many rows of each table that is cut", .least = 1, .most = 1e9},
    {"width", "COLUMNS", CLI_COUNT, offsetof(cli_request, results.options.width),
     .help = "wrap sentences and fit tables to so many columns (COLUMNS, else the terminal's; "
             "without one sentences are wrapped at 100 and tables are whole)",
     .least = 40, .most = 1000},
    {"verbose", NULL, CLI_FLAG, offsetof(cli_request, results.options.verbose),
     .help = "print the method, all notes and all tables, too", .letter = 'v'},
    {0},
};
/* The options of a look at a part of a profile. */
static const cli_option selection_options[] = {
    {"range", "NAME", CLI_TEXT, offsetof(cli_request, range),
     .help = "only what was called in ranges (NVTX, roctx, annotations) of this name"},
    {"device", "N", CLI_TEXT, offsetof(cli_request, device),
     .help = "only what ran on the device of this number"},
    {"from-time", "TIME", CLI_SECONDS, offsetof(cli_request, from_s),
     .help = "only what began this long after the GPU's first operation, or later: 1.5s, 200ms",
     .most = 2e9},
    {"to-time", "TIME", CLI_SECONDS, offsetof(cli_request, to_s),
     .help = "only what began before this time", .most = 2e9},
    {0},
};
static const cli_option html_option = {"html", "FILE", CLI_TEXT,
                                       offsetof(cli_request, results.html),
                                       .help = "write a page for a browser, too: docs/page.md"};
static const cli_option perfetto_option = {"perfetto", "FILE", CLI_TEXT,
                                           offsetof(cli_request, results.perfetto),
                                           .help = "write the timeline for ui.perfetto.dev, too"};

void cli_options_of(const cli_command *self, cli_option_list *list)
{
    list->count = 0;
    for (const cli_option *option = self->options; option && option->name; option++)
        list->items[list->count++] = *option;
    list->own = list->count;
    for (const cli_option *option = report_options; self->has_report && option->name; option++) {
        list->items[list->count] = *option;
        if (self->output && option->letter == 'o')
            list->items[list->count].help = self->output;
        list->count++;
    }
    for (const cli_option *option = selection_options; self->has_selection && option->name;
         option++)
        list->items[list->count++] = *option;
    if (self->has_html)
        list->items[list->count++] = html_option;
    if (self->has_perfetto)
        list->items[list->count++] = perfetto_option;
}
