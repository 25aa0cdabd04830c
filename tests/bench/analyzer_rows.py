"""Rows about `traceweir analyze`: against reference programs, in memory, over sizes and over the order of rows."""
import functools
import json
import pathlib

from inputs import Inputs, Sizes
from measuring import Cost, Failed, Figure, alternately, cost_of, median, own_cost_of, ratio, warm
from table import Row

HERE = pathlib.Path(__file__).resolve().parent
# What was recorded of HolisticTraceAnalysis and of R1 on the same 50 MB file and machine: docs/performance.md.
HTA_SECONDS, HTA_R1_SECONDS = 4.7, 0.9


class Analyses:
    """Measurements that several rows share. Each is made once, when the first row asks for it."""

    def __init__(self, inputs: Inputs, sizes: Sizes, programs: pathlib.Path, runs: int):
        self.inputs, self.sizes, self.programs, self.runs = inputs, sizes, programs, runs

    def analyze(self, file, cores=None):
        return lambda: cost_of([self.programs / "traceweir", "analyze", "--json", file], cores=cores)

    def reference(self, name, *arguments):
        return lambda: own_cost_of([self.programs / f"bench_{name}", *arguments])

    def script(self, name, file):
        return lambda: cost_of(["/usr/bin/python3", HERE / "reference" / f"{name}.py", file])

    @functools.cached_property
    def json(self) -> dict:
        file = self.inputs.kineto(self.sizes.middle)
        warm(file)
        costs = alternately(self.runs, ours=self.analyze(file), one=self.analyze(file, cores="0"),
                            python=self.script("by_hand", file), simdjson=self.reference("on_demand", file))
        check_same("kernels", costs["python"], costs["simdjson"])
        return costs

    @functools.cached_property
    def gzip(self) -> dict:
        file = self.inputs.gzipped(self.sizes.middle)
        warm(file)
        return alternately(self.runs, ours=self.analyze(file), inflate=self.reference("inflate", file))

    @functools.cached_property
    def small(self) -> dict:
        file = self.inputs.kineto(self.sizes.small)
        warm(file)
        return alternately(max(self.runs, 5), ours=self.analyze(file), python=self.script("by_hand", file))

    @functools.cached_property
    def large(self) -> dict:
        plain, packed = self.inputs.kineto(self.sizes.large), self.inputs.gzipped(self.sizes.large, level=1)
        warm(plain, packed)
        return alternately(min(self.runs, 3), ours=self.analyze(plain), packed=self.analyze(packed))

    @functools.cached_property
    def sqlite(self) -> dict:
        ordered, shuffled = self.inputs.nsys(self.sizes.kernels), self.inputs.nsys(self.sizes.kernels, "--shuffle")
        warm(ordered, shuffled)
        costs = alternately(self.runs, ours=self.analyze(ordered), shuffled=self.analyze(shuffled),
                            step=self.reference("sqlite_pass", ordered), pandas=self.script("pandas_by_hand", ordered))
        check_same("kernel_ns", costs["step"], costs["pandas"])
        if results_of(costs["ours"][0]) != results_of(costs["shuffled"][0]):
            raise Failed("the shuffled export gives other results than the ordered one")
        return costs

    def needed_rows(self, size: str) -> int:
        """GPU events and the host calls that metrics need."""
        rows = [rank["rows"] for rank in self.inputs.facts(self.inputs.kineto(size))]
        return sum(row["gpu_work"] + row["needed_calls"] for row in rows)

    def memory_slope(self) -> Figure:
        """Bytes of peak memory per row more, of the plain and of the compressed file; the larger of the two."""
        rows = self.needed_rows(self.sizes.large) - self.needed_rows(self.sizes.middle)
        slopes = {"plain": (median(self.large["ours"], "rss") - median(self.json["ours"], "rss")) / rows,
                  "gz": (median(self.large["packed"], "rss") - median(self.gzip["ours"], "rss")) / rows}
        peak = median(self.large["ours"], "rss") / 1e6
        return Figure(max(slopes.values()), min(slopes.values()), max(slopes.values()),
                      f"{slopes['plain']:.1f} B plain, {slopes['gz']:.1f} B gz per row; peak {peak:.0f} MB")

    def linearity(self) -> Figure:
        """The dearest size's cost per byte over the cheapest size's: the files have the same events per byte."""
        costs = {self.sizes.small: self.small["ours"], self.sizes.middle: self.json["ours"],
                 self.sizes.large: self.large["ours"]}
        per_gb = {size: median(cost) / (self.inputs.kineto(size).stat().st_size / 1e9) for size, cost in costs.items()}
        value = max(per_gb.values()) / min(per_gb.values())
        return Figure(value, value, value, ", ".join(f"{size} {each:.3f} s/GB" for size, each in per_gb.items()))

    def against_hta(self) -> Figure:
        by_hand = ratio(self.small["ours"], self.small["python"])
        part = HTA_R1_SECONDS / HTA_SECONDS
        return Figure(by_hand.value * part, by_hand.low * part, by_hand.high * part,
                      f"{by_hand.note} of R1, which needed {HTA_R1_SECONDS} s where HTA needed {HTA_SECONDS} s")

    def rows(self) -> list:
        size, kernels = self.sizes.middle, f"{self.sizes.kernels:,}-kernel SQLite"
        return [
            Row("json.cpu_r1", f"{size} JSON, CPU to R1 (Python by hand)", 1 / 12, 1 / 20,
                lambda: ratio(self.json["ours"], self.json["python"])),
            Row("json.cpu_r2", f"{size} JSON, CPU to R2 (whole-file On-Demand, 9 fields)", 1.3, 0.9,
                lambda: ratio(self.json["ours"], self.json["simdjson"])),
            Row("json.wall_cores", f"{size} JSON, wall on all cores to one", 0.8, 0.7,
                lambda: ratio(self.json["ours"], self.json["one"], "wall")),
            Row("gzip.wall_r3", f"{size} .gz, wall to R3 (plain zlib inflate)", 1.3, 0.8,
                lambda: ratio(self.gzip["ours"], self.gzip["inflate"], "wall")),
            Row("json.memory_slope", f"peak memory from {size} to {self.sizes.large}", 96, 64, self.memory_slope, unit="B"),
            Row("json.linear", "JSON, CPU per event over three sizes", 1.15, 1.15, self.linearity),
            Row("json.hta", f"{self.sizes.small} JSON, CPU to HTA's as recorded", 1 / 50, 1 / 120, self.against_hta),
            Row("sqlite.cpu_r4", f"{kernels}, CPU to R4 (5 columns, quick_check)", 1.8, 1.2,
                lambda: ratio(self.sqlite["ours"], self.sqlite["step"])),
            Row("sqlite.cpu_r5", f"{kernels}, CPU to R5 (pandas by hand)", 1 / 3, 1 / 6,
                lambda: ratio(self.sqlite["ours"], self.sqlite["pandas"])),
            Row("sqlite.shuffle", f"{kernels} out of order, CPU to ordered", 1.5, 1.2,
                lambda: ratio(self.sqlite["shuffled"], self.sqlite["ours"])),
        ]


def check_same(key: str, *references):
    """References that found different things have not done the same work."""
    found = {cost.said[key] for costs in references for cost in costs}
    if len(found) != 1:
        raise Failed(f"the references disagree about {key}: {sorted(found)}")


def results_of(cost: Cost) -> dict:
    """A report without what names its file."""
    report = json.loads(cost.out)
    for rank in report["ranks"]:
        del rank["trace"]
    return report
