/* libnvrtc.so by the names of NVIDIA's, or libhiprtc.so by those of AMD's: DRIVER_RTC is what they
 * begin with. */
#include <stdbool.h>
#include <string.h>

#include "driver_compiler.h"

#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b
#define NAMED(type, name, parameters)                                                              \
    __attribute__((visibility("default"))) type JOIN(DRIVER_RTC, name) parameters;                 \
    type JOIN(DRIVER_RTC, name) parameters
#define CALL(name, parameters) NAMED(int, name, parameters)

typedef compiler_program *program;

CALL(Version, (int *major, int *minor))
{
    *major = 12;
    *minor = 4;
    return COMPILER_OK;
}

NAMED(const char *, GetErrorString, (int result))
{
    return compiler_words(result);
}

CALL(CreateProgram, (program * made, const char *text, const char *name, int header_count,
                     const char *const *headers, const char *const *names))
{
    return header_count || headers || names || !text ? COMPILER_INVALID_INPUT
                                                     : compiler_new(made, text, name);
}

CALL(DestroyProgram, (program * which))
{
    compiler_free(*which);
    *which = NULL;
    return COMPILER_OK;
}

static bool is_known(const char *option)
{
    static const char *const known[] = {DRIVER_RTC_OPTIONS};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(option, known[i], strlen(known[i])))
            return true;
    return false;
}

/* Options that are known change nothing. */
CALL(CompileProgram, (program which, int count, const char *const *options))
{
    for (int i = 0; i < count; i++)
        if (!is_known(options[i]))
            return COMPILER_INVALID_OPTION;
    return compiler_run(which);
}

CALL(GetProgramLogSize, (program which, size_t *bytes))
{
    *bytes = strlen(which->log) + 1;
    return COMPILER_OK;
}

CALL(GetProgramLog, (program which, char *log))
{
    strcpy(log, which->log);
    return COMPILER_OK;
}

static int give_size(const compiler_program *which, size_t *bytes)
{
    *bytes = which->bytes;
    return which->library ? COMPILER_OK : COMPILER_INVALID_PROGRAM;
}

static int give(const compiler_program *which, char *to)
{
    if (!which->library)
        return COMPILER_INVALID_PROGRAM;
    memcpy(to, which->library, which->bytes);
    return COMPILER_OK;
}

#ifndef DRIVER_NVIDIA

CALL(GetCodeSize, (program which, size_t *bytes))
{
    return give_size(which, bytes);
}

CALL(GetCode, (program which, char *code))
{
    return give(which, code);
}

#else

CALL(GetCUBINSize, (program which, size_t *bytes))
{
    return give_size(which, bytes);
}

CALL(GetCUBIN, (program which, char *cubin))
{
    return give(which, cubin);
}

CALL(GetPTXSize, (program which, size_t *bytes))
{
    *bytes = which->ptx ? strlen(which->ptx) + 1 : 0;
    return which->ptx ? COMPILER_OK : COMPILER_INVALID_PROGRAM;
}

CALL(GetPTX, (program which, char *ptx))
{
    strcpy(ptx, which->ptx);
    return COMPILER_OK;
}

CALL(GetNumSupportedArchs, (int *count))
{
    *count = 2;
    return COMPILER_OK;
}

CALL(GetSupportedArchs, (int *archs))
{
    archs[0] = 60;
    archs[1] = 70;
    return COMPILER_OK;
}

#endif
