"""`haul demo`: a first minute with haul, without a profile of one's own.

usage: haul demo [FILE]

Writes a small profile as PyTorch's profiler does (haul-demo.json), asks haul three questions of it,
and says how to make one of a program of yours. The profile is synthetic: a training loop on an A100
whose batches are copied from pageable memory while the GPU waits, with times from published rates.
"""

import json
import sys
from pathlib import Path

from . import _native

STEPS, STEP_US = 24, 21_000
BATCH_BYTES, PAGEABLE_BYTES_PER_US = 96 << 20, 11_500
LAUNCH_US, THREAD, STREAM = 6, 4711, 7
# of one step: operator, kernel, its grid, microseconds
KERNELS = [("aten::mm", "ampere_sgemm_128x128_nn", [64, 32, 1], 2600),
           ("aten::relu", "vectorized_elementwise_kernel<4, relu>", [65536, 1, 1], 310),
           ("aten::mm", "ampere_sgemm_128x128_nt", [64, 32, 1], 2550),
           ("aten::mm", "ampere_sgemm_128x128_tn", [64, 32, 1], 2620),
           ("aten::add_", "vectorized_elementwise_kernel<4, add>", [32768, 1, 1], 240)]


class _Trace:
    """Events of one thread and one stream, each operation with its call."""

    def __init__(self):
        self.events, self.calls = [], 0
        self.host_us = self.device_us = 0.0

    def add(self, category, name, start_us, time_us, thread=THREAD, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if thread == STREAM else THREAD,
                            "tid": thread, "ts": round(start_us, 3), "dur": round(time_us, 3), "args": args})

    def issue(self, call, category, name, time_us, waits=False, **args):
        """A call, and the operation that it issues; one that waits ends with it."""
        self.calls += 1
        start = max(self.host_us + LAUNCH_US, self.device_us)
        self.device_us = start + time_us
        call_us = self.device_us + 4 - self.host_us if waits else LAUNCH_US
        self.add("cuda_runtime", call, self.host_us, call_us, correlation=self.calls)
        self.add(category, name, start, time_us, STREAM, device=0, stream=STREAM, correlation=self.calls, **args)
        self.host_us += call_us + 2

    def copy(self, direction, size, time_us):
        source, target = ("Pageable", "Device") if direction == "HtoD" else ("Device", "Pageable")
        begin = self.host_us
        self.host_us += 3
        self.issue("cudaMemcpyAsync", "gpu_memcpy", f"Memcpy {direction} ({source} -> {target})", time_us, True,
                   bytes=size)
        self.add("cpu_op", "aten::copy_", begin, self.host_us - begin)


def profile():
    """The profile as the document that PyTorch's profiler writes."""
    trace = _Trace()
    for step in range(STEPS):
        begin = trace.host_us = step * STEP_US
        trace.host_us += 900 # reads the next batch
        trace.copy("HtoD", BATCH_BYTES, BATCH_BYTES / PAGEABLE_BYTES_PER_US)
        for operator, kernel, grid, time_us in KERNELS:
            operator_begin = trace.host_us
            trace.host_us += 4
            trace.issue("cudaLaunchKernel", "kernel", kernel, time_us * (1 + 0.004 * (step % 5)), grid=grid,
                        block=[256, 1, 1])
            trace.add("cpu_op", operator, operator_begin, trace.host_us - operator_begin)
        trace.copy("DtoH", 4, 2.1) # the loss
        trace.add("user_annotation", f"ProfilerStep#{step}", begin, trace.host_us - begin)
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_899_345_920, "computeMajor": 8,
           "computeMinor": 0, "numSms": 108}
    return {"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": trace.events}


def _ask(question, *words):
    print(f"\n{question}\n  $ haul {' '.join(words)}")
    for line in _native.run(*words, "--width", 96).split("\n\n")[0].rstrip().split("\n"):
        print(f"  {line}")


def main():
    """The program `haul-demo`, which `haul demo` starts."""
    words = sys.argv[1:]
    if words in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if len(words) > 1 or words and words[0].startswith("-"):
        print("haul demo: takes a file to write, no more; see 'haul demo --help'", file=sys.stderr)
        return _native.UsageError.exit_code
    path = words[0] if words else "haul-demo.json"
    try:
        Path(path).write_text(json.dumps(profile()), encoding="utf-8")
    except OSError as reason:
        print(f"haul demo: cannot write '{path}': {reason.strerror}", file=sys.stderr)
        return _native.InputError.exit_code
    try:
        print(f"wrote {path}: a synthetic profile, of a training loop on an A100 as PyTorch's profiler records it")
        _ask("Where does the time go?", "analyze", path)
        _ask("What should change?", "advise", path)
        _ask("What would other GPUs bring?", "project", path, "--to", "h100-sxm5,mi300x,gh200")
    except BrokenPipeError: # `haul demo | head`
        sys.stdout = None
        return 0
    except _native.Error as reason:
        print(f"haul demo: {reason}", file=sys.stderr)
        return reason.exit_code
    print("""
Now yours: haul PROFILE, of
  PyTorch           with torch.profiler.profile(record_shapes=True) as p: ...
                    p.export_chrome_trace("trace.json.gz")
  CUDA programs     nsys profile -o run ./program; nsys export --type sqlite run.nsys-rep
  HIP programs      rocprofv3 --sys-trace --output-format rocpd -- ./program
  OpenCL and CUDA   haul record -o run.sqlite -- ./program""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
