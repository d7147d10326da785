/* The tables of MPI's calls in a profile of Nsight Systems, as `haul record --mpi` writes them and
 * as Nsight does. */
#include "profile_fuzz.h"

#define CALL_COLUMNS "start", "end", "globalTid", "textId"
#define HAUL_COLUMNS "size", "requestHandle", "haulWay", "haulCommSize", "haulRank"

static const fuzz_table tables[] = {
    {"StringIds", {"id", "value"}},
    {"MPI_P2P_EVENTS", {CALL_COLUMNS, "commHandle", "tag", "remoteRank", HAUL_COLUMNS}},
    {"MPI_COLLECTIVES_EVENTS", {CALL_COLUMNS, "commHandle", "rootRank", HAUL_COLUMNS}},
    {"MPI_START_WAIT_EVENTS", {CALL_COLUMNS, "requestHandle"}},
    {"MPI_OTHER_EVENTS", {CALL_COLUMNS}},
    {"MPI_RANKS", {"globalPid", "rank"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes",
      "copyKind", "srcKind", "dstKind"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"}},
    {"HAUL_RANKS", {"deviceId", "rank", "host"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size, tables, sizeof tables / sizeof *tables);
    return 0;
}
