"""Claims allowed for a number of runs: the rule table, compared with every way in which two sides may differ."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from made_verdicts import RUN_COUNTS, SHAPES, answers, bases, comparison, made_measurement, made_metric, sides

from iotide_server.statistics.comparison import Verdict
from iotide_server.trends.comparison.engine import ComparedNumber, judge
from iotide_server.trends.comparison.schemas import ComparedMetric, SideVerdict
from iotide_server.trends.comparison.service import of_two

WRITTEN: Final = Path(__file__).parents[4] / "frontend/testing/verdicts.json"
FEW: Final = Verdict.FEW_RUNS
ALIKE, HIGHER, LOWER = Verdict.NO_DIFFERENCE_SHOWN, Verdict.HIGHER, Verdict.LOWER
BELOW, MODES, EQUAL = Verdict.BELOW_PRACTICAL, Verdict.TWO_MODES, Verdict.EQUAL
OF_FEW_RUNS: Final = {
    "alike": EQUAL,
    "higher": HIGHER,
    "lower": LOWER,
    "slightly": BELOW,
    "barely": ALIKE,
    "noisy": ALIKE,
    "modes": ALIKE,
}
TABLE: Final = {
    1: dict.fromkeys(SHAPES, Verdict.ONE_RUN),
    2: dict.fromkeys(SHAPES, FEW),
    3: dict.fromkeys(SHAPES, FEW),
    4: OF_FEW_RUNS,
    5: OF_FEW_RUNS,
    30: {"alike": EQUAL, "higher": HIGHER, "lower": LOWER, "slightly": EQUAL, "barely": ALIKE, "noisy": ALIKE},
}
WORDS: Final = {
    Verdict.NO_RATIO: "no ratio: a value is 0 or negative",
    Verdict.ONE_RUN: "1 run: too few to compare",
    FEW: r"(2 runs: too few for an interval; 2 more|3 runs: too few for an interval; 1 more) needed",
    MODES: r"two modes \(cache\?\): no single ratio applies",
    ALIKE: r"not significant: [\u2212+]\d+\.\d to \+\d+(\.\d)? %",
    EQUAL: r"equal within 5 % \(\+\d\.\d %\)",
    BELOW: r"\+\d\.\d to \+\d\.\d %, below the practical threshold of 5 %",
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
def test_a_verdict_claims_no_more_than_its_runs_allow(count: int, shape: str) -> None:
    found = metric_of(count, shape)
    assert found.verdict is wanted(count, shape)
    assert re.fullmatch(WORDS[found.verdict], found.words)
    has_interval = found.verdict in {ALIKE, EQUAL, BELOW, HIGHER, LOWER}
    assert said(found) == dict.fromkeys(("ratio", "low", "high", "p"), has_interval)
    assert (found.median_ratio is not None) == (has_interval or found.verdict is FEW)
    assert (found.modes_b is not None) == (found.verdict is MODES)
    assert not found.is_discovery or found.verdict in {EQUAL, BELOW, HIGHER, LOWER}
    assert found.is_discovery or found.verdict not in {BELOW, HIGHER, LOWER}


def test_each_side_keeps_its_own_flags() -> None:
    of_a, of_b = (replace(made_measurement([1.0]), flags=flags) for flags in (["CACHE_SIZE"], ["DURATION"]))
    (found,) = discovered([ComparedNumber(made_metric("throughput"), [of_a, of_b])])
    assert (found.flags_a, found.flags_b, found.flags) == (["CACHE_SIZE"], ["DURATION"], ["CACHE_SIZE", "DURATION"])


def test_chance_results_of_many_comparisons_are_no_discovery() -> None:
    barely = metric_of(30, "barely")
    assert barely.p_value is not None
    assert (barely.p_value < 0.05, barely.is_discovery) == (True, False)


FASTER: Final = ([234.0, 290.0, 310.0, 384.0], [1100.0, 1180.0, 1500.0, 1960.0])
"""Four runs of each side without overlap: the clearest result that four runs can show."""
SCATTERED: Final = ([1.0, 2.0, 3.0, 4.0], [1.5, 2.5, 2.7, 3.5])


def plan_of(sizes: int) -> list[ComparedNumber]:
    """Return a cell of dd against another: a throughput of each size that differs, and four durations that do not."""

    def compared(name: str, sides: tuple[list[float], list[float]], *, is_primary: bool) -> ComparedNumber:
        metric = made_metric(name).model_copy(update={"is_primary": is_primary})
        return ComparedNumber(metric, [made_measurement(values) for values in sides])

    metrics = [compared("throughput", FASTER, is_primary=True) for _ in range(sizes)]
    return [*metrics, *(compared("duration", SCATTERED, is_primary=False) for _ in range(4 * sizes))]


def discovered(row: Sequence[ComparedNumber]) -> list[ComparedMetric]:
    return [of_two(metric) for metric in judge([row])[0]]


def test_four_runs_without_overlap_are_a_discovery_however_many_parts_scatter() -> None:
    metrics = discovered(plan_of(6))
    assert {(metric.metric, metric.is_discovery, metric.verdict) for metric in metrics} == {
        ("throughput", True, HIGHER),
        ("duration", None, Verdict.NOT_JUDGED),
    }
    assert {metric.p_value for metric in metrics[6:]} == {None}
    assert all(metric.low is not None for metric in metrics)


def test_one_of_ten_numbers_that_halves_is_a_discovery_of_four_runs() -> None:
    """Ranks of four runs cannot show it: their smallest p is 0.029, and 0.005 is needed."""
    slower = ([234.0, 238.0, 229.0, 241.0], [117.0, 121.0, 116.0, 118.0])
    others = ([234.0, 238.0, 229.0, 241.0], [236.0, 231.0, 239.0, 235.0])
    sides = [slower, *[others] * 9]
    found = discovered(
        [ComparedNumber(made_metric("throughput"), [made_measurement(own) for own in both]) for both in sides]
    )
    assert [metric.verdict for metric in found] == [LOWER, *[EQUAL] * 9]


def test_single_writers_are_not_judged_together_with_their_total() -> None:
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


def test_each_verdict_names_its_scatter_and_none_rests_on_one_day_each() -> None:
    found = {metric.metric: metric for metric in bases().pairs[0].metrics}
    assert {name: metric.basis_words for name, metric in found.items()} == {
        "pairs": "error from 8 pairs of neighbouring runs",
        "makes": "error from the means of 8 makes",
        "one make each": "error from the scatter of runs on one make each: the make may be the cause",
        "days": "error from the medians of 8 days",
        "history": "error from the day-to-day scatter of its last 20 campaigns",
        "workload": "error from the day-to-day scatter of 3 series of this workload",
        "one day each": "measured on one day each: the day may be the cause",
        "third look": "error from the scatter of runs on one day",
    }
    judged = {name for name, metric in found.items() if metric.p_value is not None}
    assert (
        judged
        == {name for name, metric in found.items() if metric.verdict is HIGHER}
        == found.keys() - {"one day each"}
    )


def test_the_browsers_tests_have_the_present_verdicts_of_the_server() -> None:
    written = json.loads(WRITTEN.read_text(encoding="utf-8"))
    assert rounded(written) == rounded(json.loads(json.dumps(answers()))), "run ./dev generate"


def rounded(found: Any) -> Any:  # noqa: ANN401 - JSON
    """Round numbers to 12 digits: since Python 3.12, `sum` adds them more exactly."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list):
        return [rounded(value) for value in found]
    return float(f"{found:.12g}") if isinstance(found, float) else found


def test_numbers_of_which_one_went_through_the_cache_get_no_verdict() -> None:
    steady, higher = SHAPES["higher"]
    a = replace(made_measurement(steady(5)), flags=["NO_DIRECT"])
    b = replace(made_measurement(higher(5)), flags=["FOREIGN_LOAD"])
    [[metric]] = judge([[ComparedNumber(made_metric("higher"), [a, b])]])
    of_pair = of_two(metric)
    assert (of_pair.verdict, of_pair.ratio, of_pair.p_value) == (Verdict.UNLIKE, None, None)
    assert of_pair.words == "unlike: A went through the cache"
    assert metric.verdicts[1] is not None
    assert metric.verdicts[1].words == "unlike: the baseline went through the cache"


def test_a_difference_offers_the_flags_of_one_side_as_reasons() -> None:
    steady, higher = SHAPES["higher"]
    a, b = made_measurement(steady(5)), replace(made_measurement(higher(5)), flags=["FOREIGN_LOAD"])
    [[metric]] = judge([[ComparedNumber(made_metric("higher"), [a, b])]])
    assert of_two(metric).reasons == ["B: other load"]
