/* The C++ runtime's own demangler, where there is one: nothing has to be linked, and the portable
 * program has it too. */
#include "base/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* References to what was there before can double a name each time: a profile may hold anything. */
enum { LONGEST = 2048, REFERENCES_MOST = 40 };

enum { NO_MEMORY = -1 }; /* a status of __cxa_demangle (Itanium C++ ABI, 3.4) */

typedef char *demangle(const char *mangled, char *buffer, size_t *size, int *status);

static bool is_harmless(const char *name)
{
    int references = 0;
    size_t length = 0;
    for (; name[length] && length <= LONGEST; length++) {
        const char next = name[length + 1];
        if (name[length] == 'S' || name[length] == 'T')
            references +=
                next == '_' || isdigit((unsigned char)next) || isupper((unsigned char)next);
    }
    return length <= LONGEST && references <= REFERENCES_MOST;
}

void hl_base_demangle(const char **texts, size_t count, hl_base_arena *arena)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1"};
    void *handle = NULL, *symbol = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(texts[i], "_Z", 2) != 0 || !is_harmless(texts[i]))
            continue;
        for (size_t j = 0; !symbol && j < sizeof runtimes / sizeof *runtimes; j++)
            if ((handle = dlopen(runtimes[j], RTLD_LAZY | RTLD_LOCAL)) &&
                !(symbol = dlsym(handle, "__cxa_demangle")))
                dlclose(handle);
        if (!symbol)
            return;
        demangle *function;
        memcpy(&function, &symbol, sizeof function); /* POSIX: functions are as objects */
        int status = 0;
        char *readable = function(texts[i], NULL, NULL, &status);
        arena->failed |= status == NO_MEMORY;
        char *kept = readable && !status ? hl_base_arena_string(arena, readable) : NULL;
        texts[i] = kept ? kept : texts[i];
        free(readable);
    }
    if (symbol)
        dlclose(handle);
}
