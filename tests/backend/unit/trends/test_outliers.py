from collections.abc import Collection, Sequence

from iotide_server.trends.peers import outliers
from iotide_server.trends.peers.outliers import MOST_FLAGS, FewFlags
from iotide_server.trends.points.levels import Level, LevelSeries
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import Unit

MEASURES = {
    1: ("datagrams_lost", "Datagrams lost", Unit.COUNT),
    2: ("duration", "Duration", Unit.SECONDS),
}
PRIMARY = {"datagrams_lost"}


def numbers(*values: float, series_id: int = 1, **labels: int) -> LevelSeries:
    """Return one number for each run."""
    levels = [Level(series_id, run_id, value, frozenset(), None) for run_id, value in enumerate(values, start=1)]
    return LevelSeries(series_id, *MEASURES[series_id], labels, levels)


def outlier_flags(series: Sequence[LevelSeries], primary: Collection[str] = PRIMARY) -> dict[int, list[Flag]]:
    return outliers.outlier_flags(lambda: series, primary)


def test_a_run_is_marked_if_all_others_report_zero() -> None:
    found = outlier_flags([numbers(0, 0, 0, 0, 3)])
    assert list(found) == [5]
    [flag] = found[5]
    assert "Datagrams lost" in flag.measured


def test_runs_that_all_report_zero_are_not_marked() -> None:
    assert outlier_flags([numbers(0, 0, 0, 0)]) == {}


def test_only_a_primary_metric_makes_a_run_an_outlier() -> None:
    assert outlier_flags([numbers(1, 1, 1, 1, 9, series_id=2)]) == {}
    assert list(outlier_flags([numbers(1, 1, 1, 1, 9, series_id=2)], {"duration"})) == [5]


def test_one_of_several_writers_makes_no_outlier_of_a_run_with_a_normal_total() -> None:
    of_writer, of_all = numbers(5, 5, 5, 5, 9, writer=1), numbers(9, 9, 9, 9, 9)
    assert outlier_flags([of_writer, of_all]) == {}
    assert list(outlier_flags([of_writer])) == [5]


def test_a_limit_is_not_below_zero() -> None:
    found = outlier_flags([numbers(36.2e-3, 516e-6, 100e-6, 900e-6, 516e-6, series_id=2)], {"duration"})
    [flag] = found[1]
    assert flag.limit == "0 s to 11.1 ms (median 516 us of 5 runs \u00b1 27.5 MAD)"


def test_flags_are_listed_by_their_place_and_of_too_many_the_furthest_and_of_these_the_first() -> None:
    def flag(place: int) -> Flag:
        return Flag(code=FlagCode.OUTLIER, effect=FlagEffect.MARKED, measured=f"{place}", limit="", labels={"p": place})

    few = FewFlags()
    for place in range(MOST_FLAGS, 0, -1):
        few.add(flag(place), 1.0 + place // 19, (place,))
    assert [one.labels["p"] for one in few.listed()] == list(range(1, MOST_FLAGS + 1))
    few.add(flag(0), 1.0, (0,))
    [furthest] = few.listed()
    assert (furthest.measured, furthest.labels) == ("21 values of the run, furthest: 19", {})
    assert FewFlags().listed() == []
