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

import pytest

import iotide_agent
import iotide_wire
from iotide_agent.scratch.commands import is_installed
from iotide_agent.scratch.disk import until
from iotide_agent.scratch.requests import MOST_PACKET_BYTES
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
        last = answer(asking, {"verb": "status"})["last"]["bays"]
        assert (last["verb"], last["outcome"]) == ("make", "done")
        assert last["commands"][-1]["argv"][0] == "dumpe2fs"
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
