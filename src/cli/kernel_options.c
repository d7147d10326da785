#include "cli/kernel_options.h"

#include <stdlib.h>
#include <string.h>

/* Reads "1024" or "512,1024,2048" as sizes; false for anything else. */
static bool add_sizes(const char *text, kernel_options *out)
{
    size_t count = out->size_count;
    while (count < KERNEL_LIST_MOST) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text || text[strspn(text, "0123456789.eE+,")] || !(value > 0 && value <= 1e18))
            return false;
        out->sizes[count++] = value;
        if (*end != ',') {
            out->size_count = count;
            return !*end;
        }
        text = end + 1;
    }
    return false;
}

static haul_status parse_calibration(const char *text, haul_kernel_fit_kind *out, haul_error *error)
{
    static const char *const names[] = {[HAUL_KERNEL_FIT_AUTO] = "auto",
                                        [HAUL_KERNEL_FIT_ONE] = "one",
                                        [HAUL_KERNEL_FIT_BY_SIZE] = "by-size"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], text)) {
            *out = (haul_kernel_fit_kind)i;
            return HAUL_OK;
        }
    return haul_fail(error, HAUL_USAGE, "no calibration '%.40s': auto, one or by-size", text);
}

/* Reads "256" or "16x16" as the sides of a block. */
static haul_status parse_block(const char *text, int block[3], haul_error *error)
{
    enum { SIDE_MOST = 1024 };
    int sides[3] = {1, 1, 1};
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        const long side = strtol(at, &end, 10);
        if (*at < '1' || *at > '9' || side > SIDE_MOST || (*end && *end != 'x'))
            break;
        sides[i] = (int)side;
        if (!*end) {
            memcpy(block, sides, sizeof sides);
            return HAUL_OK;
        }
        at = end + 1;
    }
    return haul_fail(error, HAUL_USAGE,
                     "expected the sides of a block as 256 or 16x16, not '%.40s'", text);
}

/* The texts of the options, before they are read. */
typedef struct option_texts {
    const char *calibration;
    const char *block;
    const char *sizes[KERNEL_LIST_MOST];
    int size_count;
} option_texts;

/* Numbers that stand alone behind a --size are further sizes; the other operands are files. */
static void read_operands(const cli_arguments *given, kernel_options *out)
{
    const bool has_sizes = out->size_count > 0;
    for (int i = 0; i < given->count; i++)
        if (!has_sizes || !add_sizes(given->operands[i], out))
            out->files[out->file_count++] = given->operands[i];
}

static haul_status read_texts(const option_texts *texts, kernel_options *out, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; !status && i < texts->size_count; i++)
        if (!add_sizes(texts->sizes[i], out))
            status = haul_fail(error, HAUL_USAGE,
                               "expected a size above 0, or some as in 512,1024, not '%.80s'",
                               texts->sizes[i]);
    if (!status && texts->calibration)
        status = parse_calibration(texts->calibration, &out->lambda, error);
    if (!status && texts->block)
        status = parse_block(texts->block, out->block, error);
    return status;
}

int kernel_options_parse(const cli_command *self, int argc, char **argv, kernel_options *out)
{
    option_texts texts = {0};
    int machine_count = 0;
    const cli_option known[] = {
        {"machine", .value = out->machine_names, .count = &machine_count},
        {"size", .value = texts.sizes, .count = &texts.size_count},
        {"kernel", .value = &out->kernel},
        {"calibration", .value = &texts.calibration, .old = "lambda"},
        {"block", .value = &texts.block},
        {"model", .value = &out->model},
        {0},
    };
    cli_arguments given = {.options = known, .results = &out->results};
    if (argc > KERNEL_LIST_MOST)
        return cli_usage(self, "expected at most %d arguments", KERNEL_LIST_MOST);
    const int code = cli_arguments_read(self, argc, argv, &given);
    if (code != CLI_GO_ON)
        return code;
    out->machine_count = (size_t)machine_count;
    haul_error error;
    if (read_texts(&texts, out, &error))
        return cli_usage(self, "%s", error.text);
    read_operands(&given, out);
    return CLI_GO_ON;
}

haul_status kernel_machines_load(const kernel_options *options, haul_machine **machines,
                                 haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < options->machine_count; i++)
        status = haul_machine_load(options->machine_names[i], &machines[i], error);
    return status;
}

void kernel_machines_free(haul_machine **machines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        haul_machine_free(machines[i]);
}
