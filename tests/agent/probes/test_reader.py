import time
from pathlib import Path

import pytest

from iotide_agent.probes.reader import CommandWant, DirectoryWant, FileWant, SystemReader, Unavailable

READER = SystemReader()


def test_file_and_directory_are_read(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"caf\xc3\xa9 \xff\n")
    (tmp_path / "a").mkdir()
    assert READER.read(FileWant(str(tmp_path / "b"))) == "café �\n"
    assert READER.read(DirectoryWant(str(tmp_path))) == "a\nb"


def test_carriage_return_in_a_file_is_no_end_of_a_line(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_bytes(b"/home/u/a\rb\n")
    assert READER.read(FileWant(str(tmp_path / "mountinfo"))) == "/home/u/a\rb\n"


def test_absent_tools_are_unavailable_with_a_reason(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert READER.read(FileWant(missing)) == Unavailable(f"{missing} cannot be read: No such file or directory")
    assert READER.read(DirectoryWant(missing)) == Unavailable(f"{missing} cannot be listed: No such file or directory")
    assert READER.read(CommandWant(("iotide-no-such-tool", "-V"), "toolbox")) == Unavailable(
        "iotide-no-such-tool is not installed; install the package toolbox on this node"
    )


def test_command_speaks_english_and_its_failure_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert READER.read(CommandWant(("sh", "-c", "echo $LC_ALL"), "dash")) == "C\n"
    failed = READER.read(CommandWant(("sh", "-c", "echo first >&2; echo last >&2; exit 3"), "dash"))
    assert failed == Unavailable("sh ended with status 3: last")


@pytest.mark.parametrize("stamp", ["2026-11-21T07:21:02.458+0000 7f1c2b7fe700 ", "2026-11-21 07:21:02,123 ", ""])
def test_reason_is_the_same_whenever_it_fails(stamp: str) -> None:
    failed = READER.read(CommandWant(("sh", "-c", f"echo '{stamp}-1 no keyring' >&2; exit 1"), "dash"))
    assert failed == Unavailable("sh ended with status 1: -1 no keyring")


def test_command_that_hangs_is_given_up() -> None:
    started = time.monotonic()
    answer = SystemReader(command_seconds=0.1).read(CommandWant(("sleep", "30"), "coreutils"))
    assert answer == Unavailable("sleep did not answer within 100 ms; check that its file system is reachable")
    assert time.monotonic() - started < 5
