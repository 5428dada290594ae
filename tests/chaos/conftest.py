"""Whole iotide for fault injection, and counts of the injected faults."""

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from made_mounts import FILE_SYSTEMS, made_mount
from rig import Rig, add_rig, running_stack

SEED = int(os.environ.get("IOTIDE_CHAOS_SEED") or random.SystemRandom().randrange(10**6))
"""Seed of the random moments; printed, so that they can be repeated."""

_TALLY = pytest.StashKey[Counter[str]]()


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    """Return a rig with its target on a separate ext4, which is unmounted normally at the end: no process may use it
    then.
    """
    with running_stack() as stack, made_mount(FILE_SYSTEMS["ext4"], stack.directory / "mount") as mount:
        yield add_rig(stack, "chaos", target=mount.point / "target")


@pytest.fixture(scope="session")
def seed() -> int:
    return SEED


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Counter[str]:
    """Return the counts of events so far, by name."""
    return pytestconfig.stash.setdefault(_TALLY, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(_TALLY, None)
    if counts is not None:
        counted = " ".join(f"{name.replace(' ', '_')}={count}" for name, count in sorted(counts.items()))
        violations = len(terminalreporter.stats.get("failed", []))
        terminalreporter.write_line(f"faults: seed={SEED} {counted} violations={violations}")
