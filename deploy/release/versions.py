"""Agreement of the files of the repository on one version, and the notes of that version."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = ("agent/wire", "agent/node", "backend")
"""Directories of the wheels, in the order of their dependencies."""
_SECTION: Final = re.compile(r"^## (?P<name>\S+)(?: - (?P<date>\S+))?$", re.MULTILINE)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")


class ReleaseError(Exception):
    """A release cannot be made or verified; the text has the remedy."""


def versions(tree: Path) -> dict[str, str]:
    """Return the version in each file that has one, by the file's path below the repository."""
    found: dict[str, str] = {}
    for directory in (".", *PACKAGES):
        path = (Path(directory) / "pyproject.toml").as_posix()
        found[path] = tomllib.loads((tree / path).read_text())["project"]["version"]
    for path in ("frontend/package.json", "frontend/package-lock.json"):
        found[path] = json.loads((tree / path).read_text())["version"]
    return found


def agreed_version(tree: Path, wanted: str | None = None) -> str:
    """Return the one version of the repository.

    Args:
        wanted: The version that is to be released. None: the version that the files have.

    Raises:
        ReleaseError: Files differ from it, or from each other, or accept iotide-wire of another version.
    """
    found = versions(tree)
    version = found["pyproject.toml"] if wanted is None else wanted
    if not _VERSION.fullmatch(version):
        raise ReleaseError(f'version "{version}": give three numbers, such as 0.3.0')
    others = {path: other for path, other in found.items() if other != version}
    if others:
        listed = ", ".join(f"{path} {other}" for path, other in others.items())
        raise ReleaseError(f"The release is {version}, but these files have another version: {listed}. Set it there.")
    pin = f"iotide-wire=={version}"
    for directory in PACKAGES:
        for requirement in _project(tree, directory).get("dependencies", ()):
            if requirement.startswith("iotide-wire") and requirement != pin:
                raise ReleaseError(
                    f'{directory}/pyproject.toml requires "{requirement}". Write "{pin}": no other version works.'
                )
    return version


def release_notes(changelog: str, version: str) -> str:
    """Return the section of a version, as a document with its own title.

    Raises:
        ReleaseError: The section is missing, has no date, or is empty.
    """
    body = _sections(changelog).get(version)
    if body is None:
        raise ReleaseError(
            f'CHANGELOG.md has no section "{version}". Rename "## Unreleased" to "## {version} - YYYY-MM-DD".'
        )
    date, text = body
    if date is None or not _DATE.fullmatch(date):
        raise ReleaseError(f'CHANGELOG.md: section "{version}" has no date. Write "## {version} - YYYY-MM-DD".')
    if not text:
        raise ReleaseError(f'CHANGELOG.md: section "{version}" is empty. Write what users and administrators notice.')
    return f"# iotide {version}, {date}\n{text}\n"


def unreleased(changelog: str) -> list[str]:
    """Return the changes that no version has yet, a line each."""
    _, text = _sections(changelog).get("Unreleased", (None, ""))
    return [line for line in text.splitlines() if line.startswith("- ")]


def _sections(changelog: str) -> dict[str, tuple[str | None, str]]:
    heads = list(_SECTION.finditer(changelog))
    ends = [head.start() for head in heads[1:]] + [len(changelog)]
    return {
        head["name"]: (head["date"], changelog[head.end() : end].strip()) for head, end in zip(heads, ends, strict=True)
    }


def _project(tree: Path, directory: str) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((tree / directory / "pyproject.toml").read_text())["project"]
    return project
