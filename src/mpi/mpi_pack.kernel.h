/* Rows of memory, packed one behind the other and back: one kernel for all rows of a message. All
 * is counted in numbers of 8, 4 or 1 bytes. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_mpi_pack_file)

/* `rows` has six numbers for each: where it is packed, where it lies, its length, the distance to
 * the next, how many there are in a plane, and the distance of planes. */
HAUL_FUNCTION long hl_mpi_place(HAUL_GLOBAL const long *rows, int count, long i)
{
    int low = 0, high = count;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (rows[6 * (long)middle] <= i)
            low = middle;
        else
            high = middle;
    }
    HAUL_GLOBAL const long *row = rows + 6 * (long)low;
    const long at = i - row[0], line = at / row[2];
    return row[1] + line / row[4] * row[5] + line % row[4] * row[3] + at % row[2];
}

#define HL_MPI_PACK_KERNELS(pack, unpack, type)                                                    \
    HAUL_KERNEL_1D(pack, hl_mpi_pack_file, HAUL_OUT(type, packed), HAUL_IN(type, cells),           \
                   HAUL_IN(long, rows), HAUL_VALUE(int, count))                                    \
    {                                                                                              \
        HAUL_FOR1 (i)                                                                              \
            packed[i] = cells[hl_mpi_place(rows, count, i)];                                       \
    }                                                                                              \
    HAUL_KERNEL_1D(unpack, hl_mpi_pack_file, HAUL_IN(type, packed), HAUL_INOUT(type, cells),       \
                   HAUL_IN(long, rows), HAUL_VALUE(int, count))                                    \
    {                                                                                              \
        HAUL_FOR1 (i)                                                                              \
            cells[hl_mpi_place(rows, count, i)] = packed[i];                                       \
    }

HL_MPI_PACK_KERNELS(hl_mpi_pack_8, hl_mpi_unpack_8, unsigned long)
HL_MPI_PACK_KERNELS(hl_mpi_pack_4, hl_mpi_unpack_4, unsigned)
HL_MPI_PACK_KERNELS(hl_mpi_pack_1, hl_mpi_unpack_1, unsigned char)
