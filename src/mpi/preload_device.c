/* Programs of CUDA that hand a GPU's memory to an MPI that does not take it: each call gets a copy
 * in the host's memory, and is then one of that. */
#include <dlfcn.h>
#include <link.h>
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

static struct {
    void *library;
    int (*attribute)(void *value, int which, cu_address at);
} driver;

/* A GPU as haul sees it, opened when its memory is first handed over. */
static struct {
    haul_device *device;
    haul_comm *comm; /* of this process alone */
} gpus[GPUS_MOST];

/* Libraries that have been loaded so far: whether another one has costs little to ask. */
static unsigned long long loaded_seen;

static int note_loaded(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

static bool finds_driver(void)
{
    unsigned long long loaded = 0;
    if (driver.library)
        return driver.attribute;
    (void)dl_iterate_phdr(note_loaded, &loaded);
    if (loaded == loaded_seen)
        return false;
    loaded_seen = loaded;
    driver.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver.library)
        return false;
    *(void **)&driver.attribute = dlsym(driver.library, "cuPointerGetAttribute");
    return driver.attribute;
}

bool hl_mpi_takes_device_memory(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

bool hl_mpi_program_has_device(void)
{
    return finds_driver();
}

/* Managed memory is the host's too. */
static bool is_of_device(const void *at)
{
    unsigned type = 0, is_managed = 0;
    if (!at || at == MPI_IN_PLACE || !finds_driver())
        return false;
    const cu_address address = (uintptr_t)at;
    if (driver.attribute(&type, CU_TYPE, address) || type != CU_DEVICE)
        return false;
    return driver.attribute(&is_managed, CU_MANAGED, address) || !is_managed;
}

bool hl_mpi_needs_staging(const void *send, const void *receive)
{
    return (is_of_device(receive) || is_of_device(send)) && !hl_mpi_takes_device_memory();
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
    if (driver.attribute(&number, CU_ORDINAL, address) ||
        driver.attribute(&base, CU_FIRST, address) || driver.attribute(&bytes, CU_BYTES, address))
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "CUDA does not tell whose memory is at %p", at);
    HAUL_TRY(open_gpu(number, error));
    self->comm = gpus[number].comm;
    *found = haul_in_buffer(NULL, address - base);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's addresses are numbers
    return haul_buffer_wrap(gpus[number].device, (void *)(uintptr_t)base, bytes,
                            &self->buffers[which], error);
}

static int end_call(hl_mpi_staged *self, haul_status status, const haul_error *error)
{
    haul_request_free(self->request);
    haul_buffer_free(self->buffers[0]);
    haul_buffer_free(self->buffers[1]);
    if (!status)
        return MPI_SUCCESS;
    (void)fprintf(stderr, "haul: %s\n", error->text);
    (void)PMPI_Comm_call_errhandler(self->over, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

int hl_mpi_staged_begin(hl_mpi_staged *self, haul_call *call, const void *send, void *receive)
{
    haul_error error = {.status = HAUL_OK};
    *self = (hl_mpi_staged){.over = call->over};
    haul_status status = find_address(self, 0, send, &call->send.at, &error);
    if (!status)
        status = find_address(self, 1, receive, &call->receive.at, &error);
    if (self->buffers[0])
        call->send.at.buffer = self->buffers[0];
    if (self->buffers[1])
        call->receive.at.buffer = self->buffers[1];
    if (!status)
        status = haul_request_new(self->comm, call, &self->request, &error);
    if (!status)
        status = haul_request_copy_down(self->request, &self->send, &self->receive, &error);
    return status ? end_call(self, status, &error) : MPI_SUCCESS;
}

int hl_mpi_staged_end(hl_mpi_staged *self, int code)
{
    haul_error error = {.status = HAUL_OK};
    const haul_status status = code ? HAUL_OK : haul_request_copy_up(self->request, &error);
    const int ended = end_call(self, status, &error);
    return code ? code : ended;
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
