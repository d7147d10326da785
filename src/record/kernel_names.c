/* Demangling with what the program itself has loaded: a recorder must not bring a C++ runtime into
 * a program of C. */
#include "record/kernel_names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"

/* Goes through the text once: a name ends where its parameters or its template's arguments begin,
 * and begins behind the last blank or colon outside of both. */
char *hl_record_kernel_base_name(const char *name, char *base, size_t size)
{
    static const char anonymous[] = "(anonymous namespace)";
    const size_t skipped = sizeof anonymous - 1;
    const char *begin = name, *end = name;
    size_t depth = 0; /* of templates' arguments */
    for (const char *at = name; *at; at++) {
        if (!strncmp(at, anonymous, skipped))
            at += skipped;
        if (!*at || (*at == '(' && !depth))
            break;
        if (*at == '>' && depth)
            depth--;
        else if (*at == '<')
            depth++;
        else if (!depth && (*at == ' ' || *at == ':'))
            begin = end = at + 1;
        else if (!depth)
            end = at + 1;
    }
    snprintf(base, size, "%.*s", (int)(end - begin), begin);
    return base;
}

/* Names that no demangler reads stay as they are. */
static hl_record_kernel_name make_name(hl_record_kernel_names *self,
                                       hl_record_profile_writer *writer, const char *mangled)
{
    char base[512];
    int status = 0;
    if (!self->looked) {
        /* The Itanium C++ ABI's demangler, where the program has one; a plug-in's own runtime is
         * not in sight of RTLD_DEFAULT. It stays loaded as long as the program keeps it. */
        static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1"};
        void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
        for (size_t i = 0; !found && i < sizeof runtimes / sizeof *runtimes; i++) {
            void *runtime = dlopen(runtimes[i], RTLD_NOW | RTLD_NOLOAD);
            found = runtime ? dlsym(runtime, "__cxa_demangle") : NULL;
        }
        memcpy(&self->demangle, &found, sizeof found);
        self->looked = true;
    }
    char *readable = self->demangle && !strncmp(mangled, "_Z", 2)
                         ? self->demangle(mangled, NULL, NULL, &status)
                         : NULL;
    const char *whole = readable ? readable : mangled;
    const hl_record_kernel_name name = {
        .whole = hl_record_profile_name(writer, whole),
        .base =
            hl_record_profile_name(writer, hl_record_kernel_base_name(whole, base, sizeof base)),
    };
    free(readable);
    return name;
}

/* A slot holds the name met last: programs launch few kernels, many times. */
hl_record_kernel_name hl_record_kernel_names_find(hl_record_kernel_names *self,
                                                  hl_record_profile_writer *writer,
                                                  const char *mangled)
{
    if (!mangled)
        mangled = "(no name)";
    const size_t slot = hl_base_hash(mangled, strlen(mangled)) % HL_RECORD_KERNEL_NAMES;
    if (self->slots[slot].mangled && !strcmp(self->slots[slot].mangled, mangled))
        return self->slots[slot].name;
    const hl_record_kernel_name name = make_name(self, writer, mangled);
    free(self->slots[slot].mangled);
    self->slots[slot].mangled = strdup(mangled);
    self->slots[slot].name = name;
    return name;
}

/* The demangler is looked for again by the next recording. */
void hl_record_kernel_names_release(hl_record_kernel_names *self)
{
    for (size_t i = 0; i < HL_RECORD_KERNEL_NAMES; i++)
        free(self->slots[i].mangled);
    *self = (hl_record_kernel_names){.looked = false};
}
