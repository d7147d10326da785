#include "device/kernel_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, BYTES_MOST = 256 << 20 };

static const char magic[8] = "haulkrn1";

/* HAUL_CACHE set to nothing turns the cache off. */
static bool choose_folder(const char *given, char *path)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"HAUL_CACHE", ""}, {"XDG_CACHE_HOME", "/haul"}, {"HOME", "/.cache/haul"}};
    int length = -1;
    if (given) {
        length = snprintf(path, PATH_BYTES, "%s", given);
        return length > 0 && length < PATH_BYTES;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0] && length < 0; i++) {
        const char *value = getenv(places[i].variable); // NOLINT(concurrency-mt-unsafe): read only
        if (value && (*value || !i))
            length = snprintf(path, PATH_BYTES, "%s%s", value, *value ? places[i].below : "");
    }
    return length > 0 && length < PATH_BYTES;
}

/* The hash names the file alone: the key in the file is compared too. */
static bool name_file(const char *folder, const char *key, char *path)
{
    char place[PATH_BYTES];
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a: it only names the file */
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 0x100000001b3;
    return choose_folder(folder, place) &&
           snprintf(path, PATH_BYTES, "%s/%016" PRIx64 ".kernel", place, hash) < PATH_BYTES;
}

static bool read_exactly(FILE *file, void *to, size_t size)
{
    return fread(to, 1, size, file) == size;
}

/* The file's parts: magic, length of the key, length of the bytes, key, bytes. */
static void *read_bytes(FILE *file, const char *key, size_t *size)
{
    char start[sizeof magic];
    uint64_t lengths[2];
    const size_t key_length = strlen(key);
    if (!read_exactly(file, start, sizeof start) || memcmp(start, magic, sizeof magic) != 0 ||
        !read_exactly(file, lengths, sizeof lengths) || lengths[0] != key_length || !lengths[1] ||
        lengths[1] > BYTES_MOST)
        return NULL;
    char *all = malloc(key_length + lengths[1]);
    if (!all || !read_exactly(file, all, key_length + lengths[1]) ||
        memcmp(all, key, key_length) != 0) {
        free(all);
        return NULL;
    }
    memmove(all, all + key_length, lengths[1]);
    *size = lengths[1];
    return all;
}

void *hl_device_kernel_cache_read(const char *folder, const char *key, size_t *size)
{
    char path[PATH_BYTES];
    FILE *file = name_file(folder, key, path) ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    void *bytes = read_bytes(file, key, size);
    fclose(file);
    return bytes;
}

/* Writes beside and renames, so that a process that reads at the same time sees a whole file or
 * none. All failures are silent: the cache only saves time. */
void hl_device_kernel_cache_write(const char *folder, const char *key, const void *bytes,
                                  size_t size)
{
    char path[PATH_BYTES], part[PATH_BYTES + 16];
    if (size > BYTES_MOST || !name_file(folder, key, path))
        return;
    /* Folders that are there already fail harmlessly. */
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    snprintf(part, sizeof part, "%s.XXXXXX", path);
    const int descriptor = mkstemp(part);
    if (descriptor < 0)
        return;
    FILE *file = fdopen(descriptor, "wb");
    const uint64_t lengths[2] = {strlen(key), size};
    bool is_whole = file && fwrite(magic, 1, sizeof magic, file) == sizeof magic &&
                    fwrite(lengths, 1, sizeof lengths, file) == sizeof lengths &&
                    fwrite(key, 1, lengths[0], file) == lengths[0] &&
                    fwrite(bytes, 1, size, file) == size;
    if (file ? fclose(file) : close(descriptor))
        is_whole = false;
    if (!is_whole || rename(part, path))
        unlink(part);
}
