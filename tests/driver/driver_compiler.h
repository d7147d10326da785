/* A compiler of kernels for the driver's stand-in: the host's C++ compiler. */
#ifndef HAUL_TESTS_DRIVER_COMPILER_H
#define HAUL_TESTS_DRIVER_COMPILER_H

#include <stddef.h>

/* NVRTC's results; hiprtc's are the same. */
enum {
    COMPILER_OK = 0,
    COMPILER_OUT_OF_MEMORY = 1,
    COMPILER_INVALID_INPUT = 3,
    COMPILER_INVALID_PROGRAM = 4,
    COMPILER_INVALID_OPTION = 5,
    COMPILER_FAILED = 6,
};

typedef struct compiler_program {
    char *name, *text;
    char *log;     /* "" until there is something to say */
    char *library; /* NULL until it was compiled */
    size_t bytes;
    char *ptx; /* the same, written out; driver_image.h */
} compiler_program;

int compiler_new(compiler_program **program, const char *text, const char *name);
void compiler_free(compiler_program *program);

/* NVRTC writes "name(3): error:" where others, and hiprtc, write "name:3:5: error:". */
int compiler_run(compiler_program *program);

const char *compiler_words(int result);

#endif
