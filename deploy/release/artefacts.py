"""Artefacts of a release, one function each, made from an unpacked source archive.

Usage: PYTHONPATH=deploy python -m release.artefacts INTO, in the unpacked archive, with SOURCE_DATE_EPOCH and
IOTIDE_BUILD_CACHE in the environment. A new artefact is another function in `ARTEFACTS`: it writes its files into
`release.into`, the same bytes each time, and names of other files stay as they are.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from packages.agent_packages import make_packages
from packages.own_python import BuildError, built_python
from packages.program_tree import AGENT, SERVER, Contents
from packages.server_package import make_deb
from packages.staging import Destination

from release.comparing import sha256
from release.compose import release_compose
from release.versions import PACKAGES, agreed_version, release_notes

PROGRAMS: Final = {"iotide-server": ("backend", ("--extra", "embedded")), "iotide-agent": ("agent/node", ())}
"""Directory of each program, and the options of `uv export` that select its packages."""


@dataclass(frozen=True, slots=True)
class Release:
    """Source and destination of the artefacts.

    Attributes:
        tree: The unpacked source archive.
        into: The directory of the artefacts.
        work: A directory for files that are not part of the release.
    """

    tree: Path
    into: Path
    work: Path
    version: str

    def run(self, *command: str | Path, within: str = ".") -> str:
        """Run a program in the tree, and return its output.

        Raises:
            subprocess.CalledProcessError: It failed; its error output was printed.
        """
        return subprocess.run(command, cwd=self.tree / within, stdout=subprocess.PIPE, text=True, check=True).stdout

    def wheel(self, name: str) -> str:
        """Return the file name of one of our wheels."""
        return f"{name.replace('-', '_')}-{self.version}-py3-none-any.whl"


def bundle(release: Release) -> None:
    """Make the agent's bundle for nodes without internet. The server's wheel has it, too, and hands it to nodes."""
    file = release.into / f"iotide-agent-{release.version}-x86_64.tar"
    release.run("deploy/offline/make-bundle.sh", file)
    handed_out = release.tree / "backend/src/iotide_server/agent_files/files"
    handed_out.mkdir(exist_ok=True)
    shutil.copyfile(file, handed_out / "iotide-agent.tar")


def wheels(release: Release) -> None:
    """Build dashboard and documentation, then the three wheels, with the build tools that uv.lock pins."""
    release.run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", within="frontend")
    release.run("npm", "run", "--silent", "build", within="frontend")
    release.run("uv", "run", "--quiet", "--isolated", "--frozen", "--all-packages", "python", "docs/site/build_site.py")
    for directory in PACKAGES:
        release.run("uv", "build", "--quiet", "--wheel", "--out-dir", release.into, directory)
    (release.into / ".gitignore").unlink()


def packages(release: Release) -> None:
    """Build the packages with a Python of their own: archive, deb and rpm of the agent, and deb of the server."""
    cache = Path(os.environ["IOTIDE_BUILD_CACHE"])
    destination = Destination(release.into, cache)
    agent = Contents(AGENT, release.tree, release.into, built_python(cache), release.version)
    make_packages(agent, destination, others=("aarch64",))
    make_deb(replace(agent, product=SERVER), destination)


def locks(release: Release) -> None:
    """Write the lock file of each program: packages of uv.lock by their hashes, and our wheels next to the file."""
    for name, (_, options) in PROGRAMS.items():
        export = ("uv", "export", "--quiet", "--frozen", "--no-header", "--no-dev", "--no-emit-workspace")
        lock = release.run(*export, "--format", "pylock.toml", "--package", name, *options)
        for own in ("iotide-wire", name):
            wheel = release.wheel(own)
            digest = sha256(release.into / wheel)
            lock += f'\n[[packages]]\nname = "{own}"\nversion = "{release.version}"\n'
            lock += f'wheels = [{{ name = "{wheel}", path = "{wheel}", hashes = {{ sha256 = "{digest}" }} }}]\n'
        (release.into / f"pylock.{name}.toml").write_text(lock)


def compose(release: Release) -> None:
    """Write the compose file that starts images of this version."""
    ours, redis = release.tree / "docker-compose.yml", release.tree / "deploy/docker/redis.conf"
    text = release_compose(ours.read_text(), redis.read_text(), release.version)
    (release.into / "compose.yaml").write_text(text)


def documents(release: Release) -> None:
    """Copy the API's description and the licences, and write the notes of this version."""
    for document in ("frontend/openapi.json", "THIRD_PARTY.md"):
        shutil.copyfile(release.tree / document, release.into / Path(document).name)
    notes = release_notes((release.tree / "CHANGELOG.md").read_text(), release.version)
    (release.into / "NOTES.md").write_text(notes)


def components(release: Release) -> None:
    """Write a CycloneDX list of the packages of each program, as its lock file installs them, and of the pages."""
    for name, (directory, _) in PROGRAMS.items():
        place = release.work / name
        release.run("uv", "venv", "--quiet", place)
        release.run("uv", "pip", "sync", "--quiet", "--python", place, release.into / f"pylock.{name}.toml")
        alone = ("uv", "run", "--quiet", "--isolated", "--frozen", "--only-group", "release")
        describe = ("cyclonedx-py", "environment", "--output-reproducible", place / "bin/python", "--output-file")
        file = release.into / f"{name}-{release.version}.cdx.json"
        release.run(*alone, *describe, file, "--pyproject", f"{directory}/pyproject.toml")
    pages = json.loads(
        release.run("npm", "sbom", "--omit", "dev", "--sbom-format", "cyclonedx", "--loglevel=error", within="frontend")
    )
    # Random, and of now.
    del pages["serialNumber"], pages["metadata"]["timestamp"]
    file = release.into / f"iotide-frontend-{release.version}.cdx.json"
    file.write_text(json.dumps(pages, indent=2, sort_keys=True) + "\n")


ARTEFACTS: Final[tuple[Callable[[Release], None], ...]] = (
    bundle, wheels, packages, locks, compose, documents, components,
)  # fmt: skip
"""In this order: the server's wheel has the bundle, and later ones read the wheels, or the man pages built for them."""


def main() -> None:
    os.umask(0o022)
    tree, into = Path.cwd(), Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="iotide-release-") as directory:
        work = Path(directory)
        release = Release(tree, into, work, agreed_version(tree))
        constraints = work / "build-tools.txt"
        tools = release.run("uv", "export", "--quiet", "--frozen", "--only-group", "dev", "--no-emit-workspace")
        constraints.write_text(tools)
        os.environ["UV_BUILD_CONSTRAINT"] = str(constraints)
        for make in ARTEFACTS:
            print(f"release: {make.__name__}", file=sys.stderr, flush=True)
            try:
                make(release)
            except BuildError as error:
                sys.exit(f"release: {error}")


if __name__ == "__main__":
    main()
