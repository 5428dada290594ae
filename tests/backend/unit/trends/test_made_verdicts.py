"""What may be said of so many runs: the rule table, held against every way in which two sides may differ."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from made_verdicts import RUN_COUNTS, SHAPES, answers, comparison, made_measurement, made_metric, sides

from iotide_server.statistics.comparison import Verdict
from iotide_server.trends.comparison.engine import ComparedNumber, judge
from iotide_server.trends.comparison.schemas import ComparedMetric, SideVerdict
from iotide_server.trends.comparison.service import of_two

WRITTEN: Final = Path(__file__).parents[4] / "frontend/testing/verdicts.json"
FEW: Final = Verdict.FEW_RUNS
ALIKE, HIGHER, LOWER = Verdict.NO_DIFFERENCE_SHOWN, Verdict.HIGHER, Verdict.LOWER
BELOW, MODES = Verdict.BELOW_PRACTICAL, Verdict.TWO_MODES
TABLE: Final = {
    1: dict.fromkeys(SHAPES, Verdict.ONE_RUN),
    2: dict.fromkeys(SHAPES, FEW),
    3: dict.fromkeys(SHAPES, FEW),
    4: {"alike": ALIKE, "higher": HIGHER, "lower": LOWER, "slightly": BELOW, "barely": ALIKE, "noisy": ALIKE},
    5: {"alike": ALIKE, "higher": HIGHER, "lower": LOWER, "slightly": BELOW, "barely": ALIKE, "noisy": ALIKE},
    30: {"alike": ALIKE, "higher": HIGHER, "lower": LOWER, "slightly": BELOW, "barely": HIGHER, "noisy": ALIKE},
}
WORDS: Final = {
    Verdict.NO_RATIO: "no ratio: a value is not above 0",
    Verdict.ONE_RUN: "1 run: nothing can be said of a difference",
    FEW: r"(2 runs: too few for an interval; 2 more are|3 runs: too few for an interval; 1 more is) needed",
    MODES: r"two modes \(cache\?\): no single ratio stands for them",
    ALIKE: r"no difference shown \(could be \u2212\d+\.\d to \+\d+\.\d %\)",
    BELOW: r"different by \+\d\.\d to \+\d\.\d %, below the practical threshold of 5 %",
    HIGHER: r"(B )?\d+\.\d to \d+\.\d % higher",
    LOWER: r"(B )?\d+\.\d to \d+\.\d % lower",
}


def wanted(count: int, shape: str) -> Verdict:
    if shape == "zero":
        return Verdict.NO_RATIO
    return TABLE[count].get(shape, MODES)


def metric_of(count: int, shape: str) -> ComparedMetric:
    pair = comparison().pairs[RUN_COUNTS.index(count)]
    return next(metric for metric in pair.metrics if metric.metric == shape)


def said(found: ComparedMetric | SideVerdict) -> dict[str, bool]:
    numbers = {"ratio": found.ratio, "low": found.low, "high": found.high, "p": found.p_value}
    return {name: number is not None for name, number in numbers.items()}


@pytest.mark.parametrize(("count", "shape"), list(product(RUN_COUNTS, SHAPES)))
def test_no_more_is_said_than_so_many_runs_allow(count: int, shape: str) -> None:
    found = metric_of(count, shape)
    assert found.verdict is wanted(count, shape)
    assert re.fullmatch(WORDS[found.verdict], found.words)
    assert "equal" not in found.words
    has_interval = found.verdict in {ALIKE, BELOW, HIGHER, LOWER}
    assert said(found) == dict.fromkeys(("ratio", "low", "high", "p"), has_interval)
    assert (found.median_ratio is not None) == (has_interval or found.verdict is FEW)
    assert (found.modes_b is not None) == (found.verdict is MODES)
    assert not found.is_discovery or found.verdict in {BELOW, HIGHER, LOWER}


def test_each_side_keeps_its_own_flags() -> None:
    of_a, of_b = (replace(made_measurement([1.0]), flags=flags) for flags in (["CACHE_SIZE"], ["DURATION"]))
    (found,) = discovered([ComparedNumber(made_metric("throughput"), [of_a, of_b])])
    assert (found.flags_a, found.flags_b, found.flags) == (["CACHE_SIZE"], ["DURATION"], ["CACHE_SIZE", "DURATION"])


def test_what_many_comparisons_give_by_chance_is_no_discovery() -> None:
    barely = metric_of(30, "barely")
    assert barely.p_value is not None
    assert (barely.p_value < 0.05, barely.is_discovery) == (True, False)


FASTER: Final = ([234.0, 290.0, 310.0, 384.0], [1100.0, 1180.0, 1500.0, 1960.0])
"""Four runs of each side without overlap, which is all that so few can show."""
SCATTERED: Final = ([1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 2.7, 3.5])


def plan_of(sizes: int) -> list[ComparedNumber]:
    """A cell of dd against another: a throughput of each size that differs, and four durations that do not."""

    def compared(name: str, sides: tuple[list[float], list[float]], *, is_primary: bool) -> ComparedNumber:
        metric = made_metric(name).model_copy(update={"is_primary": is_primary})
        return ComparedNumber(metric, [made_measurement(values) for values in sides])

    metrics = [compared("throughput", FASTER, is_primary=True) for _ in range(sizes)]
    return [*metrics, *(compared("duration", SCATTERED, is_primary=False) for _ in range(4 * sizes))]


def discovered(row: Sequence[ComparedNumber]) -> list[ComparedMetric]:
    return [of_two(metric) for metric in judge([row])[0]]


def test_four_runs_without_overlap_are_a_discovery_however_many_parts_scatter() -> None:
    metrics = discovered(plan_of(6))
    assert {round(metric.p_value or 0, 4) for metric in metrics[:6]} == {0.0286}
    assert {(metric.metric, metric.is_discovery) for metric in metrics} == {("throughput", True), ("duration", None)}


def test_writers_of_their_own_are_not_judged_beside_their_total() -> None:
    whole, *writers = plan_of(3)[:3]
    parts = [
        ComparedNumber(part.metric, [replace(one, labels={"writer": number}) for one in part.sides if one is not None])
        for number, part in enumerate(writers, start=1)
    ]
    assert [metric.is_discovery for metric in discovered([whole, *parts])] == [True, None, None]


def test_many_sides_are_judged_by_the_same_rules() -> None:
    found = sides()
    for count, row in zip(RUN_COUNTS, found.rows, strict=True):
        (metric,) = row.metrics
        for name, numbers, verdict in zip(found.sides, metric.numbers, metric.verdicts, strict=True):
            if verdict is None:
                assert name == "baseline"
                continue
            assert verdict.verdict is wanted(count, "higher" if name == "unlike" else name)
            assert re.fullmatch(WORDS[verdict.verdict], verdict.words)
            assert numbers is not None
            assert (numbers.modes is not None) == (verdict.verdict is MODES)
            assert verdict.runs_missing == max(0, 4 - count)


def test_the_browsers_tests_have_what_the_server_says_now() -> None:
    assert json.loads(WRITTEN.read_text(encoding="utf-8")) == answers(), "run ./dev generate"
