"""Totals of parallel writers, checked against hand-computed values."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from factories.outcomes import captured

from iotide_agent.workloads.base import Parsed
from iotide_agent.workloads.writers import Part, together
from iotide_wire.measured import FlagCode
from iotide_wire.units import MIB

BEGAN_AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


def part(moved_bytes: int, *, after_seconds: float, took_seconds: float) -> Part:
    return Part(7, BEGAN_AT + timedelta(seconds=after_seconds), moved_bytes, took_seconds)


def test_total_is_all_bytes_from_the_first_start_to_the_last_end() -> None:
    first = part(60 * MIB, after_seconds=0.0, took_seconds=2.0)
    second = part(30 * MIB, after_seconds=1.0, took_seconds=3.0)
    found = {sample.metric: sample.value for sample in together([first, second], {}).samples}
    assert found["total_throughput"] == pytest.approx(90 * MIB / 4.0)
    assert found["first_done"] == pytest.approx(2.0)
    assert found["last_done"] == pytest.approx(4.0)
    # 30 and 10 MiB/s: the square of the sum divided by twice the sum of the squares.
    assert found["fairness"] == pytest.approx(40**2 / (2 * (30**2 + 10**2)))


@pytest.mark.parametrize(
    ("seconds", "is_late"),
    [
        ((2.0, 2.9), False),
        ((2.0, 3.1), True),
        ((3.1, 2.0), True),
        ((1.0, 2.0, 2.9), True),
        ((2.0, 2.0, 2.9), False),
        ((1.0, 2.0, 3.0, 3.1), True),
        ((4.0, 4.0, 4.0, 5.9), False),
    ],
)
def test_the_slowest_is_compared_with_the_median_of_the_others(seconds: tuple[float, ...], *, is_late: bool) -> None:
    parsed = together([part(MIB, after_seconds=0.0, took_seconds=took) for took in seconds], {})
    assert [flag.code for flag in parsed.flags] == ([FlagCode.STRAGGLER] if is_late else [])


@pytest.mark.parametrize(
    ("late", "took", "is_flagged"),
    [(0.59, 60.0, False), (0.61, 60.0, True), (0.009, 0.2, False), (0.011, 0.2, True)],
)
def test_a_writer_that_begins_late_by_a_hundredth_is_flagged(late: float, took: float, *, is_flagged: bool) -> None:
    parts = [part(MIB, after_seconds=after, took_seconds=took) for after in (0.0, late)]
    flags = together(parts, {"operation": "write"}).flags
    assert [(flag.code, flag.labels) for flag in flags] == (
        [(FlagCode.LATE_START, {"operation": "write"})] if is_flagged else []
    )


def test_one_writer_has_neither_a_total_nor_a_race() -> None:
    assert together([part(60 * MIB, after_seconds=0.0, took_seconds=2.0)], {}) == Parsed()


def test_work_that_ends_with_its_step_began_when_its_tool_says() -> None:
    outcome = replace(captured("dd/c_fsync_1gib"), started_at=BEGAN_AT, wall_seconds=5.0)
    last = Part.at_end(outcome, MIB, 2.0)
    assert (last.began_at - BEGAN_AT, last.seconds, last.rate) == (timedelta(seconds=3), 2.0, MIB / 2)
    # Of several writers in one process, an earlier writer began with the last one.
    assert Part.at_end(outcome, MIB, 0.5, after_seconds=1.5).began_at == last.began_at
    # A tool may round its seconds up; it did not begin before its process.
    assert Part.at_end(outcome, MIB, 5.1).began_at == BEGAN_AT
