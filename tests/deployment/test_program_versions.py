"""`--version` of the three programs, as they are installed."""

import subprocess
import sysconfig
from importlib.metadata import version
from pathlib import Path

import pytest

PROGRAMS = {"iotide": "iotide-agent", "iotide-agent": "iotide-agent", "iotide-server": "iotide-server"}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("arguments", [("--version",), ("--version", "no-such-command")])
def test_each_program_prints_its_installed_version_and_needs_nothing_else(
    program: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    path = Path(sysconfig.get_path("scripts")) / program
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path, env={})
    found = (done.returncode, done.stdout, done.stderr)
    assert found == (0, f"{program} {version(PROGRAMS[program])}\n", "")
