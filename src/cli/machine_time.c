/* haul machine time: what copies take on a machine. */
#include <stdlib.h>
#include <string.h>

#include "cli/machine_parts.h"
#include "haul/csv.h"
#include "haul/units.h"

static const char usage[] =
    "haul machine time MACHINE --direction D --memory M --bytes N [options]\n"
    "       haul machine time MACHINE --csv FILE [options]\n"
    "       haul machine time --model list\n"
    "\n"
    "The time of a copy on a machine, with its interval, by the best model that the machine's\n"
    "parameters allow, and their weakest provenance.\n"
    "\n"
    "options:\n"
    "  --direction HtoD|DtoH|DtoD|PtoP|HtoH\n"
    "  --memory pinned|pageable|...  the host's memory; not needed where there is none\n"
    "  --bytes N                     \"4096\", \"64MiB\", \"1.5 GB\"\n"
    "  --locality near|far           far: the memory of a CPU that the GPU does not hang on\n"
    "  --clock device|host           host: what the program sees, with its call (device)\n"
    "  --model NAME|FILE.so|list     the model (auto); a shared object is one of your own\n"
    "  --csv FILE                    many copies: columns direction, host_memory, bytes in any\n"
    "                                order, the others kept; seconds, low_s, high_s, model and\n"
    "                                provenance are added (as predicted_... where the file has\n"
    "                                such a column); '-' is standard input\n"
    "  --format table|json|csv       how to print (table; csv with --csv)\n"
    "  -o, --output FILE             print to a file\n"
    "\n"
    "exit code: 0 fine, 2 wrong use, 3 bad input, or a parameter that the machine lacks, named\n";

typedef struct time_options {
    const char *machine;
    const char *direction;
    const char *memory;
    const char *bytes;
    const char *locality;
    const char *clock;
    const char *model;
    const char *csv;
    cli_results results;
} time_options;

/* What predicts: all that the options name, loaded. */
typedef struct time_predictor {
    haul_machine *machine;
    haul_model_ref model;
    haul_locality locality;
    bool host_clock;
} time_predictor;

/* Returns what is missing in the options or too many of them, or NULL. */
static const char *check_options(const time_options *options)
{
    if (options->model && !strcmp(options->model, "list"))
        return NULL;
    if (!options->machine)
        return "the machine is missing";
    if (options->csv && (options->direction || options->memory || options->bytes))
        return "--csv brings the copies: no --direction, --memory or --bytes beside it";
    if (!options->csv && (!options->direction || !options->bytes))
        return "--direction and --bytes are needed, or --csv";
    return NULL;
}

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, time_options *out)
{
    const cli_option known[] = {
        {"direction", .value = &out->direction},
        {"memory", .value = &out->memory},
        {"bytes", .value = &out->bytes},
        {"locality", .value = &out->locality},
        {"clock", .value = &out->clock},
        {"model", .value = &out->model, .is_input = true},
        {"csv", .value = &out->csv, .is_input = true},
        {0},
    };
    cli_arguments rest = {.options = known, .results = &out->results};
    const int code = cli_arguments_read(self, argc, argv, &rest);
    if (code != CLI_GO_ON)
        return code;
    if (rest.count > 1)
        return cli_usage(self, "one machine at a time, not also '%s'", rest.operands[1]);
    out->machine = rest.count ? rest.operands[0] : NULL;
    if (out->csv && !out->results.form)
        out->results.options.format = HAUL_CSV;
    const char *wrong = check_options(out);
    return wrong ? cli_usage(self, "%s", wrong) : CLI_GO_ON;
}

/* Which of `count` words `text` is; NULL is the first. */
static haul_status find_word(const char *text, const char *const *words, int count, int *index,
                             haul_error *error)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(text ? text : words[0], words[i])) {
            *index = i;
            return HAUL_OK;
        }
    return haul_fail(error, HAUL_USAGE, "'%.40s' is neither %s nor %s", text, words[0], words[1]);
}

static haul_status read_words(const time_options *options, time_predictor *self, haul_error *error)
{
    static const char *const localities[] = {"near", "far"};
    static const char *const clocks[] = {"device", "host"};
    int locality = 0;
    int clock = 0;
    haul_status status = find_word(options->locality, localities, 2, &locality, error);
    if (!status)
        status = find_word(options->clock, clocks, 2, &clock, error);
    self->locality = (haul_locality)locality;
    self->host_clock = clock;
    return status;
}

static haul_status open_predictor(const time_options *options, time_predictor *self,
                                  haul_error *error)
{
    haul_status status = read_words(options, self, error);
    if (!status)
        status = haul_model_find(options->model ? options->model : "auto", &self->model, error);
    if (!status)
        status = haul_machine_load(options->machine, &self->machine, error);
    return status;
}

/* Adds what a host clock sees around the copy and its synchronisation. */
static haul_status add_call(const time_predictor *self, const haul_copy *copy,
                            haul_estimate *estimate, haul_error *error)
{
    const haul_copy_curve *curve =
        haul_machine_curve(self->machine, copy->direction, copy->memory, copy->locality);
    if (!curve || curve->call_latency_s.provenance == HAUL_NOT_GIVEN)
        return haul_fail(error, HAUL_MISSING, "machine '%s' lacks copies[%s %s%s].call_latency",
                         self->machine->name, haul_direction_text(copy->direction),
                         haul_memory_text(copy->memory), copy->locality == HAUL_FAR ? " far" : "");
    const double call_s = curve->call_latency_s.value;
    estimate->seconds += call_s;
    estimate->low_s += call_s;
    estimate->high_s += call_s;
    estimate->weakest = haul_provenance_weaker(estimate->weakest, curve->call_latency_s.provenance);
    return HAUL_OK;
}

static haul_status predict(const time_predictor *self, haul_timed_copy *timed, haul_error *error)
{
    timed->copy.locality = self->locality;
    const haul_status status =
        haul_copy_time(self->machine, self->model.model, &timed->copy, &timed->estimate, error);
    if (status || !self->host_clock)
        return status;
    return add_call(self, &timed->copy, &timed->estimate, error);
}

/* Where there is no host memory, it need not be said. */
static haul_status read_memory(const char *text, haul_copy *copy, haul_error *error)
{
    if (!text || !*text) {
        copy->memory = copy->direction == HAUL_HTOH ? HAUL_PAGEABLE : HAUL_DEVICE;
        if (copy->direction != HAUL_HTOD && copy->direction != HAUL_DTOH)
            return HAUL_OK;
        return haul_fail(error, HAUL_USAGE,
                         "the host's memory is missing: pinned, pageable, managed or host");
    }
    return haul_memory_parse(text, &copy->memory, error);
}

static haul_status time_one(const time_predictor *self, const time_options *options,
                            haul_error *error)
{
    haul_timed_copy timed = {0};
    haul_status status = haul_direction_parse(options->direction, &timed.copy.direction, error);
    if (!status)
        status = read_memory(options->memory, &timed.copy, error);
    if (!status)
        status = haul_bytes_parse(options->bytes, &timed.copy.bytes, error);
    if (status)
        return error->status = HAUL_USAGE; /* what is wrong is an option */
    status = predict(self, &timed, error);
    if (!status)
        status = cli_report(&options->results, haul_report_times(self->machine, &timed, 1), error);
    return status;
}

/* Many copies from a CSV. */
typedef struct time_rows {
    const time_predictor *predictor;
    haul_csv *csv;
    size_t direction, memory, bytes; /* columns */
    FILE *out;                       /* where they are written as they come; NULL: they are kept */
    haul_timed_copy *kept;
    size_t count;
    size_t capacity;
} time_rows;

static haul_status find_columns(time_rows *self, haul_error *error)
{
    haul_status status = haul_csv_find(self->csv, "direction", &self->direction, error);
    if (!status)
        status = haul_csv_find(self->csv, "host_memory", &self->memory, error);
    if (!status)
        status = haul_csv_find(self->csv, "bytes", &self->bytes, error);
    return status;
}

static void write_heads(const time_rows *self)
{
    static const char *const added[] = {"seconds", "low_s", "high_s", "model", "provenance"};
    for (size_t i = 0; i < haul_csv_column_count(self->csv); i++) {
        haul_csv_put(haul_csv_column_name(self->csv, i), self->out);
        fputc(',', self->out);
    }
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        size_t taken;
        const bool is_taken = haul_csv_find(self->csv, added[i], &taken, NULL) == HAUL_OK;
        fprintf(self->out, "%s%s%s", i ? "," : "", is_taken ? "predicted_" : "", added[i]);
    }
    fputc('\n', self->out);
}

static void write_row(const time_rows *self, const char *const *fields,
                      const haul_estimate *estimate)
{
    for (size_t i = 0; i < haul_csv_column_count(self->csv); i++) {
        haul_csv_put(fields[i], self->out);
        fputc(',', self->out);
    }
    fprintf(self->out, "%.9g,%.9g,%.9g,", estimate->seconds, estimate->low_s, estimate->high_s);
    haul_csv_put(estimate->model, self->out);
    fprintf(self->out, ",%s\n", haul_provenance_text(estimate->weakest));
}

static haul_status keep_row(time_rows *self, const haul_timed_copy *timed, haul_error *error)
{
    if (self->count == self->capacity) {
        const size_t capacity = self->capacity ? 2 * self->capacity : 256;
        haul_timed_copy *grown = realloc(self->kept, capacity * sizeof *grown);
        if (!grown)
            return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
        self->kept = grown;
        self->capacity = capacity;
    }
    self->kept[self->count++] = *timed;
    return HAUL_OK;
}

/* The place of an error is that of the field that it is about. */
static haul_status predict_fields(const time_rows *self, const char *const *fields,
                                  haul_timed_copy *timed, haul_error *error)
{
    size_t column = self->direction;
    haul_status status = haul_direction_parse(fields[column], &timed->copy.direction, error);
    if (!status) {
        column = self->memory;
        status = read_memory(fields[column], &timed->copy, error);
    }
    if (!status) {
        column = self->bytes;
        status = haul_bytes_parse(fields[column], &timed->copy.bytes, error);
    }
    if (!status) {
        column = self->direction;
        status = predict(self->predictor, timed, error);
    }
    if (!status)
        return HAUL_OK;
    if (status == HAUL_USAGE)
        status = error->status = HAUL_BAD_INPUT; /* what is wrong is in the file */
    haul_csv_locate(self->csv, column, error);
    return status;
}

static haul_status predict_rows(time_rows *self, haul_error *error)
{
    const char *const *fields = NULL;
    haul_status status = haul_csv_next(self->csv, &fields, error);
    while (!status && fields) {
        haul_timed_copy timed = {0};
        status = predict_fields(self, fields, &timed, error);
        if (!status && self->out)
            write_row(self, fields, &timed.estimate);
        else if (!status)
            status = keep_row(self, &timed, error);
        if (!status)
            status = haul_csv_next(self->csv, &fields, error);
    }
    return status;
}

static haul_status time_rows_of(time_rows *self, haul_error *error)
{
    const haul_status status = find_columns(self, error);
    if (status)
        return status;
    if (self->out)
        write_heads(self);
    return predict_rows(self, error);
}

/* As CSV the rows keep the columns that they came with, and are written as they come. */
static haul_status time_many(const time_predictor *predictor, const time_options *options,
                             haul_error *error)
{
    time_rows self = {.predictor = predictor};
    const char *output = options->results.output;
    haul_status status = haul_csv_open(options->csv, &self.csv, error);
    if (status)
        return status;
    if (options->results.options.format == HAUL_CSV) {
        status = cli_output_open(output, &self.out, error);
        if (!status)
            status = cli_output_finish(self.out, output, time_rows_of(&self, error), error);
    } else {
        status = time_rows_of(&self, error);
        if (!status)
            status =
                cli_report(&options->results,
                           haul_report_times(predictor->machine, self.kept, self.count), error);
    }
    free(self.kept);
    haul_csv_close(self.csv);
    return status;
}

static haul_status answer(const time_options *options, haul_error *error)
{
    if (options->model && !strcmp(options->model, "list"))
        return cli_report(&options->results, haul_report_models(), error);
    time_predictor self = {0};
    haul_status status = open_predictor(options, &self, error);
    if (!status)
        status = options->csv ? time_many(&self, options, error) : time_one(&self, options, error);
    haul_machine_free(self.machine);
    haul_model_release(&self.model);
    return status;
}

static int run(const cli_command *self, int argc, char **argv)
{
    time_options options = {0};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return answer(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_machine_time = {
    .name = "machine time",
    .summary = "the time of copies on a machine",
    .usage = usage,
    .run = run,
};
