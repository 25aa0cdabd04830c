"""Ten steps of a training job as a trace per rank, with torch.profiler: `torchrun --nproc-per-node 8 torch_profile.py traces`.

Put `profiled_steps` around your own loop. What matters for the gate: several steps that are marked (prof.step()), warm-up left out of
the trace, one file per rank, the rank in the name, and the memory and shape options off, since they slow down what is measured.
"""
import os
import pathlib
import sys

import torch

WAIT, WARM_UP, STEPS = 2, 3, 10


def profiled_steps(folder):
    """Yields once per step; writes folder/rankN.pt.trace.json.gz after the last one."""
    rank = int(os.environ.get("RANK", "0"))
    path = pathlib.Path(folder) / f"rank{rank}.pt.trace.json.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    schedule = torch.profiler.schedule(wait=WAIT, warmup=WARM_UP, active=STEPS, repeat=1)
    with torch.profiler.profile(activities=activities, schedule=schedule, record_shapes=False, profile_memory=False, with_stack=False,
                                on_trace_ready=lambda profile: profile.export_chrome_trace(str(path))) as profile:
        for _ in range(WAIT + WARM_UP + STEPS):
            yield
            profile.step()


def main():
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    model = torch.nn.Linear(4096, 4096, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in profiled_steps(sys.argv[1]):
        loss = model(torch.randn(512, 4096, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
