/* Tables of Nsight Systems, as tests write them. */
#ifndef HAUL_TESTS_NSYS_TABLES_H
#define HAUL_TESTS_NSYS_TABLES_H

#include "profile_db.h"

#define PID "281474976710656" /* 2^48: process 0; threads are in the low 24 bits */
#define STRINGS "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
#define MEMCPY                                                                                     \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, "    \
    "streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, "       \
    "dstKind INT, srcDeviceId INT, dstDeviceId INT);"
#define KERNEL                                                                                     \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, "    \
    "streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT, "           \
    "registersPerThread INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, "            \
    "blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT);"
#define RUNTIME                                                                                    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT, " \
    "correlationId INT, nameId INT);"
#define OLD_SYNC                                                                                   \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, deviceId INT, "          \
    "contextId INT, streamId INT, correlationId INT, globalPid INT, type INT, eventId INT);"
#define NEW_SYNC                                                                                   \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, deviceId INT, "          \
    "contextId INT, streamId INT, correlationId INT, globalPid INT, syncType INT, eventId INT, "   \
    "eventSyncId INT);"
#define OLD_EVENT                                                                                  \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId INT, contextId INT, streamId INT, "      \
    "correlationId INT, globalPid INT, eventId INT);"
#define NEW_EVENT                                                                                  \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp INT, deviceId INT, contextId INT, "     \
    "streamId INT, correlationId INT, globalPid INT, eventId INT, eventSyncId INT);"
#define NO "4294967295"

#endif
