// The heat equation in C++: tiles_heat_cpp [DEVICE [MEGABYTES]]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "haul/tile.hpp"
#include "heat.kernel.h"

namespace
{

constexpr int N = 24;

int index(int x, int y, int z)
{
    return (z * N + y) * N + x;
}

double at(const std::vector<double> &u, int x, int y, int z)
{
    const bool is_inside = x >= 0 && y >= 0 && z >= 0 && x < N && y < N && z < N;
    return is_inside ? u[index(x, y, z)] : 0;
}

void step_plainly(const std::vector<double> &u, std::vector<double> &v, double k)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                v[index(x, y, z)] = at(u, x, y, z) + k * (at(u, x - 1, y, z) + at(u, x + 1, y, z) +
                                                          at(u, x, y - 1, z) + at(u, x, y + 1, z) +
                                                          at(u, x, y, z - 1) + at(u, x, y, z + 1) -
                                                          6 * at(u, x, y, z));
}

double run(const char *device, const haul_context_options &options)
{
    haul_array_spec spec = {};
    for (int d = 0; d < 3; d++) {
        spec.size[d] = N;
        spec.ghost[d] = 1;
    }
    haul::context context(device, options);
    haul::array<double> u(context, spec), v(context, spec);
    std::vector<double> plain(N * N * N), next(plain), got(plain);
    const double k = 0.1;
    for (int i = 0; i < N * N * N; i++)
        plain[i] = i % 17;
    u.write(plain.data());
    for (int step = 0; step < 9; step++) {
        if (step % 2) {
            context.loop(heat, u, v, k);
        } else { // in two halves, one of them sometimes on the host
            haul::run low, high;
            low.over({{0, 0, 0}, {N, N, N / 2}}).work(8);
            high.over({{0, 0, N / 2}, {N, N, N}}).work(8);
            if (step % 3 == 0)
                high.with_host();
            context.loop_as(low, heat, u, v, k);
            context.loop_as(high, heat, u, v, k);
        }
        swap(u, v);
        step_plainly(plain, next, k);
        plain.swap(next);
    }
    v.discard();
    u.read(got.data());
    double difference = std::fabs(u.access(0, HAUL_USE_READ)(3, 2, 0) - plain[index(3, 2, 0)]);
    for (int i = 0; i < N * N * N; i++)
        difference = std::fmax(difference, std::fabs(got[i] - plain[i]));
    return difference;
}

} // namespace

int main(int argc, char **argv)
{
    haul_context_options options = {};
    options.memory_bytes = argc > 2 ? static_cast<uint64_t>(std::atof(argv[2]) * 1e6) : 0;
    try {
        const double difference = run(argc > 1 ? argv[1] : nullptr, options);
        std::printf("heat in C++ differs from plain loops by %.1g\n", difference);
        return !(difference < 1e-12);
    } catch (const haul::error &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return failure.status == HAUL_STATUS_ABSENT ? 77 : 1;
    }
}
