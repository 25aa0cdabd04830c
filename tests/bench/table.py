"""What the benchmark asks for, and how a row is judged and printed. Bounds: docs/performance.md."""
import dataclasses
import json
import typing

from measuring import Figure


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    what: str
    must: float
    should: float
    measure: typing.Callable[[], Figure]
    at_least: bool = False
    unit: str = "x"

    def met(self, bound: float, value: float) -> bool:
        return value >= bound if self.at_least else value <= bound

    def verdict(self, figure: Figure) -> str:
        if self.met(self.should, figure.value):
            return "should"
        return "must" if self.met(self.must, figure.value) else "MISSED"


@dataclasses.dataclass(frozen=True)
class Measured:
    row: Row
    figure: Figure

    @property
    def verdict(self) -> str:
        return self.row.verdict(self.figure)


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


HEAD = f"{'row':<22} {'must':>9} {'should':>9} {'measured':>9}  {'spread':<15} {'':<8} what"


def line(measured: Measured) -> str:
    row, figure = measured.row, measured.figure
    sign = "≥" if row.at_least else "≤"
    spread = f"{number(figure.low)}–{number(figure.high)}"
    return (f"{row.name:<22} {sign + ' ' + number(row.must):>9} {sign + ' ' + number(row.should):>9} "
            f"{number(figure.value):>9}  {spread:<15} {measured.verdict:<8} {row.what}: {figure.note}")


def document(rows: list, about: dict) -> str:
    """bench.json."""
    return json.dumps(about | {"rows": [
        {"row": m.row.name, "what": m.row.what, "must": m.row.must, "should": m.row.should,
         "better": "higher" if m.row.at_least else "lower", "unit": "B" if m.row.unit == "B" else "ratio",
         "value": m.figure.value, "low": m.figure.low, "high": m.figure.high, "verdict": m.verdict, "note": m.figure.note}
        for m in rows]}, indent=1, ensure_ascii=False) + "\n"


def metrics(rows: list) -> str:
    """The same for our own gate: docs/formats/metrics_json.md."""
    return json.dumps({"metrics": {
        f"custom.bench.{m.row.name}": {"value": m.figure.value, "unit": "B" if m.row.unit == "B" else "ratio",
                                       "better": "higher" if m.row.at_least else "lower"} for m in rows}}) + "\n"
