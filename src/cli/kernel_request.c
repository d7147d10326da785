/* The options that the commands of haul kernel share. */
#include "cli/kernel_request.h"

#include <stdlib.h>
#include <string.h>

#define OF(field) offsetof(kernel_request, field)

#define MODEL                                                                                      \
    {                                                                                              \
        "model", "NAME|./mine.so", CLI_TEXT, OF(model),                                            \
            .help = "of predict: a model of 'haul kernel list' (the first)"                        \
    }
#define MACHINE(text)                                                                              \
    {                                                                                              \
        "machine", "MACHINE", CLI_MACHINES, OF(machines),                                          \
            .help = "a name of 'haul machine list', or a file; may be given again",                \
            .missing = (text)                                                                      \
    }
#define SIZE                                                                                       \
    {                                                                                              \
        "size", "N[,N...]", CLI_TEXTS, OF(size_texts),                                             \
            .help = "sizes; of fit, the size of each CSV that does not say it"                     \
    }
#define CALIBRATION                                                                                \
    {                                                                                              \
        "calibration", "auto|one|by-size", CLI_WORD, OF(calibration),                              \
            .help = "one factor for all sizes, or one for each (auto: by size where there are "    \
                    "two or more)",                                                                \
            .old = "lambda"                                                                        \
    }

static const char no_machine[] = "the machine is missing: --machine M";

const cli_option kernel_fit_options[] = {
    {"kernel", "NAME|FILE", CLI_TEXT, OF(kernel),
     .help = "the kernel's file; of rows of several kernels, those of this"},
    {"block", "16x16", CLI_SIDES, OF(block),
     .help = "of rows in blocks of several shapes, those of this", .most = 1024},
    MODEL,
    MACHINE(no_machine),
    SIZE,
    CALIBRATION,
    {0},
};

const cli_option kernel_predict_options[] = {
    MODEL,
    MACHINE(NULL),
    SIZE,
    {"csv", "FILE", CLI_TEXT, OF(csv),
     .help = "many predictions: columns fitted (a file), size and, without --machine, machine, in "
             "any order, the others kept; seconds, low_s, high_s, model and provenance are added "
             "(as predicted_... where the file has such a column); '-' is standard input",
     .is_input = true},
    CALIBRATION,
    {0},
};

const cli_option kernel_explain_options[] = {MACHINE(no_machine), SIZE, CALIBRATION, {0}};

/* Reads "1024" or "512,1024,2048" as sizes; false for anything else. */
static bool add_sizes(const char *text, kernel_request *self)
{
    size_t count = self->size_count;
    while (count < KERNEL_LIST_MOST) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text || text[strspn(text, "0123456789.eE+,")] || !(value > 0 && value <= 1e18))
            return false;
        self->sizes[count++] = value;
        if (*end != ',') {
            self->size_count = count;
            return !*end;
        }
        text = end + 1;
    }
    return false;
}

haul_status kernel_sizes_read(kernel_request *self, haul_error *error)
{
    if (self->given.operand_count > KERNEL_LIST_MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "expected at most %d arguments",
                              KERNEL_LIST_MOST);
    for (size_t i = 0; i < self->size_texts.count; i++)
        if (!add_sizes(self->size_texts.items[i], self))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "expected a size above 0, or some as in 512,1024, not '%.80s'",
                                  self->size_texts.items[i]);
    for (size_t i = 0; i < self->given.operand_count; i++)
        if (!self->size_texts.count || !add_sizes(self->given.operands[i], self))
            self->files[self->file_count++] = self->given.operands[i];
    return HAUL_OK;
}

haul_status kernel_machines_find(kernel_machines *self, const char *name,
                                 const haul_machine **machine, haul_error *error)
{
    size_t i = 0;
    while (i < self->count && strcmp(self->names[i], name) != 0)
        i++;
    if (i == self->count) {
        haul_machine **items = realloc(self->items, (self->count + 1) * sizeof(haul_machine *));
        self->items = items ? items : self->items;
        char **names = items ? realloc(self->names, (self->count + 1) * sizeof *names) : NULL;
        self->names = names ? names : self->names;
        char *kept = names ? strdup(name) : NULL;
        if (!kept)
            return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
        const haul_status status = haul_machine_load(name, &items[self->count], error);
        if (status)
            free(kept);
        else
            names[self->count++] = kept;
        HAUL_TRY(status);
    }
    *machine = self->items[i];
    return HAUL_OK;
}

void kernel_machines_release(kernel_machines *self)
{
    for (size_t i = 0; i < self->count; i++) {
        haul_machine_free(self->items[i]);
        free(self->names[i]);
    }
    free(self->items);
    free(self->names);
    *self = (kernel_machines){0};
}
