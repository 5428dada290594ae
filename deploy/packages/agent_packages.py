"""Builds the packages of the agent: an archive with its own Python, a deb and an rpm.

Usage: PYTHONPATH=deploy python -m packages.agent_packages INTO WHEELS CACHE [RELEASE], in the source tree with the man
pages built, and with SOURCE_DATE_EPOCH. It needs what own_python.py needs, Go and binutils. The same commit gives the
same bytes.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from packages.agent_tree import PROGRAMS, Contents, make_installable, make_tree
from packages.archives import pack
from packages.own_python import ARCHITECTURES, BuildError, built_python, say

_HERE: Final = Path(__file__).parent
_NFPM: Final = "2.45.2"
_NFPM_MODULE: Final = f"github.com/goreleaser/nfpm/v2/cmd/nfpm@v{_NFPM}"
_PROGRAM: Final = Path("/usr/bin/iotide-agent")
_SHELLS: Final = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}
"""Name of the completion file of a program, by shell."""
_SETTINGS: Final = """\
# Settings of this node's iotide agent. `iotide-agent setup SERVER` adds the server and the directories of runs.
# All settings: https://iotide.example.org and `iotide-agent check`. Examples for other ways to run the agent are in
# /usr/share/doc/iotide-agent/examples.
"""


def make_packages(contents: Contents, into: Path, cache: Path, *, release: int = 1, others: Sequence[str] = ()) -> None:
    """Write the three packages, and those for other architectures.

    Raises:
        BuildError: The tree cannot be built.
        subprocess.CalledProcessError: A program failed; it printed why.
    """
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    with tempfile.TemporaryDirectory(prefix="iotide-packages-") as directory:
        stage = Path(directory)
        say("install the agent on its Python")
        tree = stage / f"iotide-agent-{contents.version}"
        make_tree(contents, tree)
        completions(tree, stage / "completion")
        _archive(contents, tree, into)
        _stage(contents, tree, stage, release, seconds)
        _package(contents, stage, into, cache, release)
        native = (stage / "agent").rename(stage / "native")
        for architecture in others:
            say(f"install the agent for {architecture}")
            python, builder = built_python(cache, architecture), native / "bin/python3"
            other = replace(contents, architecture=architecture, python=python, builder=builder)
            make_tree(other, tree)
            _archive(other, tree, into)
            shutil.rmtree(tree / "share")
            tree.rename(stage / "agent")
            _package(other, stage, into, cache, release)
            shutil.rmtree(stage / "agent")


def _archive(contents: Contents, tree: Path, into: Path) -> None:
    """Write the archive with its own installer."""
    with tempfile.TemporaryDirectory(prefix="iotide-archive-") as directory:
        installable, archive = Path(directory) / tree.name, Path(directory) / "archive.tar"
        shutil.copytree(tree, installable, symlinks=True)
        make_installable(contents, installable)
        pack(installable, archive, tree.name, seconds=int(os.environ["SOURCE_DATE_EPOCH"]))
        name = f"iotide-agent-{contents.version}-{contents.architecture}-python.tar.gz"
        (into / name).write_bytes(gzip.compress(archive.read_bytes(), mtime=0))


def _package(contents: Contents, stage: Path, into: Path, cache: Path, release: int) -> None:
    """Write the deb and the rpm of a staged tree."""
    say("build the deb and the rpm")
    nfpm = _nfpm(cache)
    named = {"VERSION": contents.version, "RELEASE": str(release), "ARCHITECTURE": ARCHITECTURES[contents.architecture]}
    for packager in ("deb", "rpm"):
        command = (nfpm, "package", "--config", _HERE / "agent.yaml", "--packager", packager, "--target", into)
        subprocess.run(command, cwd=stage, env={**os.environ, **named}, stdout=sys.stderr, check=True)


def completions(tree: Path, into: Path) -> None:
    """Write the completion of each program for each shell."""
    for shell, pattern in _SHELLS.items():
        for program in PROGRAMS:
            variable = f"_{program.upper().replace('-', '_')}_COMPLETE"
            environment = {**os.environ, variable: f"source_{shell}"}
            printed = subprocess.run(
                [tree / "bin" / program], env=environment, stdout=subprocess.PIPE, check=True
            ).stdout
            file = into / shell / pattern.format(program)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(printed)


def settings(example: str) -> str:
    """Return the agent.toml of the packages: the example of deploy/agent, without any value set."""
    _, _, shown = example.partition("\nserver = ")
    lines = f"server = {shown}".splitlines()
    return _SETTINGS + "".join(f"# {line}\n" if line and not line.startswith("#") else f"{line}\n" for line in lines)


def _stage(contents: Contents, tree: Path, stage: Path, release: int, seconds: int) -> None:
    """Place the files that agent.yaml names."""
    root = contents.root
    pages = stage / "man"
    pages.mkdir()
    for program in PROGRAMS:
        page = (tree / f"share/man/man1/{program}.1").read_bytes()
        (pages / f"{program}.1.gz").write_bytes(gzip.compress(page, mtime=0))
    shutil.rmtree(tree / "share")
    tree.rename(stage / "agent")
    (stage / "agent.toml").write_text(settings((root / "deploy/agent/agent.toml").read_text()))
    unit = "import pathlib, sys; from iotide_agent.setup.texts import unit; print(end=unit(pathlib.Path(sys.argv[1])))"
    printed = subprocess.run(
        [stage / "agent/bin/python3", "-I", "-c", unit, _PROGRAM], stdout=subprocess.PIPE, check=True
    ).stdout
    (stage / "iotide-agent.service").write_bytes(printed)
    for source in (*sorted((_HERE / "files").iterdir()), root / "THIRD_PARTY.md"):
        shutil.copyfile(source, stage / source.name)
    examples = stage / "examples"
    shutil.copytree(root / "deploy/agent", examples)
    shutil.copyfile(root / "deploy/systemd/iotide-agent.sudo.conf", examples / "iotide-agent.sudo.conf")
    for path in (stage, *stage.rglob("*")):
        if not path.is_symlink() and not path.is_relative_to(stage / "agent"):
            path.chmod(0o755 if path.is_dir() else 0o644)
    entry = {
        "semver": f"{contents.version}-{release}",
        "date": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "packager": "iotide maintainers <iotide@example.org>",
        "deb": {"urgency": "medium", "distributions": ["unstable"]},
        "changes": [{"note": f"Release {contents.version}. CHANGELOG.md of the source archive has all changes."}],
    }
    # JSON is YAML.
    (stage / "changelog.yaml").write_text(json.dumps([entry]))


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


def main() -> int:
    into, wheels, cache = (Path(argument).absolute() for argument in sys.argv[1:4])
    release = int(next(iter(sys.argv[4:]), "1"))
    try:
        wheel = next(wheels.glob("iotide_agent-*.whl"))
        version = wheel.name.split("-")[1]
        make_packages(Contents(Path.cwd(), wheels, built_python(cache), version), into, cache, release=release)
    except BuildError as error:
        say(str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
