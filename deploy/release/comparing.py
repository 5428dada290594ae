"""Digests of artefacts, and comparison of two directories of them, byte by byte, down to the members of archives."""

import hashlib
import tarfile
import zipfile
from pathlib import Path


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def differences(published: Path, rebuilt: Path) -> list[str]:
    """Return what differs, a line each; for wheels and tar files with their members."""
    lines: list[str] = []
    names = {path.name for directory in (published, rebuilt) for path in directory.iterdir()}
    for name in sorted(names):
        first, second = published / name, rebuilt / name
        if not first.exists():
            lines.append(f"{name}: only in the rebuilt release")
        elif not second.exists():
            lines.append(f"{name}: only in {published}")
        elif first.read_bytes() != second.read_bytes():
            lines.append(f"{name}: {_members_that_differ(first, second)}")
    return lines


def _members_that_differ(first: Path, second: Path) -> str:
    one, other = _members(first), _members(second)
    differing = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    if differing:
        return f"differs in {', '.join(differing)}"
    return "differs"


def _members(path: Path) -> dict[str, tuple[object, ...]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {
                each.filename: (each.CRC, each.date_time, each.external_attr, each.compress_size)
                for each in archive.infolist()
            }
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            return {each.name: (each.mode, each.mtime, each.size, _digest(archive, each)) for each in archive}
    return {}


def _digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member) if member.isfile() else None
    return "" if file is None else hashlib.sha256(file.read()).hexdigest()
