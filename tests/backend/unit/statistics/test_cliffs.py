from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iotide_server.statistics.cliffs import SurfaceCliff, find_cliff, suits, surface_cliffs

IOZONE = Path(__file__).parents[3] / "data" / "iozone"


@dataclass(frozen=True)
class Level:
    median: float
    low: float
    high: float
    n: int


def level(*runs: float) -> Level:
    return Level(median(runs), min(runs), max(runs), len(runs))


def sweep(*levels: float) -> list[Level | None]:
    return [None if one == 0 else level(one) for one in levels]


noise = st.floats(0.85, 1.15)
"""Scatter of one run; three times that of storage fit to be measured."""


def test_a_surface_that_falls_behind_the_cache_at_most_record_sizes_has_one_cliff_there() -> None:
    surface = [sweep(900, 910, 905, 300, 290), sweep(920, 930, 900, 250, 240), sweep(0, 930, 900, 880, 870)]
    (cliff,) = surface_cliffs(surface)
    assert (cliff.last, cliff.first, cliff.sweeps, cliff.of) == (2, 3, (0, 1), 3)
    assert cliff.fall.median == pytest.approx((300 / 910 + 250 / 930) / 2)
    assert cliff.fall.high is None


def test_a_sweep_of_single_runs_is_no_cliff_and_one_of_four_runs_is() -> None:
    flat = sweep(900, 905, 910, 900)
    assert surface_cliffs([flat, flat, sweep(900, 905, 910, 300)]) == []
    shown = [level(900, 910, 905, 902)] * 3 + [level(300, 310, 290, 305)]
    (cliff,) = surface_cliffs([flat, flat, shown])
    assert (cliff.sweeps, cliff.of, cliff.fall.high) == ((2,), 3, 310 / 900)


def test_a_spike_that_no_other_record_size_has_makes_no_cliff_behind_it() -> None:
    flat = sweep(900, 905, 910, 900, 905)
    assert surface_cliffs([flat, flat, sweep(900, 2000, 910, 900, 905), flat]) == []


def test_places_where_nothing_was_measured_are_left_out_and_zero_is_none() -> None:
    surface = [sweep(900, 0, 910, 300, 290), sweep(0, 0, 910, 300, 280), sweep(0, 0, 0, 300, 280)]
    (cliff,) = surface_cliffs(surface)
    assert (cliff.last, cliff.first, cliff.sweeps, cliff.of) == (2, 3, (0, 1), 2)


@settings(max_examples=25)
@given(st.lists(st.lists(noise, min_size=5, max_size=5), min_size=1, max_size=6))
def test_noise_is_never_a_cliff(surface: list[list[float]]) -> None:
    assert surface_cliffs([sweep(*(1e9 * one for one in levels)) for levels in surface]) == []


@settings(max_examples=25)
@given(
    st.lists(st.lists(noise, min_size=5, max_size=5), min_size=2, max_size=6),
    st.integers(1, 4),
    st.floats(0.01, 0.4),
)
def test_a_deep_fall_is_found_where_it_is_through_that_noise(
    surface: list[list[float]], first: int, depth: float
) -> None:
    fallen = [
        sweep(*(1e9 * one * (depth if place >= first else 1) for place, one in enumerate(levels))) for levels in surface
    ]
    (cliff,) = surface_cliffs(fallen)
    assert (cliff.last, cliff.first, len(cliff.sweeps)) == (first - 1, first, len(surface))
    assert depth * 0.7 <= cliff.fall.median <= depth * 1.4


@settings(max_examples=40)
@given(st.lists(st.floats(1.0, 1e10), min_size=1, max_size=12), st.floats(0.001, 1000))
def test_the_unit_of_the_levels_moves_no_cliff_and_rising_levels_have_none(levels: list[float], factor: float) -> None:
    found = find_cliff([level(one) for one in levels])
    scaled = find_cliff([level(one * factor) for one in levels])
    if found is None or scaled is None:
        edge = [later / max(levels) for later in levels]
        assert found == scaled or any(one == pytest.approx(0.6) for one in edge)
    else:
        assert found.top <= found.last < found.first <= found.bottom
    assert find_cliff([level(one) for one in sorted(levels)]) is None


def test_surfaces_that_scatter_as_normal_storage_does_have_no_cliffs() -> None:
    random = np.random.default_rng(7)
    for _ in range(40):
        levels = 1e9 * np.exp(0.1 * random.standard_normal((9, 10)))
        assert surface_cliffs([sweep(*row) for row in levels.tolist()]) == []


def test_a_cache_suits_a_fall_from_two_thirds_of_it_on() -> None:
    assert [suits(size, 64, 128) for size in (63, 64, 128, 192, 193)] == [False, True, True, True, False]


def surface_of(name: str, column: int) -> Sequence[list[Level | None]]:
    """Return one operation of a captured iozone: for each record size its sweep over the file sizes."""
    rows = [line.split() for line in (IOZONE / f"{name}.stdout").read_text().splitlines()]
    cells = {
        (int(row[0]), int(row[1])): float(row[column])
        for row in rows
        if len(row) > column and all(part.isdigit() for part in row)
    }
    files, records = (sorted({key[axis] for key in cells}) for axis in (0, 1))
    return [sweep(*(cells.get((file, record), 0.0) for file in files)) for record in records]


def test_a_captured_surface_in_memory_falls_at_its_largest_files_at_most_record_sizes() -> None:
    found: list[SurfaceCliff] = surface_cliffs(surface_of("a_g16m", 2))
    assert [(one.last, one.first, len(one.sweeps), one.of) for one in found] == [(7, 8, 6, 11)]
