#include "base/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEAD_BYTES = 1024, ALIGNMENT = 64, ALWAYS_ZIP64 = 45 };

/* Signatures of the headers before a member and at the archive's end; where in the first one the
 * checksum is, and that header's bytes beside the name: itself, ".npy" and the extra field. */
enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, LOCAL_CRC = 14 };
enum { LOCAL_BYTES = 30 + 4 + 20 };

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

static void put_local(hl_base_npz *self, unsigned member)
{
    const uint64_t bytes = self->members[member].bytes;
    put_number(self, LOCAL, 4);
    put_common(self, member);
    put_number(self, 20, 2); /* the extra field: both sizes */
    put_name(self, self->members[member].name);
    put_number(self, 1, 2);
    put_number(self, 16, 2);
    put_number(self, bytes, 8);
    put_number(self, bytes, 8);
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
    put_local(self, member);
    put_bytes(self, head, head_bytes);
    if (bytes)
        put_bytes(self, data, bytes);
}

/* Its header is written when its checksum is known. */
void hl_base_npz_begin(hl_base_npz *self, const char *name, uint64_t bytes)
{
    const unsigned member = self->count++;
    self->members[member].name = name;
    self->members[member].at = self->written;
    self->members[member].bytes = bytes;
    self->members[member].crc = 0;
    hl_base_npz_skip(self, LOCAL_BYTES + strlen(name));
}

void hl_base_npz_add(hl_base_npz *self, const void *bytes, size_t count)
{
    uint32_t *crc = &self->members[self->count - 1].crc;
    *crc = (uint32_t)crc32_z(*crc, bytes, count);
    put_bytes(self, bytes, count);
}

void hl_base_npz_skip(hl_base_npz *self, uint64_t bytes)
{
    self->written += bytes;
    fseeko(self->out, (off_t)self->written, SEEK_SET);
}

void hl_base_npz_join(hl_base_npz *self, unsigned member, uint32_t crc, uint64_t bytes)
{
    uint32_t *before = &self->members[member].crc;
    *before = (uint32_t)crc32_combine(*before, crc, (z_off_t)bytes);
}

void hl_base_npz_end(hl_base_npz *self, unsigned member)
{
    const uint64_t written = self->written;
    fseeko(self->out, (off_t)self->members[member].at, SEEK_SET);
    put_local(self, member);
    fseeko(self->out, (off_t)written, SEEK_SET);
    self->written = written;
}

static void put_central(hl_base_npz *self, unsigned member)
{
    put_number(self, CENTRAL, 4);
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
    put_number(self, END, 4); /* the old end, which refers to it */
    put_number(self, 0, 2);
    put_number(self, 0, 2);
    put_number(self, UINT16_MAX, 2);
    put_number(self, UINT16_MAX, 2);
    put_number(self, UINT32_MAX, 4);
    put_number(self, UINT32_MAX, 4);
    put_number(self, 0, 2);
}

/* --- reading */

static uint64_t number_at(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

/* Sizes beyond 32 bits are in the extra field's block of type 1. */
static bool take_sizes(const unsigned char *extra, size_t length, uint64_t sizes[2])
{
    enum { BLOCK = 4, WIDE = 16 };
    for (size_t at = 0; length - at >= BLOCK;) {
        const size_t bytes = (size_t)number_at(extra + at + 2, 2);
        if (bytes > length - at - BLOCK)
            return false;
        if (number_at(extra + at, 2) == 1) {
            sizes[0] = bytes >= WIDE ? number_at(extra + at + BLOCK, 8) : 0;
            sizes[1] = bytes >= WIDE ? number_at(extra + at + BLOCK + 8, 8) : 1;
            return bytes >= WIDE;
        }
        at += BLOCK + bytes;
    }
    return false;
}

/* Both headers of a member have these: from the flags to the checksum, and the name. */
static uint32_t add_common(uint32_t digest, const unsigned char *common, const char *name)
{
    enum { COMMON = 12 };
    return (uint32_t)crc32_z(crc32_z(digest, common, COMMON), (const void *)name, strlen(name) + 1);
}

static bool take_name(FILE *in, size_t length, char name[HL_NPZ_NAME_MOST + 5])
{
    if (length >= HL_NPZ_NAME_MOST + 5 || fread(name, 1, length, in) != length)
        return false;
    name[length] = '\0';
    return true;
}

/* The archive's directory lists the members that were found, and the file ends with it. */
static hl_base_npz_step check_directory(hl_base_npz_reader *self)
{
    enum { ENTRY = 46, COMMON = 8, NAME = 28, EXTRA = 30, REMARK = 32, END_BYTES = 22 };
    enum { ENTRIES = 10, COUNT_MOST = UINT16_MAX };
    unsigned char entry[ENTRY];
    char name[HL_NPZ_NAME_MOST + 5];
    uint32_t digest = 0;
    for (uint64_t i = 0; i < self->count; i++) {
        if (fread(entry, 1, ENTRY, self->in) != ENTRY || number_at(entry, 4) != CENTRAL ||
            !take_name(self->in, (size_t)number_at(entry + NAME, 2), name) ||
            fseeko(self->in, (off_t)(number_at(entry + EXTRA, 2) + number_at(entry + REMARK, 2)),
                   SEEK_CUR))
            return HL_NPZ_BAD;
        digest = add_common(digest, entry + COMMON, name);
    }
    if (digest != self->digest || self->bytes < END_BYTES ||
        fseeko(self->in, (off_t)(self->bytes - END_BYTES), SEEK_SET) ||
        fread(entry, 1, END_BYTES, self->in) != END_BYTES || number_at(entry, 4) != END)
        return HL_NPZ_BAD;
    const uint64_t entries = number_at(entry + ENTRIES, 2);
    return entries == self->count || entries == COUNT_MOST ? HL_NPZ_END : HL_NPZ_BAD;
}

hl_base_npz_step hl_base_npz_next(hl_base_npz_reader *self, hl_base_npz_member *member)
{
    enum { HEADER = 30, EXTRA_MOST = 256, COMMON = 6, METHOD = 8, SIZES = 18, LENGTHS = 26 };
    unsigned char header[HEADER], extra[EXTRA_MOST];
    if (fseeko(self->in, (off_t)self->at, SEEK_SET) || fread(header, 1, 4, self->in) != 4)
        return HL_NPZ_BAD;
    if (number_at(header, 4) == CENTRAL)
        return fseeko(self->in, (off_t)self->at, SEEK_SET) ? HL_NPZ_BAD : check_directory(self);
    if (number_at(header, 4) != LOCAL || fread(header + 4, 1, HEADER - 4, self->in) != HEADER - 4)
        return HL_NPZ_BAD;
    const size_t name = (size_t)number_at(header + LENGTHS, 2);
    const size_t length = (size_t)number_at(header + LENGTHS + 2, 2);
    /* neither flags nor compression */
    if (number_at(header + COMMON, 2) || number_at(header + METHOD, 2) || length > EXTRA_MOST ||
        !take_name(self->in, name, member->name) || fread(extra, 1, length, self->in) != length)
        return HL_NPZ_BAD;
    uint64_t sizes[] = {number_at(header + SIZES, 4), number_at(header + SIZES + 4, 4)};
    if (sizes[0] == UINT32_MAX && !take_sizes(extra, length, sizes))
        return HL_NPZ_BAD;
    member->crc = (uint32_t)number_at(header + LOCAL_CRC, 4);
    member->at = self->at + HEADER + name + length;
    member->bytes = sizes[0];
    if (sizes[0] != sizes[1] || member->at > self->bytes ||
        member->bytes > self->bytes - member->at)
        return HL_NPZ_BAD;
    self->digest = add_common(self->digest, header + COMMON, member->name);
    self->at = member->at + member->bytes;
    self->count++;
    return HL_NPZ_MEMBER;
}

bool hl_base_npz_is_whole(FILE *in, const hl_base_npz_member *member)
{
    unsigned char bytes[1 << 16];
    uLong crc = 0;
    uint64_t left = member->bytes;
    if (fseeko(in, (off_t)member->at, SEEK_SET))
        return false;
    while (left) {
        const size_t count = left < sizeof bytes ? (size_t)left : sizeof bytes;
        if (fread(bytes, 1, count, in) != count)
            return false;
        crc = crc32_z(crc, bytes, count);
        left -= count;
    }
    return crc == member->crc;
}
