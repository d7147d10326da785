/* Copies from and to page-locked memory of each NUMA node. The nodes are hwloc's, whose library is
 * loaded where it is there. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "measure/copies.h"

#ifndef HAUL_HAS_HWLOC

haul_status hl_measure_numa(hl_measure_session *session, haul_error *error)
{
    (void)session;
    return haul_error_set(error, HAUL_STATUS_ABSENT,
                          "built without hwloc's headers (libhwloc-dev)");
}

#else

#include <hwloc.h>

#include "base/library.h"

#define FUNCTIONS(X)                                                                               \
    X(hwloc_topology_init)                                                                         \
    X(hwloc_topology_load)                                                                         \
    X(hwloc_topology_destroy)                                                                      \
    X(hwloc_get_type_depth)                                                                        \
    X(hwloc_get_nbobjs_by_depth)                                                                   \
    X(hwloc_get_obj_by_depth)                                                                      \
    X(hwloc_alloc_membind)                                                                         \
    X(hwloc_free)

typedef struct numa {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    hwloc_topology_t topology;
} numa;

/* HWLOC_SYNTHETIC and HWLOC_XMLFILE give another topology than this machine's: hwloc then binds
 * nothing. */
static haul_status numa_open(numa *self, haul_error *error)
{
    static const char *const libraries[] = {"libhwloc.so.15", "libhwloc.so", NULL};
    void *library = hl_base_library_open(libraries);
    bool has_all = library;
#define FIND(name)                                                                                 \
    has_all = has_all && hl_base_library_function(library, #name, (void *)&self->name);
    FUNCTIONS(FIND)
#undef FIND
    if (!has_all) {
        (void)haul_error_set(error, HAUL_STATUS_ABSENT, "no libhwloc.so.15 (libhwloc15)");
        return HAUL_STATUS_ABSENT; /* in words for clang-tidy, which does not know what
                                    * haul_error_set returns
                                    */
    }
    if (self->hwloc_topology_init(&self->topology))
        return hl_base_fail_no_memory(error);
    if (!self->hwloc_topology_load(self->topology))
        return HAUL_OK;
    self->hwloc_topology_destroy(self->topology);
    (void)haul_error_set(error, HAUL_STATUS_ABSENT, "hwloc does not know this machine");
    return HAUL_STATUS_ABSENT;
}

/* The node's number is the system's. */
static haul_status measure_node(hl_measure_session *session, const numa *self, hwloc_obj_t node,
                                haul_error *error)
{
    char what[48];
    hl_measure_way way = {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, NULL};
    const uint64_t bytes = session->options.largest_bytes;
    void *memory = self->hwloc_alloc_membind(self->topology, bytes, node->nodeset,
                                             HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET);
    if (!memory)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "NUMA node %u gives no memory",
                              node->os_index);
    memset(memory, 0, bytes); /* so that its pages are there */
    (void)snprintf(what, sizeof what, "NUMA node %u", node->os_index);
    haul_status status = haul_buffer_pin(session->device, memory, bytes, &way.host, error);
    if (!status)
        status = hl_measure_copies_find_rate(session, way, what, error);
    if (!status)
        status = hl_measure_copies_find_rate(session, hl_measure_way_back(way), what, error);
    haul_buffer_free(way.host);
    self->hwloc_free(self->topology, memory, bytes);
    return status;
}

/* One node has nothing to be compared with, and a simulated device no memory of the host's. A node
 * without memory of its own is left out. */
haul_status hl_measure_numa(hl_measure_session *session, haul_error *error)
{
    numa self = {.topology = NULL};
    if (haul_device_describe(session->device)->is_simulated)
        return HAUL_OK;
    HAUL_TRY(numa_open(&self, error));
    const int depth = self.hwloc_get_type_depth(self.topology, HWLOC_OBJ_NUMANODE);
    const unsigned count = self.hwloc_get_nbobjs_by_depth(self.topology, depth);
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < count && count > 1 && !status; i++) {
        status = measure_node(session, &self, self.hwloc_get_obj_by_depth(self.topology, depth, i),
                              error);
        status = hl_measure_is_lacking(status) ? HAUL_OK : status;
    }
    self.hwloc_topology_destroy(self.topology);
    return status;
}

#endif
