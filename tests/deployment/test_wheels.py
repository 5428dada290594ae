"""The wheels of a release, built here without network from a copy of the sources and stand-in pages."""

import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Final

import pytest
from release.versions import PACKAGES, agreed_version

TOP: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = ("agent", "backend", "migrations", "LICENSE")
PAGES: Final = {"index.html": "<!doctype html>", "assets/app.js": "1", ".vite/license.md": "MIT"}
BUILD: Final = "import hatchling.build, sys; hatchling.build.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, zipfile.ZipFile]:
    """Return the wheel of each package, by its directory."""
    top = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        if (TOP / name).is_dir():
            shutil.copytree(TOP / name, top / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(TOP / name, top / name)
    for name, text in PAGES.items():
        page = top / "frontend/dist" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    built = {}
    for directory in PACKAGES:
        into = top / "wheels" / directory
        subprocess.run([sys.executable, "-c", BUILD, into], cwd=top / directory, capture_output=True, check=True)
        built[directory] = zipfile.ZipFile(next(into.glob("*.whl")))
    return built


def metadata(wheel: zipfile.ZipFile) -> Message:
    path = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(path).decode())


def test_all_wheels_have_the_version_of_the_release(wheels: dict[str, zipfile.ZipFile]) -> None:
    assert {metadata(wheel)["Version"] for wheel in wheels.values()} == {agreed_version(TOP)}


@pytest.mark.parametrize("directory", ["agent/node", "backend"])
def test_a_wheel_only_accepts_the_wire_format_of_its_own_release(
    wheels: dict[str, zipfile.ZipFile], directory: str
) -> None:
    requirements = metadata(wheels[directory]).get_all("Requires-Dist", [])
    wanted = [one for one in requirements if one.startswith("iotide-wire")]
    assert wanted == [f"iotide-wire=={agreed_version(TOP)}"]


@pytest.mark.parametrize("directory", PACKAGES)
def test_a_wheel_has_its_licence_and_describes_itself(wheels: dict[str, zipfile.ZipFile], directory: str) -> None:
    wheel, described = wheels[directory], metadata(wheels[directory])
    licence = next(name for name in wheel.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
    assert wheel.read(licence) == (TOP / "LICENSE").read_bytes()
    assert (described["License-Expression"], described["License-File"]) == ("Apache-2.0", "LICENSE")
    assert described["Author"] == "iotide maintainers"
    assert str(described.get_payload()).startswith(f"# {described['Name']}\n")
    classifiers = described.get_all("Classifier", [])
    assert "Operating System :: POSIX :: Linux" in classifiers
    assert [one for one in classifiers if one.startswith("License ::")] == []  # License-Expression replaces them


def test_the_servers_wheel_has_the_pages_and_all_migrations(wheels: dict[str, zipfile.ZipFile]) -> None:
    names = set(wheels["backend"].namelist())
    assert {f"iotide_server/frontend/{name}" for name in PAGES} <= names
    migrations = [path.relative_to(TOP).as_posix() for path in (TOP / "migrations").rglob("*.py")]
    assert len(migrations) > 1
    assert {f"iotide_server/{path}" for path in migrations} <= names


def test_wheels_have_the_units_that_setup_installs(wheels: dict[str, zipfile.ZipFile]) -> None:
    assert "iotide_server/setup/iotide.service" in wheels["backend"].namelist()
    assert "iotide_agent/setup/iotide-agent.service" in wheels["agent/node"].namelist()


def test_a_wheel_has_only_its_own_package(wheels: dict[str, zipfile.ZipFile]) -> None:
    for wheel in wheels.values():
        package = metadata(wheel)["Name"].replace("-", "_")
        tops = {name.partition("/")[0] for name in wheel.namelist()}
        assert tops == {package, f"{package}-{agreed_version(TOP)}.dist-info"}
