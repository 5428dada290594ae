"""Curves in pieces that never change, and progress that never falls."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iotide_agent.plan import Plan
from iotide_agent.progress import COUNTERS, RunWatch
from iotide_agent.spool import order_files
from iotide_agent.workloads.base import Place, Step
from iotide_agent.workloads.registry import workload
from iotide_wire.messages import CurvePiece

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
    files = order_files(directory)
    files.curve.write_text("".join(json.dumps(one) + "\n" for one in rows))
    watched = RunWatch(files)
    watched.look(plan(directory), workload("dd", {}))
    return watched


def pieces(watched: RunWatch, *, at_most: int = 10_000, is_complete: bool = False) -> list[CurvePiece]:
    return watched.pieces(STARTED_AT, at_most=at_most, is_complete=is_complete)


def test_progress_goes_by_the_bytes_of_all_steps(tmp_path: Path) -> None:
    assert watch(tmp_path, row(0, step_written_bytes=500)).progress == 0.25
    assert watch(tmp_path, row(0, step=1, step_read_bytes=500)).progress == 0.75


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
        assert len(pieces(watched, is_complete=True)[0].values) == 1
        file.write(rest)
    watched.look(plan(tmp_path), workload("dd", {}))
    assert len(pieces(watched, is_complete=True)[0].values) == 2


def test_a_load_that_stands_still_is_said_to_with_what_it_waits_for(tmp_path: Path) -> None:
    waits = "dd (pid 12) in state D, waiting in rpc_wait_bit_killable"
    watched = watch(tmp_path, row(0, still_seconds=42.0, waits=waits))
    assert watched.phase == f"writing 1 KiB; nothing has moved for 42 s: {waits}"


@settings(deadline=None)
@given(rows=st.integers(0, 800), acknowledged=st.lists(st.integers(1, 100), max_size=10))
def test_pieces_cover_every_second_once_and_do_not_depend_on_what_was_acknowledged(
    tmp_path_factory: pytest.TempPathFactory, rows: int, acknowledged: list[int]
) -> None:
    directory = tmp_path_factory.mktemp("order")
    watched = watch(directory, *(row(second) for second in range(rows)))
    whole = {piece.started_at: piece for piece in pieces(watched, is_complete=True) if piece.counter == "load1"}
    seen: list[float] = []
    for count in acknowledged:
        sent = pieces(watched, at_most=count * len(COUNTERS))
        watched.acknowledge(sent)
        seen += [value for piece in sent if piece.counter == "load1" for value in piece.values]
        assert all(whole[piece.started_at].values == piece.values for piece in sent if piece.counter == "load1")
    seen += [value for piece in pieces(watched, is_complete=True) if piece.counter == "load1" for value in piece.values]
    assert seen == [float(second) for second in range(rows)]


def test_a_cut_batch_of_pieces_loses_no_second_of_any_counter(tmp_path: Path) -> None:
    watched = watch(tmp_path, *(row(second) for second in range(400)))
    seen: dict[str, list[float]] = {name: [] for name in COUNTERS}
    while sent := pieces(watched, at_most=200):
        assert len(sent) <= 200
        for piece in sent:
            seen[piece.counter] += piece.values
        watched.acknowledge(sent)
    assert seen == {name: [float(second) for second in range(400)] for name in COUNTERS}


@pytest.mark.parametrize("answer", [RuntimeError("a plug-in's own fault"), float("nan"), -1.0])
def test_a_plug_in_that_cannot_tell_its_progress_costs_nothing_else(
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
    assert len(pieces(watched, is_complete=True)) == len(COUNTERS)


def test_pieces_are_short_at_first_and_stand_at_their_time(tmp_path: Path) -> None:
    watched = watch(tmp_path, *(row(second) for second in range(720)))
    load = [piece for piece in pieces(watched) if piece.counter == "load1"]
    assert [len(piece.values) for piece in load] == [10] * 60 + [60, 60]
    assert load[1].started_at == STARTED_AT + timedelta(seconds=10)
    assert load[-1].started_at == STARTED_AT + timedelta(seconds=660)
