/* Programs of CUDA and HIP that hand a GPU's memory to an MPI that does not take it: each call gets
 * a copy in the host's memory, and is then one of that. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "mpi/preload_parts.h"

/* The vendors' libraries that tell of a pointer, where the program has loaded them. HIP's function
 * has the numbers of CUDA's (hipPointer_attribute; hipMemoryType of ROCm 6 and later). */
enum { OF_TYPE = 2, OF_MANAGED = 8, OF_ORDINAL = 9, OF_FIRST = 11, OF_BYTES = 12, ON_DEVICE = 2 };

typedef enum vendor { CUDA, HIP, VENDORS } vendor;

static const struct {
    const char *libraries[3], *function, *device;
} vendors[VENDORS] = {
    [CUDA] = {{"libcuda.so.1"}, "cuPointerGetAttribute", "cuda"},
    [HIP] = {{"libamdhip64.so.7", "libamdhip64.so.6"}, "hipPointerGetAttribute", "hip"},
};

typedef unsigned long long gpu_address;

typedef int pointer_attribute(void *value, int which, gpu_address at);
static _Atomic(pointer_attribute *) drivers[VENDORS];

/* Libraries that had been loaded when the drivers were last looked for: whether another one has
 * been costs little to ask. */
static atomic_ullong loaded_seen;

/* A GPU as haul sees it, opened when its memory is first handed over, or none. One is shared by all
 * calls with whole copies, which use it in turns; a call in pieces has one of its own. */
struct hl_mpi_gpu {
    hl_mpi_gpu *next;
    vendor of; /* VENDORS: memory is the host's */
    int number;
    bool is_shared, is_used;
    haul_device *device;
    haul_comm *comm; /* of this process alone */
};
static hl_mpi_gpu *gpus;

/* Of the GPUs and of the shared ones' communicators; not held while MPI's calls run that wait for
 * other processes. */
static pthread_mutex_t gpus_lock = PTHREAD_MUTEX_INITIALIZER;

static int note_loaded(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

static void find_drivers(void)
{
    unsigned long long loaded = 0;
    (void)dl_iterate_phdr(note_loaded, &loaded);
    if (loaded == atomic_load(&loaded_seen))
        return;
    for (int of = CUDA; of < VENDORS; of++)
        for (int i = 0; vendors[of].libraries[i] && !atomic_load(&drivers[of]); i++) {
            pointer_attribute *found = NULL;
            void *library = dlopen(vendors[of].libraries[i], RTLD_NOW | RTLD_NOLOAD);
            if (library)
                *(void **)&found = dlsym(library, vendors[of].function);
            atomic_store(&drivers[of], found);
        }
    atomic_store(&loaded_seen, loaded);
}

static bool takes_memory_of(vendor of)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    if (of == CUDA)
        return MPIX_Query_cuda_support() == 1;
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT)
    if (of == HIP)
        return MPIX_Query_rocm_support() == 1;
#endif
    return of == VENDORS;
}

static bool has_driver(bool is_taken)
{
    find_drivers();
    for (vendor of = CUDA; of < VENDORS; of++)
        if (atomic_load(&drivers[of]) && takes_memory_of(of) == is_taken)
            return true;
    return false;
}

bool hl_mpi_may_have_device_memory(void)
{
    return has_driver(true);
}

bool hl_mpi_may_stage(void)
{
    return has_driver(false);
}

/* The vendor of the GPU whose memory it is; VENDORS: it is the host's. Managed memory is the host's
 * too. */
static vendor vendor_of(const void *at)
{
    vendor of = at && at != MPI_IN_PLACE ? CUDA : VENDORS;
    for (; of < VENDORS; of++) {
        unsigned type = 0;
        bool is_managed = false;
        pointer_attribute *attribute = atomic_load(&drivers[of]);
        const gpu_address address = (uintptr_t)at;
        if (attribute && !attribute(&type, OF_TYPE, address) && type == ON_DEVICE &&
            (attribute(&is_managed, OF_MANAGED, address) || !is_managed))
            break;
    }
    return of;
}

/* Addresses that were handed over when no driver was there, and until which call they are not
 * looked at again. In a loop's calls that costs less than asking whether a driver has been loaded
 * since, which took 3 % of the shortest ones: the program would have to free such memory, load a
 * driver and get the same address from it, all within these calls. */
enum { KNOWN_BITS = 3, CALLS = 64 };
typedef struct known {
    const void *at;
    unsigned long until;
} known;

/* Of what is sent and of what is received: the two of a call never take each other's place. */
static _Thread_local known all_known[2][1 << KNOWN_BITS];
static _Thread_local unsigned long calls;

/* Addresses of one page, or all at the beginning of one, are spread: by Knuth's multiplier. */
static known *place_of(bool is_sent, const void *at)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)at * 0x9e3779b97f4a7c15U;
    return &all_known[is_sent][mixed >> (64 - KNOWN_BITS)];
}

static bool is_known(bool is_sent, const void *at)
{
    const known *of = place_of(is_sent, at);
    return !at || at == MPI_IN_PLACE || (of->at == at && of->until > calls);
}

bool hl_mpi_needs_staging(const void *send, const void *receive)
{
    calls++;
    if (is_known(true, send) && is_known(false, receive))
        return false;
    find_drivers();
    if (!atomic_load(&drivers[CUDA]) && !atomic_load(&drivers[HIP])) {
        *place_of(true, send) = (known){send, calls + CALLS};
        *place_of(false, receive) = (known){receive, calls + CALLS};
        return false;
    }
    return !takes_memory_of(vendor_of(receive)) || !takes_memory_of(vendor_of(send));
}

static haul_status open_gpu(hl_mpi_gpu *self, haul_error *error)
{
    char name[32];
    if (self->of != VENDORS && !self->device) {
        (void)snprintf(name, sizeof name, "%s:%d", vendors[self->of].device, self->number);
        HAUL_TRY(haul_device_open(name, NULL, &self->device, error));
    }
    const haul_comm_options options = {.device = self->device};
    return self->comm ? HAUL_OK : haul_comm_new(MPI_COMM_SELF, &options, &self->comm, error);
}

/* Under the lock; NULL where none can be opened. */
static hl_mpi_gpu *take_gpu(vendor of, int number, bool is_shared, haul_error *error)
{
    hl_mpi_gpu *one = gpus;
    while (one && (one->of != of || one->number != number || one->is_shared != is_shared ||
                   (one->is_used && !is_shared)))
        one = one->next;
    if (!one) {
        one = calloc(1, sizeof *one);
        if (!one) {
            (void)haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
            return NULL;
        }
        *one = (hl_mpi_gpu){.next = gpus, .of = of, .number = number, .is_shared = is_shared};
        gpus = one;
    }
    if (open_gpu(one, error))
        return NULL;
    one->is_used = true;
    return one;
}

/* Where an address lies. */
typedef struct place {
    vendor of; /* VENDORS: in the host's memory */
    int number;
    gpu_address first; /* of its allocation */
    size_t bytes;
} place;

static haul_status find_place(const void *at, place *found, haul_error *error)
{
    *found = (place){.of = vendor_of(at)};
    if (found->of == VENDORS)
        return HAUL_OK;
    const gpu_address address = (uintptr_t)at;
    pointer_attribute *attribute = atomic_load(&drivers[found->of]);
    if (attribute(&found->number, OF_ORDINAL, address) ||
        attribute(&found->first, OF_FIRST, address) || attribute(&found->bytes, OF_BYTES, address))
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "the driver of %s does not tell whose memory is at %p",
                              vendors[found->of].device, at);
    return HAUL_OK;
}

/* Memory of a GPU as part of its allocation. */
static haul_status wrap_place(const place *of, const void *at, haul_device *device,
                              haul_buffer **buffer, haul_address *made, haul_error *error)
{
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the drivers' addresses are numbers
    HAUL_TRY(haul_buffer_wrap(device, (void *)(uintptr_t)of->first, of->bytes, buffer, error));
    *made = haul_in_buffer(*buffer, (uintptr_t)at - of->first);
    return HAUL_OK;
}

/* The call's addresses as haul has them. A GPU of its own is one alone. */
static haul_status open_addresses(hl_mpi_staged *self, haul_call *call, const void *send,
                                  const void *receive, bool is_shared, haul_error *error)
{
    const void *const at[] = {send, receive};
    haul_address *const made[] = {&call->send.at, &call->receive.at};
    for (int i = 0; i < 2; i++) {
        place of;
        *made[i] = at[i] == MPI_IN_PLACE ? haul_in_place() : haul_in_host(at[i]);
        HAUL_TRY(find_place(at[i], &of, error));
        if (of.of == VENDORS)
            continue;
        const bool is_same = self->gpu && self->gpu->of == of.of && self->gpu->number == of.number;
        if (self->gpu && !is_same && !is_shared)
            return haul_error_set(error, HAUL_STATUS_ABSENT, "memory of two GPUs");
        if (!is_same)
            self->gpu = take_gpu(of.of, of.number, is_shared, error);
        if (!self->gpu)
            return error->status;
        HAUL_TRY(wrap_place(&of, at[i], self->gpu->device, &self->buffers[i], made[i], error));
    }
    return HAUL_OK;
}

static haul_status open_copies(hl_mpi_staged *self, haul_call *call, const void *send,
                               const void *receive, haul_error *error)
{
    HAUL_TRY(open_addresses(self, call, send, receive, true, error));
    HAUL_TRY(haul_request_new(self->gpu->comm, call, &self->request, error));
    return haul_request_copy_down(self->request, &self->send, &self->receive, error);
}

static void close_copies(hl_mpi_staged *self)
{
    haul_request_free(self->request);
    haul_buffer_free(self->buffers[0]);
    haul_buffer_free(self->buffers[1]);
}

int hl_mpi_tell_failure(MPI_Comm over, const haul_error *error)
{
    (void)fprintf(stderr, "haul: %s\n", error->text);
    (void)PMPI_Comm_call_errhandler(over, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

int hl_mpi_staged_begin(hl_mpi_staged *self, haul_call *call, const void *send, void *receive)
{
    haul_error error = {.status = HAUL_OK};
    *self = (hl_mpi_staged){.over = call->over, .send = send, .receive = receive};
    if (!hl_mpi_needs_staging(send, receive) || hl_mpi_is_refused(call, send == MPI_IN_PLACE))
        return MPI_SUCCESS;
    (void)pthread_mutex_lock(&gpus_lock);
    const haul_status status = open_copies(self, call, send, receive, &error);
    if (status)
        close_copies(self);
    (void)pthread_mutex_unlock(&gpus_lock);
    return status ? hl_mpi_tell_failure(self->over, &error) : MPI_SUCCESS;
}

int hl_mpi_staged_down(hl_mpi_staged *self)
{
    haul_error error = {.status = HAUL_OK};
    (void)pthread_mutex_lock(&gpus_lock);
    const haul_status status =
        haul_request_copy_down(self->request, &self->send, &self->receive, &error);
    (void)pthread_mutex_unlock(&gpus_lock);
    return status ? hl_mpi_tell_failure(self->over, &error) : MPI_SUCCESS;
}

int hl_mpi_staged_up(hl_mpi_staged *self)
{
    haul_error error = {.status = HAUL_OK};
    (void)pthread_mutex_lock(&gpus_lock);
    const haul_status status = haul_request_copy_up(self->request, &error);
    (void)pthread_mutex_unlock(&gpus_lock);
    return status ? hl_mpi_tell_failure(self->over, &error) : MPI_SUCCESS;
}

void hl_mpi_staged_close(hl_mpi_staged *self)
{
    (void)pthread_mutex_lock(&gpus_lock);
    close_copies(self);
    (void)pthread_mutex_unlock(&gpus_lock);
}

int hl_mpi_staged_end(hl_mpi_staged *self, int code)
{
    if (!self->request)
        return code;
    const int ended = code ? code : hl_mpi_staged_up(self);
    hl_mpi_staged_close(self);
    return ended;
}

haul_comm *hl_mpi_cut_open(hl_mpi_staged *self, haul_call *call, const void *send,
                           const void *receive)
{
    haul_error why; /* whole copies tell it */
    *self = (hl_mpi_staged){.over = call->over};
    (void)pthread_mutex_lock(&gpus_lock);
    const haul_status status = open_addresses(self, call, send, receive, false, &why);
    if (!status && !self->gpu)
        self->gpu = take_gpu(VENDORS, 0, false, &why);
    (void)pthread_mutex_unlock(&gpus_lock);
    return status || !self->gpu ? NULL : self->gpu->comm;
}

void hl_mpi_cut_close(hl_mpi_staged *self)
{
    (void)pthread_mutex_lock(&gpus_lock);
    close_copies(self);
    if (self->gpu)
        self->gpu->is_used = false;
    (void)pthread_mutex_unlock(&gpus_lock);
}

void hl_mpi_preload_close_devices(void)
{
    for (hl_mpi_gpu *one = gpus, *next; one; one = next) {
        next = one->next;
        haul_comm_free(one->comm);
        haul_device_close(one->device);
        free(one);
    }
    gpus = NULL;
}
