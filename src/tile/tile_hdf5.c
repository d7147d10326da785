/* Arrays in HDF5 files. The library is not linked: few programs need it, and one that does has its
 * own, of another version or with MPI, beside which a second would not work. What is used of it has
 * been the same since 1.10. */
#include "tile/tile_hdf5.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"

typedef int64_t id;

enum { OPEN_READ = 0, CREATE = 2, DEFAULT = 0, EARLY = 1, NEVER = 1, UPWARD = 0, ASCEND = 1 };
/* The format of 1.8, which has checksums of all but the cells: the library trusts numbers of a file
 * that has none, and may die of wrong ones. */
enum { CHECKED = 1 };
enum { CLASS_INTEGER = 0, CLASS_FLOAT = 1, CLASS_OPAQUE = 5 };

/* The first members of the library's H5E_error2_t. */
typedef struct reason {
    id class;
    id major;
    id minor;
    unsigned line;
    const char *function;
    const char *file;
    const char *text;
} reason;

typedef int (*take_reason)(unsigned index, const reason *why, void *to);
typedef int (*show_errors)(id stack, void *of);

#define FUNCTIONS(X)                                                                               \
    X(int, H5get_libversion, (unsigned *major, unsigned *minor, unsigned *release))                \
    X(int, H5open, (void))                                                                         \
    X(int, H5Eget_auto2, (id stack, show_errors * show, void **of))                                \
    X(int, H5Eset_auto2, (id stack, show_errors show, void *of))                                   \
    X(int, H5Ewalk2, (id stack, int direction, take_reason take, void *to))                        \
    X(id, H5Fcreate, (const char *path, unsigned flags, id creation, id access))                   \
    X(id, H5Fopen, (const char *path, unsigned flags, id access))                                  \
    X(int, H5Fclose, (id file))                                                                    \
    X(id, H5Screate_simple, (int dims, const unsigned long long *size, const void *most))          \
    X(int, H5Sclose, (id space))                                                                   \
    X(int, H5Sget_simple_extent_ndims, (id space))                                                 \
    X(int, H5Sget_simple_extent_dims, (id space, unsigned long long *size, void *most))            \
    X(id, H5Pcreate, (id kind))                                                                    \
    X(int, H5Pclose, (id list))                                                                    \
    X(int, H5Pset_libver_bounds, (id list, int oldest, int newest))                                \
    X(int, H5Pset_alloc_time, (id list, int when))                                                 \
    X(int, H5Pset_fill_time, (id list, int when))                                                  \
    X(int, H5Pset_create_intermediate_group, (id list, unsigned is_made))                          \
    X(id, H5Tcreate, (int class, size_t bytes))                                                    \
    X(id, H5Tcopy, (id type))                                                                      \
    X(int, H5Tclose, (id type))                                                                    \
    X(int, H5Tget_class, (id type))                                                                \
    X(size_t, H5Tget_size, (id type))                                                              \
    X(id, H5Tget_native_type, (id type, int direction))                                            \
    X(id, H5Dcreate2,                                                                              \
      (id file, const char *name, id type, id space, id links, id creation, id access))            \
    X(id, H5Dopen2, (id file, const char *name, id access))                                        \
    X(int, H5Dclose, (id array))                                                                   \
    X(uint64_t, H5Dget_offset, (id array))                                                         \
    X(id, H5Dget_space, (id array))                                                                \
    X(id, H5Dget_type, (id array))                                                                 \
    X(int, H5Dread, (id array, id type, id space, id file_space, id access, void *cells))

typedef struct hdf5 {
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
    void *library; /* NULL: the program's */
    const char *path;
    show_errors show; /* the program's, until the library is left */
    void *show_of;
} hdf5;

/* Most builds of it are not made for threads. */
static pthread_mutex_t one_thread = PTHREAD_MUTEX_INITIALIZER;

static bool find_functions(hdf5 *self)
{
    unsigned major = 0, minor = 0, release = 0;
    bool has_all = true;
#define FIND(result, name, parameters)                                                             \
    has_all = has_all && hl_base_library_function(self->library, #name, (void *)&self->name);
    FUNCTIONS(FIND)
#undef FIND
    /* before 1.10 an id had 32 bits */
    return has_all && !self->H5get_libversion(&major, &minor, &release) &&
           (major > 1 || minor >= 10) && self->H5open() >= 0;
}

/* Leaves the lock held, and the library silent, where it is there. */
static haul_status enter(hdf5 *self, haul_error *error)
{
    static const char *const libraries[] = {
        "libhdf5.so.320",    "libhdf5.so.310", "libhdf5_serial.so.310",
        "libhdf5.so.200",    "libhdf5.so.103", "libhdf5_serial.so.103",
        "libhdf5_serial.so", "libhdf5.so",     NULL};
    pthread_mutex_lock(&one_thread);
    bool has = find_functions(self);
    if (!has) {
        self->library = hl_base_library_open(libraries);
        has = self->library && find_functions(self);
    }
    if (!has) {
        pthread_mutex_unlock(&one_thread);
        (void)haul_error_set(error, HAUL_STATUS_ABSENT,
                             "'%.200s' needs the library of HDF5, 1.10 or newer, which is not here "
                             "(libhdf5-dev, or the library path)",
                             self->path);
        return HAUL_STATUS_ABSENT;
    }
    self->H5Eget_auto2(DEFAULT, &self->show, &self->show_of);
    self->H5Eset_auto2(DEFAULT, NULL, NULL);
    return HAUL_OK;
}

static void leave(hdf5 *self)
{
    self->H5Eset_auto2(DEFAULT, self->show, self->show_of);
    pthread_mutex_unlock(&one_thread);
}

enum { REASON = 160 };

static int take_first(unsigned index, const reason *why, void *to)
{
    if (!index && why->text)
        (void)snprintf(to, REASON, ": %s", why->text);
    return 0;
}

/* The library's own words, the innermost. */
static haul_status fail(const hdf5 *self, haul_status status, const char *what, haul_error *error)
{
    char text[REASON] = "";
    self->H5Ewalk2(DEFAULT, UPWARD, take_first, text);
    return haul_error_set(error, status, "%s '%.200s'%s", what, self->path, text);
}

/* --- writing */

/* A number of the machine's own, or so many bytes. */
static id make_type(const hdf5 *self, const hl_tile_field *field)
{
    static const struct {
        haul_element kind;
        uint64_t bytes;
        const char *name;
    } numbers[] = {
        {HAUL_ELEMENT_FLOATING, 4, "H5T_NATIVE_FLOAT_g"},
        {HAUL_ELEMENT_FLOATING, 8, "H5T_NATIVE_DOUBLE_g"},
        {HAUL_ELEMENT_INTEGER, 1, "H5T_NATIVE_SCHAR_g"},
        {HAUL_ELEMENT_INTEGER, 2, "H5T_NATIVE_SHORT_g"},
        {HAUL_ELEMENT_INTEGER, 4, "H5T_NATIVE_INT_g"},
        {HAUL_ELEMENT_INTEGER, 8, "H5T_NATIVE_LLONG_g"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const id *number;
        if (numbers[i].kind == field->element_kind && numbers[i].bytes == field->element &&
            hl_base_library_function(self->library, numbers[i].name, (void *)&number))
            return self->H5Tcopy(*number);
    }
    return self->H5Tcreate(CLASS_OPAQUE, field->element);
}

static id make_list(const hdf5 *self, const char *kind)
{
    const id *number;
    return hl_base_library_function(self->library, kind, (void *)&number) ? self->H5Pcreate(*number)
                                                                          : -1;
}

/* The array has a place in the file at once, where its cells then go without the library. */
static bool make_array(const hdf5 *self, id file, const char *name, id type, id space, uint64_t *at)
{
    const id creation = make_list(self, "H5P_CLS_DATASET_CREATE_ID_g");
    const id links = make_list(self, "H5P_CLS_LINK_CREATE_ID_g");
    id array = -1;
    if (type >= 0 && space >= 0 && creation >= 0 && links >= 0 &&
        self->H5Pset_alloc_time(creation, EARLY) >= 0 &&
        self->H5Pset_fill_time(creation, NEVER) >= 0 &&
        self->H5Pset_create_intermediate_group(links, 1) >= 0)
        array = self->H5Dcreate2(file, name, type, space, links, creation, DEFAULT);
    if (array >= 0)
        *at = self->H5Dget_offset(array);
    if (creation >= 0)
        self->H5Pclose(creation);
    if (links >= 0)
        self->H5Pclose(links);
    return array >= 0 && self->H5Dclose(array) >= 0 && *at != UINT64_MAX;
}

haul_status hl_tile_hdf5_create(const char *path, const char *array, const hl_tile_field *field,
                                const int size[3], uint64_t *at, haul_error *error)
{
    unsigned long long extent[3] = {0};
    hdf5 self = {.path = path};
    for (int d = 0; d < field->dims; d++)
        extent[field->dims - 1 - d] = (unsigned long long)size[d];
    HAUL_TRY(enter(&self, error));
    const id access = make_list(&self, "H5P_CLS_FILE_ACCESS_ID_g");
    const id file = access >= 0 && self.H5Pset_libver_bounds(access, CHECKED, CHECKED) >= 0
                        ? self.H5Fcreate(path, CREATE, DEFAULT, access)
                        : -1;
    const id type = make_type(&self, field);
    const id space = self.H5Screate_simple(field->dims, extent, NULL);
    const bool is_made = file >= 0 && make_array(&self, file, array, type, space, at);
    haul_status status = is_made ? HAUL_OK : fail(&self, HAUL_STATUS_IO, "cannot write", error);
    if (space >= 0)
        self.H5Sclose(space);
    if (type >= 0)
        self.H5Tclose(type);
    if (access >= 0)
        self.H5Pclose(access);
    if (file >= 0 && self.H5Fclose(file) < 0 && !status)
        status = fail(&self, HAUL_STATUS_IO, "cannot write", error);
    leave(&self);
    return status;
}

/* --- reading */

static haul_status check_shape(const hdf5 *self, id array, const hl_tile_field *field,
                               const int size[3], haul_error *error)
{
    enum { RANK_MOST = 32 };
    unsigned long long extent[RANK_MOST] = {0};
    const id space = self->H5Dget_space(array);
    if (space < 0)
        return fail(self, HAUL_STATUS_BAD_INPUT, "cannot read", error);
    const int rank = self->H5Sget_simple_extent_ndims(space);
    bool fits = rank == field->dims && rank <= RANK_MOST &&
                self->H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    self->H5Sclose(space);
    for (int d = 0; d < field->dims && fits; d++)
        fits = extent[field->dims - 1 - d] == (unsigned long long)size[d];
    return fits ? HAUL_OK
                : haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                 "'%.200s' has another shape than the array of %d dimensions and "
                                 "%d planes",
                                 self->path, field->dims, size[field->dims - 1]);
}

/* Numbers of the other order of bytes are turned. */
static haul_status read_array(const hdf5 *self, id array, const hl_tile_field *field,
                              const int size[3], void *cells, haul_error *error)
{
    static const int classes[] = {[HAUL_ELEMENT_FLOATING] = CLASS_FLOAT,
                                  [HAUL_ELEMENT_INTEGER] = CLASS_INTEGER,
                                  [HAUL_ELEMENT_STRUCT] = CLASS_OPAQUE};
    HAUL_TRY(check_shape(self, array, field, size, error));
    const haul_element kind = field->element_kind;
    const id stored = self->H5Dget_type(array);
    const id native = stored >= 0 ? self->H5Tget_native_type(stored, ASCEND) : -1;
    const int class = native >= 0 ? self->H5Tget_class(native) : -1;
    haul_status status = HAUL_OK;
    if (native < 0 || self->H5Tget_size(native) != field->element ||
        self->H5Tget_size(stored) != field->element ||
        (class != CLASS_INTEGER && class != CLASS_FLOAT && class != CLASS_OPAQUE) ||
        (kind != HAUL_ELEMENT_ANY && class != classes[kind]))
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                "'%.200s' has other elements than the array's of %llu bytes",
                                self->path, (unsigned long long)field->element);
    else if (self->H5Dread(array, native, DEFAULT, DEFAULT, DEFAULT, cells) < 0)
        status = fail(self, HAUL_STATUS_BAD_INPUT, "cannot read", error);
    if (stored >= 0)
        self->H5Tclose(stored);
    if (native >= 0)
        self->H5Tclose(native);
    return status;
}

haul_status hl_tile_hdf5_read(const hl_tile_hdf5_name *name, const hl_tile_field *field,
                              const int size[3], void *cells, haul_error *error)
{
    hdf5 self = {.path = name->file};
    haul_status status = HAUL_OK;
    HAUL_TRY(enter(&self, error));
    const id file = self.H5Fopen(name->file, OPEN_READ, DEFAULT);
    const id array = file >= 0 ? self.H5Dopen2(file, name->array, DEFAULT) : -1;
    if (array >= 0)
        status = read_array(&self, array, field, size, cells, error);
    else if (fail(&self, HAUL_STATUS_BAD_INPUT, "cannot read", error))
        status = HAUL_STATUS_BAD_INPUT;
    if (array >= 0)
        self.H5Dclose(array);
    else if (file >= 0)
        (void)hl_base_error_before(error, "no array '%.100s'", name->array);
    if (file >= 0)
        self.H5Fclose(file);
    leave(&self);
    return status;
}

/* --- names */

haul_status hl_tile_hdf5_parse(const char *path, hl_tile_hdf5_name *name, haul_error *error)
{
    static const char *const ends[] = {".h5", ".hdf5"};
    *name = (hl_tile_hdf5_name){NULL, "cells"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !name->file; i++) {
        const char *end = path;
        while ((end = strstr(end, ends[i])) && end[strlen(ends[i])] && end[strlen(ends[i])] != ':')
            end++;
        if (!end)
            continue;
        const size_t length = (size_t)(end - path) + strlen(ends[i]);
        name->file = strdup(path);
        if (!name->file)
            return hl_base_fail_no_memory(error);
        if (path[length] == ':' && path[length + 1])
            name->array = name->file + length + 1;
        name->file[length] = '\0';
    }
    return HAUL_OK;
}
