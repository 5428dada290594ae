import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from iotide_server.bundled.partlog import PartLog


def part_log(directory: Path, *, cap_bytes: int = 1000) -> PartLog:
    moment = datetime(2026, 11, 21, 10, 0, 0, 250_000, tzinfo=UTC)
    return PartLog(directory / "api.log", "api", cap_bytes=cap_bytes, clock=lambda: moment)


def test_lines_carry_time_and_name_however_they_are_cut(tmp_path: Path) -> None:
    log = part_log(tmp_path)
    for chunk in (b"fir", b"st\nsecond\r\nlast with", "out end ü".encode()):
        log.write(chunk)
    log.close()
    stamp = "2026-11-21T10:00:00.250+00:00 api | "
    assert log.path.read_text() == f"{stamp}first\n{stamp}second\n{stamp}last without end ü\n"
    assert list(log.last_lines) == ["first", "second", "last without end ü"]


def test_files_never_grow_past_the_cap(tmp_path: Path) -> None:
    log = part_log(tmp_path, cap_bytes=500)
    for number in range(200):
        log.write(f"line {number}\n".encode())
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["api.log", "api.log.1", "api.log.2"]
    assert all(path.stat().st_size <= 500 for path in tmp_path.iterdir())
    assert log.path.read_text().endswith("line 199\n")


def test_an_endless_line_is_cut(tmp_path: Path) -> None:
    log = part_log(tmp_path, cap_bytes=10_000_000)
    for _ in range(10):
        log.write(b"x" * 10_000)
    assert len(log.last_lines) == 5


def test_bytes_that_are_no_text_are_kept_readable(tmp_path: Path) -> None:
    log = part_log(tmp_path)
    log.write(b"\xff\xfe broken\n")
    assert "broken" in log.path.read_text()


def test_a_full_disk_loses_lines_and_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = part_log(tmp_path)
    monkeypatch.setattr(log, "path", Path("/dev/full"))
    log.write(b"lost\n")
    assert list(log.last_lines) == ["lost"]


def test_as_json_every_line_is_an_object_and_one_that_is_stays_as_it_is(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
    log = PartLog(tmp_path / "redis.log", "redis", clock=lambda: moment, as_json=True)
    log.write(b'{"event": "elected", "time": "t"}\n1:M * Ready "to" accept\n')
    own, wrapped = map(json.loads, log.path.read_text().splitlines())
    assert own == {"event": "elected", "time": "t"}
    assert wrapped == {"time": "2026-11-21T10:00:00.000+00:00", "part": "redis", "event": '1:M * Ready "to" accept'}
