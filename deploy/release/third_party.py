"""Licences of the packages that iotide is made of. `python -m release.third_party` prints THIRD_PARTY.md."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.artefacts import PROGRAMS

ROOT: Final = Path(__file__).resolve().parents[2]
LIST: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("licences.toml").read_text())
_PYTHONS: Final = ("3.11.0", "3.11.9", "3.12.0", "3.13.0", "3.14.0")
"""Versions that a program supports; a package for any of them is one of the program's."""
_OPERATOR: Final = re.compile(r"[() ]+|\b(?:AND|OR)\b")
_LIBRARY: Final = re.compile(r"[^/]+\.libs/(?P<stem>lib[^-.]+)[-.]")

_HEAD: Final = """\
# Which software of others is in iotide?
Licences are SPDX identifiers. Each Python package has its licence's text. The texts for the dashboard's packages
are in the server's wheel: `iotide_server/frontend/.vite/license.md`. `./dev generate` writes this page from uv.lock,
frontend/package-lock.json and deploy/release/licences.toml. A test fails on a licence that is not allowed there.
"""


class LicenceError(Exception):
    """A package has no known licence; the text has the remedy."""


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    licence: str


def program_packages(program: str) -> list[Package]:
    """Return the packages that an installation of a program has on Linux, without our own.

    Raises:
        LicenceError: One has no SPDX licence, neither in its metadata nor in licences.toml.
    """
    _, options = PROGRAMS[program]
    export = ("uv", "export", "--quiet", "--frozen", "--no-header", "--no-annotate", "--no-hashes", "--no-dev")
    command = [*export, "--no-emit-workspace", "--package", program, *options]
    locked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    wanted = [requirement for requirement in map(Requirement, locked.splitlines()) if _is_for_linux(requirement)]
    return [Package(each.name, str(each.specifier).removeprefix("=="), licence_of(each.name)) for each in wanted]


def page_packages() -> list[Package]:
    """Return the npm packages that the pages are built from, a version each; tools of the build are left out.

    Raises:
        LicenceError: One has no SPDX licence, neither in package-lock.json nor in licences.toml.
    """
    packages = json.loads((ROOT / "frontend/package-lock.json").read_text())["packages"]
    found = set()
    for path, package in packages.items():
        if path and not package.get("dev") and not package.get("devOptional"):
            name = path.rpartition("node_modules/")[2]
            found.add(Package(name, package["version"], package.get("license") or _stated(name)))
    return sorted(found, key=lambda package: (package.name, package.version))


def licence_of(name: str) -> str:
    """Return the SPDX licence of a Python package.

    Raises:
        LicenceError: It has none, neither in its metadata nor in licences.toml.
    """
    return own_licence(name) or _stated(name)


def own_licence(name: str) -> str | None:
    """Return the SPDX licence in the metadata of an installed package, or None."""
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:  # another version of Python would have it
        return None
    for text in (*metadata.get_all("License-Expression", ()), *metadata.get_all("License", ())):
        try:
            return canonicalize_license_expression(text)
        except InvalidLicenseExpression:
            continue
    return None


def refused(licence: str) -> list[str]:
    """Return the parts of a licence expression that licences.toml does not allow."""
    return [part for part in _OPERATOR.split(licence) if part and part not in LIST["allowed"]]


def bundled_libraries(package: Distribution) -> set[str]:
    """Return the names of the shared libraries that an installed wheel has in a directory `*.libs`."""
    return {found["stem"] for file in package.files or () if (found := _LIBRARY.match(str(file)))}


def document() -> str:
    """Return the text of THIRD_PARTY.md."""
    tables = (_program_table, _library_table, _own_table, _page_table, _documentation_table)
    return "\n".join([_HEAD, *(line for table in tables for line in (*table(), ""))])


def _program_table() -> Iterator[str]:
    of = {program: set(program_packages(program)) for program in PROGRAMS}
    yield "## Python packages"
    yield f"| package | version | licence | {' | '.join(of)} |"
    yield f"|---|---|---|{'---|' * len(of)}"
    for package in sorted(set().union(*of.values()), key=lambda package: package.name):
        used = " | ".join("yes" if package in packages else "" for packages in of.values())
        yield f"| {package.name} | {package.version} | {package.licence} | {used} |"


def _library_table() -> Iterator[str]:
    yield "## Shared libraries inside these packages"
    yield "| package | library | licence |"
    yield "|---|---|---|"
    for package, libraries in LIST["libraries"].items():
        for library, licence in libraries.items():
            yield f"| {package} | {library} | {licence} |"
    yield ""
    for package, files in LIST["removed"].items():
        listed = ", ".join(f"`{file}`" for file in files)
        yield f"Bundles, images and packages of iotide contain {package} without {listed}."


def _own_table() -> Iterator[str]:
    yield "## The agent's own Python"
    yield "The archive, the deb and the rpm of the agent contain a Python and these libraries. Their texts are in"
    yield "`LICENSE*.txt` next to its modules."
    yield ""
    yield "| software | licence |"
    yield "|---|---|"
    for software, licence in LIST["own-python"].items():
        yield f"| {software} | {licence} |"


def _page_table() -> Iterator[str]:
    yield "## Packages of the dashboard"
    yield "| package | version | licence |"
    yield "|---|---|---|"
    for package in page_packages():
        yield f"| {package.name} | {package.version} | {package.licence} |"


def _documentation_table() -> Iterator[str]:
    yield "## In the documentation"
    yield "The texts of these licences are at `/docs/_static/licences.txt` of a server."
    yield ""
    yield "| package | version | licence | part |"
    yield "|---|---|---|---|"
    for name, row in LIST["documentation"].items():
        yield f"| {name} | {distribution(name).version} | {row['licence']} | {row['part']} |"


def _is_for_linux(requirement: Requirement) -> bool:
    here = {"sys_platform": "linux", "implementation_name": "cpython", "platform_python_implementation": "CPython"}
    return requirement.marker is None or any(
        requirement.marker.evaluate(
            {**here, "python_full_version": version, "python_version": version.rpartition(".")[0]}
        )
        for version in _PYTHONS
    )


def _stated(name: str) -> str:
    try:
        licence: str = LIST["packages"][canonicalize_name(name)]
    except KeyError:
        raise LicenceError(
            f"{name}: its metadata has no SPDX licence. Read its licence file, and add a row to [packages] of "
            "deploy/release/licences.toml."
        ) from None
    return licence


if __name__ == "__main__":
    sys.stdout.write(document())
