"""Problems that `iotide-agent check` finds."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from iotide_agent.node import readiness
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.inventory import take_inventory
from iotide_agent.probes.reader import CommandWant


def test_a_directory_on_no_mount_that_the_kernel_lists_is_named_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a chroot whose root is not a mount of its own.
    monkeypatch.setattr(readiness, "take_inventory", lambda config: replace(take_inventory(config), mounts=()))
    config = AgentConfig(approved_directories=(str(tmp_path),), state_directory=tmp_path / "state")
    found = {finding.name: finding for finding in readiness.examine(config)}[str(tmp_path)]
    assert found.state is readiness.State.MISSING
    assert found.remedy is not None
    assert "mounted where this agent runs" in found.remedy


def test_limits_of_an_ordinary_user_or_a_bare_configuration_are_reported(tmp_path: Path) -> None:
    config = AgentConfig(
        approved_directories=(str(tmp_path),),
        state_directory=tmp_path / "state",
        run_as="root",
        workloads={"rawread": {"readable": ["/dev/no-such-disk"]}},
        budget={str(tmp_path): 2**40},
    )
    found = {finding.name: finding for finding in readiness.examine(config)}
    assert found["user"].state is readiness.State.READY
    assert found["remount"].state is readiness.State.LIMITED
    assert found["raw device"].state is readiness.State.LIMITED
    assert found["budget"].sentence == f"0 B of 1 TiB per day were written below {tmp_path}"
    config = config.model_copy(update={"remount_command": {str(tmp_path): ("remount",)}})
    assert "remount" not in {finding.name for finding in readiness.examine(config)}


@pytest.mark.parametrize(
    ("call", "code"),
    [("pidfd_open", errno.ENOSYS), ("waitid", errno.EINVAL)],
    ids=["before Linux 5.3", "before Linux 5.4"],
)
def test_a_kernel_that_cannot_follow_processes_is_named_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    config = AgentConfig(approved_directories=(str(tmp_path),), state_directory=tmp_path / "state")
    assert "kernel" not in {finding.name for finding in readiness.examine(config)}

    def fail(*_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    found = {finding.name: finding for finding in readiness.examine(config)}["kernel"]
    assert found.state is readiness.State.MISSING
    assert os.uname().release in found.sentence
    assert os.strerror(code) in found.sentence
    assert found.remedy == "use Linux 5.4 or newer, and a Python that was built on it"


@pytest.mark.parametrize("has_socket", [False, True])
def test_an_ordinary_user_can_empty_the_page_cache_by_the_socket_of_setup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_socket: bool
) -> None:
    monkeypatch.setattr(readiness, "CommandWant", lambda *_: CommandWant(("false",), "coreutils"))
    monkeypatch.setattr(readiness, "DROP_SOCKET", tmp_path / ("." if has_socket else "absent"))
    config = AgentConfig(state_directory=tmp_path / "state")
    found = {finding.name: finding for finding in readiness.examine(config)}["page cache"]
    assert found.state is (readiness.State.READY if has_socket else readiness.State.LIMITED)
    assert has_socket or found.remedy is not None
