"""A whole iotide to be hit, and the counts of what it lived through."""

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from made_mounts import FILE_SYSTEMS, made_mount
from rig import Rig, add_rig, running_stack

SEED = int(os.environ.get("IOTIDE_CHAOS_SEED") or random.SystemRandom().randrange(10**6))
"""Of the random moments; printed, so that they can be had again."""

_TALLY = pytest.StashKey[Counter[str]]()


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    """Its target is on an ext4 of its own, which is unmounted plainly in the end: nothing may use it then."""
    with running_stack() as stack, made_mount(FILE_SYSTEMS["ext4"], stack.directory / "mount") as mount:
        yield add_rig(stack, "chaos", target=mount.point / "target")


@pytest.fixture(scope="session")
def seed() -> int:
    return SEED


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Counter[str]:
    """What happened so far, by name."""
    return pytestconfig.stash.setdefault(_TALLY, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(_TALLY, None)
    if counts is not None:
        told = " ".join(f"{name.replace(' ', '_')}={count}" for name, count in sorted(counts.items()))
        violations = len(terminalreporter.stats.get("failed", []))
        terminalreporter.write_line(f"faults: seed={SEED} {told} violations={violations}")
