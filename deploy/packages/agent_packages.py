"""Builds the packages of the agent: an archive with its own Python, a deb and an rpm.

Usage: PYTHONPATH=deploy python -m packages.agent_packages INTO WHEELS CACHE [RELEASE], in the source tree with the man
pages built, and with SOURCE_DATE_EPOCH. It needs what own_python.py needs, Go and binutils. The same commit gives the
same bytes.
"""

import gzip
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from packages.archives import pack
from packages.own_python import BuildError, built_python, say
from packages.program_tree import AGENT, Contents, make_installable, make_tree
from packages.staging import Destination, completions, package_by_nfpm, seconds_of_source, stage_program

_SETTINGS: Final = """\
# Settings of this node's iotide agent. `iotide-agent setup SERVER` adds the server and the directories of runs.
# All settings: https://iotide.example.org and `iotide-agent check`. Examples for other ways to run the agent are in
# /usr/share/doc/iotide-agent/examples.
"""


def make_packages(contents: Contents, destination: Destination, others: Sequence[str] = ()) -> None:
    """Write the three packages, and those for other architectures.

    Raises:
        BuildError: The tree cannot be built.
        subprocess.CalledProcessError: A program failed; it printed why.
    """
    with tempfile.TemporaryDirectory(prefix="iotide-packages-") as directory:
        stage, native = Path(directory) / "stage", Path(directory) / "native"
        stage.mkdir()
        say("install the agent on its Python")
        tree = stage / f"iotide-agent-{contents.version}"
        make_tree(contents, tree)
        completions(contents, tree, stage / "completion")
        _archive(contents, tree, destination)
        _stage(contents, tree, stage)
        _package(contents, stage, destination)
        (stage / "program").rename(native)
        for architecture in others:
            say(f"install the agent for {architecture}")
            python, builder = built_python(destination.cache, architecture), native / "bin/python3"
            other = replace(contents, architecture=architecture, python=python, builder=builder)
            make_tree(other, tree)
            _archive(other, tree, destination)
            shutil.rmtree(tree / "share")
            tree.rename(stage / "program")
            _package(other, stage, destination)
            shutil.rmtree(stage / "program")


def _archive(contents: Contents, tree: Path, destination: Destination) -> None:
    """Write the archive with its own installer."""
    with tempfile.TemporaryDirectory(prefix="iotide-archive-") as directory:
        installable, archive = Path(directory) / tree.name, Path(directory) / "archive.tar"
        shutil.copytree(tree, installable, symlinks=True)
        make_installable(contents, installable)
        pack(installable, archive, tree.name, seconds=seconds_of_source())
        name = f"iotide-agent-{contents.version}-{contents.architecture}-python.tar.gz"
        (destination.into / name).write_bytes(gzip.compress(archive.read_bytes(), mtime=0))


def _package(contents: Contents, stage: Path, destination: Destination) -> None:
    say("build the deb and the rpm")
    for packager in ("deb", "rpm"):
        package_by_nfpm(contents, stage, destination, packager)


def settings(example: str) -> str:
    """Return the agent.toml of the packages: the example of deploy/agent, without any value set."""
    _, _, shown = example.partition("\nserver = ")
    lines = f"server = {shown}".splitlines()
    return _SETTINGS + "".join(f"# {line}\n" if line and not line.startswith("#") else f"{line}\n" for line in lines)


def _stage(contents: Contents, tree: Path, stage: Path) -> None:
    """Place the files that agent.yaml names."""
    root = contents.root
    stage_program(contents, tree, stage)
    (stage / "agent.toml").write_text(settings((root / "deploy/agent/agent.toml").read_text()))
    examples = stage / "examples"
    shutil.copytree(root / "deploy/agent", examples)
    shutil.copyfile(root / "deploy/systemd/iotide-agent.sudo.conf", examples / "iotide-agent.sudo.conf")


def main() -> int:
    into, wheels, cache = (Path(argument).absolute() for argument in sys.argv[1:4])
    release = int(next(iter(sys.argv[4:]), "1"))
    try:
        wheel = next(wheels.glob("iotide_agent-*.whl"))
        version = wheel.name.split("-")[1]
        contents = Contents(AGENT, Path.cwd(), wheels, built_python(cache), version)
        make_packages(contents, Destination(into, cache, release))
    except BuildError as error:
        say(str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
