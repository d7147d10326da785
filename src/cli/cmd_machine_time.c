/* haul machine time: what copies take on a machine. */
#include <stdlib.h>
#include <string.h>

#include "cli/csv_rows.h"
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

static haul_status check_request(void *request, haul_error *error)
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
        self->given.results.options.format = HAUL_FORMAT_CSV;
    return wrong ? haul_error_set(error, HAUL_STATUS_USAGE, "%s", wrong) : HAUL_OK;
}

static haul_status predict(const time_request *self, haul_timed_copy *timed, haul_error *error)
{
    timed->copy.locality = (haul_locality)self->locality;
    const haul_status status = haul_copy_time(self->machines.items[0], self->model.model,
                                              &timed->copy, &timed->estimate, error);
    if (status || !self->clock)
        return status;
    /* A host clock sees the copy's call and its synchronisation, too. */
    const haul_copy_curve *curve = haul_machine_curve(
        self->machines.items[0], timed->copy.direction, timed->copy.memory, timed->copy.locality);
    if (!curve || curve->call_latency_s.provenance == HAUL_PROVENANCE_NOT_GIVEN)
        return haul_error_set(
            error, HAUL_STATUS_MISSING, "machine '%s' lacks copies[%s %s%s].call_latency",
            self->machines.items[0]->name, haul_direction_text(timed->copy.direction),
            haul_memory_text(timed->copy.memory),
            timed->copy.locality == HAUL_LOCALITY_FAR ? " far" : "");
    const double call_s = curve->call_latency_s.value;
    timed->estimate.seconds += call_s;
    timed->estimate.low_s += call_s;
    timed->estimate.high_s += call_s;
    timed->estimate.weakest =
        haul_provenance_weaker(timed->estimate.weakest, curve->call_latency_s.provenance);
    return HAUL_OK;
}

/* Where there is no host memory, it need not be said. */
static haul_status read_memory(const char *text, haul_copy *copy, haul_error *error)
{
    if (!text || !*text) {
        copy->memory =
            copy->direction == HAUL_DIRECTION_HTOH ? HAUL_MEMORY_PAGEABLE : HAUL_MEMORY_DEVICE;
        if (copy->direction != HAUL_DIRECTION_HTOD && copy->direction != HAUL_DIRECTION_DTOH)
            return HAUL_OK;
        return haul_error_set(error, HAUL_STATUS_USAGE,
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
        return error->status = HAUL_STATUS_USAGE; /* what is wrong is an option */
    status = predict(self, &timed, error);
    if (!status)
        status = cli_report(&self->given.results,
                            haul_report_times(self->machines.items[0], &timed, 1), error);
    return status;
}

/* Copies that are printed together. */
typedef struct time_rows {
    const time_request *asked;
    bool keeps; /* rows that are written as they come are not kept */
    haul_timed_copy *kept;
    size_t count;
    size_t capacity;
} time_rows;

static haul_status keep_row(time_rows *self, const haul_timed_copy *timed, haul_error *error)
{
    if (self->count == self->capacity) {
        const size_t capacity = self->capacity ? 2 * self->capacity : 256;
        haul_timed_copy *grown = realloc(self->kept, capacity * sizeof *grown);
        if (!grown)
            return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
        self->kept = grown;
        self->capacity = capacity;
    }
    self->kept[self->count++] = *timed;
    return HAUL_OK;
}

enum { DIRECTION, MEMORY, BYTES, NEEDED };

static const char *const row_columns[] = {"direction", "host_memory", "bytes", NULL};
static const char *const row_added[] = {"seconds", "low_s", "high_s", "model", "provenance", NULL};

/* A row of a CSV. */
static haul_status predict_row(void *self, const char *const *fields, size_t turn,
                               cli_csv_cell *cells, size_t *wrong, haul_error *error)
{
    time_rows *rows = self;
    haul_timed_copy timed = {0};
    (void)turn;
    *wrong = DIRECTION;
    HAUL_TRY(haul_direction_parse(fields[DIRECTION], &timed.copy.direction, error));
    *wrong = MEMORY;
    HAUL_TRY(read_memory(fields[MEMORY], &timed.copy, error));
    *wrong = BYTES;
    HAUL_TRY(haul_bytes_parse(fields[BYTES], &timed.copy.bytes, error));
    *wrong = DIRECTION;
    HAUL_TRY(predict(rows->asked, &timed, error));
    const haul_estimate *of = &timed.estimate;
    cells[0].number = of->seconds;
    cells[1].number = of->low_s;
    cells[2].number = of->high_s;
    cells[3].text = of->model;
    cells[4].text = haul_provenance_text(of->weakest);
    return rows->keeps ? keep_row(rows, &timed, error) : HAUL_OK;
}

static haul_status time_many(const time_request *asked, haul_error *error)
{
    const cli_results *results = &asked->given.results;
    time_rows self = {.asked = asked, .keeps = results->options.format != HAUL_FORMAT_CSV};
    const cli_csv_job job = {row_columns, NEEDED, row_added, 1, predict_row, &self};
    haul_status status = cli_csv_answer(asked->csv, self.keeps ? NULL : results, &job, error);
    if (!status && self.keeps)
        status = cli_report(
            results, haul_report_times(asked->machines.items[0], self.kept, self.count), error);
    free(self.kept);
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
    haul_direction direction = HAUL_DIRECTION_HTOD;
    haul_memory memory = HAUL_MEMORY_PINNED;
    time_rows rows = {.asked = self};
    haul_status status = HAUL_OK;
    if (self->direction && haul_direction_parse(self->direction, &direction, error))
        return error->status = HAUL_STATUS_USAGE;
    if (self->memory && haul_memory_parse(self->memory, &memory, error))
        return error->status = HAUL_STATUS_USAGE;
    for (size_t i = 0; !status && i < machine->copy_count; i++) {
        const haul_copy_curve *curve = &machine->copies[i];
        if ((int)curve->locality == self->locality &&
            (!self->direction || curve->direction == direction) &&
            (!self->memory || curve->memory == memory))
            status = sweep_curve(&rows, curve, error);
        if (status == HAUL_STATUS_MISSING && (rows.count || i + 1 < machine->copy_count))
            status = HAUL_OK; /* the model lacks a parameter of this curve: the others are shown */
    }
    if (!status && !rows.count)
        status = haul_error_set(error, HAUL_STATUS_MISSING, "machine '%s' has no such copies",
                                machine->name);
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
    .check = check_request,
    .act = time_copies,
};
