"""Units and rule of the root program for scratch disks: its walls, and the devices that it may open."""

import sys
from pathlib import Path
from typing import Final

import pytest
from deployment.units import read_unit
from typer.testing import CliRunner

import iotide_wire
from iotide_agent.cli.agent import app
from iotide_agent.scratch import PROGRAM
from iotide_agent.scratch.mapper import NUMBERS
from iotide_agent.scratch.mark import ARENA_TYPE
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.site import OWNER, SOCKET, STATE
from iotide_agent.setup import scratch
from iotide_agent.setup.texts import SCRATCH_RULES, SCRATCH_SERVICE_UNIT, SCRATCH_SOCKET_UNIT, shipped_unit
from iotide_wire.setup.changes import Changes, SetupError

GIVES_A_MOUNT_NAMESPACE: Final = (
    "ProtectSystem", "ProtectHome", "PrivateTmp", "PrivateDevices", "PrivateMounts", "ProtectKernelTunables",
    "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups", "ReadWritePaths", "ReadOnlyPaths",
    "InaccessiblePaths", "TemporaryFileSystem", "BindPaths", "RootDirectory", "ProtectProc", "PrivateNetwork",
    "DynamicUser", "MountFlags",
)  # fmt: skip


def test_the_program_opens_no_device_that_adoption_did_not_list() -> None:
    unit = read_unit(SCRATCH_SERVICE_UNIT)
    assert unit["DevicePolicy"] == ["closed"]
    assert unit["DeviceAllow"] == ["/dev/mapper/control rw", "/dev/btrfs-control rw"]
    assert unit["NoNewPrivileges"] == ["yes"]
    assert unit["KillMode"] == ["control-group"]
    assert unit["StateDirectory"] == [STATE.name]


def test_the_mounts_of_the_program_are_the_nodes() -> None:
    assert not {*GIVES_A_MOUNT_NAMESPACE} & read_unit(SCRATCH_SERVICE_UNIT).keys()


def test_only_the_agents_group_can_connect() -> None:
    unit = read_unit(SCRATCH_SOCKET_UNIT)
    assert unit["ListenSequentialPacket"] == [str(SOCKET)]
    assert (unit["SocketUser"], unit["SocketGroup"], unit["SocketMode"]) == (["root"], [OWNER], ["0660"])


def test_the_rule_is_about_the_type_of_an_arena() -> None:
    (rule,) = [line for line in shipped_unit(SCRATCH_RULES).splitlines() if not line.startswith("#")]
    assert f'ENV{{ID_PART_ENTRY_TYPE}}=="{ARENA_TYPE}"' in rule
    assert 'ENV{ID_FS_TYPE}=""' in rule


def test_setup_writes_units_with_this_python_and_enables_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "UNITS", tmp_path)
    monkeypatch.setattr(scratch, "RULES", tmp_path / SCRATCH_RULES)
    said: list[str] = []
    assert scratch.install_scratch(Changes(said.append, is_dry=False))
    assert f" -I -S {PROGRAM}\n" in (tmp_path / SCRATCH_SERVICE_UNIT).read_text()
    assert all(line.startswith("write ") for line in said)
    assert not scratch.install_scratch(Changes(said.append, is_dry=False))


def test_a_disk_is_allowed_by_the_link_with_its_wwn(tmp_path: Path) -> None:
    (tmp_path / "sdb").touch()
    for link in ("ata-MODEL_SERIAL", "wwn-0x5000c500a1b2c3d4"):
        (tmp_path / link).symlink_to(tmp_path / "sdb")
    (tmp_path / "wwn-0x1111").symlink_to(tmp_path / "sdc")
    (tmp_path / "lvm-pv-uuid-x").symlink_to(tmp_path / "sdd")
    link = scratch.link_of("sdb", tmp_path)
    assert link == f"{tmp_path}/wwn-0x5000c500a1b2c3d4"
    for name in ("sdz", "sdd"):
        with pytest.raises(ScratchRefusedError, match=f"udev has no link to {name}"):
            scratch.link_of(name, tmp_path)
    lines = scratch.drop_in([link], [9, 253]).splitlines()
    assert lines[1:5] == ["[Service]", *(f"DeviceAllow={link}{part} rw" for part in ("", "-part1", "-part2"))]
    assert len(lines) == 5 + 2 * len(NUMBERS)
    assert lines[-1] == "DeviceAllow=/dev/block/253:915 rwm"
    assert not any("block-" in line or "char-" in line for line in lines)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of an installation with a virtual environment, which only root may change."""
    for package in ("iotide_agent/scratch/__pycache__", "iotide_wire"):
        (tmp_path / "lib" / package).mkdir(parents=True)
        (tmp_path / "lib" / package / "module.py").touch()
    (tmp_path / "lib/iotide_agent/scratch/__main__.py").touch()
    (tmp_path / "pyvenv.cfg").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(Path(sys.executable).resolve())
    monkeypatch.setattr(scratch, "PROGRAM", tmp_path / "lib/iotide_agent/scratch/__main__.py")
    monkeypatch.setattr(iotide_wire, "__path__", [str(tmp_path / "lib/iotide_wire")])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python3"))
    return tmp_path


@pytest.mark.parametrize(
    "path",
    [
        "bin",
        "pyvenv.cfg",
        "lib/iotide_wire/module.py",
        "lib/iotide_agent/scratch/__pycache__",
        "lib/iotide_agent/scratch/__pycache__/module.py",
    ],
)
def test_code_that_another_user_could_change_is_refused_also_by_an_upgrade(
    installed: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(scratch, "DISKS", installed / "10-disks.conf")
    monkeypatch.setattr(scratch, "UNITS", installed / "units")
    monkeypatch.setattr(scratch, "RULES", installed / "rules")
    changes = Changes(lambda _: None, is_dry=False)
    scratch.check_code()
    (installed / path).chmod(0o777)
    with pytest.raises(SetupError, match="root would run"):
        scratch.check_code()
    scratch.install_scratch(changes)  # before an adoption, the unit is off
    scratch.DISKS.touch()
    with pytest.raises(SetupError, match="root would run"):
        scratch.install_scratch(changes)


@pytest.mark.parametrize("command", [("adopt", "wwn-0x1"), ("release", "wwn-0x1"), ("wipe", "bays")])
def test_commands_that_destroy_need_a_terminal(command: tuple[str, ...]) -> None:
    ended = CliRunner().invoke(app, ["scratch", *command], input="SN-0\n")
    assert ended.exit_code == 2
    assert "run this as root on a terminal" in ended.output
