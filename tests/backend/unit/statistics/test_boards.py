"""Boards of numbers at four repeats; figures of the review of release 0.2.0."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from iotide_server.statistics.comparison import Comparison, Sides, Verdict, compare, compare_board

BOARDS = 120
NUMBERS = 10


def runs(random: np.random.Generator, centre: float, cv: float, count: int = 4) -> list[float]:
    return list(100 * centre * np.exp(cv * random.standard_normal(count)))


def board(random: np.random.Generator, ratios: list[float], cvs: list[float]) -> list[Comparison]:
    sides = [Sides(runs(random, 1, cv), runs(random, ratio, cv)) for ratio, cv in zip(ratios, cvs, strict=True)]
    return compare_board(sides)


def test_one_of_ten_numbers_that_is_10_percent_lower_is_found_by_four_repeats() -> None:
    random = np.random.default_rng(31)
    ratios = [0.9, *[1.0] * (NUMBERS - 1)]
    boards = [board(random, ratios, [0.03] * NUMBERS) for _ in range(BOARDS)]
    assert np.mean([found[0].verdict is Verdict.LOWER for found in boards]) >= 0.93
    false = [sum(bool(one.is_discovery) for one in found[1:]) for found in boards]
    assert np.mean([number / (number + 1) for number in false]) <= 0.1


@pytest.mark.parametrize("cvs", [[0.03] * 10, [0.01] * 8 + [0.2] * 2, [0.01, 0.03, 0.06, 0.1, 0.2] * 2])
def test_of_ten_equal_numbers_one_in_twenty_boards_has_a_discovery(cvs: list[float]) -> None:
    random = np.random.default_rng(32)
    boards = [board(random, [1.0] * NUMBERS, cvs) for _ in range(BOARDS)]
    assert np.mean([any(one.is_discovery for one in found) for found in boards]) <= 0.1


def test_one_number_alone_is_tested_by_student_at_4_percent() -> None:
    random = np.random.default_rng(33)
    a, b = runs(random, 1, 0.03), runs(random, 0.97, 0.03, 6)
    found = compare(a, b)
    p_value = ttest_ind(np.log(a), np.log(b)).pvalue
    assert found.p_value == pytest.approx(min(1, p_value * 0.05 / 0.04))
    assert found.basis_words == "error from the scatter of runs on one day"


def test_what_is_not_judged_has_an_interval_and_no_verdict_and_leaves_the_family_alone() -> None:
    random = np.random.default_rng(34)
    sides = [Sides(runs(random, 1, 0.03), runs(random, 0.9, 0.03)) for _ in range(3)]
    parts = [Sides(runs(random, 1, 0.3), runs(random, 0.1, 0.3), is_judged=False) for _ in range(20)]
    with_parts = compare_board([*sides, *parts])
    assert with_parts[:3] == compare_board(sides)
    for part in with_parts[3:]:
        assert (part.verdict, part.is_discovery, part.p_value) == (Verdict.NOT_JUDGED, None, None)
        assert part.interval is not None


def test_equal_sides_are_called_equal_where_runs_show_it_and_only_there() -> None:
    random = np.random.default_rng(35)

    def share(ratio: float, cv: float) -> float:
        found = [compare(runs(random, 1, cv, 10), runs(random, ratio, cv, 10)) for _ in range(200)]
        return float(np.mean([one.verdict is Verdict.EQUAL for one in found]))

    assert share(1.0, 0.02) >= 0.95
    assert share(1.05, 0.02) <= 0.1
    assert share(1.0, 0.1) <= 0.05


def test_runs_without_any_scatter_are_compared_as_well() -> None:
    same, more, alike = compare_board(
        [Sides([5.0] * 4, [5.0] * 4), Sides([5.0] * 4, [6.0] * 4), Sides([5.0] * 4, [5.1] * 4)]
    )
    assert [one.verdict for one in (same, more, alike)] == [Verdict.EQUAL, Verdict.HIGHER, Verdict.EQUAL]


def test_a_discovery_whose_interval_of_ranks_holds_1_says_so() -> None:
    """Expect no difference for one slow run of four: the scatter of the other numbers makes it usual."""
    random = np.random.default_rng(36)
    usual = [Sides(runs(random, 1, 0.03), runs(random, 1, 0.03)) for _ in range(20)]
    found = compare_board([*usual, Sides([100.0, 97.0, 103.0, 101.0], [112.0, 109.0, 102.0, 111.0])])[-1]
    assert (found.verdict, found.is_discovery) == (Verdict.HIGHER, True)
    assert found.words == "B 8.9 % higher (95 % interval \u22121.0 to +15.5 %)"
