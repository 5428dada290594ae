import pytest
from factories.advised import advice_of, cell, measured, numbers, rate

from iotide_server.advice.findings import Fine, Severity, Unknown
from iotide_server.advice.rules.headline import headline_ratios
from iotide_server.advice.rules.saturation import saturation
from iotide_server.advice.scene import Scene, ScenePoint

GB = 10**9
NUS = {
    "gpfs": {4: 161.46, 8: 266.11, 10: 457.83, 20: 551.32},
    "nfs": {4: 670.42, 8: 1138.82, 10: 1659.14, 20: 2592.80},
}
"""Seconds of dd by size in GB, from the report of NUS SVU, which calls GPFS about 10 times as fast as NFS."""


def nus(claimed_ratio: float | None = None) -> Scene:
    points = [
        rate(cell(target, file_size_bytes=size * GB), size * GB / seconds, file_size_bytes=size * GB)
        for target, rows in NUS.items()
        for size, seconds in rows.items()
    ]
    return measured(*points, claimed_ratio=claimed_ratio)


def test_the_table_of_nus_shows_3_6_to_4_7_times_and_not_10() -> None:
    advice = advice_of(list(headline_ratios(nus(10))))
    assert advice.title == "Results do not support “10 times”: gpfs is 3.62 to 4.7 times as fast as nfs"
    assert advice.severity is Severity.HIGH
    ratios = [value for name, value in numbers(advice).items() if name.startswith("ratio")]
    assert ratios == pytest.approx([4.15, 4.28, 3.62, 4.70], abs=0.01)
    assert "10 agrees with none of them." in advice.explanation
    assert "With 1 run per setting there are no intervals" in advice.explanation


def test_without_a_claim_the_table_still_supports_no_single_number() -> None:
    advice = advice_of(list(headline_ratios(nus())))
    assert (advice.severity, advice.title) == (
        Severity.LOW,
        "gpfs is 3.62 to 4.7 times as fast as nfs, depending on the setting",
    )
    assert "3.62 to 4.7 times by median" in advice.remedy


def two(*ratios: float, runs: int = 5) -> Scene:
    """Return two targets over as many sizes as ratios; their runs scatter by 2 %."""
    points = [
        rate(cell(target, file_size_bytes=size), *(level * (1 + 0.005 * run) for run in range(runs)))
        for target, levels in (("slow", [100.0] * len(ratios)), ("fast", [100 * one for one in ratios]))
        for size, level in enumerate(levels, start=1)
    ]
    return measured(*points)


def test_ratios_that_agree_are_well_and_a_claim_within_all_intervals_is_too() -> None:
    for scene in (two(2.0, 2.05), Scene((), two(2.0, 2.01).points, 2.02)):
        (found,) = headline_ratios(scene)
        assert isinstance(found, Fine)


def test_a_claim_from_one_size_is_reported_with_where_it_holds() -> None:
    scene = Scene((), two(4.0, 10.0).points, 10)
    advice = advice_of(list(headline_ratios(scene)))
    assert "agrees only with File size 2 B" in advice.explanation
    assert "“3.92 to 10.2 times, depending on the setting”" in advice.remedy


def test_scatter_over_many_settings_is_no_spread_and_without_intervals_there_is_no_verdict() -> None:
    scattered_ratios = [1 + 0.02 * ((7 * number) % 13 - 6) for number in range(60)]
    (found,) = headline_ratios(two(*scattered_ratios))
    assert isinstance(found, Fine)
    (unknown,) = headline_ratios(two(*scattered_ratios, runs=1))
    assert isinstance(unknown, Unknown)
    assert "60 settings, some with fewer than four runs" in unknown.because
    (claimed,) = headline_ratios(Scene((), two(*[2.0] * 39, 2.1).points, 2))
    assert isinstance(claimed, Fine), "one of forty intervals may miss by chance"


def test_the_lowest_and_the_highest_of_many_settings_are_reported() -> None:
    advice = advice_of(list(headline_ratios(two(*[2.0] * 20, 4.0))))
    assert "9 others are in between" in advice.explanation
    assert "File size 21 B: 4 (" in advice.explanation


def writers(*totals: tuple[int, tuple[float, ...]]) -> Scene:
    points = [rate(cell(writers=count), *runs, metric="total_throughput") for count, runs in totals]
    return measured(*points)


def scattered(level: float, runs: int = 4, spread: float = 0.01) -> tuple[float, ...]:
    return tuple(level * (1 + spread * (run - (runs - 1) / 2) / runs) for run in range(runs))


def test_the_knee_of_writers_is_reported_with_its_lower_and_upper_count() -> None:
    levels = ((1, 100.0), (2, 190.0), (4, 350.0), (8, 352.0), (16, 351.0))
    advice = advice_of(list(saturation(writers(*((count, scattered(level)) for count, level in levels)))))
    assert advice.title == "Saturated at 4 writers (350 B/s)"
    assert advice.commands == ("writers: 4",)
    assert numbers(advice)["total of 4 writers"] == pytest.approx(350, rel=0.01)
    assert "hinder" not in advice.explanation


def test_a_knee_hidden_by_scatter_is_reported_as_a_range() -> None:
    runs = {1: scattered(100), 2: scattered(330, spread=0.16), 4: scattered(345, spread=0.06), 8: scattered(350)}
    advice = advice_of(list(saturation(writers(*runs.items()))))
    assert advice.title.startswith("Saturated at 2 to 4 writers (")


def test_writers_that_hinder_each_other_are_reported() -> None:
    levels = ((1, 100.0), (2, 190.0), (4, 150.0))
    advice = advice_of(list(saturation(writers(*((count, scattered(level)) for count, level in levels)))))
    assert "lower than its best" in advice.explanation


def test_too_few_repeats_are_reported_with_the_medians() -> None:
    (found,) = saturation(writers((1, (100.0,)), (2, (190.0,)), (3, (195.0,))))
    assert isinstance(found, Unknown)
    assert "not enough repeats" in found.because
    assert "1: 100 B/s, 2: 190 B/s, 3: 195 B/s" in found.because


def test_a_total_that_still_grows_is_not_called_saturated_and_wild_runs_leave_it_open() -> None:
    (grows,) = saturation(writers(*((count, scattered(100.0 * count)) for count in (1, 2, 3))))
    assert isinstance(grows, Fine)
    assert "still grows at 3 writers" in grows.words
    wild = ((1, scattered(100)), (2, scattered(200, spread=0.8)), (3, scattered(210, spread=0.8)))
    (open_,) = saturation(writers(*wild))
    assert isinstance(open_, Unknown)
    assert "the runs vary too much" in open_.because


def of_gang(count: int, level: float) -> list[ScenePoint]:
    """Return the results of that many nodes at once: each node's own, and their total."""
    gang = cell(nodes=[f"node{number}" for number in range(count)])
    each = rate(gang, *scattered(level / count), metric="total_throughput")
    return [each, rate(gang, *scattered(level), metric="total_throughput", nodes="all")] if count > 1 else [each]


def test_nodes_at_once_are_judged_by_what_they_have_together() -> None:
    scene = measured(
        *(point for count, level in ((1, 100.0), (2, 180.0), (3, 181.0)) for point in of_gang(count, level))
    )
    assert advice_of(list(saturation(scene))).title == "Saturated at 2 nodes (180 B/s)"
