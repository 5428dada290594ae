"""Flags in comparisons: what is not compared, and what may explain a difference."""

import pytest

from iotide_server.results.figures.flagged import PAIR, SIDES, reasons, unlike, unlike_words
from iotide_server.statistics.comparison import Verdict


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (["NO_DIRECT"], [], "unlike: A went through the cache"),
        (["ZEROES"], ["CACHE_DROP", "ZEROES"], "unlike: B was read warm"),
        (["ZEROES"], ["BOUND"], "unlike: A wrote zeroes, B is only a bound"),
        ([], ["SMOKE"], "unlike: B SMOKE"),
    ],
)
def test_a_number_is_not_compared_with_one_that_measures_something_else(a: list[str], b: list[str], words: str) -> None:
    found = unlike(a, b, 4)
    assert found is not None
    assert (found.verdict, found.run_count, found.ratio, found.p_value) == (Verdict.UNLIKE, 4, None, None)
    assert unlike_words(a, b, PAIR) == words


@pytest.mark.parametrize(
    ("a", "b"), [([], []), (["ZEROES"], ["ZEROES"]), (["OUTLIER"], ["CV"]), (["DURATION", "ZEROES"], ["ZEROES"])]
)
def test_other_flags_do_not_prevent_a_comparison(a: list[str], b: list[str]) -> None:
    assert unlike(a, b, 4) is None


def test_a_difference_names_the_flags_of_one_side_only() -> None:
    a, b = ["DEGRADED", "STEADY"], ["FOREIGN_LOAD", "STEADY", "DURATION"]
    assert reasons(Verdict.LOWER, a, b, PAIR) == ["A: storage busy with itself", "B: other load"]
    assert reasons(Verdict.HIGHER, [], ["OUTLIER"], SIDES) == ["this side: outlier"]
    assert reasons(Verdict.NO_DIFFERENCE_SHOWN, a, b, PAIR) == []
