"""Every number of runs with every way in which two sides may differ, judged by the server, for the browser's tests.

The runs are made up; what is said of them is the server's own. See `./dev generate`.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist, median
from typing import Any, Final

from iotide_server.results.schemas import CampaignMetric, Measurement
from iotide_server.statistics.summary import tier
from iotide_server.trends.comparison.engine import ComparedNumber, judge
from iotide_server.trends.comparison.schemas import (
    CampaignComparison,
    ComparedCell,
    ComparedPair,
    Difference,
    SideOfRow,
    SidesComparison,
    SidesMetric,
    SidesRow,
)
from iotide_server.trends.comparison.service import of_two
from iotide_wire.units import Unit

RUN_COUNTS: Final = (1, 2, 3, 4, 5, 30)
_CENTRE: Final = 200e6
_FAR_APART: Final = 0.35
_NEAR: Final = 0.01
_WIDE: Final = 0.1
_OTHER_FILE: Final = {"file_size_bytes": 4 << 30}


def _runs(count: int, centre: float, spread: float) -> list[float]:
    """As a normal distribution has them, the middle one first and then outwards."""
    places = [(place + 0.5) / count for place in range(count)]
    scores = [NormalDist().inv_cdf(place) for place in sorted(places, key=lambda place: abs(place - 0.5))]
    return [round(centre * (1 + spread * score)) for score in scores]


def _two_modes(count: int) -> list[float]:
    """Every second run found its data in a cache."""
    return [value * (2.5 if place % 2 else 1) for place, value in enumerate(_runs(count, _CENTRE, _NEAR))]


def _with_zero(count: int) -> list[float]:
    return [0.0, *_runs(count, _CENTRE, _NEAR)[1:]]


_STEADY: Final[Callable[[int], list[float]]] = lambda count: _runs(count, _CENTRE, _NEAR)  # noqa: E731 - beside its like
SHAPES: Final[Mapping[str, tuple[Callable[[int], list[float]], Callable[[int], list[float]]]]] = {
    "alike": (_STEADY, lambda count: _runs(count, 1.001 * _CENTRE, 1.3 * _NEAR)),
    "higher": (_STEADY, lambda count: _runs(count, 1.2 * _CENTRE, _NEAR)),
    "lower": (_STEADY, lambda count: _runs(count, 0.8 * _CENTRE, _NEAR)),
    "slightly": (_STEADY, lambda count: _runs(count, 1.035 * _CENTRE, _NEAR)),
    "barely": (
        lambda count: _runs(count, _CENTRE, _WIDE),
        lambda count: _runs(count, 1.057 * _CENTRE, _WIDE),
    ),
    "noisy": (_STEADY, lambda count: _runs(count, 1.05 * _CENTRE, _FAR_APART)),
    "modes": (_STEADY, _two_modes),
    "zero": (_STEADY, _with_zero),
}
"""What the sides A and B measured in so many runs."""


def comparison() -> CampaignComparison:
    """A against B: a pair for each number of runs, and one of sides that did not run the same."""
    made = [(count, None, tuple(SHAPES)) for count in RUN_COUNTS] + [
        (count, _OTHER_FILE, ("higher",)) for count in RUN_COUNTS
    ]
    rows = judge([[two_sides(name, count) for name in shapes] for count, _, shapes in made])
    pairs = [
        _pair(ordinal, count, other, row)
        for ordinal, ((count, other, _), row) in enumerate(zip(made, rows, strict=True), start=1)
    ]
    return CampaignComparison(pairs=pairs, only_a=[], only_b=[])


def sides() -> SidesComparison:
    """Each way a side beside a steady baseline: a row for each number of runs, the last side unlike the others."""
    names = ["baseline", *(name for name in SHAPES if name not in {"barely", "zero"}), "unlike"]
    metric = made_metric("throughput")
    judged = judge(
        [[ComparedNumber(metric, [made_measurement(_of_side(name)(count)) for name in names])] for count in RUN_COUNTS]
    )
    rows = [
        SidesRow(
            workload="dd",
            options={},
            cells=[_side(name, 10 * ordinal + place, ordinal, count) for place, name in enumerate(names)],
            differences=[],
            metrics=metrics,
        )
        for ordinal, (count, metrics) in enumerate(zip(RUN_COUNTS, judged, strict=True), start=1)
    ]
    return SidesComparison(
        by="target",
        dimensions=["target"],
        sides=names,
        against=0,
        rows=rows,
        sides_left_out=[],
        rows_left_out=0,
    )


def answers() -> dict[str, Any]:
    """Both, as the API gives them."""
    return {"comparison": comparison().model_dump(mode="json"), "sides": sides().model_dump(mode="json")}


def _variant(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"


def two_sides(name: str, count: int) -> ComparedNumber:
    """The number of a shape, of so many runs a side."""
    return ComparedNumber(made_metric(name), [made_measurement(of_side(count)) for of_side in SHAPES[name]])


def _pair(ordinal: int, count: int, other: Mapping[str, Any] | None, metrics: Sequence[SidesMetric]) -> ComparedPair:
    options = {"file_size_bytes": 1 << 30}
    a, b = (
        ComparedCell(
            campaign_id=campaign_id,
            cell_id=100 * campaign_id + ordinal,
            ordinal=ordinal,
            workload="dd",
            options=of_side,
            node_names=["node1"],
            target_names=[f"{_variant(count)}{', unlike' if other else ''}"],
            variant="",
        )
        for campaign_id, of_side in ((1, options), (2, dict(other or options)))
    )
    differences = [
        Difference(name=f"options.{name}", a=options[name], b=value) for name, value in (other or {}).items()
    ]
    return ComparedPair(a=a, b=b, differences=differences, is_alike=not other, metrics=list(map(of_two, metrics)))


def _of_side(name: str) -> Callable[[int], list[float]]:
    if name == "baseline":
        return _STEADY
    return SHAPES["higher" if name == "unlike" else name][1]


def _side(name: str, cell_id: int, ordinal: int, count: int) -> SideOfRow:
    return SideOfRow(
        campaign_id=1,
        campaign_name="made up",
        cluster_name="made-up",
        cell_id=cell_id,
        ordinal=ordinal,
        node_names=["node1"],
        target_names=[name],
        variant=_variant(count),
        is_alike=name != "unlike",
    )


def made_metric(name: str) -> CampaignMetric:
    """A metric of dd that stands for whole runs."""
    return CampaignMetric(
        workload="dd",
        metric=name,
        title=name.capitalize(),
        description="",
        unit=Unit.BYTES_PER_SECOND,
        better="higher",
        labels=[],
        is_primary=True,
    )


def made_measurement(values: Sequence[float]) -> Measurement:
    """What one cell says by runs of these values."""
    return Measurement(
        labels={},
        target_name=None,
        n=len(values),
        median=median(values),
        low=min(values),
        high=max(values),
        tier=tier(len(values)),
        flags=[],
        run_ids=list(range(1, len(values) + 1)),
        values=list(values),
    )


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(answers())}\n")
