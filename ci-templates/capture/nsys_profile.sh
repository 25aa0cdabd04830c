#!/usr/bin/env bash
# nsys_profile.sh FOLDER COMMAND...: profiles COMMAND with Nsight Systems and exports what the gate reads, FOLDER/rankN.sqlite. The report
# itself, for people, goes to FOLDER.reports: beside its export it would be a second trace of the same rank.
# Run it once per rank, inside of torchrun or mpirun: `torchrun --no-python --nproc-per-node 8 nsys_profile.sh traces python train.py`.
set -euo pipefail

folder=${1%/}
shift
rank=${RANK:-${OMPI_COMM_WORLD_RANK:-${SLURM_PROCID:-0}}}
mkdir -p "$folder"
report=$folder/rank$rank

# --capture-range=cudaProfilerApi: only the marked steps (nsys_steps.py), not start-up and warm-up.
# --cuda-graph-trace=node: the kernels inside of CUDA graphs, without which a graph is one opaque block.
# No sampling of CPUs and no context switches: they slow down what is measured.
nsys profile --trace=cuda,nvtx --cuda-graph-trace=node --sample=none --cpuctxsw=none --capture-range=cudaProfilerApi \
  --capture-range-end=stop --force-overwrite=true --output="$report" "$@"

# --include-blobs=true: NCCL's message sizes are in them; without them bandwidths are not measured.
nsys export --type=sqlite --include-blobs=true --force-overwrite=true --output="$report.sqlite" "$report.nsys-rep"
mkdir -p "$folder.reports"
mv -f "$report.nsys-rep" "$folder.reports/"
