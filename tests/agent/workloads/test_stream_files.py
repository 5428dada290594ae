"""Files of a stream: how its parts move from the ring to the directories."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.order_rig import eventually

from iotide_agent.loads.stream_files import Chunk, FileRule, Ring, Writer
from iotide_wire.units import MIB

TWO_OF_TWO = FileRule(2 * MIB, is_single=False, kept_files=2, direct=False)
"""Two chunks to a file, two files kept."""


def record(ring: Ring, chunks: int) -> None:
    for _ in range(chunks):
        memory = ring.take(1)
        assert memory is not None
        ring.filled.put(Chunk(memory, MIB))


def test_equal_targets_take_equal_shares_of_a_stream_for_which_one_would_do(tmp_path: Path) -> None:
    ring, rule = Ring(4 * MIB, MIB), FileRule(8 * MIB, is_single=False, kept_files=0, direct=False)
    directories = [tmp_path / str(number) for number in range(3)]
    for directory in directories:
        directory.mkdir()
    writers = [Writer(ring, str(directory), rule) for directory in directories]
    for writer in writers:
        writer.start()
    for _ in range(24):
        eventually(lambda: ring.in_use() == 0)
        record(ring, 1)
    for _ in writers:
        ring.filled.put(None)
    for writer in writers:
        writer.join()
    assert sum(writer.written_bytes for writer in writers) == 24 * MIB
    assert all(writer.written_bytes >= 6 * MIB for writer in writers)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Disk that flushes nothing until it is set."""
    answers = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _: answers.wait())
    yield answers
    answers.set()  # or the thread would outlive a failed test


def test_a_file_is_flushed_and_the_oldest_removed_during_the_writing_of_the_next(
    tmp_path: Path, disk: threading.Event
) -> None:
    ring = Ring(8 * MIB, MIB)
    writer = Writer(ring, str(tmp_path), TWO_OF_TWO)
    writer.start()
    record(ring, 3)
    eventually(lambda: ring.in_use() == 0)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["stream-000001.data", "stream-000002.data"]
    assert writer.files.kept_bytes() == 0  # none is flushed
    record(ring, 3)
    eventually(lambda: ring.filled.qsize() == 2)
    assert ring.in_use() == 3  # the second file is full, and the first is still being closed
    disk.set()
    ring.filled.put(None)
    writer.join()
    assert (writer.error, writer.written_bytes, writer.files.kept_bytes()) == (None, 6 * MIB, 4 * MIB)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["stream-000002.data", "stream-000003.data"]


@pytest.mark.parametrize("chunks", [2, 5])
def test_a_file_that_cannot_be_flushed_ends_the_writer(
    chunks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    ring = Ring(8 * MIB, MIB)
    writer = Writer(ring, str(tmp_path), TWO_OF_TWO)
    record(ring, chunks)
    ring.filled.put(None)
    writer.start()
    writer.join()
    assert writer.error is not None
    assert writer.error.errno == errno.EIO
