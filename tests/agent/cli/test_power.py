"""`iotide power` with and without a server."""

import json
from typing import Any

import pytest
from factories.commands import Iotide
from factories.fake_server import FakeServer

from iotide_wire.power import repeats_needed, smallest_difference

POINTS: dict[str, Any] = {
    "n": [1, 4, 4],
    "median": [1.0, 1.0, 1.0],
    "low": [1.0, 0.9, 0.9],
    "high": [1.0, 1.1, 1.1],
    "variation_ratio": [None, 0.05, 0.07],
}


def test_a_scatter_gives_the_difference_of_each_number_of_repeats(
    iotide: Iotide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IOTIDE_TOKEN", raising=False)
    head, columns, *rows = iotide("power", "--scatter", "6%").out.splitlines()
    assert head == "smallest difference that 8 of 10 comparisons within a day show:"
    assert columns.split() == ["repeats", "scatter", "6", "%"]
    assert [int(row.split()[0]) for row in rows] == [4, 5, 6, 8, 10, 12, 16, 24, 40]
    shown = [float(row.split()[1]) for row in rows]
    assert shown == sorted(shown, reverse=True)


def test_a_difference_gives_the_repeats_that_it_needs(iotide: Iotide) -> None:
    ended = iotide("power", "--scatter", "6 %", "--repeats", "4", "--numbers", "12", "--difference", "10%")
    needed = repeats_needed(0.1, 0.06, 12)
    assert (
        ended.out.splitlines()[0]
        == "smallest difference that 8 of 10 comparisons within a day show with 12 numbers compared:"
    )
    assert ended.out.splitlines()[3:] == [
        f"a difference of 10 % at a scatter of 6 % with 12 numbers compared needs {needed} repeats"
    ]
    assert "needs more than 1000 repeats" in iotide("power", "--scatter", "20%", "--difference", "1%").out


def test_without_a_scatter_usual_ones_are_shown(iotide: Iotide) -> None:
    first, _, columns, row = iotide("power", "--repeats", "3").out.splitlines()
    assert first == "scatter unknown; answers for 3, 6 and 10 %"
    assert " ".join(columns.split()) == "repeats scatter 3 % scatter 6 % scatter 10 %"
    assert row.split() == ["3", "none", "none", "none"]


def test_a_series_gives_the_scatter_of_its_own_points(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /series/7/points", (200, POINTS))
    answer = json.loads(iotide("power", "--series", "7", "--repeats", "5", "--json").out)
    scatter = ((0.05**2 + 0.07**2) / 2) ** 0.5
    assert answer["scatter_ratio"] == pytest.approx(scatter)
    assert answer["shown"] == [
        {
            "repeats": 5,
            "scatter_ratio": answer["scatter_ratio"],
            "difference_ratio": pytest.approx(smallest_difference(scatter, 5)),
        }
    ]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [("6", "not a percentage"), ("six", "not a percentage"), ("0%", "not between"), ("100%", "not bet")],
)
def test_a_scatter_that_is_no_percentage_is_refused(wrong: str, words: str, iotide: Iotide) -> None:
    ended = iotide("power", f"--scatter={wrong}")
    assert ended.status == 2
    assert words in " ".join(ended.err.replace("│", "").split())


def test_a_scatter_and_a_series_exclude_each_other(iotide: Iotide) -> None:
    ended = iotide("power", "--scatter", "6%", "--series", "7")
    assert ended.status == 2
    assert "use one of them" in ended.err
