/* haul machine share: a measured machine as a file for others. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "haul/version.h"

enum { WORD = 256, NAME = 64 };

static const char about[] =
    "Writes a machine that `haul measure` measured as a file to give to others: named after its\n"
    "GPU, with the name of the host's CPUs, which pageable copies depend on, and the version of\n"
    "haul. Each figure keeps its provenance and the spread of its rounds. Texts that name this\n"
    "computer, its user or a folder of theirs are refused. Says on stderr what is still lacking "
    "for\n"
    "the catalogue, as `haul machine check --as-new` does. docs/machines.md tells where to send "
    "it.\n";

typedef struct share_request {
    cli_request given;
    haul_machine *machine;
    const char *cpu;
    const char *name;
} share_request;

static const cli_option options[] = {
    {"cpu", "NAME", CLI_TEXT, offsetof(share_request, cpu),
     .help = "the host's CPUs (this computer's, where the file tells none and has as many cores)"},
    {"name", "NAME", CLI_TEXT, offsetof(share_request, name),
     .help = "the machine's name (made of its GPU's)"},
    {"output", "FILE", CLI_TEXT, offsetof(share_request, given.results.output),
     .help = "the machine's file (standard output)", .letter = 'o'},
    {0},
};

/* Words that tell where a file was made. Short ones are words of other things as well. */
typedef struct private_words {
    char host[WORD];
    const char *user;
    const char *home;
} private_words;

typedef struct search {
    const private_words *words;
    haul_error *error;
} search;

static haul_status search_text(const search *self, const char *path, const char *text)
{
    enum { SHORTEST = 4 };
    const char *const words[] = {self->words->host, self->words->user, self->words->home};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text && words[i] && strlen(words[i]) >= SHORTEST && strcmp(words[i], "root") != 0 &&
            strcmp(words[i], "localhost") != 0 && strstr(text, words[i]))
            return haul_error_set(
                self->error, HAUL_STATUS_BAD_INPUT,
                "%s is \"%.120s\", which has '%.60s' of this computer: take it out", path, text,
                words[i]);
    return HAUL_OK;
}

static int search_parameter(void *state, const char *path, int dimension,
                            const haul_parameter *parameter)
{
    (void)dimension;
    char what[128];
    (void)snprintf(what, sizeof what, "the source of %.100s", path);
    return (int)search_text(state, what, parameter->source);
}

static haul_status search_machine(const haul_machine *machine, haul_error *error)
{
    private_words words = {.user = getenv("USER"), .home = getenv("HOME")};
    const search self = {&words, error};
    (void)gethostname(words.host, sizeof words.host - 1);
    HAUL_TRY(search_text(&self, "name", machine->name));
    HAUL_TRY(search_text(&self, "summary", machine->summary));
    HAUL_TRY(search_text(&self, "host.name", machine->host.name));
    return (haul_status)haul_machine_visit(machine, search_parameter, (void *)&self);
}

/* The model of this computer's CPUs as Linux tells it, where the machine has as many cores. */
static bool find_cpu(const haul_machine *machine, char *name, size_t size)
{
    char line[WORD];
    FILE *file = (double)sysconf(_SC_NPROCESSORS_ONLN) == machine->host.cores.value
                     ? fopen("/proc/cpuinfo", "r")
                     : NULL;
    bool is_found = false;
    while (file && !is_found && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        is_found = value && !strncmp(line, "model name", 10);
        if (is_found)
            (void)snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (file)
        (void)fclose(file);
    return is_found;
}

/* "NVIDIA H100 80GB HBM3" as a file is named: "nvidia-h100-80gb-hbm3". */
static void make_name(const char *gpu, char *name, size_t size)
{
    size_t length = 0;
    for (const char *at = gpu; *at && length + 1 < size; at++)
        if (isalnum((unsigned char)*at))
            name[length++] = (char)tolower((unsigned char)*at);
        else if (length && name[length - 1] != '-')
            name[length++] = '-';
    while (length && name[length - 1] == '-')
        length--;
    name[length] = '\0';
}

static void print_lacking(void *state, const char *text)
{
    (void)state;
    (void)fprintf(stderr, "haul: %s\n", text);
}

static haul_status share(void *request, haul_error *error)
{
    const share_request *self = request;
    haul_machine machine = *self->machine;
    char cpu[WORD], name[NAME], summary[2 * WORD];
    size_t alike;
    if (!machine.gpu.name)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "the machine's gpu.name is missing: as the vendor's tools print it");
    if (self->cpu)
        machine.host.name = self->cpu;
    else if (!machine.host.name && find_cpu(&machine, cpu, sizeof cpu))
        machine.host.name = cpu;
    make_name(machine.gpu.name, name, sizeof name);
    machine.name = self->name ? self->name : name;
    (void)snprintf(summary, sizeof summary, "%.100s in %.100s, measured by haul %s",
                   machine.gpu.name, machine.host.name ? machine.host.name : "an unknown host",
                   haul_version());
    machine.summary = summary;
    HAUL_TRY(search_machine(&machine, error));
    HAUL_TRY(cli_machine_write(&machine, self->given.results.output, error));
    return haul_machine_check_new(&machine, print_lacking, NULL, &alike, error);
}

const cli_command cli_machine_share = {
    .name = "machine share",
    .summary = "a measured machine as a file for others, without what is private",
    .synopsis = "FILE [-o OUT] [options]",
    .about = about,
    .options = options,
    .operand = {.name = "machine",
                .takes = "FILE",
                .kind = CLI_MACHINE,
                .at = offsetof(share_request, machine)},
    .least = 1,
    .most = 1,
    .examples = {"haul machine share mine.yaml -o h100-in-epyc.yaml",
                 "haul machine share mine.yaml --cpu 'two EPYC 7543' -o h100-in-epyc.yaml"},
    .exits = "3 a machine that cannot be read, or with texts of this computer",
    .size = sizeof(share_request),
    .act = share,
};
