"""The packages of a release accept only each other."""

import json
import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Final

import pytest

TOP: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("agent/wire", "agent/node", "backend")
MAKE_METADATA: Final = (
    "import hatchling.build, sys; print(hatchling.build.prepare_metadata_for_build_wheel(sys.argv[1]))"
)


def version_of(directory: str) -> str:
    version: str = tomllib.loads((TOP / directory / "pyproject.toml").read_text())["project"]["version"]
    return version


def wheel_metadata(directory: str, into: Path) -> Message:
    """Return the metadata of the package's wheel."""
    command = [sys.executable, "-c", MAKE_METADATA, str(into)]
    made = subprocess.run(command, cwd=TOP / directory, capture_output=True, text=True, check=True).stdout.strip()
    return Parser().parsestr((into / made / "METADATA").read_text())


def test_all_packages_have_one_version() -> None:
    versions = {directory: version_of(directory) for directory in (".", *PACKAGES)}
    versions["frontend"] = json.loads((TOP / "frontend/package.json").read_text())["version"]
    assert len(set(versions.values())) == 1, versions


@pytest.mark.parametrize("directory", ["agent/node", "backend"])
def test_a_wheel_only_accepts_the_wire_format_of_its_own_release(directory: str, tmp_path: Path) -> None:
    metadata = wheel_metadata(directory, tmp_path)
    wanted = [one for one in metadata.get_all("Requires-Dist", []) if one.startswith("iotide-wire")]
    assert wanted == [f"iotide-wire=={metadata['Version']}"] == [f"iotide-wire=={version_of('agent/wire')}"]
