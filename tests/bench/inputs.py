"""The benchmark's inputs, made by make_trace with fixed seeds. They are made once and kept in build/bench/inputs."""
import dataclasses
import json
import pathlib
import shutil
import subprocess

from measuring import Failed

# Files made by an older generator are made again where this number rises.
GENERATION = 1
KERNELS_PER_STEP = 1000


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Bytes of JSON, and kernels of the database."""
    small: str
    middle: str
    large: str
    kernels: int


FULL = Sizes("50MB", "500MB", "2GB", 1_000_000)
QUICK = Sizes("25MB", "50MB", "150MB", 100_000)


class Inputs:
    def __init__(self, folder: pathlib.Path, make_trace: pathlib.Path, tell):
        self.folder, self.make_trace, self.tell = folder, make_trace, tell
        folder.mkdir(parents=True, exist_ok=True)

    def made(self, name: str, make) -> pathlib.Path:
        """The file of that name, made by `make(path)` where it is not there; a half-made one never has its name."""
        path = self.folder / f"g{GENERATION}-{name}"
        if not path.exists():
            self.tell(f"making {path.name}")
            for part in self.folder.glob("part-*"):
                part.unlink()
            part = self.folder / f"part-{path.name}"
            make(part)
            part.rename(path)
        return path

    def traced(self, name: str, *options) -> pathlib.Path:
        """A file of make_trace; beside it, what it says of the file."""
        def make(part):
            done = subprocess.run([self.make_trace, "--as-profiler", "--seed", "20261129", *map(str, options), part],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                raise Failed(f"make_trace: {done.stderr}")
            (self.folder / f"g{GENERATION}-{name}.facts").write_text(done.stdout)
        return self.made(name, make)

    def facts(self, path: pathlib.Path) -> list:
        """Of each rank in the file."""
        return json.loads(path.with_name(path.name + ".facts").read_text())["ranks"]

    def kineto(self, size: str) -> pathlib.Path:
        return self.traced(f"{size}.json", "--kernels-per-step", KERNELS_PER_STEP, "--buckets", 24, "--size", size)

    def gzipped(self, size: str, level=9) -> pathlib.Path:
        """One member."""
        plain = self.kineto(size)

        def make(part):
            with open(part, "wb") as out:
                subprocess.run(["gzip", f"-{level}", "-n", "-c", plain], stdout=out, check=True)
        return self.made(f"{size}.level{level}.json.gz", make)

    def nsys(self, kernels: int, *options) -> pathlib.Path:
        """Two ranks, one process each."""
        steps = max(4, round(kernels / 2 / (KERNELS_PER_STEP + 24)))
        name = "".join([f"{kernels}-kernels", *map(str, options), ".sqlite"])
        return self.traced(name, "--format", "nsys", "--all-ranks", "--kernels-per-step", KERNELS_PER_STEP, "--buckets", 24,
                           "--steps", steps, *options)

    def upload(self) -> pathlib.Path:
        """About 25 kB, compressed: a few steps of a real trace's shape."""
        plain = self.traced("upload.json", "--kernels-per-step", 40, "--size", "320kB")

        def make(part):
            with open(part, "wb") as out:
                subprocess.run(["gzip", "-9", "-n", "-c", plain], stdout=out, check=True)
        return self.made("upload.json.gz", make)


def forget(folder: pathlib.Path):
    shutil.rmtree(folder, ignore_errors=True)
