/* Runs a command: what its options name is loaded, acted upon and freed. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "haul/trace.h"

/* Whether a name of the catalogue is that of a board of the GPU: "h100-sxm5" of "h100". */
static bool is_board_of(const char *name, const char *gpu, const char *slot)
{
    const size_t length = strlen(gpu);
    return length && !strncmp(name, gpu, length) && name[length] == '-' &&
           !strncmp(name + length + 1, slot, strlen(slot));
}

/* The board that most machines with a GPU have: its makers' servers take SXM modules, and of two
 * modules the shorter name is the later one with all of its memory. NULL for no board. */
static const char *common_board(char *const *names, size_t count, const char *gpu)
{
    static const char *const slots[] = {"sxm", "pcie"};
    const char *best = NULL;
    for (size_t s = 0; !best && s < sizeof slots / sizeof *slots; s++)
        for (size_t i = 0; i < count; i++)
            if (is_board_of(names[i], gpu, slots[s]) && (!best || strlen(names[i]) < strlen(best)))
                best = names[i];
    return best;
}

/* "h100" is no machine but a GPU on several boards: the most common is taken, and said. */
static haul_status load_machine(const char *name, haul_machine **machine, haul_error *error)
{
    haul_error none = {0}, listed = {0};
    char **names = NULL;
    size_t count = 0;
    haul_status status = haul_machine_load(name, machine, &none);
    if (status && !strchr(name, '/') &&
        haul_catalogue_list(&names, &count, &listed) == HAUL_STATUS_NO_MEMORY) {
        status = HAUL_STATUS_NO_MEMORY;
        none = listed;
    }
    const char *board = count ? common_board(names, count, name) : NULL;
    if (board) {
        fprintf(stderr, "haul: '%s' is taken as %s, its most common board", name, board);
        for (size_t i = 0; i < count; i++)
            if (names[i] != board && (is_board_of(names[i], name, "") || !strcmp(names[i], name)))
                fprintf(stderr, "; %s is another", names[i]);
        fputc('\n', stderr);
        status = haul_machine_load(board, machine, &none);
    }
    haul_names_free(names, count);
    if (status && error)
        *error = none;
    return status;
}

/* A text may be a list, "v100,h100-pcie5". */
static haul_status load_machines(const cli_texts *texts, cli_machines *machines, haul_error *error)
{
    size_t most = texts->count;
    for (size_t i = 0; i < texts->count; i++)
        for (const char *comma = texts->items[i]; (comma = strchr(comma, ',')); comma++)
            most++;
    machines->names = calloc(most + 1, sizeof *machines->names);
    machines->items = calloc(most + 1, sizeof(haul_machine *));
    if (!machines->names || !machines->items)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < texts->count; i++)
        for (const char *at = texts->items[i]; !status && at;) {
            const size_t length = strcspn(at, ",");
            char *name = strndup(at, length);
            machines->names[machines->count] = name;
            status = name ? load_machine(name, &machines->items[machines->count], error)
                          : haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
            machines->count++;
            at = at[length] ? at + length + 1 : NULL;
        }
    return status;
}

/* The part of a profile that the request selects, which is mostly all, in its place. */
static haul_status select_part(const cli_request *request, haul_workload **field, haul_error *error)
{
    char *end = NULL;
    const unsigned long long device = request->device ? strtoull(request->device, &end, 10) : 0;
    if (request->device && (*request->device < '0' || *request->device > '9' || *end))
        return haul_error_set(error, HAUL_STATUS_USAGE, "--device: expected a number, not '%.40s'",
                              request->device);
    const haul_selection selection = {.range = request->range,
                                      .by_device = request->device != NULL,
                                      .device = device,
                                      .from_ns = (int64_t)(request->from_s * 1e9 + 0.5),
                                      .to_ns = (int64_t)(request->to_s * 1e9 + 0.5)};
    haul_workload *part = NULL;
    if (!(selection.range || selection.by_device || selection.from_ns || selection.to_ns))
        return HAUL_OK;
    HAUL_TRY(haul_trace_select(*field, &selection, &part, error));
    haul_workload_free(*field);
    *field = part;
    return HAUL_OK;
}

/* Files that can be read are answered for; the exit code tells of the rest, as that of cat does. */
static haul_status load_jobs(const cli_texts *paths, cli_request *request, haul_trace_jobs *field,
                             haul_error *error)
{
    cli_progress_begin("reading", paths->items[0]);
    haul_status status = haul_trace_load_jobs(paths->items, paths->count, field, error);
    cli_progress_end();
    for (size_t i = 0; !status && i < field->unread_count; i++)
        request->exit_code = cli_fail(&field->unread[i]);
    for (size_t i = 0; !status && i < field->count; i++)
        status = select_part(request, &field->items[i], error);
    return status;
}

static haul_status load_option(const cli_option *option, cli_texts *texts, cli_request *request,
                               haul_error *error)
{
    void *field = (char *)request + option->at;
    if (!texts->count)
        return HAUL_OK;
    const char *last = texts->items[texts->count - 1];
    switch (option->kind) {
    case CLI_MACHINE:
        return load_machine(last, field, error);
    case CLI_MACHINES:
        return load_machines(texts, field, error);
    case CLI_MODEL:
        return haul_model_find(last, field, error);
    case CLI_PROFILE:
        HAUL_TRY(cli_profiles_load(texts->items, texts->count, field, error));
        return select_part(request, field, error);
    case CLI_PROFILES:
        return load_jobs(texts, request, field, error);
    default:
        return HAUL_OK;
    }
}

/* Machines and models are quickly read: their errors come before a profile is read. */
static haul_status load_all(cli_given *given, const cli_option *operand, cli_request *request,
                            haul_error *error)
{
    const size_t count = given->options.count;
    for (size_t i = 0; i < count; i++)
        if (given->options.items[i].kind != CLI_PROFILE)
            HAUL_TRY(load_option(&given->options.items[i], &given->texts[i], request, error));
    HAUL_TRY(load_option(operand, &given->texts[count], request, error));
    for (size_t i = 0; i < count; i++)
        if (given->options.items[i].kind == CLI_PROFILE)
            HAUL_TRY(load_option(&given->options.items[i], &given->texts[i], request, error));
    return HAUL_OK;
}

static void release(const cli_option *option, cli_request *request)
{
    void *field = (char *)request + option->at;
    cli_machines *machines = field;
    switch (option->kind) {
    case CLI_MACHINE:
        haul_machine_free(*(haul_machine **)field);
        break;
    case CLI_MACHINES:
        for (size_t i = 0; i < machines->count; i++) {
            haul_machine_free(machines->items[i]);
            free(machines->names[i]);
        }
        free(machines->names);
        free(machines->items);
        break;
    case CLI_MODEL:
        haul_model_release(field);
        break;
    case CLI_PROFILE:
        haul_workload_free(*(haul_workload **)field);
        break;
    case CLI_PROFILES:
        haul_trace_jobs_release(field);
        break;
    default:
        break;
    }
}

int cli_run(const cli_command *self, int argc, char **argv)
{
    cli_given given = {.options = {.count = 0}};
    cli_options_of(self, &given.options);
    const size_t lists = given.options.count + 1, length = (size_t)argc + 1;
    const char **texts = calloc(lists * length, sizeof *texts);
    cli_request *request = calloc(1, self->size);
    int code = CLI_GO_ON;
    if (!texts || !request) {
        haul_error error;
        (void)haul_error_set(&error, HAUL_STATUS_NO_MEMORY, "out of memory");
        code = cli_fail(&error);
    } else {
        for (size_t i = 0; i < lists; i++)
            given.texts[i].items = texts + i * length;
        code = cli_arguments_read(self, argc, argv, &given, request);
        if (code == CLI_GO_ON) {
            haul_error error;
            haul_status status = load_all(&given, &self->operand, request, &error);
            if (!status)
                status = self->act(request, &error);
            for (size_t i = 0; i < given.options.count; i++)
                release(&given.options.items[i], request);
            release(&self->operand, request);
            code = status ? cli_fail(&error) : request->exit_code;
        }
    }
    free(request);
    free(texts);
    return code;
}
