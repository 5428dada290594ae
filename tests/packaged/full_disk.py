"""Upgrades on a file system that becomes full in the middle: the same command, repeated, repairs them."""

import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from packaged.debian_root import DebianRoot, require

_ROOM_BYTES: Final = 4_000_000
"""Free space before the upgrade, less than any new version needs."""
_FULL: Final = "No space left on device"


def check_dpkg(root: DebianRoot, package: str, debs: tuple[Path, Path]) -> str:
    """Upgrade a package by dpkg on a full disk, then with enough space.

    Raises:
        PackageTestError: The previous version is damaged, or the upgrade cannot be repeated.
    """
    older, newer = (root.bring(deb) for deb in debs)
    tree = root.path(f"/usr/lib/{package}")
    root.run("dpkg", "--install", older)
    used_bytes = _used_bytes(tree)
    root.run("dpkg", "--purge", package)
    with _small(tree, used_bytes):
        root.run("dpkg", "--install", older)
        installed = _installed(root, package)
        printed = root.run("dpkg", "--install", newer, statuses=(1,))
        require(_FULL in printed, f"{root.name}: dpkg printed {printed}")
        require(_installed(root, package) == installed, f"{root.name}: dpkg left {_installed(root, package)}")
        changed = root.run("dpkg", "--verify", package)
        require(not changed, f"{root.name}: the failed upgrade changed files:\n{changed}")
        root.run(f"/usr/bin/{package}", "--version")
        subprocess.run(["mount", "-o", f"remount,size={3 * used_bytes}", tree], check=True)
        root.run("dpkg", "--install", newer)
        require(_installed(root, package) != installed, f"{root.name}: the second upgrade installed nothing")
        root.run(f"/usr/bin/{package}", "--version")
        root.run("dpkg", "--purge", package)
    return "the previous version works; repeated with space: done"


def check_pip(work: Path, wheels: Path) -> str:
    """Upgrade the server by pip on a full disk, then with enough space. pip 26.3 does not restore the program.

    Raises:
        PackageTestError: pip did not name the full disk, or the upgrade cannot be repeated.
    """
    place, newer = work / "pip-environment", work / "newer"
    newer.mkdir()
    wheel = next(wheels.glob("iotide_server-*.whl"))
    version = wheel.name.split("-")[1]
    _with_version(wheel, f"{version}.post1", newer)
    # Twice: the first time shows how much space it needs.
    _environment(place, work, wheels)
    used_bytes = _used_bytes(place)
    shutil.rmtree(place)
    with _small(place, used_bytes):
        _environment(place, work, wheels)
        require(_version(place) == version, f"pip: {_version(place)} is installed")
        refused = _pip(place, work, "--upgrade", "--find-links", newer, "iotide-server")
        require(refused.returncode != 0 and _FULL in refused.stderr, f"pip: {refused.stdout}{refused.stderr}")
        subprocess.run(["mount", "-o", f"remount,size={3 * used_bytes}", place], check=True)
        done = _pip(place, work, "--upgrade", "--find-links", newer, "iotide-server")
        require(done.returncode == 0, f"pip: {done.stdout}{done.stderr}")
        require(_version(place) == f"{version}.post1", f"pip: {_version(place)} is installed")
    return "pip names it; repeated with space: done"


def _environment(place: Path, work: Path, wheels: Path) -> None:
    """Make an environment with our wheels, and the other packages of this checkout."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    done = _pip(place, work, "--find-links", wheels, "iotide-server", "iotide-wire")
    require(done.returncode == 0, f"pip: {done.stdout}{done.stderr}")
    # Then: pip would find ours installed there.
    packages = next(place.glob("lib/python*/site-packages"))
    (packages / "checkout.pth").write_text(f"{sysconfig.get_path('purelib')}\n")


def _pip(place: Path, work: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    install = (place / "bin/python", work / "pip/pip", "--isolated", "--no-cache-dir", "install", "--no-index")
    return subprocess.run([*install, "--no-deps", *arguments], capture_output=True, text=True, check=False)


def _version(place: Path) -> str:
    printed = subprocess.run([place / "bin/iotide-server", "--version"], capture_output=True, text=True, check=True)
    return printed.stdout.split()[-1]


def _with_version(wheel: Path, version: str, into: Path) -> None:
    """Write the wheel with another version."""
    older = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(into / wheel.name.replace(older, version, 1), "w") as target:
        for member in source.namelist():
            content = source.read(member)
            if member.endswith(".dist-info/METADATA"):
                content = re.sub(rb"(?m)^Version: .*$", f"Version: {version}".encode(), content, count=1)
            elif member.endswith(".dist-info/RECORD"):
                content = content.replace(f"-{older}.dist-info".encode(), f"-{version}.dist-info".encode())
            target.writestr(member.replace(f"-{older}.dist-info", f"-{version}.dist-info"), content)


@contextmanager
def _small(place: Path, used_bytes: int) -> Iterator[None]:
    """Mount a file system at a directory that has little more than `used_bytes`."""
    place.mkdir(parents=True, exist_ok=True)
    options = f"mode=755,size={used_bytes + _ROOM_BYTES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def _used_bytes(tree: Path) -> int:
    printed = subprocess.run(
        ["du", "--summarize", "--block-size=1", tree], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    return int(printed.split()[0])


def _installed(root: DebianRoot, package: str) -> str:
    return root.run("dpkg-query", "--show", "--showformat", "${Status} ${Version}", package)
