"""Short forms of `./dev bench comparison` with fixed seeds."""

import numpy as np
import pytest
from comparison_boards import MIXED, OF_ONE_IN_TEN, Board, board_rates, peeking_rates
from comparison_days import OF_TEN, Days, Paired, day_rates, pair_rates

from iotide_server.statistics.boards import Basis


def test_four_repeats_show_one_of_ten_numbers_that_is_a_tenth_lower() -> None:
    rates = board_rates(OF_ONE_IN_TEN, np.random.default_rng(1), 60)
    assert rates.found >= 0.9
    assert rates.false <= 0.1
    assert rates.equal >= 0.3


@pytest.mark.parametrize(
    "board",
    [
        Board(changed=0),
        Board(changed=0, spreads=MIXED),
        Board(changed=2, spreads=MIXED),
        Board(changed=1, ratio=0.5, halved=0.05),
    ],
    ids=["alike", "mixed scatter", "mixed scatter, two lower", "outliers"],
)
def test_few_discoveries_of_a_board_are_false(board: Board) -> None:
    assert board_rates(board, np.random.default_rng(2), 50).false <= 0.12


def test_numbers_that_differ_by_five_percent_are_seldom_equal_within_it() -> None:
    board = Board(changed=5, ratio=1.05, spreads=(0.02,))
    assert board_rates(board, np.random.default_rng(3), 60).wrongly_equal <= 0.08


@pytest.mark.parametrize(
    "days",
    [
        Days(0.01),
        Days(0.05),
        Days(0.10),
        Days(0.05, points=6),
        Days(0.05, basis=Basis.WORKLOAD, points=4),
        Days(0.05, basis=Basis.DAYS, points=3),
    ],
    ids=lambda days: f"{days.basis} {days.day:.0%} {days.points}",
)
def test_intervals_of_two_days_hold_the_true_ratio(days: Days) -> None:
    coverage, by_runs, _ = day_rates(days, np.random.default_rng(4), 150)
    assert coverage >= 0.9
    assert by_runs < coverage or days.day == 0.01


def test_pairs_show_five_percent_while_speed_drifts() -> None:
    found, by_runs = pair_rates(OF_TEN, np.random.default_rng(5), 80)
    assert found >= 0.9
    assert by_runs <= 0.3


def test_pairs_of_equal_cells_seldom_differ() -> None:
    false, _ = pair_rates(Paired(ratio=1.0), np.random.default_rng(6), 120)
    assert false <= 0.1


def test_five_looks_share_the_error_of_one() -> None:
    first, at_any = peeking_rates(1, 0.03, np.random.default_rng(7), 200)
    assert first <= at_any <= 0.08
