"""Marks the steps of a training job for Nsight Systems: profile it with nsys_profile.sh.

Each step is an NVTX range; capture begins after the warm-up (cudaProfilerStart) and ends after ten steps.
"""
import torch

WARM_UP, STEPS = 5, 10


def marked_steps():
    """Yields once per step."""
    for step in range(WARM_UP + STEPS):
        if step == WARM_UP:
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
        torch.cuda.nvtx.range_push(f"ProfilerStep#{step}")
        yield
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
