"""Makes the files of a release in dist/, or verifies those of a directory: docs/releasing.md.

Usage: ./dev release [VERSION] [--sign KEY], or ./dev release --verify DIRECTORY. Exit status 0: made, or verified;
1: the rebuilt release differs, or a program failed; 2: it cannot be made, with the remedy.
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from release.comparing import differences, sha256
from release.versions import ReleaseError, agreed_version, release_notes, unreleased

ROOT: Final = Path(__file__).resolve().parents[2]
DIST: Final = ROOT / "dist"
SUMS: Final = "SHA256SUMS"
SIGNATURE: Final = f"{SUMS}.sig"
NAMESPACE: Final = "iotide-release"
"""Namespace of the signatures; `ssh-keygen -Y verify -n` names it."""
_KEYS: Final = "Name a private SSH key, or a public one of ssh-agent."
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")
_DIFFERS, _BAD_INPUT = 1, 2


def make(version: str | None, key: Path | None) -> None:
    """Replace dist/ by the release of the current commit.

    Raises:
        ReleaseError: The repository is not ready for it.
    """
    changed = git("status", "--porcelain").splitlines()
    if changed:
        listed = ", ".join(line[3:] for line in changed[:5])
        raise ReleaseError(f"{len(changed)} files differ from the commit: {listed}. Commit or remove them.")
    changelog = (ROOT / "CHANGELOG.md").read_text()
    waiting = unreleased(changelog)
    release_notes(changelog, agreed_version(ROOT, version))
    if waiting and version is not None:
        raise ReleaseError(
            f'CHANGELOG.md has {len(waiting)} changes under "Unreleased". Move them below "## {version} - YYYY-MM-DD".'
        )
    if key is not None and not key.is_file():
        raise ReleaseError(f"--sign {key}: not a file. {_KEYS}")
    if waiting:
        say(f'a rehearsal: the notes lack {len(waiting)} changes, which CHANGELOG.md has under "Unreleased"')
    with tempfile.TemporaryDirectory(prefix="iotide-release-") as work:
        into = build(git("rev-parse", "HEAD").strip(), Path(work))
        if key is not None:
            sign(into / SUMS, key)
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(into, DIST)
    for line in (DIST / SUMS).read_text().splitlines():
        digest, _, name = line.partition("  ")
        print(f"{(DIST / name).stat().st_size:>12,} bytes  {digest[:16]}  {name}")


def verify(published: Path) -> int:
    """Rebuild a release from its commit, print what differs, and return the exit status.

    Raises:
        ReleaseError: The directory has no release, or its commit is not in this repository.
    """
    damaged = wrong_sums(published)
    for name in damaged:
        print(f"{name}: not the file of {SUMS}")
    commit = commit_of(published)
    with tempfile.TemporaryDirectory(prefix="iotide-release-") as work:
        into = build(commit, Path(work))
        count = len(list(into.iterdir()))
        # ssh-keygen verifies the signature: docs/releasing.md.
        found = [line for line in differences(published, into) if not line.startswith(f"{SIGNATURE}:")]
    for line in found:
        print(line)
    if found or damaged:
        return _DIFFERS
    print(f"{published} is the release of commit {commit}: {count} files are equal")
    return 0


def build(commit: str, work: Path) -> Path:
    """Build a commit's artefacts with its own program, and return their directory."""
    tree, into = work / "tree", work / "dist"
    into.mkdir()
    tree.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "--extract", "--directory", tree], input=archive, check=True)
    name = f"iotide-{agreed_version(tree)}"
    packed = subprocess.run(
        ["git", "archive", f"--prefix={name}/", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    (into / f"{name}.tar.gz").write_bytes(gzip.compress(packed, mtime=0))
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "deploy"),
        # Of programs that many releases share; each is named by its inputs.
        "IOTIDE_BUILD_CACHE": str(ROOT / ".dev/packages"),
        "SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct", commit).strip(),
        "UV_PYTHON": sys.executable,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    subprocess.run([sys.executable, "-m", "release.artefacts", into], cwd=tree, env=environment, check=True)
    sums = [f"{sha256(path)}  {path.name}\n" for path in sorted(into.iterdir())]
    (into / SUMS).write_text("".join(sums))
    return into


def commit_of(published: Path) -> str:
    """Return the commit that a release's source archive names.

    Raises:
        ReleaseError: The directory has no source archive, or this repository does not have the commit.
    """
    archives = [path for path in published.glob("iotide-[0-9]*.tar.gz") if path.is_file()]
    if len(archives) != 1:
        raise ReleaseError(f"{published} has no source archive iotide-VERSION.tar.gz. Name the directory of a release.")
    named = subprocess.run(
        ["git", "get-tar-commit-id"], input=gzip.decompress(archives[0].read_bytes()), capture_output=True, check=False
    )
    commit = named.stdout.decode().strip()
    if not _COMMIT.fullmatch(commit):
        raise ReleaseError(f"{archives[0].name} names no commit, so this program did not make it. Download it again.")
    if subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT, check=False).returncode:
        raise ReleaseError(f"This repository does not have commit {commit}. Run git fetch.")
    return commit


def wrong_sums(published: Path) -> list[str]:
    """Return the names of files that SHA256SUMS lists with another digest, or that are missing.

    Raises:
        ReleaseError: The directory has no SHA256SUMS.
    """
    try:
        lines = (published / SUMS).read_text().splitlines()
    except OSError as error:
        raise ReleaseError(f"{published / SUMS}: {error.strerror}. Name the directory of a release.") from error
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return [
        name
        for name, digest in listed.items()
        if not (published / name).is_file() or sha256(published / name) != digest
    ]


def sign(sums: Path, key: Path) -> None:
    """Sign the checksums with an SSH key.

    Raises:
        ReleaseError: ssh-keygen cannot use the key.
    """
    done = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", key, "-n", NAMESPACE, sums], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"--sign {key}: {done.stderr.strip()}. {_KEYS}")


def git(*arguments: str) -> str:
    """Return the output of git in this repository."""
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def say(text: str) -> None:
    print(f"release: {text}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev release", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version", nargs="?", metavar="VERSION", help="the version to release; without it, a rehearsal")
    parser.add_argument("--sign", type=Path, metavar="KEY", help="sign SHA256SUMS with this SSH key")
    parser.add_argument(
        "--verify", type=Path, metavar="DIRECTORY", help="rebuild the release of a directory and compare"
    )
    asked = parser.parse_args()
    if asked.verify is not None and (asked.version or asked.sign):
        parser.error("--verify takes neither VERSION nor --sign")
    try:
        if asked.verify is not None:
            return verify(asked.verify)
        make(asked.version, asked.sign)
    except ReleaseError as error:
        say(str(error))
        return _BAD_INPUT
    except subprocess.CalledProcessError as error:
        say(f"{' '.join(map(str, error.cmd))}: exit status {error.returncode}; its output is above")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
