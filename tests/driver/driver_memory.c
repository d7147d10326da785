/* Memory. A device's is a file in memory: operations read and write the file, and a kernel finds it
 * at the device's addresses, which are closed to the host. Blocks are poisoned when they are made,
 * end at a closed page, and their addresses are never used again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

enum { PAGE = 4096, ALIGNED = 256, POISON = 0xff, CHUNK = 1 << 16 };

#define ARENA (UINT64_C(64) << 30) /* addresses of a device, of which most stay unused */

static struct {
    char *base;
    int file;
    uint64_t used, allocated; /* bytes of addresses, of memory */
    uint64_t allocations;
} arenas[DRIVER_MOST_DEVICES];

static driver_block *blocks; /* that are not freed */

static uint64_t up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static void *at_address(driver_address at)
{
    return (void *)(uintptr_t)at; // NOLINT(performance-no-int-to-ptr): it is an address
}

static driver_block *add(driver_address at, uint64_t bytes, driver_memory memory)
{
    driver_block *block = driver_new(sizeof *block);
    *block = (driver_block){.at = at, .bytes = bytes, .memory = memory, .next = blocks};
    return blocks = block;
}

/* --- finding */

static driver_block *find(driver_address at)
{
    driver_block *block = blocks;
    while (block && at - block->at >= block->bytes)
        block = block->next;
    return block;
}

bool driver_is_device_address(const void *at)
{
    for (int i = 0; i < DRIVER_MOST_DEVICES; i++)
        if (arenas[i].base && (uintptr_t)at - (uintptr_t)arenas[i].base < ARENA)
            return true;
    return false;
}

const driver_block *driver_block_at(driver_address at)
{
    const driver_block *block = find(at);
    if (!block && driver_is_device_address(at_address(at)))
        driver_complain("device address %#llx is not of an allocation, or was freed",
                        (unsigned long long)at);
    return block;
}

driver_memory driver_memory_at(driver_address at)
{
    const driver_block *block = driver_block_at(at);
    return block ? block->memory : DRIVER_PAGEABLE;
}

bool driver_holds(driver_address at, uint64_t bytes)
{
    const driver_block *block = driver_block_at(at);
    return !block || bytes <= block->bytes - (at - block->at);
}

static uint64_t memory_left(int device)
{
    return driver.options.memory_bytes - arenas[device].allocated;
}

int driver_room(size_t *left, size_t *whole)
{
    driver_context *context;
    const int result = driver_context_check(&context);
    if (result)
        return result;
    *left = memory_left(context->device);
    *whole = driver.options.memory_bytes;
    return DRIVER_OK;
}

/* --- a device's memory */

static bool open_arena(int device)
{
    if (arenas[device].base)
        return true;
    const int file = memfd_create("device memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)ARENA))
        return false;
    char *base = mmap(NULL, ARENA, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (base == MAP_FAILED)
        return false;
    arenas[device].base = base;
    arenas[device].file = file;
    return true;
}

static bool write_all(int file, const void *from, uint64_t bytes, uint64_t offset)
{
    const char *next = from;
    while (bytes) {
        const ssize_t written = pwrite(file, next, bytes, (off_t)offset);
        if (written <= 0 && errno != EINTR)
            return false;
        const uint64_t done = written > 0 ? (uint64_t)written : 0;
        next += done;
        bytes -= done;
        offset += done;
    }
    return true;
}

static bool read_all(int file, void *into, uint64_t bytes, uint64_t offset)
{
    char *next = into;
    while (bytes) {
        const ssize_t got = pread(file, next, bytes, (off_t)offset);
        if (got <= 0 && errno != EINTR)
            return false;
        const uint64_t done = got > 0 ? (uint64_t)got : 0;
        next += done;
        bytes -= done;
        offset += done;
    }
    return true;
}

static void poison(int file, uint64_t offset, uint64_t bytes)
{
    unsigned char chunk[CHUNK];
    memset(chunk, POISON, sizeof chunk);
    for (uint64_t i = 0; i < bytes; i += CHUNK)
        write_all(file, chunk, bytes - i < CHUNK ? bytes - i : CHUNK, offset + i);
}

/* Addresses of so many bytes, before a page that stays closed. */
static bool reserve(int device, uint64_t bytes, uint64_t *offset)
{
    if (!open_arena(device) || bytes > ARENA - arenas[device].used - PAGE)
        return false;
    *offset = arenas[device].used;
    arenas[device].used += up(bytes, PAGE) + PAGE;
    return true;
}

int driver_alloc(driver_address *at, uint64_t bytes)
{
    uint64_t offset;
    driver_context *context;
    const int result = driver_context_check(&context);
    if (result || !bytes)
        return result ? result : DRIVER_INVALID_VALUE;
    const int device = context->device;
    const uint64_t most = driver.options.allocations;
    if (bytes > memory_left(device) || (most && arenas[device].allocations >= most) ||
        !reserve(device, bytes, &offset))
        return DRIVER_OUT_OF_MEMORY;
    arenas[device].allocations++;
    offset += up(bytes, PAGE) - up(bytes, ALIGNED);
    poison(arenas[device].file, offset, up(bytes, ALIGNED));
    driver_block *block = add((uintptr_t)arenas[device].base + offset, bytes, DRIVER_DEVICE);
    block->device = device;
    block->file = arenas[device].file;
    block->offset = offset;
    arenas[device].allocated += bytes;
    *at = block->at;
    return DRIVER_OK;
}

/* Finds writes of a kernel behind the block's end, before its closed page. */
static void check_end(const driver_block *block)
{
    unsigned char end[ALIGNED];
    const uint64_t behind = up(block->bytes, ALIGNED) - block->bytes;
    if (!read_all(block->file, end, behind, block->offset + block->bytes))
        return;
    for (uint64_t i = 0; i < behind; i++)
        if (end[i] != POISON)
            driver_complain("a kernel wrote %llu bytes behind an allocation of %llu bytes",
                            (unsigned long long)i + 1, (unsigned long long)block->bytes);
}

static void forget(driver_block *block)
{
    driver_block **at = &blocks;
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
    free(block);
}

/* The block that begins at an address and is of such a kind, and that no operation uses. */
static driver_block *whole_block(driver_address at, driver_memory memory, bool registered)
{
    driver_block *block = find(at);
    if (!block || block->at != at || block->memory != memory || block->registered != registered)
        return NULL;
    driver_streams_unused(block);
    return block;
}

int driver_free(driver_address at)
{
    if (!at)
        return DRIVER_OK;
    driver_block *managed = whole_block(at, DRIVER_MANAGED, false);
    if (managed)
        return driver_free_pages(managed);
    driver_block *block = whole_block(at, DRIVER_DEVICE, false);
    if (!block && driver_is_device_address(at_address(at)))
        driver_complain("device address %#llx is freed twice, or not as it was allocated",
                        (unsigned long long)at);
    if (!block || block->imported)
        return DRIVER_INVALID_VALUE;
    check_end(block);
    arenas[block->device].allocated -= block->bytes;
    fallocate(block->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)block->offset,
              (off_t)up(block->bytes, ALIGNED));
    forget(block);
    return DRIVER_OK;
}

static bool is_within_reach(const driver_block *block, const driver_context *context)
{
    return block->memory == DRIVER_DEVICE &&
           (block->device == context->device || context->peers >> block->device & 1);
}

void driver_expose(const driver_context *context, bool open)
{
    for (const driver_block *block = blocks; block; block = block->next) {
        const driver_address begin = block->at / PAGE * PAGE;
        if (!is_within_reach(block, context))
            continue;
        mprotect(at_address(begin), up(block->at + block->bytes, PAGE) - begin,
                 open ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
}

/* --- the host's memory */

static void *map_pages(uint64_t bytes)
{
    const uint64_t whole = up(bytes, PAGE);
    if (!bytes || whole + PAGE < bytes)
        return NULL;
    char *at = mmap(NULL, whole + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (mprotect(at, whole, PROT_READ | PROT_WRITE)) {
        munmap(at, whole + PAGE);
        return NULL;
    }
    memset(at, POISON, whole);
    return at;
}

/* The addresses stay taken, so that who uses them again is seen. */
int driver_free_pages(driver_block *block)
{
    mmap(at_address(block->at), up(block->bytes, PAGE), PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    forget(block);
    return DRIVER_OK;
}

static int alloc_pages(void **host, uint64_t bytes, driver_memory memory, bool write_combined)
{
    driver_context *context;
    const int result = driver_context_check(&context);
    if (result)
        return result;
    void *at = map_pages(bytes);
    if (!at)
        return bytes ? DRIVER_OUT_OF_MEMORY : DRIVER_INVALID_VALUE;
    driver_block *block = add((uintptr_t)at, bytes, memory);
    block->device = context->device;
    block->write_combined = write_combined;
    *host = at;
    return DRIVER_OK;
}

int driver_alloc_host(void **host, uint64_t bytes, bool write_combined)
{
    return alloc_pages(host, bytes, DRIVER_PINNED, write_combined);
}

int driver_alloc_managed(driver_address *at, uint64_t bytes)
{
    void *host;
    const int result = alloc_pages(&host, bytes, DRIVER_MANAGED, false);
    if (!result)
        *at = (uintptr_t)host;
    return result;
}

int driver_free_host(void *host)
{
    driver_block *block = whole_block((uintptr_t)host, DRIVER_PINNED, false);
    return block ? driver_free_pages(block) : DRIVER_INVALID_VALUE;
}

int driver_register(void *host, uint64_t bytes)
{
    driver_context *context;
    const int result = driver_context_check(&context);
    if (result || !bytes)
        return result ? result : DRIVER_INVALID_VALUE;
    for (const driver_block *block = blocks; block; block = block->next)
        if ((uintptr_t)host < block->at + block->bytes && block->at < (uintptr_t)host + bytes)
            return DRIVER_ALREADY_REGISTERED;
    driver_block *block = add((uintptr_t)host, bytes, DRIVER_PINNED);
    block->registered = true;
    block->device = context->device;
    return DRIVER_OK;
}

int driver_unregister(void *host)
{
    driver_block *block = whole_block((uintptr_t)host, DRIVER_PINNED, true);
    if (!block)
        return DRIVER_NOT_REGISTERED;
    forget(block);
    return DRIVER_OK;
}

/* --- other processes */

typedef struct shared_name {
    long process;
    int file;
    uint64_t offset, bytes;
} shared_name;

int driver_export(unsigned char name[64], driver_address at)
{
    const driver_block *block = driver_block_at(at);
    if (!block || block->memory != DRIVER_DEVICE || block->imported)
        return DRIVER_INVALID_VALUE;
    const shared_name shared = {driver.process, block->file, block->offset, block->bytes};
    memset(name, 0, 64);
    memcpy(name, &shared, sizeof shared);
    return DRIVER_OK;
}

int driver_import(driver_address *at, const unsigned char name[64])
{
    shared_name shared;
    char path[64];
    uint64_t to;
    driver_context *context;
    const int result = driver_context_check(&context);
    memcpy(&shared, name, sizeof shared);
    if (result || shared.process == driver.process) /* CUDA refuses what is one's own */
        return result ? result : DRIVER_INVALID_CONTEXT;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", shared.process, shared.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || !reserve(context->device, shared.bytes + PAGE, &to))
        return DRIVER_INVALID_VALUE;
    const uint64_t begin = shared.offset / PAGE * PAGE, skipped = shared.offset - begin;
    char *base = arenas[context->device].base + to;
    if (mmap(base, up(skipped + shared.bytes, PAGE), PROT_NONE, MAP_SHARED | MAP_FIXED, file,
             (off_t)begin) == MAP_FAILED)
        return DRIVER_OUT_OF_MEMORY;
    driver_block *block = add((uintptr_t)base + skipped, shared.bytes, DRIVER_DEVICE);
    block->device = context->device;
    block->imported = true;
    block->file = file;
    block->offset = shared.offset;
    *at = block->at;
    return DRIVER_OK;
}

int driver_import_close(driver_address at)
{
    driver_block *block = whole_block(at, DRIVER_DEVICE, false);
    if (!block || !block->imported)
        return DRIVER_INVALID_VALUE;
    close(block->file);
    forget(block);
    return DRIVER_OK;
}

/* --- moving bytes */

/* The file and place of a device's memory; false for the host's. */
static bool place_of(driver_address at, int *file, uint64_t *offset)
{
    pthread_mutex_lock(&driver.lock);
    const driver_block *block = driver_block_at(at);
    const bool found = block && block->memory == DRIVER_DEVICE;
    if (found) {
        *file = block->file;
        *offset = block->offset + (at - block->at);
    }
    pthread_mutex_unlock(&driver.lock);
    return found;
}

bool driver_read(void *into, driver_address from, uint64_t bytes)
{
    int file;
    uint64_t offset;
    if (place_of(from, &file, &offset))
        return read_all(file, into, bytes, offset);
    memcpy(into, at_address(from), bytes);
    return true;
}

bool driver_write(driver_address to, const void *from, uint64_t bytes)
{
    int file;
    uint64_t offset;
    if (place_of(to, &file, &offset))
        return write_all(file, from, bytes, offset);
    memcpy(at_address(to), from, bytes);
    return true;
}

int driver_pointer_tell(void *value, int attribute, driver_address at)
{
    enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE = 9, FIRST = 11, BYTES = 12 };
    enum { HOST = 1, ON_DEVICE = 2 };
    const driver_block *block = driver_block_at(at);
    if (!block)
        return DRIVER_INVALID_VALUE;
    unsigned answer;
    if (attribute == FIRST || attribute == BYTES) {
        const uint64_t wide = attribute == FIRST ? block->at : block->bytes;
        memcpy(value, &wide, sizeof wide);
        return DRIVER_OK;
    }
    switch (attribute) {
    case MEMORY_TYPE:
        answer = block->memory == DRIVER_PINNED ? HOST : ON_DEVICE;
        break;
    case IS_MANAGED:
        answer = block->memory == DRIVER_MANAGED;
        break;
    case DEVICE:
        answer = (unsigned)block->device;
        break;
    default:
        return DRIVER_INVALID_VALUE;
    }
    memcpy(value, &answer, attribute == IS_MANAGED ? sizeof(bool) : sizeof answer);
    return DRIVER_OK;
}
