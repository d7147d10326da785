/* Compiles kernels: preprocesses the text, finds the names of its kernels in what comes out, and
 * makes a shared library of it. */
#include "driver_compiler.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver_image.h"

#define MARK "driver_global_kernel" /* what __global__ becomes */
#define SHARED "driver_shared"      /* and __shared__ */

#ifdef DRIVER_NVIDIA
static const bool is_nvidia = true;
#else
static const bool is_nvidia = false;
#endif

/* --- files */

static char *read_file(const char *path, size_t *bytes)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    char *text =
        file && !fstat(fileno(file), &status) ? calloc(1, (size_t)status.st_size + 1) : NULL;
    *bytes = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
    if (file)
        fclose(file);
    return text;
}

typedef struct folder {
    char path[64];
    char given[96], log[96], preprocessed[96], compiled[96], library[96];
} folder;

static bool make_folder(folder *self)
{
    const char *place = getenv("TMPDIR");
    snprintf(self->path, sizeof self->path, "%.40s/haul-nvrtc-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(self->path))
        return false;
    snprintf(self->given, sizeof self->given, "%s/given.cu", self->path);
    snprintf(self->log, sizeof self->log, "%s/log", self->path);
    snprintf(self->preprocessed, sizeof self->preprocessed, "%s/kernel.ii", self->path);
    snprintf(self->compiled, sizeof self->compiled, "%s/kernels.ii", self->path);
    snprintf(self->library, sizeof self->library, "%s/kernels.so", self->path);
    return true;
}

static void remove_folder(const folder *self)
{
    const char *const files[] = {self->given, self->log, self->preprocessed, self->compiled,
                                 self->library};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    rmdir(self->path);
}

static bool write_given(const folder *self, const compiler_program *program)
{
    FILE *file = fopen(self->given, "w");
    if (!file)
        return false;
    fprintf(file, "#line 1 \"%s\"\n%s\n", program->name, program->text);
    return !fclose(file);
}

/* --- the two steps; the compiler finds no library of the tests under its own names */

static bool preprocess(const folder *self)
{
    char command[1024];
    snprintf(command, sizeof command,
             "env -u LD_LIBRARY_PATH -u LD_PRELOAD %s -std=c++17 -E -w -x c++ %s -D__global__=%s "
             "-D__shared__=%s -include %s -o %s %s >%s 2>&1",
             DRIVER_CXX, is_nvidia ? "-D__CUDACC_RTC__ -D__CUDA_ARCH__=700" : "-D__HIPCC_RTC__",
             MARK, SHARED, DRIVER_PRELUDE, self->preprocessed, self->given, self->log);
    return !system(command);
}

/* The name before the next such character. */
static const char *name_before(const char *at, char character, int *length)
{
    const char *end = strchr(at, character);
    while (end && end > at && isspace((unsigned char)end[-1]))
        end--;
    const char *name = end;
    while (name && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    *length = name ? (int)(end - name) : 0;
    return name;
}

/* A block's arrays: blocks are run one after the other. All that are `extern` are the memory of the
 * launch. */
static void place_shared(FILE *to, char *at, const char *text)
{
    static const char other[] = "extern ";
    int length;
    memset(at, ' ', strlen(SHARED));
    if ((size_t)(at - text) < strlen(other) ||
        memcmp(at - strlen(other), other, strlen(other)) != 0) {
        memcpy(at, "static", strlen("static"));
        return;
    }
    const char *name = name_before(at, '[', &length);
    fprintf(to, "\nasm(\".set %.*s, driver_dynamic\");\n", length, name);
}

/* Hides the mark at `at`, and writes the definitions that the driver looks for. */
static void add_kernel(FILE *to, char *at)
{
    int length;
    memset(at, ' ', strlen(MARK));
    const char *name = name_before(at, '(', &length);
    fprintf(to, "\nextern \"C\" void driver_run_%.*s(const driver_grid *grid, void **values)\n",
            length, name);
    fprintf(to, "{ driver_run(grid, %.*s, values); }\n", length, name);
    fprintf(to, "extern \"C\" const size_t *driver_bytes_%.*s()\n", length, name);
    fprintf(to, "{ return driver_bytes(%.*s); }\n", length, name);
}

static bool add_kernels(const folder *self)
{
    size_t bytes;
    char *text = read_file(self->preprocessed, &bytes);
    char *wrappers = NULL;
    size_t wrapper_bytes;
    FILE *memory = open_memstream(&wrappers, &wrapper_bytes);
    FILE *file = fopen(self->compiled, "w");
    if (!text || !memory || !file)
        abort();
    for (char *at = text; (at = strstr(at, MARK)) != NULL;)
        add_kernel(memory, at);
    for (char *at = text; (at = strstr(at, SHARED)) != NULL;)
        place_shared(memory, at, text);
    fclose(memory);
    fprintf(file, "%s%s", text, wrappers);
    free(text);
    free(wrappers);
    return !fclose(file);
}

static bool compile(const folder *self)
{
    char command[1024];
    snprintf(command, sizeof command,
             "env -u LD_LIBRARY_PATH -u LD_PRELOAD %s -std=c++17 -O2 -w -x c++-cpp-output -shared "
             "-fPIC -ffp-contract=off -o %s %s >>%s 2>&1",
             DRIVER_CXX, self->library, self->compiled, self->log);
    return add_kernels(self) && !system(command);
}

/* --- what comes of it */

/* "name:3:5: error: ..." becomes "name(3): error: ...". */
static void write_as_nvidia(char *log)
{
    char *to = log;
    for (char *line = log; *line;) {
        const size_t length = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        char *colon = memchr(line, ':', length), *rest = NULL;
        const unsigned long number = colon ? strtoul(colon + 1, &rest, 10) : 0;
        char *words = number ? strchr(rest + 1, ':') : NULL;
        if (words && words < line + length) {
            char place[32];
            const size_t before = (size_t)(colon - line), after = length - (size_t)(words - line);
            const int digits = snprintf(place, sizeof place, "(%lu)", number);
            memmove(to, line, before);
            memcpy(to + before, place, (size_t)digits);
            memmove(to + before + digits, words, after);
            to += before + (size_t)digits + after;
        } else {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    *to = '\0';
}

static char *as_text(const char *library, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *made = malloc(sizeof DRIVER_PTX + 2 * bytes), *to = made;
    if (!made)
        abort();
    to += sprintf(to, "%s", DRIVER_PTX);
    for (size_t i = 0; i < bytes; i++) {
        *to++ = digits[(unsigned char)library[i] >> 4];
        *to++ = digits[(unsigned char)library[i] & 15];
    }
    *to = '\0';
    return made;
}

int compiler_run(compiler_program *program)
{
    folder here;
    size_t log_bytes;
    if (!make_folder(&here) || !write_given(&here, program))
        return COMPILER_OUT_OF_MEMORY;
    const bool compiled = preprocess(&here) && compile(&here);
    free(program->log);
    program->log = read_file(here.log, &log_bytes);
    if (compiled) {
        program->library = read_file(here.library, &program->bytes);
        program->ptx = as_text(program->library, program->bytes);
    } else if (is_nvidia) {
        write_as_nvidia(program->log);
    }
    remove_folder(&here);
    return compiled ? COMPILER_OK : COMPILER_FAILED;
}

int compiler_new(compiler_program **program, const char *text, const char *name)
{
    compiler_program *made = calloc(1, sizeof *made);
    if (!made)
        return COMPILER_OUT_OF_MEMORY;
    made->name = strdup(name ? name : "default_program");
    made->text = strdup(text);
    made->log = strdup("");
    if (!made->name || !made->text || !made->log)
        abort();
    *program = made;
    return COMPILER_OK;
}

void compiler_free(compiler_program *program)
{
    free(program->name);
    free(program->text);
    free(program->log);
    free(program->library);
    free(program->ptx);
    free(program);
}

const char *compiler_words(int result)
{
    return result == COMPILER_OK                ? "NVRTC_SUCCESS"
           : result == COMPILER_FAILED          ? "NVRTC_ERROR_COMPILATION"
           : result == COMPILER_INVALID_PROGRAM ? "NVRTC_ERROR_INVALID_PROGRAM"
           : result == COMPILER_INVALID_OPTION  ? "NVRTC_ERROR_INVALID_OPTION"
                                                : "NVRTC_ERROR";
}
