/* Finds a libcupti.so that works. Toolkits install it under many names and places, often several
 * versions side by side; only trying tells which one the driver accepts. */
#include "record/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

/* Newest first: CUPTI works with drivers of its version of CUDA and of later ones. */
static const char *const names[] = {
    "libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8", "libcupti.so.11.7",
    "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
    "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so.10.2",
    "libcupti.so.10.1", "libcupti.so.10.0", "libcupti.so",
};

/* The first is only for what is loaded already, the second for where the loader looks. */
static const char *const folders[] = {
    "",
    "",
    "/usr/local/cuda/lib64/",
    "/usr/local/cuda/extras/CUPTI/lib64/",
    "/opt/cuda/extras/CUPTI/lib64/",
};

enum { NAMES = sizeof names / sizeof *names, FOLDERS = sizeof folders / sizeof *folders };

/* The path of candidate number `number`, and how it is opened. Returns false when none is left. */
static bool candidate(size_t number, char *path, size_t size, int *flags)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is read, as every library does
    const char *given = getenv("CUPTI_PATH");
    *flags = RTLD_NOW | RTLD_LOCAL;
    const char *name = names[number % NAMES];
    if (given && *given) {
        struct stat status;
        const bool folder = !stat(given, &status) && S_ISDIR(status.st_mode);
        snprintf(path, size, "%s%s%s", given, folder ? "/" : "", folder ? name : "");
        return number < (folder ? NAMES : 1);
    }
    if (number >= (size_t)NAMES * FOLDERS)
        return false;
    if (number < NAMES)
        *flags |= RTLD_NOLOAD;
    snprintf(path, size, "%s%s", folders[number / NAMES], name);
    return true;
}

static const struct {
    const char *name;
    size_t offset; /* in hl_record_cupti_functions */
    bool needed;
} functions[] = {
#define HL_RECORD_CUPTI_ENTRY(name, parameters, needed)                                            \
    {"cupti" #name, offsetof(hl_record_cupti_functions, name), needed},
    HL_RECORD_CUPTI_FUNCTIONS(HL_RECORD_CUPTI_ENTRY)
#undef HL_RECORD_CUPTI_ENTRY
};

/* A library of the name may be anything: it must have every function that is needed and tell a
 * version. */
static haul_status check_functions(hl_record_cupti_library *self, haul_error *error)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(self->handle, functions[i].name);
        memcpy((char *)&self->functions + functions[i].offset, &found, sizeof found);
        if (!found && functions[i].needed)
            return haul_error_set(error, HAUL_STATUS_ABSENT, "'%s' has no %s", self->path,
                                  functions[i].name);
    }
    if (self->functions.GetVersion(&self->version) != HL_RECORD_CUPTI_SUCCESS)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "'%s' does not tell its version",
                              self->path);
    if (self->version < HL_RECORD_CUPTI_OLDEST)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "'%s' is CUPTI %u; CUDA 10's, %d, is the oldest known", self->path,
                              self->version, HL_RECORD_CUPTI_OLDEST);
    return HAUL_OK;
}

/* One that has nothing running. */
static void close_library(hl_record_cupti_library *self)
{
    if (self->handle)
        dlclose(self->handle);
    self->handle = NULL;
}

/* The error of the last that was there tells more than that none is left. */
haul_status hl_record_cupti_library_next(hl_record_cupti_library *self, haul_error *error)
{
    int flags;
    haul_status status = haul_error_set(error, HAUL_STATUS_ABSENT, "there is no libcupti.so");
    close_library(self);
    while (candidate(self->next, self->path, sizeof self->path, &flags)) {
        self->next++;
        self->handle = dlopen(self->path, flags);
        if (!self->handle)
            continue;
        status = check_functions(self, error);
        if (!status)
            return HAUL_OK;
        close_library(self);
    }
    return status;
}

/* Its threads may run in code that dlclose would take away. */
void hl_record_cupti_library_leave(hl_record_cupti_library *self)
{
    self->handle = NULL;
}
