#include "profile_fuzz.h"

static const fuzz_table tables[] = {
    {"rocpd_string_a", {"id", "string"}},
    {"rocpd_memory_copy_a",
     {"start", "end", "event_id", "stream_id", "queue_id", "name_id", "dst_agent_id", "dst_address",
      "src_agent_id", "src_address", "size"}},
    {"rocpd_kernel_dispatch_a",
     {"start", "end", "event_id", "stream_id", "queue_id", "kernel_id", "agent_id",
      "workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y",
      "grid_size_z", "group_segment_size"}},
    {"rocpd_memory_allocate_a", {"type", "agent_id", "address", "size", "start"}},
    {"rocpd_region_a", {"start", "end", "event_id", "pid", "tid", "name_id", "extdata"}},
    {"rocpd_event_a", {"id", "stack_id", "category_id"}},
    {"rocpd_info_agent_a", {"id", "type", "type_index", "product_name"}},
    {"rocpd_info_thread_a", {"id", "tid"}},
    {"rocpd_info_node_a", {"hostname"}},
    {"rocpd_string", {"id", "string"}},
    {"rocpd_op", {"id", "start", "end", "gpuId", "queueId", "description_id", "opType_id"}},
    {"rocpd_api", {"id", "start", "end", "pid", "tid", "apiName_id", "args_id"}},
    {"rocpd_api_ops", {"op_id", "api_id"}},
    {"rocpd_copyapi", {"api_ptr_id", "stream", "size", "pinned"}},
    {"rocpd_kernelapi",
     {"api_ptr_id", "stream", "kernelName_id", "gridX", "gridY", "gridZ", "workgroupX",
      "workgroupY", "workgroupZ", "groupSegmentSize"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size, tables, sizeof tables / sizeof *tables);
    return 0;
}
