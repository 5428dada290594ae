"""Verdicts on boards of generated numbers with known differences: how many are found, and how many are false.

A part of `./dev bench comparison`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from iotide_server.statistics.comparison import Sides, Verdict, compare_board

BOARDS: Final = 300
BOARDS_OF_POWER: Final = 2000
LOOKED_AT: Final = 5000
HALVED: Final = 0.5
LOOKS: Final = (4, 8, 12, 16, 20)
MIXED: Final = (0.01, 0.02, 0.03, 0.05, 0.10)


@dataclass(frozen=True, slots=True)
class Board:
    """Kind of board.

    Attributes:
        changed: count of numbers with another level in B; the others are equal.
        ratio: B / A of those.
        spreads: standard deviations of logarithms between runs; the numbers take turns.
        halved: share of runs that are half as fast.
    """

    numbers: int = 10
    changed: int = 1
    ratio: float = 0.9
    repeats: int = 4
    spreads: tuple[float, ...] = (0.03,)
    halved: float = 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the answers for a kind of board.

    Attributes:
        found: of the changed numbers, those with the right verdict.
        false: of the discoveries of a board, those without a change; the mean over boards.
        equal: of the unchanged numbers, those that are equal within 5 %.
        wrongly_equal: of the changed numbers, those that are equal within 5 %.
    """

    found: float
    false: float
    equal: float
    wrongly_equal: float


OF_ONE_IN_TEN: Final = Board()
BOARDS_OF_NUMBERS: Final = (
    OF_ONE_IN_TEN,
    Board(numbers=1),
    Board(changed=3),
    Board(changed=0),
    Board(repeats=6),
    Board(ratio=0.5),
    Board(numbers=40, changed=4, ratio=0.8),
    Board(numbers=40, changed=0),
    *(Board(changed=changed, spreads=MIXED, repeats=repeats) for changed in (0, 2, 5) for repeats in (4, 6, 10)),
    Board(numbers=40, changed=4, spreads=MIXED),
    Board(ratio=0.5, spreads=(0.1,)),
    *(Board(changed=changed, ratio=0.5, halved=0.05, repeats=repeats) for changed in (0, 1) for repeats in (4, 6, 10)),
    Board(changed=2, ratio=0.5, halved=0.05, spreads=MIXED),
    *(Board(changed=5, ratio=1.05, spreads=(0.02,), repeats=repeats) for repeats in (4, 10)),
)


def board_figures(random: np.random.Generator) -> tuple[float, float]:
    """Print a table; return the share of differences found, of 1 in 10 numbers, and the largest share of false ones."""
    headings = ("numbers", "changed", "by", "repeats", "spread", "halved", "found", "false", "equal", "equal at 5 %")
    table = Table(*headings, title="Boards")
    power, most_false = 0.0, 0.0
    for board in BOARDS_OF_NUMBERS:
        rates = board_rates(board, random, BOARDS_OF_POWER if board is OF_ONE_IN_TEN else BOARDS)
        spread = "1 to 10 %" if board.spreads == MIXED else f"{board.spreads[0]:.0%}"
        kind = f"{board.numbers}", f"{board.changed}", f"{board.ratio - 1:+.0%}", f"{board.repeats}", spread
        wrongly = f"{rates.wrongly_equal:.3f}" if board.ratio == 1.05 else ""
        table.add_row(
            *kind, f"{board.halved:.0%}", f"{rates.found:.3f}", f"{rates.false:.3f}", f"{rates.equal:.3f}", wrongly
        )
        power = rates.found if board is OF_ONE_IN_TEN else power
        most_false = max(most_false, rates.false)
    Console().print(table)
    return power, most_false


def board_rates(board: Board, random: np.random.Generator, count: int) -> Rates:
    """Draw boards and compare the verdicts with the truth."""
    found = equal = wrongly_equal = 0
    false = 0.0
    wanted = Verdict.LOWER if board.ratio < 1 else Verdict.HIGHER
    for sides in drawn_boards(board, random, count):
        answers = compare_board(sides)
        changed, unchanged = answers[: board.changed], answers[board.changed :]
        named = sum(one.is_discovery is True for one in answers)
        found += sum(one.verdict is wanted for one in changed)
        false += sum(one.is_discovery is True for one in unchanged) / max(1, named)
        equal += sum(one.verdict is Verdict.EQUAL for one in unchanged)
        wrongly_equal += sum(one.verdict is Verdict.EQUAL for one in changed)
    of_changed, of_unchanged = (max(1, count * one) for one in (board.changed, board.numbers - board.changed))
    return Rates(found / of_changed, false / count, equal / of_unchanged, wrongly_equal / of_changed)


def drawn_boards(board: Board, random: np.random.Generator, count: int) -> Iterator[list[Sides]]:
    """Draw boards; their first numbers are the changed ones."""
    spreads = np.resize(board.spreads, board.numbers)
    for _ in range(count):
        order = random.permutation(spreads)
        shape = (2, board.numbers, board.repeats)
        values = 100 * np.exp(random.normal(0, order[:, None], shape))
        values[random.random(shape) < board.halved] *= HALVED
        values[1, : board.changed] *= board.ratio
        yield [Sides(a.tolist(), b.tolist()) for a, b in zip(*values, strict=True)]


def peeking_figure(random: np.random.Generator) -> float:
    """Print a table; return the largest share of comparisons that name a difference at any look, though none is."""
    table = Table("numbers", "spread", "false at the first look", "at any", title=f"Looks at {LOOKS} repeats")
    most = 0.0
    for numbers, spread, count in ((1, 0.03, LOOKED_AT), (1, 0.10, LOOKED_AT), (10, 0.03, LOOKED_AT // 2)):
        first, at_any = peeking_rates(numbers, spread, random, count)
        table.add_row(f"{numbers}", f"{spread:.0%}", f"{first:.3f}", f"{at_any:.3f}")
        most = max(most, at_any)
    Console().print(table)
    return most


def peeking_rates(numbers: int, spread: float, random: np.random.Generator, count: int) -> tuple[float, float]:
    """Return the shares of boards without a difference on which one is named, at the first look and at any."""
    first = at_any = 0
    for _ in range(count):
        values = 100 * np.exp(random.normal(0, spread, (2, numbers, LOOKS[-1])))
        named = [is_named(looked_at(values, look)) for look in range(1, len(LOOKS) + 1)]
        first += named[0]
        at_any += any(named)
    return first / count, at_any / count


def looked_at(values: NDArray[np.float64], look: int) -> list[Sides]:
    """Return the sides of each number with the repeats of a look, counted from 1."""
    runs = LOOKS[look - 1]
    return [Sides(a[:runs].tolist(), b[:runs].tolist(), looks=look) for a, b in zip(*values, strict=True)]


def is_named(board: Sequence[Sides]) -> bool:
    return any(one.is_discovery for one in compare_board(board))
