"""Rights to drop the page cache: user 0 suffices without capabilities, so the agent's helper needs no others."""

import configparser
import subprocess
import sys

import pytest

from iotide_agent.runner.caches import DROP_SOCKET
from iotide_agent.setup.texts import DROP_SERVICE_UNIT, DROP_SOCKET_UNIT, USER, shipped_unit

OPEN = """\
import ctypes, os, sys
libc, user, keeps = ctypes.CDLL(None, use_errno=True), int(sys.argv[1]), sys.argv[2] == "all"
libc.prctl(8, 1, 0, 0, 0)  # PR_SET_KEEPCAPS
os.setresuid(user, user, user)
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
libc.capget(header, sets)
sets[0], sets[3] = (sets[1], sets[4]) if keeps else (0, 0)
if not keeps:
    sets[1] = sets[4] = 0
assert libc.capset(header, sets) == 0
try:
    os.close(os.open("/proc/sys/vm/drop_caches", os.O_WRONLY))  # nothing is written, so nothing is dropped
except PermissionError:
    sys.exit(13)
"""


@pytest.mark.parametrize(
    ("user", "capabilities", "status"),
    [(65534, "all", 13), (65534, "none", 13), (0, "none", 0)],
)
def test_the_kernel_asks_for_root_and_for_no_capability(user: int, capabilities: str, status: int) -> None:
    command = [sys.executable, "-I", "-S", "-c", OPEN, str(user), capabilities]
    assert subprocess.run(command, check=False).returncode == status


def read_unit(name: str) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.read_string(shipped_unit(name))
    return unit


def test_the_unit_that_empties_it_is_root_without_any_capability_and_takes_nothing_from_who_starts_it() -> None:
    service = read_unit(DROP_SERVICE_UNIT)["Service"]
    assert (service["User"], service["CapabilityBoundingSet"], service["NoNewPrivileges"]) == ("root", "", "yes")
    assert service["ExecStart"] == '/bin/sh -c "echo 3 >/proc/sys/vm/drop_caches && echo dropped"'
    assert service["StandardInput"] == "null"
    assert not {"environmentfile", "passenvironment"} & set(service)


def test_only_the_agents_user_can_connect_and_only_the_path_of_the_runner() -> None:
    socket = read_unit(DROP_SOCKET_UNIT)["Socket"]
    assert (socket["SocketUser"], socket["SocketMode"], socket["Accept"]) == (USER, "0600", "yes")
    assert [value for name, value in socket.items() if name.startswith("listen")] == [str(DROP_SOCKET)]
