"""What is said of two sets of runs wherever they are compared, and of many such comparisons together."""

from collections.abc import Sequence
from typing import Any, TypeVar

from iotide_server.kit.web import Output
from iotide_server.statistics.comparison import Comparison, Verdict, discoveries


class Judgement(Output):
    """B in terms of A.

    `ratio` is that of Hodges and Lehmann with its exact 95 % interval, and `p_value` that of Mann and Whitney; null
    below four runs, with two modes, or where a value is not above 0. `is_discovery` judges it among all numbers of
    this answer that stand for whole runs, at a rate of false discoveries of 5 %; it is null of other numbers.
    """

    verdict: Verdict
    words: str
    median_ratio: float | None
    ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    is_discovery: bool | None


_JudgedT = TypeVar("_JudgedT", bound=Judgement)


def judgement(found: Comparison) -> dict[str, Any]:
    """The fields of `Judgement`; whether it is a discovery is known once all are there."""
    return {
        "verdict": found.verdict,
        "words": found.words,
        "median_ratio": found.median_ratio,
        "ratio": found.ratio,
        "low": None if found.interval is None else found.interval.low,
        "high": None if found.interval is None else found.interval.high,
        "p_value": found.p_value,
        "is_discovery": False,
    }


def judged_together(comparisons: Sequence[_JudgedT]) -> list[_JudgedT]:
    """Return the same comparisons, each judged among all of them: of many some differ by chance."""
    found = iter(discoveries([one.p_value for one in comparisons if one.p_value is not None]))
    return [one if one.p_value is None else one.model_copy(update={"is_discovery": next(found)}) for one in comparisons]
