"""Loads of a root agent run as an ordinary user, who also accesses the targets; only the runner has root's rights."""

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from agent.agent_rig import AgentRig
from agent.order_rig import DIRECTORY_NAME, RUNNER, Rig, eventually, step

from iotide_agent.core.spool import OrderFiles
from iotide_agent.mpi.desk import Desk
from iotide_agent.node import readiness
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.inventory import take_inventory
from iotide_agent.node.load_user import DEFAULT_USER, LoadUser, find_load_user
from iotide_agent.node.own_files import close_state
from iotide_agent.orders.results import SpooledOutput
from iotide_agent.probes.reader import SystemReader
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.orphans import Wanted, find_orphans, read_found, write_wanted
from iotide_agent.runner.users import acting_as, hand_over
from iotide_agent.workloads import registry
from iotide_agent.workloads.registry import announcements
from iotide_server.bundled.redis import PrivateRedis
from iotide_wire.messages import Outcome

USER = 1500
IDS = (USER, USER, USER)
_PR_CAPBSET_DROP = 24
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


@pytest.fixture
def as_user(base: Path) -> Iterator[Rig]:
    """Make an order whose loads an ordinary user runs, on a target of that user."""
    rig = Rig(base, run_as=IDS)
    os.chown(rig.target, USER, USER)
    yield rig
    rig.close()


def test_a_load_has_the_rights_of_the_user_and_no_way_to_others(as_user: Rig, base: Path) -> None:
    token = base / "identity.json"
    token.touch(mode=0o600)
    written = as_user.place / "written"
    ending = as_user.run(
        [step("cat", "/proc/self/status", name="status")],
        [step("dd", "if=/dev/zero", f"of={written}", "bs=4096", "count=1", name="write")],
        [step("stat", "-c", "%u %a", str(as_user.place), str(written), name="owners")],
        [step("sh", "-c", f"cat {token}; ls {base}/orders; ls {as_user.directory}; echo done", name="look")],
        [step("sh", "-c", "pwd; touch in-scratch; stat -c %u .", name="scratch")],
    )
    assert (ending["outcome"], ending["leftovers"]) == ("finished", [])
    status = dict(line.split(":\t") for line in as_user.output("000-status.stdout").splitlines())
    assert status["Uid"].split() == status["Gid"].split() == [str(USER)] * 4
    assert status["Groups"].split() == [str(USER)]
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert status["NoNewPrivs"] == "1"
    assert as_user.output("002-owners.stdout").split() == [str(USER), "700", str(USER), "644"]
    assert as_user.output("003-look.stdout").split() == ["done"]
    assert as_user.output("003-look.stderr").count("Permission denied") == 3
    assert as_user.output("004-scratch.stdout").split() == [str(as_user.directory / "scratch"), str(USER)]
    assert list(as_user.target.iterdir()) == []


def test_a_server_that_squashes_root_takes_the_user(as_user: Rig) -> None:
    def be_squashed() -> None:
        libc = ctypes.CDLL(None)
        for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
            assert libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0

    as_user.target.chmod(0o700)
    command = [sys.executable, "-I", "-S", str(RUNNER / "__main__.py"), str(as_user.directory)]
    with (as_user.directory / "runner.log").open("ab") as log:
        as_user.process = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            preexec_fn=be_squashed,  # noqa: PLW1509 - no thread runs here
        )
    as_user.until_phase("ready")
    write = step("dd", "if=/dev/zero", f"of={as_user.place}/written", "bs=4096", "count=1", before="drop")
    ending = as_user.run_ready([write])
    assert (ending["outcome"], ending["reason"], ending["leftovers"]) == ("finished", None, [])
    assert list(as_user.target.iterdir()) == []


def test_a_load_ends_with_its_runner_and_what_it_left_is_removed(as_user: Rig) -> None:
    as_user.start()
    as_user.until_phase("ready")
    as_user.go([step("sh", "-c", f"touch {as_user.place}/written; exec sleep 600")])
    eventually((as_user.place / "written").exists)
    as_user.until(lambda: bool(as_user.phase().get("loads")))
    pid = as_user.phase()["loads"][0]["pid"]
    assert as_user.process is not None
    as_user.process.send_signal(signal.SIGKILL)
    as_user.process.wait()
    eventually(lambda: not Path(f"/proc/{pid}").exists())
    as_user.start("--aftermath")
    ending = as_user.until_ended()
    assert (ending["code"], ending["leftovers"]) == ("runner_died", [])
    assert list(as_user.target.iterdir()) == []


def test_directories_closed_to_the_user_are_rejected_with_the_remedy(as_user: Rig, base: Path) -> None:
    os.chown(as_user.target, 0, 0)
    as_user.target.chmod(0o755)
    as_user.start()
    ending = as_user.until_ended()
    assert (ending["outcome"], ending["code"]) == ("declined", "not_writable")
    assert ending["reason"] == f"{as_user.place} cannot be created: Permission denied for user {USER}"
    config = AgentConfig(
        approved_directories=(str(as_user.target),), state_directory=base / "state", run_as=pwd.getpwuid(1).pw_name
    )
    found = {finding.name: finding for finding in readiness.examine(config)}[str(as_user.target)]
    assert found.state is readiness.State.MISSING
    assert found.sentence == f"user 1 may not create directories in {as_user.target}"
    assert str(found.remedy).startswith(f"chown 1 {as_user.target}")


@pytest.mark.parametrize("options", [{"rw": "write"}, {"job_file": "[one]\nrw=write\nsize=64k\nend_fsync=1\n"}])
def test_an_order_of_a_root_agent_is_run_to_its_end_by_the_user_of_agent_toml(
    base: Path, redis_server: PrivateRedis, options: dict[str, object]
) -> None:
    user = pwd.getpwuid(1)
    with AgentRig(base, redis_server) as rig:
        os.chown(rig.target, user.pw_uid, user.pw_gid)
        rig.write_config(run_as=f'"{user.pw_name}"')
        rig.start()
        finish = rig.gateway.result(rig.offer("fio", options | {"file_size_bytes": 2**20}))
        assert (finish.outcome, finish.reason) == (Outcome.FINISHED, None)
        assert finish.samples
        assert f"benchmarks run as {user.pw_name} (user 1)" in rig.log()
        eventually(lambda: list(rig.target.iterdir()) == [])
        rig.kill()
        close_state(rig.state)
        assert rig.state.stat().st_mode & 0o777 == 0o710


def test_root_gives_away_nothing_behind_a_link_that_another_load_of_the_user_makes_meanwhile(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each file that root gave away, another load tries to replace its directory by a link."""
    directory, of_root = base / "orders" / "1", base / "etc"
    below = directory / "scratch" / "jobs"
    for made in (below, of_root):
        made.mkdir(parents=True)
        for name in ("one", "two"):
            (made / name).touch()
    (directory / "scratch").chmod(0o700)
    chown = os.chown

    def watched(path: Path | str, *ids: int, **named: Any) -> None:  # noqa: ANN401 - handed on
        chown(path, *ids, **named)
        if Path(path).name in {"one", "two"}:
            with suppress(OSError), acting_as(IDS):
                below.rename(below.with_name("away"))
                below.symlink_to(of_root)

    monkeypatch.setattr(os, "chown", watched)
    hand_over(directory, ("scratch", "endpoint.json"), IDS)
    assert {path.stat().st_uid for path in (of_root, *of_root.iterdir())} == {0}
    found = [path for path in directory.rglob("*") if not path.is_symlink()]
    assert len(found) == 4
    assert {path.stat().st_uid for path in found} == {USER}


def test_the_user_makes_the_socket_of_its_launcher_and_root_gives_nothing_away(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another load of the user could exchange the name for a second one of a file of root."""

    def give_away(*_: object, **__: object) -> None:
        raise AssertionError("a name in a directory of the user has another owner")

    order, scratch = base / "order", base / "order" / "scratch"
    scratch.mkdir(parents=True)
    os.chown(scratch, USER, USER)
    order.chmod(0o700)
    monkeypatch.setattr(os, "chown", give_away)
    desk = Desk(Loop(), scratch / "remote-start.socket", IDS, lambda *_: None, lambda _: None)
    made = desk.path.stat()
    desk.close()
    assert (made.st_uid, made.st_gid, made.st_mode & 0o777) == (USER, USER, 0o600)
    assert os.geteuid() == 0


def test_output_that_a_load_replaced_by_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    files = OrderFiles(tmp_path / "order")
    files.scratch.mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text("of root alone")
    (files.scratch / "plain").write_text("output")
    (files.scratch / "link").symlink_to(secret)
    (files.scratch / "hard").hardlink_to(secret)
    (files.scratch / "away").symlink_to(tmp_path)
    os.mkfifo(files.scratch / "pipe")
    output = SpooledOutput(files)
    assert output.file(0, files.scratch / "plain") == "output"
    for name in ("link", "hard", "away/secret", "pipe", "absent"):
        assert output.file(0, files.scratch / name) is None


def test_directories_of_the_user_are_found_by_their_marks(as_user: Rig, base: Path) -> None:
    as_user.start()
    as_user.until_phase("ready")
    assert as_user.process is not None
    as_user.process.kill()
    as_user.process.wait()
    assert as_user.place.stat().st_uid == USER
    directory = base / "orphans"
    directory.mkdir()
    for ids, names in ((IDS, [DIRECTORY_NAME]), ((USER + 1,) * 3, [])):
        write_wanted(directory, Wanted("", (str(as_user.target),), "/of-this-test", 10.0, ids))
        find_orphans(directory)
        assert [orphan.name for orphan in read_found(directory)[0]] == names


def test_orphans_of_root_are_reported_with_the_remedy_and_stay(as_user: Rig, base: Path) -> None:
    old, others = as_user.target / "iotide-run-101-1", as_user.target / "of-root"
    for made in (old, others):
        made.mkdir(mode=0o700)
    directory = base / "orphans"
    directory.mkdir()
    for ids, expected in ((IDS, [f"{old} belongs to root"]), ((), [])):
        os.chown(as_user.target, *((USER, USER) if ids else (0, 0)))
        write_wanted(directory, Wanted("", (str(as_user.target),), "/of-this-test", 10.0, ids))
        find_orphans(directory)
        orphans, problems = read_found(directory)
        assert orphans == []
        assert [problem.partition(";")[0] for problem in problems] == expected
        assert all(problem.endswith(f"remove it as root: rm -r {old}") for problem in problems)
    assert old.exists()


def test_a_tool_that_the_user_may_not_start_makes_its_workload_unavailable(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may start all of these, and would get a version."""
    for name, release in (("fio", "fio-3.35"), ("dd", "dd (coreutils) 9.1")):
        (base / name).write_text(f"#!/bin/sh\necho '{release}' by $(id -u)\n")
    (base / "fio").chmod(0o700)
    (base / "dd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{base}:{os.environ['PATH']}")
    metrics = {"rate": {"title": "Rate", "unit": "bytes_per_second", "better": "higher", "json_path": "rate"}}
    commands = {"own": {"argv": [str(base / "fio")], "metrics": metrics}}
    settings: dict[str, dict[str, Any]] = {"command": {"commands": commands}}
    found = {one.name: one for one in announcements(SystemReader(), settings, IDS)}
    assert (found["fio"].available, found["command"].available) == (False, False)
    started = f"{base / 'fio'} cannot be started by user {USER}, who runs the loads"
    assert found["fio"].unavailable_because == f"{started}: Permission denied; let that user execute it"
    assert found["command"].unavailable_because == f"{started}; make it executable for that user"
    assert (found["dd"].available, found["dd"].tool_version) == (True, f"dd (coreutils) 9.1 by {USER}")
    by_root = {one.name: one.available for one in announcements(SystemReader(), settings)}
    assert (by_root["fio"], by_root["command"]) == (True, True)


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_programs_of_the_agents_own_are_available_where_the_user_can_read_them(
    base: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """It does not matter that another user, who installed the agent, could exchange them."""
    runner = base / "agent" / "iotide_agent" / "runner"
    shutil.copytree(RUNNER, runner, ignore=shutil.ignore_patterns("__pycache__"))
    (runner.parent / "__init__.py").touch()
    os.chown(base / "agent", USER + 1, USER + 1)
    (base / "agent").chmod(mode)
    python = shutil.which("python3", path="/usr/bin")
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(registry, "RUNNER", runner / "__main__.py")
    found = {one.name: one for one in announcements(SystemReader(), {}, IDS)}
    for name in ("create", "stream", "fill"):
        assert found[name].available == (mode == 0o755), found[name].unavailable_because
    assert found["dd"].available
    if mode == 0o700:
        because = str(found["create"].unavailable_because)
        assert f"by user {USER}, who runs the loads" in because
        assert because.endswith("install the agent where that user may read it (UV_TOOL_DIR=/opt/uv/tools)")


def test_the_check_says_that_the_user_cannot_read_a_device(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = base / "device"
    device.touch(mode=0o600)
    user = LoadUser(IDS, "root; loads run as another")
    monkeypatch.setattr("iotide_agent.node.inventory.find_load_user", lambda *_: user)
    config = AgentConfig(state_directory=base / "state", workloads={"rawread": {"readable": [str(device)]}})
    found = {finding.name: finding for finding in readiness.examine(config)}["raw device"]
    assert found.sentence == f"{device} does not exist or cannot be opened by user {USER}, who runs the loads"


@pytest.fixture
def users(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the users of the node, by their numbers."""

    def have(**ids: int) -> None:
        entries = {name: pwd.struct_passwd((name, "x", uid, uid, "", "/", "")) for name, uid in ids.items()}
        monkeypatch.setattr(pwd, "getpwnam", entries.__getitem__)
        monkeypatch.setattr(os, "getgrouplist", lambda _name, group: [group, 6])

    return have


def test_the_user_is_that_of_agent_toml_else_the_default_one_where_the_node_has_it(
    users: Callable[..., None],
) -> None:
    users(**{DEFAULT_USER: 990, "bench": 991, "root": 0})
    assert find_load_user(AgentConfig()).ids == (990, 990, 990, 6)
    assert find_load_user(AgentConfig(run_as="bench")).ids == (991, 991, 991, 6)
    kept = find_load_user(AgentConfig(run_as="root"))
    assert (kept.ids, kept.remedy, kept.is_usable) == ((), None, True)


def test_a_user_who_was_found_stays_while_the_list_of_users_does_not_answer(
    users: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    users(**{DEFAULT_USER: 990})
    known = find_load_user(AgentConfig())
    users()
    assert find_load_user(AgentConfig(), known) == known
    users(**{DEFAULT_USER: 991})
    assert take_inventory(AgentConfig(), known).load_user == known
    assert caplog.text.count("load_user_kept") == 2
    # The agent accepts a user who is created while it runs.
    assert find_load_user(AgentConfig(), LoadUser((), "root")).ids == (991, 991, 991, 6)


def test_without_the_default_user_root_continues_and_reads_the_one_command(users: Callable[..., None]) -> None:
    users(root=0)
    found = find_load_user(AgentConfig())
    assert (found.ids, found.is_usable) == ((), True)
    assert str(found.remedy).startswith(
        "useradd --system --shell /usr/sbin/nologin iotide-load; then give it the approved"
    )


def test_without_the_user_of_agent_toml_no_load_is_run(users: Callable[..., None]) -> None:
    users(root=0)
    found = find_load_user(AgentConfig(run_as="bench"))
    assert not found.is_usable
    assert str(found.remedy).endswith("nologin bench")


def test_an_ordinary_agent_runs_loads_only_as_its_own_user(
    users: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    users(bench=991, own=USER)
    monkeypatch.setattr(os, "geteuid", lambda: USER)
    assert find_load_user(AgentConfig()).ids == find_load_user(AgentConfig(run_as="own")).ids == ()
    assert not find_load_user(AgentConfig(run_as="bench")).is_usable
