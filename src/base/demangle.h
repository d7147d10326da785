/* Readable names of C++ functions. */
#ifndef HAUL_BASE_DEMANGLE_H
#define HAUL_BASE_DEMANGLE_H

#include <stddef.h>

#include "base/arena.h"

/* Puts a readable name, in the arena, in place of each of `count` texts that is mangled by the
 * Itanium C++ ABI ("_Z..."). All stay as they are where no C++ runtime is installed. */
void haul_demangle(const char **texts, size_t count, haul_arena *arena);

#endif
