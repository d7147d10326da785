/* Device memory of `sim`: where its data lies, what address others are given for it, and its
 * sharing between processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fcntl.h>

#include "base/fail.h"
#include "device/sim_device.h"

enum { ALIGNMENT = 4096 };

static void *map(int file, uint64_t bytes, int protection)
{
    void *at = mmap(NULL, bytes, protection,
                    file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* The address that is given out is one of no memory, unless the host may see it: a library that
 * takes device memory for the host's is caught at once. */
haul_status hl_device_sim_memory_new(const haul_device_options *options, uint64_t bytes,
                                     hl_device_sim_buffer *to, haul_error *error)
{
    to->file = -1;
    if (options->is_shareable) {
        /* A file without a name in memory, which other processes find as long as it is open. */
        char name[] = "/dev/shm/haul-sim-XXXXXX";
        const int made = mkstemp(name);
        if (made < 0)
            return hl_base_fail_open(error, name);
        (void)unlink(name);
        if (posix_fallocate(made, 0, (off_t)bytes)) {
            (void)close(made);
            return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                                  "no %llu bytes of shared memory in /dev/shm",
                                  (unsigned long long)bytes);
        }
        to->file = made;
        to->data = map(to->file, bytes, PROT_READ | PROT_WRITE);
        to->mapped_bytes = bytes;
    } else {
        void *data;
        to->data = posix_memalign(&data, ALIGNMENT, bytes) ? NULL : data;
    }
    if (to->data && !options->is_host_visible)
        to->trap = map(-1, bytes, PROT_NONE);
    if (to->data && (to->trap || options->is_host_visible))
        return HAUL_OK;
    hl_device_sim_memory_free(to, bytes);
    return hl_base_fail_no_memory(error);
}

void hl_device_sim_memory_free(hl_device_sim_buffer *of, uint64_t bytes)
{
    if (of->mapped_bytes && of->data)
        (void)munmap(of->data, of->mapped_bytes);
    else
        free(of->data);
    if (of->trap)
        (void)munmap(of->trap, bytes);
    if (of->mapped_bytes && of->file >= 0)
        (void)close(of->file);
    of->data = NULL;
}

haul_status hl_device_sim_memory_export(haul_buffer *buffer, haul_buffer_handle *handle,
                                        haul_error *error)
{
    const hl_device_sim_buffer *self = (const hl_device_sim_buffer *)buffer;
    if (!self->mapped_bytes || self->file < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE, "memory that is not this process's own");
    *handle = (haul_buffer_handle){.bytes = buffer->bytes};
    (void)snprintf((char *)handle->name, sizeof handle->name, "/proc/%ld/fd/%d", (long)getpid(),
                   self->file);
    return HAUL_OK;
}

haul_status hl_device_sim_memory_import(const haul_buffer_handle *handle, hl_device_sim_buffer *to,
                                        haul_error *error)
{
    char name[sizeof handle->name + 1];
    (void)snprintf(name, sizeof name, "%.*s", (int)sizeof handle->name, (const char *)handle->name);
    const int file = strncmp(name, "/proc/", 6) != 0 ? -1 : open(name, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "memory of another process is not there: '%s'", name);
    to->file = -1;
    to->mapped_bytes = handle->bytes;
    const bool is_long = lseek(file, 0, SEEK_END) >= (off_t)handle->bytes;
    to->data = is_long ? map(file, handle->bytes, PROT_READ | PROT_WRITE) : NULL;
    (void)close(file);
    return to->data ? HAUL_OK : hl_base_fail_no_memory(error);
}
