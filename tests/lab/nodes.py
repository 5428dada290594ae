"""Nodes of a lab scenario: agents on this machine, each in its own network namespace if it has one."""

import ctypes
import logging
import multiprocessing
import subprocess
from collections.abc import Sequence
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, Self

from lab.agents import Agent, Answer, Errand, Job

from iotide_wire.measured import FlagCode
from iotide_wire.messages import FinishRequest, OrderTarget, Outcome

JOBS: Final = (
    Job("dd", {"file_size_bytes": 8 * 1024**2, "block_size_bytes": 1024**2}),
    Job("create", {"file_count": 20}),
)
"""Small ones: emulation makes every rate meaningless, so tests only check that results exist."""


_orders = count(1)
_CLONE_NEWNS: Final = 0x20000
_CLONE_NEWNET: Final = 0x40000000


def system(*argv: str) -> str:
    """Return a program's output; fail with its error output."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{' '.join(argv)}: {done.stdout}{done.stderr}"
    return done.stdout


class Errands:
    """Running agent, forked from this process: a new Python takes an emulated CPU many seconds."""

    def __init__(self, namespace: str | None, errand: Errand) -> None:
        context = multiprocessing.get_context("fork")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_be_agent, args=(theirs, namespace, errand))
        self._process.start()
        theirs.close()

    def until_prepared(self) -> Self:
        """Wait until the first order has its directory, or was declined."""
        assert self._ours.recv() is None
        return self

    def release(self) -> Self:
        """Let the first order start; the others follow automatically."""
        self._ours.send(None)
        return self

    def answer(self) -> Answer:
        """Return its results."""
        found = self._ours.recv()
        assert isinstance(found, Answer)
        self._process.join(30)
        return found

    def close(self) -> None:
        """End it if a test failed before its answer."""
        self._process.kill()
        self._process.join(30)
        self._ours.close()


def _be_agent(theirs: Connection, namespace: str | None, errand: Errand) -> None:
    logging.basicConfig(level=logging.INFO, force=True)
    if namespace:
        _enter(namespace)

    def wait_for_leave() -> None:
        theirs.send(None)
        theirs.recv()

    theirs.send(Agent(errand).carry_out(wait_for_leave))


def _enter(namespace: str) -> None:
    """Enter the namespace as `ip netns exec` does: /sys shows the interfaces of the namespace in which it was
    mounted.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/run/netns", namespace).open() as file:
        for failed in (libc.setns(file.fileno(), _CLONE_NEWNET), libc.unshare(_CLONE_NEWNS)):
            if failed:
                raise OSError(ctypes.get_errno(), f"network namespace {namespace} cannot be entered")
    system("mount", "--make-rslave", "/")
    system("mount", "-t", "sysfs", namespace, "/sys")


class Node:
    """A node with one approved directory.

    Attributes:
        directory: where its runs may write.
    """

    def __init__(self, base: Path, directory: Path, namespace: str | None = None) -> None:
        self.directory = directory
        self._base = base
        self._namespace = namespace
        self._started: list[Errands] = []

    def start(
        self, jobs: Sequence[Job] = JOBS, target: OrderTarget | None = None, time_limit_seconds: float = 90.0
    ) -> Errands:
        """Start an agent; without a target it expects what is mounted."""
        first_order = next(_orders) * 10
        errand = Errand(self._base / "state", str(self.directory), first_order, tuple(jobs), target, time_limit_seconds)
        self._started.append(Errands(self._namespace, errand))
        return self._started[-1]

    def look(self) -> Answer:
        """Return the agent's announcement of its directory after it has recovered; no order."""
        return self.start(()).answer()

    def run(self, jobs: Sequence[Job] = JOBS, target: OrderTarget | None = None) -> Answer:
        """Run all jobs, from the first to the last."""
        return self.start(jobs, target).until_prepared().release().answer()

    def files(self) -> list[str]:
        """Return the files in its directory."""
        return sorted(file.name for file in self.directory.iterdir())

    def unmount(self) -> None:
        """Unmount as an administrator would; what remains is a plain directory on the system's disk."""
        system("umount", str(self.directory))

    def close(self) -> None:
        """End processes that a failed test left running."""
        for errands in self._started:
            errands.close()


def assert_measured(answer: Answer) -> None:
    """Check that each job finished with samples, on the target's own mount, and left nothing to remove."""
    for result in answer.results:
        assert result.outcome is Outcome.FINISHED, (result.reason_code, result.reason)
        assert result.samples
        assert FlagCode.WRONG_MOUNT not in {flag.code for flag in result.flags}
    assert answer.leftovers == 0


def highest(result: FinishRequest, counter: str) -> float:
    """Return the largest value of a counter in the seconds of a run; 0 if nothing was counted."""
    return max((value for curve in result.curves if curve.counter == counter for value in curve.values), default=0.0)


def assert_declined(answer: Answer, code: str) -> None:
    """Check that nothing was measured, and that the reason is the given one."""
    [result] = answer.results
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, code), result.reason
    assert result.samples == ()
