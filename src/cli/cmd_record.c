/* haul record: a program, run as it is, and a profile of it. */
#include "cli/command.h"
#include "cli/recorders_inside.h"
#include "haul/record.h"
#include "haul/units.h"

static const char about[] =
    "Runs a program and writes what its OpenCL or CUDA devices do, and with --mpi its messages,\n"
    "into a profile, with no vendor's profiler: copies, kernels and waits with their times, as\n"
    "'haul analyze' and 'haul project' read it. The program is unchanged; its output, signals and\n"
    "exit code are its own.\n";

typedef struct record_request {
    cli_request given;
    const char *output;
    bool force;
    double duration_s;
    uint64_t most;
    bool stacks;
    bool mpi;
} record_request;

#define OF(field) offsetof(record_request, field)

static const cli_option options[] = {
    {"output", "PROFILE", CLI_TEXT, OF(output),
     .help = "the SQLite file to write; in its name %p is the program's process, %h the host, "
             "%q{NAME} a variable of the environment, %% a %; an MPI process without %p or %q adds "
             "its rank",
     .letter = 'o', .missing = "where to? -o PROFILE"},
    {"force", NULL, CLI_FLAG, OF(force), .help = "replace a profile of haul record that is there"},
    {"duration", "SECONDS", CLI_NUMBER, OF(duration_s),
     .help = "record no longer than that; the program runs on", .least = 1e-9, .most = 1e9},
    {"max-ops", "N", CLI_COUNT, OF(most),
     .help = "record at most N copies and kernels of each process", .least = 1, .most = 1e15},
    {"stacks", NULL, CLI_FLAG, OF(stacks),
     .help = "record the C call stack of each OpenCL call, for 'haul analyze --by line'"},
    {"mpi", NULL, CLI_FLAG, OF(mpi),
     .help =
         "record the calls of MPI, of C and Fortran: who sends how much to whom, and who waits"},
    {0},
};

static void say_nothing_recorded(const haul_recording *recording, const char *program, bool mpi)
{
    fprintf(stderr, "haul: nothing recorded: '%s' %s\n", program,
            recording->met_runtime ? "loaded OpenCL or CUDA, but made no queue or stream"
            : mpi                  ? "reported no use of MPI, OpenCL or CUDA"
                                   : "reported no use of OpenCL or CUDA");
    if (!recording->met_runtime)
        fputs("haul: a process that changes its user, its environment or its root (su, sudo, a "
              "container) cannot report\n",
              stderr);
    if (mpi)
        fputs("haul: --mpi records programs that load, as a library, the MPI that haul was built "
              "with\n",
              stderr);
    if (!recording->records_opencl)
        fputs("haul: this build records no OpenCL: it was made without the packages "
              "ocl-icd-opencl-dev and opencl-headers\n",
              stderr);
    else if (!recording->has_platform)
        fputs("haul: no OpenCL platform is installed here: pocl-opencl-icd is one that runs on the "
              "CPU\n",
              stderr);
}

static void tell_recording(const haul_recording *recording, const char *program, bool mpi)
{
    if (recording->failure[0])
        fprintf(stderr, "haul: recording stopped: %s\n", recording->failure);
    if (recording->running[0])
        fprintf(stderr, "haul: no longer recorded: %s, which the program left running\n",
                recording->running);
    if (!recording->has_profile) {
        if (!recording->failure[0])
            say_nothing_recorded(recording, program, mpi);
        return;
    }
    char number[48], processes[48] = "";
    if (recording->processes > 1)
        snprintf(processes, sizeof processes, " of %u processes", recording->processes);
    /* Each line in one write: those of ranks must not mix. */
    fprintf(stderr, "haul: recorded %s%s in '%s'\n",
            haul_number_of(recording->operations, "operation", NULL, number, sizeof number),
            processes, recording->output);
    if (recording->incomplete[0])
        fprintf(stderr, "haul: incomplete: %s\n", recording->incomplete);
    if (recording->clock_error_ns >= 0)
        fprintf(stderr, "haul: devices' times are within %.1f us of the host's\n",
                (double)recording->clock_error_ns / 1e3);
    if (recording->beyond_limits)
        fprintf(stderr, "haul: left out %s beyond the limit\n",
                haul_number_of(recording->beyond_limits, "operation", NULL, number, sizeof number));
    fprintf(stderr, "haul: next: haul analyze %s\n", recording->output);
}

static void told(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "haul: %s\n", text);
}

static haul_status record(void *request, haul_error *error)
{
    record_request *self = request;
    const haul_recording_options how = {.output = self->output,
                                        .replace = self->force,
                                        .program = (char *const *)self->given.operands,
                                        .duration_s = self->duration_s,
                                        .max_operations = self->most,
                                        .stacks = self->stacks,
                                        .mpi = self->mpi,
                                        .opencl = hl_cli_opencl_recorder_inside(),
                                        .cuda = hl_cli_cuda_recorder_inside(),
                                        .told = told};
    haul_recording recording;
    HAUL_TRY(haul_recording_run(&how, &recording, error));
    tell_recording(&recording, self->given.operands[0], self->mpi);
    self->given.exit_code = recording.exit_code;
    return HAUL_OK;
}

const cli_command cli_record = {
    .name = "record",
    .summary = "run a program and write a profile of it",
    .synopsis = "-o PROFILE [options] [--] PROGRAM [ARGUMENTS]",
    .about = about,
    .options = options,
    .operand = {.name = "program", .takes = "PROGRAM"},
    .least = 1,
    .most = SIZE_MAX,
    .examples = {"haul record -o app.sqlite ./app --size 4096",
                 "haul record --mpi -o app.sqlite mpirun -n 4 ./app"},
    .exits = "3 a file that cannot be written or run, 4 nothing to record with; else the "
             "program's, 128 and the signal's number where one ended it",
    .runs_program = true,
    .size = sizeof(record_request),
    .act = record,
};
