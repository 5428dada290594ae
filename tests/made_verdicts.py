"""Every number of runs with every way in which two sides may differ, judged by the server, for the browser's tests.

The runs are generated; the verdicts are the server's own. See `./dev generate`.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist, median
from typing import Any, Final

from iotide_server.results.figures.bases import Compared
from iotide_server.results.schemas import CampaignMetric, Measurement
from iotide_server.statistics.boards import Basis
from iotide_server.statistics.comparison import Sides
from iotide_server.statistics.days import DayError
from iotide_server.statistics.summary import tier
from iotide_server.trends.comparison.engine import ComparedNumber, by_runs, judge
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
    """Return values of a normal distribution, the middle one first and then outwards."""
    places = [(place + 0.5) / count for place in range(count)]
    scores = [NormalDist().inv_cdf(place) for place in sorted(places, key=lambda place: abs(place - 0.5))]
    return [round(centre * (1 + spread * score)) for score in scores]


def _two_modes(count: int) -> list[float]:
    """Return runs with every second one from a cache."""
    return [value * (2.5 if place % 2 else 1) for place, value in enumerate(_runs(count, _CENTRE, _NEAR))]


def _with_zero(count: int) -> list[float]:
    return [0.0, *_runs(count, _CENTRE, _NEAR)[1:]]


_STEADY: Final[Callable[[int], list[float]]] = lambda count: _runs(count, _CENTRE, _NEAR)  # noqa: E731 - as the next ones
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
"""Values of the sides A and B, by number of runs."""

BASES: Final[Mapping[str, Mapping[str, Any]]] = {
    "pairs": {"basis": Basis.PAIRS},
    "makes": {"basis": Basis.MAKES},
    "one make each": {"basis": Basis.ONE_MAKE},
    "days": {"basis": Basis.DAYS},
    "history": {"basis": Basis.HISTORY, "day_error": DayError(2 * 0.02**2, 19, point_count=20, series_count=1)},
    "workload": {"basis": Basis.WORKLOAD, "day_error": DayError(2 * 0.02**2, 5, point_count=8, series_count=3)},
    "one day each": {"basis": Basis.ONE_DAY},
    "third look": {"looks": 3},
}
"""Fields of `Sides` by the name of the metric; eight higher values on either side."""
_BASIS_RUNS: Final = 8


def comparison() -> CampaignComparison:
    """Compare A with B: a pair for each number of runs, and one of sides that ran under different conditions."""
    made = [(count, None, tuple(SHAPES)) for count in RUN_COUNTS] + [
        (count, _OTHER_FILE, ("higher",)) for count in RUN_COUNTS
    ]
    rows = judge([[two_sides(name, count) for name in shapes] for count, _, shapes in made])
    pairs = [
        _pair(ordinal, count, other, row)
        for ordinal, ((count, other, _), row) in enumerate(zip(made, rows, strict=True), start=1)
    ]
    return CampaignComparison(pairs=pairs, only_a=[], only_b=[])


def bases() -> CampaignComparison:
    """Compare one configuration, with a metric for each scatter that the error may come from."""

    def with_bases(compared: Sequence[Compared]) -> list[Sides]:
        # In the same order, all pairs would have the same ratio.
        mixed = [replace(sides, b=sides.b[::-1]) for sides in by_runs(compared)]
        return [replace(sides, **more) for sides, more in zip(mixed, BASES.values(), strict=True)]

    numbers = [
        ComparedNumber(made_metric(name), [made_measurement(of_side(_BASIS_RUNS)) for of_side in SHAPES["higher"]])
        for name in BASES
    ]
    (row,) = judge([numbers], with_bases)
    return CampaignComparison(pairs=[_pair(1, _BASIS_RUNS, None, row)], only_a=[], only_b=[])


def sides() -> SidesComparison:
    """Compare each shape of a side with a steady baseline: a row for each number of runs, the last side unlike the
    others.
    """
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
    """Return them, as the API does."""
    return {
        "comparison": comparison().model_dump(mode="json"),
        "bases": bases().model_dump(mode="json"),
        "sides": sides().model_dump(mode="json"),
    }


def _variant(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"


def two_sides(name: str, count: int) -> ComparedNumber:
    """Return the number of a shape for a number of runs a side."""
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
    """Return a metric of dd for whole runs."""
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
    """Return the measurement of one cell with runs of these values."""
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
