#include "base/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEAD_BYTES = 1024, ALIGNMENT = 64, ALWAYS_ZIP64 = 45 };

/* Numbers of an archive are little-endian on every machine. */
static void put_number(hl_base_npz *self, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(value >> (8 * i) & 0xFF), self->out);
    self->written += (uint64_t)bytes;
}

static void put_bytes(hl_base_npz *self, const void *bytes, size_t count)
{
    fwrite(bytes, 1, count, self->out);
    self->written += count;
}

static const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

/* The type as NumPy writes it: '<u8', or [('start', '<i8'), ('grid', '<u4', (3,))]. Returns the
 * length. */
static size_t describe_type(char *out, size_t size, const char *type)
{
    size_t length = 0;
    const bool has_fields = strchr(type, ':') != NULL;
    if (!has_fields)
        return (size_t)snprintf(out, size, "'%c%s'", order, type);
    for (const char *at = type; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        const int name = (int)strcspn(at, ":");
        char *letter;
        const unsigned long times = strtoul(at + name + 1, &letter, 10);
        length += (size_t)snprintf(out + length, size - length, "%s('%.*s', '%c%.2s'",
                                   at == type ? "[" : ", ", name, at, order, letter);
        length += times ? (size_t)snprintf(out + length, size - length, ", (%lu,))", times)
                        : (size_t)snprintf(out + length, size - length, ")");
    }
    return length + (size_t)snprintf(out + length, size - length, "]");
}

/* The magic, the header's length and the header, padded so that the data are aligned. */
static size_t make_head(char head[HEAD_BYTES], const char *type, size_t count)
{
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    enum { BEFORE = 10 };
    char *const text = head + BEFORE;
    const size_t size = HEAD_BYTES - BEFORE - ALIGNMENT;
    memcpy(head, magic, sizeof magic);
    size_t length = (size_t)snprintf(text, size, "{'descr': ");
    length += describe_type(text + length, size - length, type);
    length += (size_t)snprintf(text + length, size - length,
                               ", 'fortran_order': False, 'shape': (%zu,), }", count);
    const size_t padded = (BEFORE + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(text + length, ' ', padded - BEFORE - length);
    head[padded - 1] = '\n';
    head[8] = (char)((padded - BEFORE) & 0xFF);
    head[9] = (char)((padded - BEFORE) >> 8);
    return padded;
}

static void put_name(hl_base_npz *self, const char *name)
{
    put_bytes(self, name, strlen(name));
    put_bytes(self, ".npy", 4);
}

/* The part that the local and the central header share: from the version to the sizes, which are in
 * an extra field of 64-bit numbers. */
static void put_common(hl_base_npz *self, unsigned member)
{
    enum { FIRST_OF_1980 = 33 };
    put_number(self, ALWAYS_ZIP64, 2);
    put_number(self, 0, 2); /* flags */
    put_number(self, 0, 2); /* stored */
    put_number(self, 0, 2);
    put_number(self, FIRST_OF_1980, 2);
    put_number(self, self->members[member].crc, 4);
    put_number(self, UINT32_MAX, 4);
    put_number(self, UINT32_MAX, 4);
    put_number(self, strlen(self->members[member].name) + 4, 2);
}

void hl_base_npz_put(hl_base_npz *self, const char *name, const char *type, const void *data,
                     size_t size, size_t count)
{
    char head[HEAD_BYTES];
    const size_t head_bytes = make_head(head, type, count), bytes = size * count;
    uLong crc = crc32_z(0, (const Bytef *)head, head_bytes);
    if (bytes)
        crc = crc32_z(crc, data, bytes);
    const unsigned member = self->count++;
    self->members[member].name = name;
    self->members[member].at = self->written;
    self->members[member].bytes = head_bytes + bytes;
    self->members[member].crc = (uint32_t)crc;
    put_number(self, 0x04034b50, 4);
    put_common(self, member);
    put_number(self, 20, 2); /* the extra field: both sizes */
    put_name(self, name);
    put_number(self, 1, 2);
    put_number(self, 16, 2);
    put_number(self, head_bytes + bytes, 8);
    put_number(self, head_bytes + bytes, 8);
    put_bytes(self, head, head_bytes);
    if (bytes)
        put_bytes(self, data, bytes);
}

static void put_central(hl_base_npz *self, unsigned member)
{
    put_number(self, 0x02014b50, 4);
    put_number(self, ALWAYS_ZIP64, 2);
    put_common(self, member);
    put_number(self, 28, 2); /* the extra field: both sizes and the place */
    put_number(self, 0, 2);  /* no comment */
    put_number(self, 0, 2);  /* first disk */
    put_number(self, 0, 2);
    put_number(self, 0, 4);
    put_number(self, UINT32_MAX, 4);
    put_name(self, self->members[member].name);
    put_number(self, 1, 2);
    put_number(self, 24, 2);
    put_number(self, self->members[member].bytes, 8);
    put_number(self, self->members[member].bytes, 8);
    put_number(self, self->members[member].at, 8);
}

void hl_base_npz_finish(hl_base_npz *self)
{
    const uint64_t central = self->written;
    for (unsigned i = 0; i < self->count; i++)
        put_central(self, i);
    const uint64_t end = self->written;
    put_number(self, 0x06064b50, 4); /* the end's record with 64-bit numbers */
    put_number(self, 44, 8);
    put_number(self, ALWAYS_ZIP64, 2);
    put_number(self, ALWAYS_ZIP64, 2);
    put_number(self, 0, 4);
    put_number(self, 0, 4);
    put_number(self, self->count, 8);
    put_number(self, self->count, 8);
    put_number(self, end - central, 8);
    put_number(self, central, 8);
    put_number(self, 0x07064b50, 4); /* where it is */
    put_number(self, 0, 4);
    put_number(self, end, 8);
    put_number(self, 1, 4);
    put_number(self, 0x06054b50, 4); /* the old end, which refers to it */
    put_number(self, 0, 2);
    put_number(self, 0, 2);
    put_number(self, UINT16_MAX, 2);
    put_number(self, UINT16_MAX, 2);
    put_number(self, UINT32_MAX, 4);
    put_number(self, UINT32_MAX, 4);
    put_number(self, 0, 2);
}
