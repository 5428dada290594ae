"""Units of deploy/systemd, as systemd itself reads them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from deployment.units import PACKAGED, SERVER_PARTS, UNITS

from iotide_agent.node.config import parse_config
from iotide_agent.setup.texts import drop_in

MOST_EXPOSED = {"iotide-agent": 2.2, "iotide": 1.5, **{f"iotide-{part}": 1.5 for part in SERVER_PARTS}}
"""Of systemd's ten points; each unit explains its exceptions."""


@pytest.fixture
def unit_directory(tmp_path: Path) -> Path:
    """Return the units, with programs that exist here."""
    for unit in (*UNITS.iterdir(), *PACKAGED.values()):
        text = re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", unit.read_text())
        (tmp_path / unit.name).write_text(text.replace("redis-server@iotide.service", ""))
    return tmp_path


@pytest.mark.parametrize("name", [*(f"{unit}.service" for unit in MOST_EXPOSED), "iotide.target"])
def test_systemd_understands_every_line(unit_directory: Path, name: str) -> None:
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit_directory / name], capture_output=True, text=True, check=False
    )
    assert [line for line in verified.stderr.splitlines() if "iotide" in line] == []
    assert verified.returncode == 0, verified.stderr


@pytest.mark.parametrize("unit", MOST_EXPOSED)
def test_a_unit_is_exposed_no_further_than_it_must(unit_directory: Path, unit: str) -> None:
    said = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", unit_directory / f"{unit}.service"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert exposure is not None, said
    assert float(exposure[1]) <= MOST_EXPOSED[unit]


def test_the_drop_in_for_sudo_fits_the_agents_unit(unit_directory: Path) -> None:
    drop_ins = unit_directory / "iotide-agent.service.d"
    drop_ins.mkdir()
    shutil.copy(UNITS / "iotide-agent.sudo.conf", drop_ins / "sudo.conf")
    test_systemd_understands_every_line(unit_directory, "iotide-agent.service")


def test_the_drop_in_of_setup_fits_the_agents_unit(unit_directory: Path) -> None:
    directories = ["/scratch/iotide", "/home/a b/100%", "/root/bench"]
    config = parse_config({"server": "https://iotide.example", "approved_directories": directories})
    drop_ins = unit_directory / "iotide-agent.service.d"
    drop_ins.mkdir()
    (drop_ins / "10-setup.conf").write_text(drop_in(config, Path("/bin/true")))
    test_systemd_understands_every_line(unit_directory, "iotide-agent.service")
