"""Owners of parent directories: no owner of a part of a path can exchange what root opens by that path."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent.order_rig import DIRECTORY_NAME, Rig, python, step, target_card
from attacks.agent.canary import Canary, attacked_card

from iotide_agent.core.protocol import Stage
from iotide_agent.node import readiness
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.own_files import StateOpenError, close_state
from iotide_agent.node.textfile import AgentFacts, Textfile
from iotide_agent.probes.reader import CommandWant, SystemReader, Unavailable
from iotide_agent.runner.caches import run_command
from iotide_agent.runner.walls import OpenToOthersError, open_walled
from iotide_agent.runner.workspace import TargetRefusedError, make_place, open_beneath
from iotide_agent.workloads.registry import announcements

ALICE = 1500
EXCHANGE = """\
import os, pathlib, sys, time
os.setgroups([]), os.setgid(1500), os.setuid(1500)
home, name, victim = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
while not (home / "opened").exists():
    time.sleep(0.001)
(home / "lure" / name).mkdir(parents=True)
(home / "lure" / name / "second").symlink_to(victim)
(home / "bench").rename(home / "away")
(home / "lure").rename(home / "bench")
(home / "exchanged").touch()
"""
TWO_OPENS = """\
import os, pathlib, sys, time
home, place = pathlib.Path({home!r}), pathlib.Path({place!r})
(place / "first").touch()
(home / "opened").touch()
while not (home / "exchanged").exists():
    time.sleep(0.001)
(place / "second").write_bytes(bytes(8192))
"""


@pytest.fixture
def home(base: Path) -> Path:
    """Return alice's directory, which contains a directory of root's for benchmarks."""
    directory = base / "alice"
    (directory / "bench").mkdir(parents=True)
    os.chown(directory, ALICE, ALICE)
    return directory


@contextmanager
def as_alice() -> Iterator[None]:
    """Become alice, as in an agent of her own."""
    os.seteuid(ALICE)
    try:
        yield
    finally:
        os.seteuid(0)


def test_the_owner_of_a_directory_above_has_no_run_write_elsewhere_between_two_opens(
    base: Path, home: Path, tmp_path: Path, make_rig: Callable[..., Rig]
) -> None:
    victim = base / "victim"
    victim.write_text("of root alone")
    victim.chmod(0o600)
    bench, place = home / "bench", home / "bench" / DIRECTORY_NAME
    rig = make_rig(approved=(str(bench),), targets=(target_card(bench),))
    attacker = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", EXCHANGE, str(home), DIRECTORY_NAME, str(victim)], cwd=tmp_path
    )
    try:
        rig.start()
        rig.until_phase("ready")
        ending = rig.run_ready([step(*python(TWO_OPENS.format(home=str(home), place=str(place))))])
    finally:
        attacker.kill()
        attacker.wait()
    assert victim.read_text() == "of root alone"
    assert (ending["outcome"], ending["code"]) == ("declined", "directory_open_to_others")
    assert ending["reason"].startswith(f"{home} belongs to user {ALICE}, who could exchange its content; chown")


@pytest.mark.parametrize(
    ("owner", "mode", "remedy"),
    [
        (ALICE, 0o755, "{above} belongs to user 1500, who could exchange its content; chown 0 {above}, or use"),
        (ALICE, 0o1755, "{above} belongs to user 1500"),
        (65534, 0o700, "{above} belongs to user 65534"),
        (0, 0o2775, "{above} has mode 2775 (user 0, group 0), so other users could exchange its content; chmod go-w"),
        (0, 0o757, "{above} has mode 0757"),
    ],
)
def test_a_directory_above_that_is_open_to_others_is_refused_and_named_by_run_and_check(
    base: Path, canary: Canary, owner: int, mode: int, remedy: str
) -> None:
    above = base / "far" / "above"
    approved = above / "below" / "approved"
    approved.mkdir(parents=True)
    os.chown(above, owner, 0)
    above.chmod(mode)
    words = remedy.format(above=above)
    target = target_card(approved)
    with pytest.raises(TargetRefusedError) as refused:
        make_place(attacked_card(approved, target), target)
    assert refused.value.code == "directory_open_to_others"
    assert str(refused.value).startswith(words)
    assert list(approved.iterdir()) == []
    config = AgentConfig(approved_directories=(str(approved),), state_directory=base / "state")
    found = {finding.name: finding for finding in readiness.examine(config)}[str(approved)]
    assert found.state is readiness.State.MISSING
    assert f"{found.sentence}; {found.remedy}" == str(refused.value)
    canary.require_untouched()


def test_a_sticky_directory_above_and_one_of_the_agents_own_user_are_taken(base: Path, home: Path) -> None:
    (base / "shared").mkdir()
    (base / "shared").chmod(0o1777)
    (base / "shared" / "approved").mkdir()
    os.close(open_beneath([str(base / "shared/approved")], str(base / "shared/approved"))[0])
    os.chown(home / "bench", ALICE, ALICE)
    bobs = base / "bob"
    bobs.mkdir()
    os.chown(bobs, ALICE + 1, -1)
    with as_alice():
        os.close(open_beneath([str(home / "bench")], str(home / "bench"))[0])
        with pytest.raises(TargetRefusedError, match=f"{bobs} belongs to user 1501, .* chown 1500 {bobs}"):
            open_beneath([str(bobs)], str(bobs))


def test_a_link_that_others_could_turn_is_not_followed(base: Path, home: Path) -> None:
    (base / "ours").mkdir()
    (home / "link").symlink_to(base / "ours")
    (base / "to-link").symlink_to(home / "link")
    shared = base / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "link").symlink_to("../ours")
    for path in (home / "link", base / "to-link"):
        with pytest.raises(OpenToOthersError, match=f"{home} belongs to user {ALICE}"):
            open_walled(str(path))
    descriptor, real = open_walled(str(shared / "link"))
    os.close(descriptor)
    assert real == str(base / "ours")
    os.chown(shared / "link", ALICE, ALICE, follow_symlinks=False)
    with pytest.raises(OpenToOthersError, match=r"the symbolic link .* belongs to user 1500"):
        open_walled(str(shared / "link"))


def test_a_tool_that_another_user_could_exchange_is_not_started(
    home: Path, tmp_path: Path, make_rig: Callable[..., Rig]
) -> None:
    tool = _program(home / "bench" / "tool", tmp_path / "started")
    rig = make_rig()
    ending = rig.run([step(str(tool), name="write")])
    assert (ending["outcome"], ending["code"]) == ("failed", "tool_missing")
    assert f"{home} belongs to user {ALICE}, who could exchange its content; chown 0 {home}" in ending["reason"]
    answer = SystemReader().read(CommandWant((str(tool), "--version"), "tool"))
    assert isinstance(answer, Unavailable)
    assert f"{home} belongs to user {ALICE}" in answer.because
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("behind", [(), ("env",)])
def test_a_helper_that_another_user_could_exchange_is_not_started(
    home: Path, tmp_path: Path, behind: tuple[str, ...]
) -> None:
    command = (*behind, str(_program(home / "bench" / "helper", tmp_path / "started")))
    with pytest.raises(OpenToOthersError, match=f"{home} belongs to user {ALICE}"):
        run_command(command)
    assert not (tmp_path / "started").exists()
    config = AgentConfig(
        approved_directories=(str(tmp_path),),
        state_directory=tmp_path / "state",
        cache_drop_command=command,
        remount_command={str(tmp_path): command},
    )
    found = {finding.name: finding for finding in readiness.examine(config)}
    for name in ("page cache", "remount"):
        assert found[name].state is readiness.State.LIMITED
        assert f"{home} belongs to user {ALICE}" in found[name].sentence


def test_a_listed_path_that_another_user_could_exchange_makes_its_workload_unavailable(home: Path) -> None:
    metrics = {"rate": {"title": "Rate", "unit": "bytes_per_second", "better": "higher", "json_path": "rate"}}
    settings: dict[str, dict[str, Any]] = {
        "rawread": {"readable": [str(home / "bench" / "file")]},
        "command": {"commands": {"own": {"argv": [str(home / "bench" / "tool")], "metrics": metrics}}},
    }
    (home / "bench" / "file").touch()
    (home / "bench" / "tool").touch(mode=0o755)
    found = {one.name: one for one in announcements(SystemReader(), settings)}
    for name in settings:
        assert not found[name].available
        assert f"{home} belongs to user {ALICE}" in str(found[name].unavailable_because)


def test_the_file_for_prometheus_follows_no_link_of_the_directorys_owner(home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("of root alone")
    os.chown(home / "bench", ALICE, ALICE)
    (home / "bench" / f".iotide.prom.{os.getpid()}").symlink_to(victim)
    facts = AgentFacts("n", "1", True, 0.0, True, 0.0, None, [Stage.RUNNING], 0, 0, 0)
    Textfile(home / "bench" / "iotide.prom").write(facts, 0.0)
    os.chown(home, 0, 0)
    Textfile(home / "bench" / "iotide.prom").write(facts, 0.0)
    assert victim.read_text() == "of root alone"
    assert (home / "bench" / "iotide.prom").read_text().startswith("# HELP")


def test_a_state_directory_that_another_user_could_exchange_is_refused_and_left_as_it_is(
    home: Path, base: Path
) -> None:
    system = base / "system"
    system.mkdir(mode=0o755)
    (home / "state").symlink_to(system)
    with pytest.raises(StateOpenError, match=f"{home} belongs to user {ALICE}, who could exchange"):
        close_state(home / "state")
    assert system.stat().st_mode & 0o777 == 0o755


def _program(path: Path, trace: Path) -> Path:
    path.write_text(f"#!/bin/sh\ntouch {trace}\n")
    path.chmod(0o755)
    return path
