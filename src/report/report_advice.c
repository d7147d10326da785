/* Advice for people, and as rows. */
#include "report/report_advice.h"
#include "base/numerals.h"
#include "report/report_fields.h"
#include "report/wording.h"

enum { WIDEST = 20 }; /* pieces that are told in full */

static void print_head(const haul_workload *workload, const haul_advice_list *list, FILE *out)
{
    const haul_replay *replay = &list->replay;
    haul_print_paragraph(out, "profile   ", "%s", workload->source ? workload->source : "-");
    haul_print_paragraph(out, "machine   ", "%s%s%s", list->machine, list->gpu ? ", " : "",
                         list->gpu ? list->gpu : "");
    haul_print_paragraph(out, "identity  ",
                         "the recorded run of %s comes back as %s from its own times: %+.2f %%",
                         haul_say_time(replay->recorded_ns).text,
                         haul_say_time(replay->replayed_ns).text, replay->error);
    haul_print_paragraph(
        out, "run       ", "%s there; what would save less than %s, that share of it, is not said",
        haul_say_time(list->baseline_ns).text, haul_say_time(list->threshold_ns).text);
}

static haul_status print_ranking(const haul_advice_list *list, FILE *out, haul_error *error)
{
    static const char *const heads[] = {"#",       "saves",    "of the run",
                                        "<change", "<certain", "<together"};
    haul_grid table = {0};
    haul_grid_begin(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < list->count; i++) {
        const haul_advice *advice = &list->items[i];
        haul_grid_cell(&table, "%zu", i + 1);
        haul_grid_cell(&table, "%s", haul_say_time(advice->saved_ns).text);
        haul_grid_cell(&table, "%s", haul_say_share(advice->share).text);
        haul_grid_cell(&table, "%s", advice->change);
        haul_grid_cell(&table, "%s", haul_certainty_text(advice->certainty));
        haul_grid_cell(&table, "%s", advice->apart ? advice->apart : "yes");
    }
    return haul_report_finish(&table, HAUL_TABLE, out, error);
}

static void print_advice(const haul_advice *advice, size_t number, FILE *out)
{
    char head[16];
    fputc('\n', out);
    (void)snprintf(head, sizeof head, "%-4zu", number);
    haul_print_paragraph(out, head, "%s", advice->what);
    haul_print_paragraph(out, "    why      ", "%s", advice->why);
    if (advice->assumes)
        haul_print_paragraph(out, "    if       ", "%s", advice->assumes);
    if (advice->needs)
        haul_print_paragraph(out, "    needs    ", "%s", advice->needs);
    if (advice->call_count)
        haul_print_paragraph(out, "    first    ", "%s after the first call",
                             haul_say_time(advice->calls[0].first_ns).text);
}

static void print_plan(const char *name, const haul_advised_plan *plan, FILE *out)
{
    if (plan->changes)
        haul_print_paragraph(out, name, "%s %s %s, %s of the run, scheduled at once",
                             haul_say_number_of(plan->changes, "change", NULL).text,
                             plan->changes == 1 ? "saves" : "save",
                             haul_say_time(plan->saved_ns).text, haul_say_share(plan->share).text);
}

static void print_plans(const haul_advice_list *list, FILE *out)
{
    fputc('\n', out);
    print_plan("together     ", &list->together, out);
    if (list->with_speculative.changes > list->together.changes)
        print_plan("and suspects ", &list->with_speculative, out);
    haul_print_paragraph(out, "tried        ", "%s; %s would save less than %s",
                         haul_say_number_of(list->tried, "change", NULL).text,
                         haul_say_count(list->below).text, haul_say_time(list->threshold_ns).text);
    for (size_t n = 0; n < list->note_count; n++)
        haul_print_wrapped(n ? "             " : "note         ", list->notes[n], out);
}

static haul_status print_page(const haul_workload *workload, const haul_advice_list *list,
                              FILE *out, haul_error *error)
{
    print_head(workload, list, out);
    fputc('\n', out);
    haul_status status = HAUL_OK;
    if (list->count)
        status = print_ranking(list, out, error);
    else
        fputs("Nothing that was tried saves more than that.\n", out);
    for (size_t i = 0; !status && i < list->count && i < WIDEST; i++)
        print_advice(&list->items[i], i + 1, out);
    if (!status && list->count > WIDEST)
        fprintf(out, "\nThe other %zu are told in full by --format json.\n", list->count - WIDEST);
    if (!status)
        print_plans(list, out);
    return status;
}

static void add_calls(haul_grid *table, const haul_advice *advice)
{
    uint64_t count = 0, bytes = 0;
    for (size_t c = 0; c < advice->call_count; c++) {
        count += advice->calls[c].count;
        bytes += advice->calls[c].bytes;
    }
    haul_grid_cell(table, "%llu", (unsigned long long)count);
    haul_grid_cell(table, "%llu", (unsigned long long)bytes);
}

static haul_status print_csv(const haul_advice_list *list, FILE *out, haul_error *error)
{
    static const char *const heads[] = {"change", "certainty", "saved_s", "share",
                                        "parts",  "copies",    "bytes",   "what"};
    haul_grid table = {0};
    haul_grid_begin(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < list->count; i++) {
        const haul_advice *advice = &list->items[i];
        haul_grid_cell(&table, "%s", advice->change);
        haul_grid_cell(&table, "%s", haul_certainty_text(advice->certainty));
        haul_grid_cell(&table, "%.9g", 1e-9 * (double)advice->saved_ns);
        haul_grid_cell(&table, "%.6g", advice->share);
        haul_grid_cell(&table, "%u", advice->parts);
        add_calls(&table, advice);
        haul_grid_cell(&table, "%s", advice->what);
    }
    return haul_report_finish(&table, HAUL_CSV, out, error);
}

haul_status haul_report_advice(const haul_workload *workload, const haul_advice_list *list,
                               haul_format format, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    if (format == HAUL_JSON)
        return haul_advice_print_json(workload, list, out, error);
    return format == HAUL_CSV ? print_csv(list, out, error)
                              : print_page(workload, list, out, error);
}
