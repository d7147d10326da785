// Calls of tiles in C++ that the example has not: ten arrays of one kernel, boxes, loops on the
// host, moves, discards, files, and errors as exceptions. tile_cpp DEVICE FILES
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "haul/tile.hpp"
#include "tile_cpp.kernel.h"

namespace
{

constexpr int N = 6, CELLS = N * N * N;

void expect(bool is_so, const char *what)
{
    if (is_so)
        return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::exit(1);
}

haul::array<double> make_array(haul::context &context, double value)
{
    haul_array_spec spec{};
    for (int d = 0; d < 3; d++) {
        spec.size[d] = N;
        spec.ghost[d] = 1;
    }
    haul::array<double> made(context, spec);
    made.write(std::vector<double>(CELLS, value).data());
    return made;
}

std::vector<double> cells_of(haul::array<double> &array)
{
    std::vector<double> cells(CELLS);
    array.read(cells.data());
    return cells;
}

// The words of the call's error.
template <typename Call> void expect_error(Call call, const char *words)
{
    try {
        call();
    } catch (const haul::error &failure) {
        expect(failure.status == HAUL_STATUS_USAGE, "USAGE");
        expect(std::string(failure.what()).find(words) != std::string::npos, failure.what());
        return;
    }
    expect(false, words);
}

void try_loops(haul::context &context, const std::string &files)
{
    std::vector<haul::array<double>> in;
    for (int i = 0; i < 9; i++)
        in.push_back(make_array(context, i));
    haul::array<double> out = make_array(context, -1), moved(std::move(out));
    out = std::move(moved);
    haul_array_spec single{};
    single.size[0] = 1;
    haul::array<double> sum(context, single);
    const haul_box half = {{0, 0, 1}, {N / 2, N, N}};
    const auto loop = [&](const haul::run &how, auto k) {
        context.loop_as(how, sum_of_nine, in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7],
                        in[8], out, k);
    };
    loop(haul::run{}.over(half).work(9).with_host(), 0.5);
    const std::vector<double> cells = cells_of(out);
    expect(cells[N * N] == 18 && cells[N * N + N / 2] == -1 && cells[0] == -1, "a box of a half");
    double got = 0;
    context.loop(total, out, sum);
    sum.read(&got);
    expect(got == (N - 1) * N * (N / 2) * 19 - CELLS, "a sum");

    expect_error([&] { loop({}, 1); }, "takes a floating-point number of 8 bytes");
    expect_error([&] { loop({}, 0.5F); }, "is a floating-point number of 4");
    expect_error([&] { loop({}, true); }, "is an integer of 1");
    expect_error([&] { context.loop(total, out, 3); }, "is an array, the argument none");
    expect_error([&] { context.loop(total, out); }, "needs an argument");

    haul::save({{"out", out}, {"in", in[8]}}, (files + ".npz").c_str());
    haul::start_saving({{"out", out}, {"in", in[8]}}, (files + ".npz").c_str());
    out.discard();
    context.wait();
    swap(in[0], in[8]);
    haul::finish_saving(context);
    haul::load({{"out", out}, {"in", in[8]}}, (files + ".npz").c_str());
    expect(cells_of(out) == cells, "what was saved before it was discarded");
    expect(cells_of(in[8])[0] == 8 && cells_of(in[0])[0] == 8, "two of one value");
    out.save((files + ".npy").c_str());
    in[0].load((files + ".npy").c_str());
    expect(cells_of(in[0]) == cells, "a file of one");
    haul_array_spec shape{};
    for (int &size : shape.size)
        size = N;
    haul::array<int> flags(context, shape);
    std::vector<int> chosen(CELLS);
    chosen[CELLS - 1] = chosen[1] = -1;
    flags.write(chosen.data());
    expect(out.compact(flags, in[1]) == 2, "two are kept");
    const std::vector<double> compact = cells_of(in[1]);
    expect(compact[0] == cells[1] && compact[1] == cells[CELLS - 1] && compact[2] == 1, "kept");
    expect(!context.explain().empty(), "an explanation");
    for (int i = 0, z = 0; i < out.regions(); i++) {
        const haul::region_span<double> region = out.access(i, HAUL_USE_READ);
        for (; z < region.end() && z < N; z++)
            expect(region(1, 2, z) == cells[static_cast<size_t>((z * N + 2) * N + 1)], "a region");
    }
}

} // namespace

int main(int argc, char **argv)
{
    try {
        haul::context context(argc > 1 ? argv[1] : nullptr);
        try_loops(context, argc > 2 ? argv[2] : "tile_cpp");
    } catch (const haul::error &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    return 0;
}
