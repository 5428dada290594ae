import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_wire.units import (
    Unit,
    UnitError,
    format_bytes,
    format_distance,
    format_duration,
    format_estimate,
    format_factor,
    format_p,
    format_shift,
    format_value,
    parse_bytes,
    parse_rate,
    parse_seconds,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("4096", 4096),
        ("1 B", 1),
        ("64 MiB", 64 * 1024**2),
        ("64MB", 64_000_000),
        ("16 mib", 16 * 1024**2),
        ("1.5GB", 1_500_000_000),
        ("0.1 kB", 100),
        ("  2 TiB ", 2 * 1024**4),
        ("1 PiB", 1024**5),
        ("-1 kB", -1000),
        ("4.35 GB", 4_350_000_000),
    ],
)
def test_size_with_its_unit_is_bytes(text: str, expected: int) -> None:
    assert parse_bytes(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "M", "16M", "1G", "1,5 GB", "1e9", "0.3 B", "1.0000001 kB", "64 Mb/s", "ten", "1 s", "9" * 31, "9" * 5000],
)
def test_size_that_two_people_would_read_differently_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(UnitError, match="KiB, MiB, GiB, TiB") as refused:
        parse_bytes(text)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90.0), ("1.5 s", 1.5), ("250ms", 0.25), ("10 min", 600.0), ("2h", 7200.0), ("1 d", 86400.0)],
)
def test_duration_with_its_unit_is_seconds(text: str, expected: float) -> None:
    assert parse_seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "soon", "1 week", "1h30m", "2 MiB", "9" * 5000])
def test_duration_that_is_none_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(UnitError, match="ms, s, min, h or d"):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4096 Mbit/s", 512_000_000),
        ("1.024Gbit/s", 128_000_000),
        ("512 MB/s", 512_000_000),
        ("1 MiB/s", 1024**2),
        ("8 bit/s", 1),
        ("125000", 125_000),
    ],
)
def test_rate_with_its_unit_is_bytes_per_second(text: str, expected: int) -> None:
    assert parse_rate(text) == expected


@pytest.mark.parametrize("text", ["", "512 Mb/s", "512 Mbit", "512 mbit/s", "4 bit/s", "fast", "1 MB/h"])
def test_rate_that_two_people_would_read_differently_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(UnitError, match="Mbit/s, Gbit/s") as refused:
        parse_rate(text)
    assert repr(text) in str(refused.value)


@given(st.integers(min_value=0, max_value=2**70))
def test_whole_numbers_of_bytes_are_exact_whatever_their_size(size_bytes: int) -> None:
    assert parse_bytes(str(size_bytes)) == size_bytes
    assert parse_bytes(f"{size_bytes} KiB") == size_bytes * 1024


CASES = json.loads((Path(__file__).parents[1] / "data/units.json").read_text())


@pytest.mark.parametrize(("value", "unit", "expected"), CASES["values"])
def test_value_for_a_person_is_what_the_browser_shows(value: float, unit: str, expected: str) -> None:
    assert format_value(value, Unit(unit)) == expected


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("durations", format_duration),
        ("shifts", format_shift),
        ("factors", format_factor),
        ("probabilities", format_p),
    ],
)
def test_other_numbers_for_a_person_are_what_the_browser_shows(kind: str, shown: Callable[[float], str]) -> None:
    assert [[value, shown(value)] for value, _ in CASES[kind]] == CASES[kind]


def test_every_unit_has_a_case() -> None:
    assert {unit for _, unit, _ in CASES["values"]} == set(Unit)


@given(st.floats(min_value=1, max_value=2**59))
def test_formatted_size_can_be_typed_again(size_bytes: float) -> None:
    shown = format_bytes(size_bytes).replace(",", "")
    number, unit = shown.split()
    assert float(number) * parse_bytes(f"1 {unit}") == pytest.approx(size_bytes, rel=0.005, abs=0.5)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0163, "16 ms"),
        (3.98, "4 s"),
        (22.4, "22 s"),
        (1000, "17 min"),
        (5399, "90 min"),
        (8300, "2.3 h"),
        (270_000, "3.1 d"),
    ],
)
def test_an_estimate_has_two_digits(seconds: float, shown: str) -> None:
    assert format_estimate(seconds) == shown


@pytest.mark.parametrize("value", [1e28, 1e300, -1e300])
@pytest.mark.parametrize("unit", list(Unit))
def test_a_value_beyond_every_unit_is_written_and_no_error(value: float, unit: Unit) -> None:
    assert format_value(value, unit)
    assert format_distance(value)
