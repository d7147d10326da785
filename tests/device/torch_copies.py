"""PyTorch's copies of known sizes, as known_copies prints its own. Exit code 4 without a GPU."""
import sys

try:
    import torch
except ImportError:
    sys.exit(4)
if not torch.cuda.is_available():
    sys.exit(4)

TIMES, BYTES = 8, 32 << 20
CYCLES = 40_000_000  # 20 ms: PyTorch's first copy takes the host some
host = torch.ones(BYTES // 4, pin_memory=True)
device = torch.empty_like(host, device="cuda")
stream = torch.cuda.current_stream()


def timed(copy):
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(CYCLES)  # until all is queued: no time of the host's is between the events
    begin.record()
    for _ in range(TIMES):
        copy()
    end.record()
    stream.synchronize()
    return round(begin.elapsed_time(end) * 1e6)


print("operation,memory,count,bytes,time_ns")
ns = timed(lambda: device.copy_(host, non_blocking=True))
print(f"HtoD,pinned,{TIMES},{TIMES * BYTES},{ns}")
ns = timed(lambda: host.copy_(device, non_blocking=True))
print(f"DtoH,pinned,{TIMES},{TIMES * BYTES},{ns}")
