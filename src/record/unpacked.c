/* The portable program carries the recorders as bytes, but a loader wants files. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "record/unpacked.h"

haul_status hl_record_unpack_recorder(char *folder, const haul_recorder_image *image,
                                      const char *name, char *path, size_t size, haul_error *error)
{
    const char *parent = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): the environment is read
    if (!parent || !*parent)
        parent = "/tmp";
    if (!folder[0]) {
        const int needed = snprintf(folder, size, "%s/haul-recorders-XXXXXX", parent);
        if (needed < 0 || (size_t)needed >= size || !mkdtemp(folder)) {
            folder[0] = '\0';
            return hl_base_fail_open(error, parent);
        }
    }
    const int full = snprintf(path, size, "%s/%s", folder, name);
    FILE *file = full >= 0 && (size_t)full < size ? fopen(path, "wbxe") : NULL;
    if (!file)
        return hl_base_fail_open(error, path);
    /* closing it may fail too: only then the disk's fullness is known */
    const bool written = fwrite(image->bytes, 1, image->size, file) == image->size;
    if (fclose(file) || !written)
        return haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.500s': no space left?", path);
    return HAUL_OK;
}

/* The program may still run: what it has mapped stays. */
void hl_record_remove_unpacked(const char *folder)
{
    DIR *list = folder[0] ? opendir(folder) : NULL;
    if (!list)
        return;
    for (const struct dirent *entry; (entry = readdir(list));) // NOLINT(concurrency-mt-unsafe)
        unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
    rmdir(folder);
}
