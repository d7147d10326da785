/* haul machine time: what copies take on a machine. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "haul/csv.h"
#include "haul/units.h"

static const char about[] =
    "The time of a copy on a machine, with its interval, by the best model that the machine's\n"
    "parameters allow, and their weakest provenance; without --bytes those of copies of 1 KiB to\n"
    "1 GiB, of each direction and kind of memory that the machine has or that is asked for.\n"
    "'haul machine time --model list' lists the models.\n";

typedef struct time_request {
    cli_request given;
    cli_machines machines;
    const char *direction;
    const char *memory;
    uint64_t bytes;
    int locality; /* a haul_locality */
    int clock;    /* 1: the host's */
    const char *model_name;
    const char *csv;
    haul_model_ref model;
} time_request;

#define OF(field) offsetof(time_request, field)

static const cli_option options[] = {
    {"direction", "HtoD|DtoH|DtoD|PtoP|HtoH", CLI_TEXT, OF(direction), .help = "of the copy"},
    {"memory", "pinned|pageable|...", CLI_TEXT, OF(memory),
     .help = "the host's memory; not needed where there is none"},
    {"bytes", "N", CLI_BYTES, OF(bytes), .help = "\"4096\", \"64MiB\", \"1.5 GB\""},
    {"locality", "near|far", CLI_WORD, OF(locality),
     .help = "far: the memory of a CPU that the GPU does not hang on"},
    {"clock", "device|host", CLI_WORD, OF(clock),
     .help = "host: what the program sees, with its call (device)"},
    {"model", "NAME|FILE.so|list", CLI_TEXT, OF(model_name),
     .help = "the model (auto); a shared object is one of your own", .is_input = true},
    {"csv", "FILE", CLI_TEXT, OF(csv),
     .help = "many copies: columns direction, host_memory, bytes in any order, the others kept; "
             "seconds, low_s, high_s, model and provenance are added (as predicted_... where the "
             "file has such a column); '-' is standard input; prints CSV unless --format says "
             "otherwise",
     .is_input = true},
    {0},
};

static bool lists_models(const time_request *self)
{
    return self->model_name && !strcmp(self->model_name, "list");
}

static haul_status check(void *request, haul_error *error)
{
    time_request *self = request;
    const char *wrong = NULL;
    const bool has_bytes = cli_has(&self->given, "bytes");
    if (lists_models(self))
        return HAUL_OK;
    if (!self->given.operand_count)
        wrong = "the machine is missing";
    else if (self->csv && (self->direction || self->memory || has_bytes))
        wrong = "--csv brings the copies: no --direction, --memory or --bytes beside it";
    else if (has_bytes && !self->direction)
        wrong = "--bytes needs --direction";
    if (self->csv && !cli_has(&self->given, "format"))
        self->given.results.options.format = HAUL_CSV;
    return wrong ? haul_fail(error, HAUL_USAGE, "%s", wrong) : HAUL_OK;
}

/* Adds what a host clock sees around the copy and its synchronisation. */
static haul_status add_call(const time_request *self, const haul_copy *copy,
                            haul_estimate *estimate, haul_error *error)
{
    const haul_copy_curve *curve =
        haul_machine_curve(self->machines.items[0], copy->direction, copy->memory, copy->locality);
    if (!curve || curve->call_latency_s.provenance == HAUL_NOT_GIVEN)
        return haul_fail(error, HAUL_MISSING, "machine '%s' lacks copies[%s %s%s].call_latency",
                         self->machines.items[0]->name, haul_direction_text(copy->direction),
                         haul_memory_text(copy->memory), copy->locality == HAUL_FAR ? " far" : "");
    const double call_s = curve->call_latency_s.value;
    estimate->seconds += call_s;
    estimate->low_s += call_s;
    estimate->high_s += call_s;
    estimate->weakest = haul_provenance_weaker(estimate->weakest, curve->call_latency_s.provenance);
    return HAUL_OK;
}

static haul_status predict(const time_request *self, haul_timed_copy *timed, haul_error *error)
{
    timed->copy.locality = (haul_locality)self->locality;
    const haul_status status = haul_copy_time(self->machines.items[0], self->model.model,
                                              &timed->copy, &timed->estimate, error);
    if (status || !self->clock)
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

static haul_status time_one(const time_request *self, haul_error *error)
{
    haul_timed_copy timed = {.copy = {.bytes = self->bytes}};
    haul_status status = haul_direction_parse(self->direction, &timed.copy.direction, error);
    if (!status)
        status = read_memory(self->memory, &timed.copy, error);
    if (status)
        return error->status = HAUL_USAGE; /* what is wrong is an option */
    status = predict(self, &timed, error);
    if (!status)
        status = cli_report(&self->given.results,
                            haul_report_times(self->machines.items[0], &timed, 1), error);
    return status;
}

/* Many copies from a CSV. */
typedef struct time_rows {
    const time_request *asked;
    haul_csv *csv;
    size_t direction, memory, bytes; /* columns */
    FILE *out;                       /* where they are written as they come; NULL: they are kept */
    haul_timed_copy *kept;
    size_t count;
    size_t capacity;
} time_rows;

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
        status = predict(self->asked, timed, error);
    }
    if (!status)
        return HAUL_OK;
    if (status == HAUL_USAGE)
        status = error->status = HAUL_BAD_INPUT; /* what is wrong is in the file */
    haul_csv_locate(self->csv, column, error);
    return status;
}

/* Those that are written as they come keep the columns that they came with. */
static haul_status predict_rows(time_rows *self, haul_error *error)
{
    haul_status status = haul_csv_find(self->csv, "direction", &self->direction, error);
    if (!status)
        status = haul_csv_find(self->csv, "host_memory", &self->memory, error);
    if (!status)
        status = haul_csv_find(self->csv, "bytes", &self->bytes, error);
    if (!status && self->out)
        write_heads(self);
    const char *const *fields = NULL;
    if (!status)
        status = haul_csv_next(self->csv, &fields, error);
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

static haul_status time_many(const time_request *asked, haul_error *error)
{
    const cli_results *results = &asked->given.results;
    time_rows self = {.asked = asked};
    haul_status status = haul_csv_open(asked->csv, &self.csv, error);
    if (status)
        return status;
    if (results->options.format == HAUL_CSV) {
        status = cli_output_open(results->output, &self.out, error);
        if (!status)
            status =
                cli_output_finish(self.out, results->output, predict_rows(&self, error), error);
    } else {
        status = predict_rows(&self, error);
        if (!status)
            status = cli_report(
                results, haul_report_times(asked->machines.items[0], self.kept, self.count), error);
    }
    free(self.kept);
    haul_csv_close(self.csv);
    return status;
}

/* Copies of one direction and memory, of 1 KiB to 1 GiB. */
static haul_status sweep_curve(time_rows *rows, const haul_copy_curve *curve, haul_error *error)
{
    enum { FIRST = 1 << 10, LAST = 1 << 30, STEP = 16 };
    for (uint64_t bytes = FIRST; bytes <= LAST; bytes *= STEP) {
        haul_timed_copy timed = {
            .copy = {.bytes = bytes, .direction = curve->direction, .memory = curve->memory}};
        HAUL_TRY(predict(rows->asked, &timed, error));
        HAUL_TRY(keep_row(rows, &timed, error));
    }
    return HAUL_OK;
}

static haul_status time_sweep(const time_request *self, haul_error *error)
{
    const haul_machine *machine = self->machines.items[0];
    haul_direction direction = HAUL_HTOD;
    haul_memory memory = HAUL_PINNED;
    time_rows rows = {.asked = self};
    haul_status status = HAUL_OK;
    if (self->direction && haul_direction_parse(self->direction, &direction, error))
        return error->status = HAUL_USAGE;
    if (self->memory && haul_memory_parse(self->memory, &memory, error))
        return error->status = HAUL_USAGE;
    for (size_t i = 0; !status && i < machine->copy_count; i++) {
        const haul_copy_curve *curve = &machine->copies[i];
        if ((int)curve->locality == self->locality &&
            (!self->direction || curve->direction == direction) &&
            (!self->memory || curve->memory == memory))
            status = sweep_curve(&rows, curve, error);
        if (status == HAUL_MISSING && (rows.count || i + 1 < machine->copy_count))
            status = HAUL_OK; /* the model lacks a parameter of this curve: the others are shown */
    }
    if (!status && !rows.count)
        status = haul_fail(error, HAUL_MISSING, "machine '%s' has no such copies", machine->name);
    if (!status)
        status = cli_report(&self->given.results, haul_report_times(machine, rows.kept, rows.count),
                            error);
    free(rows.kept);
    return status;
}

static haul_status time_copies(void *request, haul_error *error)
{
    time_request *self = request;
    if (lists_models(self))
        return cli_report(&self->given.results, haul_report_models(), error);
    haul_status status =
        haul_model_find(self->model_name ? self->model_name : "auto", &self->model, error);
    if (!status)
        status = self->csv                        ? time_many(self, error)
                 : cli_has(&self->given, "bytes") ? time_one(self, error)
                                                  : time_sweep(self, error);
    haul_model_release(&self->model);
    return status;
}

const cli_command cli_machine_time = {
    .name = "machine time",
    .summary = "the time of copies on a machine",
    .synopsis = "MACHINE [--direction D] [--memory M] [--bytes N] [options]",
    .about = about,
    .options = options,
    .operand = {.name = "machine", .takes = "MACHINE", .kind = CLI_MACHINES, .at = OF(machines)},
    .most = 1,
    .csv = "a row for each copy",
    .examples = {"haul machine time gh200 --direction h2d --memory pinned --bytes 64MiB",
                 "haul machine time k40 --csv copies.csv -o times.csv"},
    .exits = "3 bad input, or a parameter that the machine lacks, named",
    .has_report = true,
    .size = sizeof(time_request),
    .check = check,
    .act = time_copies,
};
