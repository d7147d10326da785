/* Modules, functions and launches. An image is a shared library, which NVRTC's stand-in compiles,
 * as a cubin or written out as PTX; or PTX of another's, whose kernels take a while and do nothing.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"
#include "driver_image.h"

/* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
enum { MOST_THREADS = 1024, MAX_DYNAMIC = 8 };

/* --- images */

/* A library's bytes say how many they are: the section headers are their end. */
static size_t elf_bytes(const void *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static char *from_text(const char *text, size_t *bytes)
{
    *bytes = strlen(text) / 2;
    char *made = driver_new(*bytes + 1);
    for (size_t i = 0; i < *bytes; i++)
        made[i] = (char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return made;
}

/* The file stays open: dlopen takes a path that it has seen for the library that it was. */
static void *open_library(const void *image, size_t bytes)
{
    char path[64];
    const int file = memfd_create("kernels", MFD_CLOEXEC);
    void *library = NULL;
    if (file >= 0 && write(file, image, bytes) == (ssize_t)bytes) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (file >= 0 && !library)
        close(file);
    return library;
}

static int open_image(driver_module *module, const char *image)
{
    size_t bytes;
    if (!memcmp(image, ELFMAG, SELFMAG)) {
        module->library = open_library(image, elf_bytes(image));
    } else if (!strncmp(image, DRIVER_PTX, strlen(DRIVER_PTX))) {
        char *library = from_text(image + strlen(DRIVER_PTX), &bytes);
        module->library = open_library(library, bytes);
        free(library);
    } else if (strstr(image, ".version")) {
        module->text = strdup(image);
        return module->text ? DRIVER_OK : DRIVER_OUT_OF_MEMORY;
    }
    return module->library ? DRIVER_OK : DRIVER_INVALID_IMAGE;
}

int driver_module_load(driver_module **module, const void *image)
{
    driver_context *context;
    int result = driver_context_check(&context);
    if (result)
        return result;
    driver_module *made = driver_object_new(sizeof *made, DRIVER_MODULE);
    made->context = context;
    result = open_image(made, image);
    made->object.alive = !result;
    if (!result)
        *module = made;
    return result;
}

/* The library stays, so that a kernel that still runs is told. */
int driver_module_unload(driver_module *module)
{
    if (!driver_object_of(module, DRIVER_MODULE, "a module"))
        return DRIVER_INVALID_HANDLE;
    for (const driver_stream *i = driver_streams(); i; i = i->next_of_all)
        for (const driver_op *op = i->first; op && !i->context->error; op = op->next)
            if (op->kind == DRIVER_LAUNCH && op->launch.function->module == module)
                driver_complain("a module is unloaded of which a kernel is still to run");
    module->object.alive = false;
    return DRIVER_OK;
}

/* --- functions */

static void *find(const driver_module *module, const char *prefix, const char *name)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    return dlsym(module->library, whole);
}

static bool is_in_text(const char *text, const char *name)
{
    char entry[256];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    return strstr(text, entry);
}

int driver_module_function(driver_function **function, driver_module *module, const char *name)
{
    if (!driver_object_of(module, DRIVER_MODULE, "a module"))
        return DRIVER_INVALID_HANDLE;
    void *run = module->library ? find(module, "driver_run_", name) : NULL;
    void *bytes = module->library ? find(module, "driver_bytes_", name) : NULL;
    if (module->library ? !run || !bytes : !is_in_text(module->text, name))
        return DRIVER_NOT_FOUND;
    driver_function *made = driver_object_new(sizeof *made, DRIVER_FUNCTION);
    char *kept = driver_new(strlen(name) + 1);
    made->name = memcpy(kept, name, strlen(name));
    made->module = module;
    made->most_dynamic = DRIVER_MOST_SHARED;
    if (bytes) {
        const size_t *(*value_bytes)(void);
        memcpy(&made->run, &run, sizeof run);
        memcpy(&value_bytes, &bytes, sizeof bytes);
        made->value_bytes = value_bytes();
    }
    *function = made;
    return DRIVER_OK;
}

int driver_function_set(driver_function *function, int attribute, int value)
{
    if (!driver_object_of(function, DRIVER_FUNCTION, "a kernel"))
        return DRIVER_INVALID_HANDLE;
    if (attribute != MAX_DYNAMIC || value < 0 || value > DRIVER_MOST_DYNAMIC)
        return DRIVER_INVALID_VALUE;
    function->most_dynamic = (unsigned)value;
    return DRIVER_OK;
}

/* Of kernels of images of the tests' NVRTC; each offset is aligned as any type needs. */
int driver_function_parameter(driver_function *function, size_t index, size_t *offset,
                              size_t *bytes)
{
    if (!driver_object_of(function, DRIVER_FUNCTION, "a kernel"))
        return DRIVER_INVALID_HANDLE;
    *offset = 0;
    for (size_t i = 0; function->value_bytes && function->value_bytes[i]; i++) {
        if (i == index) {
            *bytes = function->value_bytes[i];
            return DRIVER_OK;
        }
        *offset += (function->value_bytes[i] + 15) / 16 * 16;
    }
    return DRIVER_INVALID_VALUE;
}

/* --- launches */

/* Pointers to the values, and the values, in one piece. */
static void *copy_values(const driver_function *function, void **values)
{
    size_t count = 0;
    while (function->value_bytes && function->value_bytes[count])
        count++;
    size_t bytes = (count + 1) * sizeof(void *);
    for (size_t i = 0; i < count; i++)
        bytes += (function->value_bytes[i] + 15) / 16 * 16 + 16;
    void **made = driver_new(bytes);
    char *next = (char *)(made + count + 1);
    for (size_t i = 0; i < count; i++) {
        made[i] = next += (16 - (uintptr_t)next % 16) % 16;
        memcpy(next, values[i], function->value_bytes[i]);
        next += function->value_bytes[i];
    }
    return made;
}

static int check_shape(const driver_function *function, const unsigned shape[7])
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!shape[i] || !shape[3 + i] || shape[3 + i] > MOST_THREADS)
            return DRIVER_INVALID_VALUE;
        threads *= shape[3 + i];
    }
    return threads > MOST_THREADS || shape[6] > function->most_dynamic ? DRIVER_INVALID_VALUE
                                                                       : DRIVER_OK;
}

static int check_function(const driver_function *function, const driver_context *context)
{
    if (!driver_object_of((void *)function, DRIVER_FUNCTION, "a kernel") ||
        function->module->context != context)
        return DRIVER_INVALID_HANDLE;
    if (!function->module->object.alive)
        driver_complain("kernel '%s' is of a module that was unloaded", function->name);
    return DRIVER_OK;
}

int driver_launch_queue(driver_function *function, const unsigned shape[7], void *handle,
                        void **values)
{
    driver_stream *stream;
    driver_context *context;
    int result = driver_context_check(&context);
    if (!result)
        result = driver_stream_of(&stream, handle);
    if (!result)
        result = check_function(function, context);
    if (!result)
        result = stream->context == context ? check_shape(function, shape) : DRIVER_INVALID_HANDLE;
    if (result)
        return result;
    driver_op op = {.kind = DRIVER_LAUNCH};
    op.launch.function = function;
    op.launch.values = copy_values(function, values);
    memcpy(op.launch.grid, shape, sizeof op.launch.grid);
    memcpy(op.launch.block, shape + 3, sizeof op.launch.block);
    op.launch.shared_bytes = shape[6];
    driver_queue(stream, &op);
    return DRIVER_OK;
}
