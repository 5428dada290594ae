import asyncio
import os
import re
import signal
import socket
from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iotide_server.bundled import StartError, supervise
from iotide_server.bundled.privileges import account_of
from iotide_server.bundled.readiness import ReadinessSocket, ServiceManager, announce_ready
from iotide_server.bundled.supervise import Part, StoppedError, Supervisor, restart_delay_seconds

from .conftest import wait_until

POLITE = "trap 'echo end $0 >> events; exit 0' TERM; echo start $0 >> events; while :; do sleep 1 & wait; done"
STUBBORN = "trap '' TERM; echo start $0 >> events; while :; do sleep 1; done"


class Bench:
    """A supervisor over shell scripts that work in one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.said: list[str] = []
        self.lock = os.open(directory / "lock", os.O_CREAT | os.O_RDWR)

    @property
    def events(self) -> list[str]:
        file = self.directory / "events"
        return file.read_text().splitlines() if file.exists() else []

    def log(self, name: str) -> str:
        return (self.directory / f"{name}.log").read_text()

    def part(self, name: str, script: str) -> Part:
        return Part(
            name=name,
            command=("sh", "-c", f"cd {self.directory}; {script}", name),
            account=account_of(os.geteuid()),
            is_ready=lambda: f"start {name}" in self.events,
        )

    def run(self, use: Callable[[Supervisor], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            supervisor = Supervisor(logs=self.directory, lock_descriptor=self.lock, say=self.said.append)
            try:
                await use(supervisor)
            finally:
                await supervisor.stop()

        asyncio.run(main())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_parts_start_in_order_and_stop_in_reverse(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        await supervisor.start(bench.part("one", POLITE))
        await supervisor.start(bench.part("two", POLITE))

    bench.run(use)
    assert bench.events == ["start one", "start two", "end two", "end one"]
    assert bench.said == []


def test_parts_started_together_are_all_ready_and_one_that_fails_stops_all(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        await supervisor.start(bench.part("one", POLITE), bench.part("two", POLITE))
        assert sorted(bench.events) == ["start one", "start two"]
        await supervisor.start(bench.part("three", POLITE), bench.part("four", "exit 3"))

    with pytest.raises(StartError, match="four ended with status 3"):
        bench.run(use)
    assert bench.events[-2:] == ["end two", "end one"]


def test_a_part_that_dies_is_restarted_and_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "_FIRST_DELAY_SECONDS", 0.01)

    async def use(supervisor: Supervisor) -> None:
        await supervisor.start(bench.part("one", "echo $$ > pid; " + POLITE))
        os.kill(int((bench.directory / "pid").read_text()), signal.SIGKILL)
        await asyncio.to_thread(wait_until, lambda: bench.events.count("start one") == 2)

    bench.run(use)
    assert bench.events == ["start one", "start one", "end one"]
    assert len(bench.said) == 1
    assert re.search(r"^one ended with status -9; restarting in 10 ms \(log: .*one\.log\)$", bench.said[0])


def test_a_part_that_ends_before_it_is_ready_shows_its_last_lines(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        await supervisor.start(bench.part("one", "echo the disk is full >&2; exit 3"))

    with pytest.raises(StartError, match="one ended with status 3 before it was ready:\n  the disk is full"):
        bench.run(use)


def test_a_part_that_never_becomes_ready_is_given_up(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        never = replace(bench.part("one", POLITE), is_ready=lambda: False, start_deadline_seconds=0.3)
        await supervisor.start(never)

    with pytest.raises(StartError, match=r"one was not ready within 300 ms"):
        bench.run(use)


def test_a_part_that_ignores_the_wish_to_stop_is_killed(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        await supervisor.start(replace(bench.part("one", STUBBORN), stop_deadline_seconds=0.2))

    bench.run(use)
    assert bench.said == ["one did not stop within 200 ms; killing it"]


def test_a_signal_while_parts_start_stops_what_has_started(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        supervisor.stop_on_signals()
        await supervisor.start(bench.part("one", POLITE))

        def interrupt() -> bool:
            os.kill(os.getpid(), signal.SIGTERM)
            return False

        await supervisor.start(replace(bench.part("two", POLITE), is_ready=interrupt))

    with pytest.raises(StoppedError):
        bench.run(use)
    assert bench.events[-1] == "end one"


def test_nothing_is_restarted_once_stopping_has_begun(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        supervisor.stop_on_signals()
        await supervisor.start(bench.part("one", POLITE))
        os.kill(os.getpid(), signal.SIGTERM)
        await supervisor.wait()

    bench.run(use)
    assert bench.events == ["start one", "end one"]


def test_every_part_inherits_the_lock(bench: Bench) -> None:
    async def use(supervisor: Supervisor) -> None:
        await supervisor.start(bench.part("one", f"readlink /proc/$$/fd/{bench.lock}; {POLITE}"))

    bench.run(use)
    assert bench.log("one").endswith(f" one | {bench.directory / 'lock'}\n")


def test_delays_grow_and_begin_again_after_a_steady_run() -> None:
    delays = [0.0]
    for _ in range(8):
        delays.append(restart_delay_seconds(delays[-1], ran_seconds=1))
    assert delays[1:] == [0.5, 1, 2, 4, 8, 8, 8, 8]
    assert restart_delay_seconds(8, ran_seconds=10) == 0.5


def test_a_part_without_a_port_announces_that_it_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(ReadinessSocket(tmp_path / "ready")) as listener:
        assert not listener.is_ready()
        monkeypatch.setenv("NOTIFY_SOCKET", listener.environment["NOTIFY_SOCKET"])
        announce_ready()
        assert listener.is_ready()


def test_an_announcement_without_a_receiver_does_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "absent"))
    announce_ready()
    monkeypatch.delenv("NOTIFY_SOCKET")
    announce_ready()


def test_a_service_manager_is_notified_by_its_service_and_by_none_of_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        manager = ServiceManager.take()
        assert "NOTIFY_SOCKET" not in os.environ
        manager.show("migrating the database")
        manager.announce_ready()
        manager.announce_stop()
        assert [systemd.recv(100) for _ in range(3)] == [b"STATUS=migrating the database", b"READY=1", b"STOPPING=1"]


def test_an_announcement_reaches_systemds_abstract_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind("")  # the kernel chooses an abstract name
        name = systemd.getsockname()
        monkeypatch.setenv("NOTIFY_SOCKET", "@" + name[1:].decode())
        announce_ready()
        assert systemd.recv(100) == b"READY=1"
