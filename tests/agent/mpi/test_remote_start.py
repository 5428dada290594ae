"""Program in the place of ssh: started as a launcher starts it, it asks the runner of its node and waits."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iotide_agent.mpi import REMOTE_START
from iotide_agent.mpi.desk import Caller, Desk
from iotide_agent.mpi.head import write_remote_start
from iotide_agent.mpi.remote_start import SOCKET
from iotide_agent.runner import processes
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.loop import Loop

LIMIT_SECONDS = 10.0


class Counter:
    """A desk and the program; `asked` and `left` are what the desk was called with."""

    def __init__(self, base: Path) -> None:
        self.loop = Loop()
        self.asked: list[tuple[Caller, list[str]]] = []
        self.left: list[Caller] = []
        self.base = base / ("long" * 30)
        self.base.mkdir()
        self.desk = Desk(
            self.loop,
            self.base / "remote-start.socket",
            (),
            lambda caller, words: self.asked.append((caller, words)),
            self.left.append,
        )
        self.program = write_remote_start(self.base, ())

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self.program, *words], env={SOCKET: str(self.desk.path)}, stderr=subprocess.PIPE, cwd="/"
        )

    def until(self, is_so: object) -> None:
        until = processes.boottime() + LIMIT_SECONDS
        while not is_so():  # type: ignore[operator]
            assert processes.boottime() < until
            self.loop.turn(processes.boottime() + 0.01)


@pytest.fixture
def counter(tmp_path: Path) -> Iterator[Counter]:
    made = Counter(tmp_path)
    yield made
    made.desk.close()


def test_it_forwards_host_and_words_and_exits_with_the_status_of_the_part(counter: Counter) -> None:
    with counter.start("n2", '"/opt/mpich/bin/hydra_pmi_proxy"', "", "--proxy-id", "1") as program:
        counter.until(lambda: counter.asked)
        ((caller, words),) = counter.asked
        assert words == ["n2", '"/opt/mpich/bin/hydra_pmi_proxy"', "", "--proxy-id", "1"]
        assert program.poll() is None, "it stays until the part ended"
        caller.exit(7)
        counter.desk.dismiss(caller)
        assert program.wait(LIMIT_SECONDS) == 7
    assert counter.left == []


def test_a_refusal_is_printed_and_fails(counter: Counter) -> None:
    with counter.start("n9", "/bin/sh") as program:
        counter.until(lambda: counter.asked)
        caller, _ = counter.asked[0]
        caller.refuse("n9 is no member of this run")
        counter.desk.dismiss(caller)
        assert program.wait(LIMIT_SECONDS) == 255
        assert program.stderr is not None
        assert program.stderr.read() == b"iotide remote start: n9 is no member of this run\n"


def test_a_part_of_the_launchers_own_node_takes_its_place(counter: Counter) -> None:
    with counter.start("n1", "-n", "/usr/bin/env") as program:
        counter.until(lambda: counter.asked)
        caller, _ = counter.asked[0]
        caller.run_here(["/bin/sh", "-c", 'exit "$1"', "sh", "9"])
        counter.desk.dismiss(caller)
        assert program.wait(LIMIT_SECONDS) == 9


def test_a_part_of_its_own_node_that_is_missing_fails(counter: Counter) -> None:
    with counter.start("n1", "/opt/absent") as program:
        counter.until(lambda: counter.asked)
        caller, _ = counter.asked[0]
        caller.run_here(["/opt/absent"])
        assert program.wait(LIMIT_SECONDS) == 255
        assert program.stderr is not None
        assert program.stderr.read().startswith(b"iotide remote start: /opt/absent cannot be started: ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_its_own_end_is_noticed_so_that_the_part_ends(counter: Counter, number: signal.Signals) -> None:
    with counter.start("n2", "/opt/orted") as program:
        counter.until(lambda: counter.asked)
        program.send_signal(number)
        counter.until(lambda: counter.left)
        assert program.wait(LIMIT_SECONDS) == -number
    assert counter.left == [counter.asked[0][0]]


def test_it_fails_once_the_runner_is_gone(counter: Counter) -> None:
    with counter.start("n2", "/opt/orted") as program:
        counter.until(lambda: counter.asked)
        counter.desk.close()
        assert program.wait(LIMIT_SECONDS) == 255


def test_without_a_runner_it_says_who_starts_it() -> None:
    ran = subprocess.run(
        [sys.executable, "-I", "-S", REMOTE_START, "n2"], env={}, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr.count("only a runner of iotide starts this program")) == (255, 1)


def test_only_the_user_of_the_loads_reaches_the_socket(counter: Counter) -> None:
    assert stat.S_IMODE(counter.desk.path.stat().st_mode) == 0o600
    counter.desk._users = {os.geteuid() + 1}
    with counter.start("n2", "/opt/orted") as program:
        counter.until(lambda: counter.desk.refused)
        assert program.wait(LIMIT_SECONDS) == 255
    assert counter.asked == []


def test_a_request_without_end_is_not_read(counter: Counter) -> None:
    with counter.start("n2", "x" * 100_000) as program:
        counter.until(lambda: counter.desk.refused)
        assert program.wait(LIMIT_SECONDS) == 255
    assert counter.asked == []


def test_an_interpreter_that_no_script_can_name_is_declined_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/" + "x" * 130)
    with pytest.raises(RunEndedError, match="install it elsewhere") as ended:
        write_remote_start(tmp_path, ())
    assert ended.value.outcome == "declined"


def test_it_needs_nothing_but_the_standard_library(counter: Counter) -> None:
    assert "iotide_agent" not in REMOTE_START.read_text()
    assert counter.program.read_text().startswith(f"#!{sys.executable} -IS\n")


def test_a_load_that_exchanges_the_socket_does_not_keep_the_desk_from_closing(counter: Counter) -> None:
    counter.desk.path.unlink()
    counter.desk.path.mkdir()
    counter.desk.close()
