/* Programs of CUDA that hand a GPU's memory to an MPI that does not take it: each call gets a copy
 * in the host's memory, and is then one of that. */
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

enum { GPUS_MOST = 64 };

/* CUDA's driver, where the program has loaded it. */
enum { CU_TYPE = 2, CU_MANAGED = 8, CU_ORDINAL = 9, CU_FIRST = 11, CU_BYTES = 12, CU_DEVICE = 2 };

typedef unsigned long long cu_address;

typedef int pointer_attribute(void *value, int which, cu_address at);
static _Atomic(pointer_attribute *) driver;

/* Libraries that had been loaded when the driver was last looked for: whether another one has been
 * costs little to ask. */
static atomic_ullong loaded_seen;

/* A GPU as haul sees it, opened when its memory is first handed over. */
static struct {
    haul_device *device;
    haul_comm *comm; /* of this process alone */
} gpus[GPUS_MOST];

/* Of the GPUs and their communicators; not held while MPI's calls run. */
static pthread_mutex_t gpus_lock = PTHREAD_MUTEX_INITIALIZER;

static int note_loaded(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

/* NULL where the program has not loaded it. */
static pointer_attribute *find_driver(void)
{
    pointer_attribute *found = atomic_load(&driver);
    unsigned long long loaded = 0;
    if (found)
        return found;
    (void)dl_iterate_phdr(note_loaded, &loaded);
    if (loaded == atomic_load(&loaded_seen))
        return atomic_load(&driver); /* another thread may just have found it */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library)
        *(void **)&found = dlsym(library, "cuPointerGetAttribute");
    atomic_store(&driver, found);
    atomic_store(&loaded_seen, loaded);
    return found;
}

static bool takes_device_memory(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

bool hl_mpi_may_have_device_memory(void)
{
    return takes_device_memory() && find_driver();
}

/* Managed memory is the host's too. */
static bool is_of_device(const void *at)
{
    unsigned type = 0, is_managed = 0;
    if (!at || at == MPI_IN_PLACE)
        return false;
    pointer_attribute *attribute = find_driver();
    const cu_address address = (uintptr_t)at;
    if (!attribute || attribute(&type, CU_TYPE, address) || type != CU_DEVICE)
        return false;
    return attribute(&is_managed, CU_MANAGED, address) || !is_managed;
}

bool hl_mpi_needs_staging(const void *send, const void *receive)
{
    return (is_of_device(receive) || is_of_device(send)) && !takes_device_memory();
}

static haul_status open_gpu(int number, haul_error *error)
{
    char name[16];
    if (number < 0 || number >= GPUS_MOST)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "the GPU with number %d", number);
    if (gpus[number].comm)
        return HAUL_OK;
    (void)snprintf(name, sizeof name, "cuda:%d", number);
    haul_status status = HAUL_OK;
    if (!gpus[number].device)
        status = haul_device_open(name, NULL, &gpus[number].device, error);
    const haul_comm_options options = {.device = gpus[number].device};
    return status ? status : haul_comm_new(MPI_COMM_SELF, &options, &gpus[number].comm, error);
}

/* Memory of a GPU as part of its allocation, other memory as it is. */
static haul_status find_address(hl_mpi_staged *self, int which, const void *at, haul_address *found,
                                haul_error *error)
{
    int number = 0;
    cu_address base = 0;
    size_t bytes = 0;
    *found = at == MPI_IN_PLACE ? haul_in_place() : haul_in_host(at);
    if (!is_of_device(at))
        return HAUL_OK;
    const cu_address address = (uintptr_t)at;
    pointer_attribute *attribute = find_driver();
    if (attribute(&number, CU_ORDINAL, address) || attribute(&base, CU_FIRST, address) ||
        attribute(&bytes, CU_BYTES, address))
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "CUDA does not tell whose memory is at %p", at);
    HAUL_TRY(open_gpu(number, error));
    self->comm = gpus[number].comm;
    *found = haul_in_buffer(NULL, address - base);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's addresses are numbers
    return haul_buffer_wrap(gpus[number].device, (void *)(uintptr_t)base, bytes,
                            &self->buffers[which], error);
}

static haul_status open_copies(hl_mpi_staged *self, haul_call *call, const void *send,
                               void *receive, haul_error *error)
{
    HAUL_TRY(find_address(self, 0, send, &call->send.at, error));
    HAUL_TRY(find_address(self, 1, receive, &call->receive.at, error));
    if (self->buffers[0])
        call->send.at.buffer = self->buffers[0];
    if (self->buffers[1])
        call->receive.at.buffer = self->buffers[1];
    HAUL_TRY(haul_request_new(self->comm, call, &self->request, error));
    return haul_request_copy_down(self->request, &self->send, &self->receive, error);
}

static void close_copies(hl_mpi_staged *self)
{
    haul_request_free(self->request);
    haul_buffer_free(self->buffers[0]);
    haul_buffer_free(self->buffers[1]);
}

static int tell_failure(const hl_mpi_staged *self, const haul_error *error)
{
    (void)fprintf(stderr, "haul: %s\n", error->text);
    (void)PMPI_Comm_call_errhandler(self->over, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

int hl_mpi_staged_begin(hl_mpi_staged *self, haul_call *call, const void *send, void *receive)
{
    haul_error error = {.status = HAUL_OK};
    *self = (hl_mpi_staged){.over = call->over, .send = send, .receive = receive};
    if (!hl_mpi_needs_staging(send, receive))
        return MPI_SUCCESS;
    (void)pthread_mutex_lock(&gpus_lock);
    const haul_status status = open_copies(self, call, send, receive, &error);
    if (status)
        close_copies(self);
    (void)pthread_mutex_unlock(&gpus_lock);
    return status ? tell_failure(self, &error) : MPI_SUCCESS;
}

int hl_mpi_staged_down(hl_mpi_staged *self)
{
    haul_error error = {.status = HAUL_OK};
    (void)pthread_mutex_lock(&gpus_lock);
    const haul_status status =
        haul_request_copy_down(self->request, &self->send, &self->receive, &error);
    (void)pthread_mutex_unlock(&gpus_lock);
    return status ? tell_failure(self, &error) : MPI_SUCCESS;
}

int hl_mpi_staged_up(hl_mpi_staged *self)
{
    haul_error error = {.status = HAUL_OK};
    (void)pthread_mutex_lock(&gpus_lock);
    const haul_status status = haul_request_copy_up(self->request, &error);
    (void)pthread_mutex_unlock(&gpus_lock);
    return status ? tell_failure(self, &error) : MPI_SUCCESS;
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

void hl_mpi_preload_close_devices(void)
{
    for (int i = 0; i < GPUS_MOST; i++) {
        haul_comm_free(gpus[i].comm);
        haul_device_close(gpus[i].device);
        gpus[i].comm = NULL;
        gpus[i].device = NULL;
    }
}
