/* Readable names of C++ functions. */
#ifndef HAUL_BASE_DEMANGLE_H
#define HAUL_BASE_DEMANGLE_H

#include <stddef.h>

#include "base/arena.h"

/* Puts a readable name, in the arena, in place of each of `count` texts that is mangled by the
 * Itanium C++ ABI ("_Z..."). All stay as they are where no C++ runtime is installed. */
void hl_base_demangle(const char **texts, size_t count, hl_base_arena *arena);

#endif
