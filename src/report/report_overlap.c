/* Strategies of overlap beside each other. */
#include <math.h>

#include "base/numerals.h"
#include "report/overlap_answers.h"
#include "report/report_fields.h"
#include "report/report_overlap.h"
#include "report/wording.h"

static const char *device_text(haul_workload_stream_device device)
{
    static const char *const texts[] = {
        [HAUL_IMPLICIT_SYNC] = "implicit synchronisation of streams",
        [HAUL_ONE_ENGINE] = "one copy engine, no implicit synchronisation",
        [HAUL_TWO_ENGINES] = "two copy engines, no implicit synchronisation",
    };
    return texts[device];
}

static double gain_of(const haul_overlap *of, double seconds)
{
    return seconds > 0 ? of->rows[HAUL_EXPLICIT].seconds / seconds : 1;
}

static void put_row(haul_grid *table, const haul_overlap *of, const haul_overlap_row *row)
{
    const bool best = row->strategy == of->best;
    haul_grid_cell(table, "%s%s", haul_strategy_word(row->strategy), best ? " *" : "");
    if (haul_strategy_has_streams(row->strategy))
        haul_grid_cell(table, "%s", haul_say_count(row->streams).text);
    else
        haul_grid_cell(table, "-");
    haul_grid_cell(table, "%s", haul_say_seconds(row->seconds).text);
    haul_grid_cell(table, "%s", haul_say_interval(row->low_s, row->high_s).text);
    haul_grid_cell(table, "%s", haul_say_seconds(row->engine_s).text);
    haul_grid_cell(table, "%.2f", gain_of(of, row->seconds));
    haul_grid_cell(table, "%s", haul_overlap_bound_text(row->bound));
    haul_grid_cell(table, "%s", haul_say_share(haul_share_of(row->bound_s, row->seconds)).text);
}

static void put_limit(haul_grid *table, const haul_overlap *of, const char *name, double seconds)
{
    haul_grid_cell(table, "%s", name);
    haul_grid_cell(table, "-");
    haul_grid_cell(table, "%s", haul_say_seconds(seconds).text);
    haul_grid_cell(table, "-");
    haul_grid_cell(table, "-");
    haul_grid_cell(table, "%.2f", gain_of(of, seconds));
    haul_grid_cell(table, "the roofline");
    haul_grid_cell(table, "-");
}

void haul_fill_strategies(haul_grid *table, const haul_overlap *of)
{
    static const char *const heads[] = {"<strategy", "streams", "time",      "interval",
                                        "timeline",  "gain",    "<bound by", "of its time"};
    haul_grid_begin(table, heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < HAUL_STRATEGIES; i++)
        put_row(table, of, &of->rows[i]);
    put_limit(table, of, "full overlap", of->full_s);
    put_limit(table, of, "full, mapped", of->mapped_s);
    put_limit(table, of, "no overlap", of->none_s);
}

static haul_status print_strategies(const haul_overlap *of, FILE *out, haul_error *error)
{
    haul_grid table;
    haul_fill_strategies(&table, of);
    return haul_report_finish(&table, HAUL_TABLE, out, error);
}

static void print_leg(const char *name, uint64_t bytes, const haul_overlap_leg *leg, FILE *out)
{
    fprintf(out, "%-10s%s", name, haul_say_bytes(bytes).text);
    if (bytes)
        fprintf(out, " at %s, latency %s, gap %s", haul_say_rate(1 / leg->per_byte_s).text,
                haul_say_seconds(leg->latency_s).text, haul_say_seconds(leg->gap_s).text);
    if (leg->times > 1)
        fprintf(out, "; mapped %.4g times", leg->times);
    fputc('\n', out);
}

/* What is assumed, by its bit: in the page, and its name in JSON. */
static const struct {
    unsigned bit;
    const char *key;
    const char *text;
} assumptions[] = {
    {HAUL_ASSUMED_GAP, "gap", "the gap between copies, which is not known, is taken as a latency"},
    {HAUL_ASSUMED_BUSY, "busy_rate",
     "copies that meet copies go at 86 % of their rate, as on other machines"},
    {HAUL_ASSUMED_MAPPED, "mapped_rate",
     "copies that meet mapped memory go at 66 % of their rate, as on other machines"},
};

enum { ASSUMPTIONS = sizeof assumptions / sizeof *assumptions };

static void print_head(const haul_overlap_report *self, FILE *out)
{
    const haul_overlap_case *of = self->of;
    fprintf(out, "machine   %s: %s\n", self->machine->name, self->machine->summary);
    fprintf(out, "device    %s\n", device_text(of->device));
    print_leg("in", self->work->in_bytes, &of->in, out);
    print_leg("out", self->work->out_bytes, &of->out, out);
    fprintf(out, "kernel    %s\n", haul_say_seconds(of->kernel_s).text);
    fprintf(out, "figures   the weakest is %s\n", haul_provenance_text(of->weakest));
    for (int i = 0; i < ASSUMPTIONS; i++)
        if (of->assumed & assumptions[i].bit)
            fprintf(out, "assumed   %s\n", assumptions[i].text);
}

static void print_answer(const haul_answer *answer, FILE *out)
{
    char head[40];
    (void)snprintf(head, sizeof head, "%-26s", answer->question);
    haul_print_wrapped(head, answer->text, out);
}

static haul_status print_page(const haul_overlap_report *self, FILE *out, haul_error *error)
{
    haul_answer answers[HAUL_OVERLAP_QUESTIONS];
    print_head(self, out);
    fputc('\n', out);
    haul_status status = print_strategies(&self->strategies, out, error);
    if (!status && self->next_generation) {
        fprintf(out, "\nOn PCIe generation %d, G by the ratio of the peaks:\n",
                self->next_generation);
        status = print_strategies(&self->next, out, error);
    }
    if (status)
        return status;
    fputc('\n', out);
    haul_overlap_answer(self, answers);
    for (int i = 0; i < HAUL_OVERLAP_QUESTIONS; i++)
        print_answer(&answers[i], out);
    return HAUL_OK;
}

static void put_csv(haul_grid *table, const haul_overlap *of, const char *link)
{
    for (int i = 0; i < HAUL_STRATEGIES; i++) {
        const haul_overlap_row *row = &of->rows[i];
        haul_grid_cell(table, "%s", link);
        haul_grid_cell(table, "%s", haul_strategy_word(row->strategy));
        if (haul_strategy_has_streams(row->strategy))
            haul_grid_cell(table, "%u", row->streams);
        else
            haul_grid_cell(table, "%s", "");
        haul_grid_cell(table, "%.9g", row->seconds);
        haul_grid_cell(table, "%.9g", row->low_s);
        haul_grid_cell(table, "%.9g", row->high_s);
        if (isfinite(row->engine_s))
            haul_grid_cell(table, "%.9g", row->engine_s);
        else
            haul_grid_cell(table, "%s", "");
        haul_grid_cell(table, "%.9g", gain_of(of, row->seconds));
        haul_grid_cell(table, "%s", haul_overlap_bound_text(row->bound));
        haul_grid_cell(table, "%.9g", row->bound_s);
        haul_grid_cell(table, "%d", row->strategy == of->best);
    }
}

static haul_status print_csv(const haul_overlap_report *self, FILE *out, haul_error *error)
{
    static const char *const heads[] = {"link",  "strategy", "streams",    "seconds",
                                        "low_s", "high_s",   "timeline_s", "gain",
                                        "bound", "bound_s",  "best"};
    haul_grid table = {0};
    haul_grid_begin(&table, heads, sizeof heads / sizeof *heads);
    put_csv(&table, &self->strategies, "now");
    if (self->next_generation)
        put_csv(&table, &self->next, "next");
    return haul_report_finish(&table, HAUL_CSV, out, error);
}

static void put_json_streams(haul_json *json, const char *key, bool has, uint32_t streams)
{
    haul_json_key(json, key);
    if (has)
        haul_json_unsigned(json, streams);
    else
        haul_json_null(json);
}

static void put_json_row(haul_json *json, const haul_overlap *of, const haul_overlap_row *row)
{
    const bool has = haul_strategy_has_streams(row->strategy);
    haul_json_open_object(json);
    haul_json_put_string(json, "strategy", haul_strategy_word(row->strategy));
    put_json_streams(json, "streams", has, row->streams);
    put_json_streams(json, "best_streams", has, row->best_streams);
    put_json_streams(json, "enough_streams", has, row->enough_streams);
    haul_json_put_number(json, "time_s", row->seconds);
    haul_report_put_interval(json, row->low_s, row->high_s);
    haul_json_put_number(json, "timeline_s", row->engine_s);
    put_json_streams(json, "timeline_streams", has && row->engine_streams, row->engine_streams);
    haul_json_put_number(json, "timeline_enough_s", row->engine_enough_s);
    haul_json_put_number(json, "gain", gain_of(of, row->seconds));
    haul_json_put_string(json, "bound", haul_overlap_bound_text(row->bound));
    haul_json_put_number(json, "bound_s", row->bound_s);
    haul_json_close_object(json);
}

/* The keys of a comparison, into the object that is open. */
static void put_json_overlap(haul_json *json, const haul_overlap *of)
{
    haul_json_put_string(json, "best", haul_strategy_word(of->best));
    haul_json_put_number(json, "gain", of->gain);
    haul_json_put_bool(json, "kernel_dominates", of->kernel_dominates);
    haul_json_put_number(json, "full_overlap_s", of->full_s);
    haul_json_put_number(json, "mapped_overlap_s", of->mapped_s);
    haul_json_put_number(json, "no_overlap_s", of->none_s);
    haul_json_put_number(json, "useful_streams", of->useful);
    haul_json_put_number(json, "reads_most", of->reads_most);
    haul_json_put_number(json, "writes_most", of->writes_most);
    haul_json_key(json, "strategies");
    haul_json_open_array(json);
    for (int i = 0; i < HAUL_STRATEGIES; i++)
        put_json_row(json, of, &of->rows[i]);
    haul_json_close_array(json);
}

static void put_json_leg(haul_json *json, const char *key, const haul_overlap_leg *leg)
{
    haul_json_key(json, key);
    haul_json_open_object(json);
    haul_json_put_unsigned(json, "bytes", (uint64_t)leg->bytes);
    haul_json_put_number(json, "mapped_times", leg->times);
    haul_json_put_number(json, "latency_s", leg->latency_s);
    haul_json_put_number(json, "gap_s", leg->gap_s);
    haul_json_put_number(json, "rate_Bps", 1 / leg->per_byte_s);
    haul_json_put_number(json, "busy_rate_Bps", 1 / leg->busy_per_byte_s);
    haul_json_put_number(json, "mapped_rate_Bps", 1 / leg->mapped_per_byte_s);
    haul_json_close_object(json);
}

static void put_json_case(haul_json *json, const haul_overlap_report *self)
{
    haul_json_put_string(json, "device", device_text(self->of->device));
    haul_json_put_number(json, "kernel_s", self->of->kernel_s);
    put_json_leg(json, "h2d", &self->of->in);
    put_json_leg(json, "d2h", &self->of->out);
    haul_json_put_string(json, "provenance", haul_provenance_text(self->of->weakest));
    haul_json_key(json, "assumed");
    haul_json_open_array(json);
    for (int i = 0; i < ASSUMPTIONS; i++)
        if (self->of->assumed & assumptions[i].bit)
            haul_json_string(json, assumptions[i].key);
    haul_json_close_array(json);
}

static haul_status print_json(const haul_overlap_report *self, FILE *out, haul_error *error)
{
    haul_answer answers[HAUL_OVERLAP_QUESTIONS];
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_string(&json, "report", "overlap");
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_put_string(&json, "machine", self->machine->name);
    put_json_case(&json, self);
    put_json_overlap(&json, &self->strategies);
    haul_json_key(&json, "next");
    if (self->next_generation) {
        haul_json_open_object(&json);
        haul_json_put_unsigned(&json, "generation", (uint64_t)self->next_generation);
        put_json_overlap(&json, &self->next);
        haul_json_close_object(&json);
    } else {
        haul_json_null(&json);
    }
    haul_overlap_answer(self, answers);
    haul_json_key(&json, "answers");
    haul_json_open_object(&json);
    for (int i = 0; i < HAUL_OVERLAP_QUESTIONS; i++)
        haul_json_put_string(&json, answers[i].key, answers[i].text);
    haul_json_close_object(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

haul_status haul_report_overlap(const haul_overlap_report *self, haul_format format, FILE *out,
                                haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    if (format == HAUL_JSON)
        return print_json(self, out, error);
    return format == HAUL_CSV ? print_csv(self, out, error) : print_page(self, out, error);
}
