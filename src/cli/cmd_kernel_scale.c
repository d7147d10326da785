/* haul kernel scale: kernels of a table, recorded on one GPU, on others. */
#include <string.h>

#include "cli/csv_rows.h"
#include "cli/kernel_request.h"

typedef struct scale_request {
    cli_request given; /* the operand is a table */
    haul_machine *from;
    cli_machines to;
    const char *classes_file;
    haul_kernel_classes *classes;
} scale_request;

enum {
    KERNEL,
    SECONDS,
    NEEDED,
    LAUNCHES = NEEDED,
    GRID,
    BLOCK = GRID + 3,
    FLOPS = BLOCK + 3,
    BYTES,
    BATCH,
    ROWS,
    COLUMNS,
    INNER,
    OPERAND_BYTES,
    ALIGNMENT,
};

static const char *const columns[] = {"kernel",        "seconds",   "launches", "grid_x",  "grid_y",
                                      "grid_z",        "block_x",   "block_y",  "block_z", "flops",
                                      "bytes",         "batch",     "rows",     "columns", "inner",
                                      "operand_bytes", "alignment", NULL};

static const char *const added[] = {"machine", "class",  "seconds", "low_s",
                                    "high_s",  "shared", "bound",   NULL};

/* Fields that are not there leave `out` as it is. */
static haul_status read_numbers(const char *const *fields, size_t first, size_t count, double *out,
                                size_t *wrong, haul_error *error)
{
    for (size_t i = 0; i < count; i++) {
        *wrong = first + i;
        if (*fields[first + i])
            HAUL_TRY(cli_csv_number(fields[first + i], 0, &out[i], error));
    }
    return HAUL_OK;
}

static haul_status read_work(const scale_request *self, const char *const *fields,
                             haul_kernel_work *out, size_t *wrong, haul_error *error)
{
    double shape[6] = {0}, counted[2] = {0}, sizes[6] = {0};
    *out = (haul_kernel_work){.kind = haul_kernel_kind_of(fields[KERNEL], self->classes),
                              .launches.count = 1};
    *wrong = SECONDS;
    HAUL_TRY(cli_csv_number(fields[SECONDS], 0, &out->seconds, error));
    HAUL_TRY(read_numbers(fields, LAUNCHES, 1, &out->launches.count, wrong, error));
    HAUL_TRY(read_numbers(fields, GRID, 6, shape, wrong, error));
    HAUL_TRY(read_numbers(fields, FLOPS, 2, counted, wrong, error));
    HAUL_TRY(read_numbers(fields, BATCH, 6, sizes, wrong, error));
    for (int i = 0; i < 6; i++) {
        *wrong = (size_t)BATCH + (size_t)i;
        if (sizes[i] > 1e18)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected at most 1e18, not %g",
                                  sizes[i]);
        shape[i] = shape[i] > 0 || i % 3 == 0 ? shape[i] : 1; /* a grid of one dimension */
    }
    *wrong = SECONDS;
    out->launches.blocks = shape[0] * shape[1] * shape[2];
    out->launches.block = shape[3] * shape[4] * shape[5];
    memcpy(out->launches.grid, shape, sizeof out->launches.grid);
    out->flops = counted[0];
    out->bytes = counted[1];
    out->operands = (haul_operands){(uint64_t)sizes[0], (uint64_t)sizes[1], (uint64_t)sizes[2],
                                    (uint64_t)sizes[3], (uint64_t)sizes[4], (uint64_t)sizes[5]};
    return HAUL_OK;
}

static haul_status scale_row(void *request, const char *const *fields, size_t turn,
                             cli_csv_cell *cells, size_t *wrong, haul_error *error)
{
    const scale_request *self = request;
    const haul_machine *to = self->to.items[turn];
    haul_kernel_work work;
    haul_kernel_prediction one;
    HAUL_TRY(read_work(self, fields, &work, wrong, error));
    HAUL_TRY(haul_kernel_predict(self->from, to, &work, &one, error));
    const bool is_bounded = one.bound < HAUL_KERNEL_BOUNDS;
    cells[0].text = to->name;
    cells[1].text = haul_kernel_class_text(one.kind);
    cells[2].number = one.estimate.seconds;
    cells[3].number = one.estimate.low_s;
    cells[4].number = one.estimate.high_s;
    cells[5].number = one.shared;
    cells[6].text = is_bounded ? haul_kernel_bound_text(one.bound) : "";
    return HAUL_OK;
}

static haul_status scale(void *request, haul_error *error)
{
    scale_request *self = request;
    const cli_csv_job job = {columns, NEEDED, added, self->to.count, scale_row, self};
    if (self->classes_file)
        HAUL_TRY(haul_kernel_classes_load(self->classes_file, &self->classes, error));
    const haul_status status =
        cli_csv_answer(self->given.operands[0], &self->given.results, &job, error);
    haul_kernel_classes_free(self->classes);
    return status;
}

static haul_status check_request(void *request, haul_error *error)
{
    scale_request *self = request;
    haul_report_options *printed = &self->given.results.options;
    if (cli_has(&self->given, "format") && printed->format != HAUL_FORMAT_CSV)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a table is answered as CSV alone");
    printed->format = HAUL_FORMAT_CSV;
    return HAUL_OK;
}

#define OF(field) offsetof(scale_request, field)

static const cli_option options[] = {
    {"from", "MACHINE", CLI_MACHINE, OF(from), .help = "the machine that the times are of",
     .missing = "the machine that the times are of is missing: --from M"},
    {"to", "MACHINE", CLI_MACHINES, OF(to), .help = "the target; several are a row each",
     .missing = "the target is missing: --to M"},
    {"classes", "FILE", CLI_TEXT, OF(classes_file),
     .help = "a table of kernels' names and classes of your own, asked before haul's "
             "(docs/kernels.md)",
     .is_input = true},
    {0},
};

const cli_command cli_kernel_scale = {
    .name = "kernel scale",
    .summary = "kernels of a table, recorded on one GPU, on others",
    .synopsis = "CSV --from M --to M... [options]",
    .about =
        "Predicts kernels that were recorded on one GPU on others, by name, launch and time, as\n"
        "'haul project' does with those of a profile.\n\n"
        "CSV has the columns kernel (its name; empty: its class is not known) and seconds, and\n"
        "where they are known launches (that took so long together), grid_x to grid_z, block_x to\n"
        "block_z, flops and bytes of a launch, and of the operator that launched it batch, rows,\n"
        "columns, inner (sizes of a matrix product), operand_bytes and alignment. Columns are in\n"
        "any order and kept; machine, class, seconds, low_s, high_s (an interval that holds 90 of\n"
        "100), shared (the part of its half width that all kernels of the class have in common)\n"
        "and bound are added, as predicted_... where the table has such a column.\n",
    .options = options,
    .operand = {.name = "table", .takes = "CSV"},
    .least = 1,
    .most = 1,
    .csv = "a row for each row and target",
    .examples = {"haul kernel scale kernels.csv --from a100-sxm4 --to h100-sxm5,mi300x",
                 "haul kernel scale - --from t4 --to l4 <kernels.csv"},
    .exits = "3 a table that cannot be read, or GPUs that have no rate in common",
    .has_report = true,
    .size = sizeof(scale_request),
    .check = check_request,
    .act = scale,
};
