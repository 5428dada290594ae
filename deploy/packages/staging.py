"""Directory of the files that nfpm packs, and nfpm itself."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from packages.own_python import ARCHITECTURES, BuildError, say
from packages.program_tree import Contents

_HERE: Final = Path(__file__).parent
_NFPM: Final = "2.45.2"
_NFPM_MODULE: Final = f"github.com/goreleaser/nfpm/v2/cmd/nfpm@v{_NFPM}"
_SHELLS: Final = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}
"""Name of the completion file of a program, by shell."""
_UNIT: Final = """\
import pathlib, sys
from iotide_{part}.setup.texts import unit
print(end=unit(pathlib.Path(sys.argv[1])))
"""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the packages go.

    Attributes:
        into: Their directory.
        cache: The directory of programs that many releases share.
        release: Number of the package of this version.
    """

    into: Path
    cache: Path
    release: int = 1


def seconds_of_source() -> int:
    """Return the time of all files of a package, in seconds since 1970."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def completions(contents: Contents, tree: Path, into: Path) -> None:
    """Write the completion of each program for each shell."""
    for shell, pattern in _SHELLS.items():
        for program in contents.product.programs:
            variable = f"_{program.upper().replace('-', '_')}_COMPLETE"
            environment = {**os.environ, variable: f"source_{shell}"}
            printed = subprocess.run(
                [tree / "bin" / program], env=environment, stdout=subprocess.PIPE, check=True
            ).stdout
            file = into / shell / pattern.format(program)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(printed)


def stage_program(contents: Contents, tree: Path, stage: Path) -> None:
    """Move the tree to stage/program, and place its systemd unit, man pages, licences and the package's own files."""
    pages = stage / "man"
    pages.mkdir()
    for program in contents.product.programs:
        page = (tree / f"share/man/man1/{program}.1").read_bytes()
        (pages / f"{program}.1.gz").write_bytes(gzip.compress(page, mtime=0))
    shutil.rmtree(tree / "share")
    tree.rename(stage / "program")
    product = contents.product
    unit = ("-I", "-c", _UNIT.format(part=product.part), f"/usr/bin/{product.name}")
    command = (stage / "program/bin/python3", *unit)
    (stage / "unit").write_bytes(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    for source in (*sorted((_HERE / product.part).iterdir()), contents.root / "THIRD_PARTY.md"):
        shutil.copyfile(source, stage / source.name)


def package_by_nfpm(contents: Contents, stage: Path, destination: Destination, packager: str) -> None:
    """Write a package of the staged files; `packager` is nfpm's, "deb" or "rpm"."""
    for path in (stage, *stage.rglob("*")):
        if not path.is_symlink() and not path.is_relative_to(stage / "program"):
            path.chmod(0o755 if path.is_dir() else 0o644)
    _write_changelog(contents.version, destination.release, stage / "changelog.yaml")
    named = {"VERSION": contents.version, "RELEASE": str(destination.release)}
    environment = {**os.environ, **named, "ARCHITECTURE": ARCHITECTURES[contents.architecture]}
    command = (_nfpm(destination.cache), "package", "--config", _HERE / f"{contents.product.part}.yaml")
    options = ("--packager", packager, "--target", destination.into)
    subprocess.run([*command, *options], cwd=stage, env=environment, stdout=sys.stderr, check=True)


def _write_changelog(version: str, release: int, file: Path) -> None:
    entry = {
        "semver": f"{version}-{release}",
        "date": datetime.fromtimestamp(seconds_of_source(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "packager": "iotide maintainers <iotide@example.org>",
        "deb": {"urgency": "medium", "distributions": ["unstable"]},
        "changes": [{"note": f"Release {version}. CHANGELOG.md of the source archive has all changes."}],
    }
    # JSON is YAML.
    file.write_text(json.dumps([entry]))


def _nfpm(cache: Path) -> Path:
    """Return the program that writes debs and rpms; compile it first if the cache lacks it.

    Raises:
        BuildError: There is no Go compiler.
    """
    place = cache / f"nfpm-{_NFPM}"
    if not (place / "nfpm").exists():
        if shutil.which("go") is None:
            raise BuildError(
                "go is not installed. Install Go 1.21 or newer: it compiles nfpm, which writes the packages"
            )
        say(f"compile nfpm {_NFPM}")
        environment = {
            **os.environ,
            "GOBIN": str(place),
            "GOFLAGS": "-trimpath",
            "GOTOOLCHAIN": "auto",
            "CGO_ENABLED": "0",
        }
        subprocess.run(["go", "install", _NFPM_MODULE], env=environment, stdout=sys.stderr, check=True)
    return place / "nfpm"
