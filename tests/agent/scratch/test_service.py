"""The program's socket: who may ask, one operation at a time, and its end when idle."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from agent.scratch.loops import Loops

import iotide_agent
import iotide_wire
from iotide_agent.loads import scratch_set
from iotide_agent.scratch import listing, service
from iotide_agent.scratch.commands import is_installed
from iotide_agent.scratch.disk import until
from iotide_agent.scratch.record import Records
from iotide_agent.scratch.requests import MOST_PACKET_BYTES
from iotide_agent.scratch.service import Service
from iotide_agent.scratch.sets import MOST_LISTED, MOST_SETS
from iotide_wire import scratch_sets
from iotide_wire.scratch_vocabulary import PROGRAMS

TESTS: Final = Path(__file__).parents[2]
PROGRAM: Final = Path(__file__).with_name("served_program.py")
PACKAGE: Final = Path(iotide_agent.__path__[0]) / "scratch"
MAKE: Final = {"verb": "make", "set": "bays", "order": 7, "fence": 11, "layout": {"kind": "single"}}
ASK_AS: Final = (
    "import os, socket, sys; os.setgid({user}); os.setuid({user})\n"
    "with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:\n"
    " asking.connect(sys.argv[1]); asking.settimeout(20)\n"
    ' try: asking.send(b\'{{"verb": "status"}}\'); print(asking.recv(65536).decode())\n'
    " except OSError as error: print(error)"
)


@contextmanager
def served(directory: Path, idle_seconds: float) -> Iterator[tuple[Path, int]]:
    command = (sys.executable, str(PROGRAM), str(directory), str(idle_seconds))
    environment = {"PYTHONPATH": str(TESTS), "PATH": "/usr/bin"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        yield directory / "scratch.sock", program.pid
        assert program.wait(timeout=60) == 0


def connected(path: Path) -> socket.socket:
    asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asking.settimeout(30)
    asking.connect(str(path))
    return asking


def answer(asking: socket.socket, packet: bytes | dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    asking.send(packet if isinstance(packet, bytes) else json.dumps(packet).encode())
    return json.loads(asking.recv(1024**2))


def test_an_operation_is_accepted_followed_and_remembered(tmp_path: Path) -> None:
    with served(tmp_path, 2.0) as (path, _), connected(path) as asking:
        make = MAKE | {"fs": {"type": "ext4"}}
        assert answer(asking, make) == {"accepted": True}
        running = answer(asking, {"verb": "status"})["running"]
        assert (running["verb"], running["set"], running["order"]) == ("make", "bays", 7)
        assert answer(asking, make) == {"accepted": True}, "the same request again joins the first"
        assert "another operation" in answer(asking, MAKE | {"fence": 12, "fs": {"type": "ext4"}})["refused"]
        assert until(lambda: answer(asking, {"verb": "status"})["running"] is None, 60)
        last = answer(asking, {"verb": "status", "set": "bays"})["last"]["bays"]
        assert (last["verb"], last["outcome"]) == ("make", "done")
        assert last["commands"][-1]["argv"][0] == "dumpe2fs"
        assert "no set" in answer(asking, {"verb": "status", "set": "other"})["refused"]
        heads = answer(asking, {"verb": "status"})["last"]
        assert heads == {"bays": {key: last[key] for key in last if key not in {"answer", "commands"}}}
        listed = answer(asking, {"verb": "list"})
        (shown,) = listed["sets"]
        assert set(PROGRAMS) & set(listed["lacks"]) == {name for name in PROGRAMS if not is_installed(name)}
        assert shown["disks"][0]["state"] == "made"
        assert answer(asking, {"verb": "wipe", "set": "bays", "order": 7, "fence": 11}) == {"accepted": True}
        assert until(lambda: answer(asking, {"verb": "status"})["running"] is None, 60)


def test_a_killed_operation_is_reported_and_one_recovery_cleans_the_set(tmp_path: Path) -> None:
    with served(tmp_path, 2.0) as (path, program), connected(path) as asking:
        assert answer(asking, MAKE | {"fs": {"type": "ext4"}}) == {"accepted": True}
        os.kill(int(Path(f"/proc/{program}/task/{program}/children").read_text()), signal.SIGKILL)
        assert until(lambda: answer(asking, {"verb": "status"})["running"] is None, 60)
        assert answer(asking, {"verb": "status"})["last"]["bays"]["outcome"] == "killed"
        assert answer(asking, {"verb": "recover", "set": "bays"}) == {"accepted": True}
        assert until(lambda: answer(asking, {"verb": "status"})["running"] is None, 60)
        assert answer(asking, {"verb": "list"})["sets"][0]["disks"][0]["state"] == "clean"


def test_the_load_program_says_that_its_operation_was_killed(tmp_path: Path) -> None:
    with served(tmp_path, 3.0) as (path, program), connected(path) as asking:
        command = (sys.executable, scratch_set.__file__, str(path), json.dumps([MAKE | {"fs": {"type": "ext4"}}]))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as load:
            children = Path(f"/proc/{program}/task/{program}/children")
            assert until(lambda: children.read_text() != "", 30, pause_seconds=0.01)
            os.kill(int(children.read_text()), signal.SIGKILL)
            printed, said = load.communicate(timeout=60)
        assert (load.returncode, json.loads(printed)["outcome"]) == (1, "killed")
        assert said.splitlines()[-1].startswith("make: killed: its process ended with status 9")
        assert answer(asking, {"verb": "recover", "set": "bays"}) == {"accepted": True}
        assert until(lambda: answer(asking, {"verb": "status"})["running"] is None, 60)


def test_a_refusal_of_an_accepted_operation_is_its_outcome(tmp_path: Path) -> None:
    with served(tmp_path, 2.0) as (path, _), connected(path) as asking:
        assert answer(asking, {"verb": "mount", "set": "bays", "order": 7, "fence": 11}) == {"accepted": True}
        assert until(lambda: answer(asking, {"verb": "status"})["running"] is None, 60)
        last = answer(asking, {"verb": "status"})["last"]["bays"]
        assert (last["verb"], last["order"], last["outcome"]) == ("mount", 7, "refused")
        assert "no record of a make" in last["reason"]


def test_a_wrong_packet_is_refused_and_the_connection_stays(tmp_path: Path) -> None:
    with served(tmp_path, 2.0) as (path, _), connected(path) as asking:
        for packet in (b"no json", b"[]", b'{"verb": "format"}', b" " * (MOST_PACKET_BYTES + 1)):
            assert "request" in answer(asking, packet)["refused"]
        assert "no set 'other'" in answer(asking, MAKE | {"set": "other", "fs": {"type": "ext4"}})["refused"]
        assert answer(asking, {"verb": "status"})["running"] is None


def test_descriptors_sent_with_packets_do_not_stay_in_the_program(tmp_path: Path) -> None:
    with served(tmp_path, 2.0) as (path, program), connected(path) as asking, Path("/dev/null").open() as sent:
        answer(asking, {"verb": "status"})
        before = len([*Path(f"/proc/{program}/fd").iterdir()])
        for _ in range(50):
            socket.send_fds(asking, [b'{"verb": "status"}'], [sent.fileno()] * 20)
            assert json.loads(asking.recv(1024**2))["running"] is None
        assert len([*Path(f"/proc/{program}/fd").iterdir()]) == before


def test_a_client_that_reads_no_answer_holds_no_other_one_up(tmp_path: Path) -> None:
    with served(tmp_path, 2.0) as (path, _), connected(path) as silent, connected(path) as asking:
        silent.setblocking(False)
        with suppress(OSError):
            for _ in range(10_000):
                silent.send(b'{"verb": "list"}')
        assert answer(asking, {"verb": "status"})["running"] is None


def test_connections_of_one_client_end_at_a_limit(tmp_path: Path) -> None:
    with served(tmp_path, 2.0) as (path, _), ExitStack() as all_of_them:
        asking = [all_of_them.enter_context(connected(path)) for _ in range(16)]
        assert all(answer(one, {"verb": "status"})["running"] is None for one in asking)
        assert not is_answered(path)
        asking[0].close()
        assert until(lambda: is_answered(path), 10)


def is_answered(path: Path) -> bool:
    with connected(path) as asking, suppress(OSError):
        asking.send(b'{"verb": "status"}')
        return asking.recv(1024) != b""
    return False


@pytest.mark.parametrize(("user", "is_answered"), [(65534, True), (12345, False)])
def test_only_the_agents_user_is_answered(tmp_path: Path, user: int, is_answered: bool) -> None:  # noqa: FBT001
    for directory in (tmp_path, *tmp_path.parents[:3]):
        directory.chmod(0o711)
    with served(tmp_path, 2.0) as (path, _):
        said = subprocess.run(
            (sys.executable, "-S", "-c", ASK_AS.format(user=user), str(path)),
            capture_output=True,
            text=True,
            check=True,
        )
        assert ('"running": null' in said.stdout) is is_answered, said.stdout


def test_the_program_starts_with_the_standard_library_only_and_serves_no_other_socket(tmp_path: Path) -> None:
    for package in (iotide_agent, iotide_wire):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package.__path__[0], tmp_path / package.__name__, ignore=ignored)
    program = tmp_path / "iotide_agent/scratch/__main__.py"
    ended = subprocess.run((sys.executable, "-I", "-S", program), capture_output=True, text=True, check=False)
    said = "iotide-scratch: iotide-scratch is started by iotide-scratch.socket only\n"
    assert (ended.returncode, ended.stderr) == (2, said)


def test_no_argument_and_only_systemds_variables_can_change_what_the_program_does() -> None:
    read = [
        line.strip()
        for file in PACKAGE.glob("*.py")
        for line in file.read_text().splitlines()
        if any(word in line for word in ("os.environ", "getenv", "sys.argv", "Sysfs)", "(Sysfs"))
    ]
    assert sorted(read) == [
        "STATUS = main(sys.argv[1:])",  # of unmounting.py, a process, a mount's id and its path
        'if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS") != "1":',
        "sysfs: Sysfs = field(default_factory=Sysfs)",
    ]
    assert (PACKAGE / "program.py").read_text().count("Site()") == 1


def test_the_largest_node_is_answered_in_packets_that_the_kernel_sends(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = {f"set-{number:02}": [f"serial-{number:02}{disk}" for disk in range(4)] for number in range(MOST_SETS)}
    sets["set-07"] += [f"serial-more-{disk}" for disk in range(MOST_LISTED - MOST_SETS * 4)]
    list_all(loops, sets)
    loops.site.state.mkdir()
    command = {"argv": ["lvm", "pvcreate", "--devices", ",".join(f"/dev/nvme{n}n1p1" for n in range(64))], "rc": 0}
    answer = {"geometry": {f"nvme{n}n1p1": {"size_bytes": 2**50, "optimal_io_size": 2**20} for n in range(64)}}
    record = {"verb": "make", "outcome": "dirty", "reason": "r" * 1000, "answer": answer}
    for name in sets:
        Records(loops.site.state, name).write_last({**record, "commands": [command] * 1000})
    row = {"problem": "p" * 300, "serial": "S" * 60, "model": "m" * 40, "id": str(uuid4()), "variant": "v" * 60}
    monkeypatch.setattr(listing, "disk_row", lambda _site, device: {"device": device, "state": "dirty", **row})
    shown: list[dict[str, Any]] = []
    first: int | None = 0
    while first is not None:
        page = asked_once(loops, {"verb": "list", "from": first})
        shown, first = [*shown, *page["sets"]], page["next"]
    assert {one["set"]: [disk["device"] for disk in one["disks"]] for one in shown} == sets
    assert len(shown) == MOST_SETS
    assert asked_once(loops, {"verb": "status"})["last"].keys() == sets.keys()
    (last,) = asked_once(loops, {"verb": "status", "set": "set-07"})["last"].values()
    assert last["answer"] == answer
    assert last["commands"] == [command] * 40
    assert "from" in asked_once(loops, {"verb": "list", "from": -1})["refused"]
    assert asked_once(loops, {"verb": "list", "from": MOST_SETS})["sets"] == []


def test_more_sets_than_the_server_takes_are_refused_by_their_number(loops: Loops) -> None:
    list_all(loops, {f"set-{number}": [f"serial-{number}"] for number in range(64)})
    assert f"64 sets; a node has at most {MOST_SETS}" in asked_once(loops, {"verb": "list"})["refused"]
    list_all(loops, {f"set-{number}": [f"serial-{number}-{disk}" for disk in range(64)] for number in range(5)})
    assert (
        f"320 disks; all sets of a node have at most {MOST_LISTED}" in asked_once(loops, {"verb": "status"})["refused"]
    )
    assert (MOST_SETS, MOST_LISTED) == (scratch_sets.MOST_SETS, scratch_sets.MOST_DISKS)


def test_an_answer_longer_than_a_packet_is_refused_and_the_connection_stays(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "page_of_sets", lambda *_: {"sets": ["x" * 300_000]})
    assert "bytes; at most" in asked_once(loops, {"verb": "list"})["refused"]


def list_all(loops: Loops, sets: dict[str, list[str]]) -> None:
    loops.config.write_text("".join(f"[sets.{name}]\ndevices = {json.dumps(sets[name])}\n" for name in sets))


def asked_once(loops: Loops, packet: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Send a packet to the program's own loop over a real socket, and return the answer."""
    path = loops.config.with_name("scratch.sock")
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()
        with connected(path) as asking:
            asking.send(json.dumps(packet).encode())
            asking.shutdown(socket.SHUT_WR)
            Service(listening, loops.site, sys.stderr, idle_seconds=0.1).serve()
            return json.loads(asking.recv(1024**2))
