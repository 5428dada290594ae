"""Rights to drop the page cache: user 0 suffices without capabilities, so the agent's helper needs no others."""

import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

from iotide_agent.node.config import parse_config

DEPLOY = Path(__file__).parents[3] / "deploy/agent"
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


def test_the_unit_that_empties_it_is_root_without_any_capability_and_takes_nothing_from_who_starts_it() -> None:
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.read(DEPLOY / "iotide-drop-caches.service")
    service = unit["Service"]
    assert (service["User"], service["CapabilityBoundingSet"], service["NoNewPrivileges"]) == ("root", "", "yes")
    assert service["ExecStart"] == "/usr/sbin/sysctl -q vm.drop_caches=3"
    assert not {"environmentfile", "passenvironment"} & set(service)
    assert "%" not in service["ExecStart"]


def test_the_rule_lets_one_user_start_one_unit() -> None:
    rule = (DEPLOY / "50-iotide-drop-caches.rules").read_text()
    assert re.findall(r"(action\.\w+(?:\([^)]*\))?|subject\.\w+) == (\"[^\"]+\")", rule) == [
        ("action.id", '"org.freedesktop.systemd1.manage-units"'),
        ('action.lookup("unit")', '"iotide-drop-caches.service"'),
        ('action.lookup("verb")', '"start"'),
        ("subject.user", '"iotide-agent"'),
    ]
    assert rule.count("&&") == 3
    assert "||" not in rule
    assert rule.count("polkit.Result") == 1


def test_the_sample_names_the_unit() -> None:
    line = next(line for line in (DEPLOY / "agent.toml").read_text().splitlines() if "systemctl" in line)
    command = re.findall(r'"([^"]+)"', line)
    assert command == ["systemctl", "--no-ask-password", "start", "iotide-drop-caches.service"]
    assert parse_config({"cache_drop_command": command}).cache_drop_command == tuple(command)
