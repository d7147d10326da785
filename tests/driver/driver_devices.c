/* The devices: what they say of themselves. */
#include "driver.h"

/* CUdevice_attribute, hipDeviceAttribute_t; -1: HIP has none. */
static const struct {
    int cuda, hip, value;
} attributes[] = {
    {1, 56, 1024},               /* threads of a block */
    {2, 26, 1024},               /* of its first dimension */
    {5, 29, INT32_MAX},          /* blocks of a grid's first dimension */
    {8, 74, DRIVER_MOST_SHARED}, /* shared memory of a block */
    {10, 87, 32},                /* threads of a warp */
    {13, 5, 1530000},            /* kHz */
    {15, 12, 1},                 /* copies beside kernels */
    {16, 63, 80},                /* multiprocessors */
    {18, 16, 0},                 /* integrated */
    {19, 3, 1},                  /* maps the host's memory */
    {31, 8, 1},                  /* kernels at once */
    {33, 67, 1},                 /* PCI bus */
    {34, 68, 0},                 /* PCI device */
    {36, 60, 877000},            /* kHz of the memory */
    {37, 59, 4096},              /* bits of its bus */
    {38, 19, 524288},            /* bytes of L2 cache */
    {39, 57, 2048},              /* threads of a multiprocessor */
    {40, 2, 2},                  /* copy engines */
    {41, 85, 1},                 /* one address space with the host */
    {50, 69, 0},                 /* PCI domain */
    {75, 23, 7},                 /* compute capability */
    {76, 61, 0},
    {83, 24, 1},                        /* managed memory */
    {87, 77, 2},                        /* single to double precision */
    {89, 9, 1},                         /* host and kernels use managed memory at once */
    {81, 10002, DRIVER_MULTIPROCESSOR}, /* shared memory of a multiprocessor */
    {97, -1, DRIVER_MOST_DYNAMIC},      /* shared memory of a block that asks for it */
};

enum { ATTRIBUTES = sizeof attributes / sizeof *attributes, PCI_BUS = 33 };

int driver_device_check(int device)
{
    if (device < 0 || (uint64_t)device >= driver.options.devices)
        return DRIVER_INVALID_DEVICE;
    return DRIVER_OK;
}

static int attribute_of(int *value, size_t row, int device)
{
    if (row == ATTRIBUTES)
        return DRIVER_INVALID_VALUE;
    if (driver_device_check(device))
        return DRIVER_INVALID_DEVICE;
    *value = attributes[row].value + (attributes[row].cuda == PCI_BUS ? device : 0);
    return DRIVER_OK;
}

int driver_attribute(int *value, int attribute, int device)
{
    size_t i = 0;
    while (i < ATTRIBUTES && attributes[i].cuda != attribute)
        i++;
    return attribute_of(value, i, device);
}

int driver_hip_attribute(int *value, int attribute, int device)
{
    size_t i = 0;
    while (i < ATTRIBUTES && attributes[i].hip != attribute)
        i++;
    return attribute_of(value, i, device);
}

const char *driver_device_name(void)
{
    return "Fake V100";
}
