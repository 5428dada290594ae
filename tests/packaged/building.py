"""Packages under test: of this checkout, and a second time as an upgrade."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from packages.agent_packages import make_packages
from packages.own_python import built_python
from packages.program_tree import AGENT, SERVER, Contents
from packages.server_package import make_deb
from packages.staging import Destination
from release.versions import PACKAGES, agreed_version

_RELEASES: Final = (1, 2)
_PIP: Final = "pip==26.3"


@dataclass(frozen=True, slots=True)
class Built:
    """Packages in two releases of the same version.

    Attributes:
        server_debs: The second has the same content.
        archive: The directory tree with its installer.
        is_equal: Whether both builds wrote the same archive.
    """

    debs: tuple[Path, Path]
    server_debs: tuple[Path, Path]
    rpms: tuple[Path, Path]
    archive: Path
    is_equal: bool


def build(root: Path, cache: Path, work: Path) -> None:
    """Build them below `work`; the checkout must have dashboard and man pages.

    Raises:
        BuildError: An input is missing.
        subprocess.CalledProcessError: A program failed; it printed why.
    """
    version = agreed_version(root)
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, stdout=subprocess.PIPE, check=True)
    os.environ["SOURCE_DATE_EPOCH"] = commit.stdout.decode().strip()
    wheels = work / "wheels"
    for directory in PACKAGES:
        command = ("uv", "build", "--quiet", "--wheel", "--out-dir", wheels, directory)
        subprocess.run(command, cwd=root, stdout=sys.stderr, check=True)
    subprocess.run(("uv", "pip", "install", "--quiet", "--no-config", "--target", work / "pip", _PIP), check=True)
    agent = Contents(AGENT, root, wheels, built_python(cache), version)
    for number in _RELEASES:
        into = work / f"release-{number}"
        into.mkdir()
        make_packages(agent, Destination(into, cache, number))
    make_deb(replace(agent, product=SERVER), Destination(work / "release-1", cache))
    _repack(work, version)


def _repack(work: Path, version: str) -> None:
    """Write the server's second deb from the first, since its compression takes minutes."""
    tree = work / "repacked"
    subprocess.run(["dpkg-deb", "--raw-extract", next(work.glob("release-1/iotide-server*.deb")), tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(control.read_text().replace(f"Version: {version}-1\n", f"Version: {version}-2\n"))
    build = ("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree)
    subprocess.run([*build, work / f"release-2/iotide-server_{version}-2_amd64.deb"], stdout=sys.stderr, check=True)
    shutil.rmtree(tree)


def built_in(work: Path) -> Built:
    """Return what `build` left in a directory."""
    first, second = (work / f"release-{number}" for number in _RELEASES)
    archives = [next(directory.glob("*.tar.gz")) for directory in (first, second)]
    return Built(
        debs=(next(first.glob("iotide-agent*.deb")), next(second.glob("iotide-agent*.deb"))),
        server_debs=(next(first.glob("iotide-server*.deb")), next(second.glob("iotide-server*.deb"))),
        rpms=(next(first.glob("*.rpm")), next(second.glob("*.rpm"))),
        archive=archives[0],
        is_equal=archives[0].read_bytes() == archives[1].read_bytes(),
    )
