"""Curves in pieces that never change, and progress that never decreases."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iotide_agent.core.spool import OrderFiles
from iotide_agent.orders import progress
from iotide_agent.orders.plan import Plan
from iotide_agent.orders.progress import RunWatch
from iotide_agent.workloads.base import Place, Step
from iotide_agent.workloads.registry import workload
from iotide_wire.messages import CurvePiece

COUNTERS = ("write_bytes_per_second", "load1", "net_link_ratio")
STARTED_AT = datetime(2026, 11, 21, 10, tzinfo=UTC)


def row(second: int, **changes: object) -> dict[str, Any]:
    values: dict[str, Any] = {
        "step": 0,
        "step_written_bytes": 0,
        "step_read_bytes": 0,
        "step_seconds": 1.0,
        "still_seconds": 0.0,
        "waits": "",
    }
    return {name: float(second) for name in COUNTERS} | values | changes


def plan(tmp_path: Path) -> Plan:
    place = Place(1, tmp_path, tmp_path, "ext4", direct_works=True, total_bytes=0, free_bytes=0, facts={})
    steps = [
        Step("write", "writing 1 KiB", ("dd",), 1, bytes_moved=1000),
        Step("read", "reading 1 KiB", ("dd",), 1, bytes_moved=1000),
    ]
    return Plan((place,), tuple((step,) for step in steps))


def watch(directory: Path, *rows: dict[str, Any]) -> RunWatch:
    directory.mkdir(exist_ok=True)
    files = OrderFiles(directory)
    files.curve.write_text("".join(json.dumps(one) + "\n" for one in rows))
    watched = RunWatch(files)
    watched.look(plan(directory), workload("dd", {}))
    return watched


def by_counter(pieces: list[CurvePiece]) -> dict[str, list[float]]:
    seen: dict[str, list[float]] = {}
    for piece in pieces:
        seen.setdefault(piece.counter, []).extend(piece.values)
    return seen


def test_progress_is_by_the_bytes_of_all_steps(tmp_path: Path) -> None:
    assert watch(tmp_path, row(0, step_written_bytes=500)).progress == 0.25
    assert watch(tmp_path, row(0, step=1, step_read_bytes=500)).progress == 0.75


def test_a_running_step_with_all_bytes_written_is_flushing(tmp_path: Path) -> None:
    assert watch(tmp_path, row(0, step_written_bytes=999)).phase == "writing 1 KiB"
    assert watch(tmp_path, row(0, step_written_bytes=1000)).phase == "writing 1 KiB; flushing"
    assert watch(tmp_path, row(0, step=1, step_read_bytes=1000)).phase == "reading 1 KiB"


def test_the_progress_of_a_run_is_reported_in_bytes_of_the_step_that_ran(tmp_path: Path) -> None:
    assert watch(tmp_path, row(0, step_written_bytes=500)).reached == "after writing 500 B of 1,000 B"
    assert watch(tmp_path, row(0, step=1, step_read_bytes=250)).reached == "after reading 250 B of 1,000 B"
    assert watch(tmp_path, row(0)).reached == "while writing 1 KiB"


def test_progress_never_falls(tmp_path: Path) -> None:
    watched = watch(tmp_path, row(0, step_written_bytes=900))
    with (tmp_path / "curve.jsonl").open("a") as file:
        file.write(json.dumps(row(1, step_written_bytes=100)) + "\n")
    watched.look(plan(tmp_path), workload("dd", {}))
    assert watched.progress == 0.45


def test_a_line_that_is_still_being_written_waits(tmp_path: Path) -> None:
    watched = watch(tmp_path, row(0))
    half, rest = json.dumps(row(1))[:20], json.dumps(row(1))[20:] + "\n"
    with (tmp_path / "curve.jsonl").open("a") as file:
        file.write(half)
        file.flush()
        watched.look(plan(tmp_path), workload("dd", {}))
        assert len(watched.rest(STARTED_AT)[0].values) == 1
        file.write(rest)
    watched.look(plan(tmp_path), workload("dd", {}))
    assert len(watched.rest(STARTED_AT)[0].values) == 2


def test_a_stalled_load_is_reported_with_the_function_it_waits_in(tmp_path: Path) -> None:
    waits = "dd (pid 12) in state D, waiting in rpc_wait_bit_killable"
    watched = watch(tmp_path, row(0, still_seconds=42.0, waits=waits))
    assert watched.phase == f"writing 1 KiB; no progress for 42 s: {waits}"


@settings(deadline=None)
@given(rows=st.integers(0, 800), acknowledged=st.lists(st.booleans(), max_size=10))
def test_pieces_cover_every_second_once_and_do_not_depend_on_what_was_acknowledged(
    tmp_path_factory: pytest.TempPathFactory, rows: int, acknowledged: list[bool]
) -> None:
    directory = tmp_path_factory.mktemp("order")
    watched = watch(directory, *(row(second) for second in range(rows)))
    sent_before: dict[tuple[str, datetime], CurvePiece] = {}
    seen: list[CurvePiece] = []
    for is_acknowledged in acknowledged:
        sent = watched.pieces(STARTED_AT)
        assert len(sent) <= 200
        assert all(sent_before.setdefault((piece.counter, piece.started_at), piece) == piece for piece in sent)
        if is_acknowledged:
            watched.acknowledge(sent)
            seen += sent
    expected = [float(second) for second in range(rows)]
    assert by_counter([*seen, *watched.rest(STARTED_AT)]) == (dict.fromkeys(COUNTERS, expected) if rows else {})


def test_a_counter_that_appears_late_or_disappears_has_no_values_outside_that_time(tmp_path: Path) -> None:
    rows = [row(second) for second in range(20)]
    for second in (0, 1, 2, 6, 7, 12):
        del rows[second]["net_link_ratio"]
    watched = watch(tmp_path, *rows)
    for sent in (watched.pieces(STARTED_AT), watched.rest(STARTED_AT)):
        link = [piece for piece in sent if piece.counter == "net_link_ratio"]
        assert {
            piece.started_at + timedelta(seconds=index): value
            for piece in link
            for index, value in enumerate(piece.values)
        } == {STARTED_AT + timedelta(seconds=second): float(second) for second in {*range(20)} - {0, 1, 2, 6, 7, 12}}
    watched.acknowledge(watched.pieces(STARTED_AT))
    assert watched.rest(STARTED_AT) == []


def test_values_unsent_for_hours_are_sent_as_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_RESULT_VALUES", 1000)
    rows = [row(second) for second in range(2001)]
    del rows[5]["load1"]
    sent = watch(tmp_path, *rows).rest(STARTED_AT)
    assert {piece.step_seconds for piece in sent} == {7.0}
    assert by_counter(sent)["write_bytes_per_second"] == [*(float(first + 3) for first in range(0, 1995, 7)), 1997.5]
    assert next(piece for piece in sent if piece.counter == "load1").started_at == STARTED_AT + timedelta(seconds=7)


@pytest.mark.parametrize("answer", [RuntimeError("a plug-in's own fault"), float("nan"), -1.0])
def test_a_failing_progress_function_of_a_plug_in_affects_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: float | Exception
) -> None:
    def progress(*_: object) -> float:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(type(workload("dd", {})), "progress", progress)
    watched = watch(tmp_path, row(0, step_written_bytes=500))
    assert not watched.progress
    assert watched.phase == "writing 1 KiB"
    assert len(watched.rest(STARTED_AT)) == len(COUNTERS)


def test_pieces_are_short_at_first_and_have_their_time(tmp_path: Path) -> None:
    watched = watch(tmp_path, *(row(second) for second in range(720)))
    load = [piece for piece in watched.pieces(STARTED_AT) if piece.counter == "load1"]
    assert [len(piece.values) for piece in load] == [10] * 60 + [60, 60]
    assert load[1].started_at == STARTED_AT + timedelta(seconds=10)
    assert load[-1].started_at == STARTED_AT + timedelta(seconds=660)
