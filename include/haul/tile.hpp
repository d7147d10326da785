// haul/tile.h for C++17: objects that free what they hold, errors as exceptions, arrays of a type.
// Kernels are the same one source; docs/tiles.md has a program.
#ifndef HAUL_TILE_HPP
#define HAUL_TILE_HPP

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "haul/tile.h"

namespace haul
{

// What a call refused or failed with; `status` says which kind.
class error : public std::runtime_error
{
  public:
    explicit error(const haul_error &from) : std::runtime_error(from.text), status(from.status)
    {
    }

    haul_status status;
};

inline void check(haul_status status, const haul_error &from)
{
    if (status != HAUL_OK)
        throw error(from);
}

// The cells of a region as the host sees them: cells(x, y, z), with first <= last index < end.
template <typename T> class region_span
{
  public:
    explicit region_span(const haul_region &from) : region(from)
    {
    }

    T &operator()(int x, int y, int z) const
    {
        return static_cast<T *>(region.cells)[(z - region.first) * region.plane + y * region.row + x];
    }

    T &operator()(int x, int y) const
    {
        return static_cast<T *>(region.cells)[(y - region.first) * region.plane + x];
    }

    T &operator()(int x) const
    {
        return static_cast<T *>(region.cells)[x - region.first];
    }

    int first() const
    {
        return region.first;
    }

    int end() const
    {
        return region.end;
    }

  private:
    haul_region region;
};

class context
{
  public:
    explicit context(const char *device = nullptr, const haul_context_options &options = {})
    {
        haul_error failure;
        check(haul_context_open(device, &options, &self, &failure), failure);
    }

    context(context &&other) noexcept : self(std::exchange(other.self, nullptr))
    {
    }

    context(const context &) = delete;
    context &operator=(const context &) = delete;

    ~context()
    {
        haul_context_close(self);
    }

    haul_context *get() const
    {
        return self;
    }

    // Queues a loop; an argument is an array or a number or struct that the kernel takes.
    template <typename... Arguments>
    void loop(const haul_kernel_source &kernel, const Arguments &...arguments)
    {
        haul_error failure;
        const void *const given[] = {address(arguments)...};
        check(haul_loop(self, &kernel, given, sizeof...(arguments), nullptr, &failure), failure);
    }

    void wait()
    {
        haul_error failure;
        check(haul_context_wait(self, &failure), failure);
    }

    haul_context_counts counts() const
    {
        return haul_context_count(self);
    }

  private:
    template <typename T> static auto address(const T &argument) -> decltype(argument.handle())
    {
        return argument.handle();
    }

    template <typename T, typename... None> static const void *address(const T &value, None...)
    {
        return &value;
    }

    haul_context *self = nullptr;
};

// Frees itself before its context, which must outlive it.
template <typename T> class array
{
  public:
    array(context &owner, haul_array_spec spec)
    {
        haul_error failure;
        spec.element_bytes = sizeof(T);
        check(haul_array_new(owner.get(), &spec, &self, &failure), failure);
    }

    array(array &&other) noexcept : self(std::exchange(other.self, nullptr))
    {
    }

    array(const array &) = delete;
    array &operator=(const array &) = delete;

    ~array()
    {
        haul_array_free(self);
    }

    const void *handle() const
    {
        return self;
    }

    int regions()
    {
        return haul_array_regions(self);
    }

    region_span<T> access(int index, haul_use use)
    {
        haul_error failure;
        haul_region region;
        check(haul_array_access(self, index, use, &region, &failure), failure);
        return region_span<T>(region);
    }

    // All cells, without those beyond the edges; `cells` has room for them.
    void read(T *cells)
    {
        haul_error failure;
        check(haul_array_read(self, cells, &failure), failure);
    }

    void write(const T *cells)
    {
        haul_error failure;
        check(haul_array_write(self, cells, &failure), failure);
    }

    friend void swap(array &a, array &b)
    {
        haul_error failure;
        check(haul_swap(a.self, b.self, &failure), failure);
    }

  private:
    haul_array *self = nullptr;
};

} // namespace haul

#endif
