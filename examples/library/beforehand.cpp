/* The time that a program which is not written yet would take on a machine: its kernel, measured on
 * another board; copies overlapped with it by the best strategy; a schedule of both, step by step.
 * usage: beforehand MACHINE */
#include <haul/kernel_file.h>
#include <haul/overlap.h>
#include <haul/simulate.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

template <auto release> struct Release {
    template <typename T> void operator()(T *owned) const
    {
        release(owned);
    }
};
using Kernel = std::unique_ptr<haul_kernel_file, Release<haul_kernel_file_free>>;
using Fit = std::unique_ptr<haul_kernel_fit, Release<haul_kernel_fit_free>>;
using Machine = std::unique_ptr<haul_machine, Release<haul_machine_free>>;
using Schedule = std::unique_ptr<haul_schedule, Release<haul_schedule_free>>;
using Simulation = std::unique_ptr<haul_simulation, Release<haul_simulation_free>>;

/* A status that is not HAUL_OK, as an exception. */
class Failure : public std::runtime_error
{
  public:
    explicit Failure(const haul_error &error) : std::runtime_error(text(error))
    {
    }

  private:
    static std::string text(const haul_error &error)
    {
        char buffer[1200];
        return haul_error_format(&error, buffer, sizeof buffer);
    }
};

static Machine load(const char *name)
{
    haul_error error = {};
    haul_machine *machine = nullptr;
    if (haul_machine_load(name, &machine, &error))
        throw Failure(error);
    return Machine(machine);
}

/* Seconds of a product of 2048 x 2048 matrices, which took 26.4 ms with 1024 x 1024 on a GTX 680.
 */
static double kernel_seconds(const haul_machine *machine)
{
    const Machine home = load("gtx-680");
    haul_error error = {};
    haul_kernel_file *file = nullptr;
    if (haul_kernel_file_load("matmul-shared", &file, &error))
        throw Failure(error);
    const Kernel kernel(file);
    haul_kernel_sample sample = {};
    sample.size = 1024;
    sample.seconds = 26.4e-3;
    haul_kernel_fit *fit = nullptr;
    if (haul_kernel_file_at(file, sample.size, &sample.counts, &error) ||
        haul_kernel_fit_new(home.get(), HAUL_KERNEL_FIT_AUTO, &sample, 1, &fit, &error))
        throw Failure(error);
    const Fit owned(fit);
    haul_kernel_case asked = {home.get(), fit, machine, 2048, {}};
    haul_estimate estimate;
    if (haul_kernel_file_at(file, asked.size, &asked.counts, &error) ||
        haul_kernel_time(nullptr, &asked, &estimate, &error))
        throw Failure(error);
    std::printf("kernel: %.3g ms (%.3g to %.3g) by %s\n", 1e3 * estimate.seconds,
                1e3 * estimate.low_s, 1e3 * estimate.high_s, estimate.model);
    return estimate.seconds;
}

static void overlap(const haul_machine *machine, double kernel_s)
{
    haul_overlap_work work = {};
    work.in_bytes = 2 * 2048 * 2048 * sizeof(float);
    work.out_bytes = 2048 * 2048 * sizeof(float);
    work.kernel_s = kernel_s;
    work.reads = work.writes = 1;
    haul_error error = {};
    haul_overlap_case of;
    haul_overlap found;
    if (haul_overlap_describe(machine, &work, &of, &error))
        throw Failure(error);
    haul_overlap_compare(&of, 0, &found);
    for (const haul_overlap_row &row : found.rows)
        std::printf("%s: %.3g ms (%.3g to %.3g), streams: %u\n", haul_strategy_word(row.strategy),
                    1e3 * row.seconds, 1e3 * row.low_s, 1e3 * row.high_s, row.enough_streams);
    std::printf("best: %s, %.3g times as fast as explicit\n", haul_strategy_word(found.best),
                found.gain);
}

static void simulate(const haul_machine *machine)
{
    static const char text[] = "haul_workload: 1\n"
                               "operations:\n"
                               "  - repeat: 4\n"
                               "    operations:\n"
                               "      - {op: HtoD, stream: 's{i}', bytes: 64 MiB}\n"
                               "      - {op: kernel, stream: 's{i}', duration: 5 ms}\n"
                               "      - {op: DtoH, stream: 's{i}', bytes: 64 MiB}\n";
    haul_error error = {};
    haul_schedule *schedule = nullptr;
    if (haul_schedule_parse(text, std::strlen(text), "text", &schedule, &error))
        throw Failure(error);
    const Schedule owned(schedule);
    haul_simulation *simulation = nullptr;
    if (haul_simulation_make(schedule, machine, nullptr, &simulation, &error))
        throw Failure(error);
    const Simulation result(simulation);
    const haul_timeline *timeline = result->timeline;
    for (size_t i = 0; i < timeline->op_count; i++) {
        char name[32];
        std::printf("%s\t%.3f to %.3f ms\n",
                    haul_schedule_op(schedule, static_cast<uint32_t>(i), name, sizeof name),
                    static_cast<double>(timeline->ops[i].start_ns) / 1e6,
                    static_cast<double>(timeline->ops[i].end_ns) / 1e6);
    }
}

int main(int argc, char **argv)
{
    try {
        const Machine machine = load(argc > 1 ? argv[1] : "a100-pcie4");
        overlap(machine.get(), kernel_seconds(machine.get()));
        simulate(machine.get());
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "beforehand: %s\n", failure.what());
        return 1;
    }
    return 0;
}
