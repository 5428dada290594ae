"""Real runner on a real directory, started as the supervisor would."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from iotide_agent.runner import __file__ as runner_package
from iotide_agent.runner import processes
from iotide_agent.runner.card import Card, Go, StepCard, TargetCard, write_cancel, write_card, write_go
from iotide_agent.runner.doorbell import Doorbell, ring
from iotide_agent.runner.files import read_json
from iotide_agent.runner.mounts import mount_of

T = TypeVar("T")
RUNNER = Path(runner_package).parent
DIRECTORY_NAME = "iotide-run-7-1"


def target_card(path: Path, **changes: object) -> TargetCard:
    """Return the target as it is mounted, with these changes."""
    descriptor = os.open(path, os.O_RDONLY)
    mount = mount_of(descriptor)
    os.close(descriptor)
    values: dict[str, Any] = {
        "target_id": 1,
        "path": str(path),
        "fstype": mount.fstype,
        "source": mount.source,
        "reserve_bytes": 0,
        "bytes_needed": 0,
        "mount_point": mount.mount_point,
        "root": mount.root,
    }
    return TargetCard(**(values | changes))


def order_card(target: Path, **changes: object) -> Card:
    """Return the card of an order on one directory, as the supervisor would write it, with these changes."""
    values: dict[str, Any] = {
        "order_id": 7,
        "fence": 70,
        "directory_name": DIRECTORY_NAME,
        "approved": (str(target),),
        "agent_bell": "",
        "environment": {"PATH": os.environ["PATH"], "LC_ALL": "C"},
        "drop_caches": False,
        "drop_command": (),
        "time_limit_seconds": 60.0,
        "output_limit_bytes": 1024**2,
        "patience_seconds": 10.0,
        **changes,
    }
    return Card(**{"targets": (target_card(target),), **values})


def step(*argv: str, name: str = "step", before: str = "none", files: Sequence[Path] = ()) -> StepCard:
    return StepCard(name, argv, before, tuple(str(file) for file in files))


def python(program: str) -> tuple[str, ...]:
    """Return the argument list of a small load in Python."""
    return (sys.executable, "-I", "-S", "-c", program)


def eventually(is_so: Callable[[], bool], limit_seconds: float = 60.0) -> None:
    """Wait until a real process has made the condition true."""
    ends_at = time.monotonic() + limit_seconds
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.005)


class Rig:
    """One order with its directory, target and bell.

    Attributes:
        place: the run's own directory on the target.
    """

    def __init__(self, base: Path, **card: object) -> None:
        self.directory = base / "orders" / "7"
        self.directory.mkdir(parents=True)
        self.target = base / "target"
        self.target.mkdir(mode=0o700, exist_ok=True)
        self.place = self.target / DIRECTORY_NAME
        self.bell = Doorbell(base / "wake")
        self.card = order_card(self.target, **{"agent_bell": str(base / "wake"), **card})
        write_card(self.directory, self.card)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str) -> None:
        with (self.directory / "runner.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(RUNNER / "__main__.py"), str(self.directory), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def until(self, is_so: Callable[[], T], limit_seconds: float = 60.0) -> T:
        """Return the first true result of `is_so`, called at every ring of the bell and every 20 ms."""
        ends_at = time.monotonic() + limit_seconds
        while not (answer := is_so()):
            assert time.monotonic() < ends_at, (self.directory / "runner.log").read_text()
            select.select([self.bell], [], [], 0.02)
            self.bell.quiet()
        return answer

    def phase(self) -> dict[str, Any]:
        """Return the phase that the runner recorded last."""
        return read_json(self.directory / "phase.json") or {}

    def until_phase(self, phase: str) -> dict[str, Any]:
        self.until(lambda: self.phase().get("phase") == phase or self.ended())
        return self.phase()

    def go(self, *groups: Sequence[StepCard], at: float | None = None) -> None:
        """Let the load start."""
        write_go(self.directory, Go(at, tuple(tuple(group) for group in groups)))
        ring(self.directory / "bell")

    def cancel(self) -> None:
        """Cancel the run as the supervisor does."""
        write_cancel(self.directory, "cancelled", "cancelled", "cancelled by the user")
        ring(self.directory / "bell")

    def descendants(self) -> list[processes.Stat]:
        return processes.descendants(self.process.pid) if self.process else []

    def ended(self) -> dict[str, Any] | None:
        """Return the runner's final record, or None."""
        ending: dict[str, Any] | None = read_json(self.directory / "exit.json")
        return ending

    def until_ended(self) -> dict[str, Any]:
        """Wait for the end of the run and of its runner."""
        ending = self.until(self.ended)
        assert ending is not None
        assert self.process is not None
        assert self.process.wait(10) == 0, (self.directory / "runner.log").read_text()
        return ending

    def run(self, *groups: Sequence[StepCard]) -> dict[str, Any]:
        """Run the order to its end."""
        self.start()
        self.until_phase("ready")
        return self.run_ready(*groups)

    def run_ready(self, *groups: Sequence[StepCard]) -> dict[str, Any]:
        """Send the start signal and run the order to its end."""
        self.go(*groups)
        return self.until_ended()

    def output(self, name: str) -> str:
        return (self.directory / "out" / name).read_text(errors="replace")

    def close(self) -> None:
        """End processes that a failed test left running."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        processes.send(signal.SIGKILL, processes.holders(self.directory / "lock"))
