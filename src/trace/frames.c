/* The names of files and functions tell whose a frame is: profiles have nothing else. */
#include "trace/frames.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void hl_trace_stack_add(hl_trace_stack *self, const char *text, size_t length)
{
    const size_t joint = self->length ? strlen(HL_TRACE_STACK_JOINT) : 0;
    self->is_full |= self->frames >= HL_TRACE_STACK_FRAMES;
    if (!self->length && length >= sizeof self->text)
        length = sizeof self->text - 1;
    self->is_full |= self->length + joint + length >= sizeof self->text;
    if (self->is_full || !length)
        return;
    memcpy(self->text + self->length, HL_TRACE_STACK_JOINT, joint);
    memcpy(self->text + self->length + joint, text, length);
    self->length += joint + length;
    self->text[self->length] = '\0';
    if (!self->frames++)
        self->line_length = self->length;
}

static bool begins(const char *text, size_t length, const char *start)
{
    const size_t wanted = strlen(start);
    return length >= wanted && !memcmp(text, start, wanted);
}

/* --- Python */

/* Modules and packages of Python's library that call what they are given: a frame of them is never
 * the cause. The others call for nothing on a GPU. */
static const char *const python_library[] = {
    "_pytest/",      "abc.py",          "ast.py",
    "asyncio/",      "bdb.py",          "cProfile.py",
    "codeop.py",     "collections/",    "concurrent/",
    "contextlib.py", "contextvars.py",  "copy.py",
    "copyreg.py",    "ctypes/",         "dataclasses.py",
    "enum.py",       "functools.py",    "heapq.py",
    "http/",         "importlib/",      "inspect.py",
    "json/",         "logging/",        "multiprocessing/",
    "numbers.py",    "operator.py",     "pathlib.py",
    "pdb.py",        "pickle.py",       "pprint.py",
    "re.py",         "reprlib.py",      "runpy.py",
    "selectors.py",  "socketserver.py", "subprocess.py",
    "threading.py",  "timeit.py",       "traceback.py",
    "typing.py",     "unittest/",       "warnings.py",
    "weakref.py",    "_weakrefset.py",  "_collections_abc.py",
};

/* The part of a path behind the folder that Python's packages are installed in, or NULL. */
static const char *behind_packages(const char *file, size_t length)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    const char *found = NULL;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (size_t i = 0; i < length; i++)
            if (begins(file + i, length - i, folders[f]))
                found = file + i + strlen(folders[f]);
    return found;
}

static bool is_in_library(const char *file, size_t length)
{
    for (size_t i = 0; i < length; i++) /* /usr/lib/python3.10/threading.py */
        if (begins(file + i, length - i, "/lib/python"))
            return true;
    for (size_t i = 0; i < sizeof python_library / sizeof *python_library; i++) {
        const size_t named = strlen(python_library[i]);
        const bool is_folder = python_library[i][named - 1] == '/';
        if (begins(file, length, python_library[i]) && (is_folder || length == named))
            return true;
    }
    return false;
}

/* PyTorch leaves out of a path the folder of Python's search path that it is in: packages and the
 * library have relative paths, and so have the files beside the program's first. */
static bool is_own_file(const char *file, size_t length)
{
    const char *const package = behind_packages(file, length);
    if (!length)
        return false;
    if (*file == '<') /* "<frozen runpy>", "<string>"; cells of notebooks are the program's */
        return begins(file, length, "<ipython-input") || begins(file, length, "<stdin>");
    if (package)
        return !begins(package, length - (size_t)(package - file), "torch/");
    return !begins(file, length, "torch/") && !is_in_library(file, length);
}

/* Where "(42): " stands in "train.py(42): step"; `length` where nothing like it does. */
static size_t find_number(const char *frame, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        size_t end = i + 1;
        while (end < length && isdigit((unsigned char)frame[end]))
            end++;
        if (frame[i] == '(' && end > i + 1 && begins(frame + end, length - end, "): "))
            return i;
    }
    return length;
}

bool hl_trace_stack_add_python(hl_trace_stack *self, const char *frame, size_t length)
{
    enum { LONGEST = 600, LONGEST_READ = 4096 };
    char text[LONGEST];
    const size_t open = length <= LONGEST_READ ? find_number(frame, length) : length;
    if (open == length)
        return false;
    size_t close = open;
    while (frame[close] != ')')
        close++;
    const int function = (int)(length - close - strlen("): "));
    if (!is_own_file(frame, open))
        return true;
    const int made =
        snprintf(text, sizeof text, "%.*s:%.*s in %.*s", (int)open, frame, (int)(close - open - 1),
                 frame + open + 1, function, frame + close + strlen("): "));
    if (made > 0)
        hl_trace_stack_add(self, text, (size_t)made < sizeof text ? (size_t)made : sizeof text - 1);
    return true;
}

/* "<built-in method mm of type object>", "nn.Module: Linear_0"; not "<stdin>:1 in step" */
static bool is_without_file(const char *frame, size_t length)
{
    bool has_function = false;
    for (size_t i = 0; i < length && !has_function; i++)
        has_function = begins(frame + i, length - i, " in ");
    return (*frame == '<' && !has_function) || begins(frame, length, "nn.Module: ");
}

void hl_trace_stack_add_list(hl_trace_stack *self, const char *list, size_t length)
{
    while (length) {
        const char *const end = memchr(list, ';', length);
        size_t part = end ? (size_t)(end - list) : length;
        const size_t whole = part + (end != NULL);
        const char *frame = list;
        for (; part && *frame == ' '; part--)
            frame++;
        if (part && !hl_trace_stack_add_python(self, frame, part) && !is_without_file(frame, part))
            hl_trace_stack_add(self, frame, part);
        list += whole;
        length -= whole;
    }
}

/* --- machine code */

/* Beginnings of the names of files that serve every program. */
static const char *const shared_files[] = {
    "[",
    "ld-",
    "ld.so",
    "libc-",
    "libc.so",
    "libc10",
    "libcaffe2",
    "libcublas",
    "libcuda",
    "libcudnn",
    "libcufft",
    "libcupti",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libdl",
    "libgcc_s",
    "libgomp",
    "libhaul",
    "libhip",
    "libhsa-",
    "libamdhip64",
    "libm-",
    "libm.so",
    "libnccl",
    "libnvToolsExt",
    "libnvidia-",
    "libnvrtc",
    "libOpenCL",
    "libpocl",
    "libpthread",
    "libpython",
    "librccl",
    "librocblas",
    "librocm",
    "librocprof",
    "libroctracer",
    "librt",
    "libstdc++",
    "libtorch",
    "libToolsInjection",
    "python",
};

/* Beginnings of functions that a program has of its compiler and of CUDA, linked into it. */
static const char *const shared_functions[] = {
    "0x",     "_start",    "start_thread",    "clone",         "__clone",
    "__libc", "__cudart",  "__device_stub__", "__cuda",        "__hip",
    "_IO_",   "__pthread", "pthread_",        "std::thread::", "std::invoke",
};

/* "cudaMemcpy", "cuMemcpyHtoD_v2", "hipLaunchKernel" */
static bool is_api_call(const char *function)
{
    static const char *const starts[] = {"cuda", "cu", "hip", "nccl", "cublas", "cudnn"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(function, strlen(function), starts[i]) &&
            isupper((unsigned char)function[strlen(starts[i])]))
            return true;
    return false;
}

static bool begins_with_one(const char *text, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins(text, strlen(text), starts[i]))
            return true;
    return false;
}

static bool is_own_function(const char *function, const char *path, const char *file)
{
    return *function && !is_api_call(function) && !strstr(path, "/torch/") &&
           !begins_with_one(file, shared_files, sizeof shared_files / sizeof *shared_files) &&
           !begins_with_one(function, shared_functions,
                            sizeof shared_functions / sizeof *shared_functions);
}

void hl_trace_stack_add_function(hl_trace_stack *self, const char *function, const char *module)
{
    enum { LONGEST = 600 };
    char text[LONGEST];
    if (!*module) { /* 'haul convert' writes a frame's whole text as its function */
        if (!begins(function, strlen(function), "0x"))
            hl_trace_stack_add(self, function, strlen(function));
        return;
    }
    const char *const slash = strrchr(module, '/');
    const char *const file = slash ? slash + 1 : module;
    const size_t length = strlen(module);
    const bool is_python = length > 3 && !strcmp(module + length - 3, ".py");
    if (is_python ? !is_own_file(module, length) : !is_own_function(function, module, file))
        return;
    const int made = is_python ? snprintf(text, sizeof text, "%s in %s", module, function)
                               : snprintf(text, sizeof text, "%s (%s)", function, file);
    if (made > 0)
        hl_trace_stack_add(self, text, (size_t)made < sizeof text ? (size_t)made : sizeof text - 1);
}
