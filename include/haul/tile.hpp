// haul/tile.h for C++17: objects that free what they hold, errors as exceptions, arrays of a type.
// Kernels are the same one source; docs/tiles.md has a program.
#ifndef HAUL_TILE_HPP
#define HAUL_TILE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "haul/tile.h"

namespace haul
{

// The error of a call that was refused or failed; `status` says which kind.
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
        return static_cast<T *>(
            region.cells)[(z - region.first) * region.plane + y * region.row + x];
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

// How a loop runs: run{}.over({{0, 0, 0}, {8, 8, 1}}).work(8).with_host()
struct run {
    run &over(const haul_box &cells)
    {
        box = cells;
        has_box = true;
        return *this;
    }

    // Operations a cell, for the model.
    run &work(double flops)
    {
        options.flops = flops;
        return *this;
    }

    // On the host, whatever the context's device.
    run &with_host()
    {
        options.on_host = true;
        return *this;
    }

    haul_loop_options options{};
    haul_box box{};
    bool has_box = false;
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

    context &operator=(context &&other) noexcept
    {
        std::swap(self, other.self);
        return *this;
    }

    ~context()
    {
        haul_context_close(self);
    }

    haul_context *get() const
    {
        return self;
    }

    // Queues a loop; an argument is an array or a number or struct that the kernel takes: of its
    // own type, for 1 is no double.
    template <typename... Arguments>
    void loop(const haul_kernel_source &kernel, const Arguments &...arguments)
    {
        loop_as(run{}, kernel, arguments...);
    }

    template <typename... Arguments>
    void loop_as(const run &how, const haul_kernel_source &kernel, const Arguments &...arguments)
    {
        haul_error failure;
        haul_loop_options options = how.options;
        options.box = how.has_box ? &how.box : nullptr;
        const void *const given[] = {address(arguments)...};
        const haul_argument_type types[] = {type_of(arguments)...};
        options.types = types;
        check(haul_loop_queue(self, &kernel, given, sizeof...(arguments), &options, &failure),
              failure);
    }

    // Queued loops begin.
    void start()
    {
        haul_error failure;
        check(haul_context_start(self, &failure), failure);
    }

    void wait()
    {
        haul_error failure;
        check(haul_context_wait(self, &failure), failure);
    }

    // Its choices, in lines of text.
    std::string explain() const
    {
        haul_error failure;
        char *text = nullptr;
        check(haul_context_explain(self, &text, &failure), failure);
        const std::unique_ptr<char, void (*)(void *)> owned(text, std::free);
        return text;
    }

    // Its operations on the device, as a workload for haul simulate.
    void write_plan(const char *path)
    {
        haul_error failure;
        check(haul_context_plan_write(self, path, &failure), failure);
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

    template <typename T>
    static auto type_of(const T &argument)
        -> decltype(argument.handle(), haul_argument_type{0, HAUL_ELEMENT_ANY, true})
    {
        return {0, HAUL_ELEMENT_ANY, true};
    }

    template <typename T, typename... None> static haul_argument_type type_of(const T &, None...)
    {
        static_assert(!std::is_pointer<T>::value, "values are given themselves, not their address");
        return {sizeof(T),
                std::is_floating_point<T>::value ? HAUL_ELEMENT_FLOATING
                : std::is_integral<T>::value     ? HAUL_ELEMENT_INTEGER
                                                 : HAUL_ELEMENT_ANY,
                false};
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
        spec.element = std::is_floating_point<T>::value ? HAUL_ELEMENT_FLOATING
                       : std::is_integral<T>::value     ? HAUL_ELEMENT_INTEGER
                                                        : HAUL_ELEMENT_STRUCT;
        check(haul_array_new(owner.get(), &spec, &self, &failure), failure);
    }

    array(array &&other) noexcept : self(std::exchange(other.self, nullptr))
    {
    }

    array(const array &) = delete;
    array &operator=(const array &) = delete;

    array &operator=(array &&other) noexcept
    {
        std::swap(self, other.self);
        return *this;
    }

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

    // For kernels and libraries of others, until the next call that uses the array.
    haul_device_cells access_device(haul_use use)
    {
        haul_error failure;
        haul_device_cells cells;
        check(haul_array_access_device(self, use, &cells, &failure), failure);
        return cells;
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

    // Copies the cells whose flag is not 0 to the first ones of `to`, in order, and returns how
    // many.
    template <typename F> std::uint64_t compact(const array<F> &flags, array &to)
    {
        haul_error failure;
        std::uint64_t count = 0;
        check(haul_array_compact(self,
                                 static_cast<haul_array *>(const_cast<void *>(flags.handle())),
                                 to.self, &count, &failure),
              failure);
        return count;
    }

    // Its values are not needed once the loops that are queued have run.
    void discard()
    {
        haul_array_discard(self);
    }

    // A file for numpy.load.
    void save(const char *path)
    {
        haul_error failure;
        check(haul_array_save(self, path, &failure), failure);
    }

    void load(const char *path)
    {
        haul_error failure;
        check(haul_array_load(self, path, &failure), failure);
    }

    friend void swap(array &a, array &b)
    {
        haul_error failure;
        check(haul_array_swap(a.self, b.self, &failure), failure);
    }

  private:
    haul_array *self = nullptr;
};

// An array, of any type, and its name in a file of several: save({{"u", u}, {"v", v}}, "run.npz")
struct named {
    template <typename T>
    named(const char *name, const array<T> &of)
        : self{name, static_cast<haul_array *>(const_cast<void *>(of.handle()))}
    {
    }

    haul_named_array self;
};

using haul_arrays_call = haul_status (*)(const haul_named_array *, size_t, const char *,
                                         haul_error *);

inline void call_with_arrays(haul_arrays_call call, std::initializer_list<named> arrays,
                             const char *path)
{
    haul_error failure;
    std::vector<haul_named_array> all;
    for (const named &one : arrays)
        all.push_back(one.self);
    check(call(all.data(), all.size(), path, &failure), failure);
}

inline void save(std::initializer_list<named> arrays, const char *path)
{
    call_with_arrays(haul_arrays_save, arrays, path);
}

// Returns when the arrays are copied: a thread writes them while later loops run. The next call of
// these three, or finish_saving, throws its failure.
inline void start_saving(std::initializer_list<named> arrays, const char *path)
{
    call_with_arrays(haul_arrays_save_start, arrays, path);
}

inline void load(std::initializer_list<named> arrays, const char *path)
{
    call_with_arrays(haul_arrays_load, arrays, path);
}

inline void finish_saving(context &of)
{
    haul_error failure;
    check(haul_arrays_save_finish(of.get(), &failure), failure);
}

} // namespace haul

#endif
