"""Packages under test: of this checkout, and a second time as an upgrade."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packages.agent_packages import make_packages
from packages.agent_tree import Contents
from packages.own_python import built_python
from release.versions import agreed_version

_RELEASES: Final = (1, 2)


@dataclass(frozen=True, slots=True)
class Built:
    """Packages in two releases of the same version.

    Attributes:
        archive: The directory tree with its installer.
        is_equal: Whether both builds wrote the same archive.
    """

    debs: tuple[Path, Path]
    rpms: tuple[Path, Path]
    archive: Path
    is_equal: bool


def build(root: Path, cache: Path, work: Path) -> None:
    """Build them below `work`; the checkout must have its man pages.

    Raises:
        BuildError: An input is missing.
        subprocess.CalledProcessError: A program failed; it printed why.
    """
    version = agreed_version(root)
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, stdout=subprocess.PIPE, check=True)
    os.environ["SOURCE_DATE_EPOCH"] = commit.stdout.decode().strip()
    wheels = work / "wheels"
    for directory in ("agent/wire", "agent/node"):
        command = ("uv", "build", "--quiet", "--wheel", "--out-dir", wheels, directory)
        subprocess.run(command, cwd=root, stdout=sys.stderr, check=True)
    contents = Contents(root, wheels, built_python(cache), version)
    for number in _RELEASES:
        into = work / f"release-{number}"
        into.mkdir()
        make_packages(contents, into, cache, release=number)


def built_in(work: Path) -> Built:
    """Return what `build` left in a directory."""
    first, second = (work / f"release-{number}" for number in _RELEASES)
    archives = [next(directory.glob("*.tar.gz")) for directory in (first, second)]
    return Built(
        debs=(next(first.glob("*.deb")), next(second.glob("*.deb"))),
        rpms=(next(first.glob("*.rpm")), next(second.glob("*.rpm"))),
        archive=archives[0],
        is_equal=archives[0].read_bytes() == archives[1].read_bytes(),
    )
