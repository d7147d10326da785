/* Kernels on the host: the text as functions in C, and the descriptions that devices make kernels
 * by. Part of haul/kernel_source.h, which includes it on the host alone: devices do not compile it.
 */
#ifndef HAUL_KERNEL_HOST_H
#define HAUL_KERNEL_HOST_H

#include "haul/kernel_check.h"
#ifdef __cplusplus
#include <type_traits>
#endif

#define HAUL_GLOBAL
#define HAUL_LOCAL
#define HAUL_RESTRICT __restrict__
#define HAUL_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define HAUL_ADD_TO(at, value)                                                                     \
    ((__typeof__(*(at) + 0))0.5 != 0                                                               \
         ? haul_add_floating(at, sizeof *(at), (double)(__typeof__(*(at) + 0))(value))             \
         : haul_add_whole(at, sizeof *(at), (long)(__typeof__(*(at) + 0))(value)))

/* To a double or a float. One thread does it. */
HAUL_FUNCTION void haul_add_floating(void *at, size_t bytes, double value)
{
    if (bytes == sizeof(double))
        *(double *)at += value;
    else
        *(float *)at += (float)value;
}

/* To a long, an int or an unsigned, also while other threads add. */
HAUL_FUNCTION void haul_add_whole(void *at, size_t bytes, long value)
{
    if (bytes == sizeof(long))
        (void)__atomic_fetch_add((long *)at, value, __ATOMIC_RELAXED);
    else
        (void)__atomic_fetch_add((unsigned *)at, (unsigned)value, __ATOMIC_RELAXED);
}

/* To be in a program once, the text is a group of which the linker keeps one: link-time
 * optimisation assembles all files of a program as one, and places code apart from it. So a label
 * names one file of a program. GNU compilers define the number of its bytes too, which the linker
 * refuses where two files of one label differ in it; LLVM's linker takes no symbol twice. */
#ifdef __clang__
#define HAUL_KERNEL_BYTES(label)
#else
#define HAUL_KERNEL_BYTES(label)                                                                   \
    ".globl " label "_bytes\n.hidden " label "_bytes\n"                                            \
    ".set " label "_bytes, " label "_text_end - " label "_text\n"
#endif

/* The text of the file that says this. `.incbin` opens the file by the name that the compiler gives
 * it: docs/devices.md tells what to do about -ffile-prefix-map. */
#define HAUL_KERNEL_FILE(label) HAUL_KERNEL_TEXT(label, #label, __FILE__)
#define HAUL_KERNEL_TEXT(label, name, path)                                                        \
    __asm__(".ifndef " name "_text\n"                                                              \
            ".pushsection .rodata." name ",\"aG\",%progbits," name "_text,comdat\n"                \
            ".weak " name "_text\n.hidden " name "_text\n"                                         \
            ".weak " name "_text_end\n.hidden " name "_text_end\n" name "_text:\n"                 \
            ".incbin \"" path "\"\n" name                                                          \
            "_text_end:\n.byte 0\n.popsection\n" HAUL_KERNEL_BYTES(name) ".endif\n");              \
    extern const char label##_text[] __attribute__((visibility("hidden")));                        \
    extern const char label##_text_end[] __attribute__((visibility("hidden")));

#define HAUL_FOR1(x) for (int x = haul_it.lo[0]; HAUL_SEE1(x) x < haul_it.hi[0]; x++)
#define HAUL_FOR2(x, y)                                                                            \
    for (int y = haul_it.lo[1]; y < haul_it.hi[1]; y++)                                            \
        for (int x = haul_it.lo[0]; HAUL_SEE2(x, y) x < haul_it.hi[0]; x++)
#define HAUL_FOR3(x, y, z)                                                                         \
    for (int z = haul_it.lo[2]; z < haul_it.hi[2]; z++)                                            \
        for (int y = haul_it.lo[1]; y < haul_it.hi[1]; y++)                                        \
            for (int x = haul_it.lo[0]; HAUL_SEE3(x, y, z) x < haul_it.hi[0]; x++)

#define HAUL_LANES 1

#define HAUL_THREADS(x, width, y, height)                                                          \
    for (int y = 0; y < (height); y++)                                                             \
        for (int x = 0; x < (width); x++)
#define HAUL_BARRIER ((void)0)
#define HAUL_PRIVATE(type, name, width, height) type name[height][width]
#define HAUL_MINE(name, x, y) name[y][x]

/* The kind of a type, which a typedef does not hide. */
#ifdef __cplusplus
template <typename T> constexpr haul_element haul_element_of()
{
    return std::is_floating_point<T>::value ? HAUL_ELEMENT_FLOATING
           : std::is_integral<T>::value     ? HAUL_ELEMENT_INTEGER
                                            : HAUL_ELEMENT_STRUCT;
}
#define HAUL_ELEMENT_OF(type) haul_element_of<type>()
#else
/* clang-format off */
#define HAUL_ELEMENT_OF(type)                                                                      \
    _Generic(*(type *)0, float: HAUL_ELEMENT_FLOATING, double: HAUL_ELEMENT_FLOATING,              \
             long double: HAUL_ELEMENT_FLOATING, _Bool: HAUL_ELEMENT_INTEGER,                      \
             char: HAUL_ELEMENT_INTEGER, signed char: HAUL_ELEMENT_INTEGER,                        \
             unsigned char: HAUL_ELEMENT_INTEGER, short: HAUL_ELEMENT_INTEGER,                     \
             unsigned short: HAUL_ELEMENT_INTEGER, int: HAUL_ELEMENT_INTEGER,                      \
             unsigned: HAUL_ELEMENT_INTEGER, long: HAUL_ELEMENT_INTEGER,                           \
             unsigned long: HAUL_ELEMENT_INTEGER, long long: HAUL_ELEMENT_INTEGER,                 \
             unsigned long long: HAUL_ELEMENT_INTEGER, default: HAUL_ELEMENT_STRUCT)
/* clang-format on */
#endif

#define HAUL_ROW(index, parameter) HAUL_ROW_BY parameter
#define HAUL_ROW_BY(access, type, name, count, halo)                                               \
    {#name, HAUL_ACCESS_##access, (uint32_t)(sizeof(type) * (count)), (halo),                      \
     HAUL_ELEMENT_OF(type)},
#define HAUL_GIVE(index, parameter) HAUL_GIVE_BY(index, HAUL_OPEN parameter)
#define HAUL_GIVE_BY(index, ...) HAUL_GIVE_TO(index, __VA_ARGS__)
#define HAUL_GIVE_TO(index, access, type, name) HAUL_GIVE_##access(index, type, name)
#define HAUL_GIVE_IN(index, type, name) , (const type *)arguments[index]
#define HAUL_GIVE_OUT(index, type, name) , (type *)arguments[index]
#define HAUL_GIVE_INOUT(index, type, name) , (type *)arguments[index]
#define HAUL_GIVE_VALUE(index, type, name) , *(const type *)arguments[index]
#define HAUL_GIVE_VIEW(index, type, name)                                                          \
    , haul_sight_of(haul_view_of(*(const haul_view *)arguments[index], haul_is_flat),              \
                    haul_is_flat < 0 ? &((const haul_checked_view *)arguments[index])->bounds      \
                                     : NULL)
#define HAUL_FLAT_VIEW(index, name) &&!((const haul_view *)arguments[index])->ring
#define HAUL_GIVE_SHARED(index, type, name) , haul_shared_##name
#define HAUL_UNIT_SHARE(index, parameter) HAUL_SHARE_BY parameter
#define HAUL_SHARE_BY(access, type, name, count, halo) HAUL_SHARE_##access(type, name, count)
#define HAUL_SHARE_IN(type, name, count)
#define HAUL_SHARE_OUT(type, name, count)
#define HAUL_SHARE_INOUT(type, name, count)
#define HAUL_SHARE_VALUE(type, name, count)
#define HAUL_SHARE_VIEW(type, name, count)
#define HAUL_SHARE_SHARED(type, name, count) type haul_shared_##name[count];

#define HAUL_GIVE_HIDDEN(index, type, name)
#define HAUL_GIVE_SUM(index, type, name) , &haul_r_##name
#define HAUL_GIVE_MIN(index, type, name) , &haul_r_##name
#define HAUL_GIVE_MAX(index, type, name) , &haul_r_##name
#define HAUL_SHARE_SUM(type, name, count)
#define HAUL_SHARE_MIN(type, name, count)
#define HAUL_SHARE_MAX(type, name, count)
#define HAUL_SHARE_HIDDEN(type, name, count)
#define HAUL_ROWS_OF(index, type, name) ((type *)arguments[index])
#define HAUL_PLACE_OF(index, name) (*(const haul_rows *)arguments[(index) + 1])

#define HAUL_SOURCE(called, label, dims, width, height, reduces, ...)                              \
    HAUL_SOURCE_OF(called, #called, label, dims, width, height, reduces, NULL, 0, __VA_ARGS__)
#define HAUL_SOURCE_OF(called, entry, label, dims, width, height, reduces, fused, bytes, ...)      \
    static const haul_kernel_parameter called##_parameters[] = {HAUL_EACH(HAUL_ROW, __VA_ARGS__)}; \
    static const haul_kernel_source called __attribute__((unused)) = {                             \
        entry,                                                                                     \
        __FILE__,                                                                                  \
        label##_text,                                                                              \
        label##_text_end,                                                                          \
        called##_parameters,                                                                       \
        HAUL_UNIT_COUNT(__VA_ARGS__),                                                              \
        (dims),                                                                                    \
        {(width), (height)},                                                                       \
        (reduces),                                                                                 \
        called##_host,                                                                             \
        (fused),                                                                                   \
        (bytes),                                                                                   \
    };

#define HAUL_HOST_FUNCTION(name, ...)                                                              \
    HAUL_INLINE HAUL_BODY(name, __VA_ARGS__);                                                      \
    static void name##_host(const haul_box *part, const haul_box *whole, void *const *arguments)   \
    {                                                                                              \
        (void)whole;                                                                               \
        HAUL_CALL_BODY(name, *part, __VA_ARGS__)                                                   \
    }

#define HAUL_KERNEL_LOOP(name, file, dims, ...)                                                    \
    HAUL_HOST_FUNCTION(name, __VA_ARGS__)                                                          \
    HAUL_SOURCE(name, file, dims, 0, 0, false, __VA_ARGS__)                                        \
    HAUL_BODY(name, __VA_ARGS__)

#define HAUL_MARCH_FROM(d) 0
#define HAUL_MARCH_BY(d) 1
#define HAUL_MARCH_BARRIER ((void)0)

/* Fused steps of two dimensions have groups of one row. */
#define HAUL_STENCIL(name, file, dims, ...)                                                        \
    HAUL_HOST_FUNCTION(name, __VA_ARGS__)                                                          \
    HAUL_MARCH(name, dims, HAUL_STENCIL_TYPE(__VA_ARGS__), __VA_ARGS__)                            \
    static void name##_fused_host(const haul_box *part, const haul_box *whole,                     \
                                  void *const *arguments)                                          \
    {                                                                                              \
        HAUL_STENCIL_TYPE(__VA_ARGS__)                                                             \
        rings[HAUL_GROUP_BYTES / sizeof(HAUL_STENCIL_TYPE(__VA_ARGS__))];                          \
        const haul_fused it = *(const haul_fused *)arguments[HAUL_UNIT_COUNT(__VA_ARGS__)];        \
        const int haul_is_flat = 0;                                                                \
        haul_box group = *whole;                                                                   \
        for (int z = part->lo[2]; z < part->hi[2]; z++)                                            \
            for (int y = part->lo[1]; y < part->hi[1]; y++)                                        \
                for (int x = part->lo[0]; x < part->hi[0]; x++) {                                  \
                    group.lo[0] = x;                                                               \
                    group.lo[1] = y;                                                               \
                    group.lo[2] = z;                                                               \
                    name##_march(group, it, rings HAUL_EACH(HAUL_GIVE, __VA_ARGS__));              \
                }                                                                                  \
    }                                                                                              \
    HAUL_SOURCE_OF(name##_fused, #name, file, 3, (dims) == 3 ? 32 : 256, (dims) == 3 ? 8 : 1,      \
                   false, NULL, HAUL_GROUP_BYTES, __VA_ARGS__, (HIDDEN, haul_fused, fused, 1, -1)) \
    HAUL_SOURCE_OF(name, #name, file, dims, 0, 0, false, &name##_fused, 0, __VA_ARGS__)            \
    HAUL_BODY(name, __VA_ARGS__)

#define HAUL_KERNEL_GROUPS(name, file, width, height, ...)                                         \
    HAUL_BODY(name, __VA_ARGS__);                                                                  \
    static void name##_host(const haul_box *part, const haul_box *whole, void *const *arguments)   \
    {                                                                                              \
        HAUL_EACH(HAUL_UNIT_SHARE, __VA_ARGS__)                                                    \
        haul_box group = *whole;                                                                   \
        for (int z = part->lo[2]; z < part->hi[2]; z++)                                            \
            for (int y = part->lo[1]; y < part->hi[1]; y++)                                        \
                for (int x = part->lo[0]; x < part->hi[0]; x++) {                                  \
                    group.lo[0] = x;                                                               \
                    group.lo[1] = y;                                                               \
                    group.lo[2] = z;                                                               \
                    name##_body(group HAUL_NO_CELL HAUL_EACH(HAUL_GIVE, __VA_ARGS__));             \
                }                                                                                  \
    }                                                                                              \
    HAUL_SOURCE(name, file, 3, width, height, false, __VA_ARGS__)                                  \
    HAUL_BODY(name, __VA_ARGS__)

/* The last argument is the loop's box, of which `part` counts groups of rows. */
#define HAUL_KERNEL_ROWS(name, file, dims, ...)                                                    \
    HAUL_INLINE HAUL_BODY(name, __VA_ARGS__);                                                      \
    static void name##_host(const haul_box *part, const haul_box *groups, void *const *arguments)  \
    {                                                                                              \
        const haul_box whole = *(const haul_box *)arguments[HAUL_UNIT_COUNT(__VA_ARGS__) - 1];     \
        const int end = haul_row_end(whole, dims), first = haul_row_first(whole, dims);            \
        (void)groups;                                                                              \
        for (int z = part->lo[2]; z < part->hi[2]; z++)                                            \
            for (int y = part->lo[1] * HAUL_GROUP_ROWS; y < part->hi[1] * HAUL_GROUP_ROWS; y++) {  \
                const int haul_y = first + y, haul_z = (dims) == 3 ? whole.lo[2] + z : 0;          \
                const haul_box haul_it = haul_row_box(whole, dims, haul_y, haul_z);                \
                HAUL_EACH(HAUL_OPEN_ROW, __VA_ARGS__)                                              \
                HAUL_CALL_BODY(name, haul_it, __VA_ARGS__)                                         \
                if (haul_y < end) {                                                                \
                    HAUL_EACH(HAUL_SHUT_ROW, __VA_ARGS__)                                          \
                }                                                                                  \
            }                                                                                      \
    }                                                                                              \
    HAUL_SOURCE(name, file, dims, HAUL_GROUP_LANES, 1, true, __VA_ARGS__)                          \
    HAUL_BODY(name, __VA_ARGS__)

#endif
