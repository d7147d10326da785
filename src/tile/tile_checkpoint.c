/* Several arrays in one file: NumPy's archive of .npy members (.npz), each with a checksum. Cells
 * beyond the edges are in it, as fixed ones are data. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/npz.h"
#include "tile/tile_files.h"
#include "tile/tile_hdf5.h"

typedef struct checkpoint {
    const haul_named_array *arrays;
    size_t count;
    const char *path;
    FILE *file;
    char *copy;                  /* where cells go that are to be written later */
    hl_base_npz npz;             /* written */
    hl_base_npz_member *members; /* read: those of the arrays, in their order */
} checkpoint;

/* Cells of each dimension, with those beyond the edges. */
static uint64_t find_size(const hl_tile_field *field, int size[3])
{
    uint64_t cells = 1;
    for (int d = 0; d < field->dims; d++) {
        size[d] = hl_tile_field_size(field, d) + 2 * field->ghost[d];
        cells *= (uint64_t)size[d];
    }
    return cells;
}

/* A row of `count` cells that lie next to each other. */
typedef bool (*row_job)(checkpoint *self, void *cells, uint64_t bytes);

static bool write_row(checkpoint *self, void *cells, uint64_t bytes)
{
    hl_base_npz_add(&self->npz, cells, bytes);
    return !ferror(self->file);
}

static bool copy_row(checkpoint *self, void *cells, uint64_t bytes)
{
    memcpy(self->copy, cells, bytes);
    self->copy += bytes;
    return true;
}

static bool read_row(checkpoint *self, void *cells, uint64_t bytes)
{
    return fread(cells, 1, bytes, self->file) == bytes;
}

/* Does the job for the region's rows, in the order of the file. */
static bool do_rows(checkpoint *self, const hl_tile_field *field, const haul_region *region,
                    row_job job)
{
    const int dims = field->dims, beside = dims == 3 ? field->ghost[1] : 0;
    const int rows = dims == 3 ? field->size[1] : 1, ahead = dims > 1 ? field->ghost[0] : 0;
    const int planes = region->end - region->first;
    const int cells = dims > 1 ? field->size[0] + 2 * ahead : planes;
    bool is_done = true;
    for (int z = 0; z < (dims > 1 ? planes : planes > 0) && is_done; z++)
        for (int y = -beside; y < rows + beside && is_done; y++) {
            const int64_t at = z * region->plane + y * region->row - ahead;
            is_done = job(self, (char *)region->cells + at * (int64_t)field->element,
                          (uint64_t)cells * field->element);
        }
    return is_done;
}

static haul_status do_regions(checkpoint *self, haul_array *array, const hl_tile_span *span,
                              haul_use use, row_job job, haul_error *error)
{
    haul_region region;
    const int regions = haul_array_regions(array);
    if (!regions) /* says why */
        return haul_array_access(array, 0, use, &region, error);
    for (int i = 0; i < regions; i++) {
        HAUL_TRY(haul_array_access(array, i, use, &region, error));
        region = hl_tile_region_within(array->field, &region, span);
        if (!do_rows(self, array->field, &region, job))
            return haul_error_set(error, HAUL_STATUS_IO, "cannot %s '%.200s'",
                                  use == HAUL_USE_READ ? "write" : "read", self->path);
    }
    return HAUL_OK;
}

/* --- saving */

/* An array's bytes that one process wrote. */
typedef struct piece {
    uint64_t bytes;
    uint32_t crc;
} piece;

/* This process's cells; the first also writes what is before them. */
static haul_status write_piece(checkpoint *self, size_t number, bool is_first, piece *own,
                               haul_error *error)
{
    haul_array *array = self->arrays[number].array;
    const hl_tile_field *field = array->field;
    char head[HL_TILE_NPY_HEAD];
    int size[3] = {0};
    const uint64_t bytes = find_size(field, size) * field->element;
    const size_t length = hl_tile_npy_make(field, size, head);
    const hl_tile_span span = hl_tile_span_written(array, size);
    hl_base_npz_begin(&self->npz, self->arrays[number].name, length + bytes);
    if (is_first)
        hl_base_npz_add(&self->npz, head, length);
    else
        hl_base_npz_skip(&self->npz, length);
    hl_base_npz_skip(&self->npz, span.at);
    if (span.bytes)
        HAUL_TRY(do_regions(self, array, &span, HAUL_USE_READ, write_row, error));
    hl_base_npz_skip(&self->npz, bytes - span.at - span.bytes);
    *own = (piece){span.bytes, self->npz.members[number].crc};
    return HAUL_OK;
}

/* `all` has room for the pieces of all processes, and for this one's behind them. */
static haul_status write_pieces(checkpoint *self, const hl_tile_file *file, int processes,
                                piece *all, haul_error *error)
{
    piece *own = all + (size_t)processes * self->count;
    haul_status status = HAUL_OK;
    self->file = self->npz.out = file->out;
    for (size_t i = 0; i < self->count && !status; i++)
        status = write_piece(self, i, file->is_first, &own[i], error);
    HAUL_TRY(hl_tile_agree(file->context, status, error));
    if (processes > 1)
        HAUL_TRY(hl_tile_gather(file->context, own, self->count * sizeof *own, all, error));
    for (size_t i = 0; i < self->count && file->is_first; i++) {
        for (int rank = 1; rank < processes; rank++) { /* the first's own has the head, too */
            const piece *other = &all[(size_t)rank * self->count + i];
            hl_base_npz_join(&self->npz, (unsigned)i, other->crc, other->bytes);
        }
        hl_base_npz_end(&self->npz, (unsigned)i);
    }
    if (file->is_first)
        hl_base_npz_finish(&self->npz);
    return HAUL_OK;
}
/* Names are those of files in an archive. */
static haul_status check_names(const haul_named_array *arrays, size_t count, haul_error *error)
{
    if (!count || count > HL_NPZ_ARRAYS_MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a file of %zu arrays: it has 1 to %d",
                              count, HL_NPZ_ARRAYS_MOST);
    for (size_t i = 0; i < count; i++) {
        const char *name = arrays[i].name;
        if (!name || !*name || strlen(name) > HL_NPZ_NAME_MOST || strpbrk(name, "/\\"))
            return haul_error_set(error, HAUL_STATUS_USAGE, "'%.100s' is no name of an array",
                                  name ? name : "");
        for (size_t j = 0; j < i; j++)
            if (!strcmp(name, arrays[j].name))
                return haul_error_set(error, HAUL_STATUS_USAGE, "two arrays are called '%s'", name);
        HAUL_TRY(hl_tile_check_saved(arrays[i].array, error));
    }
    return HAUL_OK;
}

/* Runs what is queued; the file before is written by then. */
static haul_status prepare(const haul_named_array *arrays, size_t count, const char *path,
                           haul_error *error)
{
    hl_tile_hdf5_name hdf5;
    HAUL_TRY(check_names(arrays, count, error));
    HAUL_TRY(hl_tile_hdf5_parse(path, &hdf5, error));
    const bool is_hdf5 = hdf5.file;
    free(hdf5.file);
    if (is_hdf5)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "'%.200s': files of several arrays are NumPy's archives, .npz", path);
    for (size_t i = 0; i < count; i++)
        HAUL_TRY(hl_tile_queue_run(arrays[i].array->context, error));
    for (size_t i = 0; i < count; i++)
        HAUL_TRY(haul_arrays_save_finish(arrays[i].array->context, error));
    return HAUL_OK;
}

haul_status haul_arrays_save(const haul_named_array *arrays, size_t count, const char *path,
                             haul_error *error)
{
    checkpoint self = {.arrays = arrays, .count = count, .path = path};
    hl_tile_file file;
    HAUL_TRY(prepare(arrays, count, path, error));
    haul_context *context = arrays[0].array->context;
    const int processes = hl_tile_processes(context);
    piece *all = calloc((size_t)processes + 1, count * sizeof *all);
    haul_status status =
        hl_tile_agree(context, all ? HAUL_OK : hl_base_fail_no_memory(error), error);
    if (!status)
        status = hl_tile_file_begin(context, path, &file, error);
    if (!status && all) /* which clang-tidy cannot see */
        status = hl_tile_file_end(&file, write_pieces(&self, &file, processes, all, error), error);
    free(all);
    return status;
}

/* --- saving while loops run */

typedef struct kept_array {
    char name[HL_NPZ_NAME_MOST + 1];
    char head[HL_TILE_NPY_HEAD];
    size_t head_bytes;
    char *cells;
    uint64_t bytes;
} kept_array;

/* All that the thread needs, which uses neither the arrays nor their context. */
struct hl_tile_saving {
    pthread_t thread;
    hl_tile_file file;
    hl_base_npz npz;
    haul_status status;
    haul_error error;
    size_t count;
    kept_array kept[];
};

static void *write_kept(void *of)
{
    struct hl_tile_saving *self = of;
    self->npz.out = self->file.out;
    for (size_t i = 0; i < self->count && !ferror(self->file.out); i++) {
        kept_array *kept = &self->kept[i];
        hl_base_npz_begin(&self->npz, kept->name, kept->head_bytes + kept->bytes);
        hl_base_npz_add(&self->npz, kept->head, kept->head_bytes);
        if (kept->bytes)
            hl_base_npz_add(&self->npz, kept->cells, kept->bytes);
        hl_base_npz_end(&self->npz, (unsigned)i);
        free(kept->cells); /* early: memory is short */
        kept->cells = NULL;
    }
    hl_base_npz_finish(&self->npz);
    self->status = hl_tile_file_end(&self->file, HAUL_OK, &self->error);
    return NULL;
}

static void free_saving(struct hl_tile_saving *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->kept[i].cells);
    free(self);
}

/* Copies the arrays, where the host's memory has room for them twice. */
static haul_status keep_arrays(struct hl_tile_saving *self, const haul_named_array *arrays,
                               haul_error *error)
{
    uint64_t all = 0;
    int size[3] = {0};
    for (size_t i = 0; i < self->count; i++)
        all += find_size(arrays[i].array->field, size) * arrays[i].array->field->element;
    HAUL_TRY(hl_tile_memory_check(arrays[0].array->field->memory, all,
                                  "haul_arrays_save needs no copy", error));
    for (size_t i = 0; i < self->count; i++) {
        const hl_tile_field *field = arrays[i].array->field;
        kept_array *kept = &self->kept[i];
        kept->bytes = find_size(field, size) * field->element;
        kept->head_bytes = hl_tile_npy_make(field, size, kept->head);
        memcpy(kept->name, arrays[i].name, strlen(arrays[i].name));
        kept->cells = malloc(kept->bytes ? kept->bytes : 1);
        if (!kept->cells)
            return hl_base_fail_no_memory(error);
        checkpoint at = {.copy = kept->cells};
        const hl_tile_span span = hl_tile_span_of(arrays[i].array, size);
        HAUL_TRY(do_regions(&at, arrays[i].array, &span, HAUL_USE_READ, copy_row, error));
    }
    return HAUL_OK;
}

haul_status haul_arrays_save_start(const haul_named_array *arrays, size_t count, const char *path,
                                   haul_error *error)
{
    sigset_t all, before;
    HAUL_TRY(prepare(arrays, count, path, error));
    if (hl_tile_processes(arrays[0].array->context) > 1) /* they tell each other what they wrote */
        return haul_arrays_save(arrays, count, path, error);
    struct hl_tile_saving *self = calloc(1, sizeof *self + count * sizeof *self->kept);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->count = count;
    haul_status status = keep_arrays(self, arrays, error);
    if (!status)
        status = hl_tile_file_begin(NULL, path, &self->file, error);
    if (!status) {
        sigfillset(&all); /* signals go to the program's threads */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        if (pthread_create(&self->thread, NULL, write_kept, self))
            status = hl_tile_file_end(
                &self->file,
                haul_error_set(error, HAUL_STATUS_NO_MEMORY, "no thread to write '%.200s'", path),
                error);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (status)
        free_saving(self);
    else
        arrays[0].array->context->saving = self;
    return status;
}

haul_status haul_arrays_save_finish(haul_context *context, haul_error *error)
{
    struct hl_tile_saving *self = context->saving;
    if (!self)
        return HAUL_OK;
    context->saving = NULL;
    pthread_join(self->thread, NULL);
    const haul_status status = self->status;
    if (status && error)
        *error = self->error;
    free_saving(self);
    return status;
}

/* --- loading */

static haul_status fail_damaged(const checkpoint *self, const char *member, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                          "'%.200s' is damaged, or no file of arrays%s%s", self->path,
                          member ? ": " : "", member ? member : "");
}

/* Notes the member where it is one of the arrays'. */
static void note_member(checkpoint *self, const hl_base_npz_member *member)
{
    for (size_t i = 0; i < self->count; i++) {
        const char *name = self->arrays[i].name;
        if (!strncmp(member->name, name, strlen(name)) &&
            !strcmp(member->name + strlen(name), ".npy"))
            self->members[i] = *member;
    }
}

/* All of the file is checked, by several processes each some of its members, and that it has all
 * arrays. */
static haul_status find_members(checkpoint *self, haul_error *error)
{
    const haul_context *context = self->arrays[0].array->context;
    struct stat found;
    hl_base_npz_member member;
    hl_base_npz_step step;
    if (fstat(fileno(self->file), &found))
        return hl_base_fail_read(error, self->path);
    hl_base_npz_reader reader = {.in = self->file, .bytes = (uint64_t)found.st_size};
    while ((step = hl_base_npz_next(&reader, &member)) == HL_NPZ_MEMBER) {
        if (hl_tile_is_turn_of(context, reader.count) && !hl_base_npz_is_whole(self->file, &member))
            return fail_damaged(self, member.name, error);
        note_member(self, &member);
    }
    if (step == HL_NPZ_BAD)
        return fail_damaged(self, NULL, error);
    for (size_t i = 0; i < self->count; i++) {
        const hl_tile_field *field = self->arrays[i].array->field;
        const hl_tile_npy_place place = {self->path, self->members[i].at, self->members[i].bytes};
        int size[3] = {0};
        find_size(field, size);
        if (!self->members[i].bytes)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "'%.200s' has no array '%s'",
                                  self->path, self->arrays[i].name);
        const haul_status status = hl_tile_npy_check(field, size, &place, self->file, error);
        if (status)
            return hl_base_error_before(error, "array '%s'", self->arrays[i].name);
    }
    return HAUL_OK;
}

/* Values that are set anew need none of those that were lost. */
static void forget_failures(haul_array *array)
{
    const int count = array->of ? hl_tile_team_count(array->context->team) : 1;
    for (int rank = 0; rank < count; rank++) {
        hl_tile_field *field = (array->of ? array->of[rank] : array)->field;
        field->failure.status = HAUL_OK;
        field->is_doubtful = false;
    }
}

/* This process's cells. */
static haul_status load_piece(checkpoint *self, size_t number, haul_error *error)
{
    const hl_base_npz_member *member = &self->members[number];
    haul_array *array = self->arrays[number].array;
    int size[3] = {0};
    const uint64_t bytes = find_size(array->field, size) * array->field->element;
    const uint64_t at = member->at + member->bytes - bytes;
    const hl_tile_span span = hl_tile_span_of(array, size);
    forget_failures(array);
    if (fseeko(self->file, (off_t)(at + span.at), SEEK_SET))
        return hl_base_fail_read(error, self->path);
    return do_regions(self, array, &span, HAUL_USE_WRITE, read_row, error);
}

static haul_status load_arrays(checkpoint *self, haul_error *error)
{
    haul_context *context = self->arrays[0].array->context;
    haul_status status = HAUL_OK;
    self->file = fopen(self->path, "rb");
    if (!self->file)
        status = hl_base_fail_open(error, self->path);
    self->members = calloc(self->count, sizeof *self->members);
    if (!self->members && !status)
        status = hl_base_fail_no_memory(error);
    if (!status && self->members) /* which clang-tidy cannot see */
        status = find_members(self, error);
    status = hl_tile_agree(context, status, error); /* before one of the arrays changes */
    for (size_t i = 0; self->members && i < self->count && !status; i++)
        status = load_piece(self, i, error);
    return hl_tile_agree(context, status, error);
}

haul_status haul_arrays_load(const haul_named_array *arrays, size_t count, const char *path,
                             haul_error *error)
{
    checkpoint self = {.arrays = arrays, .count = count, .path = path};
    HAUL_TRY(prepare(arrays, count, path, error));
    const haul_status status = load_arrays(&self, error);
    free(self.members);
    if (self.file)
        fclose(self.file);
    return status;
}
