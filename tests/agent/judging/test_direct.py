"""O_DIRECT counts only if the runner saw it, with records just below and above each limit."""

import pytest

from iotide_agent.judging.direct import why_cached
from iotide_wire.units import KIB, MIB


def record(**seen: int) -> dict[str, object]:
    return {"name": "write", "exit_status": 0, **seen}


@pytest.mark.parametrize(
    ("of_bytes", "limit_bytes"),
    [(MIB, 64 * KIB), (100 * MIB, 5 * MIB), (2**40, 16 * MIB)],
)
def test_a_file_counts_as_cached_from_a_share_that_no_unaligned_end_explains(of_bytes: int, limit_bytes: int) -> None:
    assert why_cached("dd", record(cached_before_bytes=0, cached_bytes=limit_bytes - 1, of_bytes=of_bytes)) == ""
    assert why_cached("dd", record(cached_before_bytes=0, cached_bytes=limit_bytes, of_bytes=of_bytes)).startswith(
        "write: dd did not use O_DIRECT: "
    )


def test_pages_that_were_cached_before_the_step_prove_nothing() -> None:
    assert why_cached("fio", record(cached_before_bytes=8 * MIB, cached_bytes=8 * MIB, of_bytes=8 * MIB)) == ""


@pytest.mark.parametrize(
    ("direct", "buffered", "is_cached"), [(0, 1, False), (0, 2, True), (1, 5, False), (3, 0, False), (0, 0, False)]
)
def test_descriptors_without_the_flag_count_if_none_was_ever_seen_with_it(
    direct: int, buffered: int, *, is_cached: bool
) -> None:
    found = why_cached("iozone", record(direct_looks=direct, buffered_looks=buffered))
    assert found == (
        f"write: iozone had its files open without O_DIRECT at each of {buffered} looks" if is_cached else ""
    )


def test_records_without_observations_say_nothing_against_a_step() -> None:
    assert why_cached("dd", record()) == ""
