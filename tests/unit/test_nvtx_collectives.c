/* Bytes that NCCL's calls move, by the payloads of their NVTX ranges. */
#include "haul/collective.h"
#include "profile_db.h"

#define PID "281474976710656"    /* 2^48: process 0 */
#define THREAD "281474976710659" /* its thread 3 */

/* Domain 1; schema 16 is of ncclCommInitRank, 23 of what has a size. */
static const char tables[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES(1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)'), "
    "(2, 'ncclDevKernel_AllGather_RING_LL(x)'), (3, 'ncclDevKernel_SendRecv(x)'), "
    "(4, 'cudaLaunchKernel'), (5, 'ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, "
    "streamId INT, correlationId INT, globalPid INT, demangledName INT, gridX INT, gridY INT, "
    "gridZ INT, blockX INT, blockY INT, blockZ INT, registersPerThread INT, "
    "staticSharedMemory INT, dynamicSharedMemory INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, "
    "correlationId INT, nameId INT);"
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId INT, schemaId INT, idx INT, offset INT, "
    "name TEXT);"
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
    "(1, 16, 0, NULL, 'NCCL communicator ID'), (1, 16, 1, 8, 'No. of ranks'), "
    "(1, 23, 0, NULL, 'NCCL communicator ID'), (1, 23, 1, 8, 'Message size [bytes]');"
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT, "
    "globalTid INT, domainId INT, binaryData BLOB);";

#define HEADER(schema) "X'0100000000000000" schema "0000000000000018000000000000003800000000000000"
#define COMMUNICATOR "aa00000000000000"
#define MESSAGE(size) HEADER("17") COMMUNICATOR size "0000000000000000'"
#define KERNEL(start, id, name)                                                                    \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" start ", " start " + 50, 0, 1, 7, " id        \
    ", " PID ", " name ", 1, 1, 1, 32, 1, 1, 0, 0, 0);"                                            \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" start " - 20, " start " - 10, " THREAD       \
    ", " id ", 4);"
#define RANGE(start, name, payload)                                                                \
    "INSERT INTO NVTX_EVENTS VALUES(" start ", " start " + 5, 59, '" name "', NULL, " THREAD       \
    ", 1, " payload ");"
/* four ranks */
#define INIT                                                                                       \
    RANGE("1", "ncclCommInitRank",                                                                 \
          HEADER("10") COMMUNICATOR "04000000"                                                     \
                                    "00000000"                                                     \
                                    "0000000000000000'")

static haul_communication of(const haul_workload *workload, size_t kernel)
{
    return haul_communication_of(workload, &workload->ops[kernel]);
}

static haul_workload *load(const char *rows)
{
    sqlite3 *db = profile_make(tables);
    char *message = NULL;
    if (sqlite3_exec(db, rows, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    return profile_read(db);
}

static void sizes_are_those_of_the_calls(void **state)
{
    (void)state;
    haul_workload *workload =
        load(INIT RANGE("100", "ncclAllReduce", MESSAGE("0010000000000000")) KERNEL("130", "1", "1")
                 RANGE("200", "ncclAllGather", MESSAGE("0001000000000000")) KERNEL("230", "2", "2")
                     RANGE("300", "ncclReduceScatter", MESSAGE("0002000000000000"))
                         KERNEL("330", "3", "5"));
    static const uint64_t bytes[] = {4096, 4 * 256, 4 * 512};
    static const haul_collective_kind kinds[] = {
        HAUL_COLLECTIVE_ALL_REDUCE, HAUL_COLLECTIVE_ALL_GATHER, HAUL_COLLECTIVE_REDUCE_SCATTER};
    assert_int_equal(workload->op_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(of(workload, i).kind, kinds[i]);
        assert_int_equal(of(workload, i).bytes, bytes[i]);
        assert_int_equal(of(workload, i).ranks, 4);
        assert_string_equal(haul_workload_string(workload, of(workload, i).group),
                            "communicator aa");
    }
    haul_workload_free(workload);
}

/* A group is launched behind its calls, one kernel for each kind. */
static void groups_are_summed(void **state)
{
    (void)state;
    haul_workload *workload = load(
        RANGE("100", "ncclAllReduce", MESSAGE("0010000000000000"))
            RANGE("110", "ncclSend", MESSAGE("0003000000000000"))
                RANGE("115", "ncclRecv", MESSAGE("0001000000000000"))
                    RANGE("120", "ncclAllReduce", MESSAGE("0020000000000000"))
                        KERNEL("200", "1", "1") KERNEL("300", "2", "3") KERNEL("400", "3", "1"));
    assert_int_equal(workload->op_count, 3);
    assert_int_equal(of(workload, 0).bytes, 4096 + 8192);
    assert_int_equal(of(workload, 0).ranks, 0);
    assert_int_equal(of(workload, 1).kind, HAUL_COLLECTIVE_SEND_RECEIVE);
    assert_int_equal(of(workload, 1).bytes, 768);
    assert_int_equal(of(workload, 2).bytes, 0); /* no call of its own, as of a graph's */
    haul_workload_free(workload);
}

/* Without the number of ranks the parts of all are not known; what is cut short or absurd is left.
 */
static void what_is_not_told_is_not_known(void **state)
{
    (void)state;
    haul_workload *workload = load(
        RANGE("100", "ncclAllGather", MESSAGE("0001000000000000")) KERNEL("130", "1", "2")
            RANGE("200", "ncclAllReduce", HEADER("17") "aa'") KERNEL("230", "2", "1")
                RANGE("300", "ncclAllReduce", "X'0100'") KERNEL("330", "3", "1") RANGE(
                    "400", "ncclAllReduce", MESSAGE("ffffffffffffffff")) KERNEL("430", "4", "1")
                    RANGE("500", "ncclAllReduce", HEADER("63") COMMUNICATOR "0010000000000000'")
                        KERNEL("530", "5", "1"));
    assert_int_equal(workload->op_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(of(workload, i).bytes, 0);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_calls),
        cmocka_unit_test(groups_are_summed),
        cmocka_unit_test(what_is_not_told_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
